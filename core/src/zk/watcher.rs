//! What the Java client library does by itself, without its connection: it refuses some requests
//! before they are sent, and it keeps the tables that lead from an event to the application's
//! Watcher objects (`ZKWatchManager`).

use std::collections::{BTreeMap, BTreeSet};

use super::op::{
    AddWatchMode, Error, EventType, Op, Path, Release, Reply, SetWatches, WatcherType, Zxid,
};
use super::path;
use super::txn::is_valid_ttl;
use crate::base::Digest;

/// One Watcher object of the application. 0 is the default one, given when the client was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId(pub u32);

/// How a request ends that never leaves the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// `IllegalArgumentException`.
    IllegalArgument,
    Failed(Error),
    /// There is nothing to ask.
    Done(Reply),
}

/// What the library answers by itself; `None` if the request goes to the server. [spec
/// zookeeper.md §3]
pub fn answers_locally(op: &Op, release: Release) -> Option<Local> {
    match op {
        Op::Create { path, mode, acl, ttl_ms, .. } => {
            // From 3.5 on a TTL is checked too, and only modes that have one may bring one.
            let bad_ttl = match mode.has_ttl() {
                true => !is_valid_ttl(*ttl_ms),
                false => *ttl_ms > 0,
            };
            let sequential = mode.is_sequential();
            if !path::is_valid_for_create(path, sequential, release)
                || (bad_ttl && release != Release::V3_4_6)
            {
                return Some(Local::IllegalArgument);
            }
            acl.is_empty().then_some(Local::Failed(Error::InvalidAcl))
        }
        Op::SetAcl { path, acl, .. } => match path::is_valid(path, release) {
            false => Some(Local::IllegalArgument),
            true => acl.is_empty().then_some(Local::Failed(Error::InvalidAcl)),
        },
        // Since 3.8 a multi without ops is not sent. [spec zookeeper.md M4]
        Op::Multi(ops) if ops.is_empty() => {
            (release >= Release::V3_8_4).then_some(Local::Done(Reply::Multi(Vec::new())))
        }
        Op::MultiRead(ops) if ops.is_empty() => Some(Local::Done(Reply::MultiRead(Vec::new()))),
        Op::Multi(ops) | Op::MultiRead(ops) => {
            let bad = ops.iter().any(|op| !is_valid_part(op, release));
            bad.then_some(Local::IllegalArgument)
        }
        Op::Unreadable { .. } => Some(Local::IllegalArgument),
        _ => {
            let bad = op.path().is_some_and(|path| !path::is_valid(path, release));
            bad.then_some(Local::IllegalArgument)
        }
    }
}

/// An op of a multi is looked at without its list: the server does that.
fn is_valid_part(op: &Op, release: Release) -> bool {
    match op {
        Op::Create { path, mode, .. } => {
            !mode.has_ttl() && path::is_valid_for_create(path, mode.is_sequential(), release)
        }
        _ => op.path().is_none_or(|path| path::is_valid(path, release)),
    }
}

type Table = BTreeMap<Path, BTreeSet<WatcherId>>;

/// The client's tables of watches. A watch enters them with the answer to the request that asked
/// for it and leaves them when the server's event arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchTables {
    release: Release,
    data: Table,
    exist: Table,
    child: Table,
    persistent: Table,
    recursive: Table,
}

impl WatchTables {
    pub fn new(release: Release) -> WatchTables {
        WatchTables { release, ..WatchTables::default() }
    }

    fn tables(&self) -> [&Table; 5] {
        [&self.data, &self.exist, &self.child, &self.persistent, &self.recursive]
    }

    pub fn is_empty(&self) -> bool {
        self.tables().iter().all(|table| table.is_empty())
    }

    /// Every watcher once, the default one first: whom a state is told. [spec zookeeper.md W6]
    pub fn everyone(&self) -> Vec<WatcherId> {
        let mut all = BTreeSet::from([WatcherId(0)]);
        for table in self.tables() {
            all.extend(table.values().flatten());
        }
        all.into_iter().collect()
    }

    /// The answer to `op` is here: its watcher is registered if the answer allows it. An exists
    /// that finds nothing leaves an exist watch. [spec zookeeper.md §6]
    pub fn register(&mut self, op: &Op, watcher: WatcherId, result: Result<(), Error>) {
        let found = result.is_ok();
        let found_or_missing = found || result == Err(Error::NoNode);
        let (table, path) = match op {
            Op::GetData { path, .. } | Op::Exists { path, .. } if found => (&mut self.data, path),
            Op::Exists { path, .. } if found_or_missing => (&mut self.exist, path),
            Op::GetChildren { path, .. } if found => (&mut self.child, path),
            Op::AddWatch { path, mode } if found_or_missing => match mode {
                AddWatchMode::Persistent => (&mut self.persistent, path),
                AddWatchMode::PersistentRecursive => (&mut self.recursive, path),
            },
            _ => return,
        };
        table.entry(path.clone()).or_default().insert(watcher);
    }

    /// Takes the one-shot watches that an event uses up and names whom it is told, each watcher
    /// object once. [spec zookeeper.md W1, W2, W7]
    pub fn materialize(&mut self, kind: EventType, path: &str) -> Vec<WatcherId> {
        let mut told = BTreeSet::new();
        let used_up: &mut [&mut Table] = match kind {
            EventType::NodeCreated | EventType::NodeDataChanged => {
                &mut [&mut self.data, &mut self.exist]
            }
            EventType::NodeDeleted => &mut [&mut self.data, &mut self.exist, &mut self.child],
            EventType::NodeChildrenChanged => &mut [&mut self.child],
            _ => return Vec::new(),
        };
        for table in used_up {
            told.extend(table.remove(path).unwrap_or_default());
        }
        told.extend(self.persistent.get(path).into_iter().flatten());
        // A child event is there because of another watch; until 3.8 the recursive ones hear of
        // it too.
        let recursive = kind != EventType::NodeChildrenChanged || self.release < Release::V3_9_5;
        if recursive && !self.recursive.is_empty() {
            for above in path::with_parents(path) {
                told.extend(self.recursive.get(above).into_iter().flatten());
            }
        }
        told.into_iter().collect()
    }

    /// The answer to a removal is here (`None` as watcher: all of the path). The application gets
    /// the notices that are returned, or the error. [spec zookeeper.md W7]
    pub fn remove(
        &mut self,
        path: &str,
        watcher: Option<WatcherId>,
        kind: WatcherType,
        answer: Result<(), Error>,
    ) -> Result<Vec<(EventType, Vec<WatcherId>)>, Error> {
        answer?;
        let (any, modern) = (kind == WatcherType::Any, self.release >= Release::V3_9_5);
        let children = any || kind == WatcherType::Children;
        let data = any || kind == WatcherType::Data;
        let persistent = any || (modern && kind == WatcherType::Persistent);
        let recursive = any || (modern && kind == WatcherType::PersistentRecursive);
        let mut notices: Vec<(EventType, BTreeSet<WatcherId>)> = [
            EventType::ChildWatchRemoved,
            EventType::DataWatchRemoved,
            EventType::PersistentWatchRemoved,
        ]
        .map(|event| (event, BTreeSet::new()))
        .into();
        for (notice, wanted, table) in [
            (0, children, &mut self.child),
            (1, data, &mut self.data),
            (1, data, &mut self.exist),
            (2, persistent, &mut self.persistent),
            (2, recursive, &mut self.recursive),
        ] {
            if wanted {
                notices[notice].1.extend(take(table, path, watcher));
            }
        }
        notices.retain(|(_, watchers)| !watchers.is_empty());
        if notices.is_empty() {
            return Err(Error::NoWatcher);
        }
        Ok(notices.into_iter().map(|(event, set)| (event, set.into_iter().collect())).collect())
    }

    /// What goes to a server after a reconnect, before anything else; nothing if there is no
    /// watch. [spec zookeeper.md S6]
    pub fn rearm(&self, relative_zxid: Zxid) -> Option<SetWatches> {
        let paths = |table: &Table| table.keys().cloned().collect();
        (!self.is_empty()).then(|| SetWatches {
            relative_zxid,
            data: paths(&self.data),
            exist: paths(&self.exist),
            child: paths(&self.child),
            persistent: paths(&self.persistent),
            persistent_recursive: paths(&self.recursive),
        })
    }

    pub fn digest(&self, digest: &mut Digest) {
        for table in self.tables() {
            digest.u64(table.len() as u64);
            for (path, watchers) in table {
                digest.text(path);
                digest.u64(watchers.len() as u64);
                for watcher in watchers {
                    digest.u64(u64::from(watcher.0));
                }
            }
        }
    }
}

/// Removes one watcher, or all of them, from a path.
fn take(table: &mut Table, path: &str, watcher: Option<WatcherId>) -> BTreeSet<WatcherId> {
    let Some(watcher) = watcher else { return table.remove(path).unwrap_or_default() };
    let Some(watchers) = table.get_mut(path) else { return BTreeSet::new() };
    let found = watchers.remove(&watcher);
    if watchers.is_empty() {
        table.remove(path);
    }
    found.then_some(watcher).into_iter().collect()
}
