//! What brokers and controllers write into partitions' states: who leads is assigned and lives, who
//! is in sync is assigned, epochs do not fall, and a controller that lost its office changes
//! nothing where the release fences it. [spec kafka-zk.md C2, §4; cases/lessons.md L4]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    DEAD_LEADER, DEPOSED_FENCED, DEPOSED_WROTE, Findings, ISR_IN_ASSIGNMENT, LEADER_EPOCH_FORWARD,
    LEADER_IN_ASSIGNMENT,
};
use crate::kafka::paths;
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::world::event::Severity;
use crate::world::{Event, Fact, Profile, Row, World, ZkEvent};
use crate::zk::op::{Path, Zxid};

/// A topic as last read: its znode changes far less often than its partitions' states.
#[derive(Clone, Debug)]
struct Topic {
    czxid: Zxid,
    mzxid: Zxid,
    info: Arc<TopicInfo>,
    /// The highest leader epoch of each partition.
    epochs: BTreeMap<u32, i32>,
}

/// Shared between copies until a state is written.
#[derive(Clone, Debug, Default)]
pub struct States {
    known: Arc<BTreeMap<Arc<str>, Arc<Topic>>>,
}

/// A state that was written.
struct Written<'a> {
    proc: u16,
    topic: &'a str,
    partition: u32,
    state: PartitionState,
}

impl States {
    pub fn check(&mut self, world: &World, rows: &[Row], findings: &mut Findings) {
        for row in rows {
            if let Event::Zk(ZkEvent::Created { path, .. } | ZkEvent::DataSet { path, .. }) =
                &row.event
            {
                self.written(world, row.proc, path, findings);
            }
        }
        for fact in &world.facts {
            if let Fact::Wrote { proc, paths } = fact {
                for path in paths {
                    self.written(world, *proc, path, findings);
                }
            }
        }
    }

    fn written(&mut self, world: &World, proc: u16, path: &Path, findings: &mut Findings) {
        let Some((topic, partition)) = state_of(path) else { return };
        let node = world.server.tree().get(path);
        let state = node.and_then(|node| payload::read::<PartitionState>(&node.data));
        let Some(state) = state else { return };
        let Some(known) = self.topic(world, topic) else { return };
        let before = known.epochs.insert(partition, state.leader_epoch);
        let assignment = known.info.partitions.get(&partition).cloned().unwrap_or_default();
        let written = Written { proc, topic, partition, state };
        written.check_members(&assignment, findings);
        // What a person writes by hand breaks no promise of Kafka's.
        if world.proc(proc).broker_id().is_some() {
            written.check_epochs(world, before, findings);
            written.check_life(world, findings);
        }
    }

    /// A topic that is made anew under its old name begins anew.
    fn topic(&mut self, world: &World, topic: &str) -> Option<&mut Topic> {
        let node = world.server.tree().get(&paths::topic(topic))?;
        let (czxid, mzxid) = (node.czxid, node.mzxid);
        if self.known.get(topic).is_none_or(|known| known.mzxid != mzxid) {
            let info = Arc::new(payload::read::<TopicInfo>(&node.data)?);
            let before = self.known.get(topic).filter(|known| known.czxid == czxid);
            let epochs = before.map(|known| known.epochs.clone()).unwrap_or_default();
            let known = Arc::new(Topic { czxid, mzxid, info, epochs });
            Arc::make_mut(&mut self.known).insert(topic.into(), known);
        }
        Arc::make_mut(&mut self.known).get_mut(topic).map(Arc::make_mut)
    }
}

impl Written<'_> {
    fn about(&self) -> String {
        format!("{}-{}", self.topic, self.partition)
    }

    fn breach(&self, name: &'static str, severity: Severity, findings: &mut Findings) {
        findings.breach(name, severity, self.proc, &self.about());
    }

    fn leader(&self) -> Option<u32> {
        u32::try_from(self.state.leader).ok()
    }

    fn check_members(&self, assignment: &[u32], findings: &mut Findings) {
        if assignment.is_empty() {
            return;
        }
        findings.checked(LEADER_IN_ASSIGNMENT);
        findings.checked(ISR_IN_ASSIGNMENT);
        if self.leader().is_some_and(|leader| !assignment.contains(&leader)) {
            self.breach(LEADER_IN_ASSIGNMENT, Severity::Violation, findings);
        }
        if self.state.isr.iter().any(|id| !assignment.contains(id)) {
            self.breach(ISR_IN_ASSIGNMENT, Severity::Violation, findings);
        }
    }

    fn check_epochs(&self, world: &World, before: Option<i32>, findings: &mut Findings) {
        if let Some(before) = before {
            findings.checked(LEADER_EPOCH_FORWARD);
            if self.state.leader_epoch < before {
                self.breach(LEADER_EPOCH_FORWARD, Severity::Violation, findings);
            }
        }
        // A leader's own write of its ISR keeps the epoch, and the controller's that it knows.
        let own = before.is_some_and(|before| self.state.leader_epoch <= before);
        if own || world.config.profile == Profile::Textbook {
            return;
        }
        let node = world.server.tree().get(paths::CONTROLLER_EPOCH);
        let Some(epoch) = node.and_then(|node| payload::number(&node.data)) else { return };
        let fenced = world.config.release.fences_controller_writes();
        let (name, severity) = match fenced {
            true => (DEPOSED_FENCED, Severity::Violation),
            false => (DEPOSED_WROTE, Severity::Found),
        };
        findings.checked(name);
        if self.state.controller_epoch < epoch {
            self.breach(name, severity, findings);
        }
    }

    /// The leader that is written does not run.
    fn check_life(&self, world: &World, findings: &mut Findings) {
        let Some(leader) = self.leader() else { return };
        if world.config.profile == Profile::Textbook {
            return;
        }
        findings.checked(DEAD_LEADER);
        if world.broker(leader).is_none_or(|proc| !proc.is_running()) {
            self.breach(DEAD_LEADER, Severity::Found, findings);
        }
    }
}

/// Topic and partition of a state znode's path.
fn state_of(path: &str) -> Option<(&str, u32)> {
    let rest = path.strip_prefix(paths::TOPICS)?.strip_prefix('/')?.strip_suffix("/state")?;
    let (topic, partition) = rest.split_once("/partitions/")?;
    Some((topic, partition.parse().ok()?))
}
