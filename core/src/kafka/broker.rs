//! A broker of the textbook profile: registers, takes part in the election, leads and follows.
//! [product.md T1 to T5]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::controller::{self, Controller};
use super::data;
use super::event::Event;
use super::log::manager::{ReplicaManager, Role, Roles};
use super::msg::{LeaderAndIsr, Msg, TopicPartition};
use super::paths;
use super::payload::{self, BrokerInfo, ControllerInfo, PartitionState};
use crate::base::{Digest, Instant, Rng};
use crate::zk::client::{KeeperState, WatcherId};
use crate::zk::hold::{Heard, Io, RETRY, Session, ZkInput, ZkSettings};
use crate::zk::op::{CreateMode, Data, Error, EventType, Failure, Op, Path, Reply, Zxid, open_acl};

/// What the broker's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Ask the leaders again that were not ready.
    Refetch,
    /// Real releases: look whether brokers lead what they are preferred for, as the controller of
    /// this epoch.
    Rebalance(i32),
    /// The next try of a controlled shutdown.
    Shutdown(u32),
    /// Try again to register.
    Register,
    /// The files of replicas are deleted.
    Deleted,
    /// Look for silent followers, and the start of that.
    Lag,
    LagStart,
    /// Leave a notice of changed ISRs.
    Notice,
    /// Send what was gathered for the controller.
    AlterIsr,
    /// The last answer of a broker that stands still is not waited for any longer.
    Unstuck,
    /// A tool's patience with this try is over.
    Tool(u32),
    Consumer(super::consumer_zk::connector::Timer),
    Producer(super::producer::Timer),
    Log(super::log::store::Timer),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Start,
    /// An orderly stop: the session is closed, the process ends.
    Stop,
    Zk(ZkInput),
    Peer {
        from: u32,
        msg: Msg,
    },
    Timer(Timer),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Zk(Io),
    Peer {
        to: u32,
        msg: Msg,
    },
    Arm {
        timer: Timer,
        at: Instant,
    },
    Note(Event),
    /// The process ends by itself.
    Exit,
}

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Ensure {
        last: bool,
    },
    Register,
    ReadHolder,
    Elect,
    ReadController,
    /// The controller's own watch on its office.
    WatchOffice,
    CreateProvider {
        topic: Arc<str>,
        count: u32,
    },
    ChangeProvider {
        topic: Arc<str>,
        count: u32,
    },
    GrowIsr {
        tp: TopicPartition,
        joined: u32,
        isr: Vec<u32>,
    },
    ReadOwnState {
        tp: TopicPartition,
    },
    /// A request of the controller's `incarnation`th time in office.
    Controller {
        incarnation: u32,
        what: controller::Pending,
    },
    Close,
}

/// The watches a broker sets, each its own watcher object.
pub mod watcher {
    use crate::zk::client::WatcherId;

    pub const HOLDER: WatcherId = WatcherId(1);
    pub const CONTROLLER: WatcherId = WatcherId(2);
    pub const BROKERS: WatcherId = WatcherId(3);
    pub const TOPICS: WatcherId = WatcherId(4);
    pub const DELETIONS: WatcherId = WatcherId(5);
    /// Of topics that may get more partitions.
    pub const TOPIC_DATA: WatcherId = WatcherId(6);
}

/// Where a broker is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    Connecting,
    Registering,
    /// The znode of its own dead session is still there.
    WaitingForOldSession,
    Running,
    Stopping,
    /// Its id belongs to somebody else.
    Refused,
}

/// What a broker believes about one of its replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    pub topic_czxid: Zxid,
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub replicas: Vec<u32>,
    pub zk_version: i32,
    /// As a follower: it has what its leader has.
    pub caught_up: bool,
    /// As a leader: a write of the ISR is on its way.
    busy: bool,
    /// Followers that wait for this write to end.
    waiting: BTreeSet<u32>,
}

/// What stands in `/brokers/topics/T/N`. [product.md T3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    Absent,
    Writing,
    Written(u32),
}

#[derive(Clone)]
pub struct Broker {
    pub id: u32,
    pub host: Arc<str>,
    pub port: u32,
    pub rack: Option<Arc<str>>,
    pub phase: Phase,
    pub replicas: BTreeMap<TopicPartition, Replica>,
    pub logs: ReplicaManager,
    pub controller: Option<Controller>,
    /// Who this broker last heard is the controller.
    pub known_controller: Option<u32>,
    /// The highest controller epoch that it has heard of.
    pub controller_epoch: i32,
    incarnation: u32,
    providers: BTreeMap<Arc<str>, Provider>,
    refetch_armed: bool,
    settings: ZkSettings,
    pub zk: Session<Pending>,
    #[cfg(feature = "mutations")]
    pub mutation: Option<Mutation>,
}

/// A rule of Kafka's broken on purpose, to prove that what guards it is able to fail.
#[cfg(feature = "mutations")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A controller that lost its office goes on as if it had not.
    KeepsOffice,
    /// A live broker outside the assignment is made leader.
    LeaderOutsideAssignment,
    /// The first ISR holds a broker outside the assignment.
    IsrOutsideAssignment,
    /// An election counts the leader epoch down.
    LeaderEpochFalls,
    /// A new controller keeps the epoch of the one before.
    KeepsEpoch,
    /// A controller doesn't hear of its end, and its writes travel without the check of its epoch.
    WritesUnfenced,
    /// A broker follows a controller of any epoch.
    ObeysAnyEpoch,
    /// A leader's high watermark doesn't wait for its followers.
    CommitsAlone,
    /// A member of a group goes on with what it had before a rebalance.
    ReadsOn,
    /// A member leaves its last partition to nobody.
    LeavesLast,
    /// A member never commits.
    NeverCommits,
}

/// What a broker needs from outside while it handles one input.
pub struct Ctx<'a> {
    pub now: Instant,
    /// The wall clock at this moment, for timestamps in payloads.
    pub wall_ms: i64,
    pub rng: &'a mut Rng,
    /// Brokers whose process stands still, and since when: what they were asked by then has no
    /// answer. It stands for requests that brokers repeat and the model does not.
    pub frozen: &'a BTreeMap<u32, Instant>,
    pub out: &'a mut Vec<Effect>,
}

impl Broker {
    pub fn new(
        id: u32,
        host: Arc<str>,
        port: u32,
        rack: Option<Arc<str>>,
        settings: ZkSettings,
    ) -> Broker {
        Broker {
            id,
            host,
            port,
            rack,
            phase: Phase::Connecting,
            replicas: BTreeMap::new(),
            logs: ReplicaManager::default(),
            controller: None,
            known_controller: None,
            controller_epoch: 0,
            incarnation: 0,
            providers: BTreeMap::new(),
            refetch_armed: false,
            settings,
            zk: Session::new(settings.client()),
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => self.zk.start(ctx.now, ctx.rng),
            Input::Stop => self.stop(ctx),
            Input::Zk(input) => self.zk.input(ctx.now, ctx.rng, input),
            Input::Peer { from, msg } => self.hear(ctx, from, msg),
            Input::Timer(Timer::Refetch) => {
                self.refetch_armed = false;
                self.fetch_missing(ctx);
            }
            Input::Timer(timer) => self.logs.timer(ctx, self.id, timer, &self.replicas),
        }
        self.drain(ctx);
        self.logs.settle(ctx, self.id, &self.replicas);
    }

    /// Does all that ZooKeeper's client has to say, and what follows from it.
    fn drain(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(heard) = self.zk.next_heard() {
            match heard {
                Heard::Io(io) => ctx.out.push(Effect::Zk(io)),
                Heard::State(state) => self.zk_state(ctx, state),
                Heard::Event { watchers, path, kind } => {
                    for watcher in watchers {
                        self.watch_fired(ctx, watcher, &path, kind);
                    }
                }
                Heard::Done { what, result } => self.done(ctx, what, result),
            }
        }
    }

    fn zk_state(&mut self, ctx: &mut Ctx<'_>, state: KeeperState) {
        match state {
            KeeperState::SyncConnected if self.phase == Phase::Connecting => {
                self.phase = Phase::Registering;
                self.ensure_paths(ctx);
            }
            KeeperState::Expired => self.session_lost(ctx),
            _ => {}
        }
    }

    /// The session is gone and with it the registration, the office and every watch: start over
    /// with a new session. The replicas stay as they are until a controller says otherwise.
    fn session_lost(&mut self, ctx: &mut Ctx<'_>) {
        self.resign(ctx);
        self.providers.clear();
        self.zk = Session::new(self.settings.client());
        self.zk.start(ctx.now, ctx.rng);
        self.phase = Phase::Connecting;
    }

    fn stop(&mut self, ctx: &mut Ctx<'_>) {
        self.phase = Phase::Stopping;
        self.resign(ctx);
        self.zk.close(ctx.now, Pending::Close);
    }

    fn ensure_paths(&mut self, ctx: &Ctx<'_>) {
        let last = paths::PERSISTENT.len() - 1;
        for (n, path) in paths::PERSISTENT.into_iter().enumerate() {
            self.create(
                ctx,
                path.into(),
                None,
                CreateMode::Persistent,
                Pending::Ensure { last: n == last },
            );
        }
    }

    fn create(&mut self, ctx: &Ctx<'_>, path: Path, data: Data, mode: CreateMode, what: Pending) {
        let op = Op::Create { path, data, acl: open_acl(), mode, ttl_ms: 0 };
        self.zk.submit(ctx.now, op, None, what);
    }

    fn register(&mut self, ctx: &Ctx<'_>) {
        let info = BrokerInfo {
            jmx_port: -1,
            timestamp: ctx.wall_ms.to_string(),
            host: self.host.to_string(),
            version: 1,
            port: self.port,
            rack: self.rack.as_ref().map(|rack| rack.to_string()),
        };
        let path = paths::broker(self.id);
        self.create(ctx, path, payload::write(&info), CreateMode::Ephemeral, Pending::Register);
    }

    fn elect(&mut self, ctx: &Ctx<'_>) {
        let info =
            ControllerInfo { version: 1, brokerid: self.id, timestamp: ctx.wall_ms.to_string() };
        let data = payload::write(&info);
        self.create(ctx, paths::CONTROLLER.into(), data, CreateMode::Ephemeral, Pending::Elect);
    }

    fn done(&mut self, ctx: &mut Ctx<'_>, what: Pending, result: Result<Reply, Failure>) {
        let error = result.as_ref().err().map(|failure| failure.error);
        if matches!(error, Some(Error::ConnectionLoss | Error::SessionExpired)) {
            return self.lost(ctx, what, error);
        }
        match what {
            Pending::Ensure { last: true } if self.phase == Phase::Registering => {
                self.register(ctx);
            }
            Pending::Ensure { .. } => {}
            Pending::Register => self.registered(ctx, error),
            Pending::ReadHolder => self.read_holder(ctx, result),
            Pending::Elect => self.elected(ctx, error),
            Pending::ReadController => self.read_controller(ctx, result),
            Pending::WatchOffice => self.office_watched(ctx, result),
            Pending::CreateProvider { topic, count } => {
                self.provider_created(ctx, topic, count, error);
            }
            Pending::ChangeProvider { topic, count } => {
                let now = match error {
                    None if count > 0 => Provider::Written(count),
                    _ => Provider::Absent,
                };
                self.providers.insert(topic.clone(), now);
                if error.is_none() {
                    self.provide(ctx, &topic);
                }
            }
            Pending::GrowIsr { tp, joined, isr } => self.isr_grown(ctx, tp, joined, isr, result),
            Pending::ReadOwnState { tp } => self.own_state_read(ctx, &tp, result),
            Pending::Controller { incarnation, what } if incarnation == self.incarnation => {
                self.with_controller(ctx, |controller, io| controller.done(io, what, result));
            }
            Pending::Controller { .. } => {}
            Pending::Close => ctx.out.push(Effect::Exit),
        }
    }

    /// The connection went with this request unanswered: it may have been applied or not
    /// [spec zookeeper.md S7], so the question is asked again, never assumed.
    fn lost(&mut self, ctx: &mut Ctx<'_>, what: Pending, error: Option<Error>) {
        if let Pending::Close = what {
            return ctx.out.push(Effect::Exit);
        }
        // A client that is closing answers at once: to ask again would never end.
        if let Pending::GrowIsr { tp, joined, .. } = &what
            && let Some(replica) = self.replicas.get_mut(tp)
        {
            replica.busy = false;
            replica.waiting.insert(*joined);
        }
        let leaving = matches!(self.phase, Phase::Stopping | Phase::Refused);
        if leaving || error == Some(Error::SessionExpired) {
            return;
        }
        match what {
            Pending::Ensure { last: true } => self.ensure_paths(ctx),
            Pending::Register | Pending::ReadHolder => self.register(ctx),
            Pending::Elect | Pending::ReadController => self.elect(ctx),
            Pending::WatchOffice if self.controller.is_some() => self.watch_office(ctx),
            Pending::CreateProvider { topic, .. } | Pending::ChangeProvider { topic, .. } => {
                self.providers.insert(topic.clone(), Provider::Absent);
                self.provide(ctx, &topic);
            }
            Pending::GrowIsr { tp, .. } | Pending::ReadOwnState { tp } => {
                self.read_own_state(ctx, tp);
            }
            Pending::Controller { incarnation, what } if incarnation == self.incarnation => {
                self.with_controller(ctx, |controller, io| controller.lost(io, what));
            }
            _ => {}
        }
    }

    fn registered(&mut self, ctx: &mut Ctx<'_>, error: Option<Error>) {
        match error {
            None => {
                self.phase = Phase::Running;
                ctx.out.push(Effect::Note(Event::Registered { broker: self.id }));
                self.elect(ctx);
                self.grow_what_waits(ctx);
            }
            Some(Error::NodeExists) => {
                let op = Op::GetData { path: paths::broker(self.id), watch: true };
                self.zk.submit(ctx.now, op, Some(watcher::HOLDER), Pending::ReadHolder);
            }
            Some(_) => self.ensure_paths(ctx),
        }
    }

    /// Who holds this id? The broker's own last session (it was killed and is back before the
    /// session ran out), this very session (the answer was lost), or somebody else.
    fn read_holder(&mut self, ctx: &mut Ctx<'_>, result: Result<Reply, Failure>) {
        let Ok(Reply::Data { data, stat }) = result else {
            return self.register(ctx);
        };
        if stat.ephemeral_owner == self.zk.client().session().0 {
            return self.registered(ctx, None);
        }
        let holder = payload::read::<BrokerInfo>(&data);
        if holder.as_ref().is_some_and(|h| *h.host == *self.host && h.port == self.port) {
            self.phase = Phase::WaitingForOldSession;
            ctx.out.push(Effect::Note(Event::OldSessionHolds { broker: self.id }));
            return;
        }
        self.phase = Phase::Refused;
        ctx.out.push(Effect::Note(Event::IdTaken {
            broker: self.id,
            host: self.host.clone(),
            holder: holder.map(|h| h.host.into()),
        }));
        self.zk.close(ctx.now, Pending::Close);
    }

    fn elected(&mut self, ctx: &mut Ctx<'_>, error: Option<Error>) {
        match error {
            None => self.take_office(ctx),
            _ => {
                let op = Op::GetData { path: paths::CONTROLLER.into(), watch: true };
                self.zk.submit(ctx.now, op, Some(watcher::CONTROLLER), Pending::ReadController);
            }
        }
    }

    fn take_office(&mut self, ctx: &mut Ctx<'_>) {
        self.incarnation += 1;
        self.known_controller = Some(self.id);
        ctx.out.push(Effect::Note(Event::WonElection { broker: self.id }));
        #[cfg_attr(not(feature = "mutations"), expect(unused_mut))]
        let mut controller = Controller::new();
        #[cfg(feature = "mutations")]
        {
            controller.misplaces = self.mutation == Some(Mutation::LeaderOutsideAssignment);
        }
        self.controller = Some(controller);
        self.watch_office(ctx);
        self.with_controller(ctx, |controller, io| controller.start(io));
    }

    fn watch_office(&mut self, ctx: &Ctx<'_>) {
        let op = Op::Exists { path: paths::CONTROLLER.into(), watch: true };
        self.zk.submit(ctx.now, op, Some(watcher::CONTROLLER), Pending::WatchOffice);
    }

    /// Whoever finds the office empty or another's when it begins to watch it has lost it already.
    fn office_watched(&mut self, ctx: &mut Ctx<'_>, result: Result<Reply, Failure>) {
        let session = self.zk.client().session().0;
        let mine = matches!(result, Ok(Reply::Stat(stat)) if stat.ephemeral_owner == session);
        if self.controller.is_some() && !mine {
            self.resign(ctx);
            self.elect(ctx);
        }
    }

    fn read_controller(&mut self, ctx: &mut Ctx<'_>, result: Result<Reply, Failure>) {
        match result {
            Ok(Reply::Data { data, stat }) => {
                if stat.ephemeral_owner == self.zk.client().session().0 {
                    return self.take_office(ctx);
                }
                let info = payload::read::<ControllerInfo>(&data);
                self.known_controller = info.map(|info| info.brokerid);
                ctx.out.push(Effect::Note(Event::LostElection {
                    broker: self.id,
                    controller: self.known_controller,
                }));
            }
            _ => self.elect(ctx),
        }
    }

    fn resign(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(controller) = self.controller.take() {
            self.incarnation += 1;
            let epoch = controller.epoch;
            ctx.out.push(Effect::Note(Event::ControllerResigned { broker: self.id, epoch }));
        }
    }

    fn watch_fired(&mut self, ctx: &mut Ctx<'_>, watcher: WatcherId, path: &Path, kind: EventType) {
        match watcher {
            watcher::HOLDER if self.phase == Phase::WaitingForOldSession => {
                if kind == EventType::NodeDeleted {
                    self.phase = Phase::Registering;
                    self.register(ctx);
                } else {
                    let op = Op::GetData { path: path.clone(), watch: true };
                    self.zk.submit(ctx.now, op, Some(watcher::HOLDER), Pending::ReadHolder);
                }
            }
            #[cfg(feature = "mutations")]
            watcher::CONTROLLER if self.mutation == Some(Mutation::KeepsOffice) => {}
            watcher::CONTROLLER => {
                self.known_controller = None;
                self.resign(ctx);
                if self.phase == Phase::Running {
                    self.elect(ctx);
                }
            }
            watcher::TOPIC_DATA if kind == EventType::NodeDeleted => {}
            _ => self.with_controller(ctx, |controller, io| {
                controller.watch_fired(io, watcher, path);
            }),
        }
    }

    /// Runs `act` with the controller, if this broker acts as one, and sends what it decided.
    fn with_controller(
        &mut self,
        ctx: &mut Ctx<'_>,
        act: impl FnOnce(&mut Controller, &mut controller::ControllerIo<'_>),
    ) {
        if let Some(controller) = &mut self.controller {
            let mut io = controller::ControllerIo {
                now: ctx.now,
                broker: self.id,
                incarnation: self.incarnation,
                zk: &mut self.zk,
                out: ctx.out,
            };
            act(controller, &mut io);
            controller.flush(&mut io);
        }
    }

    fn hear(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: Msg) {
        match msg {
            Msg::LeaderAndIsr { controller, controller_epoch, partitions } => {
                if self.obeys(ctx, controller_epoch) {
                    self.known_controller = Some(controller);
                    self.take_orders(ctx, &partitions);
                }
            }
            Msg::StopReplica { controller_epoch, partitions } => {
                if self.obeys(ctx, controller_epoch) {
                    self.stop_replicas(ctx, &partitions);
                }
            }
            Msg::Fetch { partitions } => {
                let logs = &mut self.logs;
                let fine = logs.follower_comes(ctx, self.id, from, &partitions, &self.replicas);
                self.serve_fetch(ctx, from, &fine);
            }
            Msg::NotLeader { .. } => self.arm_refetch(ctx),
            Msg::Data(msg) => self.hear_of_records(ctx, from, *msg),
            Msg::Real(_) | Msg::Closed => {}
            Msg::Fetched { partitions } => {
                for tp in partitions.iter() {
                    self.fetched(ctx, from, tp);
                }
            }
        }
    }

    fn hear_of_records(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: data::Msg) {
        match msg {
            data::Msg::Metadata { id, topics } => {
                let answer = self.metadata(id, &topics);
                let msg = Msg::Data(Box::new(answer));
                ctx.out.push(Effect::Peer { to: from, msg });
            }
            data::Msg::FindCoordinator { id, .. } => {
                let result = Err(data::Code::ConsumerCoordinatorNotAvailable);
                let msg = Msg::Data(Box::new(data::Msg::Coordinator { id, result }));
                ctx.out.push(Effect::Peer { to: from, msg });
            }
            data::Msg::OffsetCommit { .. } | data::Msg::OffsetFetch { .. } => {
                self.logs.serve_offsets(ctx, (self.id, from), None, msg, &self.replicas);
            }
            msg => {
                let fine = self.logs.serve(ctx, self.id, from, msg, &self.replicas);
                self.serve_fetch(ctx, from, &fine);
            }
        }
    }

    /// What this broker knows by the orders it got: of its own replicas.
    fn metadata(&self, id: u32, topics: &[Arc<str>]) -> data::Msg {
        let mut known: BTreeMap<&Arc<str>, Vec<data::PartitionMeta>> = BTreeMap::new();
        for (tp, replica) in &self.replicas {
            known.entry(&tp.topic).or_default().push(data::PartitionMeta {
                partition: tp.partition,
                leader: replica.leader,
                replicas: replica.replicas.clone(),
                isr: replica.isr.clone(),
            });
        }
        let brokers: BTreeSet<u32> = known.values().flatten().filter_map(|p| p.leader).collect();
        let topics = match topics.is_empty() {
            true => known.keys().map(|topic| (*topic).clone()).collect(),
            false => topics.to_vec(),
        };
        let describe = |topic: Arc<str>| {
            let partitions = known.remove(&topic).ok_or(data::Code::UnknownTopicOrPartition);
            data::TopicMeta { topic, partitions }
        };
        let topics = topics.into_iter().map(describe).collect();
        data::Msg::MetadataAnswer { id, brokers: brokers.into_iter().collect(), topics }
    }

    /// A broker never follows a controller of a lower epoch than it has heard of.
    fn obeys(&mut self, ctx: &mut Ctx<'_>, epoch: i32) -> bool {
        let known = self.controller_epoch;
        if epoch < known {
            let broker = self.id;
            ctx.out.push(Effect::Note(Event::StaleController { broker, epoch, known }));
            return false;
        }
        self.controller_epoch = epoch;
        true
    }

    fn take_orders(&mut self, ctx: &mut Ctx<'_>, partitions: &[LeaderAndIsr]) {
        let (mut topics, mut taken) = (BTreeSet::new(), Vec::new());
        for order in partitions {
            let known = self.replicas.get(&order.tp);
            let age = known.map(|r| (r.topic_czxid, r.leader_epoch));
            let age = age.cmp(&Some((order.topic_czxid, order.leader_epoch)));
            if age == Ordering::Greater {
                continue;
            }
            let fresh = age == Ordering::Less;
            let leads = order.leader == Some(self.id);
            let replica = Replica {
                topic_czxid: order.topic_czxid,
                leader: order.leader,
                leader_epoch: order.leader_epoch,
                isr: order.isr.clone(),
                replicas: order.replicas.clone(),
                zk_version: order.zk_version,
                caught_up: leads
                    || !fresh && order.isr.contains(&self.id) && known.is_some_and(|r| r.caught_up),
                busy: !fresh && known.is_some_and(|r| r.busy),
                waiting: match known {
                    Some(known) if !fresh => known.waiting.clone(),
                    _ => BTreeSet::new(),
                },
            };
            self.replicas.insert(order.tp.clone(), replica);
            topics.insert(order.tp.topic.clone());
            if fresh {
                taken.push(order.tp.clone());
                self.note_role(ctx, order, leads);
            }
        }
        self.logs.ordered(ctx, self.id, &taken, &self.replicas);
        for topic in topics {
            self.provide(ctx, &topic);
        }
        self.fetch_missing(ctx);
    }

    fn note_role(&self, ctx: &mut Ctx<'_>, order: &LeaderAndIsr, leads: bool) {
        let (broker, tp, leader_epoch) = (self.id, order.tp.clone(), order.leader_epoch);
        ctx.out.push(Effect::Note(if leads {
            Event::BecameLeader { broker, tp, leader_epoch }
        } else {
            Event::BecameFollower { broker, tp, leader: order.leader, leader_epoch }
        }));
    }

    fn stop_replicas(&mut self, ctx: &mut Ctx<'_>, partitions: &[TopicPartition]) {
        let mut topics = BTreeSet::new();
        for tp in partitions {
            if self.replicas.remove(tp).is_some() {
                topics.insert(tp.topic.clone());
                let broker = self.id;
                ctx.out.push(Effect::Note(Event::ReplicaDeleted { broker, tp: tp.clone() }));
            }
        }
        self.logs.ordered(ctx, self.id, partitions, &self.replicas);
        for topic in topics {
            self.provide(ctx, &topic);
        }
    }

    /// Asks every leader for the partitions that this broker lacks, one request a leader.
    fn fetch_missing(&mut self, ctx: &mut Ctx<'_>) {
        let mut wanted: BTreeMap<u32, Vec<TopicPartition>> = BTreeMap::new();
        for (tp, replica) in &self.replicas {
            if let (false, Some(leader)) = (replica.caught_up, replica.leader) {
                wanted.entry(leader).or_default().push(tp.clone());
            }
        }
        if !wanted.is_empty() {
            self.arm_refetch(ctx);
        }
        for (leader, partitions) in wanted {
            let msg = Msg::Fetch { partitions: partitions.into() };
            ctx.out.push(Effect::Peer { to: leader, msg });
        }
    }

    fn arm_refetch(&mut self, ctx: &mut Ctx<'_>) {
        if !self.refetch_armed {
            self.refetch_armed = true;
            ctx.out.push(Effect::Arm { timer: Timer::Refetch, at: ctx.now + RETRY });
        }
    }

    fn serve_fetch(&mut self, ctx: &mut Ctx<'_>, from: u32, partitions: &[TopicPartition]) {
        let me = self.id;
        let leads = |tp: &&TopicPartition| {
            self.replicas.get(*tp).is_some_and(|replica| replica.leader == Some(me))
        };
        let (mine, other): (Vec<_>, Vec<_>) = partitions.iter().partition(leads);
        let mine: Vec<TopicPartition> = mine.into_iter().cloned().collect();
        let other: Vec<TopicPartition> = other.into_iter().cloned().collect();
        for tp in &mine {
            self.grow_isr(ctx, tp, from);
        }
        if !mine.is_empty() {
            let msg = Msg::Fetched { partitions: mine.into() };
            ctx.out.push(Effect::Peer { to: from, msg });
        }
        if !other.is_empty() {
            let msg = Msg::NotLeader { partitions: other.into() };
            ctx.out.push(Effect::Peer { to: from, msg });
        }
    }

    fn fetched(&mut self, ctx: &mut Ctx<'_>, leader: u32, tp: &TopicPartition) {
        if let Some(replica) = self.replicas.get_mut(tp)
            && replica.leader == Some(leader)
            && !replica.caught_up
        {
            replica.caught_up = true;
            let (broker, tp) = (self.id, tp.clone());
            ctx.out.push(Effect::Note(Event::CaughtUp { broker, leader, tp }));
        }
    }

    /// A follower that has caught up rejoins the ISR: its leader writes it. [product.md T5]
    fn grow_isr(&mut self, ctx: &Ctx<'_>, tp: &TopicPartition, joined: u32) {
        let epoch = self.controller_epoch;
        let Some(replica) = self.replicas.get_mut(tp) else { return };
        if replica.isr.contains(&joined) || !replica.replicas.contains(&joined) {
            return;
        }
        if replica.busy {
            replica.waiting.insert(joined);
            return;
        }
        replica.busy = true;
        let mut isr = replica.isr.clone();
        isr.push(joined);
        let state = PartitionState {
            controller_epoch: epoch,
            leader: i64::from(self.id),
            version: 1,
            leader_epoch: replica.leader_epoch,
            isr: isr.clone(),
        };
        let op = Op::SetData {
            path: paths::state(&tp.topic, tp.partition),
            data: payload::write(&state),
            version: replica.zk_version,
        };
        self.zk.submit(ctx.now, op, None, Pending::GrowIsr { tp: tp.clone(), joined, isr });
    }

    /// With a new session: followers whose way into the ISR the old one did not finish.
    fn grow_what_waits(&mut self, ctx: &Ctx<'_>) {
        for replica in self.replicas.values_mut() {
            replica.busy = false;
        }
        let waits = |(tp, replica): (&TopicPartition, &Replica)| {
            (!replica.waiting.is_empty()).then(|| tp.clone())
        };
        let waiting: Vec<TopicPartition> = self.replicas.iter().filter_map(waits).collect();
        for tp in waiting {
            self.read_own_state(ctx, tp);
        }
    }

    fn isr_grown(
        &mut self,
        ctx: &mut Ctx<'_>,
        tp: TopicPartition,
        joined: u32,
        isr: Vec<u32>,
        result: Result<Reply, Failure>,
    ) {
        match result {
            Ok(Reply::Stat(stat)) => {
                let Some(replica) = self.replicas.get_mut(&tp) else { return };
                replica.busy = false;
                replica.isr.clone_from(&isr);
                replica.zk_version = stat.version;
                let waiting = std::mem::take(&mut replica.waiting);
                let leader = self.id;
                let event = Event::IsrGrown { tp: tp.clone(), leader, isr, joined };
                ctx.out.push(Effect::Note(event));
                for follower in waiting {
                    self.grow_isr(ctx, &tp, follower);
                }
            }
            Err(Failure { error: Error::BadVersion, .. }) => {
                if let Some(replica) = self.replicas.get_mut(&tp) {
                    replica.waiting.insert(joined);
                }
                self.read_own_state(ctx, tp);
            }
            _ => {
                if let Some(replica) = self.replicas.get_mut(&tp) {
                    replica.busy = false;
                }
            }
        }
    }

    fn read_own_state(&mut self, ctx: &Ctx<'_>, tp: TopicPartition) {
        let op = Op::GetData { path: paths::state(&tp.topic, tp.partition), watch: false };
        self.zk.submit(ctx.now, op, None, Pending::ReadOwnState { tp });
    }

    /// Somebody else wrote the state: if it still names this leader and epoch, go on from there,
    /// else a controller's order is on its way.
    fn own_state_read(
        &mut self,
        ctx: &Ctx<'_>,
        tp: &TopicPartition,
        result: Result<Reply, Failure>,
    ) {
        let me = self.id;
        let Some(replica) = self.replicas.get_mut(tp) else { return };
        replica.busy = false;
        let waiting = std::mem::take(&mut replica.waiting);
        if let Ok(Reply::Data { data, stat }) = result
            && let Some(state) = payload::read::<PartitionState>(&data)
            && state.leader == i64::from(me)
            && state.leader_epoch == replica.leader_epoch
        {
            replica.isr = state.isr;
            replica.zk_version = stat.version;
            for follower in waiting {
                self.grow_isr(ctx, tp, follower);
            }
        }
    }

    /// Keeps `/brokers/topics/T/N` at the number of partitions that this broker leads, one write
    /// at a time. [product.md T3]
    fn provide(&mut self, ctx: &Ctx<'_>, topic: &Arc<str>) {
        let first = TopicPartition { topic: topic.clone(), partition: 0 };
        let last = TopicPartition { topic: topic.clone(), partition: u32::MAX };
        let of_topic = self.replicas.range(first..=last);
        let count = of_topic.filter(|(_, r)| r.leader == Some(self.id)).count() as u32;
        let path = paths::topic_provider(topic, self.id);
        let data = payload::number_data(i64::from(count));
        let written = self.providers.get(topic).copied().unwrap_or(Provider::Absent);
        let topic = topic.clone();
        match written {
            Provider::Absent if count > 0 => {
                self.providers.insert(topic.clone(), Provider::Writing);
                let what = Pending::CreateProvider { topic, count };
                self.create(ctx, path, data, CreateMode::Ephemeral, what);
            }
            Provider::Written(before) if before != count => {
                self.providers.insert(topic.clone(), Provider::Writing);
                let op = match count {
                    0 => Op::Delete { path, version: -1 },
                    _ => Op::SetData { path, data, version: -1 },
                };
                self.zk.submit(ctx.now, op, None, Pending::ChangeProvider { topic, count });
            }
            _ => {}
        }
    }

    /// A node that a former session left is removed and made anew, so that it has this session
    /// as its owner.
    fn provider_created(
        &mut self,
        ctx: &Ctx<'_>,
        topic: Arc<str>,
        count: u32,
        error: Option<Error>,
    ) {
        match error {
            None => {
                self.providers.insert(topic.clone(), Provider::Written(count));
                self.provide(ctx, &topic);
            }
            Some(Error::NodeExists) => {
                let op = Op::Delete { path: paths::topic_provider(&topic, self.id), version: -1 };
                self.zk.submit(ctx.now, op, None, Pending::ChangeProvider { topic, count: 0 });
            }
            Some(_) => {
                self.providers.insert(topic, Provider::Absent);
            }
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.id));
        digest.u64(self.phase as u64);
        digest.i64(i64::from(self.controller_epoch));
        for (tp, replica) in &self.replicas {
            digest.text(&tp.topic);
            digest.u64(u64::from(tp.partition));
            digest.i64(replica.leader.map_or(-1, i64::from));
            digest.i64(i64::from(replica.leader_epoch));
            for id in &replica.isr {
                digest.u64(u64::from(*id));
            }
            digest.u64(u64::from(replica.caught_up));
        }
        self.logs.digest(digest);
        if let Some(controller) = &self.controller {
            controller.digest(digest);
        }
        self.zk.client().digest(digest);
    }
}

impl Roles for BTreeMap<TopicPartition, Replica> {
    fn role(&self, tp: &TopicPartition) -> Option<Role<'_>> {
        let replica = self.get(tp)?;
        let (isr, replicas) = (&replica.isr, &replica.replicas);
        let (leader, epoch) = (replica.leader, replica.leader_epoch);
        Some(Role { leader, epoch, isr, maximal: isr, replicas, begins: true })
    }
}
