//! Reads, and the watches that they leave.

use super::{Server, ServerOut};
use crate::zk::acl;
use crate::zk::op::{
    ConnId, Error, EventType, Op, Path, Release, Reply, SessionId, SetWatches, ToClient,
    WatcherType, Zxid, perms,
};
use crate::zk::tree::Znode;

impl Server {
    pub(super) fn read(
        &mut self,
        conn: ConnId,
        session: SessionId,
        op: &Op,
    ) -> Result<Reply, Error> {
        let release = self.config.release;
        match op {
            Op::Exists { path, watch } => self.exists(conn, path, *watch),
            Op::GetData { path, watch } => {
                let reply = self.get_data(conn, path)?;
                if *watch {
                    self.watches.watch_data(path, conn, release);
                }
                Ok(reply)
            }
            Op::GetChildren { path, watch } => {
                let reply = self.get_children(conn, path)?;
                if *watch {
                    self.watches.watch_children(path, conn, release);
                }
                Ok(reply)
            }
            Op::GetAcl { path } => self.get_acl(conn, path),
            Op::MultiRead(ops) => Ok(Reply::MultiRead(self.multi_read(conn, ops))),
            Op::AddWatch { path, mode } => {
                self.watches.add(path, conn, *mode, release);
                Ok(Reply::Done)
            }
            Op::CheckWatches { kind, .. } | Op::RemoveWatches { kind, .. }
                if !is_known_kind(*kind, release) =>
            {
                Err(Error::MarshallingError)
            }
            Op::CheckWatches { path, kind } => {
                self.watches.check(path, conn, *kind, release).map(|()| Reply::Done)
            }
            Op::RemoveWatches { path, kind } => {
                match self.watches.remove(path, conn, *kind, release) {
                    true => Ok(Reply::Done),
                    false => Err(Error::NoWatcher),
                }
            }
            Op::GetEphemerals { prefix } => Ok(self.get_ephemerals(session, prefix)),
            Op::GetAllChildrenNumber { path } => {
                let below = self.readable(conn, path)?.descendants();
                // Paths that start with the asked one and a slash are counted: under its empty name
                // the root counts itself.
                Ok(Reply::ChildrenNumber(below + i32::from(path.is_empty())))
            }
            Op::WhoAmI => {
                let who = self.conns.get(&conn).map(|known| known.who.shown(release));
                Ok(Reply::WhoAmI(who.unwrap_or_default()))
            }
            Op::Unreadable { .. } => Err(Error::MarshallingError),
            _ => Ok(Reply::Done),
        }
    }

    /// NoNode comes before NoAuth. [spec zookeeper.md E6]
    fn readable(&self, conn: ConnId, path: &str) -> Result<&Znode, Error> {
        let node = self.state.tree.get(path).ok_or(Error::NoNode)?;
        self.check_read(conn, node, perms::READ)?;
        Ok(node)
    }

    fn check_read(&self, conn: ConnId, node: &Znode, wanted: u32) -> Result<(), Error> {
        let known = self.conns.get(&conn).ok_or(Error::ConnectionLoss)?;
        acl::check(&node.acl, wanted, &known.who)
    }

    /// The watch stays even if the node is missing, but not where the reader may not look. [spec
    /// zookeeper.md E6]
    fn exists(&mut self, conn: ConnId, path: &Path, watch: bool) -> Result<Reply, Error> {
        if path.contains('\0') {
            return Err(Error::BadArguments);
        }
        let node = self.state.tree.get(path);
        if let (Some(node), true) = (node, self.config.release >= Release::V3_8_4) {
            self.check_read(conn, node, perms::READ)?;
        }
        let stat = node.map(Znode::stat);
        if watch {
            self.watches.watch_data(path, conn, self.config.release);
        }
        stat.map(Reply::Stat).ok_or(Error::NoNode)
    }

    fn get_data(&self, conn: ConnId, path: &str) -> Result<Reply, Error> {
        let node = self.readable(conn, path)?;
        Ok(Reply::Data { data: node.data.clone(), stat: node.stat() })
    }

    fn get_children(&self, conn: ConnId, path: &str) -> Result<Reply, Error> {
        let node = self.readable(conn, path)?;
        Ok(Reply::Children { children: node.listed(), stat: node.stat() })
    }

    /// [spec zookeeper.md E8]
    fn get_acl(&self, conn: ConnId, path: &str) -> Result<Reply, Error> {
        let node = self.state.tree.get(path).ok_or(Error::NoNode)?;
        let known = self.conns.get(&conn).ok_or(Error::ConnectionLoss)?;
        if self.config.release != Release::V3_4_6 {
            self.check_read(conn, node, perms::READ | perms::ADMIN)?;
        }
        let acl = acl::shown(&node.acl, &known.who, self.config.release);
        Ok(Reply::Acl { acl, stat: node.stat() })
    }

    /// Each op has its own result. [spec zookeeper.md M3]
    fn multi_read(&self, conn: ConnId, ops: &[Op]) -> Vec<Result<Reply, Error>> {
        let one = |op: &Op| match op {
            Op::GetData { path, .. } => self.get_data(conn, path),
            Op::GetChildren { path, .. } => self.get_children(conn, path),
            _ => Err(Error::Unimplemented),
        };
        ops.iter().map(one).collect()
    }

    /// The caller's own only; the prefix is one of text, not of nodes.
    fn get_ephemerals(&self, session: SessionId, prefix: &str) -> Reply {
        let all = prefix.trim().is_empty() || prefix.trim() == "/";
        let held = self.state.sessions.get(&session).into_iter();
        let paths = held.flat_map(|session| session.ephemerals.iter());
        Reply::Ephemerals(paths.filter(|p| all || p.starts_with(prefix)).cloned().collect())
    }

    /// After a reconnect: a watch whose node has changed since fires at once, the others are set
    /// again; persistent ones tell nothing of the past. [spec zookeeper.md S6, W9]
    pub(super) fn rearm(&mut self, conn: ConnId, set: &SetWatches, out: &mut Vec<ServerOut>) {
        let release = self.config.release;
        for path in &set.data {
            match self.missed(path, set.relative_zxid, |n| n.mzxid, EventType::NodeDataChanged) {
                Some(kind) => tell_missed(conn, kind, path, out),
                None => self.watches.watch_data(path, conn, release),
            }
        }
        for path in &set.exist {
            match self.state.tree.contains(path) {
                true => tell_missed(conn, EventType::NodeCreated, path, out),
                false => self.watches.watch_data(path, conn, release),
            }
        }
        for path in &set.child {
            match self.missed(path, set.relative_zxid, |n| n.pzxid, EventType::NodeChildrenChanged)
            {
                Some(kind) => tell_missed(conn, kind, path, out),
                None => self.watches.watch_children(path, conn, release),
            }
        }
        for (paths, mode) in [
            (&set.persistent, crate::zk::op::AddWatchMode::Persistent),
            (&set.persistent_recursive, crate::zk::op::AddWatchMode::PersistentRecursive),
        ] {
            for path in paths {
                self.watches.add(path, conn, mode, release);
            }
        }
    }

    fn missed(
        &self,
        path: &str,
        since: Zxid,
        zxid: impl Fn(&Znode) -> Zxid,
        changed: EventType,
    ) -> Option<EventType> {
        match self.state.tree.get(path) {
            None => Some(EventType::NodeDeleted),
            Some(node) => (zxid(node) > since).then_some(changed),
        }
    }
}

/// The last two kinds came with 3.9; older servers can't read their numbers. [spec zookeeper.md W7]
fn is_known_kind(kind: WatcherType, release: Release) -> bool {
    release >= Release::V3_9_5
        || !matches!(kind, WatcherType::Persistent | WatcherType::PersistentRecursive)
}

/// Such an event belongs to no transaction: its header has no zxid in any release.
fn tell_missed(conn: ConnId, kind: EventType, path: &Path, out: &mut Vec<ServerOut>) {
    let frame = ToClient::Event { kind, path: path.clone(), zxid: -1 };
    out.push(ServerOut::Send { conn, frame });
}
