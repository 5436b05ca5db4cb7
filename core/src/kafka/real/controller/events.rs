//! What the controller is asked: elections, changes of ISRs, controlled shutdowns. [spec
//! kafka-zk.md §5, §6, I4]

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Controller, Event, Io, Step, Strategy, Write, reassign};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::real::broker::watcher;
use crate::kafka::real::context::PartitionState;
use crate::kafka::real::msg::{IsrAnswer, IsrChange, IsrError, Msg};
use crate::kafka::real::registry;
use crate::kafka::real::scala;
use crate::zk::op::{Op, Reply, Zxid};

impl Controller {
    pub(super) fn begin(&mut self, io: &mut Io<'_>, event: Event) {
        match event {
            Event::Office => return self.then([Step::Elect]),
            Event::SessionLost => return self.resign(io),
            _ => {}
        }
        if !self.active {
            return self.refuse(io, event);
        }
        match event {
            Event::Office | Event::SessionLost => {}
            Event::Brokers => self.then([Step::ListBrokers { first: false }]),
            Event::Topics => self.then([Step::ListTopics { first: false }]),
            Event::Deletions => self.then([Step::ListDeletions { first: false }]),
            Event::TopicData(topic) => {
                if self.context.has_topic(&topic) {
                    let op = Op::GetData { path: paths::topic(&topic), watch: true };
                    self.fiber.watch(op, watcher::TOPIC_DATA);
                    self.then([Step::TopicDataRead { topic }]);
                }
            }
            Event::PreferredByZnode => {
                self.then([Step::PendingPreferred { failover: false }]);
            }
            Event::IsrNotices => {
                self.list(io, registry::ISR_NOTICES, watcher::ISR_NOTICES);
                self.then([Step::NoticesRead { names: Vec::new() }]);
            }
            Event::Preferred { partitions, answer } => {
                let tps = partitions.unwrap_or_else(|| self.context.all());
                let tps = self.electable(&tps);
                let strategy = Strategy::Preferred;
                self.then([Step::Online { tps, strategy }, Step::Flush { all: false }]);
                if let Some((to, task)) = answer {
                    let msg = Msg::Answer { task, result: Ok(()) };
                    self.stack.insert(0, Step::Send { to, msg });
                }
            }
            Event::Rebalance => self.rebalance(io),
            Event::Reassign => {
                self.then([Step::Reassign(reassign::Step::Look { failover: false })]);
            }
            Event::MovingState(tp) => self.then([Step::Reassign(reassign::Step::Check { tp })]),
            Event::ReassignAsked { from, task } => {
                self.then([Step::Reassign(reassign::Step::Asks { from, task })]);
            }
            Event::LogDirNotices => {
                self.list(io, registry::LOG_DIR_NOTICES, watcher::LOG_DIR_NOTICES);
                self.then([Step::NoticesListed(registry::LOG_DIR_NOTICES)]);
            }
            Event::UncleanAllowed(topic) => {
                let offline = |tp: &TopicPartition| {
                    self.context.part(tp).is_some_and(|p| p.state == PartitionState::Offline)
                };
                let mut tps = self.context.of_topic(&topic);
                tps.retain(offline);
                let strategy = Strategy::Offline;
                self.then([Step::Online { tps, strategy }, Step::Flush { all: false }]);
            }
            Event::AlterIsr { from, epoch, changes } => self.alter_isr(io, from, epoch, changes),
            Event::Shutdown { from, epoch } => self.shut_down(io, from, epoch),
            Event::Deleted { from, partitions } => self.replicas_deleted(from, &partitions),
        }
    }

    fn refuse(&mut self, io: &mut Io<'_>, event: Event) {
        match event {
            Event::Shutdown { from, .. } => io.send(from, Msg::ShutDown { left: Err(()) }),
            Event::Preferred { answer: Some((to, _)), .. }
            | Event::ReassignAsked { from: to, .. } => io.send(to, Msg::NotController),
            _ => {}
        }
    }

    /// Known partitions, without those that are being deleted.
    pub(super) fn electable(&self, tps: &[TopicPartition]) -> Vec<TopicPartition> {
        let known = |tp: &&TopicPartition| {
            let part = self.context.part(tp);
            part.is_some_and(|part| part.leadership.is_some())
                && !self.context.is_to_be_deleted(&tp.topic)
        };
        tps.iter().filter(known).cloned().collect()
    }

    pub(super) fn other_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Flush { all } => self.flush(io, all),
            Step::NoticesRead { names } => self.notices_read(io, &names),
            Step::NoticesLoaded { tps } => self.notices_loaded(&tps),
            Step::IsrAltered { from, answers, writes } => {
                self.isr_altered(io, from, answers, writes);
            }
            Step::ShutdownAnswer { id } => self.shutdown_answer(io, id),
            Step::Send { to, msg } => io.send(to, msg),
            _ => {
                self.fiber.take();
            }
        }
    }

    /// Notices of changed ISRs: the states are read again and all brokers hear of them; the
    /// notices are deleted. [I4, W9]
    fn notices_read(&mut self, io: &Io<'_>, names: &[Arc<str>]) {
        let mut answers = self.fiber.take();
        if names.is_empty() {
            let Some(Ok(Reply::Children { mut children, .. })) = answers.pop() else { return };
            if children.is_empty() {
                return;
            }
            children.sort();
            for name in &children {
                self.fiber.get(format!("{}/{name}", registry::ISR_NOTICES).into());
            }
            return self.then([Step::NoticesRead { names: children }]);
        }
        let mut tps = Vec::new();
        for answer in &answers {
            if let Ok(Reply::Data { data, .. }) = answer {
                tps.extend(registry::read_partitions(data));
            }
        }
        let tps = self.electable(&tps);
        for tp in &tps {
            self.fiber.get(paths::state(&tp.topic, tp.partition));
        }
        for name in names {
            let path = format!("{}/{name}", registry::ISR_NOTICES).into();
            self.write(io, Op::Delete { path, version: -1 });
        }
        self.then([Step::NoticesLoaded { tps }, Step::Flush { all: false }]);
    }

    fn notices_loaded(&mut self, tps: &[TopicPartition]) {
        for (tp, answer) in tps.iter().zip(self.fiber.take()) {
            if let Ok(Reply::Data { data, stat }) = answer
                && self.context.part(tp).is_some()
            {
                self.context.set_leadership(tp, registry::read_state(&data, stat.version));
                self.publish(tp);
            }
        }
    }

    fn alter_isr(&mut self, io: &mut Io<'_>, from: u32, epoch: Zxid, changes: Vec<IsrChange>) {
        if self.context.live.get(&from) != Some(&epoch) {
            return;
        }
        let (mut answers, mut writes) = (Vec::<(TopicPartition, IsrAnswer)>::new(), Vec::new());
        for IsrChange { tp, leader_epoch, isr, zk_version } in changes {
            let known = self.context.part(&tp).and_then(|part| part.leadership.clone());
            let Some(known) = known else {
                answers.push((tp, Err(IsrError::UnknownPartition)));
                continue;
            };
            if leader_epoch < known.leader_epoch {
                answers.push((tp, Err(IsrError::FencedLeaderEpoch)));
            } else if isr == known.isr {
                answers.push((tp, Ok(known)));
            } else {
                let controller_epoch = self.epoch;
                let leader = known.leader;
                let recovering = false;
                let state = super::Leadership {
                    leader,
                    leader_epoch,
                    isr,
                    controller_epoch,
                    zk_version,
                    recovering,
                };
                self.write_state(io, &tp, &state);
                writes.push(Write { tp, state });
            }
        }
        self.then([Step::IsrAltered { from, answers, writes }]);
    }

    fn isr_altered(
        &mut self,
        io: &mut Io<'_>,
        from: u32,
        mut answers: Vec<(TopicPartition, IsrAnswer)>,
        writes: Vec<Write>,
    ) {
        if !writes.is_empty() {
            let Some(results) = self.written(io) else { return };
            for (mut write, result) in writes.into_iter().zip(results) {
                let answer = match result {
                    Ok(stat) => {
                        write.state.zk_version = stat.version;
                        self.context.set_leadership(&write.tp, Some(write.state.clone()));
                        self.publish(&write.tp);
                        Ok(write.state)
                    }
                    Err(_) => Err(IsrError::InvalidUpdateVersion),
                };
                answers.push((write.tp, answer));
            }
        }
        let grown = answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(tp, _)| tp);
        let moving = grown.filter(|tp| self.context.reassigning.contains_key(*tp));
        let check = |tp: &TopicPartition| reassign::Step::Check { tp: tp.clone() };
        let checks: Vec<Step> = moving.map(|tp| Step::Reassign(check(tp))).collect();
        io.send(from, Msg::IsrAltered { answers });
        self.then([Step::Flush { all: false }].into_iter().chain(checks).collect::<Vec<_>>());
    }

    /// [§6 controlled shutdown, F7]
    fn shut_down(&mut self, io: &mut Io<'_>, id: u32, epoch: Zxid) {
        let known = self.context.live.get(&id).copied();
        if known.is_none() || io.settings.release.has_broker_epoch() && known != Some(epoch) {
            return io.send(id, Msg::ShutDown { left: Ok(0) });
        }
        self.context.shutting_down.insert(id);
        let (mut led, mut followed, mut mixed) = (BTreeSet::new(), Vec::new(), Vec::new());
        let held: Vec<TopicPartition> = self.context.on_broker(id).cloned().collect();
        for tp in held {
            let Some(part) = self.context.part(&tp) else { continue };
            let Some(state) = &part.leadership else { continue };
            if part.assignment.len() > 1 && !self.context.is_to_be_deleted(&tp.topic) {
                let leads = state.leader == Some(id);
                mixed.push(tp.clone());
                match leads {
                    true => _ = led.insert(tp),
                    false => followed.push((tp, id)),
                }
            }
        }
        let strategy = Strategy::ControlledShutdown;
        // Before 1.1 partition by partition, led and followed mixed. [F7]
        if !io.settings.release.pipelines() {
            scala::order_partitions(&mut mixed);
            let mut steps = Vec::new();
            for tp in mixed {
                match led.contains(&tp) {
                    true => steps.push(Step::Online { tps: vec![tp], strategy }),
                    false => steps.push(Step::Offline { replicas: vec![(tp, id)] }),
                }
                steps.push(Step::Flush { all: false });
            }
            steps.push(Step::ShutdownAnswer { id });
            return self.then(steps);
        }
        let tps = led.into_iter().collect();
        let mut steps = vec![Step::Online { tps, strategy }, Step::Flush { all: false }];
        if !followed.is_empty() {
            steps.push(Step::Offline { replicas: followed });
        }
        steps.push(Step::ShutdownAnswer { id });
        self.then(steps);
    }

    /// How many replicated partitions it still leads.
    fn shutdown_answer(&mut self, io: &mut Io<'_>, id: u32) {
        let still = |tp: &&TopicPartition| {
            let Some(part) = self.context.part(tp) else { return false };
            part.assignment.len() > 1
                && part.leadership.as_ref().is_some_and(|state| state.leader == Some(id))
                && !self.context.is_to_be_deleted(&tp.topic)
        };
        let left = self.context.on_broker(id).filter(still).count() as u32;
        io.note(Note::ShutdownAnswered { broker: id, left });
        io.send(id, Msg::ShutDown { left: Ok(left) });
    }
}
