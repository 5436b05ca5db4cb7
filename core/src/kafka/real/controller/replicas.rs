//! Replicas go Offline: they are stopped and leave the ISR. [spec kafka-zk.md T3 to T6]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Controller, Io, Step, Write};
use crate::kafka::election::{self, Partition};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::real::context::{Leadership, ReplicaState};
use crate::kafka::real::registry;
use crate::kafka::real::scala;
use crate::zk::op::{Error, Reply};

impl Controller {
    pub(super) fn replica_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Offline { replicas } => self.offline(io, replicas),
            Step::Remove { id, tps } => {
                for tp in &tps {
                    self.fiber.get(paths::state(&tp.topic, tp.partition));
                }
                self.then([Step::RemoveRead { id, tps }]);
            }
            Step::RemoveRead { id, tps } => self.remove_read(io, id, &tps),
            Step::RemoveConfigs { id, cases, topics } => {
                let allowed = self.allowed(io, &topics);
                self.remove(io, id, cases, &allowed);
            }
            Step::RemoveWritten { id, writes } => self.remove_written(io, id, writes),
            _ => {}
        }
    }

    /// Since 1.1 a batch for each broker; before, one replica after the other. [T6]
    fn offline(&mut self, io: &Io<'_>, mut replicas: Vec<(TopicPartition, u32)>) {
        let pipelines = io.settings.release.pipelines();
        if !pipelines {
            scala::order_replicas(&mut replicas);
        }
        let mut batches = BTreeMap::<u32, Vec<TopicPartition>>::new();
        let mut steps = Vec::new();
        for (tp, id) in replicas {
            self.stop_replica(id, &tp, false);
            self.context.set_replica(&tp, id, ReplicaState::Offline);
            if self.context.part(&tp).is_none_or(|part| part.leadership.is_none()) {
                self.publish(&tp);
            } else if pipelines {
                batches.entry(id).or_default().push(tp);
            } else {
                steps.push(Step::Remove { id, tps: vec![tp] });
            }
        }
        steps.extend(batches.into_iter().map(|(id, tps)| Step::Remove { id, tps }));
        steps.push(Step::Flush { all: false });
        self.then(steps);
    }

    fn remove_read(&mut self, io: &mut Io<'_>, id: u32, tps: &[TopicPartition]) {
        let mut cases = Vec::new();
        for (tp, answer) in tps.iter().zip(self.fiber.take()) {
            if let Ok(Reply::Data { data, stat }) = answer
                && let Some(state) = registry::read_state(&data, stat.version)
                && state.controller_epoch <= self.epoch
                && state.isr.contains(&id)
            {
                cases.push((tp.clone(), state));
            }
        }
        let last = |(_, state): &&(TopicPartition, Leadership)| state.isr.len() == 1;
        let doubtful: Vec<TopicPartition> =
            cases.iter().filter(last).map(|(tp, _)| tp.clone()).collect();
        if doubtful.is_empty() || !io.settings.release.empties_isr_when_unclean() {
            return self.remove(io, id, cases, &BTreeMap::new());
        }
        let topics = Controller::topics_of(&doubtful);
        for topic in &topics {
            self.fiber.get(registry::topic_config(topic));
        }
        self.then([Step::RemoveConfigs { id, cases, topics }]);
    }

    /// A leader that goes leaves -1; the last member stays, unless unclean elections are allowed
    /// and the release empties the list then. [T3]
    fn remove(
        &mut self,
        io: &mut Io<'_>,
        id: u32,
        cases: Vec<(TopicPartition, Leadership)>,
        allowed: &BTreeMap<Arc<str>, bool>,
    ) {
        let empties = io.settings.release.empties_isr_when_unclean();
        let mut writes = Vec::new();
        for (tp, before) in cases {
            let unclean = empties && allowed.get(&tp.topic).copied().unwrap_or(false);
            let partition = Partition { assignment: &[], isr: &before.isr, leader: before.leader };
            let Some(left) = election::without(id, partition, unclean) else { continue };
            let state = Leadership {
                leader: left.leader,
                leader_epoch: before.leader_epoch.saturating_add(1),
                isr: left.isr,
                controller_epoch: self.epoch,
                ..before
            };
            self.write_state(io, &tp, &state);
            writes.push(Write { tp, state });
        }
        if !writes.is_empty() {
            self.then([Step::RemoveWritten { id, writes }]);
        }
    }

    fn note_removal(&self, io: &mut Io<'_>, id: u32, write: &Write) {
        let (tp, leader, isr) = (write.tp.clone(), write.state.leader, write.state.isr.clone());
        let before = self.context.part(&tp).and_then(|part| part.leadership.as_ref());
        let from = before.and_then(|state| state.leader);
        io.note(if from == leader {
            let left = if isr.contains(&id) { Vec::new() } else { vec![id] };
            Note::IsrShrunk { tp, leader, isr, left }
        } else {
            let leader_epoch = write.state.leader_epoch;
            Note::LeaderChosen { tp, from, leader, isr, leader_epoch }
        });
    }

    fn remove_written(&mut self, io: &mut Io<'_>, id: u32, writes: Vec<Write>) {
        let Some(results) = self.written(io) else { return };
        let mut again = Vec::new();
        for (mut write, result) in writes.into_iter().zip(results) {
            let tp = write.tp.clone();
            match result {
                Ok(stat) => {
                    write.state.zk_version = stat.version;
                    self.note_removal(io, id, &write);
                    self.context.set_leadership(&tp, Some(write.state));
                    let Some(part) = self.context.part(&tp) else { continue };
                    let mut others = part.assignment.clone();
                    others.retain(|replica| *replica != id);
                    match self.context.is_to_be_deleted(&tp.topic) {
                        true => self.publish(&tp),
                        false => self.order(&tp, &others),
                    }
                }
                Err(Error::BadVersion) => again.push(tp),
                Err(_) => {}
            }
        }
        if !again.is_empty() {
            self.then([Step::Remove { id, tps: again }]);
        }
    }
}
