//! What brokers say to each other.

use std::sync::Arc;

/// A partition of a topic. Ordered by name, then number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    pub topic: Arc<str>,
    pub partition: u32,
}

/// What the controller tells a replica of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderAndIsr {
    pub tp: TopicPartition,
    /// czxid of the topic's znode: a topic made anew under its old name is another one.
    pub topic_czxid: crate::zk::op::Zxid,
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub replicas: Vec<u32>,
    /// Version of the partition's state znode, for the leader's own conditional writes.
    pub zk_version: i32,
}

/// Between brokers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Msg {
    LeaderAndIsr {
        controller: u32,
        controller_epoch: i32,
        partitions: Arc<[LeaderAndIsr]>,
    },
    StopReplica {
        controller_epoch: i32,
        partitions: Arc<[TopicPartition]>,
    },
    /// A follower asks its leader for what it lacks; the answer is that it has caught up.
    Fetch {
        partitions: Arc<[TopicPartition]>,
    },
    /// Not the leader of these (yet): ask again later.
    NotLeader {
        partitions: Arc<[TopicPartition]>,
    },
    Fetched {
        partitions: Arc<[TopicPartition]>,
    },
    /// The sender's process has ended: its kernel closed the connection.
    Closed,
    /// About records.
    Data(Box<super::data::Msg>),
    /// Between processes of a real release.
    Real(Box<super::real::msg::Msg>),
}
