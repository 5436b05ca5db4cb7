//! What happens at a consumer, in the past tense.

use std::sync::Arc;

use super::assign::Failed;
use crate::kafka::data::Offset;
use crate::kafka::msg::TopicPartition;

/// Why a rebalance began. [spec consumer-zk.md G1 to G7]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Its own start.
    Joined,
    /// Children of `/consumers/G/ids`.
    Members,
    /// Data of a subscribed topic's znode.
    TopicChanged,
    /// A filter's topics.
    TopicsChanged,
    /// Its session was a new one.
    NewSession,
    /// Children of `/brokers/ids`.
    Brokers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Registered {
        id: Arc<str>,
    },
    /// Its registration of a former session is still there: it waits. [spec consumer-zk.md R4]
    OldRegistrationHolds {
        id: Arc<str>,
    },
    Attempt {
        attempt: u32,
        trigger: Trigger,
    },
    /// No broker lives: nothing is committed, released or claimed. [spec consumer-zk.md G7, B4]
    NoBrokers,
    /// How many owner nodes it gave back.
    Released {
        partitions: Vec<TopicPartition>,
    },
    /// What the rule gave it, with the rule's own numbers.
    Assigned {
        topic: Arc<str>,
        partitions: u32,
        takers: u32,
        /// Its place among them, and what it gets; one entry a stream.
        mine: Vec<(u32, Vec<u32>)>,
    },
    NotAssigned(Failed),
    Claimed {
        tp: TopicPartition,
    },
    ClaimRefused {
        tp: TopicPartition,
        holder: Option<Arc<str>>,
    },
    AttemptFailed {
        attempt: u32,
    },
    AttemptEnded {
        attempt: u32,
        owned: u32,
    },
    /// ConsumerRebalanceFailedException. [spec consumer-zk.md B2]
    GaveUp {
        attempts: u32,
    },
    Committed {
        offsets: Vec<(TopicPartition, Offset)>,
    },
    /// It began to read a partition here.
    Positioned {
        tp: TopicPartition,
        at: Offset,
        /// By `auto.offset.reset`.
        reset: bool,
    },
    /// Records went to the application.
    Consumed {
        tp: TopicPartition,
        from: Offset,
        count: u32,
        by_hand: bool,
    },
    /// What it writes into its own log besides.
    Note(Note),
}

impl Event {
    /// What happens a thousand times when one thing is done.
    pub fn is_detail(&self) -> bool {
        let told = |note: &Note| {
            matches!(note, Note::SessionIsNew | Note::TopicsAdded(_) | Note::TopicsLost(_))
        };
        match self {
            Event::Claimed { .. } | Event::Positioned { .. } => true,
            Event::Consumed { by_hand, .. } => !by_hand,
            Event::Note(note) => !told(note),
            _ => false,
        }
    }
}

/// Steps on the way, as the 0.8 consumer's log has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Registering,
    /// A session of its own is gone and it has a new one. [spec consumer-zk.md G3]
    SessionIsNew,
    TopicChanged(Arc<str>),
    TopicGone(Arc<str>),
    /// What a filter's topics gained and lost. [spec consumer-zk.md G4]
    TopicsAdded(Vec<Arc<str>>),
    TopicsLost(Vec<Arc<str>>),
    TopicsChosen(Vec<Arc<str>>),
    /// Fetchers are stopped and their queues cleared; what was consumed is committed.
    FetchersStopped {
        commits: bool,
    },
    /// Threads that get no partition of a topic.
    IdleThread {
        thread: Arc<str>,
        topic: Arc<str>,
    },
    /// A node that the attempt needs is gone, or nobody can read it: the attempt breaks off.
    Broken,
    /// A rebalance that nobody called for gave up: nobody hears of it. [spec consumer-zk.md B2]
    GaveUpUnheard,
    ShuttingDown,
    ShutDown,
}
