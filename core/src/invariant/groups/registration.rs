//! A member waits for the end of its old session, whose registration is still there. One that stood
//! still before it was first registered is registered twice in its next session, by its application
//! and by what hears of the new session, and the second of the two waits for the first: for itself,
//! for good, and hears of nothing meanwhile. [spec consumer-zk.md R4, G3]

use std::collections::BTreeMap;

use super::{Findings, consumer, name, note};
use crate::invariant::WAITS_FOR_ITSELF;
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::consumer_zk::nodes;
use crate::world::event::Severity;
use crate::world::{Row, World};
use crate::zk::op::SessionId;
use crate::zk::tree::NodeKind;

#[derive(Clone, Debug, Default)]
pub struct Registration {
    /// Sessions of which it was said.
    named: BTreeMap<u16, SessionId>,
}

impl Registration {
    pub fn read_row(&mut self, world: &World, row: &Row, findings: &mut Findings) {
        let Some(Note::OldRegistrationHolds { id }) = note(row) else { return };
        let Some(consumer) = consumer(world.proc(row.proc)) else { return };
        findings.checked(WAITS_FOR_ITSELF);
        let session = consumer.zk.client().session();
        let node = world.server.tree().get(&nodes::id(&consumer.spec.group, id));
        let own = node.is_some_and(|node| node.kind == NodeKind::Ephemeral(session));
        if own && self.named.insert(row.proc, session) != Some(session) {
            let about = name(world.proc(row.proc));
            findings.breach(WAITS_FOR_ITSELF, Severity::Found, row.proc, about);
        }
    }
}
