//! A one-shot watch fires at most once per setting, and its event reaches the client before the
//! client sees the new state. Judged from what went over the wire alone.
//! [spec zookeeper.md W1, W3]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{EVENT_BEFORE_STATE, Findings, WATCH_ONCE};
use crate::world::event::Severity;
use crate::zk::op::{Error, EventType, Op, Path, Reply, SessionId, Stat, ToClient, ToServer, Zxid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    Data,
    Child,
}

/// What a request asked for that its answer will tell.
#[derive(Clone, Debug)]
struct Asked {
    table: Table,
    path: Path,
    watch: bool,
    /// Looking for a missing node leaves a watch too.
    exists: bool,
}

#[derive(Clone, Debug, Default)]
struct Client {
    session: SessionId,
    asked: BTreeMap<i32, Asked>,
    /// Watches that are set, with the zxid of the state that their client saw.
    set: BTreeMap<(Table, Path), Zxid>,
    /// It has persistent watches: how often those fire is another matter.
    persistent: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Watches {
    /// Shared between copies until its client asks or hears of something.
    clients: BTreeMap<u16, Arc<Client>>,
}

impl Watches {
    fn client(&mut self, proc: u16, session: SessionId) -> &mut Client {
        let client = Arc::make_mut(self.clients.entry(proc).or_default());
        if client.session != session {
            *client = Client { session, ..Client::default() };
        }
        client
    }

    pub fn asked(&mut self, proc: u16, session: SessionId, frame: &ToServer) {
        let ToServer::Request { xid, op } = frame else { return };
        let client = self.client(proc, session);
        let (table, path, watch, exists) = match op {
            Op::GetData { path, watch } => (Table::Data, path, *watch, false),
            Op::Exists { path, watch } => (Table::Data, path, *watch, true),
            Op::GetChildren { path, watch } => (Table::Child, path, *watch, false),
            Op::SetData { path, .. } | Op::Create { path, .. } => (Table::Data, path, false, false),
            Op::SetWatches(again) => {
                client.persistent |=
                    !again.persistent.is_empty() || !again.persistent_recursive.is_empty();
                let zxid = again.relative_zxid;
                for path in again.data.iter().chain(&again.exist) {
                    client.set.insert((Table::Data, path.clone()), zxid);
                }
                for path in &again.child {
                    client.set.insert((Table::Child, path.clone()), zxid);
                }
                return;
            }
            Op::AddWatch { .. } => {
                client.persistent = true;
                return;
            }
            _ => return,
        };
        client.asked.insert(*xid, Asked { table, path: path.clone(), watch, exists });
    }

    pub fn heard(
        &mut self,
        proc: u16,
        session: SessionId,
        frame: &ToClient,
        findings: &mut Findings,
    ) {
        let client = self.client(proc, session);
        match frame {
            ToClient::Event { kind, path, .. } => client.event(proc, *kind, path, findings),
            ToClient::Reply { xid, zxid, result } => {
                let Some(asked) = client.asked.remove(xid) else { return };
                let missing = result.as_ref().is_err_and(|failure| failure.error == Error::NoNode);
                if let Ok(reply) = result {
                    client.state(proc, &asked, reply, findings);
                }
                let leaves = result.is_ok() || asked.exists && missing;
                if asked.watch && leaves {
                    client.set.insert((asked.table, asked.path), *zxid);
                }
            }
            ToClient::Connected { .. } | ToClient::Pong { .. } => {}
        }
    }
}

impl Client {
    fn event(&mut self, proc: u16, kind: EventType, path: &Path, findings: &mut Findings) {
        let tables: &[Table] = match kind {
            EventType::NodeCreated | EventType::NodeDataChanged => &[Table::Data],
            EventType::NodeChildrenChanged => &[Table::Child],
            EventType::NodeDeleted => &[Table::Data, Table::Child],
            _ => return,
        };
        if self.persistent {
            return;
        }
        findings.checked(WATCH_ONCE);
        let gone: BTreeSet<Table> = tables
            .iter()
            .copied()
            .filter(|table| self.set.remove(&(*table, path.clone())).is_some())
            .collect();
        if gone.is_empty() {
            findings.breach(WATCH_ONCE, Severity::Violation, proc, path);
        }
    }

    /// A state newer than the one a watch was set on, and the watch has not told of it.
    fn state(&self, proc: u16, asked: &Asked, reply: &Reply, findings: &mut Findings) {
        let Some(set) = self.set.get(&(asked.table, asked.path.clone())) else { return };
        let changed = |stat: &Stat| match asked.table {
            Table::Data => stat.mzxid,
            Table::Child => stat.pzxid,
        };
        let (Reply::Stat(stat)
        | Reply::Data { stat, .. }
        | Reply::Children { stat, .. }
        | Reply::Create { stat, .. }) = reply
        else {
            return;
        };
        findings.checked(EVENT_BEFORE_STATE);
        if changed(stat) > *set {
            findings.breach(EVENT_BEFORE_STATE, Severity::Violation, proc, &asked.path);
        }
    }
}
