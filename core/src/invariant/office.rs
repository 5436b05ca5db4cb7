//! Whoever acts as controller without owning `/controller` is found and named: a broker that stood
//! still while its session ran out goes on as before until it hears of it. [spec kafka-zk.md,
//! cases/lessons.md L4]

use std::collections::BTreeSet;

use super::{CONTROLLER_HOLDS_OFFICE, Findings};
use crate::kafka::paths;
use crate::world::World;
use crate::world::event::Severity;
use crate::zk::tree::NodeKind;

#[derive(Clone, Debug, Default)]
pub struct Office {
    /// Processes already named, until they stop or hold the office again.
    named: BTreeSet<u16>,
}

impl Office {
    pub fn check(&mut self, world: &World, findings: &mut Findings) {
        let holder = match world.server.tree().get(paths::CONTROLLER).map(|node| node.kind) {
            Some(NodeKind::Ephemeral(session)) => Some(session),
            _ => None,
        };
        for (index, proc) in (0_u16..).zip(&world.procs) {
            let Some(id) = proc.broker_id() else { continue };
            let acts = proc.controller_epoch().is_some();
            let session = proc.client().map(|client| client.session());
            if acts {
                findings.checked(CONTROLLER_HOLDS_OFFICE);
            }
            if !acts || holder.is_some() && holder == session {
                self.named.remove(&index);
            } else if self.named.insert(index) {
                let about = id.to_string();
                findings.breach(CONTROLLER_HOLDS_OFFICE, Severity::Found, index, &about);
            }
        }
    }
}
