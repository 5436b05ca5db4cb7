//! A client's view never goes back in zxid. [spec zookeeper.md S10]

use std::collections::BTreeMap;

use super::{Findings, ZXID_FORWARD};
use crate::world::event::Severity;
use crate::zk::op::{SessionId, ToClient, Zxid};

#[derive(Clone, Debug, Default)]
pub struct Zxids {
    seen: BTreeMap<(u16, SessionId), Zxid>,
}

impl Zxids {
    pub fn heard(
        &mut self,
        proc: u16,
        session: SessionId,
        frame: &ToClient,
        findings: &mut Findings,
    ) {
        let (ToClient::Reply { zxid, .. } | ToClient::Event { zxid, .. }) = frame else { return };
        // Header of an event before 3.9.5, and replies that carry none.
        if *zxid <= 0 {
            return;
        }
        findings.checked(ZXID_FORWARD);
        let seen = self.seen.entry((proc, session)).or_default();
        if *zxid < *seen {
            let about = format!("0x{seen:x} > 0x{zxid:x}");
            findings.breach(ZXID_FORWARD, Severity::Violation, proc, &about);
        }
        *seen = (*seen).max(*zxid);
    }
}
