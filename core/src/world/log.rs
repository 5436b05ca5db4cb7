//! What somebody who reads the server's log would find in it. Nothing is kept unless asked for.

use super::World;
use crate::base::Instant;
use crate::zk::op::{Op, ToServer};
use crate::zk::server::{Txn, TxnKind};

/// A transaction with what the log itself doesn't say.
#[derive(Clone, Debug)]
pub struct Logged {
    pub at: Instant,
    pub txn: Txn,
    /// The request that it came of; a session's end by the server has none.
    pub asked: Option<Op>,
    /// The data version after each setData, in their order.
    pub versions: Vec<i32>,
}

/// What was logged since it was last taken.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub entries: Vec<Logged>,
    asked: Option<Op>,
}

impl World {
    /// From now on transactions are kept in [`World::log`].
    pub fn keep_log(&mut self) {
        self.log = Some(Log::default());
    }

    pub(super) fn log_request(&mut self, frame: Option<&ToServer>) {
        if let Some(log) = &mut self.log {
            log.asked = match frame {
                Some(ToServer::Request { op, .. }) => Some(op.clone()),
                _ => None,
            };
        }
    }

    pub(super) fn log_txn(&mut self, txn: &Txn) {
        let Some(log) = &mut self.log else { return };
        let version = |kind: &TxnKind| match kind {
            TxnKind::SetData { path, .. } => self.server.tree().get(path).map(|n| n.version),
            _ => None,
        };
        let versions = match &txn.kind {
            TxnKind::Multi(inner) => inner.iter().filter_map(version).collect(),
            kind => version(kind).into_iter().collect(),
        };
        let (at, txn, asked) = (self.now, txn.clone(), log.asked.clone());
        log.entries.push(Logged { at, txn, asked, versions });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::base::Instant;
    use crate::world::{Command, Config, World};
    use crate::zk::op::Op;
    use crate::zk::server::TxnKind;

    #[test]
    fn entries_have_their_request_and_the_version_they_led_to() {
        let mut world = World::new(Config::default(), 1);
        world.keep_log();
        let line = |at: u64, line: &str| {
            let command = Command::Zk { client: "console".into(), line: line.into() };
            (Instant(at), Arc::new(command))
        };
        let commands =
            [line(1, "create /a x"), line(500_000, "set /a y"), line(900_000, "set /a z")];
        let mut rows = Vec::new();
        while world.next_at(&commands).is_some_and(|at| at < Instant(2_000_000)) {
            world.step(&commands, &mut rows);
        }
        let log = world.log.unwrap_or_default().entries;
        let sets: Vec<_> = log
            .iter()
            .filter(|entry| matches!(entry.txn.kind, TxnKind::SetData { .. }))
            .map(|entry| (entry.versions.clone(), matches!(entry.asked, Some(Op::SetData { .. }))))
            .collect();
        assert_eq!(sets, [(vec![1], true), (vec![2], true)]);
    }
}
