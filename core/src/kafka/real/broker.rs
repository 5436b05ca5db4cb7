//! A broker of a real release: it starts, registers, takes part in the election, leads, follows
//! and leaves. [spec kafka-zk.md §2, §6, §9]

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::boot::Boot;
use super::controller::{Controller, Event, Io as ControllerIo};
use super::metadata::MetadataCache;
use super::msg::{Msg, TOOLS};
use super::registry;
use super::replicas::Replicas;
use super::task::{Layout, Task};
use super::writer::Writer;
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::{Ctx, Effect, Input, Phase, Timer};
use crate::kafka::data::Msg as DataMsg;
use crate::kafka::event::Event as Note;
use crate::kafka::log::manager::ReplicaManager;
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};
use crate::kafka::settings::Settings;
use crate::zk::client::{KeeperState, WatcherId};
use crate::zk::hold::{Heard, Session, ZkSettings};
use crate::zk::op::{Error, EventType, Failure, Op, Path, Reply, SessionId, Zxid};

/// The watches a broker sets, each its own watcher object.
pub mod watcher {
    use crate::zk::client::WatcherId;

    pub const CONTROLLER: WatcherId = WatcherId(2);
    pub const BROKERS: WatcherId = WatcherId(3);
    pub const TOPICS: WatcherId = WatcherId(4);
    pub const DELETIONS: WatcherId = WatcherId(5);
    pub const TOPIC_DATA: WatcherId = WatcherId(6);
    pub const PREFERRED: WatcherId = WatcherId(7);
    pub const ISR_NOTICES: WatcherId = WatcherId(8);
    pub const CONFIG_CHANGES: WatcherId = WatcherId(9);
    pub const REASSIGN: WatcherId = WatcherId(10);
    /// The state of a partition on the move.
    pub const MOVING_STATE: WatcherId = WatcherId(11);
    pub const LOG_DIR_NOTICES: WatcherId = WatcherId(12);
}

/// Which thread asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    Boot,
    Controller,
    Writer,
}

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Thread {
        thread: Thread,
        batch: u32,
        slot: u32,
    },
    /// A leader's own write of an ISR.
    Isr {
        tp: TopicPartition,
        isr: Vec<u32>,
    },
    IsrNotice,
    ConfigChanges,
    ConfigChange {
        name: Arc<str>,
    },
    TopicConfig {
        topic: Arc<str>,
    },
    /// What a topic says of its logs.
    LogConfig {
        topic: Arc<str>,
    },
    Purge,
    Close,
}

/// How old notices of changed configs get. [spec kafka-zk.md §1 /config/changes]
const OLD_NOTICE_MS: i64 = 15 * 60 * 1_000;

/// How long a broker takes to delete a replica: longer than a returning one takes to fetch, as
/// was seen (recordings/2.8.2/topic-create, 0.8.2.2/delete-topic-add-partitions).
const DELETION: Span = Span::from_millis(150);

/// `replica.socket.timeout.ms`, of the fetch and of its one repetition. [F6]
const LAST_ANSWER: Span = Span::from_secs(60);

#[derive(Clone)]
pub struct Broker {
    pub id: u32,
    pub host: Arc<str>,
    pub port: u32,
    pub rack: Option<Arc<str>>,
    pub settings: Arc<Settings>,
    pub phase: Phase,
    pub zk: Session<Pending>,
    pub controller: Controller,
    pub replicas: Replicas,
    pub logs: ReplicaManager,
    pub metadata: MetadataCache,
    /// Who is controller, as the last request of one said.
    pub known_controller: Option<u32>,
    pub controller_epoch: i32,
    /// czxid of its registration, where the release has that.
    pub epoch: Zxid,
    pub(super) boot: Boot,
    pub(super) before: SessionId,
    pub(super) writers: VecDeque<Writer>,
    /// Replicas whose files are being deleted: until when, and who hears of it.
    deleted: VecDeque<(Instant, u32, Vec<TopicPartition>)>,
    shutdown_tries: u32,
    /// Topics whose configuration was read for their logs.
    configured: BTreeSet<Arc<str>>,
    /// It closes its session.
    leaving: bool,
    seen_change: Option<Arc<str>>,
    /// The last answer of a broker that stands still is waited for, and until when.
    stuck: Option<(u32, Instant)>,
    /// What the controller sent meanwhile.
    held: VecDeque<(u32, Msg)>,
    /// Producers' requests that wait until a topic's settings are known.
    pub(super) unread: Vec<(u32, DataMsg)>,
    zk_settings: ZkSettings,
}

impl Broker {
    pub fn new(
        id: u32,
        (host, port): (Arc<str>, u32),
        rack: Option<Arc<str>>,
        settings: Arc<Settings>,
        zk_settings: ZkSettings,
    ) -> Broker {
        Broker {
            id,
            host,
            port,
            rack,
            boot: Boot::process_start(settings.release),
            settings,
            phase: Phase::Connecting,
            zk: Session::new(zk_settings.client()),
            controller: Controller::default(),
            replicas: Replicas::default(),
            logs: ReplicaManager::default(),
            metadata: MetadataCache::default(),
            known_controller: None,
            controller_epoch: 0,
            epoch: 0,
            before: SessionId::default(),
            writers: VecDeque::new(),
            deleted: VecDeque::new(),
            shutdown_tries: 0,
            configured: BTreeSet::new(),
            leaving: false,
            seen_change: None,
            stuck: None,
            held: VecDeque::new(),
            unread: Vec::new(),
            zk_settings,
        }
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => {
                self.replicas.started(ctx, &self.settings);
                self.zk.start(ctx.now, ctx.rng);
            }
            Input::Stop => self.stop(ctx),
            Input::Zk(input) => self.zk.input(ctx.now, ctx.rng, input),
            Input::Peer { from, msg: AnyMsg::Real(msg) } => self.hear(ctx, from, *msg),
            Input::Peer { from, msg: AnyMsg::Data(msg) } => self.hear_of_records(ctx, from, *msg),
            Input::Peer { .. } => {}
            Input::Timer(timer) => self.timer(ctx, timer),
        }
        self.pump(ctx);
        self.logs.settle_all(ctx, self.id, &self.replicas);
        if self.logs.anybody_lacks(self.id, &self.replicas) {
            self.replicas.watch_for_lag(ctx, &self.settings);
        }
    }

    /// Does all that ZooKeeper's client has to say, and lets the threads go on.
    fn pump(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            self.run_threads(ctx);
            let Some(heard) = self.zk.next_heard() else { return };
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

    fn run_threads(&mut self, ctx: &mut Ctx<'_>) {
        let works = matches!(self.phase, Phase::Registering | Phase::Running | Phase::Stopping);
        if !works || self.leaving {
            return;
        }
        let settings = self.settings.clone();
        // Each may be what the other waits for.
        let connected = self.zk.client().state() == KeeperState::SyncConnected;
        if settings.release.retries_until_connected() && connected {
            // What the last session left undone comes first.
            self.send_asked(ctx);
        }
        for _ in 0..2 {
            self.run_boot(ctx);
            let session = self.zk.client().session();
            self.controller.run(&mut controller_io(ctx, self.id, session, &settings));
        }
        self.send_thread(ctx, Thread::Controller, !settings.release.pipelines());
        self.send_thread(ctx, Thread::Boot, true);
        if let Some(writer) = self.writers.front_mut() {
            writer.run(ctx.rng, &settings);
            if let Some(result) = writer.finished() {
                let (to, task) = (writer.answer_to, writer.task.clone());
                self.writers.pop_front();
                if let Some(to) = to {
                    send(ctx, to, Msg::Answer { task, result });
                }
                return self.run_threads(ctx);
            }
            self.send_thread(ctx, Thread::Writer, true);
        }
        let leads = self.known_controller;
        self.replicas.send_changes(ctx, self.epoch, leads);
        if connected || !settings.release.retries_until_connected() {
            self.send_asked(ctx);
        }
    }

    fn send_asked(&mut self, ctx: &Ctx<'_>) {
        for (op, what) in self.replicas.take_asked() {
            self.zk.submit(ctx.now, op, None, what);
        }
    }

    fn fiber(&mut self, thread: Thread) -> Option<&mut super::fiber::Fiber> {
        match thread {
            Thread::Boot => Some(&mut self.boot.fiber),
            Thread::Controller => Some(&mut self.controller.fiber),
            Thread::Writer => self.writers.front_mut().map(|writer| &mut writer.fiber),
        }
    }

    fn send_thread(&mut self, ctx: &Ctx<'_>, thread: Thread, one_by_one: bool) {
        loop {
            let Some(fiber) = self.fiber(thread) else { return };
            let batch = fiber.batch;
            let Some((slot, op, watcher)) = fiber.next_to_send(one_by_one) else { return };
            self.zk.submit(ctx.now, op, watcher, Pending::Thread { thread, batch, slot });
        }
    }

    fn zk_state(&mut self, ctx: &mut Ctx<'_>, state: KeeperState) {
        match state {
            KeeperState::SyncConnected if self.phase == Phase::Connecting => {
                self.phase = Phase::Registering;
                // What the old session did not answer is asked again.
                self.hear_unread(ctx);
            }
            KeeperState::Expired => self.session_lost(ctx),
            _ => {}
        }
    }

    /// The session is gone: a new one, in which it registers and runs for office again. [B3]
    fn session_lost(&mut self, ctx: &mut Ctx<'_>) {
        if matches!(self.phase, Phase::Stopping | Phase::Refused) {
            return ctx.out.push(Effect::Exit);
        }
        self.before = self.zk.client().session();
        let settings = self.settings.clone();
        self.controller.expired(&mut controller_io(ctx, self.id, self.before, &settings));
        self.writers.clear();
        self.configured.clear();
        self.replicas.session_lost(&settings);
        self.boot = Boot::new_session(self.settings.release);
        self.zk = Session::new(self.zk_settings.client());
        self.zk.start(ctx.now, ctx.rng);
        self.phase = Phase::Connecting;
    }

    fn done(&mut self, ctx: &mut Ctx<'_>, what: Pending, result: Result<Reply, Failure>) {
        let error = result.as_ref().err().map(|failure| failure.error);
        if let Pending::Close = what {
            return ctx.out.push(Effect::Exit);
        }
        if error == Some(Error::SessionExpired) {
            return;
        }
        if error == Some(Error::ConnectionLoss) {
            return self.again(ctx, what);
        }
        match what {
            Pending::Thread { thread, batch, slot } => {
                if let Some(fiber) = self.fiber(thread) {
                    fiber.answer(batch, slot, result);
                }
            }
            Pending::Isr { tp, isr } => {
                let written = result.is_ok();
                self.replicas.isr_written(ctx, self.id, &self.settings, &tp, isr, result);
                if written {
                    self.isr_changed(ctx, &[tp]);
                }
            }
            Pending::ConfigChanges => self.changes_listed(ctx, result),
            Pending::ConfigChange { name } => self.change_read(ctx, &name, result),
            Pending::TopicConfig { topic } => {
                self.topic_read(ctx, topic, result);
            }
            Pending::LogConfig { topic } => {
                let min_insync = match result {
                    Ok(Reply::Data { data, .. }) => registry::min_insync(&data),
                    _ => None,
                };
                self.logs.topic_min_insync.insert(topic, min_insync);
                self.hear_unread(ctx);
            }
            Pending::IsrNotice | Pending::Purge | Pending::Close => {}
        }
    }

    /// The connection went with the request unanswered: it is asked again. [spec zookeeper.md S7]
    fn again(&mut self, ctx: &mut Ctx<'_>, what: Pending) {
        if matches!(self.phase, Phase::Stopping | Phase::Refused) {
            return;
        }
        match &what {
            Pending::Thread { thread, batch, slot } => {
                let asked = self.fiber(*thread).and_then(|fiber| fiber.asked(*batch, *slot));
                if let Some((op, watcher)) = asked {
                    self.zk.submit(ctx.now, op, watcher, what);
                }
            }
            Pending::Isr { tp, .. } => match self.settings.release.retries_until_connected() {
                true => self.replicas.write_again(tp),
                false => self.replicas.isr_lost(tp),
            },
            Pending::TopicConfig { topic } => self.read_topic(ctx, topic.clone()),
            Pending::ConfigChanges => self.list_changes(ctx),
            Pending::LogConfig { topic } => self.read_config(ctx, topic.clone()),
            _ => {}
        }
    }

    pub(super) fn list_changes(&mut self, ctx: &Ctx<'_>) {
        if !self.settings.release.pipelines() {
            let op = Op::Exists { path: registry::CONFIG_CHANGES.into(), watch: true };
            self.zk.submit(ctx.now, op, Some(watcher::CONFIG_CHANGES), Pending::Purge);
        }
        let op = Op::GetChildren { path: registry::CONFIG_CHANGES.into(), watch: true };
        self.zk.submit(ctx.now, op, Some(watcher::CONFIG_CHANGES), Pending::ConfigChanges);
    }

    /// Every broker applies the changes it has not seen yet and removes old notices.
    fn changes_listed(&mut self, ctx: &Ctx<'_>, result: Result<Reply, Failure>) {
        let Ok(Reply::Children { children, .. }) = result else { return };
        for name in children {
            let path = format!("{}/{name}", registry::CONFIG_CHANGES).into();
            let op = Op::GetData { path, watch: false };
            self.zk.submit(ctx.now, op, None, Pending::ConfigChange { name });
        }
    }

    fn change_read(&mut self, ctx: &Ctx<'_>, name: &Arc<str>, result: Result<Reply, Failure>) {
        let Ok(Reply::Data { data, stat }) = result else { return };
        if ctx.wall_ms - stat.ctime > OLD_NOTICE_MS {
            let path = format!("{}/{name}", registry::CONFIG_CHANGES).into();
            self.zk.submit(ctx.now, Op::Delete { path, version: -1 }, None, Pending::Purge);
        }
        if self.seen_change.as_ref().is_some_and(|seen| seen >= name) {
            return;
        }
        self.seen_change = Some(name.clone());
        let changed = registry::changed_topic(&data);
        let elects = self.settings.release.elects_on_unclean_config();
        if let Some(topic) = changed
            && (elects || self.logs.topic_min_insync.contains_key(&topic))
        {
            self.read_topic(ctx, topic);
        }
    }

    fn watch_fired(&mut self, ctx: &mut Ctx<'_>, watcher: WatcherId, path: &Path, kind: EventType) {
        match watcher {
            watcher::CONFIG_CHANGES => self.list_changes(ctx),
            #[cfg(feature = "mutations")]
            watcher::CONTROLLER if self.controller.keeps_office() => {}
            // Later clients hear of its creation alone, and look again at no other change.
            watcher::REASSIGN
                if self.settings.release.pipelines() && kind != EventType::NodeCreated => {}
            _ => self.controller.watch_fired(watcher, path),
        }
    }

    fn timer(&mut self, ctx: &mut Ctx<'_>, timer: Timer) {
        match timer {
            Timer::Rebalance(epoch) => {
                if self.controller.active && self.controller.epoch == epoch {
                    self.controller.event(Event::Rebalance);
                }
            }
            Timer::Shutdown(tries) => {
                if self.phase == Phase::Stopping && tries == self.shutdown_tries {
                    self.ask_shutdown(ctx);
                }
            }
            Timer::Register => self.boot.wake(),
            Timer::Deleted => {
                while self.deleted.front().is_some_and(|(at, ..)| *at <= ctx.now) {
                    if let Some((_, to, partitions)) = self.deleted.pop_front() {
                        send(ctx, to, Msg::Deleted { partitions });
                    }
                }
            }
            Timer::Log(_) => self.logs.timer(ctx, self.id, timer, &self.replicas),
            Timer::Unstuck => self.unstuck(ctx),
            _ => {
                let by_messages = self.settings.release.shrinks_by_messages();
                let slow = match timer == Timer::Lag && by_messages {
                    true => self.logs.slow(self.settings.replica_lag_messages),
                    false => Default::default(),
                };
                if timer == Timer::Lag {
                    let late = self.logs.out_of_sync(ctx, self.id, &self.replicas);
                    self.replicas.shrink(ctx, &self.settings, late);
                }
                let known = (&*self.settings, &self.logs);
                self.replicas.timer(ctx, self.id, known, timer, &slow);
            }
        }
    }

    /// What follows from new ISRs: the high watermark may move, and who fetches may join.
    fn isr_changed(&mut self, ctx: &mut Ctx<'_>, changed: &[TopicPartition]) {
        self.logs.isr_changed(ctx, self.id, &self.replicas);
        for tp in changed {
            let who = self.logs.may_rejoin(tp, &self.replicas);
            self.replicas.rejoin(ctx, self.id, &self.settings, tp, &who);
        }
    }

    /// What the topics say of their logs is read when a broker first has a replica of theirs.
    fn read_configs(&mut self, ctx: &Ctx<'_>, tps: &[TopicPartition]) {
        if !self.settings.release.keeps_leader_epochs() {
            return;
        }
        for tp in tps {
            if self.configured.insert(tp.topic.clone()) {
                self.read_config(ctx, tp.topic.clone());
            }
        }
    }

    pub(super) fn read_config(&mut self, ctx: &Ctx<'_>, topic: Arc<str>) {
        let op = Op::GetData { path: registry::topic_config(&topic), watch: false };
        self.zk.submit(ctx.now, op, None, Pending::LogConfig { topic });
    }

    fn stop(&mut self, ctx: &mut Ctx<'_>) {
        let running = self.phase == Phase::Running;
        if self.phase == Phase::Stopping {
            return;
        }
        self.phase = Phase::Stopping;
        self.replicas.stopping = true;
        if running && self.settings.controlled_shutdown {
            self.ask_shutdown(ctx);
        } else {
            self.leave(ctx);
        }
    }

    /// Asks the controller to move its leaders away; after the last try it goes anyway. [§6]
    fn ask_shutdown(&mut self, ctx: &mut Ctx<'_>) {
        if self.shutdown_tries >= self.settings.shutdown_retries.max(1) {
            return self.leave(ctx);
        }
        self.shutdown_tries += 1;
        let backoff = Span::from_millis(u64::from(self.settings.shutdown_backoff_ms));
        let timer = Timer::Shutdown(self.shutdown_tries);
        ctx.out.push(Effect::Arm { timer, at: ctx.now + backoff });
        if let Some(to) = self.controller.known {
            send(ctx, to, Msg::ControlledShutdown { epoch: self.epoch });
        }
    }

    /// Whoever is controller gives its office up before the session is closed.
    fn leave(&mut self, ctx: &mut Ctx<'_>) {
        let (settings, session) = (self.settings.clone(), self.zk.client().session());
        self.controller.stopped(&mut controller_io(ctx, self.id, session, &settings));
        self.leaving = true;
        self.logs.checkpoint();
        self.zk.close(ctx.now, Pending::Close);
    }

    pub(super) fn refused(&mut self, ctx: &mut Ctx<'_>, holder: Option<Arc<str>>) {
        self.phase = Phase::Refused;
        let (broker, host) = (self.id, self.host.clone());
        ctx.out.push(Effect::Note(Note::IdTaken { broker, host, holder }));
        self.zk.close(ctx.now, Pending::Close);
    }

    fn hear(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: Msg) {
        let order = matches!(
            msg,
            Msg::LeaderAndIsr { .. } | Msg::UpdateMetadata { .. } | Msg::StopReplica { .. }
        );
        if order && self.stuck.is_some() {
            return self.held.push_back((from, msg));
        }
        match msg {
            Msg::LeaderAndIsr { from, live, orders } if self.obeys(ctx, &from) => {
                let waits = self.settings.release.waits_for_last_fetch() && !ctx.frozen.is_empty();
                let before = waits.then(|| self.replicas.sources(self.id));
                let taken = self.replicas.take_orders(ctx, self.id, &live, &orders);
                self.read_configs(ctx, &taken);
                self.logs.ordered(ctx, self.id, &taken, &self.replicas);
                self.end_fetchers(ctx, before.unwrap_or_default());
            }
            Msg::UpdateMetadata { from, live, partitions } if self.obeys(ctx, &from) => {
                self.replicas.hear_who_lives(ctx, &live);
                self.metadata.update(live, partitions);
            }
            Msg::StopReplica { from: sender, delete, partitions } if self.obeys(ctx, &sender) => {
                self.replicas.stop(ctx, self.id, &partitions, delete);
                if delete {
                    self.logs.ordered(ctx, self.id, &partitions, &self.replicas);
                    let at = ctx.now + DELETION;
                    self.deleted.push_back((at, from, partitions));
                    ctx.out.push(Effect::Arm { timer: Timer::Deleted, at });
                }
            }
            Msg::Deleted { partitions } => {
                self.controller.event(Event::Deleted { from, partitions });
            }
            Msg::Fetch { partitions } => {
                let logs = &mut self.logs;
                let fine = logs.follower_comes(ctx, self.id, from, &partitions, &self.replicas);
                self.replicas.serve(ctx, (self.id, from), &self.settings, &fine);
            }
            Msg::Fetched { partitions } => {
                self.replicas.fetched(ctx, self.id, from, &partitions);
            }
            Msg::NotLeader { partitions } => self.replicas.not_leader(ctx, from, &partitions),
            Msg::Probe if !self.replicas.stopping => send(ctx, from, Msg::Alive),
            Msg::Alive => self.lives(ctx, from),
            Msg::AlterIsr { epoch, changes } => {
                self.controller.event(Event::AlterIsr { from, epoch, changes });
            }
            Msg::IsrAltered { answers } => {
                let changed = self.replicas.altered(ctx, self.id, answers);
                self.isr_changed(ctx, &changed);
            }
            Msg::ControlledShutdown { epoch } => {
                self.controller.event(Event::Shutdown { from, epoch });
            }
            Msg::ShutDown { left: Ok(0) } if self.phase == Phase::Stopping => self.leave(ctx),
            Msg::WhoIsController => {
                send(ctx, from, Msg::Controller { id: self.controller.known });
            }
            Msg::Ask { task } => self.asked(ctx, from, task),
            _ => {}
        }
    }

    /// A sign of life: its fetches come again.
    fn lives(&mut self, ctx: &mut Ctx<'_>, from: u32) {
        let back = self.replicas.back(from, ctx.now);
        let fine = self.logs.has_all(from, back);
        if !fine.is_empty() {
            self.replicas.serve(ctx, (self.id, from), &self.settings, &fine);
        }
        if self.settings.release.keeps_leader_epochs() {
            self.logs.follower_wakes(ctx, (self.id, from), &self.replicas);
        }
        if self.stuck.is_some_and(|(peer, _)| peer == from) {
            self.stuck = None;
            self.unstuck(ctx);
        }
    }

    /// The threads end that fetched from brokers of which nothing is fetched any more. Of one that
    /// stands still the answer is waited for, twice as long as a socket's patience. [F6]
    fn end_fetchers(&mut self, ctx: &mut Ctx<'_>, before: BTreeSet<u32>) {
        let now = self.replicas.sources(self.id);
        let gone = before.difference(&now);
        let frozen = gone.filter_map(|id| Some((*id, *ctx.frozen.get(id)? + LAST_ANSWER)));
        let Some((peer, until)) = frozen.max_by_key(|(_, until)| *until) else { return };
        if until > ctx.now {
            self.stuck = Some((peer, until));
            send(ctx, peer, Msg::Probe);
            let broker = self.id;
            ctx.out.push(Effect::Note(Note::WaitsForFetch { broker, peer }));
            ctx.out.push(Effect::Arm { timer: Timer::Unstuck, at: until });
        }
    }

    /// Obeys the controller again, in the order in which it spoke.
    fn unstuck(&mut self, ctx: &mut Ctx<'_>) {
        if self.stuck.is_some_and(|(_, until)| until > ctx.now) {
            return;
        }
        self.stuck = None;
        while self.stuck.is_none()
            && let Some((from, msg)) = self.held.pop_front()
        {
            self.hear(ctx, from, msg);
        }
    }

    /// A broker never follows a controller of a lower epoch than it has heard of, nor one that
    /// means a former life of this broker. [C5]
    fn obeys(&mut self, ctx: &mut Ctx<'_>, from: &super::msg::From) -> bool {
        let (broker, known) = (self.id, self.controller_epoch);
        let epoch = from.controller_epoch;
        #[cfg(feature = "mutations")]
        if self.controller.mutation == Some(crate::kafka::broker::Mutation::ObeysAnyEpoch) {
            ctx.out.push(Effect::Note(Note::StaleController { broker, epoch, known }));
            self.controller_epoch = epoch;
            return true;
        }
        if epoch < known {
            ctx.out.push(Effect::Note(Note::StaleController { broker, epoch, known }));
            return false;
        }
        if from.broker_epoch.is_some_and(|meant| meant < self.epoch) {
            return false;
        }
        if self.known_controller != Some(from.controller) || epoch > known {
            self.replicas.new_controller();
        }
        self.controller_epoch = epoch;
        self.known_controller = Some(from.controller);
        true
    }

    /// A tool's request.
    fn asked(&mut self, ctx: &mut Ctx<'_>, from: u32, task: Arc<Task>) {
        let office = self.controller.active;
        match &*task {
            Task::Create { .. } | Task::AddPartitions { .. } | Task::Delete { .. } if !office => {
                send(ctx, from, Msg::NotController);
            }
            Task::ElectPreferred { partitions } => {
                let (partitions, answer) = (partitions.clone(), Some((from, task)));
                self.controller.event(Event::Preferred { partitions, answer });
            }
            Task::Metadata { topic, placed, .. } => {
                let made = self.auto_create(topic, placed.clone());
                let answer = Msg::Answer { task: task.clone(), result: Ok(()) };
                send(ctx, from, answer);
                if !self.settings.auto_create_topics {
                    return;
                }
                match (self.settings.release.tools_ask_brokers() && !office, self.controller.known)
                {
                    (true, Some(to)) => send(ctx, to, Msg::Ask { task: made }),
                    _ => self.writers.push_back(Writer::new(made, None)),
                }
            }
            Task::Reassign { .. } | Task::CancelReassign { .. } | Task::VerifyReassign { .. } => {
                self.controller.event(Event::ReassignAsked { from, task });
            }
            Task::List => send(ctx, from, Msg::Answer { task, result: Ok(()) }),
            _ => {
                let answer_to = (from >= TOOLS).then_some(from);
                self.writers.push_back(Writer::new(task, answer_to));
            }
        }
    }

    pub(super) fn auto_create(&self, topic: &Arc<str>, placed: Option<Vec<Vec<u32>>>) -> Arc<Task> {
        let (partitions, replication) =
            (self.settings.num_partitions, self.settings.default_replication);
        let layout = match placed {
            Some(placed) => Layout::Assignment(placed),
            None => Layout::Counts { partitions, replication },
        };
        Arc::new(Task::Create { topic: topic.clone(), layout, configs: Vec::new() })
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.id));
        digest.u64(self.phase as u64);
        digest.i64(i64::from(self.controller_epoch));
        digest.i64(self.epoch);
        self.controller.digest(digest);
        self.replicas.digest(digest);
        self.logs.digest(digest);
        self.zk.client().digest(digest);
    }
}

pub(super) fn send(ctx: &mut Ctx<'_>, to: u32, msg: Msg) {
    ctx.out.push(Effect::Peer { to, msg: AnyMsg::Real(Box::new(msg)) });
}

fn controller_io<'a>(
    ctx: &'a mut Ctx<'_>,
    me: u32,
    session: SessionId,
    settings: &'a Settings,
) -> ControllerIo<'a> {
    let (now, wall_ms) = (ctx.now, ctx.wall_ms);
    ControllerIo { now, wall_ms, me, session, settings, rng: ctx.rng, out: ctx.out }
}
