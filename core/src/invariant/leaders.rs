//! Every leader is in the partition's assignment. [product.md T4]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Findings, LEADER_IN_ASSIGNMENT};
use crate::kafka::paths;
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::world::event::Severity;
use crate::world::{Event, Row, World, ZkEvent};
use crate::zk::op::Zxid;

/// Assignments as last read: a topic's znode changes far less often than its partitions' states.
#[derive(Clone, Debug, Default)]
pub struct Leaders {
    known: BTreeMap<Arc<str>, (Zxid, Arc<TopicInfo>)>,
}

impl Leaders {
    pub fn check(&mut self, world: &World, rows: &[Row], findings: &mut Findings) {
        for row in rows {
            let (Event::Zk(ZkEvent::Created { path, .. })
            | Event::Zk(ZkEvent::DataSet { path, .. })) = &row.event
            else {
                continue;
            };
            let Some((topic, partition)) = state_of(path) else { continue };
            let node = world.server.tree().get(path);
            let state = node.and_then(|node| payload::read::<PartitionState>(&node.data));
            let (Some(state), Some(info)) = (state, self.assignment(world, topic)) else {
                continue;
            };
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

    fn assignment(&mut self, world: &World, topic: &str) -> Option<Arc<TopicInfo>> {
        let node = world.server.tree().get(&paths::topic(topic))?;
        match self.known.get(topic) {
            Some((mzxid, info)) if *mzxid == node.mzxid => Some(info.clone()),
            _ => {
                let info = Arc::new(payload::read::<TopicInfo>(&node.data)?);
                self.known.insert(topic.into(), (node.mzxid, info.clone()));
                Some(info)
            }
        }
    }
}

/// Topic and partition of a state znode's path.
fn state_of(path: &str) -> Option<(&str, u32)> {
    let rest = path.strip_prefix(paths::TOPICS)?.strip_prefix('/')?.strip_suffix("/state")?;
    let (topic, partition) = rest.split_once("/partitions/")?;
    Some((topic, partition.parse().ok()?))
}
