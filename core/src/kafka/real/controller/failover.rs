//! Taking office: what a new controller reads, tells and repairs, in its order. [spec
//! kafka-zk.md §3, C3, C7]

use super::{Controller, Event, Io, Step, reassign};
use crate::base::Span;
use crate::kafka::broker::Timer;
use crate::kafka::event::Event as Note;
use crate::kafka::real::broker::watcher;
use crate::kafka::real::choose::Strategy;
use crate::kafka::real::context::{PartitionState, ReplicaState};
use crate::kafka::real::controller::elect::create;
use crate::kafka::real::registry;
use crate::kafka::release::Release;
use crate::zk::op::{CreateMode, Op, Reply};

/// How long after its election a controller first looks at the balance of leaders. [§5]
const FIRST_REBALANCE: Span = Span::from_secs(5);

impl Controller {
    pub(super) fn failover(&mut self, io: &mut Io<'_>) {
        let release = io.settings.release;
        io.note(Note::ControllerStarted { broker: io.me, epoch: self.epoch });
        let mut steps = vec![Step::Ignore];
        if release.feature_version().is_some() {
            steps.push(Step::Feature);
        }
        if release >= Release::V1_1_1 {
            steps.push(Step::ClearNotices(registry::LOG_DIR_NOTICES));
        }
        if release.notifies_isr_changes() || release >= Release::V1_1_1 {
            steps.push(Step::ClearNotices(registry::ISR_NOTICES));
        }
        steps.extend([
            Step::ListBrokers { first: true },
            Step::ListTopics { first: true },
            Step::ListDeletions { first: true },
            // The live brokers only, no partitions.
            Step::Flush { all: true },
            Step::ReplicaStartup,
            Step::PartitionStartup,
            Step::ResumeDeletions,
            Step::PendingPreferred { failover: true },
            Step::Started,
        ]);
        self.then(steps);
    }

    pub(super) fn failover_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Feature => {
                self.fiber.get(registry::FEATURE.into());
                self.then([Step::FeatureRead]);
            }
            Step::FeatureRead => {
                let absent = matches!(self.fiber.one(), Some(Err(_)) | None);
                if let (true, Some(version)) = (absent, io.settings.release.feature_version()) {
                    let data = registry::feature(version);
                    self.fiber.ask(create(registry::FEATURE.into(), data, CreateMode::Persistent));
                    self.then([Step::Ignore]);
                }
            }
            Step::ClearNotices(folder) => {
                match folder {
                    registry::ISR_NOTICES => self.list(io, folder, watcher::ISR_NOTICES),
                    _ => self.list(io, folder, watcher::LOG_DIR_NOTICES),
                }
                self.then([Step::NoticesListed(folder)]);
            }
            Step::NoticesListed(folder) => self.notices_listed(io, folder),
            Step::ReplicaStartup => self.replica_startup(io),
            Step::PartitionStartup => self.partition_startup(),
            Step::PendingPreferred { failover } => {
                let path = registry::PREFERRED.into();
                self.fiber.watch(Op::Exists { path, watch: true }, watcher::PREFERRED);
                if failover {
                    let path = registry::REASSIGN.into();
                    self.fiber.watch(Op::Exists { path, watch: true }, watcher::REASSIGN);
                }
                self.fiber.get(registry::PREFERRED.into());
                self.then([Step::PreferredRead { failover }]);
            }
            Step::PreferredRead { failover } => self.preferred_read(failover),
            Step::PreferredDone => {
                self.write(io, Op::Delete { path: registry::PREFERRED.into(), version: -1 });
                self.then([Step::Ignore]);
            }
            _ => self.started(io),
        }
    }

    fn started(&mut self, io: &mut Io<'_>) {
        self.settled = true;
        if io.settings.auto_leader_rebalance {
            io.arm(Timer::Rebalance(self.epoch), io.now + FIRST_REBALANCE);
        }
    }

    /// Notices from before its time are thrown away: it has read everything itself.
    fn notices_listed(&mut self, io: &Io<'_>, folder: &str) {
        let Some(children) = self.listed() else { return };
        if children.is_empty() {
            return;
        }
        for name in children {
            self.write(io, Op::Delete { path: format!("{folder}/{name}").into(), version: -1 });
        }
        self.then([Step::Ignore]);
    }

    /// Replicas on live brokers are Online and told what stands there; those on dead ones may go
    /// Offline, which writes states. [C3, F2]
    fn replica_startup(&mut self, io: &Io<'_>) {
        let mut dead = Vec::new();
        for tp in self.context.all() {
            let Some(part) = self.context.part(&tp) else { continue };
            for id in part.assignment.clone() {
                if self.context.live.contains_key(&id) {
                    self.context.set_replica(&tp, id, ReplicaState::Online);
                    self.order(&tp, &[id]);
                } else {
                    self.context.set_replica(&tp, id, ReplicaState::DeletionIneligible);
                    dead.push((tp.clone(), id));
                }
            }
        }
        let mut steps = vec![Step::Flush { all: false }];
        if io.settings.release.offlines_dead_at_failover() && !dead.is_empty() {
            steps.push(Step::Offline { replicas: dead });
        }
        self.then(steps);
    }

    fn partition_startup(&mut self) {
        for tp in self.context.all() {
            let leader = match self.context.part(&tp).map(|part| &part.leadership) {
                Some(Some(state)) => state.leader,
                _ => {
                    self.context.set_state(&tp, PartitionState::New);
                    continue;
                }
            };
            let alive = leader.is_some_and(|id| self.context.live.contains_key(&id));
            let state = if alive { PartitionState::Online } else { PartitionState::Offline };
            self.context.set_state(&tp, state);
        }
        self.then([Step::Trigger]);
    }

    /// A failover ends with the removal of the request, whether there is one or not. [C7]
    fn preferred_read(&mut self, failover: bool) {
        let mut answers = self.fiber.take();
        let planned = failover && matches!(answers.get(1), Some(Ok(_)));
        let tps = match answers.pop() {
            Some(Ok(Reply::Data { data, .. })) => registry::read_partitions(&data),
            _ if failover => Vec::new(),
            _ => return,
        };
        let tps = self.electable(&tps);
        let moves = match (planned, failover) {
            (true, _) => Step::Reassign(reassign::Step::Look { failover }),
            (false, true) => {
                Step::Reassign(reassign::Step::ResumeOthers { known: Default::default() })
            }
            (false, false) => Step::Reassign(reassign::Step::Nothing),
        };
        self.then([
            moves,
            Step::Online { tps, strategy: Strategy::Preferred },
            Step::Flush { all: false },
            Step::PreferredDone,
        ]);
    }

    /// It is time to look whether brokers lead what they are preferred for. [§5]
    pub(super) fn rebalance(&mut self, io: &mut Io<'_>) {
        let every = Span::from_secs(u64::from(io.settings.imbalance_check_s));
        io.arm(Timer::Rebalance(self.epoch), io.now + every);
        // None while replicas move. [§5]
        if !self.context.reassigning.is_empty() {
            return;
        }
        let tps = self.context.imbalanced(u64::from(io.settings.imbalance_percent));
        if !tps.is_empty() {
            self.event(Event::Preferred { partitions: Some(tps), answer: None });
        }
    }
}
