//! A partition's logs side by side: what each replica has, how far it is committed, where it is
//! not what its leader has, and what was cut off. [product.md Logs, spec kafka-zk.md I5, I8, I9]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::stage::Role;
use crate::base::limits;
use crate::kafka::data::{NO_EPOCH, Offset, Record};
use crate::kafka::event::Event as Kafka;
use crate::kafka::log::store::{Event as Note, Log};
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::kafka::{TopicPartition, paths};
use crate::lab::{BranchId, Lab, Run};
use crate::sim::RowId;
use crate::world::proc::{Kind, State};
use crate::world::{Event, World};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogsView {
    /// Partitions in which anything was ever written, by name.
    pub partitions: Vec<PartitionLine>,
    /// How many more there are.
    pub more: usize,
    pub shown: Option<PartitionLogs>,
}

/// A partition in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionLine {
    pub tp: TopicPartition,
    pub leader: Option<u32>,
    pub in_sync: usize,
    pub replicas: usize,
    /// Of the leader, or of the longest log if nobody leads.
    pub end: Offset,
    pub high_watermark: Offset,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionLogs {
    pub tp: TopicPartition,
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    /// The offsets that are shown: from the first one up to but without the last one.
    pub from: Offset,
    pub to: Offset,
    /// Where the longest log begins and ends, ghosts too.
    pub first: Offset,
    pub end: Offset,
    pub replicas: Vec<ReplicaLog>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaLog {
    pub broker: u32,
    pub role: Role,
    pub preferred: bool,
    /// Its process is dead, stands still or is another's.
    pub offline: bool,
    /// `T-P`, as the folder is called. [product.md T6]
    pub folder: Arc<str>,
    /// `None`: nothing was ever written there.
    pub log: Option<Ends>,
    /// What it has of the offsets that are shown.
    pub cells: Vec<Cell>,
    /// What was cut off lately, of the offsets that are shown.
    pub ghosts: Vec<Ghost>,
}

/// How far a replica's log goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub start: Offset,
    pub end: Offset,
    /// Its own.
    pub high_watermark: Offset,
}

/// A record as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub offset: Offset,
    pub key: Option<Arc<str>>,
    pub value: Arc<str>,
    /// The leader epoch it was written in; records of old releases have none.
    pub epoch: Option<i32>,
    /// The row that sent it.
    pub sent: RowId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub entry: Entry,
    /// Below this replica's own high watermark.
    pub committed: bool,
    pub against: Against,
}

/// A record beside what the leader has at its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The same, or this is the leader, or nobody leads.
    Same,
    /// The leader has another record here.
    Differs,
    /// The leader's log ends before, or begins later.
    Lacking,
}

/// A record that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ghost {
    pub entry: Entry,
    /// Some replica had it below its high watermark.
    pub was_committed: bool,
    /// The leader has it no more either. Else it will be copied again.
    pub lost: bool,
    /// The row that tells of it.
    pub row: RowId,
}

/// Records that a row cut off, as they were; a row of the same run always cut off the same.
#[derive(Default)]
pub struct Memory {
    run: Option<(Run, BranchId)>,
    ghosts: BTreeMap<u32, Arc<Vec<Ghost>>>,
}

/// What is asked for. `None` each: the first partition, the newest offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub tp: Option<TopicPartition>,
    /// The window ends here.
    pub to: Option<Offset>,
    pub window: u32,
}

pub fn logs(lab: &Lab, wanted: &Wanted, memory: &mut Memory) -> LogsView {
    let world = lab.world();
    let mut all: BTreeSet<&TopicPartition> = BTreeSet::new();
    for proc in &world.procs {
        let written = proc.store().logs.iter().filter(|(_, log)| log.end() > 0);
        all.extend(written.map(|(tp, _)| tp));
    }
    let chosen = wanted.tp.as_ref().filter(|tp| all.contains(tp));
    let tp = chosen.or_else(|| all.first().copied()).cloned();
    let more = all.len().saturating_sub(limits::LOG_LIST);
    let partitions = all.into_iter().take(limits::LOG_LIST).map(|tp| line(world, tp)).collect();
    let shown = tp.map(|tp| partition(lab, tp, wanted, memory));
    LogsView { partitions, more, shown }
}

/// What ZooKeeper says of a partition: its replicas, and who leads.
pub(super) fn state(world: &World, tp: &TopicPartition) -> (Vec<u32>, Option<PartitionState>) {
    let tree = world.server.tree();
    let info = tree.get(&paths::topic(&tp.topic));
    let info = info.and_then(|node| payload::read::<TopicInfo>(&node.data));
    let replicas = info.and_then(|mut info| info.partitions.remove(&tp.partition));
    let state = tree.get(&paths::state(&tp.topic, tp.partition));
    let state = state.and_then(|node| payload::read::<PartitionState>(&node.data));
    (replicas.unwrap_or_default(), state)
}

pub(super) fn leader_of(state: Option<&PartitionState>) -> Option<u32> {
    state.and_then(|state| u32::try_from(state.leader).ok())
}

pub(super) fn log_of<'a>(world: &'a World, broker: u32, tp: &TopicPartition) -> Option<&'a Log> {
    world.broker(broker)?.log(tp)
}

fn line(world: &World, tp: &TopicPartition) -> PartitionLine {
    let (replicas, state) = state(world, tp);
    let leader = leader_of(state.as_ref());
    let longest = || {
        let logs = replicas.iter().filter_map(|id| log_of(world, *id, tp));
        logs.max_by_key(|log| log.end())
    };
    let log = leader.and_then(|id| log_of(world, id, tp)).or_else(longest);
    PartitionLine {
        tp: tp.clone(),
        leader,
        in_sync: state.map_or(0, |state| state.isr.len()),
        replicas: replicas.len(),
        end: log.map_or(0, Log::end),
        high_watermark: log.map_or(0, |log| log.high_watermark),
    }
}

fn partition(lab: &Lab, tp: TopicPartition, wanted: &Wanted, memory: &mut Memory) -> PartitionLogs {
    let world = lab.world();
    let (mut brokers, state) = state(world, &tp);
    let preferred = brokers.first().copied();
    // A broker that is no replica any more may still have the folder.
    let others = world.procs.iter().filter_map(|proc| match proc.kind {
        Kind::Broker(id) if proc.log(&tp).is_some_and(|log| log.end() > 0) => Some(id),
        _ => None,
    });
    let others: Vec<u32> = others.filter(|id| !brokers.contains(id)).collect();
    brokers.extend(others);
    let leader = leader_of(state.as_ref());
    let mut lost = ghosts(lab, &tp, memory);
    // What was copied again is there.
    for (id, ghosts) in &mut lost {
        let log = log_of(world, *id, &tp);
        ghosts.retain(|ghost| log.is_none_or(|log| !has(log, &ghost.entry)));
    }
    let ends = brokers.iter().filter_map(|id| log_of(world, *id, &tp));
    let end = ends.clone().map(Log::end).max().unwrap_or(0);
    let last_ghost = lost.values().flatten().map(|ghost| ghost.entry.offset + 1).max();
    let end = end.max(last_ghost.unwrap_or(0));
    let first = ends.filter(|log| log.end() > 0).map(Log::start).min().unwrap_or(0);
    let window = Offset::from(wanted.window.clamp(1, limits::LOG_WINDOW));
    let to = wanted.to.unwrap_or(end).clamp((first + window).min(end), end);
    let from = to.saturating_sub(window).max(first);
    let isr = state.as_ref().map(|state| state.isr.clone()).unwrap_or_default();
    let leads = leader.and_then(|id| log_of(world, id, &tp));
    let replicas = brokers.iter().map(|id| {
        let role = match &state {
            None => Role::New,
            Some(_) if leader == Some(*id) => Role::Leader,
            Some(_) if isr.contains(id) => Role::InSync,
            Some(_) => Role::OutOfSync,
        };
        let mut made = replica(world, &tp, *id, leads, (from, to));
        made.ghosts = lost.get(id).into_iter().flatten().cloned().collect();
        made.ghosts.retain(|ghost| (from..to).contains(&ghost.entry.offset));
        for ghost in &mut made.ghosts {
            ghost.lost = leads.is_none_or(|log| !has(log, &ghost.entry));
        }
        ReplicaLog { role, preferred: preferred == Some(*id), ..made }
    });
    let replicas = replicas.collect();
    let leader_epoch = state.as_ref().map_or(0, |state| state.leader_epoch);
    PartitionLogs { tp, leader, leader_epoch, isr, from, to, first, end, replicas }
}

/// What a broker has. Its role comes later.
fn replica(
    world: &World,
    tp: &TopicPartition,
    broker: u32,
    leads: Option<&Log>,
    (from, to): (Offset, Offset),
) -> ReplicaLog {
    let proc = world.broker(broker);
    let log = proc.and_then(|proc| proc.log(tp));
    let cells = log.map(|log| {
        let offsets = from.max(log.start())..to.min(log.end());
        let cells = offsets.filter_map(|offset| {
            let record = log.get(offset)?;
            let against = match leads.map(|leads| leads.get(offset)) {
                None => Against::Same,
                Some(None) => Against::Lacking,
                Some(Some(theirs)) if theirs == record => Against::Same,
                Some(Some(_)) => Against::Differs,
            };
            let committed = offset < log.high_watermark;
            Some(Cell { entry: entry(offset, record), committed, against })
        });
        cells.collect()
    });
    ReplicaLog {
        broker,
        role: Role::New,
        preferred: false,
        offline: proc.is_none_or(|proc| proc.state != State::Up),
        folder: format!("{}-{}", tp.topic, tp.partition).into(),
        log: log.filter(|log| log.end() > 0).map(|log| Ends {
            start: log.start(),
            end: log.end(),
            high_watermark: log.high_watermark,
        }),
        cells: cells.unwrap_or_default(),
        ghosts: Vec::new(),
    }
}

fn entry(offset: Offset, record: &Record) -> Entry {
    Entry {
        offset,
        key: record.key.clone(),
        value: record.value.clone(),
        epoch: (record.epoch != NO_EPOCH).then_some(record.epoch),
        sent: record.sent,
    }
}

/// A log has this very record.
fn has(log: &Log, entry: &Entry) -> bool {
    log.get(entry.offset).is_some_and(|record| self::entry(entry.offset, record) == *entry)
}

/// By broker, what it cut off lately. Rows tell of it up to the cursor, so it is the same after
/// stepping back and on again.
fn ghosts(lab: &Lab, tp: &TopicPartition, memory: &mut Memory) -> BTreeMap<u32, Vec<Ghost>> {
    let here = (lab.run(), lab.current_branch());
    if memory.run.as_ref().is_none_or(|(run, branch)| (run, *branch) != here) {
        memory.run = Some((lab.run().clone(), lab.current_branch()));
        memory.ghosts.clear();
    }
    let mut found: BTreeMap<u32, Vec<Ghost>> = BTreeMap::new();
    let rows = lab.rows();
    for (at, row) in rows.iter().enumerate().rev().take(limits::LOST_ROWS) {
        let Event::Kafka(event) = &row.event else { continue };
        let Kafka::Log(Note::Truncated { broker, tp: cut, to }) = &**event else { continue };
        if cut != tp {
            continue;
        }
        let id = u32::try_from(at).unwrap_or(u32::MAX);
        let mine = memory.ghosts.entry(id).or_insert_with(|| {
            let before = lab.peek(row.event_no.saturating_sub(1));
            let lost = before.map(|world| lost(&world, tp, *broker, *to, RowId(id)));
            Arc::new(lost.unwrap_or_default())
        });
        let known = found.entry(*broker).or_default();
        // The newest loss of an offset is the one that is shown.
        let fresh = mine
            .iter()
            .filter(|ghost| known.iter().all(|other| other.entry.offset != ghost.entry.offset));
        let fresh: Vec<Ghost> = fresh.cloned().collect();
        known.extend(fresh);
    }
    for ghosts in found.values_mut() {
        ghosts.sort_by_key(|ghost| ghost.entry.offset);
    }
    found
}

/// What lies at `to` and later in a log of that world.
fn lost(world: &World, tp: &TopicPartition, broker: u32, to: Offset, row: RowId) -> Vec<Ghost> {
    let Some(log) = log_of(world, broker, tp) else { return Vec::new() };
    let logs = world.procs.iter().filter_map(|proc| proc.log(tp));
    let committed = logs.map(|log| log.high_watermark).max().unwrap_or(0);
    let last = log.end().min(to.saturating_add(Offset::from(limits::LOG_WINDOW)));
    (to..last)
        .filter_map(|offset| Some((offset, log.get(offset)?)))
        .map(|(offset, record)| Ghost {
            entry: entry(offset, record),
            was_committed: offset < committed,
            lost: true,
            row,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Instant, Span};
    use crate::script;
    use crate::world::{Command, Who};

    fn wait(lab: &mut Lab, seconds: u64) {
        let until = lab.now() + Span::from_secs(seconds);
        lab.advance(until, u32::MAX);
    }

    fn lab(text: &str) -> Lab {
        let script = script::parse(text).expect("the script");
        let mut lab = Lab::new(script::run_of(&script));
        lab.advance(Instant::ZERO + Span::from_secs(7), u32::MAX);
        lab
    }

    fn see(lab: &Lab, memory: &mut Memory) -> PartitionLogs {
        let wanted = Wanted { window: 24, ..Wanted::default() };
        logs(lab, &wanted, memory).shown.expect("a partition with records")
    }

    fn produce(lab: &mut Lab, from: u64, count: u32) {
        let (topic, partition) = ("T".into(), Some(0));
        let batch = crate::kafka::producer::Batch { topic, partition, key: None, from, count };
        let command = Command::Produce { producer: "p1".into(), batch: Arc::new(batch) };
        lab.submit(command).expect("a producer");
    }

    #[test]
    fn replicas_stand_side_by_side() {
        let lab = lab("kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..3\n\
            at 2s create topic T partitions 1 replication 3\nat 4s start producer p1 acks all\n\
            at 5s produce p1 topic T key k count 30\n");
        let seen = see(&lab, &mut Memory::default());
        assert_eq!((seen.from, seen.to, seen.first, seen.end), (6, 30, 0, 30));
        assert_eq!(seen.replicas.len(), 3);
        for replica in &seen.replicas {
            assert_eq!(&*replica.folder, "T-0");
            assert_eq!(replica.cells.len(), 24);
            let fine = |cell: &Cell| cell.committed && cell.against == Against::Same;
            assert!(replica.cells.iter().all(fine) && replica.ghosts.is_empty());
        }
        let leads = seen.replicas.iter().filter(|replica| replica.role == Role::Leader);
        assert_eq!(leads.count(), 1);
        // An earlier page.
        let wanted = Wanted { to: Some(10), window: 8, ..Wanted::default() };
        let page = logs(&lab, &wanted, &mut Memory::default()).shown.expect("a partition");
        assert_eq!((page.from, page.to), (2, 10));
    }

    /// A leader alone takes records, dies, and one that never had them is elected.
    #[test]
    fn what_an_unclean_election_cuts_off_is_remembered() {
        let mut lab = lab("kafkascope 1\nprofile 0.8 seed 7\nat 0s start broker 1..2\n\
            at 2s create topic T partitions 1 replication 2\nat 4s start producer p1 acks 1\n\
            at 5s produce p1 topic T count 3\n");
        let mut memory = Memory::default();
        let first = see(&lab, &mut memory);
        let old = first.leader.expect("a leader");
        let new = 3 - old;
        lab.submit(Command::Kill(Who::Broker(new))).expect("it runs");
        wait(&mut lab, 20);
        produce(&mut lab, 10, 2);
        wait(&mut lab, 1);
        assert_eq!(see(&lab, &mut memory).isr, [old]);
        lab.submit(Command::Kill(Who::Broker(old))).expect("it runs");
        wait(&mut lab, 20);
        lab.submit(Command::StartBroker { id: new, host: None, rack: None }).expect("it is down");
        wait(&mut lab, 20);
        produce(&mut lab, 20, 1);
        wait(&mut lab, 1);
        let seen = see(&lab, &mut memory);
        assert_eq!(seen.leader, Some(new));
        let of = |seen: &PartitionLogs, id: u32| -> ReplicaLog {
            seen.replicas.iter().find(|replica| replica.broker == id).cloned().expect("a replica")
        };
        // The dead one still has its own: another record at 3, and one that the leader lacks.
        let against: Vec<Against> = of(&seen, old).cells.iter().map(|c| c.against).collect();
        assert_eq!(against[2..], [Against::Same, Against::Differs, Against::Lacking]);
        assert!(of(&seen, old).offline);

        lab.submit(Command::StartBroker { id: old, host: None, rack: None }).expect("it is down");
        wait(&mut lab, 10);
        let seen = see(&lab, &mut memory);
        let ghosts = of(&seen, old).ghosts;
        let told: Vec<_> = ghosts
            .iter()
            .map(|ghost| (ghost.entry.offset, &*ghost.entry.value, ghost.lost))
            .collect();
        assert_eq!(told, [(4, "11", true)]);
        assert!(ghosts.iter().all(|ghost| ghost.was_committed), "its ISR was itself alone");
        // 0.8 looks at ends and not at epochs: the other record at 3 stays. [spec kafka-zk.md I9]
        assert_eq!(of(&seen, old).cells[3].against, Against::Differs);

        // Back before it, they are cells; the cursor alone decides.
        let here = lab.now();
        lab.seek_event(lab.rows()[ghosts[0].row.0 as usize].event_no - 1);
        assert!(of(&see(&lab, &mut memory), old).ghosts.is_empty());
        lab.seek(here);
        assert_eq!(see(&lab, &mut Memory::default()), seen);
    }
}
