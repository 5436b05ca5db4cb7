//! The office of the controller. Whoever acts without owning `/controller` is found and named: a
//! broker that stood still while its session ran out goes on as before until it hears of it. No
//! epoch has two controllers, no broker goes back to a lower one, and what a failover leaves
//! without a living leader is named. [spec kafka-zk.md C5, F2; cases/lessons.md L4]

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CONTROLLER_EPOCH_FORWARD, CONTROLLER_HOLDS_OFFICE, Findings, ONE_CONTROLLER_AN_EPOCH, UNOWNED,
};
use crate::kafka::event::Event as Kafka;
use crate::kafka::{TopicPartition, paths};
use crate::world::event::Severity;
use crate::world::proc::{Kind, Proc};
use crate::world::{Event, Row, World, ZkEvent};
use crate::zk::tree::NodeKind;

#[derive(Clone, Debug, Default)]
pub struct Office {
    /// Processes already named, until they stop or hold the office again.
    named: BTreeSet<u16>,
    /// Who was controller of which epoch.
    holders: BTreeMap<i32, u32>,
    /// The highest epoch that each process has heard of, with its life.
    heard: BTreeMap<u16, (u32, i32)>,
    /// A failover that is not over yet: whose, and its epoch.
    failing_over: Option<(u16, i32)>,
}

impl Office {
    pub fn check(&mut self, world: &World, rows: &[Row], findings: &mut Findings) {
        for row in rows {
            self.read_row(world, row, findings);
        }
        if world.touched {
            self.check_holders(world, findings);
        }
        self.check_failover(world, findings);
    }

    fn read_row(&mut self, world: &World, row: &Row, findings: &mut Findings) {
        match &row.event {
            Event::Kafka(event) => {
                if let Kafka::ControllerStarted { broker, epoch } = **event {
                    findings.checked(ONE_CONTROLLER_AN_EPOCH);
                    let other = self.holders.insert(epoch, broker);
                    if other.is_some_and(|other| other != broker) {
                        let about = epoch.to_string();
                        let name = ONE_CONTROLLER_AN_EPOCH;
                        findings.breach(name, Severity::Violation, row.proc, &about);
                    }
                    self.failing_over = Some((row.proc, epoch));
                }
                self.check_heard(world, row.proc, findings);
            }
            // Whoever sets the epoch by hand takes the guarantee away.
            Event::Zk(ZkEvent::DataSet { path, .. } | ZkEvent::Deleted { path, .. })
                if **path == *paths::CONTROLLER_EPOCH
                    && matches!(world.proc(row.proc).kind, Kind::Client(_)) =>
            {
                self.holders.clear();
            }
            _ => {}
        }
    }

    /// A broker's epoch as it was when it last did something worth a row.
    fn check_heard(&mut self, world: &World, index: u16, findings: &mut Findings) {
        let proc = world.proc(index);
        let epoch = match (proc.broker(), proc.real_broker()) {
            (Some(broker), _) => broker.controller_epoch,
            (_, Some(broker)) => broker.controller_epoch,
            _ => return,
        };
        findings.checked(CONTROLLER_EPOCH_FORWARD);
        let before = self.heard.insert(index, (proc.life, epoch));
        if before.is_some_and(|(life, before)| life == proc.life && epoch < before) {
            let about = proc.broker_id().unwrap_or_default().to_string();
            let name = CONTROLLER_EPOCH_FORWARD;
            findings.breach(name, Severity::Violation, index, &about);
        }
    }

    fn check_holders(&mut self, world: &World, findings: &mut Findings) {
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

    /// Once a controller of a real release has taken office: partitions without a living leader.
    fn check_failover(&mut self, world: &World, findings: &mut Findings) {
        let Some((index, epoch)) = self.failing_over else { return };
        let Some(broker) = world.proc(index).real_broker() else { return };
        let controller = &broker.controller;
        if !controller.active || controller.epoch != epoch {
            self.failing_over = None;
        } else if controller.settled {
            self.failing_over = None;
            findings.checked(UNOWNED);
            let unowned = |tp: &TopicPartition| {
                let part = controller.context.part(tp);
                let leader = part.and_then(|part| part.leadership.as_ref()).map(|s| s.leader);
                leader.is_some_and(|id| {
                    id.is_none_or(|id| {
                        world.broker(id).is_none_or(|proc: &Proc| !proc.is_running())
                    })
                })
            };
            for tp in controller.context.all().iter().filter(|tp| unowned(tp)) {
                let about = format!("{}-{}", tp.topic, tp.partition);
                findings.breach(UNOWNED, Severity::Found, index, &about);
            }
        }
    }
}
