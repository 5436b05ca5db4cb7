//! What no rule decides, taken from the recording: who wins a race for `/controller`, the draw of a
//! placement, the broker that a tool asked, in which ticks deaths are noticed.
//!
//! The run is steered by the latency of links, by the draw, or by the moment of a kill within a
//! tick; never by what is written. [recordings/README.md, Chance]

use std::collections::BTreeSet;

use kafkascope_core::base::Span;
use kafkascope_core::kafka::placement::{self, Rack, Wanted};
use kafkascope_core::kafka::{TopicPartition, paths};
use kafkascope_core::world::proc::Kind;
use serde_json::Value;

use super::names::broker_of;
use super::sim::{LATENCY, Sim};

/// How much later than its winner a loser of a race hears that it is on: soon enough to try, too
/// late to win.
const RACING: Span = Span::from_micros(LATENCY.micros() / 4);
/// Too late even to try: it finds a controller.
const LATE: Span = Span::from_millis(30);
/// Moments at which a kill may come: within a ping interval, and between two looks at an ISR.
const PHASES: u64 = 40;
/// Within the interval at which high watermarks are written down.
const CHECKPOINT_PHASES: u64 = 30;
const PHASE: Span = Span::from_millis(250);
/// The same where a time was written down, in tenths of a second.
const TENTH: Span = Span::from_millis(100);

/// One step's chance.
pub struct Chance {
    recorded: Value,
    /// Who takes `/controller` in this step.
    winner: Option<u32>,
    /// Who tries in vain.
    racers: BTreeSet<u32>,
    /// Who dies, stops or freezes: it takes no part.
    leaving: BTreeSet<u32>,
    /// Brokers and racks, by id, for a draw.
    brokers: Vec<(u32, Rack)>,
}

impl Chance {
    pub fn of(step: &Value, sim: &Sim) -> Chance {
        let txns = step["zk_txns"].as_array().cloned().unwrap_or_default();
        let new: BTreeSet<&str> = txns
            .iter()
            .filter(|txn| txn["type"] == "createSession")
            .filter_map(|txn| txn["session"].as_str())
            .collect();
        let takes = |txn: &&Value| {
            let is_it = |op: &Value| op["type"] == "create" && op["path"] == paths::CONTROLLER;
            is_it(txn) || txn["ops"].as_array().is_some_and(|ops| ops.iter().any(is_it))
        };
        let broker = |txn: &Value| txn["session"].as_str().and_then(broker_of);
        let winner = txns.iter().rev().find(takes).and_then(broker);
        let fails = |txn: &&Value| {
            let first = &txn["ops"][0];
            let old = txn["session"].as_str().is_some_and(|name| !new.contains(name));
            let error = if first.is_null() { *txn } else { first };
            let other = !txn["path"].is_null() && txn["path"] != paths::CONTROLLER;
            old && error["type"] == "error" && error["error"] == "NodeExists" && !other
        };
        let racers = txns.iter().filter(fails).filter_map(broker);
        let racers = racers.filter(|id| winner.is_some() && Some(*id) != winner).collect();
        let (leaving, brokers) = (leaving(step), registered(sim));
        Chance { recorded: Value::Array(txns), winner, racers, leaving, brokers }
    }

    fn txns(&self) -> &[Value] {
        self.recorded.as_array().map_or(&[], Vec::as_slice)
    }

    /// Sets the links so that the recorded broker wins. True if there was anything to steer.
    pub fn lean(&self, sim: &mut Sim) -> bool {
        let Some(winner) = self.winner else { return false };
        let others = sim.running_brokers();
        let mut steered = false;
        for id in others.into_iter().filter(|id| *id != winner && !self.leaving.contains(id)) {
            let extra = if self.racers.contains(&id) { RACING } else { LATE };
            sim.delay(id, extra);
            steered = true;
        }
        steered
    }

    /// Makes the links equal again.
    pub fn straighten(&self, sim: &mut Sim) {
        for (id, _) in &self.brokers {
            sim.delay(*id, Span::ZERO);
        }
        for id in sim.running_brokers() {
            sim.delay(id, Span::ZERO);
        }
    }

    /// The recorded placement of a new topic, if two draws give it.
    pub fn placement(&self, topic: &str) -> Option<Vec<Vec<u32>>> {
        let path = paths::topic(topic);
        let is_it = |txn: &&Value| {
            let at = txn["path"].as_str().unwrap_or_default();
            let at = at.rsplit_once('/').map_or(at.into(), |(above, name)| {
                format!("{above}/{}", super::ops::written_out(name))
            });
            txn["type"] == "create" && *at == *path
        };
        let partitions = self.txns().iter().find(is_it)?["data"]["partitions"].as_object()?;
        let replicas = |number: u32| -> Option<Vec<u32>> {
            let list = partitions.get(&number.to_string())?.as_array()?;
            list.iter().map(super::ops::number).collect()
        };
        let many = u32::try_from(partitions.len()).ok()?;
        let wanted = (0..many).map(replicas).collect::<Option<Vec<_>>>()?;
        let replication = u32::try_from(wanted.first()?.len()).ok()?;
        let draws = 0..u32::try_from(self.brokers.len()).ok()?;
        let fits = |start: u32, shift: u32| {
            let draw = Wanted { partitions: many, replication, start, shift, first: 0 };
            placement::place_by_rack(&self.brokers, &draw).is_ok_and(|placed| placed == wanted)
        };
        let found = draws.clone().any(|start| draws.clone().any(|shift| fits(start, shift)));
        found.then_some(wanted)
    }

    /// The broker that wrote an entity's configuration.
    pub fn asked(&self, entity: &str) -> Option<u32> {
        // A broker's own configuration is its own business. [spec kafka-zk.md W13]
        if entity.starts_with("brokers/") {
            return None;
        }
        let changes =
            |txn: &&Value| txn["type"] == "create" && txn["data"]["entity_path"] == *entity;
        self.txns().iter().find(changes)?["session"].as_str().and_then(broker_of)
    }

    /// The broker that wrote the configuration of one of these topics.
    pub fn asked_for_topics<'a>(&self, mut topics: impl Iterator<Item = &'a str>) -> Option<u32> {
        topics.find_map(|topic| self.asked(&format!("topics/{topic}")))
    }

    /// Partitions whose leader takes a broker back that is about to stop, though it was just taken
    /// out of their ISRs. [spec kafka-zk.md F8]
    pub fn taken_back(&self, broker: u32) -> Vec<TopicPartition> {
        let mut without: BTreeSet<TopicPartition> = BTreeSet::new();
        let mut back = Vec::new();
        for txn in self.txns() {
            if txn["type"] == "closeSession" && broker_of(who(txn)) == Some(broker) {
                break;
            }
            let path = txn["path"].as_str().unwrap_or_default();
            let (Some(tp), Some(isr)) = (state_of(path), txn["data"]["isr"].as_array()) else {
                continue;
            };
            if !isr.iter().any(|id| *id == broker) {
                without.insert(tp);
            } else if without.remove(&tp) {
                back.push(tp);
            }
        }
        back
    }

    /// Did what waits for a timer come as it was recorded: deaths together or apart, notices of
    /// changed ISRs one after the other, as much of all this as there was?
    pub fn ticks_fit(&self, got: &Value) -> bool {
        Ticks::of(self.txns()) == Ticks::of(got.as_array().map_or(&[], Vec::as_slice))
    }

    /// Whether more than one death was noticed.
    pub fn has_deaths(&self) -> bool {
        Ticks::of(self.txns()).ends.iter().map(Vec::len).sum::<usize>() > 1
    }
}

/// Moments to try for what ends a session, and for what starts timers anew.
pub fn phases(step: &Value) -> Vec<Span> {
    let starts =
        |op: &Value| op["op"].as_str().is_some_and(|name| name.starts_with("start-broker"));
    let any = ops(step).any(|op| silences(op) || starts(op));
    let count = match any {
        true => PHASES,
        false if keeps_checkpoints(step) => CHECKPOINT_PHASES,
        false => 1,
    };
    let wide = if any { 1 } else { 2 };
    let phase = if step["result"]["seconds"].is_number() { TENTH } else { PHASE };
    (0..count).map(|n| Span::from_micros(phase.micros() * n * wide)).collect()
}

/// High watermarks as they were last written down, every few seconds: at which moment of those is
/// a matter of timers.
fn checkpoints(step: &Value) -> Vec<(&str, &str, &Value)> {
    let facts = step.as_object().into_iter().flatten();
    let disks = facts.filter(|(name, _)| name.starts_with("disks") && *name != "disks_at_once");
    let each = disks.flat_map(|(name, disks)| {
        let brokers = disks.as_object().into_iter().flatten();
        brokers.map(move |(id, disk)| (name.as_str(), id.as_str(), &disk["hw_checkpoint"]))
    });
    each.collect()
}

pub fn keeps_checkpoints(step: &Value) -> bool {
    !checkpoints(step).is_empty()
}

/// How many of them are others than recorded.
pub fn other_checkpoints(recorded: &Value, got: &Value) -> usize {
    let differs =
        |(name, id, kept): &&(&str, &str, &Value)| &got[name][id]["hw_checkpoint"] != *kept;
    checkpoints(recorded).iter().filter(differs).count()
}

/// Whether a step that begins later can't do better: something is written down too soon that its
/// broker knew before the step.
pub fn is_hopeless(recorded: &Value, got: &Value, known: impl Fn(&str, &str) -> u64) -> bool {
    checkpoints(recorded).iter().any(|(name, id, kept)| {
        let (kept, got) = (kept.as_u64(), got[name][id]["hw_checkpoint"].as_u64());
        got > kept && got.is_some_and(|got| got <= known(name, id))
    })
}

/// The op of a step, or the ops in it.
fn ops(step: &Value) -> impl Iterator<Item = &Value> {
    step["op"]["ops"].as_array().into_iter().flatten().chain([&step["op"]])
}

fn silences(op: &Value) -> bool {
    let name = op["op"].as_str().unwrap_or_default();
    ["kill-", "freeze-", "pause-"].iter().any(|start| name.starts_with(start))
}

fn leaving(step: &Value) -> BTreeSet<u32> {
    let goes = |op: &&Value| silences(op) || op["op"] == "stop-broker";
    ops(step).filter(goes).filter_map(|op| super::ops::ids(op).ok()).flatten().collect()
}

/// What in a step follows from timers.
#[derive(PartialEq, Eq)]
struct Ticks<'a> {
    /// Sessions that ended with nothing written between them, group by group; tools are all one.
    ends: Vec<Vec<&'a str>>,
    /// Who left notices of changed ISRs.
    notices: Vec<&'a str>,
    /// How much was logged in all.
    total: u64,
}

impl Ticks<'_> {
    fn of(txns: &[Value]) -> Ticks<'_> {
        let is_end = |txn: &Value| txn["type"] == "closeSession";
        let mut ends = Vec::new();
        for group in txns.chunk_by(|a, b| is_end(a) == is_end(b)) {
            let mut names: Vec<&str> = group.iter().filter(|txn| is_end(txn)).map(who).collect();
            names.sort_unstable();
            if !names.is_empty() {
                ends.push(names);
            }
        }
        let is_notice = |txn: &&Value| {
            let path = txn["path"].as_str().unwrap_or_default();
            txn["type"] == "create" && path.starts_with("/isr_change_notification/")
        };
        let times = |txn: &Value| txn["times"].as_u64().unwrap_or(1);
        Ticks {
            ends,
            notices: txns.iter().filter(is_notice).map(who).collect(),
            total: txns.iter().map(times).sum(),
        }
    }
}

/// The partition whose state stands at a path.
fn state_of(path: &str) -> Option<TopicPartition> {
    let inner = path.strip_prefix("/brokers/topics/")?.strip_suffix("/state")?;
    let (topic, partition) = inner.split_once("/partitions/")?;
    Some(TopicPartition { topic: topic.into(), partition: partition.parse().ok()? })
}

/// The broker's session that logged something, or just a tool's.
fn who(txn: &Value) -> &str {
    let name = txn["session"].as_str().unwrap_or_default();
    if broker_of(name).is_some() { name } else { "tool" }
}

/// Registered brokers by id, with their racks.
fn registered(sim: &Sim) -> Vec<(u32, Rack)> {
    let mut brokers: Vec<(u32, Rack)> = sim
        .world
        .procs
        .iter()
        .filter_map(|proc| match proc.kind {
            Kind::Broker(id) if sim.is_registered(id) => Some((id, proc.rack.clone())),
            _ => None,
        })
        .collect();
    brokers.sort();
    brokers
}
