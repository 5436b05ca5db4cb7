//! Putting a server into a state that was seen elsewhere: no transaction, no zxid, no watch fires.

use super::Server;
use crate::zk::op::{Data, Path, SessionId};
use crate::zk::tree::NodeKind;

/// A node as it is to stand in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub path: Path,
    pub data: Data,
    /// The session that the node goes with, if it does.
    pub owner: Option<SessionId>,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
}

impl Server {
    /// Puts nodes in place, each after the one above it; of one that is there only what is given
    /// changes. Sessions hold the ephemerals that are theirs.
    pub fn place(&mut self, nodes: &[Placed], time_ms: i64) {
        let zxid = self.state.last_zxid;
        for node in nodes {
            let kind = node.owner.map_or(NodeKind::Persistent, NodeKind::Ephemeral);
            self.state.tree.place(&node.path, kind, zxid, time_ms);
            if let Some(session) = node.owner.and_then(|id| self.state.sessions.get_mut(&id)) {
                session.ephemerals.insert(&node.path);
            }
        }
        // A parent's count of creates follows from its children, which are all there now.
        for node in nodes {
            self.state.tree.fill(node);
        }
    }

    /// Takes a childless node out.
    pub fn take_out(&mut self, path: &Path) {
        let zxid = self.state.last_zxid;
        if self.state.tree.get(path).is_none_or(|node| node.child_count() > 0) {
            return;
        }
        if let Some(node) = self.state.tree.delete(path, zxid)
            && let NodeKind::Ephemeral(owner) = node.kind
            && let Some(session) = self.state.sessions.get_mut(&owner)
        {
            session.ephemerals.remove(path);
        }
    }

    /// What a session watches: in the table of data and existence, and in that of children.
    pub fn watched_by(&self, session: SessionId) -> (Vec<Path>, Vec<Path>) {
        let conn = self.state.sessions.get(&session).and_then(|known| known.conn);
        conn.map(|conn| self.watches.of(conn)).unwrap_or_default()
    }
}
