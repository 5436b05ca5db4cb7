//! How a broker comes up: the paths that must exist, its registration, the election and a block
//! of producer ids, in the order of its release. [spec kafka-zk.md B1 to B5, W1, W2]

use std::sync::Arc;

use super::broker::Broker;
use super::controller::Event;
use super::fiber::Fiber;
use super::registry::{self, Registration};
use crate::base::Span;
use crate::kafka::broker::{Ctx, Effect, Phase, Timer};
use crate::kafka::event::Event as Note;
use crate::kafka::paths;
use crate::kafka::payload::{self, BrokerInfo};
use crate::kafka::release::Release;
use crate::zk::op::{CreateMode, Data, Error, Op, Path, Reply, open_acl};

#[derive(Clone, Debug)]
enum Step {
    Ensure(usize),
    Looked(usize),
    Make(usize),
    Ensured(usize),
    /// A parent of a path that could not be made.
    Parent(Path),
    Ignore,
    Cluster,
    ClusterRead,
    ClusterMade {
        again: bool,
    },
    Register,
    Registered,
    HolderRead,
    Elect,
    /// Until the office is decided.
    AwaitDecided,
    /// Until the failover is over too.
    AwaitSettled,
    Claim,
    BlockRead,
    BlockWritten,
    Watch,
    /// Until the own old session has had its time.
    Sleep,
}

#[derive(Clone, Default)]
pub struct Boot {
    pub fiber: Fiber,
    stack: Vec<Step>,
    asleep: bool,
}

impl Boot {
    pub fn process_start(release: Release) -> Boot {
        let mut steps = vec![Step::Ensure(0)];
        if release.has_cluster_id() {
            steps.push(Step::Cluster);
        }
        steps.extend(Boot::joining(release, release.claims_producer_block()));
        Boot { stack: steps.into_iter().rev().collect(), ..Boot::default() }
    }

    /// No paths and no producer ids. [B3]
    pub fn new_session(release: Release) -> Boot {
        let steps = Boot::joining(release, false);
        Boot { stack: steps.into_iter().rev().collect(), ..Boot::default() }
    }

    fn joining(release: Release, claims: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        if release.elects_before_registering() {
            steps.push(Step::Elect);
        } else {
            steps.extend([Step::Register, Step::Elect]);
        }
        if claims {
            steps.extend([Step::AwaitDecided, Step::Claim]);
        }
        if release.elects_before_registering() {
            steps.extend([Step::AwaitSettled, Step::Register]);
        }
        steps.push(Step::Watch);
        steps
    }

    pub fn wake(&mut self) {
        self.asleep = false;
    }

    fn then(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        self.stack.extend(steps.into_iter().rev());
    }

    fn create(&mut self, path: Path, data: Data, mode: CreateMode) {
        self.fiber.ask(create(path, data, mode));
    }
}

fn create(path: Path, data: Data, mode: CreateMode) -> Op {
    Op::Create { path, data, acl: open_acl(), mode, ttl_ms: 0 }
}

fn parent(path: &str) -> Path {
    path.rsplit_once('/').map_or("/", |(above, _)| above).into()
}

impl Broker {
    pub(super) fn run_boot(&mut self, ctx: &mut Ctx<'_>) {
        let joining = matches!(self.phase, Phase::Registering | Phase::Running);
        while joining && !self.boot.asleep && !self.boot.fiber.is_waiting() {
            let waits = match self.boot.stack.last() {
                None => return,
                Some(Step::AwaitDecided) => !self.controller.decided,
                Some(Step::AwaitSettled) => !self.controller.settled,
                Some(_) => false,
            };
            if waits {
                return;
            }
            let Some(step) = self.boot.stack.pop() else { return };
            self.boot_step(ctx, step);
        }
    }

    fn boot_step(&mut self, ctx: &mut Ctx<'_>, step: Step) {
        match step {
            Step::Ensure(_)
            | Step::Looked(_)
            | Step::Make(_)
            | Step::Ensured(_)
            | Step::Parent(_)
            | Step::Cluster
            | Step::ClusterRead
            | Step::ClusterMade { .. } => self.path_step(ctx, step),
            Step::Ignore => _ = self.boot.fiber.take(),
            Step::Register => self.register(ctx),
            Step::Registered => self.registered(ctx),
            Step::HolderRead => self.holder_read(ctx),
            Step::Elect => {
                self.controller.settled = false;
                self.controller.decided = false;
                self.controller.event(Event::Office);
            }
            Step::AwaitDecided | Step::AwaitSettled => {}
            Step::Claim => {
                self.boot.fiber.get(registry::PRODUCER_BLOCK.into());
                self.boot.then([Step::BlockRead]);
            }
            Step::BlockRead => {
                if let Some(Ok(Reply::Data { data, stat })) = self.boot.fiber.one() {
                    let block =
                        registry::producer_block(self.id, registry::next_producer_id(&data));
                    self.boot.fiber.ask(Op::SetData {
                        path: registry::PRODUCER_BLOCK.into(),
                        data: block,
                        version: stat.version,
                    });
                    self.boot.then([Step::BlockWritten]);
                }
            }
            Step::BlockWritten => {
                if let Some(Err(failure)) = self.boot.fiber.one()
                    && failure.error == Error::BadVersion
                {
                    self.boot.then([Step::Claim]);
                }
            }
            Step::Watch => self.list_changes(ctx),
            Step::Sleep => {
                self.boot.asleep = true;
                let timeout = self.zk.client().negotiated_timeout_ms().unsigned_abs();
                let at = ctx.now + Span::from_millis(u64::from(timeout));
                ctx.out.push(Effect::Arm { timer: Timer::Register, at });
            }
        }
    }

    fn path_step(&mut self, ctx: &mut Ctx<'_>, step: Step) {
        let release = self.settings.release;
        let path = |n: usize| registry::persistent(release).get(n).map(|path| Path::from(*path));
        let persistent = CreateMode::Persistent;
        match step {
            Step::Ensure(n) => {
                let Some(path) = path(n) else { return };
                if release.creates_paths_blindly() {
                    return self.boot.then([Step::Make(n)]);
                }
                self.boot.fiber.ask(Op::Exists { path, watch: false });
                self.boot.then([Step::Looked(n)]);
            }
            Step::Looked(n) => match self.boot.fiber.one() {
                Some(Err(_)) => self.boot.then([Step::Make(n)]),
                _ => self.boot.then([Step::Ensure(n + 1)]),
            },
            Step::Make(n) => {
                let Some(path) = path(n) else { return };
                self.boot.create(path, None, persistent);
                self.boot.then([Step::Ensured(n)]);
            }
            Step::Ensured(n) => match (self.boot.fiber.one(), path(n)) {
                (Some(Err(failure)), Some(path)) if failure.error == Error::NoNode => {
                    self.boot.then([Step::Parent(parent(&path)), Step::Make(n)]);
                }
                _ => self.boot.then([Step::Ensure(n + 1)]),
            },
            Step::Parent(path) => {
                self.boot.create(path, None, persistent);
                self.boot.then([Step::Ignore]);
            }
            Step::Cluster => {
                self.boot.fiber.get(registry::CLUSTER_ID.into());
                self.boot.then([Step::ClusterRead]);
            }
            Step::ClusterRead => {
                if let Some(Err(_)) = self.boot.fiber.one() {
                    self.make_cluster_id(ctx, false);
                }
            }
            Step::ClusterMade { again } => {
                let error = self.boot.fiber.one().and_then(Result::err);
                let absent = error.is_some_and(|failure| failure.error == Error::NoNode);
                if absent && !again {
                    self.boot.create("/cluster".into(), None, persistent);
                    self.boot.then([Step::ClusterMade { again: true }]);
                } else if again {
                    self.make_cluster_id(ctx, true);
                }
            }
            _ => {}
        }
    }

    fn make_cluster_id(&mut self, ctx: &mut Ctx<'_>, last: bool) {
        let data = registry::cluster_id(&super::uuid(ctx.rng));
        self.boot.create(registry::CLUSTER_ID.into(), data, CreateMode::Persistent);
        self.boot.then([if last { Step::Ignore } else { Step::ClusterMade { again: false } }]);
    }

    fn registration(&self, ctx: &Ctx<'_>) -> Data {
        let info = Registration {
            host: &self.host,
            port: self.port,
            rack: self.rack.as_deref(),
            wall_ms: ctx.wall_ms,
        };
        registry::broker(self.settings.release, &info)
    }

    fn register(&mut self, ctx: &Ctx<'_>) {
        let path = paths::broker(self.id);
        let data = self.registration(ctx);
        match self.settings.release {
            release if release.has_broker_epoch() => {
                let made = create(path.clone(), None, CreateMode::Ephemeral);
                let set = Op::SetData { path, data, version: 0 };
                self.boot.fiber.ask(Op::Multi(vec![made, set]));
            }
            // Its helper makes sure of the parents first.
            Release::V0_11_0_3 => {
                self.boot.create(paths::BROKERS.into(), None, CreateMode::Persistent);
                self.boot.create(paths::BROKER_IDS.into(), None, CreateMode::Persistent);
                self.boot.create(path, data, CreateMode::Ephemeral);
            }
            _ => self.boot.create(path, data, CreateMode::Ephemeral),
        }
        self.boot.then([Step::Registered]);
    }

    fn registered(&mut self, ctx: &mut Ctx<'_>) {
        match self.boot.fiber.take().pop() {
            Some(Ok(reply)) => {
                let first = match &reply {
                    Reply::Multi(parts) => parts.first(),
                    other => Some(other),
                };
                let czxid = match first {
                    Some(Reply::Create { stat, .. }) => stat.czxid,
                    _ => 0,
                };
                self.is_registered(ctx, czxid);
            }
            Some(Err(failure)) if failure.error == Error::NodeExists => {
                self.boot.fiber.get(paths::broker(self.id));
                self.boot.then([Step::HolderRead]);
            }
            _ => self.boot.then([Step::Register]),
        }
    }

    fn is_registered(&mut self, ctx: &mut Ctx<'_>, czxid: i64) {
        if self.settings.release.has_broker_epoch() {
            self.epoch = czxid;
        }
        self.phase = Phase::Running;
        ctx.out.push(Effect::Note(Note::Registered { broker: self.id }));
    }

    /// Whose is the node? This session's (the answer was lost), an old session's of this broker,
    /// or somebody else's. [B1, B2]
    fn holder_read(&mut self, ctx: &mut Ctx<'_>) {
        let Some(Ok(Reply::Data { data, stat })) = self.boot.fiber.one() else {
            return self.boot.then([Step::Register]);
        };
        if stat.ephemeral_owner == self.zk.client().session().0 {
            return self.is_registered(ctx, stat.czxid);
        }
        let holder = payload::read::<BrokerInfo>(&data);
        let release = self.settings.release;
        let same = |info: &BrokerInfo| *info.host == *self.host && info.port == self.port;
        if release.waits_for_own_old_node() && holder.as_ref().is_some_and(same) {
            ctx.out.push(Effect::Note(Note::OldSessionHolds { broker: self.id }));
            return self.boot.then([Step::Sleep, Step::Register]);
        }
        let before = self.before.0;
        if release.has_broker_epoch() && before != 0 && stat.ephemeral_owner == before {
            self.boot.fiber.ask(Op::Delete { path: paths::broker(self.id), version: -1 });
            return self.boot.then([Step::Ignore, Step::Register]);
        }
        let host: Option<Arc<str>> = holder.map(|info| info.host.into());
        self.refused(ctx, host);
    }
}
