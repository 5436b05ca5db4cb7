//! Connections and sessions of a server: opening, resuming, being heard from, expiring.

use super::{Conn, Server, ServerOut};
use crate::base::Instant;
use crate::zk::acl::Identities;
use crate::zk::op::{ConnId, ConnectRequest, Release, SessionId, ToClient};
use crate::zk::session::{deadline, first_id, negotiate, password};
use crate::zk::txn::TxnKind;

impl Server {
    /// The process was stopped and started again with its data: connections and watches are gone,
    /// sessions get their full time again.
    pub fn restart(&mut self, now: Instant) {
        self.halted = false;
        self.conns.clear();
        self.watches.clear();
        self.buckets.clear();
        for session in self.state.sessions.values_mut() {
            session.conn = None;
            session.deadline = deadline(now, session.timeout_ms, self.config.tick_ms);
            self.buckets.insert(session.deadline, session.id);
        }
        // The counter starts at the clock again; ids in use lie behind it unless the clock stands.
        let first = first_id(self.wall_ms(now), self.config.server_id);
        self.next_session = self.next_session.max(first);
    }

    pub(super) fn connect(
        &mut self,
        now: Instant,
        conn: ConnId,
        peer_ip: [u8; 4],
        request: &ConnectRequest,
        out: &mut Vec<ServerOut>,
    ) {
        // A client never goes back in time: a server that knows less turns it away. [spec
        // zookeeper.md S10]
        let knows_more = request.last_zxid_seen > self.state.last_zxid;
        if knows_more || self.conns.contains_key(&conn) {
            return self.close(conn, out);
        }
        let tick_ms = i32::try_from(self.config.tick_ms).unwrap_or(i32::MAX);
        let min_ms = self.config.min_session_timeout_ms.unwrap_or(tick_ms.saturating_mul(2));
        let max_ms = self.config.max_session_timeout_ms.unwrap_or(tick_ms.saturating_mul(20));
        let timeout_ms = negotiate(request.timeout_ms, min_ms, max_ms);
        let session = if request.session == SessionId(0) {
            self.open_session(now, timeout_ms, out)
        } else {
            self.close_older(request.session, out);
            let known = self.state.sessions.get(&request.session);
            known.filter(|s| s.password == request.password).map_or(SessionId(0), |s| s.id)
        };
        let Some(known) = self.state.sessions.get_mut(&session) else {
            // Expired, never known or not this client's: the answer is the same. [spec
            // zookeeper.md S6]
            let frame = ToClient::Connected { session: SessionId(0), password: 0, timeout_ms: 0 };
            out.push(ServerOut::Send { conn, frame });
            return self.close(conn, out);
        };
        known.conn = Some(conn);
        known.timeout_ms = timeout_ms;
        let password = known.password;
        self.conns.insert(conn, Conn { session, who: Identities::of_peer(peer_ip) });
        self.touch(now, session);
        let frame = ToClient::Connected { session, password, timeout_ms };
        out.push(ServerOut::Send { conn, frame });
    }

    fn open_session(
        &mut self,
        now: Instant,
        timeout_ms: i32,
        out: &mut Vec<ServerOut>,
    ) -> SessionId {
        let id = SessionId(self.next_session);
        self.next_session = self.next_session.wrapping_add(1);
        let kind = TxnKind::CreateSession { timeout_ms, password: password(id) };
        self.commit(now, id, kind, out);
        id
    }

    /// A second connection for a session on the same server closes the first, whatever becomes of
    /// the second. [spec zookeeper.md S8]
    fn close_older(&mut self, session: SessionId, out: &mut Vec<ServerOut>) {
        if let Some(older) = self.state.sessions.get(&session).and_then(|known| known.conn) {
            self.close(older, out);
        }
    }

    /// Every packet moves its session to the bucket of its new deadline. [spec zookeeper.md S2]
    pub(super) fn touch(&mut self, now: Instant, id: SessionId) {
        let tick_ms = self.config.tick_ms;
        let Some(session) = self.state.sessions.get_mut(&id) else { return };
        let (old, new) = (session.deadline, deadline(now, session.timeout_ms, tick_ms));
        // 3.4.6 never takes time back, as a shorter timeout at a reconnect would.
        let is_later = new > old || old == Instant::NEVER;
        if new == old || (!is_later && self.config.release == Release::V3_4_6) {
            return;
        }
        session.deadline = new;
        self.buckets.remove(old, id);
        self.buckets.insert(new, id);
    }

    /// When the next sessions expire unless they are heard from.
    pub fn next_expiry(&self) -> Instant {
        if self.halted { Instant::NEVER } else { self.buckets.next() }
    }

    /// Ends one session as if its time were over.
    pub fn expire_session(&mut self, now: Instant, id: SessionId, out: &mut Vec<ServerOut>) {
        if !self.halted && self.state.sessions.contains_key(&id) {
            self.end_session(now, id, true, out);
        }
    }

    /// Ends every session whose time has come. [spec zookeeper.md S2, S3]
    pub fn expire(&mut self, now: Instant, out: &mut Vec<ServerOut>) {
        while !self.halted {
            let due = self.buckets.take_due(now);
            if due.is_empty() {
                return;
            }
            for id in due {
                self.end_session(now, id, true, out);
            }
        }
    }

    /// One transaction ends the session and takes its ephemerals along. [spec zookeeper.md S3]
    ///
    /// Against S11: a session that closes hears of them, before the reply to its close. All four
    /// releases were seen to do so; the vector named there dropped the connection before it looked.
    /// When a session expires, 3.4.6 still tells its connection; later the cut mostly comes first.
    pub(super) fn end_session(
        &mut self,
        now: Instant,
        id: SessionId,
        expired: bool,
        out: &mut Vec<ServerOut>,
    ) {
        let (conn, at) = match self.state.sessions.get(&id) {
            Some(session) => (session.conn, session.deadline),
            None => return,
        };
        self.buckets.remove(at, id);
        let kind = self.closing(id, expired);
        if let (Some(conn), true) = (conn, expired && self.config.release != Release::V3_4_6) {
            self.watches.drop_conn(conn);
        }
        self.commit(now, id, kind, out);
        if let (Some(conn), true) = (conn, expired) {
            self.close(conn, out);
        }
    }
}
