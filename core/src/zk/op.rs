//! The words of ZooKeeper's protocol: operations, replies, stat, errors, events. Pure data.

use std::fmt;
use std::sync::Arc;

/// Data of a node: null and empty are two things.
pub type Data = Option<Arc<[u8]>>;
/// An absolute path, as it was sent.
pub type Path = Arc<str>;
/// Transaction id: epoch in the upper 32 bits, counter below.
pub type Zxid = i64;

/// The releases of ZooKeeper that were run and recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    V3_4_6,
    V3_5_9,
    #[default]
    V3_8_4,
    V3_9_5,
}

impl Release {
    pub const ALL: [Release; 4] =
        [Release::V3_4_6, Release::V3_5_9, Release::V3_8_4, Release::V3_9_5];

    pub const fn name(self) -> &'static str {
        match self {
            Release::V3_4_6 => "3.4.6",
            Release::V3_5_9 => "3.5.9",
            Release::V3_8_4 => "3.8.4",
            Release::V3_9_5 => "3.9.5",
        }
    }

    pub fn parse(name: &str) -> Option<Release> {
        Release::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// A session's id, shown by ZooKeeper in hexadecimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}

/// One TCP connection to a server. Ids are never used again within a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u32);

/// [spec zookeeper.md Z2]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CreateMode {
    Persistent,
    Ephemeral,
    PersistentSequential,
    EphemeralSequential,
    Container,
    PersistentWithTtl,
    PersistentSequentialWithTtl,
}

impl CreateMode {
    pub const fn is_ephemeral(self) -> bool {
        matches!(self, CreateMode::Ephemeral | CreateMode::EphemeralSequential)
    }

    pub const fn is_sequential(self) -> bool {
        matches!(
            self,
            CreateMode::PersistentSequential
                | CreateMode::EphemeralSequential
                | CreateMode::PersistentSequentialWithTtl
        )
    }

    pub const fn has_ttl(self) -> bool {
        matches!(self, CreateMode::PersistentWithTtl | CreateMode::PersistentSequentialWithTtl)
    }
}

/// Permission bits of an ACL entry.
pub mod perms {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
    pub const CREATE: u32 = 4;
    pub const DELETE: u32 = 8;
    pub const ADMIN: u32 = 16;
    pub const ALL: u32 = 31;
}

/// One entry of an access control list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Acl {
    pub perms: u32,
    pub scheme: Arc<str>,
    pub id: Arc<str>,
}

/// A node's list. An empty one is what a careless client sends: InvalidACL.
pub type AclList = Arc<[Acl]>;

/// `world:anyone:cdrwa`.
pub fn open_acl() -> AclList {
    Arc::from([Acl { perms: perms::ALL, scheme: "world".into(), id: "anyone".into() }])
}

/// What a client sees of a node. Times are in milliseconds of the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stat {
    pub czxid: Zxid,
    pub mzxid: Zxid,
    pub pzxid: Zxid,
    pub ctime: i64,
    pub mtime: i64,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
}

/// [spec zookeeper.md §4]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Error {
    RuntimeInconsistency,
    ConnectionLoss,
    MarshallingError,
    Unimplemented,
    OperationTimeout,
    BadArguments,
    NoNode,
    NoAuth,
    BadVersion,
    NoChildrenForEphemerals,
    NodeExists,
    NotEmpty,
    SessionExpired,
    InvalidAcl,
    AuthFailed,
    SessionMoved,
    NotReadOnly,
    NoWatcher,
    QuotaExceeded,
}

impl Error {
    pub const ALL: [Error; 19] = [
        Error::RuntimeInconsistency,
        Error::ConnectionLoss,
        Error::MarshallingError,
        Error::Unimplemented,
        Error::OperationTimeout,
        Error::BadArguments,
        Error::NoNode,
        Error::NoAuth,
        Error::BadVersion,
        Error::NoChildrenForEphemerals,
        Error::NodeExists,
        Error::NotEmpty,
        Error::SessionExpired,
        Error::InvalidAcl,
        Error::AuthFailed,
        Error::SessionMoved,
        Error::NotReadOnly,
        Error::NoWatcher,
        Error::QuotaExceeded,
    ];

    /// The number and the name that the Java client gives the error (`KeeperException.Code`).
    const fn entry(self) -> (i32, &'static str) {
        match self {
            Error::RuntimeInconsistency => (-2, "RUNTIMEINCONSISTENCY"),
            Error::ConnectionLoss => (-4, "CONNECTIONLOSS"),
            Error::MarshallingError => (-5, "MARSHALLINGERROR"),
            Error::Unimplemented => (-6, "UNIMPLEMENTED"),
            Error::OperationTimeout => (-7, "OPERATIONTIMEOUT"),
            Error::BadArguments => (-8, "BADARGUMENTS"),
            Error::NoNode => (-101, "NONODE"),
            Error::NoAuth => (-102, "NOAUTH"),
            Error::BadVersion => (-103, "BADVERSION"),
            Error::NoChildrenForEphemerals => (-108, "NOCHILDRENFOREPHEMERALS"),
            Error::NodeExists => (-110, "NODEEXISTS"),
            Error::NotEmpty => (-111, "NOTEMPTY"),
            Error::SessionExpired => (-112, "SESSIONEXPIRED"),
            Error::InvalidAcl => (-114, "INVALIDACL"),
            Error::AuthFailed => (-115, "AUTHFAILED"),
            Error::SessionMoved => (-118, "SESSIONMOVED"),
            Error::NotReadOnly => (-119, "NOTREADONLY"),
            Error::NoWatcher => (-121, "NOWATCHER"),
            Error::QuotaExceeded => (-125, "QUOTAEXCEEDED"),
        }
    }

    pub const fn code(self) -> i32 {
        self.entry().0
    }

    pub const fn name(self) -> &'static str {
        self.entry().1
    }
}

/// What a watch tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    NodeCreated,
    NodeDeleted,
    NodeDataChanged,
    NodeChildrenChanged,
    DataWatchRemoved,
    ChildWatchRemoved,
    PersistentWatchRemoved,
}

impl EventType {
    pub const fn name(self) -> &'static str {
        match self {
            EventType::NodeCreated => "NodeCreated",
            EventType::NodeDeleted => "NodeDeleted",
            EventType::NodeDataChanged => "NodeDataChanged",
            EventType::NodeChildrenChanged => "NodeChildrenChanged",
            EventType::DataWatchRemoved => "DataWatchRemoved",
            EventType::ChildWatchRemoved => "ChildWatchRemoved",
            EventType::PersistentWatchRemoved => "PersistentWatchRemoved",
        }
    }
}

/// Modes of `addWatch`. [spec zookeeper.md W7]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddWatchMode {
    Persistent,
    PersistentRecursive,
}

/// Which watches `removeWatches` and `checkWatches` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatcherType {
    Children,
    Data,
    Any,
    Persistent,
    PersistentRecursive,
}

/// A request as it goes over the wire. Paths and texts are as the client sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Create {
        path: Path,
        data: Data,
        acl: AclList,
        mode: CreateMode,
        ttl_ms: i64,
    },
    Delete {
        path: Path,
        version: i32,
    },
    Exists {
        path: Path,
        watch: bool,
    },
    GetData {
        path: Path,
        watch: bool,
    },
    SetData {
        path: Path,
        data: Data,
        version: i32,
    },
    GetChildren {
        path: Path,
        watch: bool,
    },
    GetAcl {
        path: Path,
    },
    SetAcl {
        path: Path,
        acl: AclList,
        version: i32,
    },
    /// Only inside a multi.
    Check {
        path: Path,
        version: i32,
    },
    Multi(Vec<Op>),
    MultiRead(Vec<Op>),
    Sync {
        path: Path,
    },
    AddAuth {
        scheme: Arc<str>,
        auth: Arc<[u8]>,
    },
    AddWatch {
        path: Path,
        mode: AddWatchMode,
    },
    RemoveWatches {
        path: Path,
        kind: WatcherType,
    },
    CheckWatches {
        path: Path,
        kind: WatcherType,
    },
    SetWatches(Box<SetWatches>),
    GetEphemerals {
        prefix: Path,
    },
    GetAllChildrenNumber {
        path: Path,
    },
    WhoAmI,
    CloseSession,
    /// A request that the server can not make sense of, such as one without a path:
    /// MarshallingError. What would have been a write takes its zxid all the same.
    Unreadable {
        write: bool,
    },
}

/// What a client puts back in place after a reconnect. [spec zookeeper.md S6]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetWatches {
    pub relative_zxid: Zxid,
    pub data: Vec<Path>,
    pub exist: Vec<Path>,
    pub child: Vec<Path>,
    pub persistent: Vec<Path>,
    pub persistent_recursive: Vec<Path>,
}

/// The good answer to an [`Op`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `create2` has the stat; every create here answers as it does.
    Create {
        path: Path,
        stat: Stat,
    },
    Stat(Stat),
    Data {
        data: Data,
        stat: Stat,
    },
    Children {
        children: Vec<Arc<str>>,
        stat: Stat,
    },
    Acl {
        acl: AclList,
        stat: Stat,
    },
    /// A committed multi: one answer per op.
    Multi(Vec<Reply>),
    /// A read multi: each op stands for itself.
    MultiRead(Vec<Result<Reply, Error>>),
    Ephemerals(Vec<Path>),
    ChildrenNumber(i32),
    /// `scheme:id` pairs.
    WhoAmI(Vec<(Arc<str>, Arc<str>)>),
    /// delete, check, sync, addAuth, addWatch, removeWatches, setWatches, closeSession.
    Done,
}

/// A refused request: its error, and for a multi what each op got (`None`: it would have
/// succeeded). [spec zookeeper.md M2]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub error: Error,
    pub multi: Option<Vec<Option<Error>>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, multi: None }
    }
}

/// The first packet of a connection. `session` 0 asks for a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    pub session: SessionId,
    pub password: u64,
    pub timeout_ms: i32,
    pub last_zxid_seen: Zxid,
}

/// What a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToServer {
    Connect(ConnectRequest),
    Request { xid: i32, op: Op },
    Ping,
}

/// What a server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToClient {
    /// `session` 0 and timeout 0: the session that was asked for is not known (expired).
    Connected {
        session: SessionId,
        password: u64,
        timeout_ms: i32,
    },
    Reply {
        xid: i32,
        zxid: Zxid,
        result: Result<Reply, Failure>,
    },
    /// `zxid` is -1 in the header before 3.9.5. [spec zookeeper.md W8]
    Event {
        kind: EventType,
        path: Path,
        zxid: Zxid,
    },
    Pong {
        zxid: Zxid,
    },
}

impl Op {
    /// The name that the protocol gives the request.
    pub const fn name(&self) -> &'static str {
        match self {
            Op::Create { .. } => "create",
            Op::Delete { .. } => "delete",
            Op::Exists { .. } => "exists",
            Op::GetData { .. } => "getData",
            Op::SetData { .. } => "setData",
            Op::GetChildren { .. } => "getChildren",
            Op::GetAcl { .. } => "getACL",
            Op::SetAcl { .. } => "setACL",
            Op::Check { .. } => "check",
            Op::Multi(_) => "multi",
            Op::MultiRead(_) => "multiRead",
            Op::Sync { .. } => "sync",
            Op::AddAuth { .. } => "addAuth",
            Op::AddWatch { .. } => "addWatch",
            Op::RemoveWatches { .. } => "removeWatches",
            Op::CheckWatches { .. } => "checkWatches",
            Op::SetWatches(_) => "setWatches",
            Op::GetEphemerals { .. } => "getEphemerals",
            Op::GetAllChildrenNumber { .. } => "getAllChildrenNumber",
            Op::WhoAmI => "whoAmI",
            Op::CloseSession => "closeSession",
            Op::Unreadable { .. } => "unreadable",
        }
    }

    /// The one path that the request is about.
    pub const fn path(&self) -> Option<&Path> {
        match self {
            Op::Create { path, .. }
            | Op::Delete { path, .. }
            | Op::Exists { path, .. }
            | Op::GetData { path, .. }
            | Op::SetData { path, .. }
            | Op::GetChildren { path, .. }
            | Op::GetAcl { path }
            | Op::SetAcl { path, .. }
            | Op::Check { path, .. }
            | Op::Sync { path }
            | Op::AddWatch { path, .. }
            | Op::RemoveWatches { path, .. }
            | Op::CheckWatches { path, .. }
            | Op::GetAllChildrenNumber { path } => Some(path),
            Op::GetEphemerals { prefix } => Some(prefix),
            _ => None,
        }
    }

    /// Whether the request goes into the log and takes a zxid. [spec zookeeper.md E7]
    pub const fn is_write(&self) -> bool {
        matches!(
            self,
            Op::Create { .. }
                | Op::Delete { .. }
                | Op::SetData { .. }
                | Op::SetAcl { .. }
                | Op::Check { .. }
                | Op::Multi(_)
                | Op::CloseSession
                | Op::Unreadable { write: true }
        )
    }
}
