//! The world: one ZooKeeper server, the processes around it, the links between them, and the one
//! queue of what is to come. One step takes one event out and does all that follows from it.

pub mod clients;
pub mod command;
mod commands;
pub mod config;
pub mod event;
pub mod item;
pub mod log;
mod network;
pub mod proc;
mod retell;
mod rolling;

pub use commands::{check_name, usual_host};

use std::collections::BTreeMap;
use std::sync::Arc;

pub use command::{Command, Refusal, Who};
pub use config::{Config, Profile};
pub use event::{Event, Row, ZkEvent};
use item::{Item, What};
use proc::{Kind, Node, Proc, State, ZOOKEEPER};

use crate::base::{Digest, Instant, Rng, Span};
use crate::kafka::broker::{Ctx, Effect};
use crate::kafka::real::msg::TOOLS;
use crate::sim::{Class, Links, Queue, RowId};
use crate::zk::op::{ConnId, Path, SessionId, Zxid};
use crate::zk::server::{Server, ServerOut};
use crate::zk::tree::NodeKind;

/// How often the server looks for containers. [spec zookeeper.md Z6]
const SWEEP_EVERY: Span = Span::from_secs(60);

/// A command and its moment.
pub type Timed = (Instant, Arc<Command>);

/// A TCP connection to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conn {
    pub proc: u16,
    pub life: u32,
    /// The server has accepted it and not closed it.
    pub open_at_server: bool,
}

/// What a client could see in a step, for those who check from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A frame reached a client.
    Frame { proc: u16, session: SessionId, frame: crate::zk::op::ToClient },
    /// Paths of nodes that one transaction of several parts made or set.
    Wrote { proc: u16, paths: Vec<Path> },
    /// A request left for the server.
    Asked { proc: u16, session: SessionId, frame: crate::zk::op::ToServer },
}

#[derive(Clone)]
pub struct World {
    pub config: Config,
    pub now: Instant,
    /// How many events were taken out.
    pub event_no: u64,
    /// How many commands of the run were done.
    pub commands_done: u32,
    /// When something last changed that a person would call a change.
    pub last_change: Instant,
    pub server: Server,
    pub server_up: bool,
    pub procs: Vec<Proc>,
    pub conns: BTreeMap<ConnId, Conn>,
    /// Which process a session belongs to, gone ones too.
    pub owners: BTreeMap<SessionId, u16>,
    pub links: Links,
    /// The tree, the sessions or a controller changed in this step.
    pub touched: bool,
    /// What clients saw in this step.
    pub facts: Vec<Fact>,
    /// The server's log, for those who asked for it. Decides nothing.
    pub log: Option<log::Log>,
    /// This step delivered a message or did a command.
    pub delivered: bool,
    rng: Rng,
    queue: Queue<Item>,
    /// What TCP keeps until a cut link heals, in the order it was sent.
    parked: Vec<(u16, u16, Item)>,
    rolling: Option<rolling::Rolling>,
    /// Brokers that stand still, and since when.
    frozen: BTreeMap<u32, Instant>,
    expiry_at: Instant,
    next_conn: u32,
    next_row: u32,
}

/// Where rows go while a step is done, and what causes the next one.
pub struct Emit<'a> {
    rows: &'a mut Vec<Row>,
    pub cause: RowId,
}

impl World {
    pub fn new(config: Config, seed: u64) -> World {
        let server = Server::new(network::server_config(&config));
        let mut zookeeper = Proc::new(Kind::ZooKeeper);
        zookeeper.state = State::Up;
        let mut world = World {
            links: Links::new(config.latency, config.jitter),
            config,
            now: Instant::ZERO,
            event_no: 0,
            commands_done: 0,
            last_change: Instant::ZERO,
            server,
            server_up: true,
            procs: vec![zookeeper],
            conns: BTreeMap::new(),
            owners: BTreeMap::new(),
            touched: false,
            facts: Vec::new(),
            log: None,
            delivered: false,
            rng: Rng::new(seed),
            queue: Queue::default(),
            parked: Vec::new(),
            rolling: None,
            frozen: BTreeMap::new(),
            expiry_at: Instant::NEVER,
            next_conn: 1,
            next_row: 0,
        };
        world.schedule(Instant::ZERO + SWEEP_EVERY, Class::Timer, RowId::NONE, What::Sweep);
        world
    }

    /// When the next event happens, if the commands are `commands`.
    pub fn next_at(&self, commands: &[Timed]) -> Option<Instant> {
        let command = commands.get(self.commands_done as usize).map(|(at, _)| *at);
        [command, self.queue.next_at()].into_iter().flatten().min()
    }

    /// Takes the next event out and does it. False if nothing is to come.
    pub fn step(&mut self, commands: &[Timed], rows: &mut Vec<Row>) -> bool {
        self.touched = false;
        self.facts.clear();
        let queued = self.queue.next_at();
        let command = commands.get(self.commands_done as usize);
        let mut emit = Emit { rows, cause: RowId::NONE };
        if let Some((at, command)) = command
            && queued.is_none_or(|queued| *at <= queued)
        {
            self.now = self.now.max(*at);
            self.event_no += 1;
            self.commands_done += 1;
            self.delivered = true;
            self.command(&mut emit, command);
            self.rearm_server();
            return true;
        }
        let Some(popped) = self.queue.pop() else { return false };
        self.now = popped.at;
        self.event_no += 1;
        self.delivered = popped.class == Class::Delivery;
        emit.cause = popped.payload.cause;
        self.handle(&mut emit, popped.payload);
        true
    }

    /// Moves on to `at`, before which nothing happens.
    pub fn idle_until(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    fn schedule(&mut self, at: Instant, class: Class, cause: RowId, what: What) {
        let item = Item { cause, sent_at: self.now, what };
        self.queue.push(at, class, item);
    }

    /// Appends a row; from here on it is what causes things.
    fn emit(&mut self, emit: &mut Emit<'_>, proc: u16, detail: bool, event: Event) {
        let id = RowId(self.next_row);
        self.next_row += 1;
        let (at, event_no, cause) = (self.now, self.event_no, emit.cause);
        emit.rows.push(Row { at, event_no, cause, proc, detail, event });
        emit.cause = id;
    }

    fn changed(&mut self) {
        self.touched = true;
        self.last_change = self.now;
    }

    fn handle(&mut self, emit: &mut Emit<'_>, item: Item) {
        if let Some(receiver) = item.what.receiver().or_else(|| self.client_of(&item.what)) {
            let proc = &mut self.procs[usize::from(receiver)];
            if let State::Paused { .. } = proc.state {
                proc.backlog.push(item);
                return;
            }
        }
        match item.what {
            What::Boot { proc, life } => self.boot(emit, proc, life),
            What::Resume { proc, life } => self.resume(emit, proc, life),
            What::ToServer { conn, up } => self.arrive_at_server(emit, conn, up),
            What::ToClient { conn, down } => self.arrive_at_client(emit, conn, down),
            What::Peer { from_id, to, to_life, msg, .. } => {
                if self.is_alive(to, to_life) {
                    self.broker_step(
                        emit,
                        to,
                        crate::kafka::broker::Input::Peer { from: from_id, msg },
                    );
                }
            }
            What::ClientTimer { proc, life } => self.client_timer(emit, proc, life),
            What::BrokerTimer { proc, life, timer } => {
                if self.is_alive(proc, life) {
                    self.broker_step(emit, proc, crate::kafka::broker::Input::Timer(timer));
                }
            }
            What::Expiry => self.expiry(emit),
            What::Sweep => self.sweep(emit),
            What::Roll => self.roll_on(emit),
        }
    }

    fn client_of(&self, what: &What) -> Option<u16> {
        match what {
            What::ToClient { conn, .. } => self.conns.get(conn).map(|conn| conn.proc),
            _ => None,
        }
    }

    fn is_alive(&self, proc: u16, life: u32) -> bool {
        let proc = &self.procs[usize::from(proc)];
        proc.life == life && proc.state == State::Up
    }

    fn boot(&mut self, emit: &mut Emit<'_>, index: u16, life: u32) {
        let proc = &mut self.procs[usize::from(index)];
        if proc.life != life || proc.state != State::Booting {
            return;
        }
        proc.state = State::Up;
        self.changed();
        let tool = self.procs[usize::from(index)].kind == Kind::Admin;
        self.emit(emit, index, tool, Event::Started);
        self.come_back(emit, index);
        self.who_fetches(index);
        match &self.procs[usize::from(index)].node {
            Node::Nothing => {}
            Node::Broker(_) => self.broker_step(emit, index, crate::kafka::broker::Input::Start),
            Node::Shell(_) => self.shell_step(emit, index, network::ShellInput::Start),
            Node::Admin(_) => self.admin_step(emit, index, None),
            Node::Real(_) | Node::Tool(_) | Node::Consumer(_) | Node::Producer(_) => {
                self.broker_step(emit, index, crate::kafka::broker::Input::Start);
            }
        }
    }

    fn resume(&mut self, emit: &mut Emit<'_>, index: u16, life: u32) {
        let proc = &mut self.procs[usize::from(index)];
        let State::Paused { booting, .. } = proc.state else { return };
        if proc.life != life {
            return;
        }
        proc.state = if booting { State::Booting } else { State::Up };
        let backlog = std::mem::take(&mut proc.backlog);
        self.thaw(index);
        self.changed();
        self.emit(emit, index, false, Event::Resumed);
        for to in self.fetches(index, true) {
            self.fetch_again(emit, index, to);
        }
        for item in backlog {
            self.queue.push(self.now, Class::Delivery, item);
        }
    }

    /// A broker's process does not stand still any more, or is gone.
    fn thaw(&mut self, index: u16) {
        if let Kind::Broker(id) = self.procs[usize::from(index)].kind {
            self.frozen.remove(&id);
        }
    }

    fn sweep(&mut self, emit: &mut Emit<'_>) {
        if self.server_up {
            let mut out = Vec::new();
            self.server.check_containers(self.now, &mut out);
            self.server_said(emit, ZOOKEEPER, out);
        }
        self.schedule(self.now + SWEEP_EVERY, Class::Timer, RowId::NONE, What::Sweep);
    }

    fn expiry(&mut self, emit: &mut Emit<'_>) {
        if self.expiry_at == self.now {
            self.expiry_at = Instant::NEVER;
        }
        if self.server_up && self.server.next_expiry() <= self.now {
            let mut out: Vec<ServerOut> = Vec::new();
            self.server.expire(self.now, &mut out);
            self.server_said(emit, ZOOKEEPER, out);
        }
        self.rearm_server();
    }

    /// One entry of the queue stands for the server's next look at its sessions.
    fn rearm_server(&mut self) {
        let due = self.server.next_expiry();
        if self.server_up && due < self.expiry_at {
            self.expiry_at = due.max(self.now);
            self.schedule(self.expiry_at, Class::Timer, RowId::NONE, What::Expiry);
        }
    }

    /// The same for a process's ZooKeeper client.
    fn rearm_client(&mut self, index: u16) {
        let now = self.now;
        let proc = &mut self.procs[usize::from(index)];
        let due = proc.next_deadline();
        if proc.is_running() && due < proc.timer_at {
            let at = due.max(now);
            proc.timer_at = at;
            let what = What::ClientTimer { proc: index, life: proc.life };
            self.schedule(at, Class::Timer, RowId::NONE, what);
        }
    }

    fn client_timer(&mut self, emit: &mut Emit<'_>, index: u16, life: u32) {
        let now = self.now;
        let proc = &mut self.procs[usize::from(index)];
        if proc.life != life || !proc.is_running() {
            return;
        }
        // A process that stood still finds its timer overdue: nothing else is armed for it.
        if proc.timer_at <= now {
            proc.timer_at = Instant::NEVER;
        }
        if proc.next_deadline() <= now {
            self.zk_step(emit, index, crate::zk::hold::ZkInput::Due);
        }
        self.rearm_client(index);
    }

    /// Lets a broker handle one input and does what it asks.
    fn broker_step(&mut self, emit: &mut Emit<'_>, index: u16, input: crate::kafka::broker::Input) {
        let mut out = Vec::new();
        let mut ctx = Ctx {
            now: self.now,
            wall_ms: wall_ms(self.now),
            rng: &mut self.rng,
            frozen: &self.frozen,
            out: &mut out,
        };
        match &mut self.procs[usize::from(index)].node {
            Node::Broker(broker) => Arc::make_mut(broker).step(&mut ctx, input),
            Node::Real(broker) => Arc::make_mut(broker).step(&mut ctx, input),
            Node::Tool(tool) => Arc::make_mut(tool).step(&mut ctx, input),
            Node::Consumer(consumer) => Arc::make_mut(consumer).step(&mut ctx, input),
            Node::Producer(producer) => Arc::make_mut(producer).step(&mut ctx, input),
            Node::Nothing | Node::Shell(_) | Node::Admin(_) => {}
        }
        self.effects(emit, index, out);
    }

    fn admin_step(
        &mut self,
        emit: &mut Emit<'_>,
        index: u16,
        input: Option<crate::zk::hold::ZkInput>,
    ) {
        let mut out = Vec::new();
        let mut ctx = Ctx {
            now: self.now,
            wall_ms: wall_ms(self.now),
            rng: &mut self.rng,
            frozen: &self.frozen,
            out: &mut out,
        };
        if let Node::Admin(admin) = &mut self.procs[usize::from(index)].node {
            let admin = Arc::make_mut(admin);
            match input {
                Some(input) => admin.input(&mut ctx, input),
                None => admin.start(&mut ctx),
            }
        }
        self.effects(emit, index, out);
    }

    fn effects(&mut self, emit: &mut Emit<'_>, index: u16, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Zk(io) => self.zk_io(emit, index, io),
                Effect::Peer { to, msg } => self.send_peer(emit, index, to, msg),
                Effect::Arm { timer, at } => {
                    let life = self.procs[usize::from(index)].life;
                    let what = What::BrokerTimer { proc: index, life, timer };
                    self.schedule(at, Class::Timer, emit.cause, what);
                }
                Effect::Note(event) => {
                    self.changed();
                    let detail = is_kafka_detail(&event);
                    self.emit(emit, index, detail, Event::Kafka(Arc::new(event)));
                }
                Effect::Exit => self.exit(emit, index),
            }
        }
        self.rearm_client(index);
    }

    /// The process ends by itself.
    fn exit(&mut self, emit: &mut Emit<'_>, index: u16) {
        let tool = self.procs[usize::from(index)].kind == Kind::Admin;
        self.changed();
        self.emit(emit, index, tool, Event::Exited);
        self.end(emit, index);
    }

    /// Nothing of the process is left; its kernel closes the connections.
    fn end(&mut self, emit: &mut Emit<'_>, index: u16) {
        self.hang_up(emit, index);
        self.close_peers(emit, index);
        _ = self.fetches(index, false);
        self.thaw(index);
        self.procs[usize::from(index)].end();
    }

    /// A broker's fetches come all the time or not at all. The model doesn't repeat them, so their
    /// leaders are told what they would see. Those come back that have something for it.
    pub(super) fn fetches(&mut self, index: u16, comes: bool) -> Vec<u16> {
        let Kind::Broker(id) = self.proc(index).kind else { return Vec::new() };
        let since = (!comes).then(|| wall_ms(self.now).unsigned_abs());
        let mut have = Vec::new();
        for (at, proc) in (0..).zip(self.procs.iter_mut()) {
            if let (true, Node::Real(broker)) = (at != index, &mut proc.node)
                && Arc::make_mut(broker).logs.falls_silent(id, since)
            {
                have.push(at);
            }
        }
        have
    }

    fn fetch_again(&mut self, emit: &Emit<'_>, from: u16, to: u16) {
        let Some(from_id) = self.proc(from).broker_id() else { return };
        let to_life = self.proc(to).life;
        let msg = crate::kafka::Msg::Real(Box::new(crate::kafka::real::msg::Msg::Alive));
        self.transmit(emit, from, to, What::Peer { from, to, to_life, from_id, msg });
    }

    /// A broker that comes up hears nothing of those that don't run.
    fn who_fetches(&mut self, index: u16) {
        _ = self.fetches(index, true);
        let quiet = |proc: &Proc| match proc.kind {
            Kind::Broker(id) if proc.state != State::Up => Some(id),
            _ => None,
        };
        let quiet: Vec<u32> = self.procs.iter().filter_map(quiet).collect();
        let since = wall_ms(self.now).unsigned_abs();
        if let Node::Real(broker) = &mut self.procs[usize::from(index)].node {
            let broker = Arc::make_mut(broker);
            quiet.into_iter().for_each(|id| _ = broker.logs.falls_silent(id, Some(since)));
        }
    }

    /// Whoever reads from a broker or writes to it sees that it is gone.
    fn close_peers(&mut self, emit: &Emit<'_>, from: u16) {
        let Some(from_id) = self.proc(from).broker_id() else { return };
        for to in 0..u16::try_from(self.procs.len()).unwrap_or(u16::MAX) {
            let proc = self.proc(to);
            if proc.is_running() && matches!(proc.kind, Kind::Consumer(_) | Kind::Producer(_)) {
                let to_life = proc.life;
                let msg = crate::kafka::Msg::Closed;
                self.transmit(emit, from, to, What::Peer { from, to, to_life, from_id, msg });
            }
        }
    }

    fn send_peer(
        &mut self,
        emit: &mut Emit<'_>,
        from: u16,
        to_id: u32,
        mut msg: crate::kafka::Msg,
    ) {
        sign(&mut msg, emit.cause);
        let from_id = match self.procs[usize::from(from)].kind {
            Kind::Broker(id) | Kind::Impostor(id, _) => id,
            _ => TOOLS + u32::from(from),
        };
        let to = match to_id.checked_sub(TOOLS) {
            Some(tool) => u16::try_from(tool).ok(),
            // What a broker tells itself stays in its process.
            None if to_id == from_id => Some(from),
            None => self.registered(to_id),
        };
        let Some(to) = to else { return };
        if matches!(self.proc(from).kind, Kind::Producer(_)) && !self.proc(to).is_running() {
            // Nobody listens there: the connection is refused.
            let (to_life, msg) = (self.proc(from).life, crate::kafka::Msg::Closed);
            let what = What::Peer { from: to, to: from, to_life, from_id: to_id, msg };
            return self.transmit(emit, to, from, what);
        }
        let to_life = self.procs[usize::from(to)].life;
        let what = What::Peer { from, to, to_life, from_id, msg };
        self.transmit(emit, from, to, what);
    }

    pub fn find(&self, who: &Who) -> Option<u16> {
        self.position(|proc| proc.who().as_ref() == Some(who))
    }

    fn position(&self, fits: impl Fn(&Proc) -> bool) -> Option<u16> {
        self.procs.iter().position(fits).and_then(|at| u16::try_from(at).ok())
    }

    /// Who is reached under a broker's id: the machine that is registered, as its znode says.
    pub fn registered(&self, id: u32) -> Option<u16> {
        let node = self.server.tree().get(&crate::kafka::paths::broker(id));
        let owner = node.and_then(|node| match node.kind {
            NodeKind::Ephemeral(session) => self.owners.get(&session).copied(),
            _ => None,
        });
        let is_broker = |index: &u16| match self.proc(*index).kind {
            Kind::Broker(theirs) | Kind::Impostor(theirs, _) => theirs == id,
            _ => false,
        };
        owner.filter(is_broker).or_else(|| self.find(&Who::Broker(id)))
    }

    /// The process behind a broker id.
    pub fn broker(&self, id: u32) -> Option<&Proc> {
        self.registered(id).map(|index| self.proc(index))
    }

    pub fn proc(&self, index: u16) -> &Proc {
        &self.procs[usize::from(index)]
    }

    /// All that is on its way: when it was sent, when it arrives, its number, what it is.
    pub fn in_flight(&self) -> impl Iterator<Item = (Instant, u64, &Item)> {
        self.queue
            .iter()
            .filter(|(_, class, _, _)| *class == Class::Delivery)
            .map(|(at, _, seq, item)| (at, seq, item))
    }

    pub fn is_cut(&self, index: u16) -> bool {
        self.links.is_cut(index, ZOOKEEPER)
    }

    pub fn last_zxid(&self) -> Zxid {
        self.server.last_zxid()
    }

    pub fn rows_made(&self) -> u32 {
        self.next_row
    }

    /// Appends what an observer found, caused by the last row before it.
    pub fn report(&mut self, rows: &mut Vec<Row>, proc: u16, event: Event) {
        let cause = match self.next_row {
            0 => RowId::NONE,
            n => RowId(n - 1),
        };
        self.emit(&mut Emit { rows, cause }, proc, false, event);
    }

    /// When the broker is next told to stop following these, a fetch is still under way: a chance
    /// that those steer who replay a recording. [spec kafka-zk.md F8]
    pub fn expect_late_fetch(&mut self, id: u32, tps: &[crate::kafka::TopicPartition]) {
        let Some(index) = self.find(&Who::Broker(id)) else { return };
        if let Node::Real(broker) = &mut self.procs[usize::from(index)].node {
            Arc::make_mut(broker).replicas.late.extend(tps.iter().cloned());
        }
    }

    /// Puts records into a running broker's log, all of them committed: the start of a recording.
    pub fn place_log(
        &mut self,
        id: u32,
        tp: &crate::kafka::TopicPartition,
        values: impl Iterator<Item = Arc<str>>,
    ) {
        let Some(index) = self.find(&Who::Broker(id)) else { return };
        if let Node::Real(broker) = &mut self.procs[usize::from(index)].node {
            let store = &mut Arc::make_mut(broker).logs.store;
            let log = Arc::make_mut(store).log(tp);
            log.append(values.map(|value| crate::kafka::data::Record {
                key: None,
                value,
                epoch: crate::kafka::data::NO_EPOCH,
                sent: RowId::NONE,
                by_hand: false,
            }));
            log.high_watermark = log.end();
            let end = log.end();
            let store = Arc::make_mut(store);
            Arc::make_mut(&mut store.checkpoint).insert(tp.clone(), end);
        }
    }

    /// The next partition that a producer draws, for those who replay a recording.
    pub fn steer_partition(&mut self, producer: &str, partition: u32) {
        let Some(index) = self.find(&Who::Producer(producer.into())) else { return };
        if let Node::Producer(producer) = &mut self.procs[usize::from(index)].node {
            Arc::make_mut(producer).steer(partition);
        }
    }

    /// A fingerprint of all state that can still matter.
    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.now.0);
        digest.u64(self.event_no);
        digest.u64(self.queue.len() as u64);
        self.server.digest(digest);
        for proc in &self.procs {
            proc.digest(digest);
        }
        self.links.digest(digest);
        if let Some(rolling) = &self.rolling {
            rolling.digest(digest);
        }
        let mut rng = self.rng.clone();
        digest.u64(rng.next_u64());
    }

    /// An estimate of what a copy of this world keeps for itself, in bytes.
    pub fn weight(&self) -> usize {
        4_096 + self.procs.len() * 512 + self.queue.len() * 160 + self.owners.len() * 48
    }

    pub fn path_exists(&self, path: &Path) -> bool {
        self.server.tree().get(path).is_some()
    }
}

/// Records carry the row that sent them.
fn sign(msg: &mut crate::kafka::Msg, row: RowId) {
    use crate::kafka::data::Msg::Produce;
    let crate::kafka::Msg::Data(data) = msg else { return };
    let Produce { batches, .. } = &mut **data else { return };
    for (_, records) in batches {
        for record in Arc::get_mut(records).into_iter().flatten() {
            record.sent = row;
        }
    }
}

pub fn wall_ms(now: Instant) -> i64 {
    config::WALL_ZERO_MS + i64::try_from(now.millis()).unwrap_or(0)
}

/// What happens a thousand times when one thing is done to a thousand partitions.
fn is_kafka_detail(event: &crate::kafka::Event) -> bool {
    use crate::kafka::Event::{BecameFollower, CaughtUp, Consumer, Log, Producer, ReplicaDeleted};
    use crate::kafka::log::store::Event::{Appended, Copied, HighWatermark};
    use crate::kafka::producer::Event::{Acknowledged, Sent};
    match event {
        BecameFollower { .. }
        | CaughtUp { .. }
        | ReplicaDeleted { .. }
        | Log(Copied { .. } | HighWatermark { .. }) => true,
        // A steady stream is no story; what a person had sent is.
        Log(Appended { by_hand, .. })
        | Producer(Sent { by_hand, .. } | Acknowledged { by_hand, .. }) => !by_hand,
        Consumer(event) => event.is_detail(),
        _ => false,
    }
}
