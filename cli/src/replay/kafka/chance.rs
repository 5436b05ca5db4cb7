//! What no rule decides, taken from the recording: who wins a race for `/controller`, the draw of a
//! placement, the broker that a tool asked, in which ticks deaths are noticed.
//!
//! The run is steered by the latency of links, by the draw, or by the moment of a kill within a
//! tick; never by what is written. [recordings/README.md, Chance]

use std::collections::BTreeSet;

use kafkascope_core::base::Span;
use kafkascope_core::kafka::paths;
use kafkascope_core::kafka::placement::{self, Rack, Wanted};
use kafkascope_core::world::proc::Kind;
use serde_json::{Value, json};

use super::names::broker_of;
use super::sim::{LATENCY, Sim};

/// How much later than its winner a loser of a race hears that it is on: soon enough to try, too
/// late to win.
const RACING: Span = Span::from_micros(LATENCY.micros() / 4);
/// Too late even to try: it finds a controller.
const LATE: Span = Span::from_millis(300);
/// Moments at which a kill may come: within a ping interval, and between two looks at an ISR.
const PHASES: u64 = 20;
const PHASE: Span = Span::from_millis(250);

/// One step's chance.
pub struct Chance {
    recorded: Value,
    /// Who takes `/controller` in this step.
    winner: Option<u32>,
    /// Who tries in vain.
    racers: BTreeSet<u32>,
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
        Chance { recorded: Value::Array(txns), winner, racers, brokers: registered(sim) }
    }

    fn txns(&self) -> &[Value] {
        self.recorded.as_array().map_or(&[], Vec::as_slice)
    }

    /// Sets the links so that the recorded broker wins. True if there was anything to steer.
    pub fn lean(&self, sim: &mut Sim) -> bool {
        let Some(winner) = self.winner else { return false };
        let others = sim.running_brokers();
        let mut steered = false;
        for id in others.into_iter().filter(|id| *id != winner) {
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

    /// Moments to try for a kill or a freeze, the first being as good as any.
    pub fn phases(&self, step: &Value) -> Vec<Span> {
        let silences = |op: &Value| {
            let name = op["op"].as_str().unwrap_or_default();
            name.starts_with("kill-") || name.starts_with("freeze-") || name.starts_with("pause-")
        };
        let inner = step["op"]["ops"].as_array().into_iter().flatten();
        let any = silences(&step["op"]) || inner.into_iter().any(silences);
        let phases = if any { PHASES } else { 1 };
        (0..phases).map(|n| Span::from_micros(PHASE.micros() * n)).collect()
    }

    /// Were deaths noticed together as they were recorded, with as much happening?
    pub fn deaths_fit(&self, got: &Value) -> bool {
        let got = got.as_array().map_or(&[][..], Vec::as_slice);
        deaths(self.txns()) == deaths(got)
    }

    /// Whether more than one death was noticed.
    pub fn has_deaths(&self) -> bool {
        deaths(self.txns()).0.iter().sum::<usize>() > 1
    }

    /// Which placements were drawn in this step.
    pub fn note(step: usize, what: &str) -> Value {
        json!({"step": step, "what": what})
    }
}

/// How many sessions ended with nothing written between them, group by group; and how much was
/// logged in all.
fn deaths(txns: &[Value]) -> (Vec<usize>, usize) {
    let times = |txn: &Value| txn["times"].as_u64().unwrap_or(1) as usize;
    let total = txns.iter().map(times).sum();
    let groups =
        txns.chunk_by(|a, b| (a["type"] == "closeSession") == (b["type"] == "closeSession"));
    let ended = groups.filter(|group| group[0]["type"] == "closeSession");
    (ended.map(<[Value]>::len).collect(), total)
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
