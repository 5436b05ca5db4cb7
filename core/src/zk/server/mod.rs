//! One ZooKeeper server on its own: what it does with every frame that reaches it. No clock, no
//! input or output: the caller brings the moment and takes what is to be sent.

pub mod load;
mod read;
mod session;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

use super::acl::Identities;
use super::op::{
    ConnId, CreateMode, Error, Failure, Op, Release, SessionId, ToClient, ToServer, Zxid,
};
use super::session::{Buckets, Session, first_id};
use super::size;
use super::tree::Tree;
use super::txn::State;
use super::watch::{Modes, Watches};
use crate::base::limits::JUTE_MAX_BUFFER;
use crate::base::{Digest, Instant};

pub use super::txn::{Txn, TxnKind};

/// How a server is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub release: Release,
    pub tick_ms: u32,
    /// `None`: 2 ticks. [spec zookeeper.md S1]
    pub min_session_timeout_ms: Option<i32>,
    /// `None`: 20 ticks.
    pub max_session_timeout_ms: Option<i32>,
    /// A server on its own uses 1 for its session ids.
    pub server_id: u8,
    /// TTL nodes are off unless asked for. [spec zookeeper.md Z2]
    pub extended_types: bool,
    /// `znode.container.maxNeverUsedIntervalMs`, since 3.6. [spec zookeeper.md Z6]
    pub max_never_used_ms: Option<u64>,
    /// The server's wall clock at [`Instant::ZERO`], for ctime and mtime.
    pub wall_ms_at_zero: i64,
    #[cfg(feature = "mutations")]
    pub mutation: Option<Mutation>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            release: Release::default(),
            tick_ms: 2_000,
            min_session_timeout_ms: None,
            max_session_timeout_ms: None,
            server_id: 1,
            extended_types: false,
            max_never_used_ms: None,
            wall_ms_at_zero: 1_700_000_000_000,
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }
}

/// A rule broken on purpose, so that a test can show that what guards it is able to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutation {
    /// One ephemeral stays when its session ends. Breaks [spec zookeeper.md Z3].
    EphemeralOutlivesSession,
    /// A one-shot watch is not removed by firing. Breaks [spec zookeeper.md W1].
    WatchFiresTwice,
    /// The writer's reply is sent before the events of the write. Breaks [spec zookeeper.md W3].
    ReplyBeforeEvent,
    /// Every second reply carries the zxid before the last. Breaks [spec zookeeper.md S10].
    ZxidGoesBack,
}

/// What a server wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerOut {
    Send { conn: ConnId, frame: ToClient },
    Close { conn: ConnId },
    Txn(Txn),
}

/// A connection that has a session.
#[derive(Clone, Debug)]
struct Conn {
    session: SessionId,
    who: Identities,
}

/// What one connection watches at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatcherAt {
    pub session: SessionId,
    pub conn: ConnId,
    pub data: Modes,
    pub child: Modes,
}

/// The server. A clone is a checkpoint and cheap.
#[derive(Clone, Debug)]
pub struct Server {
    config: Config,
    state: State,
    buckets: Buckets,
    conns: BTreeMap<ConnId, Conn>,
    watches: Watches,
    next_session: i64,
    halted: bool,
}

impl Server {
    pub fn new(config: Config) -> Server {
        Server {
            state: State::new(config.release, config.extended_types),
            buckets: Buckets::default(),
            conns: BTreeMap::new(),
            watches: Watches::default(),
            next_session: first_id(config.wall_ms_at_zero, config.server_id),
            halted: false,
            config,
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The setting may be changed in a running model, unlike in a running server.
    pub fn set_max_never_used_ms(&mut self, max: Option<u64>) {
        self.config.max_never_used_ms = max;
    }

    /// One frame from a client. `peer_ip` is the address that the `ip` scheme sees.
    pub fn receive(
        &mut self,
        now: Instant,
        conn: ConnId,
        peer_ip: [u8; 4],
        frame: ToServer,
        out: &mut Vec<ServerOut>,
    ) {
        // Too large a packet costs the connection, not the session. [spec zookeeper.md Z7]
        if self.halted || size::packet(&frame) > JUTE_MAX_BUFFER {
            return self.close(conn, out);
        }
        match frame {
            ToServer::Connect(request) => self.connect(now, conn, peer_ip, &request, out),
            ToServer::Ping => match self.conns.get(&conn).map(|known| known.session) {
                None => self.close(conn, out),
                Some(session) => {
                    self.touch(now, session);
                    let frame = ToClient::Pong { zxid: self.shown_zxid() };
                    out.push(ServerOut::Send { conn, frame });
                }
            },
            ToServer::Request { xid, op } => match self.conns.get(&conn).map(|c| c.session) {
                None => self.close(conn, out),
                Some(session) => self.request(now, (conn, session), xid, op, out),
            },
        }
    }

    fn request(
        &mut self,
        now: Instant,
        (conn, session): (ConnId, SessionId),
        xid: i32,
        op: Op,
        out: &mut Vec<ServerOut>,
    ) {
        // Authentication is answered on the spot, outside of the order of requests.
        if let Op::AddAuth { scheme, auth } = &op {
            return self.authenticate(conn, xid, scheme, auth, out);
        }
        self.touch(now, session);
        if !is_known(&op, self.config.release) {
            self.reply(conn, xid, Err(Error::Unimplemented.into()), out);
            return self.close(conn, out);
        }
        if op.is_write() {
            return self.write(now, (conn, session), xid, &op, out);
        }
        if let Op::SetWatches(set) = &op {
            self.rearm(conn, set, out);
        }
        let result = self.read(conn, session, &op).map_err(Failure::from);
        self.reply(conn, xid, result, out);
    }

    fn authenticate(
        &mut self,
        conn: ConnId,
        xid: i32,
        scheme: &str,
        auth: &[u8],
        out: &mut Vec<ServerOut>,
    ) {
        let Some(known) = self.conns.get_mut(&conn) else { return };
        let result = known.who.authenticate(scheme, auth);
        let failed = result.is_err();
        let result = result.map(|()| super::op::Reply::Done).map_err(Failure::from);
        out.push(ServerOut::Send { conn, frame: ToClient::Reply { xid, zxid: 0, result } });
        if failed {
            self.close(conn, out);
        }
    }

    fn reply(
        &self,
        conn: ConnId,
        xid: i32,
        result: Result<super::op::Reply, Failure>,
        out: &mut Vec<ServerOut>,
    ) {
        let back = self.broken(Mutation::ZxidGoesBack) && xid % 2 == 0;
        let zxid = self.shown_zxid() - Zxid::from(back);
        let frame = ToClient::Reply { xid, zxid, result };
        out.push(ServerOut::Send { conn, frame });
    }

    /// What replies carry: the last transaction that this server knows. [spec zookeeper.md S10]
    fn shown_zxid(&self) -> Zxid {
        self.state.last_zxid
    }

    /// Whether this rule is broken on purpose.
    fn broken(&self, rule: Mutation) -> bool {
        #[cfg(feature = "mutations")]
        return self.config.mutation == Some(rule);
        #[cfg(not(feature = "mutations"))]
        {
            let _ = rule;
            false
        }
    }

    fn wall_ms(&self, now: Instant) -> i64 {
        let since = i64::try_from(now.millis()).unwrap_or(i64::MAX);
        self.config.wall_ms_at_zero.saturating_add(since)
    }

    /// The server ends a connection.
    fn close(&mut self, conn: ConnId, out: &mut Vec<ServerOut>) {
        self.connection_closed(conn);
        out.push(ServerOut::Close { conn });
    }

    /// A connection has ended: its watches go, its session waits. [spec zookeeper.md W5]
    pub fn connection_closed(&mut self, conn: ConnId) {
        self.watches.drop_conn(conn);
        let Some(gone) = self.conns.remove(&conn) else { return };
        if let Some(session) = self.state.sessions.get_mut(&gone.session)
            && session.conn == Some(conn)
        {
            session.conn = None;
        }
    }

    /// True once a request has made the process end itself: 3.4.6 does so at setData of the empty
    /// path. (seen: real-zk-ops bad-paths-server-empty-setdata)
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Puts a data version into a node without a transaction, to reach the wrap of the counter.
    pub fn put_version(&mut self, path: &str, version: i32) {
        self.state.tree.put_version(path, version);
    }

    pub fn last_zxid(&self) -> Zxid {
        self.state.last_zxid
    }

    pub fn tree(&self) -> &Tree {
        &self.state.tree
    }

    pub fn sessions(&self) -> impl ExactSizeIterator<Item = &Session> {
        self.state.sessions.values()
    }

    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.state.sessions.get(&id)
    }

    /// The session that a connection speaks for.
    pub fn session_on(&self, conn: ConnId) -> Option<SessionId> {
        self.conns.get(&conn).map(|known| known.session)
    }

    /// Who has set a watch at this very path.
    pub fn watchers(&self, path: &str) -> Vec<WatcherAt> {
        let session = |conn| self.conns.get(&conn).map(|c| c.session).unwrap_or_default();
        let watching = self.watches.at(path).into_iter();
        watching
            .map(|w| WatcherAt {
                session: session(w.conn),
                conn: w.conn,
                data: w.data,
                child: w.child,
            })
            .collect()
    }

    /// How many watches stand at this very path.
    pub fn watch_count(&self, path: &str) -> u32 {
        self.watches.count_at(path)
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.i64(self.state.last_zxid);
        digest.i64(self.next_session);
        digest.u64(u64::from(self.halted));
        self.state.tree.digest(digest);
        for session in self.sessions() {
            session.digest(digest);
        }
        for (id, conn) in &self.conns {
            digest.u64(u64::from(id.0));
            digest.i64(conn.session.0);
            for id in conn.who.iter() {
                digest.text(&id.scheme);
                digest.text(&id.id);
            }
        }
        self.watches.digest(digest);
    }
}

/// Requests that came with later releases are unknown to the older ones, which answer
/// Unimplemented and close the connection.
fn is_known(op: &Op, release: Release) -> bool {
    let since = match op {
        Op::RemoveWatches { .. } | Op::CheckWatches { .. } => Release::V3_5_9,
        Op::Create { mode: CreateMode::Container, .. } => Release::V3_5_9,
        Op::Create { mode, .. } if mode.has_ttl() => Release::V3_5_9,
        Op::MultiRead(_)
        | Op::AddWatch { .. }
        | Op::GetEphemerals { .. }
        | Op::GetAllChildrenNumber { .. }
        | Op::WhoAmI => Release::V3_8_4,
        Op::SetWatches(set)
            if !set.persistent.is_empty() || !set.persistent_recursive.is_empty() =>
        {
            Release::V3_8_4
        }
        _ => Release::V3_4_6,
    };
    release >= since
}
