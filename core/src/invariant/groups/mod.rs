//! Groups that coordinate through ZooKeeper: who reads what [`readers`], whether all is read
//! [`seats`], whether offsets advance [`progress`], who waits for itself [`registration`]. Each
//! looks only at what a row speaks of, or at a group or a member whose time has come.

mod progress;
mod readers;
mod registration;
mod seats;

use std::sync::Arc;

use super::Findings;
use crate::base::Instant;
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::Connector;
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::event::Event as Kafka;
use crate::world::proc::{Kind, Proc, State};
use crate::world::{Command, Event, Row, World};

#[derive(Clone, Debug, Default)]
pub struct Groups {
    readers: readers::Readers,
    registration: registration::Registration,
    seats: seats::Seats,
    progress: progress::Progress,
}

impl Groups {
    /// Somebody's time has come, whether anything happened or not.
    pub fn is_due(&self, now: Instant) -> bool {
        self.seats.due() <= now || self.progress.due() <= now
    }

    pub fn check(&mut self, world: &World, rows: &[Row], findings: &mut Findings) {
        for row in rows {
            self.readers.read_row(world, row, findings);
            self.registration.read_row(world, row, findings);
            self.seats.read_row(world, row);
            self.progress.read_row(world, row, &self.readers);
        }
        if self.seats.due() <= world.now {
            self.seats.judge(world, &self.readers, findings);
        }
        if self.progress.due() <= world.now {
            self.progress.judge(world, findings);
        }
    }
}

/// What a consumer says in a row.
fn note(row: &Row) -> Option<&Note> {
    let Event::Kafka(event) = &row.event else { return None };
    match &**event {
        Kafka::Consumer(note) => Some(note),
        _ => None,
    }
}

/// A consumer that runs, standing still or not.
fn consumer(proc: &Proc) -> Option<&Connector> {
    proc.consumer().filter(|_| proc.is_running())
}

fn name(proc: &Proc) -> &str {
    match &proc.kind {
        Kind::Consumer(name) => name,
        _ => "",
    }
}

/// Nothing is between it and ZooKeeper, by its own belief and in truth.
fn is_healthy(world: &World, index: u16) -> bool {
    let proc = world.proc(index);
    let connected = consumer(proc).is_some_and(Connector::is_connected);
    proc.state == State::Up && connected && world.server_up && !world.is_cut(index)
}

/// The command may keep somebody from what they would do.
fn disturbs(event: &Event) -> bool {
    match event {
        Event::Commanded(command) => {
            !matches!(**command, Command::Produce { .. } | Command::Commit { .. })
        }
        Event::Paused { .. } | Event::Resumed | Event::LinkCut | Event::LinkHealed => true,
        _ => false,
    }
}

/// Group, kind of node and what is below it, of a path under `/consumers`.
fn in_group(path: &str) -> Option<(&str, &str, &str)> {
    let (group, rest) = path.strip_prefix("/consumers/")?.split_once('/')?;
    let (kind, below) = rest.split_once('/').unwrap_or((rest, ""));
    Some((group, kind, below))
}

/// The partition that an owner node is about: `T/3`, in the textbook `T/1-3`. [product.md T12]
fn owned_by(path: &str) -> Option<(Arc<str>, TopicPartition)> {
    let (group, "owners", below) = in_group(path)? else { return None };
    let (topic, node) = below.split_once('/')?;
    let partition = node.rsplit('-').next()?.parse().ok()?;
    Some((group.into(), TopicPartition { topic: topic.into(), partition }))
}
