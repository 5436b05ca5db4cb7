//! Rows as plain lines for transcripts: short, stable, the same in every language.

use std::fmt::Write;

use crate::kafka;
use crate::kafka::event::{Event as Kafka, TopicRefusal};
use crate::lab::Lab;
use crate::world::event::Severity;
use crate::world::proc::{Kind, Proc};
use crate::world::{Event, Row, ZkEvent};

/// One line a row; details only if they are wanted.
pub fn lines(lab: &Lab, detail: bool) -> Vec<String> {
    let procs = &lab.world().procs;
    lab.rows().iter().filter(|row| detail || !row.detail).map(|row| line(row, procs)).collect()
}

pub fn line(row: &Row, procs: &[Proc]) -> String {
    let who = procs.get(usize::from(row.proc)).map_or_else(|| "?".to_owned(), name);
    format!("{:>9}  {who:<12}  {}", row.at.to_string(), event(&row.event, procs))
}

pub fn name(proc: &Proc) -> String {
    match &proc.kind {
        Kind::ZooKeeper => "zookeeper".to_owned(),
        Kind::Broker(id) => format!("broker {id}"),
        Kind::Impostor(id, host) => format!("broker {id}@{host}"),
        Kind::Client(name) => name.to_string(),
        Kind::Admin => "kafka-topics".to_owned(),
        Kind::Consumer(name) | Kind::Producer(name) => name.to_string(),
    }
}

fn event(event: &Event, procs: &[Proc]) -> String {
    match event {
        Event::Commanded(command) => format!("* {command}"),
        Event::Refused(refused) => format!("* refused: {} ({:?})", refused.0, refused.1),
        Event::Started => "started".to_owned(),
        Event::Exited => "exited".to_owned(),
        Event::Killed => "killed".to_owned(),
        Event::Paused { until } => format!("stands still until {until}"),
        Event::RollingDone => "the rolling restart is done".to_owned(),
        Event::Resumed => "runs again".to_owned(),
        Event::LinkCut => "link to zookeeper cut".to_owned(),
        Event::LinkHealed => "link to zookeeper healed".to_owned(),
        Event::Keeper(state) => format!("told {}", state.name()),
        Event::Told { kind, path } => format!("told {} {path}", kind.name()),
        Event::Zk(event) => zk(event, procs),
        Event::Kafka(event) => kafka_event(event),
        Event::Printed { text, .. } => format!("> {text}"),
        Event::Breach(breach) => {
            let word = match breach.severity {
                Severity::Violation => "VIOLATION",
                Severity::Found => "found",
            };
            format!("! {word} {}: {}", breach.invariant, breach.about)
        }
    }
}

fn zk(event: &ZkEvent, procs: &[Proc]) -> String {
    match event {
        ZkEvent::ServerStopped => "server stopped".to_owned(),
        ZkEvent::ServerStarted => "server started".to_owned(),
        ZkEvent::SessionOpened { session, timeout_ms } => {
            format!("session {session} opened, timeout {timeout_ms} ms")
        }
        ZkEvent::SessionResumed { session } => format!("session {session} resumed"),
        ZkEvent::SessionUnknown { session } => format!("session {session} is gone"),
        ZkEvent::SessionClosed { session, gone } => {
            format!("session {session} closed, gone: [{}]", gone.join(" "))
        }
        ZkEvent::SessionExpired { session, gone } => {
            format!("session {session} expired, gone: [{}]", gone.join(" "))
        }
        ZkEvent::Pinged { deadline } => format!("ping, session lives until {deadline}"),
        ZkEvent::Read { what, path, watch } => {
            let watch = if *watch { ", watching" } else { "" };
            format!("reads {what:?} of {path}{watch}")
        }
        ZkEvent::ReadFailed { what, path, error } => {
            format!("reads {what:?} of {path}: {}", error.name())
        }
        ZkEvent::Created { path, ephemeral, zxid } => {
            let kind = if *ephemeral { "ephemeral " } else { "" };
            format!("0x{zxid:x} create {kind}{path}")
        }
        ZkEvent::DataSet { path, zxid } => format!("0x{zxid:x} setData {path}"),
        ZkEvent::AclSet { path, zxid } => format!("0x{zxid:x} setACL {path}"),
        ZkEvent::Deleted { path, zxid } => format!("0x{zxid:x} delete {path}"),
        ZkEvent::Swept { path, zxid } => format!("0x{zxid:x} swept {path}"),
        ZkEvent::Multi { count, first, zxid } => {
            format!("0x{zxid:x} multi of {count}, first {first}")
        }
        ZkEvent::Failed { what, path, error, zxid } => {
            format!("0x{zxid:x} {what} {path}: {}", error.name())
        }
        ZkEvent::WatchesFired { kind, path, whom } => {
            let whom: Vec<String> =
                whom.iter().filter_map(|at| procs.get(usize::from(*at))).map(name).collect();
            format!("{} {path} -> {}", kind.name(), whom.join(", "))
        }
    }
}

fn who(id: Option<u32>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}

fn tp(tp: &kafka::TopicPartition) -> String {
    format!("{}-{}", tp.topic, tp.partition)
}

fn kafka_event(event: &Kafka) -> String {
    match event {
        Kafka::Registered { broker } => format!("registered as {broker}"),
        Kafka::IdTaken { broker, holder, .. } => {
            format!("refused: id {broker} is held by {}", holder.as_deref().unwrap_or("another"))
        }
        Kafka::OldSessionHolds { .. } => "waits: its old session holds the id".to_owned(),
        Kafka::WonElection { .. } => "won the election".to_owned(),
        Kafka::LostElection { controller, .. } => {
            format!("not controller, {} is", who(*controller))
        }
        Kafka::ControllerStarted { epoch, .. } => format!("controller, epoch {epoch}"),
        Kafka::ControllerResigned { epoch, .. } => format!("resigned, epoch {epoch}"),
        Kafka::BrokersChanged { joined, left, .. } => {
            format!("brokers: joined {joined:?} left {left:?}")
        }
        Kafka::TopicsChanged { created, gone, .. } => {
            format!("topics: created {created:?} gone {gone:?}")
        }
        Kafka::LeaderChosen { tp: at, from, leader, isr, leader_epoch } => format!(
            "{}: leader {} -> {}, isr {isr:?}, leader epoch {leader_epoch}",
            tp(at),
            who(*from),
            who(*leader)
        ),
        Kafka::IsrShrunk { tp: at, isr, left, .. } => {
            format!("{}: isr {isr:?}, left {left:?}", tp(at))
        }
        Kafka::IsrGrown { tp: at, isr, joined, .. } => {
            format!("{}: isr {isr:?}, joined {joined}", tp(at))
        }
        other => kafka_replica(other),
    }
}

fn kafka_replica(event: &Kafka) -> String {
    let mut text = String::new();
    let _ = match event {
        Kafka::BecameLeader { tp: at, leader_epoch, .. } => {
            write!(text, "leads {}, leader epoch {leader_epoch}", tp(at))
        }
        Kafka::BecameFollower { tp: at, leader, leader_epoch, .. } => {
            write!(text, "follows {} of {}, leader epoch {leader_epoch}", who(*leader), tp(at))
        }
        Kafka::CaughtUp { tp: at, leader, .. } => {
            write!(text, "has what {leader} has of {}", tp(at))
        }
        Kafka::WaitsForFetch { peer, .. } => {
            write!(text, "obeys nobody until its last fetch from {peer} has ended")
        }
        Kafka::ReplicasMove { tp: at, from, target, .. } => {
            write!(text, "moves {} from {from:?} to {target:?}", tp(at))
        }
        Kafka::ReplicasMoved { tp: at, replicas } => {
            write!(text, "{} has moved to {replicas:?}", tp(at))
        }
        Kafka::ReplicaDeleted { tp: at, .. } => write!(text, "drops {}", tp(at)),
        Kafka::StaleController { epoch, known, .. } => {
            write!(text, "ignores a controller of epoch {epoch}, knows {known}")
        }
        Kafka::TopicDeleted { topic } => write!(text, "topic {topic} deleted"),
        Kafka::TopicRefused { topic, why } => {
            write!(text, "topic {topic} refused: {}", refusal(why))
        }
        Kafka::TopicWritten { topic, partitions, replication } => {
            write!(text, "topic {topic}: {partitions} partitions x {replication}")
        }
        Kafka::DeletionAsked { topic } => write!(text, "asks to delete topic {topic}"),
        Kafka::Done { task } => write!(text, "done: {task}"),
        Kafka::NotDone { task, why } => write!(text, "refused: {task}: {}", refusal(why)),
        Kafka::ShutdownAnswered { broker, left } => {
            write!(text, "broker {broker} may stop but for {left} partitions")
        }
        Kafka::Consumer(event) => return super::transcript_clients::consumer(event),
        Kafka::Producer(event) => return super::transcript_clients::producer(event),
        Kafka::Log(event) => return super::transcript_clients::log(event),
        Kafka::Fenced { epoch, .. } => write!(text, "fenced as controller of epoch {epoch}"),
        _ => Ok(()),
    };
    text
}

fn refusal(why: &TopicRefusal) -> String {
    match why {
        TopicRefusal::Exists => "exists".to_owned(),
        TopicRefusal::Unknown => "unknown".to_owned(),
        TopicRefusal::AlreadyBeingDeleted => "is being deleted".to_owned(),
        TopicRefusal::Placement(why) => format!("{why:?}"),
        TopicRefusal::Zk(error) => error.name().to_owned(),
        TopicRefusal::Invalid(name) => (*name).to_owned(),
    }
}
