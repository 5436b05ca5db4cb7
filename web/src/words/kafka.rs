//! What happened at brokers and tools.

use std::fmt::Display;

use kafkascope_core::kafka::event::TopicRefusal;
use kafkascope_core::kafka::{self, TopicPartition};

use super::{Said, ids, upper};
use crate::i18n::{Lang, k};

struct Words {
    lang: Lang,
    inner: bool,
}

impl Words {
    fn broker(&self, id: u32) -> String {
        let name = self.lang.fill(k::WHO_BROKER, &[("id", &id)]);
        if self.inner { name } else { upper(&name) }
    }

    fn nobody(&self, leader: Option<u32>) -> String {
        leader.map_or_else(|| self.lang.t(k::WHO_NOBODY).to_string(), |id| id.to_string())
    }
}

fn tp(tp: &TopicPartition) -> String {
    format!("{}-{}", tp.topic, tp.partition)
}

fn said(key: crate::i18n::Key, values: &[(&'static str, &dyn Display)]) -> Said {
    Said::new(key, values)
}

pub fn sentence(lang: Lang, event: &kafka::Event, inner: bool) -> Said {
    use kafka::Event as E;
    let words = Words { lang, inner };
    match event {
        E::Registered { broker } => {
            said(k::KAFKA_REGISTERED, &[("who", &words.broker(*broker)), ("id", broker)])
        }
        E::IdTaken { broker, host, holder } => {
            let unknown: std::sync::Arc<str> = "?".into();
            let holder = holder.as_ref().unwrap_or(&unknown);
            said(k::KAFKA_ID_TAKEN, &[("host", host), ("id", broker), ("holder", holder)])
        }
        E::OldSessionHolds { broker } => {
            said(k::KAFKA_OLD_SESSION, &[("who", &words.broker(*broker)), ("id", broker)])
        }
        E::WonElection { broker } => said(k::KAFKA_WON, &[("who", &words.broker(*broker))]),
        E::LostElection { broker, controller } => {
            let controller = words.nobody(*controller);
            said(k::KAFKA_LOST, &[("who", &words.broker(*broker)), ("controller", &controller)])
        }
        E::ControllerStarted { broker, epoch } => {
            said(k::KAFKA_CONTROLLER, &[("who", &words.broker(*broker)), ("epoch", epoch)])
        }
        E::ControllerResigned { broker, epoch } => {
            said(k::KAFKA_RESIGNED, &[("who", &words.broker(*broker)), ("epoch", epoch)])
        }
        E::BrokersChanged { controller, joined, left } => {
            brokers_changed(&words.broker(*controller), joined, left)
        }
        E::TopicsChanged { controller, created, gone } => {
            let who = words.broker(*controller);
            match (created.is_empty(), gone.is_empty()) {
                (false, _) => {
                    said(k::KAFKA_TOPICS_NEW, &[("who", &who), ("topics", &created.join(", "))])
                }
                (true, false) => {
                    said(k::KAFKA_TOPICS_GONE, &[("who", &who), ("topics", &gone.join(", "))])
                }
                _ => said(k::KAFKA_TOPICS_SAME, &[("who", &who)]),
            }
        }
        other => partitions(&words, other),
    }
}

fn brokers_changed(who: &str, joined: &[u32], left: &[u32]) -> Said {
    match (joined.is_empty(), left.is_empty()) {
        (false, true) => said(k::KAFKA_JOINED, &[("who", &who), ("ids", &ids(joined))]),
        (true, false) => said(k::KAFKA_LEFT, &[("who", &who), ("ids", &ids(left))]),
        (false, false) => {
            let values: [(_, &dyn Display); 3] =
                [("who", &who), ("ids", &ids(joined)), ("left", &ids(left))];
            said(k::KAFKA_JOINED_LEFT, &values)
        }
        _ => said(k::KAFKA_BROKERS_SAME, &[("who", &who)]),
    }
}

fn partitions(words: &Words, event: &kafka::Event) -> Said {
    use kafka::Event as E;
    match event {
        E::LeaderChosen { tp: at, from, leader, isr, leader_epoch } => {
            let (from, to) = (words.nobody(*from), words.nobody(*leader));
            let key = match leader {
                Some(_) => k::KAFKA_LEADER,
                None => k::KAFKA_NO_LEADER,
            };
            let values: [(_, &dyn Display); 5] = [
                ("tp", &tp(at)),
                ("from", &from),
                ("to", &to),
                ("isr", &ids(isr)),
                ("epoch", leader_epoch),
            ];
            said(key, &values)
        }
        E::IsrShrunk { tp: at, isr, left, .. } => {
            let values: [(_, &dyn Display); 3] =
                [("tp", &tp(at)), ("isr", &ids(isr)), ("left", &ids(left))];
            said(k::KAFKA_ISR_SHRUNK, &values)
        }
        E::IsrGrown { tp: at, isr, joined, .. } => {
            said(k::KAFKA_ISR_GROWN, &[("tp", &tp(at)), ("isr", &ids(isr)), ("id", joined)])
        }
        E::BecameLeader { broker, tp: at, leader_epoch } => {
            let values: [(_, &dyn Display); 3] =
                [("who", &words.broker(*broker)), ("tp", &tp(at)), ("epoch", leader_epoch)];
            said(k::KAFKA_LEADS, &values)
        }
        E::BecameFollower { broker, tp: at, leader, .. } => {
            let leader = words.nobody(*leader);
            let values: [(_, &dyn Display); 3] =
                [("who", &words.broker(*broker)), ("tp", &tp(at)), ("leader", &leader)];
            said(k::KAFKA_FOLLOWS, &values)
        }
        E::CaughtUp { broker, leader, tp: at } => {
            let values: [(_, &dyn Display); 3] =
                [("who", &words.broker(*broker)), ("tp", &tp(at)), ("leader", leader)];
            said(k::KAFKA_CAUGHT_UP, &values)
        }
        E::ReplicasMove { tp: at, from, target, .. } => {
            let (from, target) = (ids(from), ids(target));
            let values: [(_, &dyn Display); 3] =
                [("tp", &tp(at)), ("from", &from), ("to", &target)];
            said(k::KAFKA_REPLICAS_MOVE, &values)
        }
        E::ReplicasMoved { tp: at, replicas } => {
            said(k::KAFKA_REPLICAS_MOVED, &[("tp", &tp(at)), ("to", &ids(replicas))])
        }
        E::ReplicaDeleted { broker, tp: at } => {
            said(k::KAFKA_REPLICA_DELETED, &[("who", &words.broker(*broker)), ("tp", &tp(at))])
        }
        E::WaitsForFetch { broker, peer } => {
            said(k::KAFKA_WAITS_FOR_FETCH, &[("who", &words.broker(*broker)), ("peer", peer)])
        }
        E::StaleController { broker, epoch, known } => {
            let values: [(_, &dyn Display); 3] =
                [("who", &words.broker(*broker)), ("epoch", epoch), ("known", known)];
            said(k::KAFKA_STALE, &values)
        }
        other => tools(words, other),
    }
}

fn tools(words: &Words, event: &kafka::Event) -> Said {
    use kafka::Event as E;
    match event {
        E::TopicDeleted { topic } => said(k::KAFKA_TOPIC_DELETED, &[("topic", topic)]),
        E::TopicRefused { topic, why } => {
            let why = topic_refusal(words.lang, why);
            said(k::KAFKA_TOPIC_REFUSED, &[("topic", topic), ("why", &why)])
        }
        E::TopicWritten { topic, partitions, replication } => {
            let values: [(_, &dyn Display); 3] =
                [("topic", topic), ("n", partitions), ("rf", replication)];
            said(k::KAFKA_TOPIC_WRITTEN, &values)
        }
        E::DeletionAsked { topic } => said(k::KAFKA_DELETION, &[("topic", topic)]),
        E::Done { task } => said(k::KAFKA_DONE, &[("task", task)]),
        E::NotDone { task, why } => {
            let why = topic_refusal(words.lang, why);
            said(k::KAFKA_NOT_DONE, &[("task", task), ("why", &why)])
        }
        E::ShutdownAnswered { broker, left } => {
            let key = if *left == 0 { k::KAFKA_MAY_STOP } else { k::KAFKA_STILL_LEADS };
            said(key, &[("who", &words.broker(*broker)), ("n", left)])
        }
        E::Fenced { broker, epoch } => {
            said(k::KAFKA_FENCED, &[("who", &words.broker(*broker)), ("epoch", epoch)])
        }
        // Told above; a new kind of event shows by its name until it has a text.
        other => said(k::EVENT_OTHER, &[("what", &format!("{other:?}"))]),
    }
}

fn topic_refusal(lang: Lang, why: &TopicRefusal) -> String {
    use kafkascope_core::kafka::placement::Refusal;
    match why {
        TopicRefusal::Exists => lang.t(k::TOPIC_EXISTS).to_string(),
        TopicRefusal::Unknown => lang.t(k::TOPIC_UNKNOWN).to_string(),
        TopicRefusal::AlreadyBeingDeleted => lang.t(k::TOPIC_BEING_DELETED).to_string(),
        TopicRefusal::Placement(Refusal::NoPartitions) => {
            lang.t(k::TOPIC_NO_PARTITIONS).to_string()
        }
        TopicRefusal::Placement(Refusal::NoReplicas) => lang.t(k::TOPIC_NO_REPLICAS).to_string(),
        TopicRefusal::Placement(Refusal::TooFewBrokers { replication, brokers }) => {
            lang.fill(k::TOPIC_FEW_BROKERS, &[("rf", replication), ("n", brokers)])
        }
        TopicRefusal::Invalid(name) => (*name).to_owned(),
        TopicRefusal::Zk(error) => error.name().to_owned(),
    }
}

pub fn icon(event: &kafka::Event) -> &'static str {
    use kafka::Event as E;
    match event {
        E::WonElection { .. } | E::ControllerStarted { .. } | E::ControllerResigned { .. } => {
            "crown"
        }
        E::IdTaken { .. } | E::TopicRefused { .. } | E::StaleController { .. } => "warn",
        E::TopicsChanged { .. }
        | E::TopicWritten { .. }
        | E::TopicDeleted { .. }
        | E::DeletionAsked { .. }
        | E::Done { .. } => "folder",
        E::NotDone { .. } | E::Fenced { .. } => "warn",
        E::IsrGrown { .. } | E::CaughtUp { .. } => "check",
        _ => "broker",
    }
}
