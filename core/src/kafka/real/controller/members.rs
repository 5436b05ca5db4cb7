//! Brokers that come and go, topics that appear, grow and vanish. [spec kafka-zk.md §6, §7]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Controller, Io, Step, Strategy, reassign};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::payload::{self, TopicInfo};
use crate::kafka::real::broker::watcher;
use crate::kafka::real::context::{Assignment, PartitionState, ReplicaState};
use crate::kafka::real::registry;
use crate::kafka::real::scala;
use crate::zk::op::{Op, Reply, Zxid};

impl Controller {
    pub(super) fn member_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::ListBrokers { first } => {
                self.decided = true;
                self.list(io, paths::BROKER_IDS, watcher::BROKERS);
                self.then([Step::BrokersListed { first }]);
            }
            Step::BrokersListed { first } => self.brokers_listed(first),
            Step::BrokersRead { ids, first } => self.brokers_read(io, &ids, first),
            Step::Joined(brokers) => self.joined(io, brokers),
            Step::Left(ids) => self.left(&ids),
            Step::ListTopics { first } => {
                self.list(io, paths::TOPICS, watcher::TOPICS);
                self.then([Step::TopicsListed { first }]);
            }
            Step::TopicsListed { first } => self.topics_listed(io, first),
            Step::TopicsRead { names, first } => self.topics_read(io, &names, first),
            Step::StatesRead { tps } => self.states_read(&tps),
            Step::NewPartitions { tps } => self.new_partitions(tps),
            Step::TopicDataRead { topic } => self.topic_data_read(io, &topic),
            _ => {}
        }
    }

    fn brokers_listed(&mut self, first: bool) {
        let Some(children) = self.listed() else { return };
        let ids: BTreeSet<u32> = children.iter().filter_map(|name| name.parse().ok()).collect();
        let ids: Vec<u32> = ids.into_iter().collect();
        for id in &ids {
            self.fiber.get(paths::broker(*id));
        }
        self.then([Step::BrokersRead { ids, first }]);
    }

    fn brokers_read(&mut self, io: &mut Io<'_>, ids: &[u32], first: bool) {
        let mut now = BTreeMap::<u32, Zxid>::new();
        for (id, answer) in ids.iter().zip(self.fiber.take()) {
            if let Ok(Reply::Data { stat, .. }) = answer {
                now.insert(*id, stat.czxid);
            }
        }
        if first {
            self.context.live = now;
            return;
        }
        let before = &self.context.live;
        let bounces = io.settings.release.has_broker_epoch();
        let came = |known: Option<&Zxid>| known.is_none();
        let again =
            |id: &u32, zxid: &Zxid| bounces && before.get(id).is_some_and(|known| known < zxid);
        let pick = |fits: &dyn Fn(&u32, &Zxid) -> bool| -> BTreeMap<u32, Zxid> {
            now.iter().filter(|(id, zxid)| fits(id, zxid)).map(|(id, z)| (*id, *z)).collect()
        };
        let new = pick(&|id, _| came(before.get(id)));
        let bounced = pick(&again);
        let dead: Vec<u32> = before.keys().copied().filter(|id| !now.contains_key(id)).collect();
        if new.is_empty() && bounced.is_empty() && dead.is_empty() {
            return;
        }
        io.note(Note::BrokersChanged {
            controller: io.me,
            joined: new.keys().chain(bounced.keys()).copied().collect(),
            left: bounced.keys().chain(&dead).copied().collect(),
        });
        let mut steps = Vec::new();
        if !new.is_empty() {
            steps.push(Step::Joined(new));
        }
        if !bounced.is_empty() {
            steps.push(Step::Left(bounced.keys().copied().collect()));
            steps.push(Step::Joined(bounced));
        }
        if !dead.is_empty() {
            steps.push(Step::Left(dead));
        }
        self.then(steps);
    }

    /// New brokers are told all they hold, then leaderless partitions get a chance. [§6]
    fn joined(&mut self, io: &mut Io<'_>, brokers: BTreeMap<u32, Zxid>) {
        let ids: Vec<u32> = brokers.keys().copied().collect();
        self.context.live.extend(brokers);
        self.flush(io, true);
        let mut resumed = BTreeSet::new();
        for id in &ids {
            let held: Vec<TopicPartition> = self.context.on_broker(*id).cloned().collect();
            for tp in held {
                if self.context.is_to_be_deleted(&tp.topic) {
                    resumed.insert(tp.topic.clone());
                }
                self.context.set_replica(&tp, *id, ReplicaState::Online);
                self.order(&tp, &[*id]);
            }
        }
        let mut steps = vec![Step::Flush { all: false }, Step::Trigger];
        let moving = self.moving_to(&ids);
        let resume = |tp: &TopicPartition| {
            let to = self.context.assignment(tp)?;
            Some(Step::Reassign(reassign::Step::Move { tp: tp.clone(), to }))
        };
        steps.extend(moving.iter().filter_map(resume));
        if !resumed.is_empty() {
            for topic in &resumed {
                self.context.ineligible.remove(topic);
            }
            steps.push(Step::ResumeDeletions);
        }
        self.then(steps);
    }

    /// Dead brokers: elections where they led, then their replicas leave the ISRs. [§6, F1]
    fn left(&mut self, ids: &[u32]) {
        for id in ids {
            self.context.live.remove(id);
            self.context.shutting_down.remove(id);
        }
        let (mut offline, mut failed) = (Vec::new(), Vec::new());
        let mut leaderless = BTreeSet::new();
        for id in ids {
            let held: Vec<TopicPartition> = self.context.on_broker(*id).cloned().collect();
            for tp in held {
                if self.context.is_to_be_deleted(&tp.topic) {
                    failed.push((tp, *id));
                    continue;
                }
                let leader = self.context.part(&tp).and_then(|part| part.leadership.as_ref());
                if leader.is_some_and(|state| state.leader == Some(*id)) {
                    leaderless.insert(tp.clone());
                }
                offline.push((tp, *id));
            }
        }
        for tp in &leaderless {
            self.context.set_state(tp, PartitionState::Offline);
        }
        for (tp, id) in &failed {
            let gone = self.context.replica(tp, *id) == Some(ReplicaState::DeletionSuccessful);
            if !gone {
                self.context.set_replica(tp, *id, ReplicaState::DeletionIneligible);
                self.context.ineligible.insert(tp.topic.clone());
            }
        }
        let tell = leaderless.is_empty();
        let mut steps = vec![Step::Trigger, Step::Offline { replicas: offline }];
        if !failed.is_empty() {
            steps.push(Step::ResumeDeletions);
        }
        steps.push(Step::Flush { all: tell });
        self.then(steps);
    }

    fn topics_listed(&mut self, io: &mut Io<'_>, first: bool) {
        let Some(children) = self.listed() else { return };
        let names: BTreeSet<Arc<str>> = children.into_iter().collect();
        let known: BTreeSet<Arc<str>> = self.context.topics().cloned().collect();
        let created: Vec<Arc<str>> = names.difference(&known).cloned().collect();
        let gone: Vec<Arc<str>> = known.difference(&names).cloned().collect();
        for topic in &gone {
            self.context.remove_topic(topic);
        }
        if !first && (!created.is_empty() || !gone.is_empty()) {
            let created = created.clone();
            io.note(Note::TopicsChanged { controller: io.me, created, gone });
        }
        for name in &created {
            let op = Op::GetData { path: paths::topic(name), watch: true };
            self.fiber.watch(op, watcher::TOPIC_DATA);
        }
        self.then([Step::TopicsRead { names: created, first }]);
    }

    /// A topic without an id gets one where the release has them. [Z2]
    fn topics_read(&mut self, io: &mut Io<'_>, names: &[Arc<str>], first: bool) {
        let mut tps = Vec::new();
        let mut renamed = false;
        for (name, answer) in names.iter().zip(self.fiber.take()) {
            let Ok(Reply::Data { data, stat }) = answer else { continue };
            let Some(info) = payload::read::<TopicInfo>(&data) else { continue };
            let mut id = registry::topic_id(&data);
            if id.is_none() && io.settings.release.has_topic_ids() {
                id = Some(super::super::uuid(io.rng));
                let release = io.settings.release;
                let data = registry::topic(release, &info.partitions, id.as_deref());
                let (path, version) = (paths::topic(name), stat.version);
                self.write(io, Op::SetData { path, data, version });
                renamed = true;
            }
            let mut numbers: Vec<u32> = info.partitions.keys().copied().collect();
            if !io.settings.release.pipelines() {
                scala::order_names(&mut numbers);
            }
            let mut moving = registry::read_moving(&data);
            for (partition, replicas) in info.partitions {
                let tp = TopicPartition { topic: name.clone(), partition };
                let (adding, removing) = moving.remove(&partition).unwrap_or_default();
                let to = Assignment { replicas, adding, removing };
                if !to.adding.is_empty() || !to.removing.is_empty() {
                    self.context.reassigning.insert(tp.clone(), to.target());
                }
                self.context.assign(&tp, to);
            }
            let named = |partition| TopicPartition { topic: name.clone(), partition };
            tps.extend(numbers.into_iter().map(named));
            self.context.set_topic_id(name, id);
        }
        let mut steps = Vec::new();
        if renamed {
            steps.push(Step::Ignore);
        }
        match first {
            true => steps.push(Step::StatesRead { tps }),
            false => {
                if !io.settings.release.pipelines() {
                    scala::order_new(&mut tps, false);
                }
                steps.push(Step::NewPartitions { tps });
            }
        }
        self.then(steps);
    }

    /// Asks for the states of all partitions, then takes them into the context.
    fn states_read(&mut self, tps: &[TopicPartition]) {
        let answers = self.fiber.take();
        if answers.is_empty() && !tps.is_empty() {
            for tp in tps {
                self.fiber.get(paths::state(&tp.topic, tp.partition));
            }
            return self.then([Step::StatesRead { tps: tps.to_vec() }]);
        }
        for (tp, answer) in tps.iter().zip(answers) {
            if let Ok(Reply::Data { data, stat }) = answer {
                self.context.set_leadership(tp, registry::read_state(&data, stat.version));
            }
        }
    }

    /// [N3]
    fn new_partitions(&mut self, tps: Vec<TopicPartition>) {
        if tps.is_empty() {
            return;
        }
        for tp in &tps {
            self.context.set_state(tp, PartitionState::New);
            let assignment = self.context.part(tp).map(|part| part.assignment.clone());
            for id in assignment.into_iter().flatten() {
                self.context.set_replica(tp, id, ReplicaState::Online);
            }
        }
        self.then([Step::Online { tps, strategy: Strategy::Offline }, Step::Flush { all: false }]);
    }

    /// Partitions were added. [N4]
    fn topic_data_read(&mut self, io: &Io<'_>, topic: &Arc<str>) {
        let Some(Ok(Reply::Data { data, .. })) = self.fiber.one() else { return };
        let Some(info) = payload::read::<TopicInfo>(&data) else { return };
        if !self.context.has_topic(topic) || self.context.is_to_be_deleted(topic) {
            return;
        }
        let mut numbers: Vec<u32> = info.partitions.keys().copied().collect();
        if !io.settings.release.pipelines() {
            scala::order_names(&mut numbers);
        }
        let mut added = Vec::new();
        for partition in numbers {
            let tp = TopicPartition { topic: topic.clone(), partition };
            if self.context.part(&tp).is_none()
                && let Some(assignment) = info.partitions.get(&partition)
            {
                self.context.set_assignment(&tp, assignment.clone());
                added.push(tp);
            }
        }
        if !io.settings.release.pipelines() {
            scala::order_new(&mut added, true);
        }
        self.then([Step::NewPartitions { tps: added }]);
    }
}
