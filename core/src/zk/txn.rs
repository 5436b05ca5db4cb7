//! Transactions: what a write request becomes (`decide`) and what it does to the replicated state
//! (`apply`, the only place that changes it).

use std::collections::BTreeMap;

use super::acl::{self, Identities};
use super::op::{
    AclList, CreateMode, Data, Error, EventType, Op, Path, Release, Reply, SessionId, Zxid, perms,
};
use super::path;
use super::session::{Ephemerals, Session};
use super::tree::{NewNode, NodeKind, Tree, Znode};
use crate::base::Instant;

/// One entry of the log. Refused writes are there too: all replicas stay in step. [spec
/// zookeeper.md E7]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    pub zxid: Zxid,
    /// Who asked; 0 for the server itself.
    pub session: SessionId,
    /// The server's wall clock.
    pub time_ms: i64,
    pub kind: TxnKind,
}

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnKind {
    CreateSession {
        timeout_ms: i32,
        password: u64,
    },
    /// With the ephemerals that go, in their order. [spec zookeeper.md S3]
    CloseSession {
        ephemerals: Vec<Path>,
        expired: bool,
    },
    Create {
        path: Path,
        data: Data,
        acl: AclList,
        kind: NodeKind,
    },
    Delete {
        path: Path,
        /// By the server's own check of containers and TTL nodes.
        by_server: bool,
    },
    SetData {
        path: Path,
        data: Data,
    },
    SetAcl {
        path: Path,
        acl: AclList,
    },
    Check {
        path: Path,
    },
    Multi(Vec<TxnKind>),
    /// A refused write and what each op of a multi got. [spec zookeeper.md M2]
    Error {
        op: &'static str,
        path: Path,
        error: Error,
        multi: Option<Vec<Option<Error>>>,
    },
}

/// The state that every replica of a log has: the tree and the sessions.
#[derive(Clone, Debug)]
pub struct State {
    pub release: Release,
    pub extended_types: bool,
    pub tree: Tree,
    pub sessions: BTreeMap<SessionId, Session>,
    pub last_zxid: Zxid,
}

/// A change that watches may wait for. `acl` is the list of the node that the event names: since
/// 3.8.4 only who may read it hears of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub event: EventType,
    pub path: Path,
    pub acl: AclList,
    pub parent_acl: AclList,
}

/// What came of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// In the order in which their watches fire. [spec zookeeper.md W3, W4]
    pub changes: Vec<Change>,
    pub reply: Reply,
}

/// Who asks for a write.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub session: SessionId,
    pub who: &'a Identities,
}

impl State {
    pub fn new(release: Release, extended_types: bool) -> State {
        let tree = Tree::new(release);
        State { release, extended_types, tree, sessions: BTreeMap::new(), last_zxid: 0 }
    }

    /// What a write request becomes in the log. Never a change, always an entry.
    pub fn decide(&self, asker: Asker, op: &Op, zxid: Zxid, time_ms: i64) -> TxnKind {
        let decided = match op {
            Op::Multi(ops) => return self.decide_multi(asker, ops, zxid, time_ms),
            Op::CloseSession => Ok(self.close_session(asker.session, false)),
            _ => self.decide_on(&self.tree, asker, op),
        };
        decided.unwrap_or_else(|error| refused(op, error, None))
    }

    /// The end of a session takes its ephemerals along. [spec zookeeper.md S3, S9]
    pub fn close_session(&self, id: SessionId, expired: bool) -> TxnKind {
        let ephemerals = self
            .sessions
            .get(&id)
            .map(|session| session.ephemerals.in_order_of_removal(self.release))
            .unwrap_or_default();
        TxnKind::CloseSession { ephemerals, expired }
    }

    /// The server's own removal of a container or TTL node. [spec zookeeper.md Z6]
    pub fn decide_container(&self, path: &Path) -> TxnKind {
        let error = match self.tree.get(path) {
            None => Error::NoNode,
            Some(node) if node.child_count() > 0 => Error::NotEmpty,
            Some(node) if matches!(node.kind, NodeKind::Ephemeral(_)) => Error::BadVersion,
            Some(_) => return TxnKind::Delete { path: path.clone(), by_server: true },
        };
        TxnKind::Error { op: "deleteContainer", path: path.clone(), error, multi: None }
    }

    /// All ops or none; a later op sees what an earlier one did. [spec zookeeper.md M1, M2]
    fn decide_multi(&self, asker: Asker, ops: &[Op], zxid: Zxid, time_ms: i64) -> TxnKind {
        // Only the ops of M1 have a place in a multi: with any other the server can not read the
        // request. (seen on all four)
        let other = |op: &Op| matches!(op, Op::Multi(_) | Op::SetAcl { .. } | Op::CloseSession);
        let readable = |op: &Op| op.is_write() && !other(op);
        if !ops.iter().all(readable) {
            return refused(&Op::Multi(Vec::new()), Error::MarshallingError, None);
        }
        let mut scratch: Option<Tree> = None;
        let mut done = Vec::with_capacity(ops.len());
        for (at, op) in ops.iter().enumerate() {
            match self.decide_on(scratch.as_ref().unwrap_or(&self.tree), asker, op) {
                Ok(kind) => {
                    let last = at + 1 == ops.len();
                    if !last && !matches!(kind, TxnKind::Check { .. }) {
                        let scratch = scratch.get_or_insert_with(|| self.tree.clone());
                        apply_to_tree(scratch, &kind, zxid, time_ms);
                    }
                    done.push(kind);
                }
                Err(error) => {
                    let mut results = vec![None; at];
                    results.push(Some(error));
                    results.resize(ops.len(), Some(Error::RuntimeInconsistency));
                    return refused(op, error, Some(results));
                }
            }
        }
        TxnKind::Multi(done)
    }

    /// The checks of one write, in their order. [spec zookeeper.md E1 to E5]
    fn decide_on(&self, tree: &Tree, asker: Asker, op: &Op) -> Result<TxnKind, Error> {
        match op {
            Op::Create { path, data, acl, mode, ttl_ms } => {
                let kind = self.node_kind(*mode, *ttl_ms, asker.session)?;
                self.decide_create(tree, asker, (path, data, acl), *mode, kind)
            }
            Op::Delete { path, version } => self.decide_delete(tree, asker, path, *version),
            Op::SetData { path, data, version } => {
                let node = self.checked_node(tree, path)?;
                acl::check(&node.acl, perms::WRITE, asker.who)?;
                expect_version(node.version, *version)?;
                Ok(TxnKind::SetData { path: path.clone(), data: data.clone() })
            }
            Op::Check { path, version } => {
                let node = self.checked_node(tree, path)?;
                acl::check(&node.acl, perms::READ, asker.who)?;
                expect_version(node.version, *version)?;
                Ok(TxnKind::Check { path: path.clone() })
            }
            Op::SetAcl { path, acl, version } => {
                self.check_path(path)?;
                let acl = acl::fixup(acl, asker.who, self.release)?;
                let node = tree.get(path).ok_or(Error::NoNode)?;
                acl::check(&node.acl, perms::ADMIN, asker.who)?;
                expect_version(node.aversion, *version)?;
                Ok(TxnKind::SetAcl { path: path.clone(), acl })
            }
            Op::Unreadable { .. } => Err(Error::MarshallingError),
            _ => Err(Error::Unimplemented),
        }
    }

    /// [spec zookeeper.md Z2, Z6]
    fn node_kind(&self, mode: CreateMode, ttl: i64, owner: SessionId) -> Result<NodeKind, Error> {
        match mode {
            _ if mode.has_ttl() && !self.extended_types => Err(Error::Unimplemented),
            _ if mode.has_ttl() && !is_valid_ttl(ttl) => Err(Error::BadArguments),
            _ if mode.has_ttl() => Ok(NodeKind::Ttl(ttl)),
            CreateMode::Container => Ok(NodeKind::Container),
            _ if mode.is_ephemeral() => Ok(NodeKind::Ephemeral(owner)),
            _ => Ok(NodeKind::Persistent),
        }
    }

    /// [spec zookeeper.md E1, P11]
    fn decide_create(
        &self,
        tree: &Tree,
        asker: Asker,
        (path, data, acl): (&Path, &Data, &AclList),
        mode: CreateMode,
        kind: NodeKind,
    ) -> Result<TxnKind, Error> {
        let above = path::parent(path).filter(|_| !path.contains('\0'));
        let above = above.ok_or(Error::BadArguments)?;
        let acl = acl::fixup(acl, asker.who, self.release)?;
        let parent = tree.get(above).ok_or(Error::NoNode)?;
        acl::check(&parent.acl, perms::CREATE, asker.who)?;
        // The counter is a signed int: it becomes negative after its largest value. [Z4]
        let path = match mode.is_sequential() {
            true => format!("{path}{:010}", parent.creates).into(),
            false => path.clone(),
        };
        if !path::is_valid(&path, self.release) {
            return Err(Error::BadArguments);
        }
        if tree.contains(&path) {
            return Err(Error::NodeExists);
        }
        if matches!(parent.kind, NodeKind::Ephemeral(_)) {
            return Err(Error::NoChildrenForEphemerals);
        }
        Ok(TxnKind::Create { path, data: data.clone(), acl, kind })
    }

    /// [spec zookeeper.md E2]
    fn decide_delete(
        &self,
        tree: &Tree,
        asker: Asker,
        path: &Path,
        version: i32,
    ) -> Result<TxnKind, Error> {
        let special = path.contains('\0') || path::is_special(path, self.release);
        let above = path::parent(path).filter(|_| !special).ok_or(Error::BadArguments)?;
        let parent = tree.get(above).ok_or(Error::NoNode)?;
        let may = acl::check(&parent.acl, perms::DELETE, asker.who);
        if self.release >= Release::V3_8_4 {
            may?;
        }
        let node = tree.get(path).ok_or(Error::NoNode)?;
        may?;
        expect_version(node.version, version)?;
        if node.child_count() > 0 {
            return Err(Error::NotEmpty);
        }
        Ok(TxnKind::Delete { path: path.clone(), by_server: false })
    }

    /// 3.4.6 does not look at the path itself. [spec zookeeper.md P11]
    fn check_path(&self, path: &str) -> Result<(), Error> {
        if self.release == Release::V3_4_6 || path::is_valid(path, self.release) {
            Ok(())
        } else {
            Err(Error::BadArguments)
        }
    }

    fn checked_node<'a>(&self, tree: &'a Tree, path: &str) -> Result<&'a Znode, Error> {
        self.check_path(path)?;
        tree.get(path).ok_or(Error::NoNode)
    }

    /// Brings a transaction into the state. The only change of it that there is.
    pub fn apply(&mut self, txn: &Txn) -> Applied {
        self.last_zxid = txn.zxid;
        let mut changes = Vec::new();
        let reply = self.apply_kind(txn, &txn.kind, &mut changes);
        Applied { changes, reply }
    }

    fn apply_kind(&mut self, txn: &Txn, kind: &TxnKind, changes: &mut Vec<Change>) -> Reply {
        match kind {
            TxnKind::CreateSession { timeout_ms, password } => {
                let session = Session {
                    id: txn.session,
                    password: *password,
                    timeout_ms: *timeout_ms,
                    conn: None,
                    deadline: Instant::NEVER,
                    ephemerals: Ephemerals::default(),
                };
                self.sessions.insert(txn.session, session);
                Reply::Done
            }
            TxnKind::CloseSession { ephemerals, .. } => {
                for path in ephemerals {
                    self.change(path, EventType::NodeDeleted, changes);
                    self.tree.delete(path, txn.zxid);
                }
                self.sessions.remove(&txn.session);
                Reply::Done
            }
            TxnKind::Multi(kinds) => {
                Reply::Multi(kinds.iter().map(|k| self.apply_kind(txn, k, changes)).collect())
            }
            TxnKind::Error { .. } | TxnKind::Check { .. } => Reply::Done,
            _ => self.apply_write(txn, kind, changes),
        }
    }

    fn apply_write(&mut self, txn: &Txn, kind: &TxnKind, changes: &mut Vec<Change>) -> Reply {
        if let TxnKind::Delete { path, .. } = kind {
            self.change(path, EventType::NodeDeleted, changes);
            if let Some(NodeKind::Ephemeral(owner)) = self.tree.get(path).map(|node| node.kind)
                && let Some(session) = self.sessions.get_mut(&owner)
            {
                session.ephemerals.remove(path);
            }
        }
        apply_to_tree(&mut self.tree, kind, txn.zxid, txn.time_ms);
        match kind {
            TxnKind::Create { path, kind, .. } => {
                if let NodeKind::Ephemeral(owner) = kind
                    && let Some(session) = self.sessions.get_mut(owner)
                {
                    session.ephemerals.insert(path);
                }
                self.change(path, EventType::NodeCreated, changes);
                Reply::Create { path: path.clone(), stat: self.stat(path) }
            }
            TxnKind::SetData { path, .. } => {
                self.change(path, EventType::NodeDataChanged, changes);
                Reply::Stat(self.stat(path))
            }
            TxnKind::SetAcl { path, .. } => Reply::Stat(self.stat(path)),
            _ => Reply::Done,
        }
    }

    fn stat(&self, path: &str) -> super::op::Stat {
        self.tree.get(path).map(Znode::stat).unwrap_or_default()
    }

    fn change(&self, path: &Path, event: EventType, changes: &mut Vec<Change>) {
        let Some(node) = self.tree.get(path) else { return };
        let parent_acl = self.tree.get(path::parent_name(path)).map(|node| node.acl.clone());
        let acl = node.acl.clone();
        let parent_acl = parent_acl.unwrap_or_else(|| acl.clone());
        changes.push(Change { event, path: path.clone(), acl, parent_acl });
    }
}

/// The part of a write that the nodes feel.
fn apply_to_tree(tree: &mut Tree, kind: &TxnKind, zxid: Zxid, time_ms: i64) {
    match kind {
        TxnKind::Create { path, data, acl, kind } => {
            let new = NewNode { data: data.clone(), acl: acl.clone(), kind: *kind };
            tree.create(path, new, zxid, time_ms);
        }
        TxnKind::Delete { path, .. } => {
            tree.delete(path, zxid);
        }
        TxnKind::SetData { path, data } => tree.set_data(path, data.clone(), zxid, time_ms),
        TxnKind::SetAcl { path, acl } => tree.set_acl(path, acl.clone()),
        _ => {}
    }
}

fn refused(op: &Op, error: Error, multi: Option<Vec<Option<Error>>>) -> TxnKind {
    let path = op.path().cloned().unwrap_or_else(|| "".into());
    TxnKind::Error { op: op.name(), path, error, multi }
}

/// -1 means any. [spec zookeeper.md Z13]
fn expect_version(is: i32, expected: i32) -> Result<(), Error> {
    if expected == -1 || expected == is { Ok(()) } else { Err(Error::BadVersion) }
}

/// More than 0 and less than 2^40 ms. [spec zookeeper.md Z6]
pub fn is_valid_ttl(ttl_ms: i64) -> bool {
    ttl_ms > 0 && ttl_ms < 1 << 40
}
