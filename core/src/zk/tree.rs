//! The tree of nodes. Cloning it is cheap: nodes are shared until one of the copies changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::java;
use super::op::{Acl, AclList, Data, Path, Release, SessionId, Stat, Zxid, open_acl, perms};
use super::path;
use super::server::load::Placed;
use crate::base::Digest;

/// What becomes of a node by itself. [spec zookeeper.md Z2, Z3, Z6]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    #[default]
    Persistent,
    Ephemeral(SessionId),
    Container,
    /// Goes once childless and untouched for so many milliseconds.
    Ttl(i64),
}

/// One node.
#[derive(Clone, Debug)]
pub struct Znode {
    pub data: Data,
    pub acl: AclList,
    pub kind: NodeKind,
    pub czxid: Zxid,
    pub mzxid: Zxid,
    pub pzxid: Zxid,
    pub ctime: i64,
    pub mtime: i64,
    pub version: i32,
    pub aversion: i32,
    /// How many children were ever created: the number of the next sequential one. [spec
    /// zookeeper.md Z4, Z5]
    pub creates: i32,
    children: BTreeMap<Arc<str>, Arc<Znode>>,
    /// Tells apart the children that came with one transaction; 0 for the first of them.
    place: i32,
    /// Size of the hash set in which Java keeps the names of the children; it never shrinks.
    buckets: u32,
}

/// `DataNode` makes the set of its children with room for this many.
const CHILD_BUCKETS: u32 = 8;

impl Znode {
    fn new(data: Data, acl: AclList, kind: NodeKind, zxid: Zxid, time_ms: i64) -> Znode {
        Znode {
            data,
            acl,
            kind,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time_ms,
            mtime: time_ms,
            version: 0,
            aversion: 0,
            creates: 0,
            children: BTreeMap::new(),
            place: 0,
            buckets: CHILD_BUCKETS,
        }
    }

    pub fn children(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Znode)> {
        self.children.iter().map(|(name, node)| (name, &**node))
    }

    /// The names in the order in which a server lists them: that of its hash set. Names of one
    /// bucket stand in the order in which they came, also those that came with one multi.
    pub fn listed(&self) -> Vec<Arc<str>> {
        let mut entries: Vec<(Zxid, i32, &Arc<str>)> =
            self.children.iter().map(|(name, node)| (node.czxid, node.place, name)).collect();
        entries.sort_unstable();
        java::walk(&mut entries, self.buckets, |(_, _, name)| name);
        entries.into_iter().map(|(_, _, name)| name.clone()).collect()
    }

    pub fn child(&self, name: &str) -> Option<&Znode> {
        self.children.get(name).map(|node| &**node)
    }

    pub fn child_count(&self) -> i32 {
        i32::try_from(self.children.len()).unwrap_or(i32::MAX)
    }

    /// What clients see: cversion counts creates and deletes, and only an ephemeral has an owner.
    /// [spec zookeeper.md Z5, Z8]
    pub fn stat(&self) -> Stat {
        let num_children = self.child_count();
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            ctime: self.ctime,
            mtime: self.mtime,
            version: self.version,
            cversion: self.creates.wrapping_mul(2).wrapping_sub(num_children),
            aversion: self.aversion,
            ephemeral_owner: if let NodeKind::Ephemeral(owner) = self.kind { owner.0 } else { 0 },
            data_length: self.data.as_ref().map_or(0, |d| i32::try_from(d.len()).unwrap_or(-1)),
            num_children,
        }
    }

    /// Nodes below this one.
    pub fn descendants(&self) -> i32 {
        let below = |sum: i32, node: &Arc<Znode>| sum.saturating_add(1 + node.descendants());
        self.children.values().fold(0, below)
    }

    fn digest(&self, digest: &mut Digest) {
        match &self.data {
            None => digest.i64(-1),
            Some(data) => digest.bytes(data),
        }
        for acl in self.acl.iter() {
            digest.u64(u64::from(acl.perms));
            digest.text(&acl.scheme);
            digest.text(&acl.id);
        }
        let kind = match self.kind {
            NodeKind::Persistent => (0, 0),
            NodeKind::Ephemeral(owner) => (1, owner.0),
            NodeKind::Container => (2, 0),
            NodeKind::Ttl(ms) => (3, ms),
        };
        for number in [kind.0, kind.1, self.czxid, self.mzxid, self.pzxid, self.ctime, self.mtime] {
            digest.i64(number);
        }
        for number in [self.version, self.aversion, self.creates, self.child_count()] {
            digest.i64(i64::from(number));
        }
        digest.u64(u64::from(self.buckets));
        if self.place != 0 {
            digest.i64(i64::from(self.place));
        }
        for (name, node) in &self.children {
            digest.text(name);
            node.digest(digest);
        }
    }
}

/// All nodes of a server.
#[derive(Clone, Debug)]
pub struct Tree {
    root: Arc<Znode>,
    /// Containers and TTL nodes with the order in which they came, for the check that removes them.
    transient: Arc<BTreeMap<Path, u64>>,
    next_transient: u64,
    count: u32,
}

impl Tree {
    /// A fresh server has its own few nodes, made without counting as creates. [spec zookeeper.md
    /// Z1, Z11]
    pub fn new(release: Release) -> Tree {
        // Java makes these with empty data and no check; the root's list is open.
        let plain = || Znode::new(Some(Arc::from([])), open_acl(), NodeKind::Persistent, 0, 0);
        let mut system = plain();
        system.children.insert("quota".into(), Arc::new(plain()));
        if release != Release::V3_4_6 {
            let acl = Arc::from([Acl { perms: perms::READ, ..open_acl()[0].clone() }]);
            let config = Znode { acl, aversion: -1, ..plain() };
            system.children.insert("config".into(), Arc::new(config));
        }
        let mut root = plain();
        let count = 1 + u32::try_from(system.children.len()).unwrap_or(0);
        root.children.insert("zookeeper".into(), Arc::new(system));
        Tree { root: Arc::new(root), transient: Arc::default(), next_transient: 0, count }
    }

    pub fn root(&self) -> &Znode {
        &self.root
    }

    /// Nodes without the root.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The server's table has the root under `""` and `/`; any other spelling that is not a node's
    /// own path is missing. [spec zookeeper.md P11]
    pub fn get(&self, path: &str) -> Option<&Znode> {
        if path.is_empty() || path == "/" {
            return Some(&self.root);
        }
        let mut node = &self.root;
        for name in path.strip_prefix('/')?.split('/') {
            node = node.children.get(name)?;
        }
        Some(node)
    }

    pub fn contains(&self, path: &str) -> bool {
        self.get(path).is_some()
    }

    fn get_mut(&mut self, path: &str) -> Option<&mut Znode> {
        // Look first: a missing node must not cost a copy of the nodes above it.
        self.get(path)?;
        let mut node = Arc::make_mut(&mut self.root);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            node = Arc::make_mut(node.children.get_mut(name)?);
        }
        Some(node)
    }

    /// Creates a node whose parent is there and whose name is free.
    pub(super) fn create(&mut self, at: &Path, new: NewNode, zxid: Zxid, time_ms: i64) {
        let (Some(parent), false) = (path::parent(at), self.contains(at)) else { return };
        let NewNode { data, acl, kind } = new;
        let Some(parent) = self.get_mut(parent) else { return };
        let new = Znode::new(data, acl, kind, zxid, time_ms);
        let place = if parent.pzxid == zxid { parent.creates } else { 0 };
        let node = Arc::new(Znode { place, ..new });
        parent.children.insert(path::name(at).into(), node);
        parent.buckets = java::grown(parent.buckets, parent.children.len());
        parent.creates = parent.creates.wrapping_add(1);
        parent.pzxid = zxid;
        self.count += 1;
        if matches!(kind, NodeKind::Container | NodeKind::Ttl(_)) {
            Arc::make_mut(&mut self.transient).insert(at.clone(), self.next_transient);
            self.next_transient += 1;
        }
    }

    /// Takes a childless node out.
    pub(super) fn delete(&mut self, at: &str, zxid: Zxid) -> Option<Arc<Znode>> {
        let parent = self.get_mut(path::parent(at)?)?;
        let node = parent.children.remove(path::name(at))?;
        parent.pzxid = zxid;
        self.count = self.count.saturating_sub(1);
        if matches!(node.kind, NodeKind::Container | NodeKind::Ttl(_)) {
            Arc::make_mut(&mut self.transient).remove(at);
        }
        Some(node)
    }

    /// Counters are plain signed ints that wrap. [spec zookeeper.md Z10, Z12]
    pub(super) fn set_data(&mut self, at: &str, data: Data, zxid: Zxid, time_ms: i64) {
        if let Some(node) = self.get_mut(at) {
            node.data = data;
            node.version = node.version.wrapping_add(1);
            node.mzxid = zxid;
            node.mtime = time_ms;
        }
    }

    /// Only what puts a model into a state by hand needs this; no transaction does it.
    pub(super) fn put_version(&mut self, at: &str, version: i32) {
        if let Some(node) = self.get_mut(at) {
            node.version = version;
        }
    }

    /// Makes sure by hand that a node of a kind is there. [spec zookeeper.md Z5]
    pub(super) fn place(&mut self, at: &Path, kind: NodeKind, zxid: Zxid, time_ms: i64) {
        match self.get_mut(at) {
            Some(node) => node.kind = kind,
            None => {
                self.create(at, NewNode { data: None, acl: open_acl(), kind }, zxid, time_ms);
            }
        }
    }

    /// Gives a node by hand what it holds; `cversion` as clients see it. [spec zookeeper.md Z5]
    pub(super) fn fill(&mut self, placed: &Placed) {
        if let Some(node) = self.get_mut(&placed.path) {
            node.data = placed.data.clone();
            node.version = placed.version;
            node.aversion = placed.aversion;
            node.creates = placed.cversion.wrapping_add(node.child_count()) / 2;
        }
    }

    pub(super) fn set_acl(&mut self, at: &str, acl: AclList) {
        if let Some(node) = self.get_mut(at) {
            node.acl = acl;
            node.aversion = node.aversion.wrapping_add(1);
        }
    }

    /// Containers and TTL nodes that are due, containers first, each in the order in which Java
    /// walks the set of their paths. [spec zookeeper.md Z6]
    pub fn due(&self, wall_ms: i64, max_never_used_ms: Option<u64>) -> Vec<Path> {
        let mut entries: Vec<(u64, &Path)> = self.transient.iter().map(|(p, n)| (*n, p)).collect();
        entries.sort_unstable();
        let mut found = Vec::new();
        for containers in [true, false] {
            let wanted = |path: &Path| {
                self.get(path).is_some_and(|n| (n.kind == NodeKind::Container) == containers)
            };
            let mut set: Vec<&Path> =
                entries.iter().map(|(_, path)| *path).filter(|path| wanted(path)).collect();
            let buckets = java::grown(java::FRESH, set.len());
            java::walk(&mut set, buckets, |path| path);
            found.extend(
                set.into_iter().filter(|p| self.is_due(p, wall_ms, max_never_used_ms)).cloned(),
            );
        }
        found
    }

    fn is_due(&self, path: &str, wall_ms: i64, max_never_used_ms: Option<u64>) -> bool {
        let Some(node) = self.get(path).filter(|node| node.children.is_empty()) else {
            return false;
        };
        let age_ms = wall_ms.saturating_sub(node.mtime);
        match node.kind {
            NodeKind::Container if node.creates > 0 => true,
            NodeKind::Container => max_never_used_ms
                .is_some_and(|max| max != 0 && age_ms > i64::try_from(max).unwrap_or(i64::MAX)),
            NodeKind::Ttl(ttl_ms) => age_ms > ttl_ms,
            _ => false,
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        self.root.digest(digest);
        digest.u64(self.next_transient);
    }
}

/// What a create brings.
#[derive(Clone, Debug)]
pub(super) struct NewNode {
    pub data: Data,
    pub acl: AclList,
    pub kind: NodeKind,
}
