//! Plays the steps of one scenario against one server: what recorder/zookeeper/rig.py does with a
//! real one, over bare connections or with Java clients, in virtual time.

use std::collections::{BTreeMap, VecDeque};

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::zk::op::{
    ConnId, ConnectRequest, CreateMode, Error, Failure, Op, Release, Reply, SessionId, ToClient,
    ToServer, Zxid,
};
use kafkascope_core::zk::server::{Config, Server, ServerOut};
use serde_json::{Map, Value, json};

use super::json::{int, text};
use super::zk_client::JavaClient;
use super::zk_shape::{self, Owners};

type Answer = Result<Reply, Failure>;

struct Client {
    conn: ConnId,
    session: SessionId,
    timeout_ms: i32,
    closed: bool,
    last_zxid: Zxid,
    answers: VecDeque<Answer>,
    /// What has come since the last step, as the recorder writes it down.
    frames: Vec<String>,
    java: Option<JavaClient>,
}

/// What was seen in a step.
pub struct Seen {
    pub result: Value,
    /// Per watcher, as Java clients deliver them.
    pub events: Vec<Value>,
    /// Per bare connection that got an event: everything that it got.
    pub frames: Map<String, Value>,
    pub last_zxid: Value,
}

pub struct Rig<'a> {
    scenario: &'a Value,
    release: Release,
    java: bool,
    server: Server,
    now: Instant,
    clients: BTreeMap<String, Client>,
    saved: BTreeMap<String, (SessionId, u64)>,
    owners: Owners,
    next_conn: u32,
    events: Vec<Value>,
    out: Vec<ServerOut>,
}

impl<'a> Rig<'a> {
    pub fn new(scenario: &'a Value, release: Release, java: bool) -> Rig<'a> {
        let props = scenario["props"].as_array().into_iter().flatten();
        let off = |prop: &Value| text(prop).ends_with("extendedTypesEnabled=false");
        let config = Config {
            release,
            tick_ms: u32::try_from(int(&scenario["tick_time_ms"])).unwrap_or(2_000),
            // The recorder's servers have them on unless a scenario says otherwise.
            extended_types: !props.into_iter().any(off),
            ..Config::default()
        };
        Rig {
            scenario,
            release,
            java,
            server: Server::new(config),
            now: Instant::ZERO + Span::from_secs(1),
            clients: BTreeMap::new(),
            saved: BTreeMap::new(),
            owners: Owners::new(),
            next_conn: 0,
            events: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Plays all steps. A server that has ended itself answers no more.
    pub fn play(mut self) -> Vec<Seen> {
        let steps = self.scenario["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        steps.iter().map(|step| self.seen(step)).collect()
    }

    fn seen(&mut self, step: &Value) -> Seen {
        if self.server.halted() {
            return gone("server gone");
        }
        self.pass(1);
        let result = self.step(text(&step["client"]), &step["op"]);
        if self.server.halted() {
            return gone("server process ended itself");
        }
        let no_ping = names(&self.scenario["no_ping"]);
        self.ping_all(&no_ping);
        let mut frames = Map::new();
        for (name, client) in &mut self.clients {
            let seen = std::mem::take(&mut client.frames);
            if client.java.is_none() && seen.iter().any(|frame| frame != "reply") {
                frames.insert(name.clone(), seen.into());
            }
        }
        let events = std::mem::take(&mut self.events);
        Seen { result, events, frames, last_zxid: self.server.last_zxid().into() }
    }

    fn step(&mut self, name: &str, op: &Value) -> Value {
        match text(&op["name"]) {
            "connect" => {
                let java = self.java && !names(&self.scenario["silent_clients"]).contains(&name);
                self.connect(name, op, java)
            }
            "wait" => {
                let silent = names(&op["silent"]);
                self.wait(int(&op["ms"]), &silent);
                json!({"ok": true})
            }
            "container-check" => {
                let max = u64::try_from(int(&op["max_never_used_ms"])).ok().filter(|ms| *ms > 0);
                self.server.set_max_never_used_ms(max);
                self.server.check_containers(self.now, &mut self.out);
                self.route();
                self.wait(200, &[]);
                json!({"ok": true})
            }
            "expire" => self.expire(name),
            "drop" => self.hang_up(name),
            "reconnect" => self.reconnect(name, op),
            "close" => {
                self.ask(name, Op::CloseSession);
                self.clients.remove(name);
                json!({"ok": true})
            }
            "pipeline" => self.pipeline(name, op),
            _ => match self.clients.get(name).map(|client| client.java.is_some()) {
                None => json!({"error": "recorder:KeyError"}),
                Some(true) => self.java_op(name, op),
                Some(false) => self.wire_op(name, op),
            },
        }
    }

    // -- time

    /// Lets time go by; sessions expire at their moment.
    fn pass(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        while self.server.next_expiry() <= end {
            self.now = self.server.next_expiry().max(self.now);
            self.server.expire(self.now, &mut self.out);
            self.route();
        }
        self.now = end;
    }

    fn wait(&mut self, ms: i64, silent: &[&str]) {
        let mut left = u64::try_from(ms).unwrap_or_default();
        while left > 0 {
            let part = left.min(100);
            self.pass(part);
            left -= part;
            self.ping_all(silent);
        }
    }

    fn ping_all(&mut self, skip: &[&str]) {
        let open: Vec<String> =
            self.clients.iter().filter(|(_, c)| !c.closed).map(|(n, _)| n.clone()).collect();
        for name in open.iter().filter(|name| !skip.contains(&name.as_str())) {
            self.send(name, ToServer::Ping);
        }
    }

    // -- connections

    fn open(&mut self, request: ConnectRequest, java: Option<JavaClient>) -> Client {
        self.next_conn += 1;
        let conn = ConnId(self.next_conn);
        let last_zxid = request.last_zxid_seen;
        let frame = ToServer::Connect(request);
        self.server.receive(self.now, conn, [127, 0, 0, 1], frame, &mut self.out);
        let mut client = Client {
            conn,
            session: SessionId(0),
            timeout_ms: -1,
            closed: false,
            last_zxid,
            answers: VecDeque::new(),
            frames: Vec::new(),
            java,
        };
        // The answer comes before the client is known to the router, which passes on the rest.
        for out in std::mem::take(&mut self.out) {
            match out {
                ServerOut::Send { conn: to, frame: ToClient::Connected { .. } } if to == conn => {
                    if let ServerOut::Send { frame, .. } = out {
                        self.greeted(&mut client, &frame);
                    }
                }
                ServerOut::Close { conn: to } if to == conn => client.closed = true,
                out => self.out.push(out),
            }
        }
        self.route();
        client
    }

    fn greeted(&mut self, client: &mut Client, frame: &ToClient) {
        if let ToClient::Connected { session, timeout_ms, .. } = frame {
            client.session = *session;
            client.timeout_ms = *timeout_ms;
        }
    }

    fn connect(&mut self, name: &str, op: &Value, java: bool) -> Value {
        let java = java.then(|| JavaClient::new(name, self.release));
        let request = ConnectRequest {
            session: SessionId(0),
            password: 0,
            timeout_ms: i32::try_from(int(&op["requested_timeout_ms"])).unwrap_or_default(),
            last_zxid_seen: 0,
        };
        let client = self.open(request, java);
        let password = self.server.session(client.session).map_or(0, |session| session.password);
        self.saved.insert(name.into(), (client.session, password));
        self.owners.insert(client.session.0, name.into());
        let timeout_ms = client.timeout_ms;
        self.clients.insert(name.into(), client);
        json!({"negotiated_timeout_ms": timeout_ms})
    }

    fn reconnect(&mut self, name: &str, op: &Value) -> Value {
        let (session, password) = self.saved.get(name).copied().unwrap_or_default();
        let seen = self.clients.get(name).map_or(0, |client| client.last_zxid);
        let request = ConnectRequest {
            session,
            password: if op["wrong_password"] == true { !password } else { password },
            timeout_ms: i32::try_from(int(&op["requested_timeout_ms"])).unwrap_or_default(),
            last_zxid_seen: op["last_zxid"].as_i64().unwrap_or(seen),
        };
        let client = self.open(request, None);
        if client.timeout_ms < 0 {
            return json!({"error": "connection closed by server"});
        }
        let timeout_ms = client.timeout_ms;
        if client.session == SessionId(0) || timeout_ms <= 0 {
            return json!({"error": "SESSIONEXPIRED", "negotiated_timeout_ms": timeout_ms});
        }
        let same = client.session == session;
        self.clients.insert(name.into(), client);
        json!({"negotiated_timeout_ms": timeout_ms, "same_session": same})
    }

    /// The client cuts its connection and says nothing.
    fn hang_up(&mut self, name: &str) -> Value {
        if let Some(client) = self.clients.get_mut(name) {
            client.closed = true;
            self.server.connection_closed(client.conn);
        }
        json!({"ok": true})
    }

    /// The client falls silent until the server drops its connection.
    fn expire(&mut self, name: &str) -> Value {
        let closed = |rig: &Self| rig.clients.get(name).is_none_or(|client| client.closed);
        for _ in 0..1_200 {
            if closed(self) {
                break;
            }
            self.pass(50);
            self.ping_all(&[name]);
        }
        let expired = closed(self);
        self.hang_up(name);
        self.clients.remove(name);
        json!({"expired": expired})
    }

    // -- frames

    fn send(&mut self, name: &str, frame: ToServer) {
        let Some(client) = self.clients.get(name).filter(|client| !client.closed) else { return };
        self.server.receive(self.now, client.conn, [127, 0, 0, 1], frame, &mut self.out);
        self.route();
    }

    fn route(&mut self) {
        for out in std::mem::take(&mut self.out) {
            let (ServerOut::Send { conn, .. } | ServerOut::Close { conn }) = &out else { continue };
            let conn = *conn;
            let Some(client) = self.clients.values_mut().find(|c| c.conn == conn && !c.closed)
            else {
                continue;
            };
            match out {
                ServerOut::Send { frame, .. } => take(client, frame, &mut self.events),
                _ => client.closed = true,
            }
        }
    }

    /// One request and its answer; `None` if the connection is or gets lost.
    fn ask(&mut self, name: &str, op: Op) -> Option<Answer> {
        self.send(name, ToServer::Request { xid: 1, op });
        self.clients.get_mut(name)?.answers.pop_front()
    }

    /// The old create has no stat in its answer: the recorder looks for it.
    fn ask_with_stat(&mut self, name: &str, op: &Op) -> Option<Answer> {
        let answer = self.ask(name, op.clone())?;
        if let (Ok(Reply::Create { path, .. }), true) = (&answer, self.has_old_create(op)) {
            let exists = Op::Exists { path: path.clone(), watch: false };
            let looked = self.ask(name, exists)?;
            self.clients.get_mut(name)?.frames.pop();
            if let Ok(Reply::Stat(stat)) = looked {
                return Some(Ok(Reply::Create { path: path.clone(), stat }));
            }
        }
        Some(answer)
    }

    fn has_old_create(&self, op: &Op) -> bool {
        self.release == Release::V3_4_6
            && matches!(op, Op::Create { mode, .. } if *mode != CreateMode::Container)
    }

    // -- requests

    fn wire_op(&mut self, name: &str, step: &Value) -> Value {
        let Some(op) = zk_shape::op(step) else { return json!({"error": "recorder:ValueError"}) };
        match self.ask_with_stat(name, &op) {
            Some(answer) => zk_shape::result(&op, &answer, &self.owners),
            None => zk_shape::error(Error::ConnectionLoss),
        }
    }

    fn pipeline(&mut self, name: &str, step: &Value) -> Value {
        let steps = step["ops"].as_array().into_iter().flatten();
        let ops: Vec<Op> = steps.filter_map(zk_shape::op).collect();
        for op in &ops {
            self.send(name, ToServer::Request { xid: 1, op: op.clone() });
        }
        let Some(client) = self.clients.get_mut(name) else { return Value::Null };
        let answers: Vec<Answer> = client.answers.drain(..).collect();
        if answers.len() < ops.len() {
            return zk_shape::error(Error::ConnectionLoss);
        }
        let result = |(op, answer): (&Op, &Answer)| {
            let mut value = zk_shape::result(op, answer, &self.owners);
            if let (true, Some(fields)) = (self.has_old_create(op), value.as_object_mut()) {
                fields.remove("stat");
            }
            value
        };
        json!({"results": ops.iter().zip(&answers).map(result).collect::<Vec<_>>()})
    }

    fn java_op(&mut self, name: &str, step: &Value) -> Value {
        let Some(mut op) = zk_shape::op(step) else {
            return json!({"error": "recorder:ValueError"});
        };
        // A removal that names its watcher only asks the server whether there is such a watch.
        if let (Op::RemoveWatches { path, kind }, true) = (&op, step["watch"].is_string()) {
            op = Op::CheckWatches { path: path.clone(), kind: *kind };
        }
        self.resume(name);
        let Some(java) = self.clients.get_mut(name).and_then(|client| client.java.as_mut()) else {
            return Value::Null;
        };
        let watcher = step["watch"].as_str().map(|watch| java.watcher(watch));
        if let Some(refused) = java.refuses(&op) {
            return refused;
        }
        let Some(answer) = self.ask_with_stat(name, &op) else {
            return zk_shape::error(Error::ConnectionLoss);
        };
        let Some(java) = self.clients.get_mut(name).and_then(|client| client.java.as_mut()) else {
            return Value::Null;
        };
        let outcome = match &answer {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.error),
        };
        let answer = match java.answered(&op, watcher, outcome, &mut self.events) {
            Err(error) if outcome.is_ok() => Err(error.into()),
            _ => answer,
        };
        zk_shape::result(&op, &answer, &self.owners)
    }

    /// A Java client that has lost its connection makes a new one and puts its watches back.
    fn resume(&mut self, name: &str) {
        let Some(mut old) = self.clients.remove(name) else { return };
        if !old.closed {
            self.clients.insert(name.into(), old);
            return;
        }
        let (session, password) = self.saved.get(name).copied().unwrap_or_default();
        let last_zxid_seen = old.last_zxid;
        let request =
            ConnectRequest { session, password, timeout_ms: old.timeout_ms, last_zxid_seen };
        let client = self.open(request, old.java.take());
        let again = client.java.as_ref().and_then(|java| java.tables.rearm(last_zxid_seen));
        self.clients.insert(name.into(), client);
        if let Some(set) = again {
            self.ask(name, Op::SetWatches(Box::new(set)));
        }
    }
}

fn take(client: &mut Client, frame: ToClient, events: &mut Vec<Value>) {
    match frame {
        ToClient::Reply { zxid, result, .. } => {
            client.last_zxid = if zxid > 0 { zxid } else { client.last_zxid };
            client.frames.push("reply".into());
            client.answers.push_back(result);
        }
        ToClient::Event { kind, path, zxid } => {
            let at = if zxid >= 0 { format!(" @{zxid}") } else { String::new() };
            client.frames.push(format!("{} {path}{at}", kind.name()));
            if let Some(java) = &mut client.java {
                java.event(kind, &path, events);
            }
        }
        ToClient::Pong { zxid } => client.last_zxid = client.last_zxid.max(zxid),
        ToClient::Connected { .. } => {}
    }
}

fn gone(error: &str) -> Seen {
    let result = json!({"error": error});
    Seen { result, events: Vec::new(), frames: Map::new(), last_zxid: Value::Null }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
