//! What happens at a broker, in the past tense. No prose: ids and numbers.

use std::sync::Arc;

use super::msg::TopicPartition;
use super::placement::Refusal;
use super::real::task::Task;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `/brokers/ids/N` is this process's.
    Registered {
        broker: u32,
    },
    /// Somebody else holds `/brokers/ids/N`. [product.md T1]
    IdTaken {
        broker: u32,
        host: Arc<str>,
        holder: Option<Arc<str>>,
    },
    /// The znode of this broker's own dead session is still there: it waits.
    OldSessionHolds {
        broker: u32,
    },
    /// It took `/controller`; the epoch is not counted up yet.
    WonElection {
        broker: u32,
    },
    LostElection {
        broker: u32,
        controller: Option<u32>,
    },
    /// The epoch is counted up: it acts as controller.
    ControllerStarted {
        broker: u32,
        epoch: i32,
    },
    ControllerResigned {
        broker: u32,
        epoch: i32,
    },
    /// The controller reads who lives.
    BrokersChanged {
        controller: u32,
        joined: Vec<u32>,
        left: Vec<u32>,
    },
    TopicsChanged {
        controller: u32,
        created: Vec<Arc<str>>,
        gone: Vec<Arc<str>>,
    },
    /// The controller decides: `from` is who led before.
    LeaderChosen {
        tp: TopicPartition,
        from: Option<u32>,
        leader: Option<u32>,
        isr: Vec<u32>,
        leader_epoch: i32,
    },
    IsrShrunk {
        tp: TopicPartition,
        leader: Option<u32>,
        isr: Vec<u32>,
        left: Vec<u32>,
    },
    IsrGrown {
        tp: TopicPartition,
        leader: u32,
        isr: Vec<u32>,
        joined: u32,
    },
    BecameLeader {
        broker: u32,
        tp: TopicPartition,
        leader_epoch: i32,
    },
    BecameFollower {
        broker: u32,
        tp: TopicPartition,
        leader: Option<u32>,
        leader_epoch: i32,
    },
    CaughtUp {
        broker: u32,
        leader: u32,
        tp: TopicPartition,
    },
    /// A partition's replicas are on their way elsewhere; `from`: all that there were.
    ReplicasMove {
        tp: TopicPartition,
        from: Vec<u32>,
        target: Vec<u32>,
        adding: Vec<u32>,
        removing: Vec<u32>,
    },
    /// They have arrived.
    ReplicasMoved {
        tp: TopicPartition,
        replicas: Vec<u32>,
    },
    ReplicaDeleted {
        broker: u32,
        tp: TopicPartition,
    },
    /// Its last fetch from a broker that stands still has no answer: until then it hears no
    /// controller. [spec kafka-zk.md F6]
    WaitsForFetch {
        broker: u32,
        peer: u32,
    },
    /// A request of a controller with a lower epoch. [spec kafka-zk.md]
    StaleController {
        broker: u32,
        epoch: i32,
        known: i32,
    },
    TopicDeleted {
        topic: Arc<str>,
    },
    /// What an administrator's tool says.
    TopicRefused {
        topic: Arc<str>,
        why: TopicRefusal,
    },
    TopicWritten {
        topic: Arc<str>,
        partitions: u32,
        replication: u32,
    },
    DeletionAsked {
        topic: Arc<str>,
    },
    /// What a tool of a real release was asked for is done.
    Done {
        task: Arc<Task>,
    },
    NotDone {
        task: Arc<Task>,
        why: TopicRefusal,
    },
    /// The controller has moved away what it could; `left` partitions are still led by a broker
    /// that wants to stop.
    ShutdownAnswered {
        broker: u32,
        left: u32,
    },
    /// A controller's write was refused because the epoch is not its own any more.
    Fenced {
        broker: u32,
        epoch: i32,
    },
    Consumer(super::consumer_zk::event::Event),
    Producer(super::producer::Event),
    Log(super::log::store::Event),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicRefusal {
    Exists,
    Unknown,
    AlreadyBeingDeleted,
    Placement(Refusal),
    /// Kafka's name of what is wrong.
    Invalid(&'static str),
    Zk(crate::zk::op::Error),
}
