//! What a person can ask for. A run is its commands and the moments they were given at.

use std::fmt;
use std::sync::Arc;

use crate::base::Span;
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::spec::ConsumerSpec;
use crate::kafka::producer::{Batch, ProducerSpec};
use crate::kafka::real::task::Task;

/// A process as a person names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    Broker(u32),
    /// Another machine that claimed a broker's id, by id and host.
    Machine(u32, Arc<str>),
    /// A plain ZooKeeper client.
    Client(Arc<str>),
    ZooKeeper,
    Consumer(Arc<str>),
    Producer(Arc<str>),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Broker(id) => write!(f, "broker {id}"),
            Who::Machine(id, host) => write!(f, "broker {id}@{host}"),
            Who::Client(name) => write!(f, "client {name}"),
            Who::ZooKeeper => f.write_str("zookeeper"),
            Who::Consumer(name) => write!(f, "consumer {name}"),
            Who::Producer(name) => write!(f, "producer {name}"),
        }
    }
}

/// The client behind the page's console.
pub const CONSOLE: &str = "console";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `host` other than the broker's usual one: another machine that claims the same id.
    StartBroker {
        id: u32,
        host: Option<Arc<str>>,
        rack: Option<Arc<str>>,
    },
    /// A plain client opens a session.
    OpenClient {
        name: Arc<str>,
        timeout_ms: Option<i32>,
    },
    /// The server process starts again, with its data.
    StartZooKeeper,
    /// An orderly end: the session is closed.
    Stop(Who),
    /// kill -9: no goodbye, the kernel closes the connections.
    Kill(Who),
    /// The process stands still (a long garbage collection); its machine answers for it.
    Pause {
        who: Who,
        span: Span,
    },
    /// Every running broker is stopped in good order and started again, one after the other.
    RollBrokers,
    /// kill -9 and start at once.
    Restart(Who),
    /// The link to ZooKeeper carries nothing.
    Cut(Who),
    Heal(Who),
    CreateTopic {
        topic: Arc<str>,
        partitions: u32,
        replication: u32,
    },
    DeleteTopic {
        topic: Arc<str>,
    },
    /// A paused process goes on now.
    Resume(Who),
    /// The link between two processes carries nothing.
    CutPeers {
        a: Who,
        b: Who,
    },
    HealPeers {
        a: Who,
        b: Who,
    },
    /// What is sent between the two for so long arrives only then, in order.
    HoldLink {
        a: Who,
        b: Who,
        span: Span,
    },
    /// Every message between the two takes so much longer; zero: as usual again.
    DelayLink {
        a: Who,
        b: Who,
        by: Span,
    },
    /// The server ends the process's session now, as if its time were over.
    Expire(Who),
    /// What an administrator asks of a cluster of a real release.
    Admin(Arc<Task>),
    StartConsumer {
        name: Arc<str>,
        spec: Arc<ConsumerSpec>,
    },
    StartProducer {
        name: Arc<str>,
        spec: Arc<ProducerSpec>,
    },
    /// A producer sends these records now.
    Produce {
        producer: Arc<str>,
        batch: Arc<Batch>,
    },
    /// A consumer's application commits.
    Commit {
        consumer: Arc<str>,
    },
    /// A consumer's setting changes while it runs.
    Tune {
        consumer: Arc<str>,
        name: Arc<str>,
        value: Arc<str>,
    },
    /// A line typed into a plain client's shell.
    Zk {
        client: Arc<str>,
        line: Arc<str>,
    },
}

/// As a script writes it.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::StartBroker { id, host, rack } => {
                write!(f, "start broker {id}")?;
                if let Some(host) = host {
                    write!(f, " host {host}")?;
                }
                if let Some(rack) = rack {
                    write!(f, " rack {rack}")?;
                }
                Ok(())
            }
            Command::OpenClient { name, timeout_ms } => {
                write!(f, "open client {name}")?;
                match timeout_ms {
                    Some(ms) => write!(f, " timeout {ms}ms"),
                    None => Ok(()),
                }
            }
            Command::StartZooKeeper => f.write_str("start zookeeper"),
            Command::Stop(who) => write!(f, "stop {who}"),
            Command::Kill(who) => write!(f, "kill -9 {who}"),
            Command::Pause { who, span } => write!(f, "pause {who} {span}"),
            Command::RollBrokers => f.write_str("roll brokers"),
            Command::Restart(who) => write!(f, "restart {who}"),
            Command::Cut(who) => write!(f, "cut {who}"),
            Command::Heal(who) => write!(f, "heal {who}"),
            Command::CreateTopic { topic, partitions, replication } => {
                write!(f, "create topic {topic} partitions {partitions} replication {replication}")
            }
            Command::DeleteTopic { topic } => write!(f, "delete topic {topic}"),
            Command::Resume(who) => write!(f, "resume {who}"),
            Command::CutPeers { a, b } => write!(f, "cut {a} from {b}"),
            Command::HealPeers { a, b } => write!(f, "heal {a} from {b}"),
            Command::HoldLink { a, b, span } => write!(f, "hold {a} from {b} {span}"),
            Command::DelayLink { a, b, by } => write!(f, "delay {a} from {b} {by}"),
            Command::Expire(who) => write!(f, "expire {who}"),
            Command::Admin(task) => write!(f, "{task}"),
            Command::StartConsumer { name, spec } => write!(f, "start consumer {name} {spec}"),
            Command::StartProducer { name, spec } => write!(f, "start producer {name}{spec}"),
            Command::Produce { producer, batch } => write!(f, "produce {producer} {batch}"),
            Command::Commit { consumer } => write!(f, "commit {consumer}"),
            Command::Tune { consumer, name, value } => {
                write!(f, "tune {consumer} {name}={value}")
            }
            Command::Zk { client, line } => write!(f, "zk {client} {line}"),
        }
    }
}

/// Why a command can't be done now. Nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    UnknownProcess(Who),
    AlreadyRunning(Who),
    NotRunning(Who),
    AlreadyPaused(Who),
    /// A rolling restart is under way.
    AlreadyRolling,
    NoBrokers,
    NotPaused(Who),
    /// It has no session that could end.
    NoSession(Who),
    /// Only a cluster of a real release knows this.
    NotInTextbook,
    /// The profile's consumers coordinate in another way, which is not built yet.
    NotInThisProfile,
    /// A consumer's pattern is none: at which character.
    BadPattern {
        regex: Arc<str>,
        at: u32,
    },
    /// A consumer has no such setting, or it doesn't take this value.
    BadOption {
        name: Arc<str>,
        value: Arc<str>,
    },
    AlreadyCut(Who),
    NotCut(Who),
    /// The process can't do that (a pause of ZooKeeper, a cut of ZooKeeper from itself).
    NotForThis(Who),
    TooMany {
        what: Counted,
        limit: u64,
    },
    BadName {
        name: Arc<str>,
        why: NameFault,
    },
    OutOfRange {
        what: Counted,
        given: u64,
        low: u64,
        high: u64,
    },
    ReplicationAboveBrokers {
        replication: u32,
        brokers: u32,
    },
    TopicExists(Arc<str>),
    UnknownTopic(Arc<str>),
    UnknownPartition(TopicPartition),
    /// A broker is named twice as a place for one partition.
    ReplicaTwice(u32),
    ZooKeeperDown,
}

/// What limits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Brokers,
    BrokerId,
    Clients,
    Consumers,
    Producers,
    Streams,
    Records,
    Partitions,
    Replication,
    Topics,
    PauseSeconds,
    SessionTimeoutMs,
    LineBytes,
    Commands,
    Events,
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    Empty,
    TooLong {
        limit: u64,
    },
    /// Only letters, digits, `.`, `_` and `-`.
    Character(char),
    /// `.` and `..`
    Dots,
    /// It has to be one word: no blank, nothing invisible, no `#` at its start.
    NotAWord(char),
}
