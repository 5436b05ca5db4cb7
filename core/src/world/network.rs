//! Between processes: connections, frames, what the server said, and what the links do to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::{Event, Reading, ZkEvent};
use super::item::{Down, Item, Up, What};
use super::proc::{Kind, Node, State, ZOOKEEPER};
use super::{Conn, Emit, Fact, World, config};
use crate::base::{Instant, Span};
use crate::kafka::Msg;
use crate::kafka::broker::Input;
use crate::kafka::real::msg::Msg as RealMsg;
use crate::sim::{Class, RowId, Verdict};
use crate::zk::client::KeeperState;
use crate::zk::hold::{Io, ZkInput};
use crate::zk::op::{ConnId, Error, EventType, Op, Path, SessionId, ToClient, ToServer};
use crate::zk::server::{self, ServerOut, Txn, TxnKind};
use crate::zk::shell::ShellOut;
use crate::zk::tree::NodeKind;

/// A process talks to itself through its kernel only.
const LOOPBACK: Span = Span::from_micros(30);

pub fn server_config(config: &config::Config) -> server::Config {
    server::Config {
        release: config.zookeeper,
        tick_ms: config.tick_ms,
        max_session_timeout_ms: config.max_session_timeout_ms,
        wall_ms_at_zero: config::WALL_ZERO_MS,
        #[cfg(feature = "mutations")]
        mutation: match config.mutation {
            Some(config::Mutation::Zk(mutation)) => Some(mutation),
            _ => None,
        },
        ..server::Config::default()
    }
}

pub enum ShellInput {
    Start,
    Zk(ZkInput),
    Run(Arc<str>),
    Close,
}

impl World {
    /// Puts something on the link from one process to another. What a cut link has is kept for
    /// when it heals, but for an attempt to connect.
    pub(super) fn transmit(&mut self, emit: &Emit<'_>, from: u16, to: u16, what: What) {
        let item = Item { cause: emit.cause, sent_at: self.now, what };
        if from == to {
            self.queue.push(self.now + LOOPBACK, Class::Delivery, item);
            return;
        }
        match self.links.send(self.now, from, to, &mut self.rng) {
            Verdict::ArrivesAt(at) => {
                self.queue.push(at, Class::Delivery, item);
            }
            Verdict::Cut => {
                if !matches!(item.what, What::ToServer { up: Up::Syn, .. }) {
                    self.parked.push((from, to, item));
                }
            }
        }
    }

    /// The link between two processes carries again; TCP sends what it kept.
    pub(super) fn release_parked(&mut self, one: u16, other: u16) {
        let parked = std::mem::take(&mut self.parked);
        for (from, to, item) in parked {
            let ours = (from, to) == (one, other) || (from, to) == (other, one);
            if !ours {
                self.parked.push((from, to, item));
            } else if let Verdict::ArrivesAt(at) =
                self.links.send(self.now, from, to, &mut self.rng)
            {
                self.queue.push(at, Class::Delivery, item);
            }
        }
    }

    pub(super) fn zk_io(&mut self, emit: &mut Emit<'_>, index: u16, io: Io) {
        match io {
            Io::Open => {
                self.hang_up(emit, index);
                let conn = ConnId(self.next_conn);
                self.next_conn += 1;
                let proc = &mut self.procs[usize::from(index)];
                proc.conn = Some(conn);
                let life = proc.life;
                self.conns.insert(conn, Conn { proc: index, life, open_at_server: false });
                self.transmit(emit, index, ZOOKEEPER, What::ToServer { conn, up: Up::Syn });
            }
            Io::Send(frame) => {
                let Some(conn) = self.procs[usize::from(index)].conn else { return };
                if !matches!(frame, ToServer::Ping)
                    && let Some(client) = self.procs[usize::from(index)].client()
                {
                    let (session, frame) = (client.session(), frame.clone());
                    self.facts.push(Fact::Asked { proc: index, session, frame });
                }
                let up = Up::Frame(frame);
                self.transmit(emit, index, ZOOKEEPER, What::ToServer { conn, up });
            }
            Io::Close => self.hang_up(emit, index),
        }
    }

    /// The client's side of its connection is closed.
    pub(super) fn hang_up(&mut self, emit: &Emit<'_>, index: u16) {
        if let Some(conn) = self.procs[usize::from(index)].conn.take() {
            self.transmit(emit, index, ZOOKEEPER, What::ToServer { conn, up: Up::Fin });
        }
    }

    fn answer(&mut self, emit: &Emit<'_>, conn: ConnId, down: Down) {
        if let Some(proc) = self.conns.get(&conn).map(|conn| conn.proc) {
            self.transmit(emit, ZOOKEEPER, proc, What::ToClient { conn, down });
        }
    }

    pub(super) fn arrive_at_server(&mut self, emit: &mut Emit<'_>, conn: ConnId, up: Up) {
        let Some(known) = self.conns.get_mut(&conn) else { return };
        let proc = known.proc;
        match up {
            Up::Fin => {
                self.conns.remove(&conn);
                if self.server_up {
                    self.server.connection_closed(conn);
                }
            }
            Up::Syn if self.server_up => {
                known.open_at_server = true;
                self.answer(emit, conn, Down::SynAck);
            }
            Up::Frame(frame) if self.server_up && known.open_at_server => {
                self.serve(emit, proc, conn, frame);
            }
            Up::Syn | Up::Frame(_) => self.answer(emit, conn, Down::Rst),
        }
        self.rearm_server();
    }

    fn serve(&mut self, emit: &mut Emit<'_>, proc: u16, conn: ConnId, frame: ToServer) {
        let reading = match &frame {
            ToServer::Request { op, .. } => reading(op),
            _ => None,
        };
        let ping = matches!(frame, ToServer::Ping);
        let mut out = Vec::new();
        let peer = [10, 0, (proc >> 8) as u8, proc as u8];
        self.log_request(Some(&frame));
        self.server.receive(self.now, conn, peer, frame, &mut out);
        if ping {
            let deadline = self.session_of(conn).map_or(Instant::NEVER, |s| s.1);
            self.emit(emit, proc, true, Event::Zk(ZkEvent::Pinged { deadline }));
        } else if let Some((what, path, watch)) = reading {
            let failed = out.iter().find_map(|said| match said {
                ServerOut::Send { frame: ToClient::Reply { result: Err(f), .. }, .. } => {
                    Some(f.error)
                }
                _ => None,
            });
            let event = match failed {
                // Looking for what isn't there is how `exists` is meant to be used.
                Some(error) if what != Reading::Exists || error != Error::NoNode => {
                    ZkEvent::ReadFailed { what, path, error }
                }
                _ => ZkEvent::Read { what, path, watch },
            };
            self.emit(emit, proc, true, Event::Zk(event));
        }
        self.server_said(emit, proc, out);
        self.log_request(None);
    }

    /// The session served on a connection and the moment it runs out.
    fn session_of(&self, conn: ConnId) -> Option<(SessionId, Instant)> {
        let session = self.server.session_on(conn)?;
        Some((session, self.server.session(session)?.deadline))
    }

    /// Rows for what the server did, then the frames on their way, each caused by its row.
    pub(super) fn server_said(&mut self, emit: &mut Emit<'_>, by: u16, out: Vec<ServerOut>) {
        let fired = self.fired(&out);
        let mut told: BTreeMap<(EventType, Path), RowId> = BTreeMap::new();
        let mut reason = emit.cause;
        for said in out {
            match said {
                ServerOut::Txn(txn) => {
                    self.log_txn(&txn);
                    emit.cause = self.cause_of(&txn, reason);
                    self.txn(emit, by, &txn);
                    reason = emit.cause;
                }
                ServerOut::Send { conn, frame } => {
                    emit.cause = reason;
                    if let ToClient::Event { kind, path, .. } = &frame {
                        let key = (*kind, path.clone());
                        match told.get(&key) {
                            Some(row) => emit.cause = *row,
                            None => {
                                let whom = fired.get(&key).cloned().unwrap_or_default();
                                self.emit_fired(emit, *kind, path, whom);
                                told.insert(key, emit.cause);
                            }
                        }
                    } else if let ToClient::Connected { session, .. } = &frame {
                        self.connected(emit, conn, *session);
                    }
                    self.answer(emit, conn, Down::Frame(frame));
                }
                ServerOut::Close { conn } => {
                    if let Some(known) = self.conns.get_mut(&conn) {
                        known.open_at_server = false;
                    }
                    self.answer(emit, conn, Down::Fin);
                }
            }
        }
        emit.cause = reason;
    }

    /// A session runs out because of what silenced its process.
    fn cause_of(&self, txn: &Txn, reason: RowId) -> RowId {
        match txn.kind {
            TxnKind::CloseSession { expired: true, .. } => {
                self.owners.get(&txn.session).map_or(reason, |index| self.proc(*index).fault)
            }
            _ => reason,
        }
    }

    fn fired(&self, out: &[ServerOut]) -> BTreeMap<(EventType, Path), Vec<u16>> {
        let mut fired: BTreeMap<(EventType, Path), Vec<u16>> = BTreeMap::new();
        for said in out {
            if let ServerOut::Send { conn, frame: ToClient::Event { kind, path, .. } } = said
                && let Some(known) = self.conns.get(conn)
            {
                fired.entry((*kind, path.clone())).or_default().push(known.proc);
            }
        }
        fired
    }

    fn emit_fired(&mut self, emit: &mut Emit<'_>, kind: EventType, path: &Path, whom: Vec<u16>) {
        let event = ZkEvent::WatchesFired { kind, path: path.clone(), whom: whom.into() };
        self.emit(emit, ZOOKEEPER, false, Event::Zk(event));
    }

    fn connected(&mut self, emit: &mut Emit<'_>, conn: ConnId, session: SessionId) {
        let Some(proc) = self.conns.get(&conn).map(|known| known.proc) else { return };
        if session == SessionId(0) {
            let asked = self.procs[usize::from(proc)].client().map(|client| client.session());
            let event = ZkEvent::SessionUnknown { session: asked.unwrap_or_default() };
            self.emit(emit, proc, false, Event::Zk(event));
        } else if self.owners.insert(session, proc).is_some() {
            self.emit(emit, proc, false, Event::Zk(ZkEvent::SessionResumed { session }));
        }
    }

    fn txn(&mut self, emit: &mut Emit<'_>, by: u16, txn: &Txn) {
        let proc = match txn.kind {
            // A new session's connection is known only to the one who asked.
            TxnKind::CreateSession { .. } => by,
            _ => self.owners.get(&txn.session).copied().unwrap_or(by),
        };
        let tool = self.procs[usize::from(proc)].kind == Kind::Admin;
        let (event, detail) = zk_event(txn);
        let sessions =
            matches!(event, ZkEvent::SessionOpened { .. } | ZkEvent::SessionClosed { .. });
        if let TxnKind::Multi(parts) = &txn.kind {
            let written =
                |part: &&TxnKind| matches!(part, TxnKind::Create { .. } | TxnKind::SetData { .. });
            let paths = parts.iter().filter(written).map(path_of).collect();
            self.facts.push(Fact::Wrote { proc, paths });
        }
        self.changed();
        self.emit(emit, proc, detail || tool && sessions, Event::Zk(event));
    }

    pub(super) fn arrive_at_client(&mut self, emit: &mut Emit<'_>, conn: ConnId, down: Down) {
        let Some(known) = self.conns.get(&conn).copied() else { return };
        let index = known.proc;
        let proc = &self.procs[usize::from(index)];
        if proc.conn != Some(conn) || proc.life != known.life || !proc.is_running() {
            return;
        }
        let input = match down {
            Down::SynAck => ZkInput::Opened,
            Down::Rst | Down::Fin => {
                self.procs[usize::from(index)].conn = None;
                self.conns.remove(&conn);
                ZkInput::Closed
            }
            Down::Frame(frame) => {
                if let ToClient::Event { kind, path, .. } = &frame {
                    let event = Event::Told { kind: *kind, path: path.clone() };
                    self.emit(emit, index, true, event);
                }
                self.saw(index, &frame);
                ZkInput::Frame(frame)
            }
        };
        self.zk_step(emit, index, input);
    }

    fn saw(&mut self, proc: u16, frame: &ToClient) {
        if matches!(frame, ToClient::Pong { .. }) {
            return;
        }
        if let Some(client) = self.procs[usize::from(proc)].client() {
            let (session, frame) = (client.session(), frame.clone());
            self.facts.push(Fact::Frame { proc, session, frame });
        }
    }

    /// Lets a process's ZooKeeper client handle one input. What it tells of its session becomes a
    /// row first, so that all that follows from it has that cause.
    pub(super) fn zk_step(&mut self, emit: &mut Emit<'_>, index: u16, input: ZkInput) {
        let before = self.keeper(index);
        match &self.procs[usize::from(index)].node {
            Node::Nothing => {}
            Node::Broker(_) => {
                self.foresee(emit, index, &input);
                self.broker_step(emit, index, Input::Zk(input));
            }
            Node::Real(_) | Node::Tool(_) | Node::Consumer(_) | Node::Producer(_) => {
                self.foresee(emit, index, &input);
                self.broker_step(emit, index, Input::Zk(input));
            }
            Node::Shell(_) => self.shell_step(emit, index, ShellInput::Zk(input)),
            Node::Admin(_) => self.admin_step(emit, index, Some(input)),
        }
        let after = self.keeper(index);
        if after != before && after == Some(KeeperState::Disconnected) {
            self.changed();
            let down = !self.procs[usize::from(index)].is_running();
            self.emit(emit, index, down, Event::Keeper(KeeperState::Disconnected));
        }
    }

    fn keeper(&self, index: u16) -> Option<KeeperState> {
        self.procs[usize::from(index)].client().map(|client| client.state())
    }

    /// An answer that says the session is unknown: what the broker does next follows from it.
    fn foresee(&mut self, emit: &mut Emit<'_>, index: u16, input: &ZkInput) {
        if let ZkInput::Frame(ToClient::Connected { session: SessionId(0), .. }) = input {
            self.changed();
            self.emit(emit, index, false, Event::Keeper(KeeperState::Expired));
        }
    }

    pub(super) fn shell_step(&mut self, emit: &mut Emit<'_>, index: u16, input: ShellInput) {
        let mut out = Vec::new();
        let (now, rng) = (self.now, &mut self.rng);
        if let Node::Shell(shell) = &mut self.procs[usize::from(index)].node {
            let shell = Arc::make_mut(shell);
            match input {
                ShellInput::Start => shell.start(now, rng, &mut out),
                ShellInput::Zk(input) => shell.input(now, rng, input, &mut out),
                ShellInput::Run(line) => shell.run(now, &line, &mut out),
                ShellInput::Close => shell.close(now, &mut out),
            }
        }
        for said in out {
            match said {
                ShellOut::Io(io) => self.zk_io(emit, index, io),
                ShellOut::Line(line) => {
                    let event = Event::Printed { kind: line.kind, text: line.text };
                    self.emit(emit, index, true, event);
                }
                ShellOut::State(KeeperState::Expired) => {
                    self.changed();
                    self.emit(emit, index, false, Event::Keeper(KeeperState::Expired));
                }
                ShellOut::Exit => self.exit(emit, index),
                ShellOut::State(_)
                | ShellOut::Event { .. }
                | ShellOut::Sent(_)
                | ShellOut::Done { .. } => {}
            }
        }
        self.rearm_client(index);
    }

    /// A broker's process runs again. A follower that was not told otherwise has gone on asking it,
    /// which is left out of the model: here is the first answer. Since 2.8.2 who lacks nothing may
    /// be silent, and nothing follows from it. [spec kafka-zk.md I2]
    pub(super) fn come_back(&mut self, emit: &Emit<'_>, index: u16) {
        let Kind::Broker(id) = self.proc(index).kind else { return };
        if !self.config.release.shrinks_by_time_alone() {
            return;
        }
        for other in 0..self.procs.len() as u16 {
            let follower = self.proc(other).real_broker().filter(|_| other != index);
            let partitions = follower.map(|broker| broker.replicas.followed(id));
            let Some(partitions) = partitions.filter(|tps| !tps.is_empty()) else { continue };
            let msg = RealMsg::NotLeader { partitions: partitions.into() };
            let (to, to_life, msg) = (other, self.proc(other).life, Msg::Real(Box::new(msg)));
            let what = What::Peer { from: index, to, to_life, from_id: id, msg };
            self.transmit(emit, index, to, what);
        }
    }

    /// The server process ends in order: it tells its connections good-bye.
    pub(super) fn stop_server(&mut self, emit: &mut Emit<'_>) {
        self.server_up = false;
        self.procs[usize::from(ZOOKEEPER)].state = State::Down;
        let open: Vec<ConnId> =
            self.conns.iter().filter(|(_, conn)| conn.open_at_server).map(|(id, _)| *id).collect();
        for conn in open {
            if let Some(known) = self.conns.get_mut(&conn) {
                known.open_at_server = false;
            }
            self.answer(emit, conn, Down::Fin);
        }
    }

    pub(super) fn start_server(&mut self) {
        self.server_up = true;
        self.procs[usize::from(ZOOKEEPER)].state = State::Up;
        self.server.restart(self.now);
        self.expiry_at = Instant::NEVER;
        self.rearm_server();
    }
}

fn reading(op: &Op) -> Option<(Reading, Path, bool)> {
    Some(match op {
        Op::Exists { path, watch } => (Reading::Exists, path.clone(), *watch),
        Op::GetData { path, watch } => (Reading::Data, path.clone(), *watch),
        Op::GetChildren { path, watch } => (Reading::Children, path.clone(), *watch),
        Op::GetAcl { path } => (Reading::Acl, path.clone(), false),
        Op::Sync { path } => (Reading::Sync, path.clone(), false),
        Op::AddWatch { path, .. } => (Reading::Watch, path.clone(), true),
        Op::RemoveWatches { path, .. }
        | Op::CheckWatches { path, .. }
        | Op::GetAllChildrenNumber { path } => (Reading::Other, path.clone(), false),
        Op::GetEphemerals { prefix } => (Reading::Other, prefix.clone(), false),
        _ => return None,
    })
}

/// The row for a transaction, and whether it is a detail.
fn zk_event(txn: &Txn) -> (ZkEvent, bool) {
    let (session, zxid) = (txn.session, txn.zxid);
    match &txn.kind {
        TxnKind::CreateSession { timeout_ms, .. } => {
            (ZkEvent::SessionOpened { session, timeout_ms: *timeout_ms }, false)
        }
        TxnKind::CloseSession { ephemerals, expired } => {
            let gone = ephemerals.clone().into();
            match expired {
                true => (ZkEvent::SessionExpired { session, gone }, false),
                false => (ZkEvent::SessionClosed { session, gone }, false),
            }
        }
        TxnKind::Multi(inner) => {
            // A check is only the condition: the row names what is done.
            let done = inner.iter().find(|part| !matches!(part, TxnKind::Check { .. }));
            let first = done.or_else(|| inner.first()).map_or_else(|| "/".into(), path_of);
            let count = u32::try_from(inner.len()).unwrap_or(u32::MAX);
            (ZkEvent::Multi { count, first, zxid }, false)
        }
        TxnKind::Error { op, path, error, .. } => {
            let detail = *error == Error::NodeExists && config::is_common_path(path)
                || *error == Error::NoNode;
            (ZkEvent::Failed { what: op, path: path.clone(), error: *error, zxid }, detail)
        }
        kind => single(kind, zxid),
    }
}

/// The row for a transaction that is one op.
fn single(kind: &TxnKind, zxid: i64) -> (ZkEvent, bool) {
    let event = match kind {
        TxnKind::Create { path, kind, .. } => {
            let ephemeral = matches!(kind, NodeKind::Ephemeral(_));
            ZkEvent::Created { path: path.clone(), ephemeral, zxid }
        }
        TxnKind::Delete { path, by_server: true } => ZkEvent::Swept { path: path.clone(), zxid },
        TxnKind::SetData { path, .. } => ZkEvent::DataSet { path: path.clone(), zxid },
        TxnKind::SetAcl { path, .. } => ZkEvent::AclSet { path: path.clone(), zxid },
        other => ZkEvent::Deleted { path: path_of(other), zxid },
    };
    (event, false)
}

fn path_of(kind: &TxnKind) -> Path {
    match kind {
        TxnKind::Create { path, .. }
        | TxnKind::Delete { path, .. }
        | TxnKind::SetData { path, .. }
        | TxnKind::SetAcl { path, .. }
        | TxnKind::Check { path }
        | TxnKind::Error { path, .. } => path.clone(),
        TxnKind::CreateSession { .. } | TxnKind::CloseSession { .. } | TxnKind::Multi(_) => {
            "/".into()
        }
    }
}
