//! The Java client of each release as a pure state machine: `ClientCnxn` with its send thread.
//!
//! The world owns TCP. It answers [`ClientOut::Open`] with [`Client::opened`] or
//! [`Client::closed`], passes on only frames of the current connection, and calls [`Client::due`]
//! at [`Client::next_deadline`].

use std::collections::VecDeque;

use super::op::{
    ConnectRequest, Error, EventType, Failure, Op, Path, Release, Reply, SessionId, ToClient,
    ToServer, WatcherType, Zxid,
};
use crate::base::{Digest, Instant, Rng, Span};

pub use super::watcher::WatcherId;
use super::watcher::{Local, WatchTables, answers_locally};

/// The application's own token of a request.
pub type Tag = u64;

/// Xid of the packet that puts watches back in place.
const XID_SET_WATCHES: i32 = -8;
/// Xid of every auth packet: their answers can't be told apart, nor does anyone wait for them.
const XID_AUTH: i32 = -4;
/// The pause before the same server is tried again, before chance is added.
const SPIN_DELAY: Span = Span::from_millis(1_000);
/// Chance adds less than this to the pause before a reconnect.
const RANDOM_DELAY_MS: u64 = 1_000;
/// Once nothing was sent for this long, a client that wakes pings this much earlier.
const PING_MARGIN: Span = Span::from_millis(1_000);
/// A client that wakes after so long without sending pings at once. It doesn't wake for this.
const MAX_SEND_PING_INTERVAL: Span = Span::from_millis(10_000);

#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub release: Release,
    pub session_timeout_ms: i32,
    /// Servers in the connect string.
    pub servers: u32,
}

/// What a watcher is told of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeeperState {
    Disconnected,
    SyncConnected,
    Expired,
    AuthFailed,
    Closed,
}

impl KeeperState {
    pub const fn name(self) -> &'static str {
        match self {
            KeeperState::Disconnected => "Disconnected",
            KeeperState::SyncConnected => "SyncConnected",
            KeeperState::Expired => "Expired",
            KeeperState::AuthFailed => "AuthFailed",
            KeeperState::Closed => "Closed",
        }
    }

    /// No way leads out of these: the handle is unusable.
    pub const fn is_final(self) -> bool {
        matches!(self, KeeperState::Expired | KeeperState::AuthFailed | KeeperState::Closed)
    }
}

/// What a client asks of the world and tells its application, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientOut {
    /// Open a TCP connection. The one before is closed or given up.
    Open,
    /// On the current connection.
    Send(ToServer),
    /// Close the current connection, or give up opening it.
    Close,
    Done {
        tag: Tag,
        result: Result<Reply, Failure>,
    },
    Event {
        watchers: Vec<WatcherId>,
        kind: EventType,
        path: Path,
        zxid: Zxid,
    },
    /// To every registered watcher and the default one. [spec zookeeper.md W6]
    State {
        state: KeeperState,
        watchers: Vec<WatcherId>,
    },
}

/// Where the send thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Not started.
    Idle,
    /// Sleeps before the next try.
    Pausing,
    /// Waits for TCP.
    Opening,
    /// The connect request is out.
    Greeting,
    Connected,
    /// Nothing ever happens again.
    Over,
}

/// A request that has no answer yet. `tag` is missing on what the client sent by itself.
#[derive(Clone, Debug)]
struct Packet {
    xid: i32,
    tag: Option<Tag>,
    op: Op,
    watcher: Option<WatcherId>,
}

#[derive(Clone, Debug)]
pub struct Client {
    config: ClientConfig,
    phase: Phase,
    /// The state told last. Java starts as if Disconnected had been told, so that a first try which
    /// fails tells nobody.
    told: KeeperState,
    session: SessionId,
    password: u64,
    negotiated_ms: i32,
    connect_timeout: Span,
    read_timeout: Span,
    expiry_timeout: Span,
    last_zxid: Zxid,
    last_send: Instant,
    last_heard: Instant,
    deadline: Instant,
    /// 3.4.6 looks once more, before the second half of its pause, whether it is closing.
    give_up_at: Instant,
    /// No TCP connection was ever made: then chance adds nothing to the pause.
    first: bool,
    server: Option<u32>,
    last_server: Option<u32>,
    closing: Option<Tag>,
    next_xid: i32,
    queue: VecDeque<Packet>,
    pending: VecDeque<Packet>,
    auth: Vec<Op>,
    watches: WatchTables,
}

impl Client {
    pub fn new(config: ClientConfig) -> Client {
        let mut client = Client {
            phase: Phase::Idle,
            told: KeeperState::Disconnected,
            session: SessionId(0),
            password: 0,
            negotiated_ms: 0,
            connect_timeout: Span::ZERO,
            read_timeout: Span::ZERO,
            expiry_timeout: Span::ZERO,
            last_zxid: 0,
            last_send: Instant::ZERO,
            last_heard: Instant::ZERO,
            deadline: Instant::NEVER,
            give_up_at: Instant::NEVER,
            first: true,
            server: None,
            last_server: None,
            closing: None,
            next_xid: 1,
            queue: VecDeque::new(),
            pending: VecDeque::new(),
            auth: Vec::new(),
            watches: WatchTables::new(config.release),
            config,
        };
        client.set_timeouts(client.config.session_timeout_ms);
        client
    }

    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The state that watchers were told last.
    pub fn state(&self) -> KeeperState {
        self.told
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn release(&self) -> Release {
        self.config.release
    }

    /// 0 until the first connect.
    pub fn negotiated_timeout_ms(&self) -> i32 {
        self.negotiated_ms
    }

    pub fn last_zxid_seen(&self) -> Zxid {
        self.last_zxid
    }

    pub fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// The watches that this client holds, readable for the page.
    pub fn watches(&self) -> &WatchTables {
        &self.watches
    }

    /// Which of the servers in the connect string is tried or connected.
    pub fn server(&self) -> u32 {
        self.server.unwrap_or(0)
    }

    pub fn next_deadline(&self) -> Instant {
        self.deadline
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// [spec zookeeper.md S5, S6]; the divisions are those of Java's ints.
    fn set_timeouts(&mut self, timeout_ms: i32) {
        let ms = u64::try_from(timeout_ms).unwrap_or(0);
        self.read_timeout = Span::from_millis(ms * 2 / 3);
        self.expiry_timeout = Span::from_millis(ms * 4 / 3);
        self.connect_timeout = Span::from_millis(ms / u64::from(self.config.servers.max(1)));
    }

    /// Only 3.9.5 ends a session by itself. [spec zookeeper.md S6]
    fn expires_itself(&self) -> bool {
        self.config.release >= Release::V3_9_5
    }

    // --- What the application asks ---------------------------------------------------------------

    pub fn start(&mut self, now: Instant, rng: &mut Rng, out: &mut Vec<ClientOut>) {
        if self.phase != Phase::Idle {
            return;
        }
        self.last_send = now;
        self.last_heard = now;
        self.pause(now, rng);
        self.due(now, rng, out);
    }

    /// Takes a request in. It is answered in the order of submission. [spec zookeeper.md S10]
    pub fn submit(
        &mut self,
        now: Instant,
        tag: Tag,
        mut op: Op,
        watcher: Option<WatcherId>,
        out: &mut Vec<ClientOut>,
    ) {
        if let Some(result) = self.answer_at_once(&op) {
            out.push(ClientOut::Done { tag, result });
            return;
        }
        if let Op::Exists { watch, .. }
        | Op::GetData { watch, .. }
        | Op::GetChildren { watch, .. } = &mut op
        {
            *watch = watcher.is_some();
        }
        let xid = match op {
            Op::AddAuth { .. } => XID_AUTH,
            Op::SetWatches(_) => XID_SET_WATCHES,
            _ => 0,
        };
        let mut tag = Some(tag);
        if matches!(op, Op::AddAuth { .. }) {
            // `addAuthInfo` returns without waiting; a refusal comes as a state.
            out.extend(tag.take().map(|tag| ClientOut::Done { tag, result: Ok(Reply::Done) }));
            self.auth.push(op.clone());
        }
        self.enqueue(now, Packet { xid, tag, op, watcher }, out);
    }

    /// Ends the session: `closeSession` where a server can be reached. [spec zookeeper.md S9]
    pub fn close(&mut self, now: Instant, tag: Tag, out: &mut Vec<ClientOut>) {
        if self.is_over() || self.closing.is_some() {
            out.push(ClientOut::Done { tag, result: Ok(Reply::Done) });
            return;
        }
        self.closing = Some(tag);
        if self.phase == Phase::Idle {
            self.finish(out);
            return;
        }
        if self.phase == Phase::Pausing && now <= self.give_up_at {
            self.deadline = self.deadline.min(self.give_up_at);
        }
        let packet = Packet { xid: 0, tag: None, op: Op::CloseSession, watcher: None };
        self.enqueue(now, packet, out);
    }

    /// What the library answers without a server: refused paths, requests on a dead handle, and
    /// the multi without ops. [spec zookeeper.md M4, §3]
    fn answer_at_once(&self, op: &Op) -> Option<Result<Reply, Failure>> {
        let local = match answers_locally(op, self.config.release) {
            Some(Local::IllegalArgument) => Some(Err(Error::BadArguments.into())),
            Some(Local::Failed(error)) => Some(Err(error.into())),
            Some(Local::Done(reply)) => Some(Ok(reply)),
            None => None,
        };
        if local.is_some() {
            return local;
        }
        if self.is_over() || self.closing.is_some() {
            return Some(Err(self.loss().into()));
        }
        None
    }

    /// The error of a request that will have no answer.
    fn loss(&self) -> Error {
        match self.told {
            KeeperState::AuthFailed => Error::AuthFailed,
            // A handle that was closed answers as an expired one does.
            KeeperState::Expired | KeeperState::Closed => Error::SessionExpired,
            _ => Error::ConnectionLoss,
        }
    }

    fn enqueue(&mut self, now: Instant, packet: Packet, out: &mut Vec<ClientOut>) {
        if self.phase == Phase::Connected {
            self.send(now, packet, out);
            self.look_at_the_clock(now, out);
        } else {
            self.queue.push_back(packet);
        }
    }

    fn send(&mut self, now: Instant, mut packet: Packet, out: &mut Vec<ClientOut>) {
        if packet.xid == 0 {
            packet.xid = self.next_xid;
            self.next_xid = self.next_xid.checked_add(1).unwrap_or(1);
        }
        self.last_send = now;
        out.push(ClientOut::Send(ToServer::Request { xid: packet.xid, op: packet.op.clone() }));
        if packet.xid != XID_AUTH {
            self.pending.push_back(packet);
        }
    }

    // --- What the network does -------------------------------------------------------------------

    /// TCP stands: the connect request goes out alone, the rest waits for its answer.
    pub fn opened(&mut self, now: Instant, out: &mut Vec<ClientOut>) {
        if self.phase != Phase::Opening {
            return;
        }
        self.phase = Phase::Greeting;
        self.first = false;
        self.last_send = now;
        self.last_heard = now;
        self.deadline = now + self.connect_timeout;
        out.push(ClientOut::Send(ToServer::Connect(ConnectRequest {
            session: self.session,
            password: self.password,
            timeout_ms: self.config.session_timeout_ms,
            last_zxid_seen: self.last_zxid,
        })));
    }

    /// The connection was refused, reset or closed by the server.
    pub fn closed(&mut self, now: Instant, rng: &mut Rng, out: &mut Vec<ClientOut>) {
        if matches!(self.phase, Phase::Opening | Phase::Greeting | Phase::Connected) {
            self.lose(now, rng, out);
        }
    }

    pub fn receive(
        &mut self,
        now: Instant,
        rng: &mut Rng,
        frame: ToClient,
        out: &mut Vec<ClientOut>,
    ) {
        match (self.phase, frame) {
            (Phase::Greeting, ToClient::Connected { session, password, timeout_ms }) => {
                self.last_heard = now;
                if timeout_ms <= 0 {
                    self.end(KeeperState::Expired, out);
                } else {
                    self.connected(now, session, password, timeout_ms, out);
                }
            }
            (Phase::Connected, ToClient::Pong { .. }) => self.heard(now, out),
            (Phase::Connected, ToClient::Event { kind, path, zxid }) => {
                let watchers = self.watches.materialize(kind, &path);
                if !watchers.is_empty() {
                    out.push(ClientOut::Event { watchers, kind, path, zxid });
                }
                self.heard(now, out);
            }
            (Phase::Connected, ToClient::Reply { xid, zxid, result }) => {
                self.last_heard = now;
                self.answered(now, rng, (xid, zxid, result), out);
            }
            // Nothing else can be on the wire; a frame that is too late means nothing.
            _ => {}
        }
    }

    fn heard(&mut self, now: Instant, out: &mut Vec<ClientOut>) {
        self.last_heard = now;
        self.look_at_the_clock(now, out);
    }

    fn connected(
        &mut self,
        now: Instant,
        session: SessionId,
        password: u64,
        timeout_ms: i32,
        out: &mut Vec<ClientOut>,
    ) {
        self.negotiated_ms = timeout_ms;
        self.set_timeouts(timeout_ms);
        self.session = session;
        self.password = password;
        self.last_server = self.server;
        self.phase = Phase::Connected;
        self.tell(KeeperState::SyncConnected, out);
        // Each goes to the front in turn, so the newest credential comes first, and all of them
        // come before the watches, and those before requests. [spec zookeeper.md S6]
        for op in self.auth.clone().into_iter().rev() {
            self.send(now, Packet { xid: XID_AUTH, tag: None, op, watcher: None }, out);
        }
        if let Some(watches) = self.watches.rearm(self.last_zxid) {
            let op = Op::SetWatches(Box::new(watches));
            self.send(now, Packet { xid: XID_SET_WATCHES, tag: None, op, watcher: None }, out);
        }
        while let Some(packet) = self.queue.pop_front() {
            self.send(now, packet, out);
        }
        self.look_at_the_clock(now, out);
    }

    fn answered(
        &mut self,
        now: Instant,
        rng: &mut Rng,
        (xid, zxid, result): (i32, Zxid, Result<Reply, Failure>),
        out: &mut Vec<ClientOut>,
    ) {
        if xid == XID_AUTH {
            if result.is_err_and(|f| f.error == Error::AuthFailed) {
                self.end(KeeperState::AuthFailed, out);
            } else {
                self.look_at_the_clock(now, out);
            }
            return;
        }
        match self.pending.pop_front() {
            Some(packet) if packet.xid == xid => {
                if zxid > 0 {
                    self.last_zxid = zxid;
                }
                self.complete(packet, result, out);
                if !self.is_over() {
                    self.look_at_the_clock(now, out);
                }
            }
            // "Xid out of order" and "Nothing in the queue": the client gives the connection up.
            other => {
                if let Some(packet) = other {
                    self.pending.push_front(packet);
                }
                self.lose(now, rng, out);
            }
        }
    }

    fn complete(
        &mut self,
        packet: Packet,
        result: Result<Reply, Failure>,
        out: &mut Vec<ClientOut>,
    ) {
        if packet.op == Op::CloseSession {
            self.finish(out);
            return;
        }
        let plain = result.as_ref().map(|_| ()).map_err(|failure| failure.error);
        let result = match &packet.op {
            Op::RemoveWatches { path, kind } => self.removed(path, (None, *kind), plain, out),
            Op::CheckWatches { path, kind } => {
                self.removed(path, (packet.watcher, *kind), plain, out)
            }
            op => {
                if let Some(watcher) = packet.watcher {
                    self.watches.register(op, watcher, plain);
                }
                result
            }
        };
        if let Some(tag) = packet.tag {
            out.push(ClientOut::Done { tag, result });
        }
    }

    /// Watches were removed; those who held them are told before the request is answered.
    fn removed(
        &mut self,
        path: &Path,
        (watcher, kind): (Option<WatcherId>, WatcherType),
        answer: Result<(), Error>,
        out: &mut Vec<ClientOut>,
    ) -> Result<Reply, Failure> {
        for (kind, watchers) in self.watches.remove(path, watcher, kind, answer)? {
            out.push(ClientOut::Event { watchers, kind, path: path.clone(), zxid: -1 });
        }
        Ok(Reply::Done)
    }

    // --- Time ------------------------------------------------------------------------------------

    pub fn due(&mut self, now: Instant, rng: &mut Rng, out: &mut Vec<ClientOut>) {
        if now < self.deadline {
            return;
        }
        match self.phase {
            Phase::Pausing if self.closing.is_some() && now <= self.give_up_at => self.finish(out),
            Phase::Pausing => self.open(now, rng, out),
            Phase::Opening | Phase::Greeting => self.lose(now, rng, out),
            Phase::Connected if now >= whole(self.last_heard) + self.read_timeout => {
                self.lose(now, rng, out);
            }
            Phase::Connected => self.look_at_the_clock(now, out),
            Phase::Idle | Phase::Over => {}
        }
    }

    fn open(&mut self, now: Instant, rng: &mut Rng, out: &mut Vec<ClientOut>) {
        if self.has_run_out(now) {
            self.run_out(out);
            return;
        }
        self.phase = Phase::Opening;
        self.last_send = now;
        if !self.expires_itself() {
            self.last_heard = now;
        }
        self.deadline = now + self.connect_timeout;
        out.push(ClientOut::Open);
        if self.connect_timeout == Span::ZERO {
            self.lose(now, rng, out);
        }
    }

    /// One round of the send thread's loop while connected: pings if it is time, and decides when
    /// to look again. [spec zookeeper.md S5]
    fn look_at_the_clock(&mut self, now: Instant, out: &mut Vec<ClientOut>) {
        if self.phase != Phase::Connected {
            return;
        }
        let every = Span::from_millis(self.read_timeout.millis() / 2);
        let last_send = whole(self.last_send);
        let idle = whole(now).since(last_send);
        let margin = if idle > PING_MARGIN { PING_MARGIN } else { Span::ZERO };
        let mut ping_at = last_send + every - margin;
        if now >= ping_at || idle > MAX_SEND_PING_INTERVAL {
            out.push(ClientOut::Send(ToServer::Ping));
            self.last_send = now;
            ping_at = whole(now) + every;
        }
        self.deadline = ping_at.min(whole(self.last_heard) + self.read_timeout);
    }

    /// The connection is gone: all that was outstanding fails, and after a pause the next try
    /// follows, unless the client is closing anyway.
    fn lose(&mut self, now: Instant, rng: &mut Rng, out: &mut Vec<ClientOut>) {
        out.push(ClientOut::Close);
        if self.closing.is_some() {
            self.phase = Phase::Pausing;
            self.finish(out);
            return;
        }
        if self.has_run_out(now) {
            self.phase = Phase::Pausing;
            self.run_out(out);
            return;
        }
        self.fail_outstanding(Error::ConnectionLoss, out);
        self.tell(KeeperState::Disconnected, out);
        if !self.expires_itself() {
            self.last_send = now;
            self.last_heard = now;
        }
        self.pause(now, rng);
    }

    /// 3.9.5 gives a session up once 4/3 of its timeout have passed without a word from a server,
    /// but it looks only when it wakes. [spec zookeeper.md S6]
    fn has_run_out(&self, now: Instant) -> bool {
        self.expires_itself() && now >= self.last_heard + self.expiry_timeout
    }

    /// The client's own verdict fails what is outstanding before it is told; a server's is told
    /// first.
    fn run_out(&mut self, out: &mut Vec<ClientOut>) {
        self.fail_outstanding(Error::SessionExpired, out);
        self.end(KeeperState::Expired, out);
    }

    /// The next server at once, the one that was connected last (or tried first) after a second;
    /// chance adds up to a second from the second connection on.
    fn pause(&mut self, now: Instant, rng: &mut Rng) {
        self.phase = Phase::Pausing;
        let servers = self.config.servers.max(1);
        let next = self.server.map_or(0, |s| (s + 1) % servers);
        self.server = Some(next);
        let random = if self.first { 0 } else { rng.below(RANDOM_DELAY_MS) };
        let mut until = now + Span::from_millis(random);
        self.give_up_at = if self.config.release == Release::V3_4_6 { until } else { now };
        if self.last_server == Some(next) {
            until += SPIN_DELAY;
        } else if self.last_server.is_none() {
            self.last_server = Some(0);
        }
        self.deadline = until;
    }

    // --- The end ---------------------------------------------------------------------------------

    fn finish(&mut self, out: &mut Vec<ClientOut>) {
        let tag = self.closing;
        self.fail_outstanding(Error::ConnectionLoss, out);
        // `close` waits for the end but swallows how it came about.
        out.extend(tag.map(|tag| ClientOut::Done { tag, result: Ok(Reply::Done) }));
        self.end(KeeperState::Closed, out);
    }

    /// Final: the handle is unusable. [spec zookeeper.md S6]
    fn end(&mut self, state: KeeperState, out: &mut Vec<ClientOut>) {
        let open = matches!(self.phase, Phase::Opening | Phase::Greeting | Phase::Connected);
        self.phase = Phase::Over;
        self.deadline = Instant::NEVER;
        self.tell(state, out);
        self.fail_outstanding(self.loss(), out);
        if open {
            out.push(ClientOut::Close);
        }
    }

    fn fail_outstanding(&mut self, error: Error, out: &mut Vec<ClientOut>) {
        for packet in self.pending.drain(..).chain(self.queue.drain(..)) {
            if let Some(tag) = packet.tag {
                out.push(ClientOut::Done { tag, result: Err(error.into()) });
            }
        }
    }

    /// A state that was told last is not told again. Closed is news to watchers only from 3.5.9
    /// on; 3.4.6 ends without a word.
    fn tell(&mut self, state: KeeperState, out: &mut Vec<ClientOut>) {
        if self.told == state {
            return;
        }
        self.told = state;
        let silent = state == KeeperState::Closed && self.config.release < Release::V3_5_9;
        let watchers = if silent { Vec::new() } else { self.watches.everyone() };
        out.push(ClientOut::State { state, watchers });
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.phase as u64);
        digest.u64(self.told as u64);
        digest.i64(self.session.0);
        digest.u64(self.password);
        digest.i64(i64::from(self.negotiated_ms));
        digest.i64(self.last_zxid);
        for moment in [self.last_send, self.last_heard, self.deadline, self.give_up_at] {
            digest.u64(moment.micros());
        }
        digest.i64(i64::from(self.next_xid));
        digest.u64(u64::from(self.closing.is_some()));
        for list in [&self.queue, &self.pending] {
            digest.u64(list.len() as u64);
            for packet in list {
                digest.i64(i64::from(packet.xid));
                digest.u64(packet.tag.map_or(0, |tag| tag.wrapping_add(1)));
            }
        }
        self.watches.digest(digest);
    }
}

/// Java's clock counts whole milliseconds, so an answer within one counts as heard when the ping
/// went out: without more of them, the read timeout comes before the second ping.
fn whole(moment: Instant) -> Instant {
    Instant::ZERO + Span::from_millis(moment.millis())
}

#[cfg(test)]
mod tests;
