//! Everything that can happen, as one closed sum. No prose: the story is told elsewhere.

use std::sync::Arc;

use super::command::{Command, Refusal};
use crate::base::Instant;
use crate::kafka;
use crate::sim::trace;
use crate::zk::client::KeeperState;
use crate::zk::op::{Error, EventType, Path, SessionId};
use crate::zk::shell::LineKind;

pub type Row = trace::Row<Event>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Commanded(Arc<Command>),
    Refused(Arc<(Command, Refusal)>),
    /// The process begins to run.
    Started,
    /// It ended by itself, in order.
    Exited,
    Killed,
    Paused {
        until: Instant,
    },
    Resumed,
    /// Every broker of a rolling restart is back.
    RollingDone,
    /// The link between the row's process and ZooKeeper.
    LinkCut,
    LinkHealed,
    /// What the process's ZooKeeper client tells it about its session.
    Keeper(KeeperState),
    /// A watch event reached the process.
    Told {
        kind: EventType,
        path: Path,
    },
    Zk(ZkEvent),
    Kafka(Arc<kafka::Event>),
    /// A plain client's shell prints.
    Printed {
        kind: LineKind,
        text: Arc<str>,
    },
    /// An invariant does not hold, or something worth naming was found.
    Breach(Arc<Breach>),
}

/// What an observer found, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The invariant's name, which is also the key of its texts.
    pub invariant: &'static str,
    pub severity: Severity,
    /// A path, a partition or a process's id, as the invariant says.
    pub about: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It must never be so: the model is wrong, or a rule was broken on purpose.
    Violation,
    /// The real system does this too; it is worth knowing.
    Found,
}

/// What happened at the ZooKeeper server. The row's process is the client it was done for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZkEvent {
    ServerStopped,
    ServerStarted,
    SessionOpened {
        session: SessionId,
        timeout_ms: i32,
    },
    SessionResumed {
        session: SessionId,
    },
    /// The client asked for a session that is gone.
    SessionUnknown {
        session: SessionId,
    },
    SessionClosed {
        session: SessionId,
        gone: Arc<[Path]>,
    },
    SessionExpired {
        session: SessionId,
        gone: Arc<[Path]>,
    },
    Pinged {
        deadline: Instant,
    },
    Read {
        what: Reading,
        path: Path,
        watch: bool,
    },
    Created {
        path: Path,
        ephemeral: bool,
        zxid: i64,
    },
    DataSet {
        path: Path,
        zxid: i64,
    },
    AclSet {
        path: Path,
        zxid: i64,
    },
    Deleted {
        path: Path,
        zxid: i64,
    },
    /// A container or TTL node that nobody needs any more.
    Swept {
        path: Path,
        zxid: i64,
    },
    Multi {
        count: u32,
        first: Path,
        zxid: i64,
    },
    /// Refused, and yet it used a zxid. [spec zookeeper.md E7]
    Failed {
        what: &'static str,
        path: Path,
        error: Error,
        zxid: i64,
    },
    /// The answer was an error; nothing was logged.
    ReadFailed {
        what: Reading,
        path: Path,
        error: Error,
    },
    /// One-shot watches that fire are gone with it.
    WatchesFired {
        kind: EventType,
        path: Path,
        whom: Arc<[u16]>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    Exists,
    Data,
    Children,
    Acl,
    Sync,
    Watch,
    Other,
}
