//! The znode tree and one node in full.

use std::sync::Arc;

use crate::lab::Lab;
use crate::world::World;
use crate::zk::op::{AclList, Data, Path, SessionId, Stat, Zxid};
use crate::zk::tree::{NodeKind, Znode};

/// A node in the list of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildView {
    pub path: Path,
    pub name: Arc<str>,
    pub data: Data,
    pub kind: NodeKind,
    /// The process that owns an ephemeral node.
    pub owner: Option<u16>,
    /// The owner's process is gone, its session still counts.
    pub owner_dead: bool,
    pub children: u32,
    pub watchers: u32,
    pub version: i32,
    pub czxid: Zxid,
    pub mzxid: Zxid,
    pub pzxid: Zxid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatcherView {
    pub proc: Option<u16>,
    pub session: SessionId,
    pub data: bool,
    pub child: bool,
    pub persistent: bool,
    pub recursive: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    pub path: Path,
    pub data: Data,
    pub stat: Stat,
    pub acl: AclList,
    pub kind: NodeKind,
    pub owner: Option<u16>,
    pub watchers: Vec<WatcherView>,
}

pub fn children(lab: &Lab, path: &str) -> Vec<ChildView> {
    let world = lab.world();
    let Some(node) = world.server.tree().get(path) else { return Vec::new() };
    let above = if path == "/" { "" } else { path };
    node.children()
        .map(|(name, child)| child_view(world, format!("{above}/{name}").into(), name, child))
        .collect()
}

fn child_view(world: &World, path: Path, name: &Arc<str>, node: &Znode) -> ChildView {
    let owner = owner(world, node.kind);
    ChildView {
        watchers: world.server.watch_count(&path),
        path,
        name: name.clone(),
        data: node.data.clone(),
        kind: node.kind,
        owner,
        owner_dead: match node.kind {
            NodeKind::Ephemeral(session) => !owner.is_some_and(|index| {
                world.proc(index).client().is_some_and(|client| client.session() == session)
            }),
            _ => false,
        },
        children: u32::try_from(node.child_count()).unwrap_or(0),
        version: node.version,
        czxid: node.czxid,
        mzxid: node.mzxid,
        pzxid: node.pzxid,
    }
}

fn owner(world: &World, kind: NodeKind) -> Option<u16> {
    match kind {
        NodeKind::Ephemeral(session) => world.owners.get(&session).copied(),
        _ => None,
    }
}

pub fn node(lab: &Lab, path: &str) -> Option<NodeView> {
    let world = lab.world();
    let node = world.server.tree().get(path)?;
    let watchers = world.server.watchers(path).into_iter().map(|watcher| WatcherView {
        proc: world.owners.get(&watcher.session).copied(),
        session: watcher.session,
        data: watcher.data.has(crate::zk::watch::Modes::ONE_SHOT),
        child: watcher.child.has(crate::zk::watch::Modes::ONE_SHOT),
        persistent: watcher.data.has(crate::zk::watch::Modes::PERSISTENT),
        recursive: watcher.data.has(crate::zk::watch::Modes::RECURSIVE),
    });
    Some(NodeView {
        path: path.into(),
        data: node.data.clone(),
        stat: node.stat(),
        acl: node.acl.clone(),
        kind: node.kind,
        owner: owner(world, node.kind),
        watchers: watchers.collect(),
    })
}
