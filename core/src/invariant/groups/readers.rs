//! In a group no two members fetch the same partition, and each fetches only what its owner node
//! says. A member whose session has ended and that doesn't know it goes on fetching [spec
//! consumer-zk.md S3], and so does one whose owner node was deleted by hand [S6]: both are found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Findings, consumer, name, note, owned_by};
use crate::invariant::{EXPIRED_READS, OWNER_BY_HAND, READ_ONCE, READS_ITS_OWN};
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::Connector;
use crate::kafka::consumer_zk::event::{Event as Note, Note as Step};
use crate::world::event::Severity;
use crate::world::proc::{Kind, State};
use crate::world::{Event, Row, World, ZkEvent};
use crate::zk::tree::NodeKind;

type Seat = (TopicPartition, Arc<str>);

/// Shared between copies until somebody gets or loses a partition.
#[derive(Clone, Debug, Default)]
struct Reading {
    /// Who has got a partition and has not stopped its fetchers since.
    by_seat: BTreeMap<Seat, BTreeSet<u16>>,
    by_proc: BTreeMap<u16, Vec<Seat>>,
}

#[derive(Clone, Debug, Default)]
pub struct Readers {
    reading: Arc<Reading>,
    /// Partitions whose owner node somebody touched who is no consumer.
    by_hand: BTreeSet<Seat>,
    /// Members whose session ended since their last rebalance without a fault, and how much of
    /// that was already named.
    expired: BTreeMap<u16, Named>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Named {
    reads: bool,
    twice: bool,
}

impl Readers {
    pub fn read_row(&mut self, world: &World, row: &Row, findings: &mut Findings) {
        match &row.event {
            Event::Killed | Event::Exited => {
                self.forget(row.proc);
                self.expired.remove(&row.proc);
            }
            Event::Resumed => _ = self.look_at(world, row.proc, findings),
            Event::Zk(event) => self.read_zk(world, row.proc, event, findings),
            _ => match note(row) {
                Some(Note::AttemptEnded { .. }) => self.installed(world, row.proc, findings),
                Some(Note::Note(Step::FetchersStopped { .. } | Step::SessionIsNew)) => {
                    self.forget(row.proc);
                }
                _ => {}
            },
        }
    }

    fn read_zk(&mut self, world: &World, proc: u16, event: &ZkEvent, findings: &mut Findings) {
        match event {
            ZkEvent::Created { path, .. }
            | ZkEvent::DataSet { path, .. }
            | ZkEvent::Deleted { path, .. } => {
                let Some((group, tp)) = owned_by(path) else { return };
                if !matches!(world.proc(proc).kind, Kind::Consumer(_)) {
                    self.by_hand.insert((tp.clone(), group.clone()));
                }
                self.lost(world, &(tp, group), findings);
            }
            ZkEvent::SessionExpired { gone, .. } | ZkEvent::SessionClosed { gone, .. } => {
                if matches!(event, ZkEvent::SessionExpired { .. })
                    && consumer(world.proc(proc)).is_some()
                {
                    self.expired.entry(proc).or_default();
                }
                for (group, tp) in gone.iter().filter_map(|path| owned_by(path)) {
                    self.lost(world, &(tp, group), findings);
                }
            }
            _ => {}
        }
    }

    /// Members of any group that may fetch the partition.
    pub fn of<'a>(&'a self, tp: &TopicPartition) -> impl Iterator<Item = u16> + use<'a> {
        let from = (tp.clone(), Arc::from(""));
        let tp = tp.clone();
        let seats = self.reading.by_seat.range(from..);
        let seats = seats.take_while(move |((other, _), _)| *other == tp);
        seats.flat_map(|(_, procs)| procs.iter().copied())
    }

    pub fn is_by_hand(&self, group: &Arc<str>, tp: &TopicPartition) -> bool {
        self.by_hand.contains(&(tp.clone(), group.clone()))
    }

    fn forget(&mut self, proc: u16) {
        if !self.reading.by_proc.contains_key(&proc) {
            return;
        }
        let reading = Arc::make_mut(&mut self.reading);
        for seat in reading.by_proc.remove(&proc).unwrap_or_default() {
            self.by_hand.remove(&seat);
            if let Some(procs) = reading.by_seat.get_mut(&seat) {
                procs.remove(&proc);
                if procs.is_empty() {
                    reading.by_seat.remove(&seat);
                }
            }
        }
    }

    /// It has begun to fetch what it claimed.
    fn installed(&mut self, world: &World, proc: u16, findings: &mut Findings) {
        self.forget(proc);
        let Some(consumer) = consumer(world.proc(proc)) else { return };
        let group = &consumer.spec.group;
        let seats: Vec<Seat> =
            consumer.owned.keys().map(|tp| (tp.clone(), group.clone())).collect();
        let reading = Arc::make_mut(&mut self.reading);
        for seat in &seats {
            reading.by_seat.entry(seat.clone()).or_default().insert(proc);
        }
        reading.by_proc.insert(proc, seats);
        if self.look_at(world, proc, findings) {
            self.expired.remove(&proc);
        }
    }

    /// Whether all that it fetches is its own.
    fn look_at(&mut self, world: &World, proc: u16, findings: &mut Findings) -> bool {
        let seats = self.reading.by_proc.get(&proc).cloned().unwrap_or_default();
        let mut fine = true;
        for seat in &seats {
            fine &= self.check_owner(world, proc, seat, findings);
            self.check_alone(world, proc, seat, findings);
        }
        fine
    }

    /// An owner node went or changed.
    fn lost(&mut self, world: &World, seat: &Seat, findings: &mut Findings) {
        let procs = self.reading.by_seat.get(seat).cloned().unwrap_or_default();
        for proc in procs {
            self.check_owner(world, proc, seat, findings);
        }
    }

    fn check_owner(
        &mut self,
        world: &World,
        proc: u16,
        seat: &Seat,
        findings: &mut Findings,
    ) -> bool {
        let Some(consumer) = fetching(world, proc, &seat.0) else { return true };
        let Some((path, id)) = consumer.owner_node(&seat.0) else { return true };
        findings.checked(READS_ITS_OWN);
        let session = consumer.zk.client().session();
        let node = world.server.tree().get(&path);
        let own = node.is_some_and(|node| {
            node.kind == NodeKind::Ephemeral(session) && node.data.as_deref() == Some(id.as_bytes())
        });
        if own {
            return true;
        }
        let about = format!("{}, {}", name(world.proc(proc)), text(&seat.0));
        if self.has_expired(world, proc) {
            let named = self.expired.entry(proc).or_default();
            if !std::mem::replace(&mut named.reads, true) {
                findings.breach(EXPIRED_READS, Severity::Found, proc, &about);
            }
        } else if self.by_hand.contains(seat) {
            findings.checked(OWNER_BY_HAND);
            findings.breach(OWNER_BY_HAND, Severity::Found, proc, &about);
        } else {
            findings.breach(READS_ITS_OWN, Severity::Violation, proc, &about);
        }
        false
    }

    fn check_alone(&mut self, world: &World, proc: u16, seat: &Seat, findings: &mut Findings) {
        if fetching(world, proc, &seat.0).is_none() {
            return;
        }
        findings.checked(READ_ONCE);
        let others = self.reading.by_seat.get(seat).cloned().unwrap_or_default();
        for other in others {
            if other == proc || fetching(world, other, &seat.0).is_none() {
                continue;
            }
            let names = (name(world.proc(proc)), name(world.proc(other)));
            let about = format!("{}, {}: {}", names.0, names.1, text(&seat.0));
            let zombie = [other, proc].into_iter().find(|at| self.has_expired(world, *at));
            if let Some(zombie) = zombie {
                let named = self.expired.entry(zombie).or_default();
                if !std::mem::replace(&mut named.twice, true) {
                    findings.breach(EXPIRED_READS, Severity::Found, zombie, &about);
                }
            } else if self.by_hand.contains(seat) {
                findings.breach(OWNER_BY_HAND, Severity::Found, other, &about);
            } else {
                findings.breach(READ_ONCE, Severity::Violation, proc, &about);
            }
        }
    }

    /// Its session has ended, or ended while it rebalanced: the other half of what it claimed is
    /// of the new one. [spec consumer-zk.md G3]
    fn has_expired(&self, world: &World, proc: u16) -> bool {
        let session = world.proc(proc).client().map(|client| client.session());
        let lives = session.is_some_and(|session| world.server.session(session).is_some());
        !lives || self.expired.contains_key(&proc)
    }
}

/// It runs and fetches the partition.
fn fetching<'a>(world: &'a World, proc: u16, tp: &TopicPartition) -> Option<&'a Connector> {
    let proc = world.proc(proc);
    consumer(proc).filter(|consumer| proc.state == State::Up && consumer.fetches(tp))
}

fn text(tp: &TopicPartition) -> String {
    format!("{}-{}", tp.topic, tp.partition)
}
