//! What producers, consumers and brokers say to each other about records: the data plane. The
//! names are those of Kafka's requests.

use std::sync::Arc;

use super::log::epoch_cache::EpochOffset;
use super::msg::TopicPartition;

/// The next offset to be written or read.
pub type Offset = u64;

/// A message. Its offset is its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub key: Option<Arc<str>>,
    pub value: Arc<str>,
    /// The leader epoch in which it was appended; [`NO_EPOCH`] before that, and in 0.8.
    pub epoch: i32,
    /// The row that sent it, so that a person can follow it; not part of the data.
    pub sent: crate::sim::RowId,
    /// A person had it sent and will look for it; not part of the data either.
    pub by_hand: bool,
}

/// Nobody counts the epochs.
pub const NO_EPOCH: i32 = -1;

/// Why a request about a partition or a group failed, by Kafka's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    OffsetOutOfRange,
    UnknownTopicOrPartition,
    LeaderNotAvailable,
    NotLeaderForPartition,
    NotEnoughReplicas,
    NotEnoughReplicasAfterAppend,
    RequestTimedOut,
    ConsumerCoordinatorNotAvailable,
    NotCoordinatorForConsumer,
    InvalidTopic,
    InvalidRequiredAcks,
}

/// A partition as a broker's metadata knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionMeta {
    pub partition: u32,
    pub leader: Option<u32>,
    pub replicas: Vec<u32>,
    pub isr: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicMeta {
    pub topic: Arc<str>,
    pub partitions: Result<Vec<PartitionMeta>, Code>,
}

/// Where a consumer begins that has no offset. [spec consumer-zk.md O4]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// `smallest`, time -2.
    Earliest,
    /// `largest`, time -1.
    Latest,
}

/// What a fetch brought of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub from: Offset,
    pub records: Arc<[Record]>,
    pub high_watermark: Offset,
    /// Where the leader's log starts and ends.
    pub log: (Offset, Offset),
}

/// What a follower asks its leader for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    pub tp: TopicPartition,
    /// Where its own log ends.
    pub from: Offset,
    /// The latest epoch in it, where the leader is to say whether it agrees.
    pub epoch: Option<i32>,
    /// It has just begun to follow.
    pub new: bool,
}

/// Requests carry a number that the answer repeats: what comes too late is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Msg {
    Metadata {
        id: u32,
        /// Empty: all topics.
        topics: Vec<Arc<str>>,
    },
    MetadataAnswer {
        id: u32,
        brokers: Vec<u32>,
        topics: Vec<TopicMeta>,
    },
    Produce {
        id: u32,
        acks: i16,
        /// How long the broker waits for copies.
        timeout_ms: u32,
        batches: Vec<(TopicPartition, Arc<[Record]>)>,
    },
    /// The offset of each batch's first record.
    Produced {
        id: u32,
        results: Vec<(TopicPartition, Result<Offset, Code>)>,
    },
    /// A consumer's. Without data the broker keeps it until there is some, at most `wait_ms`;
    /// [`NO_LIMIT`]: as long as it takes, which stands for asking again and again. Whoever asks
    /// anew gives up what it asked before.
    Fetch {
        id: u32,
        wait_ms: u32,
        partitions: Arc<[(TopicPartition, Offset)]>,
    },
    /// Only of partitions with data or an error; nothing at all when the time is over.
    FetchAnswer {
        id: u32,
        results: Vec<(TopicPartition, Result<Fetched, Code>)>,
    },
    ListOffsets {
        id: u32,
        tp: TopicPartition,
        at: Reset,
    },
    ListOffsetsAnswer {
        id: u32,
        tp: TopicPartition,
        result: Result<Offset, Code>,
    },
    /// ConsumerMetadataRequest: who keeps the offsets of a group.
    FindCoordinator {
        id: u32,
        group: Arc<str>,
    },
    Coordinator {
        id: u32,
        result: Result<u32, Code>,
    },
    OffsetCommit {
        id: u32,
        group: Arc<str>,
        offsets: Vec<(TopicPartition, Offset)>,
    },
    OffsetCommitAnswer {
        id: u32,
        result: Result<(), Code>,
    },
    OffsetFetch {
        id: u32,
        group: Arc<str>,
        partitions: Vec<TopicPartition>,
    },
    /// Only those that there are.
    OffsetFetchAnswer {
        id: u32,
        result: Result<Vec<(TopicPartition, Offset)>, Code>,
    },
    /// Between brokers: a follower has everything below these offsets and asks for more. It waits
    /// at the leader until there is more.
    Follow {
        partitions: Vec<Follow>,
    },
    /// Between brokers: where the leader's log ends the follower's latest epoch, or the largest one
    /// before it that the leader knows. [spec kafka-zk.md I9]
    Diverged {
        partitions: Vec<(TopicPartition, Option<EpochOffset>)>,
    },
    /// With data, or with a new high watermark alone; [`WHERE`] as the offset asks the follower
    /// for its end.
    Followed {
        partitions: Vec<(TopicPartition, Fetched)>,
    },
}

/// See [`Msg::Fetch`].
pub const NO_LIMIT: u32 = u32::MAX;
/// See [`Msg::Followed`].
pub const WHERE: Offset = Offset::MAX;
