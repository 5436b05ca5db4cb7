//! How the run is leaned towards what was recorded where only speed decides: whether a joiner's
//! first try meets owner nodes that are still there, and in which order simultaneous joins arrive.
//! The links between consumers and ZooKeeper get slower, nothing else. [recordings/README.md,
//! Chance]

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Span};
use serde_json::Value;

use super::sim::Sim;

/// What is added to the latency of consumers' links in a step, and when they may begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaning {
    pub slower: BTreeMap<String, Span>,
    pub held: BTreeMap<String, Instant>,
}

impl Leaning {
    /// A consumer that was just started, or was there.
    pub fn apply(&self, sim: &mut Sim, name: &str) {
        if let Some(extra) = self.slower.get(name) {
            sim.slow_down(name, *extra);
        }
        if let Some(until) = self.held.get(name) {
            sim.hold_back(name, *until);
        }
    }

    pub fn apply_all(&self, sim: &mut Sim) {
        for name in self.slower.keys() {
            self.apply(sim, name);
        }
    }

    pub fn straighten(&self, sim: &mut Sim) {
        for name in self.slower.keys().chain(self.held.keys()) {
            sim.slow_down(name, Span::ZERO);
            sim.hold_back(name, Instant::ZERO);
        }
    }

    pub fn is_level(&self) -> bool {
        self.slower.is_empty() && self.held.is_empty()
    }
}

fn base(session: &str) -> &str {
    session.split('#').next().unwrap_or(session)
}

fn entries(step: &Value) -> impl Iterator<Item = &Value> {
    step["zk_txns"].as_array().into_iter().flatten()
}

/// Who of the consumers wrote anything in a step, the one that came last first.
fn involved(step: &Value) -> Vec<String> {
    let writes = |txn: &&Value| {
        let path = txn["path"].as_str().unwrap_or_default();
        path.starts_with("/consumers/")
    };
    let mut names: Vec<String> = Vec::new();
    let mut new: Vec<String> = Vec::new();
    for txn in entries(step).filter(writes) {
        let name = base(txn["session"].as_str().unwrap_or_default()).to_owned();
        if is_registration(txn) && !new.contains(&name) {
            new.insert(0, name.clone());
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.retain(|name| !new.contains(name));
    new.into_iter().chain(names).collect()
}

fn is_registration(txn: &Value) -> bool {
    txn["type"] == "create" && txn["path"].as_str().is_some_and(|path| path.contains("/ids/"))
}

/// A refused claim, or several members at once: what a step's leaning can matter to.
fn matters(step: &Value) -> bool {
    involved(step).len() > 1
}

const fn us(us: u64) -> Span {
    Span::from_micros(us)
}

/// The leanings to try, the level one first.
pub fn leanings(step: &Value) -> Vec<Leaning> {
    let mut all = vec![Leaning::default()];
    if !matters(step) {
        return all;
    }
    let names = involved(step);
    let fine = (1..40).map(|n| us(n * 40));
    let coarse = [2, 3, 5, 8, 12, 20, 35, 60, 100].map(|ms| Span::from_millis(ms));
    let sweep: Vec<Span> = [Span::ZERO].into_iter().chain(fine).chain(coarse).collect();
    let others = [Span::ZERO, us(300), us(1_000), Span::from_millis(4), Span::from_millis(15)];
    // By how long each took in its first try.
    for factor in [1, 3] {
        all.push(Leaning { slower: by_pace(step, &names, factor), ..Leaning::default() });
    }
    let (first, rest) = (&names[0], &names[1..]);
    for extra in &sweep {
        let slower = BTreeMap::from([(first.clone(), *extra)]);
        all.push(Leaning { slower, ..Leaning::default() });
    }
    for slow in rest {
        for extra in &others[1..] {
            for own in sweep.iter().step_by(3) {
                let slower = BTreeMap::from([(first.clone(), *own), (slow.clone(), *extra)]);
                all.push(Leaning { slower, ..Leaning::default() });
            }
        }
    }
    all
}

/// The more time from the first try's begin to its end, the slower.
fn by_pace(step: &Value, names: &[String], factor: u64) -> BTreeMap<String, Span> {
    let events = || step["consumer_events"].as_array().into_iter().flatten();
    let first = |name: &str, what: &str| {
        let is_it = |event: &&Value| event["consumer"] == *name && event["event"] == *what;
        events().find(is_it).and_then(|event| event["ms"].as_u64())
    };
    let took =
        |name: &str| Some(first(name, "attempt-end")?.saturating_sub(first(name, "attempt")?));
    let each: Vec<(String, u64)> =
        names.iter().filter_map(|name| Some((name.clone(), took(name)?))).collect();
    let least = each.iter().map(|(_, ms)| *ms).min().unwrap_or(0);
    each.into_iter().map(|(name, ms)| (name, us((ms - least) * 4 * factor))).collect()
}

/// By when each of those that start at once opens its session, as it was recorded.
pub fn joins(step: &Value, begun: Instant, boot: Span) -> BTreeMap<String, Instant> {
    if step["op"]["at_once"] != true {
        return BTreeMap::new();
    }
    let opens = entries(step).filter(|txn| txn["type"] == "createSession");
    let opens: Vec<(String, u64)> = opens
        .filter_map(|txn| Some((base(txn["session"].as_str()?).to_owned(), txn["ms"].as_u64()?)))
        .collect();
    let least = opens.iter().map(|(_, ms)| *ms).min().unwrap_or(0);
    let at = |ms: u64| begun + boot + Span::from_millis(1 + ms - least);
    opens.into_iter().map(|(name, ms)| (name, at(ms))).collect()
}

/// How far the consumers' part of a step is from what was recorded: entries that only one side
/// has.
pub fn distance(recorded: &Value, got: &Value) -> usize {
    let mut count: BTreeMap<String, i64> = BTreeMap::new();
    for (side, by) in [(recorded, 1), (got, -1)] {
        for txn in side["zk_txns"].as_array().into_iter().flatten() {
            let session = txn["session"].as_str().unwrap_or_default();
            if txn["path"].as_str().is_some_and(|path| path.starts_with("/consumers/")) {
                let key = format!("{session} {} {} {}", txn["type"], txn["error"], txn["path"]);
                *count.entry(key).or_default() += by;
            }
        }
        if recorded["consumer_events"].is_null() {
            continue;
        }
        for event in side["consumer_events"].as_array().into_iter().flatten() {
            let key = format!("{} {} {}", event["consumer"], event["event"], event["args"]);
            *count.entry(key).or_default() += by;
        }
    }
    let different: usize = count.values().map(|n| n.unsigned_abs() as usize).sum();
    let idle = |side: &Value| -> Vec<Value> {
        let events = side["consumer_events"].as_array().into_iter().flatten();
        let idle = events.filter(|event| event["event"] == "thread-without-partition");
        idle.map(|event| event["args"].clone()).collect()
    };
    different + usize::from(!recorded["consumer_events"].is_null() && idle(recorded) != idle(got))
}
