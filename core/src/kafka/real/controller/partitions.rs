//! Partitions become Online: new ones get their znodes, leaderless ones a leader, led ones
//! another. [spec kafka-zk.md T1, §5, W3 to W7]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::elect::create;
use super::{Controller, Io, Step, Strategy, Write};
use crate::kafka::election::Elected;
use crate::kafka::event::Event as Note;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::real::choose;
use crate::kafka::real::context::{Leadership, PartitionState};
use crate::kafka::real::registry;
use crate::kafka::real::scala;
use crate::zk::op::{CreateMode, Data, Error, Op, Path, Reply};

fn node(path: Path, data: Data) -> Op {
    create(path, data, CreateMode::Persistent)
}

impl Controller {
    pub(super) fn partition_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Trigger => {
                let fits = |tp: &&TopicPartition| !self.context.is_to_be_deleted(&tp.topic);
                let tps: Vec<_> = self.context.waiting.iter().filter(fits).cloned().collect();
                if !tps.is_empty() {
                    let strategy = Strategy::Offline;
                    self.then([Step::Online { tps, strategy }, Step::Flush { all: false }]);
                }
            }
            Step::Online { tps, strategy } => self.online(io, tps, strategy),
            Step::Init { tps } => self.init(io, &tps),
            Step::InitParents { writes } => {
                if self.written(io).is_none() {
                    return;
                }
                for write in &writes {
                    let path = paths::partition(&write.tp.topic, write.tp.partition);
                    self.write(io, node(path, None));
                }
                self.then([Step::InitPartitions { writes }]);
            }
            Step::InitPartitions { writes } => {
                if self.written(io).is_none() {
                    return;
                }
                for write in &writes {
                    let path = paths::state(&write.tp.topic, write.tp.partition);
                    self.write(io, node(path, registry::state(&write.state)));
                }
                self.then([Step::InitDone { writes }]);
            }
            Step::InitDone { writes } => self.init_done(io, writes),
            Step::Make { write, stage } => self.make(io, write, stage),
            Step::Elected { tps, strategy } => {
                for tp in &tps {
                    self.fiber.get(paths::state(&tp.topic, tp.partition));
                }
                self.then([Step::ElectRead { tps, strategy }]);
            }
            Step::ElectRead { tps, strategy } => self.elect_read(io, &tps, strategy),
            Step::ElectConfigs { cases, topics } => self.elect_configs(io, cases, &topics),
            Step::ElectWritten { writes, strategy } => self.elect_written(io, writes, strategy),
            _ => {}
        }
    }

    /// Since 1.1 all in two batches; before, one partition after the other. [WG1]
    fn online(&mut self, io: &Io<'_>, mut tps: Vec<TopicPartition>, strategy: Strategy) {
        let is_new = |tp: &TopicPartition| {
            self.context.part(tp).is_some_and(|part| part.state == PartitionState::New)
        };
        if io.settings.release.pipelines() {
            let (new, old): (Vec<_>, Vec<_>) = tps.into_iter().partition(is_new);
            let mut steps = Vec::new();
            if !new.is_empty() {
                steps.push(Step::Init { tps: new });
            }
            if !old.is_empty() {
                steps.push(Step::Elected { tps: old, strategy });
            }
            return self.then(steps);
        }
        scala::order_partitions(&mut tps);
        let one = |tp: TopicPartition| match is_new(&tp) {
            true => Step::Init { tps: vec![tp] },
            false => Step::Elected { tps: vec![tp], strategy },
        };
        let steps: Vec<Step> = tps.into_iter().map(one).collect();
        self.then(steps);
    }

    /// The first live replica leads, the live ones are the ISR; the others wait. [T1]
    fn init(&mut self, io: &mut Io<'_>, tps: &[TopicPartition]) {
        let mut writes = Vec::new();
        for tp in tps {
            let Some(part) = self.context.part(tp) else { continue };
            let online = |id: &u32| self.context.is_online(*id);
            let isr: Vec<u32> = part.assignment.iter().copied().filter(online).collect();
            let Some(leader) = isr.first().copied() else { continue };
            #[cfg(feature = "mutations")]
            let (leader, isr) = self.misplaced(tp, leader, isr);
            let state = Leadership {
                leader: Some(leader),
                leader_epoch: 0,
                isr,
                controller_epoch: self.epoch,
                zk_version: 0,
                recovering: false,
            };
            writes.push(Write { tp: tp.clone(), state });
        }
        if writes.is_empty() {
            return;
        }
        if !io.settings.release.pipelines() {
            let steps: Vec<Step> =
                writes.into_iter().map(|write| Step::Make { write, stage: 0 }).collect();
            return self.then(steps);
        }
        for topic in Controller::topics_of(tps) {
            if writes.iter().any(|write| write.tp.topic == topic) {
                self.write(io, node(paths::partitions(&topic), None));
            }
        }
        self.then([Step::InitParents { writes }]);
    }

    #[cfg(feature = "mutations")]
    fn misplaced(&self, tp: &TopicPartition, leader: u32, isr: Vec<u32>) -> (u32, Vec<u32>) {
        use crate::kafka::broker::Mutation::{IsrOutsideAssignment, LeaderOutsideAssignment};
        let assignment = self.context.part(tp).map(|part| part.assignment.clone());
        let assignment = assignment.unwrap_or_default();
        let outside = self.context.live.keys().copied().find(|id| !assignment.contains(id));
        match (self.mutation, outside) {
            (Some(LeaderOutsideAssignment), Some(id)) => (id, isr),
            (Some(IsrOutsideAssignment), Some(id)) => (leader, [isr, vec![id]].concat()),
            _ => (leader, isr),
        }
    }

    fn init_done(&mut self, io: &mut Io<'_>, writes: Vec<Write>) {
        let Some(results) = self.written(io) else { return };
        for (write, result) in writes.into_iter().zip(results) {
            if result.is_ok() {
                self.made(io, write);
            }
        }
    }

    fn made(&mut self, io: &mut Io<'_>, write: Write) {
        self.chosen(io, &write, None);
        self.led(&write.tp, write.state);
    }

    /// Before 1.1: the state znode, and on NoNode its parents first. [W3]
    fn make(&mut self, io: &mut Io<'_>, write: Write, stage: u8) {
        let tp = &write.tp;
        let error = self.fiber.one().and_then(Result::err).map(|failure| failure.error);
        let next = match (stage, error) {
            (0, _) => 1,
            (1, None) | (4, None) => return self.made(io, write),
            (1 | 2, Some(Error::NoNode)) => stage + 1,
            (3, _) => 2,
            (2, None | Some(Error::NodeExists)) => 4,
            _ => return,
        };
        let op = match next {
            1 | 4 => node(paths::state(&tp.topic, tp.partition), registry::state(&write.state)),
            2 => node(paths::partition(&tp.topic, tp.partition), None),
            _ => node(paths::partitions(&tp.topic), None),
        };
        self.fiber.ask(op);
        self.then([Step::Make { write, stage: next }]);
    }

    fn elect_read(&mut self, io: &mut Io<'_>, tps: &[TopicPartition], strategy: Strategy) {
        let mut cases = Vec::new();
        for (tp, answer) in tps.iter().zip(self.fiber.take()) {
            if let Ok(Reply::Data { data, stat }) = answer
                && let Some(state) = registry::read_state(&data, stat.version)
                && state.controller_epoch <= self.epoch
            {
                cases.push((tp.clone(), state));
            }
        }
        let unclean = |(_, state): &&(TopicPartition, Leadership)| {
            strategy == Strategy::Offline && choose::needs_unclean(&self.context, &state.isr)
        };
        let doubtful: Vec<TopicPartition> =
            cases.iter().filter(unclean).map(|(tp, _)| tp.clone()).collect();
        if doubtful.is_empty() {
            return self.choose(io, cases, strategy, &BTreeMap::new());
        }
        let topics = Controller::topics_of(&doubtful);
        for topic in &topics {
            self.fiber.get(registry::topic_config(topic));
        }
        self.then([Step::ElectConfigs { cases, topics }]);
    }

    /// Whether each of the topics whose configs were read allows an unclean election.
    pub(super) fn allowed(&mut self, io: &Io<'_>, topics: &[Arc<str>]) -> BTreeMap<Arc<str>, bool> {
        let usual = io.settings.unclean_election;
        let allows = |answer| match answer {
            Ok(Reply::Data { data, .. }) => registry::unclean(&data, usual),
            _ => usual,
        };
        topics.iter().cloned().zip(self.fiber.take().into_iter().map(allows)).collect()
    }

    fn elect_configs(
        &mut self,
        io: &mut Io<'_>,
        cases: Vec<(TopicPartition, Leadership)>,
        topics: &[Arc<str>],
    ) {
        let allowed = self.allowed(io, topics);
        self.choose(io, cases, Strategy::Offline, &allowed);
    }

    fn choose(
        &mut self,
        io: &mut Io<'_>,
        cases: Vec<(TopicPartition, Leadership)>,
        strategy: Strategy,
        allowed: &BTreeMap<Arc<str>, bool>,
    ) {
        let release = io.settings.release;
        let live = choose::live(&self.context);
        let mut writes = Vec::new();
        for (tp, before) in cases {
            let Some(part) = self.context.part(&tp) else { continue };
            let unclean = allowed.get(&tp.topic).copied().unwrap_or(false);
            let brokers = (&live, &self.context.shutting_down);
            let chosen = choose::choose((strategy, release), brokers, part, &before, unclean);
            let Some(Elected { leader, isr, unclean }) = chosen else { continue };
            let state = Leadership {
                leader: Some(leader),
                leader_epoch: before.leader_epoch.saturating_add(1),
                isr,
                controller_epoch: self.epoch,
                zk_version: before.zk_version,
                recovering: before.recovering || unclean && release.marks_unclean_leaders(),
            };
            #[cfg(feature = "mutations")]
            let state = self.aged(state);
            self.write_state(io, &tp, &state);
            writes.push(Write { tp, state });
        }
        if !writes.is_empty() {
            self.then([Step::ElectWritten { writes, strategy }]);
        }
    }

    #[cfg(feature = "mutations")]
    fn aged(&self, state: Leadership) -> Leadership {
        let falls = self.mutation == Some(crate::kafka::broker::Mutation::LeaderEpochFalls);
        let leader_epoch = if falls { state.leader_epoch - 2 } else { state.leader_epoch };
        Leadership { leader_epoch, ..state }
    }

    pub(super) fn write_state(&mut self, io: &Io<'_>, tp: &TopicPartition, state: &Leadership) {
        let path = paths::state(&tp.topic, tp.partition);
        let (data, version) = (registry::state(state), state.zk_version);
        self.write(io, Op::SetData { path, data, version });
    }

    fn elect_written(&mut self, io: &mut Io<'_>, writes: Vec<Write>, strategy: Strategy) {
        let Some(results) = self.written(io) else { return };
        let mut again = Vec::new();
        for (mut write, result) in writes.into_iter().zip(results) {
            match result {
                Ok(stat) => {
                    let part = self.context.part(&write.tp);
                    let from = part.and_then(|part| part.leadership.as_ref());
                    let from = from.and_then(|state| state.leader);
                    self.chosen(io, &write, from);
                    write.state.zk_version = stat.version;
                    self.led(&write.tp, write.state);
                }
                // The leader changed the ISR in between. [T4]
                Err(Error::BadVersion) => again.push(write.tp),
                Err(_) => {}
            }
        }
        if !again.is_empty() {
            self.then([Step::Elected { tps: again, strategy }]);
        }
    }

    fn chosen(&self, io: &mut Io<'_>, write: &Write, from: Option<u32>) {
        io.note(Note::LeaderChosen {
            tp: write.tp.clone(),
            from,
            leader: write.state.leader,
            isr: write.state.isr.clone(),
            leader_epoch: write.state.leader_epoch,
        });
    }

    /// It stands in ZooKeeper that somebody leads: the live replicas hear of it.
    fn led(&mut self, tp: &TopicPartition, state: Leadership) {
        self.context.set_leadership(tp, Some(state));
        let Some(part) = self.context.part(tp) else { return };
        let replicas = part.assignment.clone();
        self.context.set_state(tp, PartitionState::Online);
        self.order(tp, &replicas);
    }
}
