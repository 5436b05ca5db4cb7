//! Replicas of partitions move: the new ones join the ISR, then the old ones go. [spec kafka-zk.md
//! §8, R1 to R4, W10, W11]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Controller, Event, Io, Step as Any, Strategy};
use crate::kafka::event::{Event as Note, TopicRefusal};
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::real::broker::watcher;
use crate::kafka::real::context::{Assignment, Leadership, ReplicaState};
use crate::kafka::real::msg::Msg;
use crate::kafka::real::registry;
use crate::kafka::real::scala;
use crate::kafka::real::task::Task;
use crate::kafka::release::Release;
use crate::zk::op::{CreateMode, Error, Op, Reply};

/// Partitions and the replicas that they shall have.
pub(super) type Plan = Vec<(TopicPartition, Vec<u32>)>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Nothing,
    /// `/admin/reassign_partitions` is read.
    Look {
        failover: bool,
    },
    Read {
        failover: bool,
    },
    /// What was under way when the last controller went, and is in no plan.
    ResumeOthers {
        known: BTreeSet<TopicPartition>,
    },
    Begin {
        tp: TopicPartition,
        target: Vec<u32>,
    },
    /// The next thing to do for a partition that moves.
    Move {
        tp: TopicPartition,
        to: Assignment,
    },
    Adopted {
        tp: TopicPartition,
        to: Assignment,
    },
    /// Its state is asked for: are all targets in sync?
    Ask {
        tp: TopicPartition,
    },
    Asked {
        tp: TopicPartition,
    },
    /// The same after a change of the ISR: it only goes on if they are.
    Check {
        tp: TopicPartition,
    },
    Checked {
        tp: TopicPartition,
    },
    /// The topic's znode says all replicas, old and new.
    Widened {
        tp: TopicPartition,
    },
    Bump {
        tp: TopicPartition,
    },
    BumpRead {
        tp: TopicPartition,
    },
    Bumped {
        tp: TopicPartition,
        state: Leadership,
    },
    Drop {
        tp: TopicPartition,
        ids: Vec<u32>,
    },
    Dropped {
        tp: TopicPartition,
        ids: Vec<u32>,
    },
    /// All is done but the znodes.
    Settle {
        tp: TopicPartition,
    },
    Settled {
        tp: TopicPartition,
    },
    Finished {
        tp: TopicPartition,
    },
    /// These leave the plan in ZooKeeper, `None` whatever it says of them.
    Unlist {
        done: Vec<(TopicPartition, Option<Vec<u32>>)>,
    },
    UnlistRead {
        done: Vec<(TopicPartition, Option<Vec<u32>>)>,
    },
    Unlisted {
        rest: Plan,
        create: bool,
    },
    Asks {
        from: u32,
        task: Arc<Task>,
    },
}

fn all_in(targets: &[u32], isr: &[u32]) -> bool {
    targets.iter().all(|id| isr.contains(id))
}

impl Controller {
    pub(super) fn reassign_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Look { failover } => {
                self.watch_plan();
                self.then([Any::Reassign(Step::Read { failover })]);
            }
            Step::Read { failover } => self.plan_read(io, failover),
            Step::ResumeOthers { known } => self.resume_others(&known),
            Step::Begin { tp, target } => self.begin_move(io, tp, target),
            Step::Move { tp, to } => self.move_partition(io, tp, to),
            Step::Adopted { tp, to } => self.adopted(io, &tp, to),
            Step::Ask { tp } => {
                self.fiber.get(paths::state(&tp.topic, tp.partition));
                self.then([Any::Reassign(Step::Asked { tp })]);
            }
            Step::Asked { tp } => self.asked_state(io, tp),
            Step::Check { tp } => {
                if io.settings.release.watches_moving_states() {
                    let path = paths::state(&tp.topic, tp.partition);
                    let op = Op::Exists { path, watch: true };
                    self.fiber.watch(op, watcher::MOVING_STATE);
                }
                self.fiber.get(paths::state(&tp.topic, tp.partition));
                self.then([Any::Reassign(Step::Checked { tp })]);
            }
            Step::Checked { tp } => {
                let state = read_state(self.fiber.take().pop());
                let target = self.context.reassigning.get(&tp);
                if let (Some(state), Some(target)) = (state, target)
                    && all_in(target, &state.isr)
                    && let Some(to) = self.context.assignment(&tp)
                {
                    self.then([Any::Reassign(Step::Move { tp, to })]);
                }
            }
            Step::Widened { tp } => self.widened(io, tp),
            Step::Unlist { done } => self.unlist(io, done),
            Step::UnlistRead { done } => self.unlist_read(io, &done),
            Step::Unlisted { rest, create } => self.unlisted(io, &rest, create),
            Step::Asks { from, task } => self.reassign_asked(from, &task),
            _ => self.replicas_step(io, step),
        }
    }

    /// The partition's own state and replicas.
    fn replicas_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Bump { tp } => {
                self.fiber.get(paths::state(&tp.topic, tp.partition));
                self.then([Any::Reassign(Step::BumpRead { tp })]);
            }
            Step::BumpRead { tp } => self.bump_read(io, tp),
            Step::Bumped { tp, state } => self.bumped(io, tp, state),
            Step::Drop { tp, ids } => {
                let replicas = ids.iter().map(|id| (tp.clone(), *id)).collect();
                self.then([Any::Offline { replicas }, Any::Reassign(Step::Dropped { tp, ids })]);
            }
            Step::Dropped { tp, ids } => {
                for id in ids {
                    self.stop_replica(id, &tp, true);
                    self.context.forget_replica(&tp, id);
                }
                self.flush(io, false);
            }
            Step::Settle { tp } => {
                let part = self.context.part(&tp);
                let to = part.map(|part| part.assignment.clone()).unwrap_or_default();
                self.write_topic(io, &tp, &Assignment::at_rest(to));
                self.then([Any::Reassign(Step::Settled { tp })]);
            }
            Step::Settled { tp } => {
                if self.written(io).is_none() {
                    return;
                }
                let part = self.context.part(&tp);
                let target = part.map(|part| part.assignment.clone());
                let done = vec![(tp.clone(), target)];
                self.then([
                    Any::Reassign(Step::Unlist { done }),
                    Any::Reassign(Step::Finished { tp }),
                ]);
            }
            Step::Finished { tp } => self.finished(io, &tp),
            _ => {}
        }
    }

    fn watch_plan(&mut self) {
        let path = registry::REASSIGN.into();
        self.fiber.watch(Op::Exists { path, watch: true }, watcher::REASSIGN);
        let op = Op::GetData { path: registry::REASSIGN.into(), watch: true };
        self.fiber.watch(op, watcher::REASSIGN);
    }

    /// The plan in ZooKeeper; text that is none is ignored, and stays. [R4]
    fn plan(&mut self, io: &Io<'_>) -> Option<Plan> {
        let Some(Ok(Reply::Data { data, .. })) = self.fiber.take().pop() else { return None };
        let mut plan = registry::read_plan(&data);
        if io.settings.release.pipelines() {
            plan.sort();
        } else {
            scala::order_plan(&mut plan);
        }
        Some(plan)
    }

    fn plan_read(&mut self, io: &Io<'_>, failover: bool) {
        let plan = self.plan(io).unwrap_or_default();
        let mut steps = Vec::new();
        let known: BTreeSet<_> = plan.iter().map(|(tp, _)| tp.clone()).collect();
        let mut unknown = Vec::new();
        let in_topic = io.settings.release.moves_in_topic_znode();
        for (tp, target) in plan {
            let moves = self.context.reassigning.contains_key(&tp);
            if in_topic && (self.context.part(&tp).is_none() || self.is_doomed(&tp)) {
                unknown.push((tp, None));
            } else if in_topic || failover || !moves {
                steps.push(Any::Reassign(Step::Begin { tp, target }));
            }
        }
        if !unknown.is_empty() {
            steps.push(Any::Reassign(Step::Unlist { done: unknown }));
        }
        if failover && in_topic {
            steps.push(Any::Reassign(Step::ResumeOthers { known }));
        }
        self.then(steps);
    }

    fn is_doomed(&self, tp: &TopicPartition) -> bool {
        self.context.is_to_be_deleted(&tp.topic)
    }

    fn resume_others(&mut self, known: &BTreeSet<TopicPartition>) {
        let moving = self.context.reassigning.keys().filter(|tp| !known.contains(*tp));
        let moving: Vec<TopicPartition> = moving.cloned().collect();
        self.resume_moves(&moving);
    }

    pub(super) fn resume_moves(&mut self, tps: &[TopicPartition]) {
        let step = |tp: &TopicPartition| {
            let to = self.context.assignment(tp)?;
            Some(Any::Reassign(Step::Move { tp: tp.clone(), to }))
        };
        let steps: Vec<Any> = tps.iter().filter_map(step).collect();
        self.then(steps);
    }

    /// Partitions on the move that want a replica on one of these brokers.
    pub(super) fn moving_to(&self, brokers: &[u32]) -> Vec<TopicPartition> {
        let wants = |target: &[u32]| target.iter().any(|id| brokers.contains(id));
        let moving = self.context.reassigning.iter().filter(|(_, target)| wants(target));
        moving.map(|(tp, _)| tp.clone()).collect()
    }

    /// An entry of the plan. Before moves stood in the topic's znode one that changes nothing is
    /// dropped, in 0.8 also one that wants a dead broker. [§8, R2]
    fn begin_move(&mut self, io: &Io<'_>, tp: TopicPartition, target: Vec<u32>) {
        let release = io.settings.release;
        let Some(now) = self.context.assignment(&tp) else {
            let done = vec![(tp, None)];
            return self.then([Any::Reassign(Step::Unlist { done })]);
        };
        if release.moves_in_topic_znode() {
            let to = now.towards(&target);
            return self.then([Any::Reassign(Step::Move { tp, to })]);
        }
        let dead = |id: &u32| !self.context.live.contains_key(id);
        let lacks = release.reassigns_to_live_only() && target.iter().any(dead);
        if now.replicas == target || lacks || target.is_empty() || self.is_doomed(&tp) {
            let done = vec![(tp, None)];
            return self.then([Any::Reassign(Step::Unlist { done })]);
        }
        let op = Op::Exists { path: paths::state(&tp.topic, tp.partition), watch: true };
        self.fiber.watch(op, watcher::MOVING_STATE);
        self.context.reassigning.insert(tp.clone(), target);
        self.then([Any::Ignore, Any::Reassign(Step::Move { tp, to: now })]);
    }

    /// While its replicas move a topic is not deleted. [N5]
    fn hold_deletion(&mut self, topic: &Arc<str>) {
        if self.context.is_to_be_deleted(topic) {
            self.context.ineligible.insert(topic.clone());
        }
    }

    fn move_partition(&mut self, io: &mut Io<'_>, tp: TopicPartition, to: Assignment) {
        self.hold_deletion(&tp.topic);
        if !io.settings.release.moves_in_topic_znode() {
            return self.then([Any::Reassign(Step::Ask { tp })]);
        }
        if self.context.assignment(&tp).as_ref() == Some(&to) {
            self.context.reassigning.insert(tp.clone(), to.target());
            return self.then([Any::Reassign(Step::Ask { tp })]);
        }
        self.write_topic(io, &tp, &to);
        self.then([Any::Reassign(Step::Adopted { tp, to })]);
    }

    /// The topic's znode has the move; what only an earlier plan wanted goes at once. [§8 U]
    fn adopted(&mut self, io: &mut Io<'_>, tp: &TopicPartition, to: Assignment) {
        match self.written(io).and_then(|mut results| results.pop()) {
            Some(Ok(_)) => {}
            _ => return,
        }
        let before = self.context.assignment(tp).unwrap_or_default();
        let unneeded: Vec<u32> =
            before.replicas.into_iter().filter(|id| !to.replicas.contains(id)).collect();
        self.note_move(io, tp, &to);
        self.context.reassigning.insert(tp.clone(), to.target());
        self.context.assign(tp, to);
        let mut steps = Vec::new();
        if !unneeded.is_empty() {
            steps.push(Any::Reassign(Step::Drop { tp: tp.clone(), ids: unneeded }));
        }
        steps.push(Any::Reassign(Step::Ask { tp: tp.clone() }));
        self.then(steps);
    }

    fn note_move(&self, io: &mut Io<'_>, tp: &TopicPartition, to: &Assignment) {
        let before = self.context.assignment(tp).unwrap_or_default();
        io.note(Note::ReplicasMove {
            tp: tp.clone(),
            from: before.replicas,
            target: to.target(),
            adding: to.adding.clone(),
            removing: to.removing.clone(),
        });
    }

    fn asked_state(&mut self, io: &mut Io<'_>, tp: TopicPartition) {
        let isr = read_state(self.fiber.one()).map(|state| state.isr);
        let Some(now) = self.context.assignment(&tp) else { return };
        let target = self.context.reassigning.get(&tp).cloned().unwrap_or_default();
        let in_topic = io.settings.release.moves_in_topic_znode();
        let still = !in_topic || !now.adding.is_empty() || !now.removing.is_empty();
        if !still || isr.is_some_and(|isr| all_in(&target, &isr)) {
            return self.complete(io, tp, now, target);
        }
        if in_topic {
            let new = |id: &u32| self.context.replica(&tp, *id).is_none();
            for id in now.adding.iter().copied().filter(new).collect::<Vec<_>>() {
                self.context.set_replica(&tp, id, ReplicaState::New);
            }
            return self.then([Any::Reassign(Step::Bump { tp })]);
        }
        let mut union = target.clone();
        union.extend(now.replicas.iter().filter(|id| !target.contains(id)));
        scala::order_ids(&mut union);
        let adding = target.iter().copied().filter(|id| !now.replicas.contains(id)).collect();
        let removing = now.replicas.iter().copied().filter(|id| !target.contains(id)).collect();
        let shown = Assignment { replicas: union.clone(), adding, removing };
        self.note_move(io, &tp, &shown);
        self.write_topic(io, &tp, &Assignment::at_rest(union.clone()));
        self.context.assign(&tp, Assignment::at_rest(union));
        self.then([Any::Reassign(Step::Widened { tp })]);
    }

    fn widened(&mut self, io: &mut Io<'_>, tp: TopicPartition) {
        if self.written(io).is_none() {
            return;
        }
        let replicas = self.context.assignment(&tp).unwrap_or_default().replicas;
        let new = |id: &u32| self.context.replica(&tp, *id).is_none();
        for id in replicas.into_iter().filter(new).collect::<Vec<_>>() {
            self.context.set_replica(&tp, id, ReplicaState::New);
        }
        self.then([Any::Reassign(Step::Bump { tp })]);
    }

    /// The leader and its replicas have to hear of the new list: they obey a higher leader epoch
    /// only. [§8 A, B]
    fn bump_read(&mut self, io: &Io<'_>, tp: TopicPartition) {
        let Some(before) = read_state(self.fiber.one()) else { return };
        if before.controller_epoch > self.epoch {
            return;
        }
        let leader_epoch = before.leader_epoch.saturating_add(1);
        let state = Leadership { leader_epoch, controller_epoch: self.epoch, ..before };
        self.write_state(io, &tp, &state);
        self.then([Any::Reassign(Step::Bumped { tp, state })]);
    }

    fn bumped(&mut self, io: &mut Io<'_>, tp: TopicPartition, mut state: Leadership) {
        let Some(mut results) = self.written(io) else { return };
        match results.pop() {
            Some(Ok(stat)) => {
                state.zk_version = stat.version;
                self.context.set_leadership(&tp, Some(state));
                let to = self.context.assignment(&tp).unwrap_or_default().replicas;
                self.order(&tp, &to);
                self.flush(io, false);
            }
            // The leader changed the ISR in between. [T4]
            Some(Err(Error::BadVersion)) => self.then([Any::Reassign(Step::Bump { tp })]),
            _ => {}
        }
    }

    /// All targets are in sync: they are the replicas from now on; who isn't wanted leaves. [§8 B]
    fn complete(&mut self, io: &Io<'_>, tp: TopicPartition, now: Assignment, target: Vec<u32>) {
        let in_topic = io.settings.release.moves_in_topic_znode();
        let removing: Vec<u32> = match in_topic {
            true => now.removing,
            false => now.replicas.into_iter().filter(|id| !target.contains(id)).collect(),
        };
        for id in &target {
            self.context.set_replica(&tp, *id, ReplicaState::Online);
        }
        self.context.assign(&tp, Assignment::at_rest(target.clone()));
        let leader = self.context.part(&tp).and_then(|part| part.leadership.as_ref());
        let leader = leader.and_then(|state| state.leader);
        let stays =
            leader.is_some_and(|id| target.contains(&id) && self.context.live.contains_key(&id));
        let mut steps = match stays {
            true => vec![Any::Reassign(Step::Bump { tp: tp.clone() })],
            false => {
                let (tps, strategy) = (vec![tp.clone()], Strategy::Reassign);
                vec![Any::Online { tps, strategy }, Any::Flush { all: false }]
            }
        };
        if !removing.is_empty() {
            steps.push(Any::Reassign(Step::Drop { tp: tp.clone(), ids: removing }));
        }
        steps.push(Any::Reassign(Step::Settle { tp }));
        self.then(steps);
    }

    fn finished(&mut self, io: &mut Io<'_>, tp: &TopicPartition) {
        self.context.reassigning.remove(tp);
        let replicas = self.context.assignment(tp).unwrap_or_default().replicas;
        io.note(Note::ReplicasMoved { tp: tp.clone(), replicas });
        self.publish(tp);
        self.flush(io, false);
        let busy = self.context.reassigning.keys().any(|other| other.topic == tp.topic);
        if !busy && self.context.ineligible.remove(&tp.topic) {
            self.then([Any::ResumeDeletions]);
        }
    }

    /// A topic's znode as it is with one partition's replicas here.
    fn write_topic(&mut self, io: &Io<'_>, tp: &TopicPartition, to: &Assignment) {
        let release = io.settings.release;
        let mut parts = BTreeMap::new();
        for other in self.context.of_topic(&tp.topic) {
            let here = (other == *tp).then(|| to.clone());
            let here = here.or_else(|| self.context.assignment(&other)).unwrap_or_default();
            parts.insert(other.partition, here);
        }
        let id = self.context.topic_id(&tp.topic);
        let data = registry::moving_topic(release, &tp.topic, &parts, id);
        self.write(io, Op::SetData { path: paths::topic(&tp.topic), data, version: -1 });
    }

    // --- The plan's znode ------------------------------------------------------------------------

    fn unlist(&mut self, io: &Io<'_>, done: Vec<(TopicPartition, Option<Vec<u32>>)>) {
        if io.settings.release == Release::V1_1_1 {
            // It knows by heart what still moves.
            for (tp, _) in &done {
                self.context.reassigning.remove(tp);
            }
            let rest = self.context.reassigning.clone().into_iter().collect();
            return self.write_plan(io, rest);
        }
        self.watch_plan();
        self.then([Any::Reassign(Step::UnlistRead { done })]);
    }

    fn unlist_read(&mut self, io: &Io<'_>, done: &[(TopicPartition, Option<Vec<u32>>)]) {
        let Some(mut rest) = self.plan(io) else { return };
        let in_topic = io.settings.release.moves_in_topic_znode();
        // Since 2.4 an entry that says something else by now stays.
        let is_done = |tp: &TopicPartition, target: &[u32]| {
            let same = |wanted: &Option<Vec<u32>>| match wanted {
                Some(wanted) if in_topic => *wanted == target,
                _ => true,
            };
            done.iter().any(|(other, wanted)| other == tp && same(wanted))
        };
        rest.retain(|(tp, target)| !is_done(tp, target));
        if !in_topic {
            for (tp, _) in done {
                self.context.reassigning.remove(tp);
            }
        }
        self.write_plan(io, rest);
    }

    fn write_plan(&mut self, io: &Io<'_>, rest: Plan) {
        let path = registry::REASSIGN.into();
        let op = match rest.is_empty() {
            true => Op::Delete { path, version: -1 },
            false => Op::SetData { path, data: registry::plan(&rest), version: -1 },
        };
        self.write(io, op);
        self.then([Any::Reassign(Step::Unlisted { rest, create: false })]);
    }

    fn unlisted(&mut self, io: &mut Io<'_>, rest: &Plan, create: bool) {
        let Some(mut results) = self.written(io) else { return };
        if rest.is_empty() {
            if io.settings.release.pipelines() {
                self.event(Event::Reassign);
            }
        } else if matches!(results.pop(), Some(Err(Error::NoNode))) && !create {
            let (path, data) = (registry::REASSIGN.into(), registry::plan(rest));
            self.write(io, super::elect::create(path, data, CreateMode::Persistent));
            self.then([Any::Reassign(Step::Unlisted { rest: rest.clone(), create: true })]);
        }
    }

    // --- Since 2.4 a tool asks the controller ----------------------------------------------------

    fn reassign_asked(&mut self, from: u32, task: &Arc<Task>) {
        let answer =
            |result| Any::Send { to: from, msg: Msg::Answer { task: task.clone(), result } };
        let steps = match &**task {
            Task::Reassign { plan, additional, throttle, asked } => {
                match self.check_plan(plan, *additional) {
                    Err(why) => vec![answer(Err(why))],
                    Ok(()) => match throttle {
                        Some(rate) => {
                            let batches = self.throttles(plan, *rate, *asked);
                            let plan = plan.clone();
                            let (additional, throttle, asked) = (true, None, None);
                            let last = Task::Reassign { plan, additional, throttle, asked };
                            let batches = batches.into_iter().chain([vec![Arc::new(last)]]);
                            let batches = batches.collect();
                            vec![Any::Send { to: from, msg: Msg::First { batches } }]
                        }
                        None => {
                            let mut steps = self.alter(plan.iter().map(|(tp, t)| (tp, Some(t))));
                            steps.push(answer(Ok(())));
                            steps
                        }
                    },
                }
            }
            Task::CancelReassign { partitions, targets, asked } => {
                let moving = |tp: &TopicPartition| self.context.reassigning.contains_key(tp);
                if !partitions.iter().any(moving) && targets.is_empty() {
                    let why = TopicRefusal::Invalid("NoReassignmentInProgressException");
                    vec![answer(Err(why))]
                } else {
                    let moving: Vec<_> = partitions.iter().filter(|tp| moving(tp)).collect();
                    let mut steps = self.alter(moving.into_iter().map(|tp| (tp, None)));
                    let batches = self.unthrottle(partitions, targets, *asked);
                    steps.push(Any::Send { to: from, msg: Msg::First { batches } });
                    steps
                }
            }
            Task::VerifyReassign { plan, asked } if self.context.reassigning.is_empty() => {
                let tps: Vec<_> = plan.iter().map(|(tp, _)| tp.clone()).collect();
                let ids: Vec<u32> = plan.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
                let batches = self.unthrottle(&tps, &ids, *asked);
                vec![Any::Send { to: from, msg: Msg::First { batches } }]
            }
            _ => vec![answer(Ok(()))],
        };
        self.then(steps);
    }

    /// What the tool and the controller look at before anything is written. [R4]
    fn check_plan(&self, plan: &Plan, additional: bool) -> Result<(), TopicRefusal> {
        let invalid = TopicRefusal::Invalid;
        if !additional && !self.context.reassigning.is_empty() {
            return Err(invalid("TerseReassignmentFailureException"));
        }
        for (tp, target) in plan {
            if self.context.part(tp).is_none() || self.is_doomed(tp) {
                return Err(invalid("UnknownTopicOrPartitionException"));
            }
            let distinct: BTreeSet<&u32> = target.iter().collect();
            if target.is_empty() || distinct.len() != target.len() {
                return Err(invalid("InvalidReplicaAssignmentException"));
            }
            let dead = |id: &u32| !self.context.live.contains_key(id);
            if target.iter().any(dead) {
                return Err(invalid("AdminCommandFailedException"));
            }
        }
        Ok(())
    }

    /// The latest word counts: what the znode's plan says of these partitions goes first.
    fn alter<'a>(
        &self,
        plan: impl Iterator<Item = (&'a TopicPartition, Option<&'a Vec<u32>>)>,
    ) -> Vec<Any> {
        let (mut done, mut steps) = (Vec::new(), Vec::new());
        for (tp, target) in plan {
            let Some(now) = self.context.assignment(tp) else { continue };
            let origin = now.origin();
            let to = now.towards(target.unwrap_or(&origin));
            done.push((tp.clone(), None));
            steps.push(Any::Reassign(Step::Move { tp: tp.clone(), to }));
        }
        if !done.is_empty() {
            steps.insert(0, Any::Reassign(Step::Unlist { done }));
        }
        steps
    }

    /// Limits on copying, set before a move begins: the topics', then those of all brokers that
    /// take part. (seen: recordings/2.8.2/reassignment)
    fn throttles(&self, plan: &Plan, rate: u64, asked: Option<u32>) -> Vec<Vec<Arc<Task>>> {
        let mut topics = BTreeMap::<Arc<str>, (Vec<String>, Vec<String>)>::new();
        let mut brokers = BTreeSet::new();
        for (tp, target) in plan {
            let now = self.context.assignment(tp).unwrap_or_default().origin();
            let named = |id: &u32| format!("{}:{id}", tp.partition);
            let entry = topics.entry(tp.topic.clone()).or_default();
            let mut new: Vec<&u32> = target.iter().filter(|id| !now.contains(id)).collect();
            new.sort_unstable();
            if !new.is_empty() {
                entry.0.extend(now.iter().map(named));
                entry.1.extend(new.into_iter().map(named));
            }
            brokers.extend(now.iter().chain(target).copied());
        }
        let topic = |(topic, (leaders, followers)): (Arc<str>, (Vec<String>, Vec<String>))| {
            let set = vec![
                ("leader.replication.throttled.replicas".into(), leaders.join(",").into()),
                ("follower.replication.throttled.replicas".into(), followers.join(",").into()),
            ];
            alter(format!("topics/{topic}"), set, &[], asked)
        };
        let rate = rate.to_string();
        let broker = |id: u32| {
            let set = RATES[..2].iter().map(|key| ((*key).into(), rate.as_str().into())).collect();
            alter(format!("brokers/{id}"), set, &[], Some(id))
        };
        let topics = topics.into_iter().map(topic).collect();
        vec![topics, brokers.into_iter().map(broker).collect()]
    }

    /// The limits go, whether there are any or not: of all brokers, then of the topics.
    fn unthrottle(
        &self,
        tps: &[TopicPartition],
        targets: &[u32],
        asked: Option<u32>,
    ) -> Vec<Vec<Arc<Task>>> {
        let brokers: BTreeSet<u32> = self.context.live.keys().chain(targets).copied().collect();
        let broker = |id: u32| alter(format!("brokers/{id}"), vec![], &RATES, Some(id));
        let topic = |topic: Arc<str>| {
            let keys = [
                "leader.replication.throttled.replicas",
                "follower.replication.throttled.replicas",
            ];
            alter(format!("topics/{topic}"), vec![], &keys, asked)
        };
        let topics = Controller::topics_of(tps).into_iter().map(topic).collect();
        vec![brokers.into_iter().map(broker).collect(), topics]
    }
}

const RATES: [&str; 3] = [
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
];

fn alter(
    entity: String,
    set: Vec<crate::kafka::real::task::Setting>,
    delete: &[&str],
    asked: Option<u32>,
) -> Arc<Task> {
    let delete = delete.iter().map(|key| (*key).into()).collect();
    Arc::new(Task::AlterConfig { entity: entity.into(), set, delete, asked })
}

fn read_state(answer: Option<crate::kafka::real::fiber::Answer>) -> Option<Leadership> {
    let Some(Ok(Reply::Data { data, stat })) = answer else { return None };
    registry::read_state(&data, stat.version)
}
