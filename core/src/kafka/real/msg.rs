//! What brokers, the controller and tools of a real release say to each other.

use std::sync::Arc;

use super::context::Leadership;
use super::task::Task;
use crate::kafka::event::TopicRefusal;
use crate::kafka::msg::TopicPartition;
use crate::zk::op::Zxid;

/// Tools are addressed by numbers from here on, plus their place in the table of processes.
pub const TOOLS: u32 = 1 << 24;

/// A partition in a LeaderAndIsr request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub tp: TopicPartition,
    pub state: Leadership,
    pub replicas: Vec<u32>,
}

/// How all brokers hear that a partition stands; `None`: it is deleted, or has no state yet.
pub type Published = Option<Arc<Order>>;

/// What a leader wants the ISR to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrChange {
    pub tp: TopicPartition,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub zk_version: i32,
}

/// What became of it: the state now, or why not.
pub type IsrAnswer = Result<Leadership, IsrError>;

/// [spec kafka-zk.md I4]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsrError {
    FencedLeaderEpoch,
    InvalidUpdateVersion,
    UnknownPartition,
}

/// Who sends as controller, and for whom it is meant. [spec kafka-zk.md C5]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct From {
    pub controller: u32,
    pub controller_epoch: i32,
    /// The target's own epoch as the controller knows it; `None` before 2.2.
    pub broker_epoch: Option<Zxid>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Msg {
    LeaderAndIsr {
        from: From,
        live: Arc<[u32]>,
        orders: Vec<Arc<Order>>,
    },
    UpdateMetadata {
        from: From,
        live: Arc<[u32]>,
        partitions: Arc<[(TopicPartition, Published)]>,
    },
    StopReplica {
        from: From,
        delete: bool,
        partitions: Vec<TopicPartition>,
    },
    /// The replicas are deleted.
    Deleted {
        partitions: Vec<TopicPartition>,
    },
    Fetch {
        partitions: Arc<[TopicPartition]>,
    },
    Fetched {
        partitions: Arc<[TopicPartition]>,
    },
    NotLeader {
        partitions: Arc<[TopicPartition]>,
    },
    /// The leader answers the fetch that has waited for data: the follower asks again if it can.
    Probe,
    Alive,
    AlterIsr {
        epoch: Zxid,
        changes: Vec<IsrChange>,
    },
    IsrAltered {
        answers: Vec<(TopicPartition, IsrAnswer)>,
    },
    ControlledShutdown {
        epoch: Zxid,
    },
    /// `Err`: not the controller.
    ShutDown {
        left: Result<u32, ()>,
    },
    /// A tool asks who the controller is.
    WhoIsController,
    Controller {
        id: Option<u32>,
    },
    Ask {
        task: Arc<Task>,
    },
    Answer {
        task: Arc<Task>,
        result: Result<(), TopicRefusal>,
    },
    NotController,
    /// A tool does these first, each batch at once; the last one's end is its own.
    First {
        batches: Vec<Vec<Arc<Task>>>,
    },
}
