//! Producer processes: the textbook's, which registers in ZooKeeper, and the two of 0.8.2.
//! [spec producer.md, product.md T7, T8]

use std::fmt;
use std::sync::Arc;

use super::broker::{Ctx, Effect, Input};
use super::data::Offset;
use super::msg::TopicPartition;
use crate::base::{Digest, Span};
use crate::zk::client::Client;
use crate::zk::hold::{Session, ZkSettings};

/// Whose rules it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// [product.md T7, T8]
    Textbook,
    /// `kafka.producer` of 0.8. [spec producer.md §2]
    #[default]
    Scala,
    /// `org.apache.kafka.clients.producer`. [spec producer.md §1]
    Java,
}

/// What the producer's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The next record of its rate.
    Send,
    /// Metadata are too old.
    Refresh,
    /// A request or a wait before a retry.
    Retry,
}

/// How it picks a partition that nobody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioner {
    /// The one of its kind.
    Default,
    RoundRobin,
    /// Records with these keys go to the partition given, others by the default.
    Pinned(Vec<(Arc<str>, u32)>),
}

/// What it sends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub topic: Arc<str>,
    pub every: Span,
    /// Empty: no keys. One after the other; a key named twice comes twice as often.
    pub keys: Vec<Arc<str>>,
    /// `None`: until it is stopped.
    pub count: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerSpec {
    /// `None`: the profile's own.
    pub kind: Option<Kind>,
    pub acks: i16,
    pub partitioner: Partitioner,
    /// `topic.metadata.refresh.interval.ms`, `metadata.max.age.ms`
    pub refresh_ms: u32,
    pub stream: Option<Stream>,
}

/// Records that a person has a producer send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub topic: Arc<str>,
    pub partition: Option<u32>,
    pub key: Option<Arc<str>>,
    /// The values are `from`, `from + 1`, …
    pub from: u64,
    pub count: u32,
}

/// As a script writes it, after the name.
impl fmt::Display for ProducerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            None => {}
            Some(Kind::Textbook) => f.write_str(" kind textbook")?,
            Some(Kind::Scala) => f.write_str(" kind scala")?,
            Some(Kind::Java) => f.write_str(" kind java")?,
        }
        write!(f, " acks {}", self.acks)?;
        match &self.partitioner {
            Partitioner::Default => {}
            Partitioner::RoundRobin => f.write_str(" partitioner roundrobin")?,
            Partitioner::Pinned(pins) => {
                f.write_str(" partitioner pinned")?;
                pins.iter().try_for_each(|(key, partition)| write!(f, " {key}={partition}"))?;
            }
        }
        write!(f, " refresh {}ms", self.refresh_ms)?;
        let Some(stream) = &self.stream else { return Ok(()) };
        write!(f, " topic {} every {}", stream.topic, stream.every)?;
        if !stream.keys.is_empty() {
            write!(f, " keys {}", stream.keys.join(","))?;
        }
        stream.count.map_or(Ok(()), |count| write!(f, " count {count}"))
    }
}

/// As a script writes it, after the producer's name.
impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "topic {}", self.topic)?;
        self.partition.map_or(Ok(()), |partition| write!(f, " partition {partition}"))?;
        self.key.as_ref().map_or(Ok(()), |key| write!(f, " key {key}"))?;
        write!(f, " from {} count {}", self.from, self.count)
    }
}

/// What happens at a producer, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Registered,
    /// It knows brokers and partitions anew.
    MetadataRead {
        brokers: Vec<u32>,
        topic: Option<Arc<str>>,
        partitions: u32,
    },
    /// It chose a partition for records.
    Sent {
        tp: TopicPartition,
        key: Option<Arc<str>>,
        count: u32,
        by: Choice,
    },
    /// A broker took them.
    Acknowledged {
        tp: TopicPartition,
        from: Offset,
        count: u32,
    },
    Failed {
        tp: Option<TopicPartition>,
        why: super::data::Code,
        retries: u32,
    },
}

/// By which rule a partition was chosen, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Given,
    KeyHash { hash: i32, partitions: u32 },
    RoundRobin,
    Sticky,
    Pinned,
}

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Register,
    Brokers,
    Topic(Arc<str>),
    Close,
}

#[derive(Clone)]
pub struct Producer {
    pub name: Arc<str>,
    pub kind: Kind,
    pub spec: Arc<ProducerSpec>,
    /// Records that were sent, and of them those that were acknowledged.
    pub sent: u64,
    pub acknowledged: u64,
    /// The textbook's session.
    pub zk: Option<Session<Pending>>,
}

impl Producer {
    pub fn new(name: Arc<str>, kind: Kind, spec: Arc<ProducerSpec>, zk: ZkSettings) -> Producer {
        let zk = (kind == Kind::Textbook).then(|| Session::new(zk.client()));
        Producer { name, kind, spec, sent: 0, acknowledged: 0, zk }
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        if input == Input::Stop {
            ctx.out.push(Effect::Exit);
        }
    }

    /// A person has it send these.
    pub fn produce(&mut self, _ctx: &mut Ctx<'_>, _batch: &Batch) {}

    pub fn client(&self) -> Option<&Client> {
        self.zk.as_ref().map(Session::client)
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.sent);
        digest.u64(self.acknowledged);
        if let Some(client) = self.client() {
            client.digest(digest);
        }
    }
}
