//! Watches of a server: which connection is to be told what. [spec zookeeper.md §6]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::op::{AddWatchMode, ConnId, Error, EventType, Path, Release, WatcherType};
use super::path;
use crate::base::Digest;

/// The modes in which one connection watches one path in one table, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Modes(u8);

impl Modes {
    pub const NONE: Modes = Modes(0);
    pub const ONE_SHOT: Modes = Modes(1);
    pub const PERSISTENT: Modes = Modes(2);
    pub const RECURSIVE: Modes = Modes(4);

    pub const fn has(self, mode: Modes) -> bool {
        self.0 & mode.0 != 0
    }

    const fn with(self, mode: Modes) -> Modes {
        Modes(self.0 | mode.0)
    }

    const fn without(self, mode: Modes) -> Modes {
        Modes(self.0 & !mode.0)
    }
}

impl From<AddWatchMode> for Modes {
    fn from(mode: AddWatchMode) -> Modes {
        match mode {
            AddWatchMode::Persistent => Modes::PERSISTENT,
            AddWatchMode::PersistentRecursive => Modes::RECURSIVE,
        }
    }
}

/// One of the server's two tables (`WatchManager`).
#[derive(Clone, Debug, Default)]
pub struct Table {
    by_path: BTreeMap<Path, BTreeMap<ConnId, Modes>>,
    by_conn: BTreeMap<ConnId, BTreeSet<Path>>,
    recursive: u32,
}

impl Table {
    fn add(&mut self, at: &Path, conn: ConnId, mode: Modes, release: Release) {
        let modes = self.by_path.entry(at.clone()).or_default().entry(conn).or_default();
        let before = *modes;
        // Since 3.9 modes stand side by side; 3.8.4 knows one mode a connection and path, the one
        // that came last. [spec zookeeper.md W7]
        *modes = if release >= Release::V3_9_5 { before.with(mode) } else { mode };
        let after = *modes;
        self.count_recursive(before, after);
        self.by_conn.entry(conn).or_default().insert(at.clone());
    }

    fn count_recursive(&mut self, before: Modes, after: Modes) {
        self.recursive += u32::from(after.has(Modes::RECURSIVE));
        self.recursive = self.recursive.saturating_sub(u32::from(before.has(Modes::RECURSIVE)));
    }

    fn modes(&self, at: &str, conn: ConnId) -> Modes {
        self.by_path.get(at).and_then(|conns| conns.get(&conn)).copied().unwrap_or_default()
    }

    /// Keeps only `modes` of a watch; false if nothing changed.
    fn keep(&mut self, at: &str, conn: ConnId, modes: Modes) -> bool {
        let Some(conns) = self.by_path.get_mut(at) else { return false };
        let Some(before) = conns.get(&conn).copied().filter(|before| *before != modes) else {
            return false;
        };
        if modes == Modes::NONE {
            conns.remove(&conn);
            if conns.is_empty() {
                self.by_path.remove(at);
            }
            if let Some(paths) = self.by_conn.get_mut(&conn) {
                paths.remove(at);
                if paths.is_empty() {
                    self.by_conn.remove(&conn);
                }
            }
        } else {
            conns.insert(conn, modes);
        }
        self.count_recursive(before, modes);
        true
    }

    fn drop_conn(&mut self, conn: ConnId) {
        for at in self.by_conn.get(&conn).cloned().unwrap_or_default() {
            self.keep(&at, conn, Modes::NONE);
        }
    }

    /// Who is told of a change at `at`; what was one-shot goes. [spec zookeeper.md W1, W7]
    fn trigger(&mut self, at: &str, event: EventType, how: &Firing) -> BTreeSet<ConnId> {
        let mut told = BTreeSet::new();
        let own: Vec<(ConnId, Modes)> = match self.by_path.get(at) {
            Some(conns) => conns.iter().map(|(conn, modes)| (*conn, *modes)).collect(),
            None => Vec::new(),
        };
        for (conn, modes) in own {
            if how.release < Release::V3_9_5 && modes.has(Modes::RECURSIVE) {
                if event != EventType::NodeChildrenChanged {
                    told.insert(conn);
                }
                continue;
            }
            told.insert(conn);
            if how.one_shot_goes {
                self.keep(at, conn, modes.without(Modes::ONE_SHOT));
            }
        }
        if self.recursive > 0 && event != EventType::NodeChildrenChanged {
            for above in path::with_parents(at).skip(1) {
                let conns = self.by_path.get(above).into_iter().flatten();
                told.extend(conns.filter(|(_, m)| m.has(Modes::RECURSIVE)).map(|(conn, _)| *conn));
            }
        }
        told
    }

    fn digest(&self, digest: &mut Digest) {
        for (path, conns) in &self.by_path {
            digest.text(path);
            for (conn, modes) in conns {
                digest.u64(u64::from(conn.0) << 8 | u64::from(modes.0));
            }
        }
    }
}

/// How watches fire.
#[derive(Clone, Copy, Debug)]
pub struct Firing {
    pub release: Release,
    /// Always true; a seeded mutation breaks it.
    pub one_shot_goes: bool,
}

/// What one connection watches at one path, for people to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watching {
    pub conn: ConnId,
    pub data: Modes,
    pub child: Modes,
}

/// Both tables. Shared between clones of a server until one changes.
#[derive(Clone, Debug, Default)]
pub struct Watches {
    data: Arc<Table>,
    child: Arc<Table>,
}

impl Watches {
    pub fn watch_data(&mut self, at: &Path, conn: ConnId, release: Release) {
        Arc::make_mut(&mut self.data).add(at, conn, Modes::ONE_SHOT, release);
    }

    pub fn watch_children(&mut self, at: &Path, conn: ConnId, release: Release) {
        Arc::make_mut(&mut self.child).add(at, conn, Modes::ONE_SHOT, release);
    }

    /// `addWatch`. Until 3.8 a recursive watch stands in both tables. [spec zookeeper.md W7]
    pub fn add(&mut self, at: &Path, conn: ConnId, mode: AddWatchMode, release: Release) {
        Arc::make_mut(&mut self.data).add(at, conn, mode.into(), release);
        if mode == AddWatchMode::Persistent || release < Release::V3_9_5 {
            Arc::make_mut(&mut self.child).add(at, conn, mode.into(), release);
        }
    }

    /// `checkWatches`. 3.8.4 only looks whether anybody watches there, and walks up the path for
    /// it: the empty one is watched by nobody, one without a slash can't be walked. (class file)
    pub fn check(
        &self,
        at: &str,
        conn: ConnId,
        kind: WatcherType,
        release: Release,
    ) -> Result<(), Error> {
        let found = if release == Release::V3_8_4 {
            if !at.is_empty() && !at.contains('/') {
                return Err(Error::MarshallingError);
            }
            let (in_data, in_child) = selection(kind, release);
            let hit = |table: &Table, modes| modes != Modes::NONE && table.by_path.contains_key(at);
            !at.is_empty() && (hit(&self.data, in_data) || hit(&self.child, in_child))
        } else {
            self.has(at, conn, kind, release)
        };
        if found { Ok(()) } else { Err(Error::NoWatcher) }
    }

    fn has(&self, at: &str, conn: ConnId, kind: WatcherType, release: Release) -> bool {
        let (in_data, in_child) = selection(kind, release);
        let hit = |table: &Table, modes: Modes| table.modes(at, conn).has(modes);
        hit(&self.data, in_data) || hit(&self.child, in_child)
    }

    /// Takes watches of a kind away; false if there was none.
    pub fn remove(&mut self, at: &str, conn: ConnId, kind: WatcherType, release: Release) -> bool {
        if !self.has(at, conn, kind, release) {
            return false;
        }
        let (in_data, in_child) = selection(kind, release);
        let left = self.data.modes(at, conn).without(in_data);
        Arc::make_mut(&mut self.data).keep(at, conn, left);
        let left = self.child.modes(at, conn).without(in_child);
        Arc::make_mut(&mut self.child).keep(at, conn, left);
        true
    }

    /// A connection is gone and its watches with it.
    pub fn drop_conn(&mut self, conn: ConnId) {
        if self.data.by_conn.contains_key(&conn) {
            Arc::make_mut(&mut self.data).drop_conn(conn);
        }
        if self.child.by_conn.contains_key(&conn) {
            Arc::make_mut(&mut self.child).drop_conn(conn);
        }
    }

    pub fn clear(&mut self) {
        *self = Watches::default();
    }

    /// Fires the data table for a change of the node itself.
    pub fn trigger_data(&mut self, at: &str, event: EventType, how: &Firing) -> BTreeSet<ConnId> {
        if self.data.by_path.is_empty() {
            return BTreeSet::new();
        }
        Arc::make_mut(&mut self.data).trigger(at, event, how)
    }

    pub fn trigger_child(&mut self, at: &str, event: EventType, how: &Firing) -> BTreeSet<ConnId> {
        if self.child.by_path.is_empty() {
            return BTreeSet::new();
        }
        Arc::make_mut(&mut self.child).trigger(at, event, how)
    }

    /// Who watches this very path.
    pub fn at(&self, path: &str) -> Vec<Watching> {
        let conns = |table: &Table| -> BTreeSet<ConnId> {
            table.by_path.get(path).into_iter().flat_map(|conns| conns.keys().copied()).collect()
        };
        let modes = |conn| (self.data.modes(path, conn), self.child.modes(path, conn));
        let all = &conns(&self.data) | &conns(&self.child);
        all.into_iter()
            .map(|conn| Watching { conn, data: modes(conn).0, child: modes(conn).1 })
            .collect()
    }

    /// What one connection watches, in the two tables.
    pub fn of(&self, conn: ConnId) -> (Vec<Path>, Vec<Path>) {
        let paths = |table: &Table| -> Vec<Path> {
            table.by_conn.get(&conn).into_iter().flatten().cloned().collect()
        };
        (paths(&self.data), paths(&self.child))
    }

    /// How many connections watch this very path, counted per table.
    pub fn count_at(&self, path: &str) -> u32 {
        let count = |table: &Table| table.by_path.get(path).map_or(0, BTreeMap::len);
        u32::try_from(count(&self.data) + count(&self.child)).unwrap_or(u32::MAX)
    }

    pub fn digest(&self, digest: &mut Digest) {
        self.data.digest(digest);
        digest.u64(0);
        self.child.digest(digest);
    }
}

/// Which modes of the data and of the child table a kind of watch means. Before 3.9 the mode does
/// not count. (seen: real-zk-ops remove-all-watches)
fn selection(kind: WatcherType, release: Release) -> (Modes, Modes) {
    let all = Modes(7);
    match (kind, release >= Release::V3_9_5) {
        (WatcherType::Any, _) => (all, all),
        (WatcherType::Children, true) => (Modes::NONE, Modes::ONE_SHOT),
        (WatcherType::Data, true) => (Modes::ONE_SHOT, Modes::NONE),
        (WatcherType::Children, false) => (Modes::NONE, all),
        (WatcherType::Data, false) => (all, Modes::NONE),
        (WatcherType::Persistent, true) => (Modes::PERSISTENT, Modes::PERSISTENT),
        (WatcherType::PersistentRecursive, true) => (Modes::RECURSIVE, Modes::NONE),
        // Unknown to the older servers.
        (WatcherType::Persistent | WatcherType::PersistentRecursive, false) => {
            (Modes::NONE, Modes::NONE)
        }
    }
}
