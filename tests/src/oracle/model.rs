//! Our server as a [`Side`], driven synchronously in virtual time.

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::zk::op::{
    ConnId, ConnectRequest, Op, Release, Reply, SessionId, Stat, ToClient, ToServer,
};
use kafkascope_core::zk::server::{Config, Mutation, Server, ServerOut};
use kafkascope_core::zk::tree::Znode;

use super::player::{Hello, Side};
use super::seen::{Answer, Names, Seen, acls, bytes};
use super::{MAX_MS, SHORT_MS, TICK_MS, Trouble};

pub struct Model {
    pub server: Server,
    now: Instant,
    next_conn: u32,
    conns: BTreeMap<ConnId, usize>,
    passwords: BTreeMap<i64, u64>,
    inbox: BTreeMap<usize, Vec<Seen>>,
    out: Vec<ServerOut>,
}

impl Model {
    pub fn new(release: Release, mutation: Option<Mutation>) -> Model {
        let config = Config {
            release,
            tick_ms: TICK_MS,
            min_session_timeout_ms: Some(SHORT_MS),
            max_session_timeout_ms: Some(MAX_MS),
            mutation,
            ..Config::default()
        };
        Model {
            server: Server::new(config),
            now: Instant::ZERO,
            next_conn: 0,
            conns: BTreeMap::new(),
            passwords: BTreeMap::new(),
            inbox: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    fn conn(&self, slot: usize) -> Option<ConnId> {
        self.conns.iter().find(|(_, of)| **of == slot).map(|(conn, _)| *conn)
    }

    fn send(&mut self, conn: ConnId, frame: ToServer) {
        self.now += Span::from_millis(1);
        self.server.receive(self.now, conn, [127, 0, 0, 1], frame, &mut self.out);
        self.route();
    }

    fn route(&mut self) {
        for out in std::mem::take(&mut self.out) {
            let (conn, seen) = match out {
                ServerOut::Send { conn, frame } => (conn, self.seen(frame)),
                ServerOut::Close { conn } => (conn, Seen::Closed),
                ServerOut::Txn(_) => continue,
            };
            let Some(slot) = self.conns.get(&conn).copied() else { continue };
            if seen == Seen::Closed {
                self.conns.remove(&conn);
            }
            self.inbox.entry(slot).or_default().push(seen);
        }
    }

    fn seen(&mut self, frame: ToClient) -> Seen {
        match frame {
            ToClient::Connected { session, password, timeout_ms } => {
                let first = *self.passwords.entry(session.0).or_insert(password);
                Seen::Connected {
                    session: session.0,
                    timeout_ms,
                    keeps_password: first == password,
                }
            }
            ToClient::Reply { xid, zxid, result } => {
                Seen::Reply { xid, zxid, answer: without_times(result.into()) }
            }
            ToClient::Event { kind, path, zxid } => Seen::Event { kind, path, zxid },
            ToClient::Pong { zxid } => Seen::Pong { zxid },
        }
    }

    fn taken(&mut self, slot: usize) -> Vec<Seen> {
        self.inbox.remove(&slot).unwrap_or_default()
    }
}

/// The wire's own reading leaves the times out.
fn without_times(mut answer: Answer) -> Answer {
    fn clear(reply: &mut Reply) {
        let strip = |stat: &mut Stat| (stat.ctime, stat.mtime) = (0, 0);
        match reply {
            Reply::Stat(stat)
            | Reply::Create { stat, .. }
            | Reply::Data { stat, .. }
            | Reply::Children { stat, .. }
            | Reply::Acl { stat, .. } => strip(stat),
            Reply::Multi(parts) => parts.iter_mut().for_each(clear),
            Reply::MultiRead(parts) => parts.iter_mut().flatten().for_each(clear),
            _ => {}
        }
    }
    if let Answer::Good(reply) = &mut answer {
        clear(reply);
    }
    answer
}

impl Side for Model {
    fn open(&mut self, slot: usize, hello: &Hello) -> Result<Vec<Seen>, Trouble> {
        self.next_conn += 1;
        let conn = ConnId(self.next_conn);
        self.conns.insert(conn, slot);
        let known = self.passwords.get(&hello.request.session.0).copied().unwrap_or_default();
        let password = if hello.right_password { known } else { !known };
        self.send(conn, ToServer::Connect(ConnectRequest { password, ..hello.request.clone() }));
        for (xid, op) in &hello.then {
            self.send(conn, ToServer::Request { xid: *xid, op: op.clone() });
        }
        Ok(self.taken(slot))
    }

    fn ask(&mut self, slot: usize, requests: &[(i32, Op)]) -> Result<Vec<Seen>, Trouble> {
        for (xid, op) in requests {
            if let Some(conn) = self.conn(slot) {
                self.send(conn, ToServer::Request { xid: *xid, op: op.clone() });
            }
        }
        Ok(self.taken(slot))
    }

    fn settle(&mut self, slot: usize, _: bool) -> Result<Vec<Seen>, Trouble> {
        if let Some(conn) = self.conn(slot) {
            self.send(conn, ToServer::Ping);
        }
        Ok(self.taken(slot))
    }

    fn hang_up(&mut self, slot: usize) -> Result<(), Trouble> {
        if let Some(conn) = self.conn(slot) {
            self.conns.remove(&conn);
            self.server.connection_closed(conn);
        }
        Ok(())
    }

    fn expire(&mut self, slot: usize, session: i64) -> Result<Vec<Seen>, Trouble> {
        let deadline = self.server.session(SessionId(session)).map(|session| session.deadline);
        self.now = self.now.max(deadline.unwrap_or(self.now));
        self.server.expire(self.now, &mut self.out);
        self.route();
        Ok(self.taken(slot))
    }

    fn contents(&mut self, names: &Names) -> Result<Vec<String>, Trouble> {
        let mut lines = Vec::new();
        walk("/", self.server.tree().root(), names, &mut lines);
        for session in self.server.sessions() {
            let mut held: Vec<&str> = session.ephemerals.iter().map(|path| &**path).collect();
            held.sort_unstable();
            lines.push(session_line(&names.of(session.id.0), &held));
        }
        lines.sort_unstable();
        Ok(lines)
    }
}

fn walk(path: &str, node: &Znode, names: &Names, lines: &mut Vec<String>) {
    lines.push(node_line(path, &names.stat(&node.stat()), &bytes(&node.data), &acls(&node.acl)));
    for (name, child) in node.children() {
        let above = if path == "/" { "" } else { path };
        walk(&format!("{above}/{name}"), child, names, lines);
    }
}

pub fn node_line(path: &str, stat: &str, data: &str, acl: &str) -> String {
    format!("node {path:?} {stat} {data} {acl}")
}

pub fn session_line(name: &str, held: &[&str]) -> String {
    format!("{name} holds {held:?}")
}
