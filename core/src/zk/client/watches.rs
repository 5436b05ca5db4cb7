//! The client's own tables of watches (`ZKWatchManager`). A watch enters them with the answer to
//! the request that asked for it, and leaves them when the server's event arrives.

use std::collections::{BTreeMap, BTreeSet};

use super::super::op::{
    AddWatchMode, Error, EventType, Failure, Op, Path, Reply, SetWatches, WatcherType, Zxid,
};
use super::super::path::with_parents;
use super::ClientOut;
use crate::base::Digest;

/// One Watcher object of the application. 0 is the default one, given when the client was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId(pub u32);

/// Path by path, who watches.
pub type Table = BTreeMap<Path, BTreeSet<WatcherId>>;

#[derive(Clone, Debug, Default)]
pub struct Watches {
    pub data: Table,
    pub exist: Table,
    pub child: Table,
    pub persistent: Table,
    pub recursive: Table,
}

impl Watches {
    /// Every watcher once, the default one first: whom a state is told. [spec zookeeper.md W6]
    pub fn everyone(&self) -> Vec<WatcherId> {
        let mut all = BTreeSet::from([WatcherId(0)]);
        for table in self.tables() {
            all.extend(table.values().flatten());
        }
        all.into_iter().collect()
    }

    fn tables(&self) -> [&Table; 5] {
        [&self.data, &self.exist, &self.child, &self.persistent, &self.recursive]
    }

    /// Takes the one-shot watches that an event uses up and names whom it is told, each watcher
    /// once. [spec zookeeper.md W1, W2, W7]
    pub fn fire(&mut self, kind: EventType, path: &Path) -> Vec<WatcherId> {
        let mut told = BTreeSet::new();
        let one_shot: &mut [&mut Table] = match kind {
            EventType::NodeCreated | EventType::NodeDataChanged => {
                &mut [&mut self.data, &mut self.exist]
            }
            EventType::NodeDeleted => &mut [&mut self.data, &mut self.exist, &mut self.child],
            EventType::NodeChildrenChanged => &mut [&mut self.child],
            _ => &mut [],
        };
        for table in one_shot {
            told.extend(table.remove(path).unwrap_or_default());
        }
        told.extend(self.persistent.get(path).into_iter().flatten());
        if !self.recursive.is_empty() && kind != EventType::NodeChildrenChanged {
            for above in with_parents(path) {
                told.extend(self.recursive.get(above).into_iter().flatten());
            }
        }
        told.into_iter().collect()
    }

    /// What goes to a server after a reconnect; nothing if there is no watch.
    pub fn set_watches(&self, relative_zxid: Zxid) -> Option<SetWatches> {
        if self.tables().iter().all(|table| table.is_empty()) {
            return None;
        }
        let paths = |table: &Table| table.keys().cloned().collect();
        Some(SetWatches {
            relative_zxid,
            data: paths(&self.data),
            exist: paths(&self.exist),
            child: paths(&self.child),
            persistent: paths(&self.persistent),
            persistent_recursive: paths(&self.recursive),
        })
    }

    /// Registers or removes what the answered request was about.
    pub fn answered(
        &mut self,
        op: &Op,
        watcher: Option<WatcherId>,
        result: Result<Reply, Failure>,
        out: &mut Vec<ClientOut>,
    ) -> Result<Reply, Failure> {
        let ok = result.is_ok();
        let missing = result.as_ref().is_err_and(|f| f.error == Error::NoNode);
        let table = match op {
            Op::RemoveWatches { path, kind } if ok => {
                return self.remove(path, None, *kind, out);
            }
            Op::CheckWatches { path, kind } if ok => {
                return self.remove(path, watcher, *kind, out);
            }
            Op::GetData { .. } | Op::Exists { .. } if ok => &mut self.data,
            Op::Exists { .. } if missing => &mut self.exist,
            Op::GetChildren { .. } if ok => &mut self.child,
            Op::AddWatch { mode: AddWatchMode::Persistent, .. } if ok => &mut self.persistent,
            Op::AddWatch { .. } if ok => &mut self.recursive,
            _ => return result,
        };
        if let (
            Some(watcher),
            Op::GetData { path, .. }
            | Op::Exists { path, .. }
            | Op::GetChildren { path, .. }
            | Op::AddWatch { path, .. },
        ) = (watcher, op)
        {
            table.entry(path.clone()).or_default().insert(watcher);
        }
        result
    }

    fn remove(
        &mut self,
        path: &Path,
        watcher: Option<WatcherId>,
        kind: WatcherType,
        out: &mut Vec<ClientOut>,
    ) -> Result<Reply, Failure> {
        let any = kind == WatcherType::Any;
        let persistent = any || kind == WatcherType::Persistent;
        let recursive = any || kind == WatcherType::PersistentRecursive;
        let mut gone: [(EventType, BTreeSet<WatcherId>); 3] = [
            (EventType::ChildWatchRemoved, BTreeSet::new()),
            (EventType::DataWatchRemoved, BTreeSet::new()),
            (EventType::PersistentWatchRemoved, BTreeSet::new()),
        ];
        for (place, wanted, table) in [
            (0, any || kind == WatcherType::Children, &mut self.child),
            (1, any || kind == WatcherType::Data, &mut self.data),
            (1, any || kind == WatcherType::Data, &mut self.exist),
            (2, persistent, &mut self.persistent),
            (2, recursive, &mut self.recursive),
        ] {
            if wanted {
                gone[place].1.extend(take(table, path, watcher));
            }
        }
        if gone.iter().all(|(_, watchers)| watchers.is_empty()) {
            return Err(Error::NoWatcher.into());
        }
        for (kind, watchers) in gone {
            if !watchers.is_empty() {
                let watchers = watchers.into_iter().collect();
                out.push(ClientOut::Event { watchers, kind, path: path.clone(), zxid: -1 });
            }
        }
        Ok(Reply::Done)
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
fn take(table: &mut Table, path: &Path, watcher: Option<WatcherId>) -> BTreeSet<WatcherId> {
    let Some(watcher) = watcher else { return table.remove(path).unwrap_or_default() };
    let Some(watchers) = table.get_mut(path) else { return BTreeSet::new() };
    let found = watchers.remove(&watcher);
    if watchers.is_empty() {
        table.remove(path);
    }
    found.then_some(watcher).into_iter().collect()
}
