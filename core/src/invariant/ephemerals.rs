//! An ephemeral node never outlives its session. [spec zookeeper.md Z3, S3]

use super::{EPHEMERAL_WITH_SESSION, Findings};
use crate::world::event::Severity;
use crate::world::{Event, Row, World, ZkEvent};
use crate::zk::op::SessionId;
use crate::zk::tree::{NodeKind, Znode};

/// Looks at the whole tree, but only when a session ended.
pub fn check(world: &World, rows: &[Row], findings: &mut Findings) {
    for row in rows {
        if let Event::Zk(
            ZkEvent::SessionClosed { session, .. } | ZkEvent::SessionExpired { session, .. },
        ) = &row.event
        {
            findings.checked(EPHEMERAL_WITH_SESSION);
            if let Some(path) = world.server.tree().get("/").and_then(|n| left_over(n, *session)) {
                findings.breach(EPHEMERAL_WITH_SESSION, Severity::Violation, row.proc, &path);
            }
        }
    }
}

fn left_over(node: &Znode, session: SessionId) -> Option<String> {
    node.children().find_map(|(name, child)| {
        if child.kind == NodeKind::Ephemeral(session) {
            return Some(format!("/{name}"));
        }
        left_over(child, session).map(|below| format!("/{name}{below}"))
    })
}
