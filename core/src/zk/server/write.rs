//! Writes: decide, log, apply, tell the watchers, answer.

use super::{Mutation, Server, ServerOut};
use crate::base::Instant;
use crate::zk::acl;
use crate::zk::op::{
    AclList, ConnId, EventType, Failure, Op, Path, Release, Reply, SessionId, ToClient, Zxid, perms,
};
use crate::zk::path;
use crate::zk::txn::{Asker, Change, Txn, TxnKind};
use crate::zk::watch::Firing;

impl Server {
    pub(super) fn write(
        &mut self,
        now: Instant,
        (conn, session): (ConnId, SessionId),
        xid: i32,
        op: &Op,
        out: &mut Vec<ServerOut>,
    ) {
        if *op == Op::CloseSession {
            self.end_session(now, session, false, out);
            self.reply(conn, xid, Ok(Reply::Done), out);
            return self.close(conn, out);
        }
        let Some(who) = self.conns.get(&conn).map(|known| &known.who) else { return };
        let (zxid, time_ms) = (self.state.last_zxid + 1, self.wall_ms(now));
        let kind = self.state.decide(Asker { session, who }, op, zxid, time_ms);
        if self.config.release == Release::V3_4_6 && is_fatal(&kind) {
            return self.halt(out);
        }
        let failure = match &kind {
            TxnKind::Error { error, multi, .. } => {
                Some(Failure { error: *error, multi: multi.clone() })
            }
            _ => None,
        };
        let sent = out.len();
        let reply = self.commit(now, session, kind, out);
        let before = out.len();
        self.reply(conn, xid, failure.map_or(Ok(reply), Err), out);
        if self.broken(Mutation::ReplyBeforeEvent) && before > sent {
            out[sent..].rotate_right(1);
        }
    }

    /// Puts a transaction into the log and into the state; the events come before any answer.
    /// [spec zookeeper.md W3]
    pub(super) fn commit(
        &mut self,
        now: Instant,
        session: SessionId,
        kind: TxnKind,
        out: &mut Vec<ServerOut>,
    ) -> Reply {
        let zxid = self.state.last_zxid + 1;
        let txn = Txn { zxid, session, time_ms: self.wall_ms(now), kind };
        let applied = self.state.apply(&txn);
        out.push(ServerOut::Txn(txn));
        for change in &applied.changes {
            self.fire(change, zxid, out);
        }
        applied.reply
    }

    /// What logs the end of a session.
    pub(super) fn closing(&self, id: SessionId, expired: bool) -> TxnKind {
        let mut kind = self.state.close_session(id, expired);
        if let (TxnKind::CloseSession { ephemerals, .. }, true) =
            (&mut kind, self.broken(Mutation::EphemeralOutlivesSession))
        {
            ephemerals.pop();
        }
        kind
    }

    /// The node's own watches, then the parent's child watches; a connection that has both data
    /// and child watch on a deleted node hears of it once. [spec zookeeper.md §6, W2, W3]
    fn fire(&mut self, change: &Change, zxid: Zxid, out: &mut Vec<ServerOut>) {
        let how = Firing {
            release: self.config.release,
            one_shot_goes: !self.broken(Mutation::WatchFiresTwice),
        };
        let Change { event, path, acl, parent_acl } = change;
        let told = self.watches.trigger_data(path, *event, &how);
        for conn in &told {
            self.tell(*conn, *event, path, (acl, zxid), out);
        }
        if *event == EventType::NodeDeleted {
            for conn in self.watches.trigger_child(path, *event, &how).difference(&told) {
                self.tell(*conn, *event, path, (acl, zxid), out);
            }
        }
        if matches!(event, EventType::NodeCreated | EventType::NodeDeleted) {
            let (event, parent) = (EventType::NodeChildrenChanged, path::parent_name(path));
            let told = self.watches.trigger_child(parent, event, &how);
            let parent = if told.is_empty() { Path::default() } else { parent.into() };
            for conn in told {
                self.tell(conn, event, &parent, (parent_acl, zxid), out);
            }
        }
    }

    /// One event to one connection. Since 3.8.4 only if it may read the node.
    fn tell(
        &self,
        conn: ConnId,
        kind: EventType,
        path: &Path,
        (acl, zxid): (&AclList, Zxid),
        out: &mut Vec<ServerOut>,
    ) {
        let Some(known) = self.conns.get(&conn) else { return };
        let release = self.config.release;
        if release >= Release::V3_8_4 && !acl::allows(acl, perms::READ, &known.who) {
            return;
        }
        // [spec zookeeper.md W8]
        let zxid = if release >= Release::V3_9_5 { zxid } else { -1 };
        let frame = ToClient::Event { kind, path: path.clone(), zxid };
        out.push(ServerOut::Send { conn, frame });
    }

    /// One pass of the container manager. [spec zookeeper.md Z6]
    pub fn check_containers(&mut self, now: Instant, out: &mut Vec<ServerOut>) {
        if self.halted || self.config.release == Release::V3_4_6 {
            return;
        }
        let since_3_6 = self.config.release >= Release::V3_8_4;
        let max_never_used_ms = self.config.max_never_used_ms.filter(|_| since_3_6);
        for path in self.state.tree.due(self.wall_ms(now), max_never_used_ms) {
            let kind = self.state.decide_container(&path);
            self.commit(now, SessionId(0), kind, out);
        }
    }

    fn halt(&mut self, out: &mut Vec<ServerOut>) {
        self.halted = true;
        for conn in self.conns.keys().copied().collect::<Vec<_>>() {
            self.close(conn, out);
        }
    }
}

/// The empty path is the root under another name; 3.4.6 falls over it when it looks for a quota.
fn is_fatal(kind: &TxnKind) -> bool {
    match kind {
        TxnKind::SetData { path, .. } => path.is_empty(),
        TxnKind::Multi(kinds) => kinds.iter().any(is_fatal),
        _ => false,
    }
}
