//! A thread of the consumer: a stack of steps over what it has asked ZooKeeper or a broker.

use std::collections::VecDeque;

use super::event::Trigger;
use crate::base::Instant;
use crate::kafka::data::{self, Offset};
use crate::kafka::msg::TopicPartition;
use crate::kafka::real::fiber::Fiber;
use crate::zk::op::{Data, Error, Path};

/// The threads of a connector. [spec consumer-zk.md G5]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread {
    /// The application's, in `createMessageStreams`.
    App,
    /// Of the ZooKeeper client: does one event after the other.
    Events,
    /// Runs one rebalance per flag.
    Watcher,
    /// Commits by time or when it is asked.
    Commit,
    /// Looks for leaders.
    Leaders,
    /// In `shutdown`.
    Stop,
}

impl Thread {
    pub const ALL: [Thread; 6] = [
        Thread::App,
        Thread::Events,
        Thread::Watcher,
        Thread::Commit,
        Thread::Leaders,
        Thread::Stop,
    ];
}

/// What a thread does next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Waits for the rebalance lock and takes it.
    Lock,
    Unlock,
    /// Takes answers that nobody needs.
    Ignore,
    // A node is made, its parents first where they lack.
    Create {
        path: Path,
        data: Data,
        ephemeral: bool,
        /// Its parents were just made.
        again: bool,
    },
    Created {
        path: Path,
        data: Data,
        ephemeral: bool,
        again: bool,
    },
    Parents(Path),
    ParentMade(Path),
    // Start.
    StartTimer,
    ListTopics,
    TopicsListed,
    Register,
    Registered(Data),
    OldRead(Data),
    TryRegister(Data),
    Subscribe,
    Subscribed,
    WatchTopics,
    Streams,
    // Events.
    SessionIsNew,
    Flag(Trigger),
    TopicSeen(std::sync::Arc<str>),
    ReadTopics,
    TopicsSeen,
    // Rebalance.
    Sync(Trigger),
    Attempt,
    ClusterListed,
    ClusterRead,
    OwnRead,
    BrokersAwaited,
    CloseFetchers,
    Release,
    Released,
    PartitionsRead,
    MembersListed,
    MembersRead,
    OffsetsFetched,
    OffsetsRead,
    Claim(usize),
    Claimed(usize),
    HolderRead(usize),
    Undone,
    AttemptOver,
    BackOff,
    // Commit.
    Commit,
    CommitNext,
    CommitSet,
    CommitMade,
    CommitAnswered,
    // Offsets in Kafka.
    FindChannel,
    ChannelListed,
    ChannelFound,
    FetchOffsets,
    // Leaders.
    Look,
    BrokersListed,
    AskLeaders,
    Leaders,
    // Shutdown.
    StopFetching,
    Close,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub fiber: Fiber,
    pub stack: Vec<Step>,
    /// It sleeps until then, or for an answer of a broker at most until then.
    pub wake_at: Instant,
    pub asleep: bool,
    /// The number of the request whose answer it waits for, and the broker.
    pub peer: Option<(u32, u32)>,
    pub heard: Option<data::Msg>,
    /// How the last node was made.
    pub made: Result<(), Error>,
    /// What is still to commit, and what was committed.
    pub left: VecDeque<(TopicPartition, Offset)>,
    pub done: Vec<(TopicPartition, Offset)>,
}

impl Default for Task {
    fn default() -> Task {
        Task {
            fiber: Fiber::default(),
            stack: Vec::new(),
            wake_at: Instant::NEVER,
            asleep: false,
            peer: None,
            heard: None,
            made: Ok(()),
            left: VecDeque::new(),
            done: Vec::new(),
        }
    }
}

impl Task {
    pub fn then(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        self.stack.extend(steps.into_iter().rev());
    }

    /// Has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.stack.is_empty() && !self.fiber.is_waiting()
    }

    pub fn waits(&self) -> bool {
        self.asleep || self.peer.is_some() || self.fiber.is_waiting()
    }

    /// Its time has come: it goes on, without the answer that it waited for.
    pub fn wake(&mut self, now: Instant) {
        if self.wake_at <= now {
            self.wake_at = Instant::NEVER;
            self.asleep = false;
            self.peer = None;
        }
    }

    /// Drops all that it was about to do.
    pub fn clear(&mut self) {
        self.fiber.take();
        let fiber = std::mem::take(&mut self.fiber);
        *self = Task { fiber, ..Task::default() };
    }
}
