//! A small deterministic world for recordings of stand-alone servers: servers, Java clients, bare
//! clients that do nothing by themselves, and a stand-in server that only grants and pongs.

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Rng, Span};
use kafkascope_core::zk::client::{Client, ClientConfig, ClientOut, KeeperState, Tag, WatcherId};
use kafkascope_core::zk::op::{
    ConnId, ConnectRequest, Failure, Op, Release, Reply, SessionId, ToClient, ToServer, Zxid,
};
use kafkascope_core::zk::server::ServerOut;

use super::host::{Host, Settings};

/// One way over loopback.
pub const LATENCY: Span = Span::from_micros(100);
/// A Java thread that sleeps for whole milliseconds wakes within one after its time.
const WAKES_LATE: Span = Span::from_millis(1);

/// Where a connection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Server(u32),
    StandIn,
}

/// Whose connection it is: a bare client (and which of its connections) or a Java client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Bare(String, String),
    Java(String),
}

#[derive(Clone, Debug)]
struct Link {
    to: Place,
    from: End,
}

#[derive(Clone, Debug)]
enum Arrival {
    /// The request to connect, at the server.
    Syn(ConnId),
    Opened(ConnId),
    ToServer(ConnId, ToServer),
    HungUp(ConnId),
    ToClient(ConnId, ToClient),
    Closed(ConnId),
}

#[derive(Clone)]
struct Server {
    host: Host,
    running: bool,
    paused: bool,
    /// What came while it was paused.
    backlog: Vec<Arrival>,
}

/// A server that answers connect requests and pings, or nothing, and notes what it hears.
#[derive(Clone, Debug, Default)]
pub struct StandIn {
    pub granted_ms: i32,
    pub silent: bool,
    pub log: Vec<(Instant, String)>,
    connections: BTreeMap<ConnId, usize>,
}

/// A frame as a bare client kept it.
#[derive(Clone, Debug)]
pub enum Kept {
    Event { kind: &'static str, path: String },
    Reply,
}

/// A bare client's connection. It knows what to resume a session with. [recordings README]
#[derive(Clone, Debug, Default)]
pub struct Bare {
    pub conn: Option<ConnId>,
    pub session: SessionId,
    pub password: u64,
    pub granted_ms: Option<i32>,
    pub last_zxid: Zxid,
    /// The server closed the connection, or never took it.
    pub closed: bool,
    pub sent_at: Instant,
    pub pongs: u64,
    pub frames: Vec<(Instant, Kept)>,
    /// So many of them its user has read: a bare client reads only when it is asked to.
    pub read: usize,
    pub replies: BTreeMap<i32, Result<Reply, Failure>>,
    next_xid: i32,
    /// Not sent yet: TCP doesn't stand.
    pub hello: Option<ConnectRequest>,
}

/// What a Java client's watchers were told, in order.
#[derive(Clone, Debug)]
pub struct Told {
    pub at: Instant,
    pub client: String,
    pub watcher: String,
    /// `Disconnected`, or `NodeCreated /a`.
    pub what: String,
    pub is_state: bool,
}

#[derive(Clone)]
pub struct Java {
    pub client: Client,
    to: Place,
    conn: Option<ConnId>,
    watchers: Vec<String>,
    next_tag: Tag,
    pub done: BTreeMap<Tag, Result<Reply, Failure>>,
}

#[derive(Clone)]
pub struct World {
    pub now: Instant,
    pub release: Release,
    rng: Rng,
    queue: BTreeMap<(Instant, u64), Arrival>,
    sent: u64,
    connections: u32,
    servers: BTreeMap<u32, Server>,
    pub stand_in: StandIn,
    links: BTreeMap<ConnId, Link>,
    pub bares: BTreeMap<(String, String), Bare>,
    pub javas: BTreeMap<String, Java>,
    pub told: Vec<Told>,
}

impl World {
    pub fn new(release: Release) -> World {
        World {
            now: Instant::ZERO,
            release,
            rng: Rng::new(1),
            queue: BTreeMap::new(),
            sent: 0,
            connections: 0,
            servers: BTreeMap::new(),
            stand_in: StandIn::default(),
            links: BTreeMap::new(),
            bares: BTreeMap::new(),
            javas: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    // --- Time ------------------------------------------------------------------------------------

    /// Runs until `done` holds or `until` is reached; says whether it held.
    pub fn run(&mut self, until: Instant, mut done: impl FnMut(&World) -> bool) -> bool {
        loop {
            if done(self) {
                return true;
            }
            let next = self.next_moment();
            if next > until {
                self.now = self.now.max(until);
                return false;
            }
            self.now = self.now.max(next);
            self.step();
        }
    }

    pub fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        self.run(until, |_| false);
    }

    fn next_moment(&self) -> Instant {
        let mut next = self.queue.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        for server in self.servers.values() {
            if server.running && !server.paused {
                next = next.min(server.host.next_deadline());
            }
        }
        for java in self.javas.values() {
            next = next.min(java.client.next_deadline() + WAKES_LATE);
        }
        next
    }

    /// One arrival or one timer: arrivals first, then servers, then clients by name.
    fn step(&mut self) {
        if let Some(entry) = self.queue.first_entry()
            && entry.key().0 <= self.now
        {
            let arrival = entry.remove();
            self.arrive(arrival);
            return;
        }
        let (now, mut out) = (self.now, Vec::new());
        for server in self.servers.values_mut() {
            if server.running && !server.paused && server.host.next_deadline() <= now {
                server.host.due(now, &mut out);
                self.serve(out);
                return;
            }
        }
        let due = |j: &Java| j.client.next_deadline() + WAKES_LATE <= now;
        let name = self.javas.iter().find(|(_, j)| due(j)).map(|(name, _)| name.clone());
        if let Some(name) = name {
            self.java(&name, |c, now, rng, out| c.due(now, rng, out));
        }
    }

    fn post(&mut self, arrival: Arrival) {
        self.queue.insert((self.now + LATENCY, self.sent), arrival);
        self.sent += 1;
    }

    // --- The network -----------------------------------------------------------------------------

    fn arrive(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Opened(conn) => self.at_client(conn, None),
            Arrival::ToClient(conn, frame) => self.at_client(conn, Some(frame)),
            Arrival::Closed(conn) => self.closed_at_client(conn),
            Arrival::Syn(conn) | Arrival::ToServer(conn, _) | Arrival::HungUp(conn) => {
                match self.links.get(&conn).map(|link| link.to) {
                    Some(Place::StandIn) => self.at_stand_in(conn, arrival),
                    Some(Place::Server(id)) => self.at_server(id, conn, arrival),
                    None => {}
                }
            }
        }
    }

    fn at_server(&mut self, id: u32, conn: ConnId, arrival: Arrival) {
        let now = self.now;
        let Some(server) = self.servers.get_mut(&id).filter(|s| s.running) else {
            // Nobody listens: the machine refuses.
            self.post(Arrival::Closed(conn));
            return;
        };
        let mut out = Vec::new();
        match arrival {
            // The machine takes connections in, even for a process that is stopped.
            Arrival::Syn(_) => self.post(Arrival::Opened(conn)),
            _ if server.paused => server.backlog.push(arrival),
            Arrival::ToServer(_, frame) => server.host.receive(now, conn, frame, &mut out),
            _ => server.host.hung_up(conn),
        }
        let halted = self.servers.get(&id).is_some_and(|s| s.host.halted());
        self.serve(out);
        if halted {
            self.stop(id);
        }
    }

    fn serve(&mut self, out: Vec<ServerOut>) {
        for what in out {
            match what {
                ServerOut::Send { conn, frame } => self.post(Arrival::ToClient(conn, frame)),
                ServerOut::Close { conn } => self.post(Arrival::Closed(conn)),
                ServerOut::Txn(_) => {}
            }
        }
    }

    fn at_stand_in(&mut self, conn: ConnId, arrival: Arrival) {
        let now = self.now;
        let number = self.stand_in.connections.get(&conn).copied().unwrap_or(0);
        let mut note = |text: String| self.stand_in.log.push((now, text));
        let answer = match arrival {
            Arrival::Syn(_) => {
                let number = self.stand_in.connections.len() + 1;
                note(format!("connection {number}"));
                self.stand_in.connections.insert(conn, number);
                self.post(Arrival::Opened(conn));
                return;
            }
            Arrival::ToServer(_, ToServer::Connect(c)) => {
                let whose = if c.session.0 == 0 { "new session" } else { "session kept" };
                note(format!("connect request, timeout {}, {whose}", c.timeout_ms));
                let timeout_ms = self.stand_in.granted_ms;
                ToClient::Connected { session: SessionId(4711), password: 1, timeout_ms }
            }
            Arrival::ToServer(_, ToServer::Ping) => {
                note("ping".into());
                ToClient::Pong { zxid: 5 }
            }
            Arrival::ToServer(_, ToServer::Request { xid, .. }) => {
                note("request".into());
                let error = kafkascope_core::zk::op::Error::NoNode;
                ToClient::Reply { xid, zxid: 5, result: Err(error.into()) }
            }
            _ => {
                note(format!("connection {number} closed by the client"));
                return;
            }
        };
        if !self.stand_in.silent {
            self.post(Arrival::ToClient(conn, answer));
        }
    }

    /// TCP stands (no frame) or a frame came.
    fn at_client(&mut self, conn: ConnId, frame: Option<ToClient>) {
        match self.links.get(&conn).map(|link| link.from.clone()) {
            Some(End::Java(name)) if self.is_current(&name, conn) => {
                self.java(&name, |c, now, rng, out| match frame {
                    Some(frame) => c.receive(now, rng, frame, out),
                    None => c.opened(now, out),
                });
            }
            Some(End::Java(_)) => {}
            Some(End::Bare(client, on)) => self.at_bare(conn, (client, on), frame),
            None => {}
        }
    }

    fn is_current(&self, name: &str, conn: ConnId) -> bool {
        self.javas.get(name).is_some_and(|j| j.conn == Some(conn))
    }

    fn closed_at_client(&mut self, conn: ConnId) {
        let Some(link) = self.links.remove(&conn) else { return };
        match link.from {
            End::Java(name) => {
                if let Some(java) = self.javas.get_mut(&name).filter(|j| j.conn == Some(conn)) {
                    java.conn = None;
                    self.java(&name, |c, now, rng, out| c.closed(now, rng, out));
                }
            }
            End::Bare(client, on) => {
                if let Some(bare) = self.bares.get_mut(&(client, on))
                    && bare.conn == Some(conn)
                {
                    bare.closed = true;
                }
            }
        }
    }

    fn connect(&mut self, from: End, to: Place) -> ConnId {
        self.connections += 1;
        let conn = ConnId(self.connections);
        self.links.insert(conn, Link { to, from });
        self.post(Arrival::Syn(conn));
        conn
    }

    fn hang_up(&mut self, conn: ConnId) {
        // The server's end still finds the link until the news has arrived there; what comes back
        // for the client is dropped, because its current connection is another one.
        if self.links.contains_key(&conn) {
            self.post(Arrival::HungUp(conn));
        }
    }

    // --- Servers ---------------------------------------------------------------------------------

    pub fn is_running(&self, id: u32) -> bool {
        self.servers.get(&id).is_some_and(|s| s.running)
    }

    /// A new server, empty, in place of one that may be there.
    pub fn start_fresh(&mut self, id: u32, settings: Settings) {
        self.stop(id);
        let host = Host::new(self.release, settings, self.now);
        let server = Server { host, running: true, paused: false, backlog: Vec::new() };
        self.servers.insert(id, server);
    }

    /// Starts one that was stopped, with the data it had. False if there is none.
    pub fn start_again(&mut self, id: u32) -> bool {
        let now = self.now;
        match self.servers.get_mut(&id) {
            Some(server) => {
                if !server.running {
                    server.running = true;
                    server.host.start_again(now);
                }
                true
            }
            None => false,
        }
    }

    /// Orderly or not: connections go, the data stays.
    pub fn stop(&mut self, id: u32) {
        let Some(server) = self.servers.get_mut(&id).filter(|s| s.running) else { return };
        server.running = false;
        server.paused = false;
        server.backlog.clear();
        let to = Place::Server(id);
        let conns = self.links.iter().filter(|(_, link)| link.to == to).map(|(conn, _)| *conn);
        for conn in conns.collect::<Vec<_>>() {
            self.post(Arrival::Closed(conn));
        }
    }

    pub fn pause(&mut self, id: u32, paused: bool) {
        let Some(server) = self.servers.get_mut(&id) else { return };
        server.paused = paused;
        if !paused {
            for arrival in std::mem::take(&mut server.backlog) {
                self.arrive(arrival);
            }
        }
    }

    pub fn host(&mut self, id: u32) -> Option<&mut Host> {
        self.servers.get_mut(&id).map(|s| &mut s.host)
    }

    pub fn only_server(&self) -> Option<u32> {
        self.servers.keys().next().copied()
    }

    // --- Java clients ----------------------------------------------------------------------------

    pub fn start_java(&mut self, name: &str, to: Place, timeout_ms: i32) {
        let config =
            ClientConfig { release: self.release, session_timeout_ms: timeout_ms, servers: 1 };
        let java = Java {
            client: Client::new(config),
            to,
            conn: None,
            watchers: vec!["default".into()],
            next_tag: 1,
            done: BTreeMap::new(),
        };
        self.javas.insert(name.into(), java);
        self.java(name, |c, now, rng, out| c.start(now, rng, out));
    }

    /// Sends a request with the named watcher, if any; its answer appears in `done`.
    pub fn submit(&mut self, name: &str, op: Op, watcher: Option<&str>) -> Option<Tag> {
        let java = self.javas.get_mut(name)?;
        let tag = java.next_tag;
        java.next_tag += 1;
        let watcher = watcher.map(|wanted| {
            let known = java.watchers.iter().position(|w| w == wanted);
            let index = known.unwrap_or_else(|| {
                java.watchers.push(wanted.into());
                java.watchers.len() - 1
            });
            WatcherId(u32::try_from(index).unwrap_or(0))
        });
        self.java(name, |c, now, _, out| c.submit(now, tag, op, watcher, out));
        Some(tag)
    }

    pub fn close_java(&mut self, name: &str) {
        self.java(name, |c, now, _, out| c.close(now, 0, out));
    }

    fn java(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut Client, Instant, &mut Rng, &mut Vec<ClientOut>),
    ) {
        let mut out = Vec::new();
        if let Some(java) = self.javas.get_mut(name) {
            act(&mut java.client, self.now, &mut self.rng, &mut out);
        }
        for what in out {
            self.do_for_java(name, what);
        }
    }

    fn do_for_java(&mut self, name: &str, what: ClientOut) {
        let Some(java) = self.javas.get_mut(name) else { return };
        match what {
            ClientOut::Open => {
                let to = java.to;
                let conn = self.connect(End::Java(name.into()), to);
                if let Some(java) = self.javas.get_mut(name) {
                    java.conn = Some(conn);
                }
            }
            ClientOut::Send(frame) => {
                if let Some(conn) = java.conn {
                    self.post(Arrival::ToServer(conn, frame));
                }
            }
            ClientOut::Close => {
                if let Some(conn) = java.conn.take() {
                    self.hang_up(conn);
                }
            }
            ClientOut::Done { tag, result } => {
                java.done.insert(tag, result);
            }
            ClientOut::Event { watchers, kind, path, .. } => {
                self.tell(name, &watchers, &format!("{} {path}", kind.name()), false);
            }
            ClientOut::State { state, watchers } => {
                self.tell(name, &watchers, state.name(), true);
            }
        }
    }

    fn tell(&mut self, name: &str, watchers: &[WatcherId], what: &str, is_state: bool) {
        let Some(java) = self.javas.get(name) else { return };
        for id in watchers {
            let watcher = java.watchers.get(id.0 as usize).cloned().unwrap_or_default();
            self.told.push(Told {
                at: self.now,
                client: name.into(),
                watcher,
                what: what.into(),
                is_state,
            });
        }
    }

    pub fn is_connected(&self, name: &str) -> bool {
        self.javas.get(name).is_some_and(|j| j.client.state() == KeeperState::SyncConnected)
    }

    // --- Bare clients ----------------------------------------------------------------------------

    /// Opens a connection; `resume` are the session's id, password and last zxid.
    pub fn open_bare(
        &mut self,
        key: &(String, String),
        to: Place,
        timeout_ms: i32,
        resume: Option<(SessionId, u64, Zxid)>,
    ) {
        let (session, password, last_zxid_seen) = resume.unwrap_or_default();
        let conn = self.connect(End::Bare(key.0.clone(), key.1.clone()), to);
        let bare = Bare {
            conn: Some(conn),
            session,
            password,
            last_zxid: last_zxid_seen,
            next_xid: 1,
            hello: Some(ConnectRequest { session, password, timeout_ms, last_zxid_seen }),
            ..Bare::default()
        };
        self.bares.insert(key.clone(), bare);
    }

    fn at_bare(&mut self, conn: ConnId, key: (String, String), frame: Option<ToClient>) {
        let now = self.now;
        let Some(bare) = self.bares.get_mut(&key).filter(|b| b.conn == Some(conn)) else { return };
        match frame {
            None => {
                if let Some(hello) = bare.hello.take() {
                    self.send_bare(&key, ToServer::Connect(hello));
                }
            }
            Some(ToClient::Connected { session, password, timeout_ms }) => {
                bare.granted_ms = Some(timeout_ms);
                if timeout_ms > 0 {
                    bare.session = session;
                    bare.password = password;
                }
            }
            Some(ToClient::Pong { .. }) => bare.pongs += 1,
            Some(ToClient::Event { kind, path, .. }) => {
                let path = path.to_string();
                bare.frames.push((now, Kept::Event { kind: kind.name(), path }));
            }
            Some(ToClient::Reply { xid, zxid, result }) => {
                if zxid > 0 {
                    bare.last_zxid = zxid;
                }
                bare.frames.push((now, Kept::Reply));
                bare.replies.insert(xid, result);
            }
        }
    }

    /// False if the connection is known to be closed.
    pub fn send_bare(&mut self, key: &(String, String), frame: ToServer) -> bool {
        let now = self.now;
        let Some(bare) = self.bares.get_mut(key).filter(|b| !b.closed) else { return false };
        let Some(conn) = bare.conn else { return false };
        bare.sent_at = now;
        self.post(Arrival::ToServer(conn, frame));
        true
    }

    /// Sends a request; its xid, or nothing if the connection is known to be closed.
    pub fn request_bare(&mut self, key: &(String, String), op: Op) -> Option<i32> {
        let bare = self.bares.get_mut(key)?;
        let xid = match op {
            Op::AddAuth { .. } => -4,
            Op::SetWatches(_) => -8,
            _ => {
                bare.next_xid += 1;
                bare.next_xid - 1
            }
        };
        bare.replies.remove(&xid);
        self.send_bare(key, ToServer::Request { xid, op }).then_some(xid)
    }

    /// The TCP connection goes, the session isn't told.
    pub fn cut_bare(&mut self, key: &(String, String)) {
        let Some(bare) = self.bares.get_mut(key) else { return };
        bare.closed = true;
        if let Some(conn) = bare.conn.take() {
            self.hang_up(conn);
        }
    }
}
