//! A consumer process that coordinates with its group through ZooKeeper: it registers, watches,
//! rebalances, fetches and commits. [spec consumer-zk.md, product.md T9 to T14]
//!
//! The textbook's rules and those of 0.8 are one machine with a few switches, [`Rules`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::event::{Event, Note, Trigger};
use super::fetch::Fetcher;
use super::nodes;
use super::rebalance::Rebalance;
use super::spec::{ConsumerSpec, Options, Wanted};
use super::task::{Step, Task, Thread};
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::{self, Ctx, Effect, Input};
use crate::kafka::data::{self, Offset};
use crate::kafka::event::Event as AnyEvent;
use crate::kafka::msg::{Msg, TopicPartition};
use crate::kafka::paths;
use crate::zk::client::{KeeperState, WatcherId};
use crate::zk::hold::{Heard, Session, ZkSettings};
use crate::zk::op::{Error, EventType, Failure, Op, Path, Reply};

/// `zookeeper.session.timeout.ms` of a consumer, unless set.
const SESSION_TIMEOUT_MS: i32 = 6_000;

/// The client's own watcher object: the library above it knows who wants to hear what.
const WATCHER: WatcherId = WatcherId(1);

/// Whose rules it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// [product.md T9 to T14]
    Textbook,
    /// [spec consumer-zk.md]
    V08,
}

impl Rules {
    /// Brokers that come and go rebalance the group. [product.md T10; spec consumer-zk.md G7]
    pub const fn watches_brokers(self) -> bool {
        matches!(self, Rules::Textbook)
    }

    /// It gives up after `rebalance.max.retries` tries. [spec consumer-zk.md, syncedRebalance]
    pub const fn gives_up(self) -> bool {
        matches!(self, Rules::V08)
    }

    /// A partition belongs to a stream's thread, not to the consumer. [product.md T12]
    pub const fn owns_by_thread(self) -> bool {
        matches!(self, Rules::V08)
    }

    /// `shutdown` waits for a rebalance that is under way, with all its tries.
    pub const fn stops_after_rebalance(self) -> bool {
        matches!(self, Rules::V08)
    }
}

/// What the consumer's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    Commit,
    /// Until the next try to rebalance or register.
    Backoff,
    /// The application is done with what it had.
    Processed,
    /// Look for leaders again.
    Leaders,
}

/// Where it is in its life and in a rebalance, for those who look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Connecting,
    Registering,
    /// Its old registration is still there.
    WaitingForOldSession,
    /// Between rebalances.
    Fetching,
    Releasing,
    Assigning,
    Claiming,
    /// A try failed; the next one follows.
    BackingOff,
    /// It gave up, but stays registered. [spec consumer-zk.md B2]
    GaveUp,
    Closing,
}

/// A partition that it owns, by its own belief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub stream: u32,
    /// The next offset to fetch.
    pub fetched: Offset,
    /// The next offset that the application gets.
    pub position: Offset,
    /// What it last committed.
    pub committed: Option<Offset>,
    pub leader: Option<u32>,
    /// It knows where to read: `fetched` and `position` mean something.
    pub positioned: bool,
    /// The broker of its first replica, by which the textbook calls it. [product.md T12]
    pub home: u32,
}

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Thread { thread: Thread, batch: u32, slot: u32 },
    Close,
}

/// What the client library tells its listeners, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    NewSession,
    /// The watcher of topics hears of a new session too.
    TopicsAgain,
    Ids,
    Brokers,
    Topics,
    Topic(Arc<str>),
}

/// Whose changes it wants to hear: what the library sets watches for.
#[derive(Clone, Debug, Default)]
pub(super) struct Listens {
    pub ids: bool,
    pub brokers: bool,
    pub topics: bool,
    pub topic: BTreeSet<Arc<str>>,
}

#[derive(Clone)]
pub struct Connector {
    pub name: Arc<str>,
    /// `<group>_<name>` [spec consumer-zk.md R1]; in the textbook the name and a random part.
    pub id: Arc<str>,
    pub rules: Rules,
    pub spec: Arc<ConsumerSpec>,
    pub options: Options,
    pub phase: Phase,
    /// The try of the current rebalance, from 0.
    pub attempt: u32,
    pub owned: BTreeMap<TopicPartition, Owned>,
    /// When the next automatic commit is due.
    pub commit_at: Instant,
    /// The application has its streams and reads them. [spec consumer-zk.md B2]
    pub reading: bool,
    pub zk: Session<Pending>,
    zk_settings: ZkSettings,
    /// Requests can reach the server.
    connected: bool,
    pub(super) tasks: [Task; 6],
    /// Who rebalances or shuts down. [spec consumer-zk.md G5]
    pub(super) lock: Option<Thread>,
    pub(super) listens: Listens,
    told: VecDeque<Told>,
    /// The flag of the watcher's thread, and who first raised it.
    pub(super) flag: Option<Trigger>,
    pub(super) watcher_runs: bool,
    pub(super) stopping: bool,
    /// The topics that its pattern chose.
    pub(super) chosen: Vec<Arc<str>>,
    pub(super) rebalance: Rebalance,
    pub(super) fetcher: Fetcher,
    /// Live brokers, as last read.
    pub(super) brokers: Vec<u32>,
    /// Who keeps the group's offsets. [spec consumer-zk.md O3]
    pub(super) channel: Option<u32>,
    pub(super) next_request: u32,
    #[cfg(feature = "mutations")]
    pub mutation: Option<broker::Mutation>,
}

impl Connector {
    pub fn new(
        name: Arc<str>,
        rules: Rules,
        spec: Arc<ConsumerSpec>,
        mut zk: ZkSettings,
    ) -> Connector {
        let options = spec.options_by(rules);
        zk.session_timeout_ms = options.session_timeout_ms.unwrap_or(SESSION_TIMEOUT_MS);
        Connector {
            id: format!("{}_{name}", spec.group).into(),
            name,
            rules,
            spec,
            options,
            phase: Phase::Connecting,
            attempt: 0,
            owned: BTreeMap::new(),
            commit_at: Instant::NEVER,
            reading: false,
            zk: Session::new(zk.client()),
            zk_settings: zk,
            connected: false,
            tasks: Default::default(),
            lock: None,
            listens: Listens::default(),
            told: VecDeque::new(),
            flag: None,
            watcher_runs: false,
            stopping: false,
            chosen: Vec::new(),
            rebalance: Rebalance::default(),
            fetcher: Fetcher::default(),
            brokers: Vec::new(),
            channel: None,
            next_request: 0,
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }

    /// In the textbook every start has an id of its own, like `hostname:UUID`. [product.md T9]
    #[must_use]
    pub fn with_random_id(mut self, random: u32) -> Connector {
        self.id = format!("{}:{random:08x}", self.name).into();
        self
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => self.zk.start(ctx.now, ctx.rng),
            Input::Stop => self.stop(ctx),
            Input::Zk(input) => self.zk.input(ctx.now, ctx.rng, input),
            Input::Peer { from, msg: Msg::Data(msg) } => self.hear(ctx, from, *msg),
            Input::Peer { from, msg: Msg::Closed } => self.hung_up(ctx, from),
            Input::Timer(broker::Timer::Consumer(timer)) => self.timer(ctx, timer),
            Input::Peer { .. } | Input::Timer(_) => {}
        }
        self.pump(ctx);
    }

    /// Changes one of its [`Options`] while it runs.
    pub fn tune(&mut self, name: &str, value: &str) {
        _ = self.options.set(name, value);
    }

    /// `commitOffsets()`, called by the application.
    pub fn commit(&mut self, ctx: &mut Ctx<'_>) {
        if self.tasks[Thread::Commit as usize].is_idle() && !self.stopping {
            self.then(Thread::Commit, [Step::Commit]);
        }
        self.pump(ctx);
    }

    /// [spec consumer-zk.md, Start order]
    fn begin(&mut self) {
        self.phase = Phase::Registering;
        let mut steps = Vec::new();
        if self.options.offsets_in_kafka {
            steps.push(Step::FindChannel);
        }
        steps.push(Step::StartTimer);
        if self.is_filter() {
            steps.extend([Step::ListTopics, Step::TopicsListed]);
        }
        steps.extend([Step::Register, Step::Subscribe]);
        steps.extend([Step::Lock, Step::Sync(Trigger::Joined), Step::Unlock]);
        if self.is_filter() {
            steps.push(Step::WatchTopics);
        }
        steps.push(Step::Streams);
        self.then(Thread::App, steps);
    }

    /// [spec consumer-zk.md S1]
    fn stop(&mut self, ctx: &mut Ctx<'_>) {
        if self.stopping {
            return;
        }
        if self.phase == Phase::Connecting && self.tasks[Thread::App as usize].is_idle() {
            return ctx.out.push(Effect::Exit);
        }
        self.stopping = true;
        self.note(ctx, Event::Note(Note::ShuttingDown));
        if !self.rules.stops_after_rebalance() {
            for thread in [Thread::App, Thread::Events, Thread::Watcher] {
                self.task(thread).clear();
            }
            self.lock = None;
        }
        let mut steps = vec![Step::Lock, Step::StopFetching];
        if self.options.auto_commit {
            steps.push(Step::Commit);
        }
        steps.push(Step::Close);
        self.then(Thread::Stop, steps);
    }

    fn is_shut_down(&self, ctx: &mut Ctx<'_>) {
        self.note(ctx, Event::Note(Note::ShutDown));
        ctx.out.push(Effect::Exit);
    }

    pub(super) fn is_filter(&self) -> bool {
        !matches!(self.spec.wanted, Wanted::Topics(_))
    }

    pub(super) fn note(&self, ctx: &mut Ctx<'_>, event: Event) {
        ctx.out.push(Effect::Note(AnyEvent::Consumer(event)));
    }

    pub(super) fn task(&mut self, thread: Thread) -> &mut Task {
        &mut self.tasks[thread as usize]
    }

    pub(super) fn then(
        &mut self,
        thread: Thread,
        steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>,
    ) {
        self.task(thread).then(steps);
    }

    pub(super) fn arm(&self, ctx: &mut Ctx<'_>, timer: Timer, at: Instant) {
        ctx.out.push(Effect::Arm { timer: broker::Timer::Consumer(timer), at });
    }

    pub(super) fn sleep(&mut self, ctx: &mut Ctx<'_>, thread: Thread, span: Span) {
        let at = ctx.now + span;
        let task = self.task(thread);
        task.asleep = true;
        task.wake_at = at;
        self.arm(ctx, Timer::Backoff, at);
    }

    /// Sends a broker a request for whose answer the thread waits.
    pub(super) fn ask_peer(
        &mut self,
        ctx: &mut Ctx<'_>,
        thread: Thread,
        to: u32,
        patience: Span,
        msg: impl FnOnce(u32) -> data::Msg,
    ) {
        let id = self.number();
        let at = ctx.now + patience;
        let task = self.task(thread);
        task.peer = Some((id, to));
        task.heard = None;
        task.wake_at = at;
        self.arm(ctx, Timer::Backoff, at);
        send(ctx, to, msg(id));
    }

    pub(super) fn number(&mut self) -> u32 {
        self.next_request = self.next_request.wrapping_add(1);
        self.next_request
    }

    // --- Threads ---------------------------------------------------------------------------------

    /// Does all that ZooKeeper's client has to say, and lets the threads go on.
    fn pump(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            self.run(ctx);
            let Some(heard) = self.zk.next_heard() else { return };
            match heard {
                Heard::Io(io) => ctx.out.push(Effect::Zk(io)),
                Heard::State(state) => self.state(ctx, state),
                Heard::Event { path, kind, .. } => self.fired(&path, kind),
                Heard::Done { what: Pending::Close, .. } => self.is_shut_down(ctx),
                Heard::Done { what: Pending::Thread { thread, batch, slot }, result } => {
                    // What went with the connection is asked again in the next one.
                    if !is_lost(&result) {
                        self.task(thread).fiber.answer(batch, slot, result);
                    }
                }
            }
        }
    }

    fn run(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            self.feed();
            let mut moved = false;
            for thread in Thread::ALL {
                while let Some(step) = self.next_step(thread) {
                    self.do_step(ctx, thread, step);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        if !self.connected {
            return;
        }
        for thread in Thread::ALL {
            let fiber = &mut self.tasks[thread as usize].fiber;
            while let Some((slot, op, watcher)) = fiber.next_to_send(true) {
                let what = Pending::Thread { thread, batch: fiber.batch, slot };
                self.zk.submit(ctx.now, op, watcher, what);
            }
        }
    }

    fn next_step(&mut self, thread: Thread) -> Option<Step> {
        if self.tasks[thread as usize].waits() {
            return None;
        }
        if let Some(Step::Lock) = self.tasks[thread as usize].stack.last() {
            if self.lock.is_some() {
                return None;
            }
            self.lock = Some(thread);
            self.task(thread).stack.pop();
        }
        self.task(thread).stack.pop()
    }

    /// Gives threads that wait for work the next of it.
    fn feed(&mut self) {
        if self.tasks[Thread::Events as usize].is_idle()
            && let Some(told) = self.told.pop_front()
        {
            self.handle(told);
        }
        if self.watcher_runs
            && !self.stopping
            && self.tasks[Thread::Watcher as usize].is_idle()
            && let Some(trigger) = self.flag.take()
        {
            self.then(Thread::Watcher, [Step::Lock, Step::Sync(trigger), Step::Unlock]);
        }
    }

    fn do_step(&mut self, ctx: &mut Ctx<'_>, thread: Thread, step: Step) {
        match step {
            Step::Lock => {}
            Step::Unlock => self.lock = None,
            Step::Ignore => _ = self.task(thread).fiber.take(),
            Step::Create { .. } | Step::Created { .. } => self.create_step(thread, step),
            Step::Parents(_) | Step::ParentMade(_) => self.create_step(thread, step),
            Step::StartTimer
            | Step::ListTopics
            | Step::TopicsListed
            | Step::Register
            | Step::Registered(_)
            | Step::OldRead(_)
            | Step::TryRegister(_)
            | Step::Subscribe
            | Step::Subscribed
            | Step::WatchTopics
            | Step::Streams
            | Step::SessionIsNew
            | Step::Flag(_)
            | Step::TopicSeen(_)
            | Step::ReadTopics
            | Step::TopicsSeen => self.member_step(ctx, thread, step),
            Step::Commit
            | Step::CommitNext
            | Step::CommitSet
            | Step::CommitMade
            | Step::CommitAnswered
            | Step::FindChannel
            | Step::ChannelListed
            | Step::ChannelFound
            | Step::FetchOffsets => self.offsets_step(ctx, thread, step),
            Step::Look | Step::BrokersListed | Step::AskLeaders | Step::Leaders => {
                self.leaders_step(ctx, step);
            }
            Step::StopFetching => {
                self.phase = Phase::Closing;
                self.stop_fetching();
            }
            Step::Close => self.zk.close(ctx.now, Pending::Close),
            _ => self.rebalance_step(ctx, thread, step),
        }
    }

    /// Makes a node as ZkClient does: where a parent lacks, that one first, from below upwards,
    /// each refused one with a zxid of its own. [seen: recordings/0.8.2.2/consumer-range]
    fn create_step(&mut self, thread: Thread, step: Step) {
        let task = self.task(thread);
        match step {
            Step::Create { path, data, ephemeral, again } => {
                task.fiber.ask(create(&path, &data, ephemeral));
                task.then([Step::Created { path, data, ephemeral, again }]);
            }
            Step::Created { path, data, ephemeral, again } => {
                let result = task.fiber.one().unwrap_or(Ok(Reply::Done));
                task.made = result.map(|_| ()).map_err(|failure| failure.error);
                if task.made == Err(Error::NoNode) && !again {
                    let above = Step::Parents(nodes::parent(&path));
                    task.then([above, Step::Create { path, data, ephemeral, again: true }]);
                }
            }
            Step::Parents(path) => {
                task.fiber.ask(create(&path, &None, false));
                task.then([Step::ParentMade(path)]);
            }
            Step::ParentMade(path) => {
                let failed = task.fiber.one().and_then(Result::err);
                let missing = failed.is_some_and(|failure| failure.error == Error::NoNode);
                let above = nodes::parent(&path);
                if missing && !above.is_empty() {
                    task.then([Step::Parents(above), Step::Parents(path)]);
                }
            }
            _ => {}
        }
    }

    // --- ZooKeeper's client ----------------------------------------------------------------------

    /// Reads children, and listens on if somebody does. [spec consumer-zk.md, Start order]
    pub(super) fn ask_children(&mut self, thread: Thread, path: &str) {
        let listened = (self.listens.ids && *path == *nodes::ids(&self.spec.group))
            || (self.listens.brokers && *path == *paths::BROKER_IDS)
            || (self.listens.topics && *path == *paths::TOPICS);
        let op = Op::GetChildren { path: path.into(), watch: listened };
        self.ask(thread, op, listened);
    }

    pub(super) fn ask_topic(&mut self, thread: Thread, topic: &Arc<str>) {
        let listened = self.listens.topic.contains(topic);
        let op = Op::GetData { path: paths::topic(topic), watch: listened };
        self.ask(thread, op, listened);
    }

    pub(super) fn ask_exists(&mut self, thread: Thread, path: Path) {
        self.ask(thread, Op::Exists { path, watch: true }, true);
    }

    fn ask(&mut self, thread: Thread, op: Op, listened: bool) {
        let fiber = &mut self.task(thread).fiber;
        if listened {
            fiber.watch(op, WATCHER);
        } else {
            fiber.ask(op);
        }
    }

    fn state(&mut self, ctx: &mut Ctx<'_>, state: KeeperState) {
        match state {
            KeeperState::SyncConnected => {
                self.connected = true;
                for task in &mut self.tasks {
                    task.fiber.resend();
                }
                if self.phase == Phase::Connecting && self.tasks[Thread::App as usize].is_idle() {
                    self.begin();
                }
            }
            KeeperState::Disconnected => self.connected = false,
            KeeperState::Expired => self.expired(ctx),
            KeeperState::AuthFailed | KeeperState::Closed => {}
        }
    }

    /// A new session; every listener hears of it, and that all might have changed. [spec
    /// consumer-zk.md G3]
    fn expired(&mut self, ctx: &mut Ctx<'_>) {
        self.connected = false;
        // What it had asked for last was the end of the session.
        if self.stopping && self.tasks[Thread::Stop as usize].is_idle() {
            return self.is_shut_down(ctx);
        }
        self.zk = Session::new(self.zk_settings.client());
        self.zk.start(ctx.now, ctx.rng);
        if self.phase == Phase::Connecting {
            return;
        }
        self.told.push_back(Told::NewSession);
        if self.listens.topics {
            self.told.push_back(Told::TopicsAgain);
        }
        let listens = &self.listens;
        let children = [
            (listens.ids, Told::Ids),
            (listens.brokers, Told::Brokers),
            (listens.topics, Told::Topics),
        ];
        let children = children.into_iter().filter(|(listens, _)| *listens).map(|(_, told)| told);
        self.told.extend(children);
        self.told.extend(listens.topic.iter().cloned().map(Told::Topic));
    }

    fn fired(&mut self, path: &Path, kind: EventType) {
        let told = if **path == *nodes::ids(&self.spec.group) && self.listens.ids {
            Told::Ids
        } else if **path == *paths::BROKER_IDS && self.listens.brokers {
            Told::Brokers
        } else if **path == *paths::TOPICS && self.listens.topics {
            Told::Topics
        } else {
            let topic = path.strip_prefix(paths::TOPICS).and_then(|rest| rest.strip_prefix('/'));
            match topic.and_then(|topic| self.listens.topic.get(topic)) {
                Some(topic) if kind != EventType::NodeChildrenChanged => Told::Topic(topic.clone()),
                _ => return,
            }
        };
        if matches!(told, Told::Topic(_)) || kind != EventType::NodeDataChanged {
            self.told.push_back(told);
        }
    }

    /// The library sets its watches anew before it tells the listener.
    fn handle(&mut self, told: Told) {
        let thread = Thread::Events;
        match told {
            Told::NewSession => self.then(
                thread,
                [
                    Step::SessionIsNew,
                    Step::Register,
                    Step::Lock,
                    Step::Sync(Trigger::NewSession),
                    Step::Unlock,
                ],
            ),
            Told::Ids => {
                self.look_at(nodes::ids(&self.spec.group));
                self.then(thread, [Step::Flag(Trigger::Members)]);
            }
            Told::Brokers => {
                self.look_at(paths::BROKER_IDS.into());
                self.then(thread, [Step::Flag(Trigger::Brokers)]);
            }
            Told::TopicsAgain => {
                self.look_at(paths::TOPICS.into());
                self.then(thread, [Step::Ignore]);
            }
            Told::Topics => {
                self.look_at(paths::TOPICS.into());
                self.then(thread, [Step::ReadTopics, Step::TopicsSeen]);
            }
            Told::Topic(topic) => {
                self.ask_exists(thread, paths::topic(&topic));
                self.ask_topic(thread, &topic);
                self.then(thread, [Step::TopicSeen(topic)]);
            }
        }
    }

    fn look_at(&mut self, path: Path) {
        self.ask_children_again(Thread::Events, path);
    }

    /// Sets both watches on a node whose children count.
    pub(super) fn ask_children_again(&mut self, thread: Thread, path: Path) {
        self.ask_exists(thread, path.clone());
        self.ask(thread, Op::GetChildren { path, watch: true }, true);
    }

    // --- Brokers and time ------------------------------------------------------------------------

    fn hear(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: data::Msg) {
        if let Some(id) = answers(&msg) {
            let waits = |task: &&mut Task| task.peer == Some((id, from));
            if let Some(task) = self.tasks.iter_mut().find(waits) {
                task.peer = None;
                task.wake_at = Instant::NEVER;
                task.heard = Some(msg);
                return;
            }
        }
        self.fetch_answered(ctx, from, msg);
    }

    fn timer(&mut self, ctx: &mut Ctx<'_>, timer: Timer) {
        match timer {
            Timer::Commit if ctx.now >= self.commit_at => {
                self.commit_at = ctx.now + self.commit_every();
                self.arm(ctx, Timer::Commit, self.commit_at);
                if self.tasks[Thread::Commit as usize].is_idle() && !self.stopping {
                    self.then(Thread::Commit, [Step::Commit]);
                }
            }
            Timer::Commit => {}
            Timer::Backoff | Timer::Leaders => {
                for task in &mut self.tasks {
                    task.wake(ctx.now);
                }
            }
            Timer::Processed => self.process(ctx),
        }
    }

    pub(super) fn commit_every(&self) -> Span {
        Span::from_millis(u64::from(self.options.commit_interval_ms))
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.text(&self.id);
        digest.u64(self.phase as u64);
        digest.u64(u64::from(self.attempt));
        digest.u64(u64::from(self.reading) << 1 | u64::from(self.stopping));
        digest.u64(self.commit_at.0);
        for (tp, owned) in &self.owned {
            digest.text(&tp.topic);
            digest.u64(u64::from(tp.partition));
            digest.u64(owned.position);
            digest.u64(owned.fetched);
            digest.u64(owned.committed.map_or(0, |offset| offset + 1));
        }
        for task in &self.tasks {
            digest.u64(task.stack.len() as u64);
            digest.u64(task.wake_at.0);
            digest.u64(u64::from(task.fiber.batch));
        }
        digest.u64(self.told.len() as u64);
        self.fetcher.digest(digest);
        self.zk.client().digest(digest);
    }
}

fn is_lost(result: &Result<Reply, Failure>) -> bool {
    let error = result.as_ref().err().map(|failure| failure.error);
    matches!(error, Some(Error::ConnectionLoss | Error::SessionExpired))
}

fn create(path: &Path, data: &crate::zk::op::Data, ephemeral: bool) -> Op {
    use crate::zk::op::{CreateMode, open_acl};
    let mode = if ephemeral { CreateMode::Ephemeral } else { CreateMode::Persistent };
    Op::Create { path: path.clone(), data: data.clone(), acl: open_acl(), mode, ttl_ms: 0 }
}

pub(super) fn send(ctx: &mut Ctx<'_>, to: u32, msg: data::Msg) {
    ctx.out.push(Effect::Peer { to, msg: Msg::Data(Box::new(msg)) });
}

/// The number of the request that a message answers, of those a thread may wait for.
fn answers(msg: &data::Msg) -> Option<u32> {
    match msg {
        data::Msg::MetadataAnswer { id, .. }
        | data::Msg::Coordinator { id, .. }
        | data::Msg::OffsetCommitAnswer { id, .. }
        | data::Msg::OffsetFetchAnswer { id, .. } => Some(*id),
        _ => None,
    }
}
