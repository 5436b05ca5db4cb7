//! A healthy member reads what is there and commits it: within two intervals of
//! `auto.commit.interval.ms`, unless something is between it and whom it needs, it is told not to
//! commit, or its application takes its time. [spec consumer-zk.md O2]

use std::collections::BTreeMap;

use super::readers::Readers;
use super::{Findings, consumer, disturbs, is_healthy, name, note};
use crate::base::{Instant, Span};
use crate::invariant::OFFSETS_ADVANCE;
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::connector::{Connector, Owned, Phase};
use crate::kafka::consumer_zk::event::{Event as Note, Note as Step};
use crate::kafka::event::Event as Kafka;
use crate::kafka::log::store::Event as Log;
use crate::world::event::Severity;
use crate::world::proc::State;
use crate::world::{Event, Row, World, ZkEvent};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owes {
    /// It has handed out records that it has not committed.
    Commit,
    /// There are records that it has not handed out.
    Read,
}

/// Who owes what, until when.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    debts: BTreeMap<(u16, Owes), Instant>,
    due: Option<Instant>,
}

impl Progress {
    pub fn due(&self) -> Instant {
        self.due.unwrap_or(Instant::NEVER)
    }

    pub fn read_row(&mut self, world: &World, row: &Row, readers: &Readers) {
        if disturbs(&row.event) || matches!(row.event, Event::Zk(ZkEvent::ServerStarted)) {
            return self.postpone(world);
        }
        let proc = row.proc;
        match &row.event {
            Event::Killed | Event::Exited => self.forgive(proc),
            Event::Kafka(event) => {
                if let Kafka::Log(Log::HighWatermark { tp, .. }) = &**event {
                    for reader in readers.of(tp) {
                        self.owe(world, reader, Owes::Read);
                    }
                }
            }
            _ => {}
        }
        match note(row) {
            Some(Note::Consumed { .. }) => {
                self.debts.remove(&(proc, Owes::Read));
                self.owe(world, proc, Owes::Read);
                self.owe(world, proc, Owes::Commit);
            }
            Some(Note::Positioned { .. } | Note::AttemptEnded { .. }) => {
                self.owe(world, proc, Owes::Read);
                self.owe(world, proc, Owes::Commit);
            }
            Some(Note::Committed { .. }) => {
                self.debts.remove(&(proc, Owes::Commit));
                self.owe(world, proc, Owes::Commit);
            }
            Some(Note::Note(
                Step::FetchersStopped { .. } | Step::SessionIsNew | Step::ShuttingDown,
            )) => self.forgive(proc),
            _ => {}
        }
    }

    fn forgive(&mut self, proc: u16) {
        self.debts.remove(&(proc, Owes::Commit));
        self.debts.remove(&(proc, Owes::Read));
    }

    /// If it has something to do, and nothing is owed yet.
    fn owe(&mut self, world: &World, proc: u16, what: Owes) {
        let Some(consumer) = consumer(world.proc(proc)) else { return };
        let at = (proc, what);
        if !self.debts.contains_key(&at) && behind(world, consumer, what).is_some() {
            let due = world.now + patience(consumer);
            self.debts.insert(at, due);
            self.due = Some(self.due().min(due));
        }
    }

    fn postpone(&mut self, world: &World) {
        for ((proc, _), due) in &mut self.debts {
            let consumer = consumer(world.proc(*proc));
            *due = world.now + consumer.map_or(Span::ZERO, patience);
        }
        self.due = self.debts.values().copied().min();
    }

    pub fn judge(&mut self, world: &World, findings: &mut Findings) {
        let over: Vec<(u16, Owes)> = self
            .debts
            .iter()
            .filter(|(_, due)| **due <= world.now)
            .map(|(debt, _)| *debt)
            .collect();
        for (proc, what) in over {
            self.debts.remove(&(proc, what));
            let Some(consumer) = consumer(world.proc(proc)) else { continue };
            let Some(tp) = behind(world, consumer, what) else { continue };
            let free = is_healthy(world, proc)
                && consumer.phase == Phase::Fetching
                && !consumer.lacks_channel();
            if !free {
                self.debts.insert((proc, what), world.now + patience(consumer));
                continue;
            }
            findings.checked(OFFSETS_ADVANCE);
            let about = format!("{}, {}-{}", name(world.proc(proc)), tp.topic, tp.partition);
            findings.breach(OFFSETS_ADVANCE, Severity::Violation, proc, &about);
        }
        self.due = self.debts.values().copied().min();
    }
}

fn patience(consumer: &Connector) -> Span {
    let every = consumer.commit_interval();
    every + every + Span::from_secs(1)
}

/// A partition with which it is not where it should get to by itself.
fn behind(world: &World, consumer: &Connector, what: Owes) -> Option<TopicPartition> {
    let late = |(tp, owned): &(&TopicPartition, &Owned)| match what {
        Owes::Commit => {
            consumer.options.auto_commit
                && owned.positioned
                && owned.committed != Some(owned.position)
        }
        Owes::Read => is_unread(world, consumer, tp, owned),
    };
    consumer.owned.iter().find(late).map(|(tp, _)| tp.clone())
}

/// Its leader has committed records that the application would have taken by now.
fn is_unread(world: &World, consumer: &Connector, tp: &TopicPartition, owned: &Owned) -> bool {
    if !consumer.reading || consumer.options.processing_us > 0 || !owned.positioned {
        return false;
    }
    let Some(leader) = owned.leader.and_then(|id| world.broker(id)) else { return false };
    let leads = leader.role(tp).is_some_and(|role| role.leader == leader.broker_id());
    let unread = leader.log(tp).is_some_and(|log| log.high_watermark > owned.position);
    leader.state == State::Up && leads && unread
}
