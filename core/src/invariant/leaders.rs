//! Every leader is in the partition's assignment. [product.md T4]

use super::{Findings, LEADER_IN_ASSIGNMENT};
use crate::kafka::paths;
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::world::event::Severity;
use crate::world::{Event, Row, World, ZkEvent};

pub fn check(world: &World, rows: &[Row], findings: &mut Findings) {
    for row in rows {
        let (Event::Zk(ZkEvent::Created { path, .. }) | Event::Zk(ZkEvent::DataSet { path, .. })) =
            &row.event
        else {
            continue;
        };
        let Some((topic, partition)) = state_of(path) else { continue };
        let tree = world.server.tree();
        let state = tree.get(path).and_then(|n| payload::read::<PartitionState>(&n.data));
        let info =
            tree.get(&paths::topic(topic)).and_then(|node| payload::read::<TopicInfo>(&node.data));
        let (Some(state), Some(info)) = (state, info) else { continue };
        let Some(assignment) = info.partitions.get(&partition) else { continue };
        findings.checked(LEADER_IN_ASSIGNMENT);
        if let Ok(leader) = u32::try_from(state.leader)
            && !assignment.contains(&leader)
        {
            let about = format!("{topic}-{partition}");
            findings.breach(LEADER_IN_ASSIGNMENT, Severity::Violation, row.proc, &about);
        }
    }
}

/// Topic and partition of a state znode's path.
fn state_of(path: &str) -> Option<(&str, u32)> {
    let rest = path.strip_prefix(paths::TOPICS)?.strip_prefix('/')?.strip_suffix("/state")?;
    let (topic, partition) = rest.split_once("/partitions/")?;
    Some((topic, partition.parse().ok()?))
}
