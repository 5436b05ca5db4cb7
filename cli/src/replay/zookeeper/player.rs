//! Plays a recording's steps: each op in turn, then the step's conditions and waits.

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::zk::op::{Op, Release, SessionId, ToServer};
use serde_json::{Map, Value, json};

use super::super::common::span;
use super::Stop;
use super::facts::{self, seconds};
use super::host::Settings;
use super::words::{self, Known, Unknown, put};
use super::world::{Kept, LATENCY, Place, World};

/// A bare client and which of its connections.
pub type Key = (String, String);

/// How long a call is waited for.
const CALL: Span = Span::from_secs(8);
/// How much later than its client the recorder knows that it is connected: the first time the JVM
/// still loads classes.
const FIRST_RETURN: Span = Span::from_millis(50);
const LATER_RETURN: Span = Span::from_millis(1);
/// Enough for everything on the wire to arrive, and its answers.
const FLUSH: Span = Span::from_millis(10);
/// How long a condition without a limit is waited for.
const PATIENCE: Span = Span::from_secs(60);

pub struct Player {
    pub world: World,
    java: bool,
    /// Facts of the step under way.
    pub facts: Map<String, Value>,
    pub step_start: Instant,
    names: BTreeMap<SessionId, String>,
    /// Frames of each connection when the step began.
    marks: BTreeMap<Key, usize>,
    /// Told before this were read already.
    taken: usize,
    /// From when on an ephemeral's end is timed, and whether its session was closed.
    ended: Option<(Instant, bool)>,
    stopped: Option<Instant>,
    connected: Instant,
    read_events: bool,
}

impl Player {
    pub fn new(release: Release, java: bool) -> Player {
        Player {
            world: World::new(release),
            java,
            facts: Map::new(),
            step_start: Instant::ZERO,
            names: BTreeMap::new(),
            marks: BTreeMap::new(),
            taken: 0,
            ended: None,
            stopped: None,
            connected: Instant::ZERO,
            read_events: false,
        }
    }

    /// One step; the answer has the recording's fields.
    pub fn step(&mut self, step: &Value) -> Result<Value, Stop> {
        self.facts = Map::new();
        self.step_start = self.world.now;
        self.stopped = None;
        self.read_events = false;
        let frames = self.world.bares.iter().map(|(key, bare)| (key.clone(), bare.frames.len()));
        self.marks = frames.collect();
        self.op(&step["op"])?;
        self.wait(step)?;
        for read in step["reads"].as_array().into_iter().flatten() {
            self.read(read)?;
        }
        if self.java {
            self.java_facts(step["max_s"].is_number());
        }
        for ((client, _), bare) in &self.world.bares {
            let zxid = format!("{:#x}", bare.last_zxid);
            self.facts.insert(format!("last_zxid_seen_by_{client}"), zxid.into());
        }
        let mut done = Map::new();
        for field in ["do", "op"] {
            done.insert(field.into(), step[field].clone());
        }
        done.append(&mut self.facts);
        Ok(done.into())
    }

    fn op(&mut self, op: &Value) -> Result<(), Stop> {
        match op["op"].as_str().unwrap_or_default() {
            "sequence" => {
                for inner in op["ops"].as_array().into_iter().flatten() {
                    if let Some(pause) = span(&inner["after_s"]) {
                        self.world.run_for(pause);
                    }
                    self.op(inner)?;
                }
            }
            "start-server" => self.start_server(op)?,
            "stop-server" | "kill-server" => self.stop_server(op),
            "pause-server" | "resume-server" => {
                let pause = op["op"] == "pause-server";
                self.world.pause(server_id(&op["id"]), pause);
                self.ended = pause.then_some((self.world.now, false)).or(self.ended);
            }
            "connect" => self.connect_all(op)?,
            "resume" => self.connect(op, words::text(op, "client")?, true)?,
            "connect-each" => self.connect_each(op)?,
            "call" => self.calls(op)?,
            "poll" => self.poll(op)?,
            "ping" => self.ping(op)?,
            "listen" => self.listen(op)?,
            "end-session" => self.end_session(op)?,
            "idle" if op["answers"].is_boolean() => self.idle(op),
            "wait" | "idle" => self.wait(op)?,
            "silence" => super::silence::play(self, op)?,
            "read" => self.read(op)?,
            "setData" => self.set_version(op)?,
            other => return Err(Stop::Unknown(format!("op {other}"))),
        }
        Ok(())
    }

    // --- Servers ---------------------------------------------------------------------------------

    fn start_server(&mut self, op: &Value) -> Known<()> {
        let id = server_id(op["ids"].get(0).unwrap_or(&op["id"]));
        self.server(id, &op["server"])
    }

    /// Starts a server empty, or once more with what it had; leaves a running one alone.
    pub fn server(&mut self, id: u32, server: &Value) -> Known<()> {
        let fresh = server["fresh"].as_bool();
        if fresh == Some(true) || fresh.is_none() && !self.world.start_again(id) {
            self.world.start_fresh(id, settings(server)?);
        } else if !self.world.start_again(id) {
            return Err(Unknown(format!("server {id} was never started")));
        }
        Ok(())
    }

    fn stop_server(&mut self, op: &Value) {
        let id = server_id(op["ids"].get(0).unwrap_or(&op["id"]));
        self.world.stop(id);
        self.stopped = Some(self.world.now);
        self.ended = Some((self.world.now, false));
    }

    fn place(&self, server: &Value) -> Place {
        match server {
            Value::String(name) if name == "stand-in" => Place::StandIn,
            Value::Number(_) => Place::Server(server_id(server)),
            _ => Place::Server(self.world.only_server().unwrap_or(0)),
        }
    }

    // --- Sessions --------------------------------------------------------------------------------

    fn connect_all(&mut self, op: &Value) -> Known<()> {
        let many = op["clients"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for client in many.chain(op["client"].as_str()) {
            self.connect(op, client, false)?;
        }
        Ok(())
    }

    fn connect(&mut self, op: &Value, client: &str, resume: bool) -> Known<()> {
        let (to, timeout_ms) = (self.place(&op["server"]), words::int(op, "timeout_ms")?);
        if self.java {
            self.connect_java(op, client, to, timeout_ms);
            return Ok(());
        }
        let key = key(op, client);
        let old = resume.then(|| self.session_of(&key)).flatten();
        self.world.open_bare(&key, to, timeout_ms, old);
        let until = self.world.now + span(&op["wait_s"]).unwrap_or(CALL);
        self.world
            .run(until, |w| w.bares.get(&key).is_some_and(|b| b.closed || b.granted_ms.is_some()));
        let outcome = self.outcome(&key, old.map(|old| old.0));
        match op["into"].as_str() {
            Some(into) => put(&mut self.facts, into, outcome),
            None if !resume => {
                if let Some(granted) = outcome.get("negotiated_timeout_ms") {
                    self.facts.insert("negotiated_timeout_ms".into(), granted.clone());
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Session, password and last zxid of this connection of the client, or of any other of its.
    fn session_of(&self, key: &Key) -> Option<(SessionId, u64, i64)> {
        let own = self.world.bares.get(key);
        let any = self.world.bares.iter().find(|(k, _)| k.0 == key.0).map(|(_, bare)| bare);
        own.or(any).map(|b| (b.session, b.password, b.last_zxid))
    }

    /// In words or numbers, what became of a connect.
    fn outcome(&mut self, key: &Key, resumed: Option<SessionId>) -> Value {
        let Some(bare) = self.world.bares.get_mut(key) else { return Value::Null };
        match bare.granted_ms {
            Some(granted) if granted > 0 => {
                let session = bare.session;
                self.names.entry(session).or_insert_with(|| key.0.clone());
                let mut told = json!({"negotiated_timeout_ms": granted});
                if let Some(old) = resumed {
                    told["same_session"] = (old == session).into();
                }
                told
            }
            Some(_) => {
                self.world.cut_bare(key);
                "session expired".into()
            }
            None if bare.closed && bare.hello.is_some() => "refused: ConnectionRefusedError".into(),
            None if bare.closed => "connection closed by the server without an answer".into(),
            None => "no answer".into(),
        }
    }

    fn connect_java(&mut self, op: &Value, client: &str, to: Place, timeout_ms: i32) {
        if to == Place::StandIn {
            let granted = op["granted_timeout_ms"].as_i64().and_then(|ms| i32::try_from(ms).ok());
            self.world.stand_in = Default::default();
            self.world.stand_in.granted_ms = granted.unwrap_or(timeout_ms);
        }
        self.world.start_java(client, to, timeout_ms);
        let until = self.world.now + CALL;
        let first = self.world.javas.len() == 1 && self.connected == Instant::ZERO;
        self.world.run(until, |w| w.is_connected(client));
        self.world.run_for(if first { FIRST_RETURN } else { LATER_RETURN });
        self.connected = self.world.now;
        self.world.stand_in.log.clear();
    }

    fn connect_each(&mut self, op: &Value) -> Known<()> {
        self.server(0, &op["server"])?;
        let key = (String::new(), String::new());
        let mut granted = Vec::new();
        for timeout in op["timeouts_ms"].as_array().into_iter().flatten() {
            let timeout = timeout.as_i64().and_then(|t| i32::try_from(t).ok());
            let timeout = timeout.ok_or_else(|| Unknown(format!("timeouts_ms of {op}")))?;
            self.world.open_bare(&key, Place::Server(0), timeout, None);
            let until = self.world.now + CALL;
            self.world.run(until, |w| w.bares.get(&key).is_some_and(|b| b.granted_ms.is_some()));
            granted.push(self.world.bares.get(&key).and_then(|b| b.granted_ms));
            if op["then"] == "close" {
                self.call_bare(&key, Op::CloseSession, true);
            }
            self.world.cut_bare(&key);
        }
        self.facts.insert("negotiated_timeouts_ms".into(), json!(granted));
        Ok(())
    }

    fn end_session(&mut self, op: &Value) -> Known<()> {
        let client = words::text(op, "client")?;
        let how = words::text(op, "how")?;
        self.ended = Some((self.world.now, how == "close"));
        let key = key(op, client);
        match how {
            "close" if self.java => {
                self.world.close_java(client);
                self.world.run_for(FLUSH);
            }
            "close" => {
                self.call_bare(&key, Op::CloseSession, true);
                self.world.cut_bare(&key);
            }
            "cut" => self.world.cut_bare(&key),
            "silent" => {}
            _ => return Err(Unknown(format!("how of {op}"))),
        }
        Ok(())
    }

    // --- Requests --------------------------------------------------------------------------------

    fn calls(&mut self, op: &Value) -> Known<()> {
        let client = words::text(op, "client")?;
        let key = key(op, client);
        let open = self.world.bares.get(&key).is_some_and(|b| !b.closed);
        if op["if_connected"] == true && !open && !self.java {
            return Ok(());
        }
        for k in 0..op["repeat"].as_u64().unwrap_or(1) {
            let mut one = op.clone();
            if let Some(data) = op["data"].as_str() {
                one["data"] = data.replace("{k}", &k.to_string()).into();
            }
            let answer = self.call(&one, client, &key)?;
            if let Some(into) = op["into"].as_str() {
                for answer in answer {
                    put(&mut self.facts, into, answer);
                }
            }
        }
        Ok(())
    }

    /// The answers that a call brings: one, or the frames that came if `into` asks for those.
    fn call(&mut self, op: &Value, client: &str, key: &Key) -> Known<Vec<Value>> {
        if self.java {
            return Ok(vec![self.call_java(op, client)?]);
        }
        let last_zxid = self.world.bares.get(key).map_or(0, |b| b.last_zxid);
        let before = self.world.bares.get(key).map_or(0, |b| b.frames.len());
        let request = words::request(op, last_zxid)?;
        let answer = self.call_bare(key, request, op["wait_answer"] != false);
        if op["into"] == "frames[]" {
            return Ok(self.frames(key, before, true));
        }
        Ok(vec![answer])
    }

    pub fn call_bare(&mut self, key: &Key, request: Op, wait: bool) -> Value {
        let Some(xid) = self.world.request_bare(key, request) else {
            return "connection closed".into();
        };
        if !wait {
            return Value::Null;
        }
        let until = self.world.now + CALL;
        let answered =
            |w: &World| w.bares.get(key).is_none_or(|b| b.closed || b.replies.contains_key(&xid));
        let came = self.world.run(until, answered);
        let result = self.world.bares.get_mut(key).and_then(|b| b.replies.remove(&xid));
        self.has_read(key);
        let owner = |session: i64| match self.names.get(&SessionId(session)) {
            Some(name) => name.clone().into(),
            None => session.into(),
        };
        match result {
            Some(result) => words::answer(&result, &owner),
            None if came => "connection closed".into(),
            None => "no reply".into(),
        }
    }

    fn call_java(&mut self, op: &Value, client: &str) -> Known<Value> {
        let request = words::request(op, 0)?;
        let watcher = match &op["watch"] {
            Value::String(name) => Some(name.as_str()),
            Value::Bool(true) => Some("default"),
            _ => None,
        };
        let tag = self.world.submit(client, request.clone(), watcher);
        let tag = tag.ok_or_else(|| Unknown(format!("client {client}")))?;
        let until = self.world.now + PATIENCE;
        let done = |w: &World| w.javas.get(client).is_some_and(|j| j.done.contains_key(&tag));
        self.world.run(until, done);
        let result = self.world.javas.get_mut(client).and_then(|j| j.done.remove(&tag));
        Ok(result.map_or("no reply".into(), |result| words::java_answer(&request, &result)))
    }

    /// A call again and again until the connection closes; how many were answered.
    fn poll(&mut self, op: &Value) -> Known<()> {
        let client = words::text(op, "client")?;
        let (key, start) = (key(op, client), self.world.now);
        let until = start + span(&op["max_s"]).unwrap_or(PATIENCE);
        let every = span(&op["every_s"]).unwrap_or(Span::from_millis(250));
        let (mut answered, mut last) = (0u64, start);
        let closed = |w: &World| w.bares.get(&key).is_none_or(|b| b.closed);
        loop {
            let answer = self.call(op, client, &key)?;
            if answer.iter().all(|a| a != "connection closed" && a != "no reply") {
                answered += 1;
                last = self.world.now;
            }
            let pause = (self.world.now + every).min(until);
            if self.world.run(pause, closed) || pause >= until || op["once"] == true {
                break;
            }
        }
        let told = json!({
            "reads_answered": answered,
            "last_read_answered_after_s": seconds(last.since(start)),
            "closed_after_s": closed(&self.world).then(|| seconds(self.world.now.since(start))),
        });
        if let Some(into) = op["into"].as_str() {
            put(&mut self.facts, into, told);
        }
        Ok(())
    }

    fn ping(&mut self, op: &Value) -> Known<()> {
        let key = key(op, words::text(op, "client")?);
        let before = self.world.bares.get(&key).map_or(0, |b| b.pongs);
        let sent = self.world.send_bare(&key, ToServer::Ping);
        let until = self.world.now + span(&op["wait_s"]).unwrap_or(CALL);
        let over = |w: &World| w.bares.get(&key).is_none_or(|b| b.closed || b.pongs > before);
        self.world.run(until, over);
        let word = match self.world.bares.get(&key) {
            Some(bare) if bare.pongs > before => "answered",
            Some(bare) if sent && !bare.closed => "no answer",
            _ => "connection closed",
        };
        if let Some(into) = op["into"].as_str() {
            put(&mut self.facts, into, word.into());
        }
        Ok(())
    }

    fn listen(&mut self, op: &Value) -> Known<()> {
        let client = words::text(op, "client")?;
        let (key, start) = (key(op, client), self.world.now);
        let until = start + span(&op["max_s"]).unwrap_or(PATIENCE);
        let pings = op["pings_every_ms"].as_u64().map(Span::from_millis);
        let closed = |w: &World| w.bares.get(&key).is_none_or(|b| b.closed);
        let cut = self.run_with_pings(until, std::slice::from_ref(&key), pings, closed);
        let word = match (op["on"].is_string(), cut) {
            (true, true) => "closed by the server",
            (true, false) => "open",
            (false, true) => "closed by its server",
            (false, false) => "still open",
        };
        let told = match op["until"].is_array() && cut {
            true => json!({"seconds_until_cut": seconds(self.world.now.since(start))}),
            false => word.into(),
        };
        if let Some(into) = op["into"].as_str() {
            put(&mut self.facts, into, told);
        }
        Ok(())
    }

    // --- Waits -----------------------------------------------------------------------------------

    /// `until` one after the other, then `pause_s`; without conditions `max_s` altogether.
    fn wait(&mut self, op: &Value) -> Known<()> {
        let start = self.world.now;
        let limit = span(&op["max_s"]).or(span(&op["seconds"]));
        let conditions = op["until"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let conditions: Vec<&str> = conditions.collect();
        let until = start + limit.unwrap_or(PATIENCE);
        let pinged = op["pings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let pinged: Vec<Key> = pinged.map(|client| (client.into(), String::new())).collect();
        let every = op["pings_every_ms"].as_u64().map(Span::from_millis);
        for condition in &conditions {
            self.until(condition, until, &pinged, every)?;
            self.time_the_end(condition);
            let Some(client) = event_to(condition) else { continue };
            let key: Key = (client.into(), String::new());
            if let Some(into) = op["into"].as_str() {
                let from = self.world.bares.get(&key).map_or(0, |b| b.read);
                let kinds = self.frames(&key, from, false);
                let kind =
                    |f: &Value| f.as_str().and_then(|f| f.split(' ').next()).map(Value::from);
                put(&mut self.facts, into, kinds.iter().filter_map(kind).collect());
            }
            self.has_read(&key);
        }
        if conditions.is_empty() && limit.is_some() {
            self.run_with_pings(until, &pinged, every, |_| false);
        }
        if let Some(pause) = span(&op["pause_s"]) {
            self.world.run_for(pause);
        }
        Ok(())
    }

    /// How long an ephemeral outlived the end of its session's client.
    fn time_the_end(&mut self, condition: &str) {
        if let (Some((at, closed)), Some(_)) = (self.ended, event_to(condition)) {
            let gone = self.world.now.since(at);
            let at_once = closed && gone < Span::from_millis(200);
            let told = if at_once { "< 0.2".into() } else { seconds(gone).into() };
            self.facts.insert("ephemeral_gone_after_s".into(), told);
            self.ended = None;
        }
    }

    fn until(
        &mut self,
        condition: &str,
        until: Instant,
        pinged: &[Key],
        every: Option<Span>,
    ) -> Known<()> {
        let start = self.step_start;
        let words: Vec<&str> = condition.split(' ').collect();
        match words.as_slice() {
            ["event", "to", client] => {
                let told = |w: &World| {
                    let mine = w.bares.iter().filter(|(k, _)| k.0 == *client);
                    let mut frames = mine.flat_map(|(_, b)| b.frames.iter().skip(b.read));
                    frames.any(|(_, frame)| matches!(frame, Kept::Event { .. }))
                };
                self.run_with_pings(until, pinged, every, told);
            }
            [client, "cut"] => {
                let key: Key = ((*client).into(), String::new());
                let cut = |w: &World| w.bares.get(&key).is_none_or(|b| b.closed);
                self.run_with_pings(until, pinged, every, cut);
            }
            [client, "told", states @ ..] => {
                let told = |w: &World| {
                    let mut told = w.told.iter().filter(|t| t.at >= start && t.client == *client);
                    told.any(|t| t.is_state && states.contains(&t.what.as_str()))
                };
                self.run_with_pings(until, pinged, every, told);
            }
            [client, "exists", path, answer] => {
                let path = path.trim_end_matches(':');
                let op = json!({"name": "exists", "path": path});
                let key: Key = ((*client).into(), String::new());
                while self.world.now < until {
                    if self.call(&op, client, &key)?.iter().any(|a| a == answer) {
                        break;
                    }
                    self.world.run_for(Span::from_millis(100));
                }
            }
            ["serving", ids @ ..] => {
                let running = |id: &&str| id.parse().is_ok_and(|id| self.world.is_running(id));
                if !ids.iter().all(running) {
                    self.world.run(until, |_| false);
                }
            }
            _ => return Err(Unknown(format!("condition {condition}"))),
        }
        Ok(())
    }

    /// Runs on while each of `pinged` pings once it has sent nothing for so long.
    pub fn run_with_pings(
        &mut self,
        until: Instant,
        pinged: &[Key],
        every: Option<Span>,
        done: impl Fn(&World) -> bool,
    ) -> bool {
        let Some(every) = every.filter(|_| !pinged.is_empty()) else {
            return self.world.run(until, done);
        };
        loop {
            let bares = pinged.iter().filter_map(|key| self.world.bares.get(key));
            let next = bares.filter(|b| !b.closed).map(|b| b.sent_at + every).min();
            let next = next.unwrap_or(until).max(self.world.now);
            if self.world.run(next.min(until), &done) {
                return true;
            }
            if next >= until {
                return false;
            }
            for key in pinged {
                if self.world.bares.get(key).is_some_and(|b| b.sent_at + every <= self.world.now) {
                    self.world.send_bare(key, ToServer::Ping);
                }
            }
        }
    }

    /// A Java client on the stand-in: what it sends by itself.
    fn idle(&mut self, op: &Value) {
        let start = self.world.now;
        self.world.stand_in.silent = op["answers"] == false;
        let last = self.world.stand_in.log.last().map_or(start, |(at, _)| *at);
        let told = self.world.told.len();
        self.world.run_for(span(&op["max_s"]).unwrap_or(PATIENCE));
        let stand_in = &self.world.stand_in;
        if !stand_in.silent {
            let gaps = facts::gaps(&stand_in.log, self.connected);
            self.facts.insert("seconds_between_pings".into(), gaps);
            return;
        }
        let heard = facts::after_the_last_answer(stand_in, last);
        self.facts.insert("after_the_last_answer".into(), heard);
        let states = self.world.told[told..].iter().map(|t| format!("None:{}", t.what));
        let states = states.collect::<Vec<_>>();
        self.facts.insert("client_told".into(), states.into());
    }

    // --- What was seen ---------------------------------------------------------------------------

    fn read(&mut self, op: &Value) -> Known<()> {
        match words::text(op, "fact")? {
            "events" => {
                let told = &self.world.told[self.taken..];
                self.facts.insert("events".into(), facts::events_now(told));
                self.taken = self.world.told.len();
                self.read_events = true;
            }
            "frames" => {
                let client = words::text(op, "client")?;
                let key = key(op, client);
                let before = self.marks.get(&key).copied().unwrap_or(0);
                let frames = self.frames(&key, before, false);
                self.facts.insert("frames".into(), frames.into());
            }
            _ => return Err(Unknown(format!("read {op}"))),
        }
        Ok(())
    }

    /// What came before this moment is no news to a later wait.
    fn has_read(&mut self, key: &Key) {
        if let Some(bare) = self.world.bares.get_mut(key) {
            bare.read = bare.frames.len();
        }
    }

    /// Frames from the `from`th on: `NodeDeleted /a`, and `reply` where wanted.
    fn frames(&self, key: &Key, from: usize, replies: bool) -> Vec<Value> {
        let frames =
            self.world.bares.get(key).map_or(&[][..], |b| b.frames.get(from..).unwrap_or_default());
        let shown = frames.iter().filter_map(|(_, frame)| match frame {
            Kept::Event { kind, path } => Some(format!("{kind} {path}").into()),
            Kept::Reply => replies.then(|| "reply".into()),
        });
        shown.collect()
    }

    /// Events are asked for with a call to each client, except after a fixed wait: then they are
    /// taken as they stand.
    fn java_facts(&mut self, at_once: bool) {
        if let Some(stopped) = self.stopped {
            let told = facts::told_since(&self.world.told, stopped);
            self.facts.insert("told".into(), told);
        }
        if self.read_events {
            return;
        }
        if !at_once {
            self.world.run_for(FLUSH);
        }
        let told = &self.world.told[self.taken..];
        let events = if at_once { facts::events_now(told) } else { facts::events(told) };
        self.taken = self.world.told.len();
        self.facts.insert("events".into(), events);
    }

    /// A setData on a node whose version was put in place inside the server.
    fn set_version(&mut self, op: &Value) -> Known<()> {
        let release = Release::parse(words::text(op, "release")?);
        let release = release.ok_or_else(|| Unknown(format!("release of {op}")))?;
        let key = ("x".to_owned(), String::new());
        if release != self.world.release || self.world.only_server().is_none() {
            self.world = World::new(release);
            self.server(0, &json!({"fresh": true}))?;
            self.world.open_bare(&key, Place::Server(0), 10_000, None);
            self.world.run_for(FLUSH);
        }
        let path = words::text(op, "path")?;
        let create = json!({"name": "create", "path": path, "data": ""});
        self.call_bare(&key, words::request(&create, 0)?, true);
        let version = words::int(op, "start_version")?;
        if let Some(host) = self.world.host(0) {
            host.put_version(path, version);
        }
        let mut set = op.clone();
        set["name"] = "setData".into();
        let answer = self.call_bare(&key, words::request(&set, 0)?, true);
        let version = answer["stat"].get("version").cloned();
        self.facts.insert("result".into(), version.unwrap_or(answer));
        Ok(())
    }
}

fn key(op: &Value, client: &str) -> Key {
    (client.into(), op["on"].as_str().unwrap_or_default().into())
}

/// A stand-alone server without a number is server 0.
fn server_id(id: &Value) -> u32 {
    id.as_u64().and_then(|id| u32::try_from(id).ok()).unwrap_or(0)
}

fn event_to(condition: &str) -> Option<&str> {
    condition.strip_prefix("event to ")
}

fn settings(server: &Value) -> Known<Settings> {
    let number = |field: &str| server[field].as_i64().and_then(|n| i32::try_from(n).ok());
    for field in server.as_object().into_iter().flat_map(Map::keys) {
        if !["fresh", "tickTime", "minSessionTimeout", "maxSessionTimeout"].contains(&&**field) {
            return Err(Unknown(format!("server setting {field}")));
        }
    }
    Ok(Settings {
        tick_ms: number("tickTime").and_then(|n| u32::try_from(n).ok()).unwrap_or(2_000),
        min_session_ms: number("minSessionTimeout"),
        max_session_ms: number("maxSessionTimeout"),
    })
}

/// When something must be sent so that it arrives then.
pub fn sent_for(arrival: Instant) -> Instant {
    arrival - LATENCY
}
