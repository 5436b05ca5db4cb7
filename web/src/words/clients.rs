//! What happened at consumers and producers, and to logs.

use std::fmt::Display;

use kafkascope_core::kafka::consumer_zk::assign::Failed;
use kafkascope_core::kafka::consumer_zk::event::{Event as Consumer, Note, Trigger};
use kafkascope_core::kafka::log::store::Event as Log;
use kafkascope_core::kafka::producer::{Choice, Event as Producer};
use kafkascope_core::kafka::{self, TopicPartition};
use kafkascope_core::world::Command;

use super::{Said, ids};
use crate::i18n::{Key, Lang, k};

fn tp(tp: &TopicPartition) -> String {
    format!("{}-{}", tp.topic, tp.partition)
}

/// Longer lists say how many more there are.
const NAMED: usize = 6;

fn list<T>(lang: Lang, all: &[T], name: impl Fn(&T) -> String) -> String {
    let first: Vec<String> = all.iter().take(NAMED).map(name).collect();
    let first = first.join(&lang.t(k::WHO_JOINT));
    match all.len().saturating_sub(NAMED) {
        0 => first,
        n => lang.fill(k::WHO_MORE, &[("first", &first), ("n", &n)]),
    }
}

fn said(key: Key, values: &[(&'static str, &dyn Display)]) -> Said {
    Said::new(key, values)
}

fn trigger(lang: Lang, trigger: Trigger) -> String {
    let key = match trigger {
        Trigger::Joined => k::TRIGGER_JOINED,
        Trigger::Members => k::TRIGGER_MEMBERS,
        Trigger::TopicChanged => k::TRIGGER_TOPIC,
        Trigger::TopicsChanged => k::TRIGGER_TOPICS,
        Trigger::NewSession => k::TRIGGER_SESSION,
        Trigger::Brokers => k::TRIGGER_BROKERS,
    };
    lang.t(key).to_string()
}

/// The sentence, if the event is of this kind. `who` did it.
pub fn sentence(lang: Lang, event: &kafka::Event, who: &str) -> Option<Said> {
    Some(match event {
        kafka::Event::Consumer(event) => consumer(lang, event, who),
        kafka::Event::Producer(event) => producer(event, who),
        kafka::Event::Log(event) => log(event),
        _ => return None,
    })
}

fn consumer(lang: Lang, event: &Consumer, who: &str) -> Said {
    match event {
        Consumer::Registered { id } => said(k::CONSUMER_REGISTERED, &[("who", &who), ("id", id)]),
        Consumer::OldRegistrationHolds { id } => {
            said(k::CONSUMER_OLD, &[("who", &who), ("id", id)])
        }
        Consumer::Attempt { attempt: 0, trigger: why } => {
            let why = trigger(lang, *why);
            said(k::CONSUMER_ATTEMPT, &[("who", &who), ("n", &1), ("why", &why)])
        }
        Consumer::Attempt { attempt, .. } => {
            said(k::CONSUMER_RETRY, &[("who", &who), ("n", &(attempt + 1))])
        }
        Consumer::NoBrokers => said(k::CONSUMER_NO_BROKERS, &[("who", &who)]),
        Consumer::Released { partitions } if partitions.is_empty() => {
            said(k::CONSUMER_RELEASED_NOTHING, &[("who", &who)])
        }
        Consumer::Released { partitions } => {
            let list = list(lang, partitions, tp);
            said(k::CONSUMER_RELEASED, &[("who", &who), ("list", &list)])
        }
        Consumer::Assigned { topic, partitions, takers, mine } => {
            assigned(lang, who, topic, (*partitions, *takers), mine)
        }
        Consumer::NotAssigned(why) => {
            let why = lang.t(match why {
                Failed::UnequalThreads => k::CONSUMER_UNEQUAL,
                Failed::NobodySubscribes => k::CONSUMER_NOBODY,
            });
            said(k::CONSUMER_REFUSED_RULE, &[("who", &who), ("why", &why)])
        }
        other => consumer_later(lang, other, who),
    }
}

fn assigned(
    lang: Lang,
    who: &str,
    topic: &str,
    (partitions, takers): (u32, u32),
    mine: &[(u32, Vec<u32>)],
) -> Said {
    let all: Vec<u32> = mine.iter().flat_map(|(_, gets)| gets.iter().copied()).collect();
    let key = match all.is_empty() {
        true => k::CONSUMER_ASSIGNED_NOTHING,
        false => k::CONSUMER_ASSIGNED,
    };
    let mine = list(lang, &all, |partition| format!("P{partition}"));
    let values: [(_, &dyn Display); 5] = [
        ("who", &who),
        ("topic", &topic),
        ("partitions", &partitions),
        ("takers", &takers),
        ("mine", &mine),
    ];
    said(key, &values)
}

fn consumer_later(lang: Lang, event: &Consumer, who: &str) -> Said {
    match event {
        Consumer::Claimed { tp: at } => {
            said(k::CONSUMER_CLAIMED, &[("who", &who), ("tp", &tp(at))])
        }
        Consumer::ClaimRefused { tp: at, holder } => {
            let holder = holder.as_deref().unwrap_or("?");
            let values: [(_, &dyn Display); 3] =
                [("who", &who), ("tp", &tp(at)), ("holder", &holder)];
            said(k::CONSUMER_CLAIM_REFUSED, &values)
        }
        Consumer::AttemptFailed { attempt } => {
            said(k::CONSUMER_FAILED, &[("who", &who), ("n", &(attempt + 1))])
        }
        Consumer::AttemptEnded { owned: 0, .. } => said(k::CONSUMER_ENDED_IDLE, &[("who", &who)]),
        Consumer::AttemptEnded { owned, .. } => {
            said(k::CONSUMER_ENDED, &[("who", &who), ("n", owned)])
        }
        Consumer::GaveUp { attempts } => {
            said(k::CONSUMER_GAVE_UP, &[("who", &who), ("n", attempts)])
        }
        Consumer::Committed { offsets } => {
            let list = list(lang, offsets, |(at, offset)| format!("{} = {offset}", tp(at)));
            said(k::CONSUMER_COMMITTED, &[("who", &who), ("list", &list)])
        }
        Consumer::Positioned { tp: name, at, reset } => {
            let key = if *reset { k::CONSUMER_RESET } else { k::CONSUMER_POSITIONED };
            said(key, &[("who", &who), ("tp", &tp(name)), ("at", at)])
        }
        Consumer::Consumed { tp: at, from, count, .. } => {
            let values: [(_, &dyn Display); 4] =
                [("who", &who), ("tp", &tp(at)), ("from", from), ("n", count)];
            said(k::CONSUMER_CONSUMED, &values)
        }
        Consumer::Note(note) => step(lang, note, who),
        other => said(k::EVENT_OTHER, &[("what", &format!("{other:?}"))]),
    }
}

/// Steps on its way.
fn step(lang: Lang, note: &Note, who: &str) -> Said {
    let topics = |topics: &[std::sync::Arc<str>]| list(lang, topics, |topic| topic.to_string());
    match note {
        Note::Registering => said(k::STEP_REGISTERING, &[("who", &who)]),
        Note::SessionIsNew => said(k::STEP_SESSION, &[("who", &who)]),
        Note::TopicChanged(topic) => said(k::STEP_TOPIC, &[("who", &who), ("topic", topic)]),
        Note::TopicGone(topic) => said(k::STEP_TOPIC_GONE, &[("who", &who), ("topic", topic)]),
        Note::TopicsAdded(all) => said(k::STEP_ADDED, &[("who", &who), ("list", &topics(all))]),
        Note::TopicsLost(all) => said(k::STEP_LOST, &[("who", &who), ("list", &topics(all))]),
        Note::TopicsChosen(all) => said(k::STEP_CHOSEN, &[("who", &who), ("list", &topics(all))]),
        Note::FetchersStopped { .. } => said(k::STEP_STOPPED, &[("who", &who)]),
        Note::IdleThread { thread, topic } => {
            said(k::STEP_IDLE, &[("thread", thread), ("topic", topic)])
        }
        Note::Broken => said(k::STEP_BROKEN, &[("who", &who)]),
        Note::GaveUpUnheard => said(k::STEP_UNHEARD, &[("who", &who)]),
        Note::ShuttingDown => said(k::STEP_CLOSING, &[("who", &who)]),
        Note::ShutDown => said(k::STEP_CLOSED, &[("who", &who)]),
    }
}

fn producer(event: &Producer, who: &str) -> Said {
    match event {
        Producer::Registered => said(k::PRODUCER_REGISTERED, &[("who", &who)]),
        Producer::MetadataRead { brokers, .. } => {
            said(k::PRODUCER_METADATA, &[("who", &who), ("brokers", &ids(brokers))])
        }
        Producer::Sent { tp: at, key, count, by, .. } => {
            sent(who, at, key.as_deref().unwrap_or("–"), *count, *by)
        }
        Producer::Acknowledged { tp: at, from, count, .. } => {
            let values: [(_, &dyn Display); 4] =
                [("who", &who), ("tp", &tp(at)), ("from", from), ("n", count)];
            said(k::PRODUCER_ACKED, &values)
        }
        Producer::Failed { tp: at, why, retries } => {
            let at = at.as_ref().map_or_else(|| "?".to_owned(), tp);
            let why = format!("{why:?}");
            let values: [(_, &dyn Display); 4] =
                [("who", &who), ("tp", &at), ("why", &why), ("retries", retries)];
            said(k::PRODUCER_FAILED, &values)
        }
    }
}

fn sent(who: &str, at: &TopicPartition, key: &str, count: u32, by: Choice) -> Said {
    let (hash, partitions) = match by {
        Choice::KeyHash { hash, partitions } => (hash, partitions),
        _ => (0, 0),
    };
    let text = match by {
        Choice::Given => k::PRODUCER_GIVEN,
        Choice::KeyHash { .. } => k::PRODUCER_HASH,
        Choice::RoundRobin => k::PRODUCER_ROBIN,
        Choice::Sticky => k::PRODUCER_STICKY,
        Choice::Pinned => k::PRODUCER_PINNED,
    };
    let values: [(_, &dyn Display); 6] = [
        ("who", &who),
        ("tp", &tp(at)),
        ("n", &count),
        ("key", &key),
        ("hash", &hash),
        ("partitions", &partitions),
    ];
    said(text, &values)
}

fn log(event: &Log) -> Said {
    match event {
        Log::Appended { broker, tp: at, from, count, .. } => {
            let values: [(_, &dyn Display); 4] =
                [("id", broker), ("tp", &tp(at)), ("from", from), ("n", count)];
            said(k::LOG_APPENDED, &values)
        }
        Log::Copied { broker, tp: at, from, count } => {
            let values: [(_, &dyn Display); 4] =
                [("id", broker), ("tp", &tp(at)), ("from", from), ("n", count)];
            said(k::LOG_COPIED, &values)
        }
        Log::HighWatermark { broker, tp: at, to } => {
            said(k::LOG_WATERMARK, &[("id", broker), ("tp", &tp(at)), ("to", to)])
        }
        Log::Truncated { broker, tp: at, to, .. } => {
            said(k::LOG_TRUNCATED, &[("id", broker), ("tp", &tp(at)), ("to", to)])
        }
        Log::StartMoved { broker, tp: at, to } => {
            said(k::LOG_START, &[("id", broker), ("tp", &tp(at)), ("to", to)])
        }
    }
}

/// What a person asked of them.
pub fn commanded(command: &Command, you: &str) -> Said {
    match command {
        Command::StartConsumer { name, spec } => {
            said(k::CMD_START_CONSUMER, &[("you", &you), ("who", name), ("group", &spec.group)])
        }
        Command::StartProducer { name, .. } => {
            said(k::CMD_START_PRODUCER, &[("you", &you), ("who", name)])
        }
        Command::Produce { producer, batch } => {
            let values: [(_, &dyn Display); 4] =
                [("you", &you), ("who", producer), ("n", &batch.count), ("topic", &batch.topic)];
            said(k::CMD_PRODUCE, &values)
        }
        Command::Commit { consumer } => said(k::CMD_COMMIT, &[("you", &you), ("who", consumer)]),
        Command::Tune { consumer, name, value } => {
            let values: [(_, &dyn Display); 4] =
                [("you", &you), ("who", consumer), ("name", name), ("value", value)];
            said(k::CMD_TUNE, &values)
        }
        other => said(k::EVENT_OTHER, &[("what", &other.to_string())]),
    }
}

pub fn icon(event: &kafka::Event) -> Option<&'static str> {
    Some(match event {
        kafka::Event::Consumer(event) => match event {
            Consumer::GaveUp { .. }
            | Consumer::ClaimRefused { .. }
            | Consumer::AttemptFailed { .. }
            | Consumer::NotAssigned(_) => "warn",
            Consumer::Released { .. } | Consumer::Claimed { .. } => "owner",
            Consumer::Assigned { .. } => "grid",
            Consumer::Committed { .. } | Consumer::AttemptEnded { .. } => "check",
            _ => "consumer",
        },
        kafka::Event::Producer(Producer::Failed { .. }) => "warn",
        kafka::Event::Producer(_) => "producer",
        kafka::Event::Log(_) => "logs",
        _ => return None,
    })
}
