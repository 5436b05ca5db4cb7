//! How the run is leaned towards what was recorded where only speed decides: whether a joiner's
//! first try meets owner nodes that are still there, and in which order simultaneous joins arrive.
//! The links between consumers and ZooKeeper get slower, nothing else. [recordings/README.md,
//! Chance]

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Rng, Span};
use serde_json::Value;

use super::sim::{self, Gate, Pace, Sim};

/// What is added to the latency of consumers' links in a step, and when they may begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaning {
    pub slower: BTreeMap<String, Span>,
    /// Before when, from the step's begin, a consumer does nothing, and what is then added until
    /// each of its entries in the log.
    pub paces: BTreeMap<String, Vec<(Span, Span, u32)>>,
    /// The same for the lines of its log that say that a try begins, or that it releases.
    pub lines: BTreeMap<(String, String), Vec<Span>>,
}

impl Leaning {
    /// A consumer that was just started, or was there.
    pub fn apply(&self, sim: &mut Sim, name: &str, begun: Instant) {
        if let Some(extra) = self.slower.get(name) {
            sim.slow_down(name, *extra);
        }
        if let Some(gates) = self.paces.get(name) {
            let gate = |(soonest, at, reads): &(Span, Span, u32)| Gate {
                soonest: begun + *soonest,
                at: begun + *at,
                reads: *reads,
            };
            let gates: Vec<Gate> = gates.iter().map(gate).collect();
            if let Some(first) = gates.first() {
                sim.hold_back(name, first.at);
            }
            let mut pace = Pace::new(gates);
            let lines = |line: &str| {
                let lines = self.lines.get(&(name.to_owned(), line.to_owned()));
                lines.into_iter().flatten().map(|at| begun + *at).collect()
            };
            (pace.tries, pace.releases) = (lines("attempt"), lines("release"));
            sim.paces.insert(name.to_owned(), pace);
        }
    }

    pub fn apply_all(&self, sim: &mut Sim, begun: Instant) {
        for name in self.slower.keys() {
            self.apply(sim, name, begun);
        }
    }

    pub fn straighten(&self, sim: &mut Sim) {
        for name in self.slower.keys().chain(self.paces.keys()) {
            sim.slow_down(name, Span::ZERO);
            sim.hold_back(name, Instant::ZERO);
        }
        sim.paces.clear();
    }

    pub fn is_level(&self) -> bool {
        self.slower.is_empty() && self.paces.is_empty()
    }

    /// A little different.
    #[must_use]
    pub fn bent(&self, step: &Value, rng: &mut Rng) -> Leaning {
        let mut bent = self.clone();
        let names = involved(step);
        let Some(name) = names.get(rng.below(names.len().max(1) as u64) as usize) else {
            return bent;
        };
        let most = 1 << rng.below(15);
        if let Some(gates) = bent.paces.get_mut(name) {
            let reading = |gate: &&mut (Span, Span, u32)| gate.2 > 3 || gate.0 > Span::ZERO;
            let mut reading: Vec<_> = gates.iter_mut().filter(reading).collect();
            let at = rng.below(reading.len().max(1) as u64) as usize;
            if let Some((soonest, _, reads)) = reading.get_mut(at) {
                if rng.chance(1, 2) {
                    *soonest = us((soonest.micros() + 4_000).saturating_sub(rng.below(12_000)));
                } else {
                    *reads = (*reads + 3).saturating_sub(rng.below(12) as u32);
                }
            }
            return bent;
        }
        bent.slower.insert(name.clone(), us(rng.below(most)));
        bent
    }
}

/// Can leaning change anything in this step?
pub fn can_lean(step: &Value) -> bool {
    involved(step).len() > 1
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

const fn us(us: u64) -> Span {
    Span::from_micros(us)
}

/// The leanings to try, the level one first.
pub fn leanings(step: &Value) -> Vec<Leaning> {
    let mut all = vec![Leaning::default()];
    if starts_together(step) {
        return vec![begins(step)];
    }
    if !can_lean(step) {
        return all;
    }
    let names = involved(step);
    let fine = (1..40).map(|n| us(n * 40));
    let coarse = [2, 3, 5, 8, 12, 20, 35, 60, 100].map(Span::from_millis);
    let sweep: Vec<Span> = [Span::ZERO].into_iter().chain(coarse).chain(fine).collect();
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
    for slow in rest.iter().take(2) {
        for extra in &others[1..] {
            for own in sweep.iter().step_by(5) {
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

/// Several consumers start at once: in which order all of them do what they do is chance.
pub fn starts_together(step: &Value) -> bool {
    step["op"]["op"] == "start-consumers" && step["op"]["at_once"] == true
}

/// When each of those who start together comes to its entries, as it was recorded.
fn begins(step: &Value) -> Leaning {
    let mut paces: BTreeMap<String, Vec<(Span, Span, u32)>> = BTreeMap::new();
    let mut attempts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in step["consumer_events"].as_array().into_iter().flatten() {
        if event["event"] == "attempt" {
            let name = event["consumer"].as_str().unwrap_or_default().to_owned();
            attempts.entry(name).or_default().push(event["ms"].as_u64().unwrap_or(0));
        }
    }
    let shift = sim::BOOT.micros() + 20_000;
    let (mut last, mut before) = (0, BTreeMap::<String, u64>::new());
    for txn in entries(step) {
        let name = base(txn["session"].as_str().unwrap_or_default()).to_owned();
        let ms = txn["ms"].as_u64().unwrap_or(0);
        // What came in the same millisecond came one after the other.
        last = (ms * 1_000).max(last + 400);
        let since = before.insert(name.clone(), ms).unwrap_or(0);
        let begun = attempts.get(&name).into_iter().flatten().find(|at| (since..ms).contains(*at));
        let soonest = begun.map_or(0, |ms| shift + (ms * 1_000).saturating_sub(3_000));
        paces.entry(name).or_default().push((us(soonest), us(shift + last), 0));
    }
    let mut lines: BTreeMap<(String, String), Vec<Span>> = BTreeMap::new();
    for event in step["consumer_events"].as_array().into_iter().flatten() {
        let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let at = us(shift + event["ms"].as_u64().unwrap_or(0) * 1_000);
        lines.entry((text("consumer"), text("event"))).or_default().push(at);
    }
    Leaning { paces, lines, ..Leaning::default() }
}

impl Leaning {
    /// The same, knowing how many requests came before each entry.
    #[must_use]
    pub fn counted(&self, paces: &BTreeMap<String, Vec<u32>>) -> Leaning {
        let mut counted = self.clone();
        for (name, gates) in &mut counted.paces {
            let seen = paces.get(name).map_or(&[][..], Vec::as_slice);
            for (gate, seen) in gates.iter_mut().zip(seen) {
                gate.2 = *seen;
            }
        }
        counted
    }
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
    let told = !recorded["consumer_events"].is_null();
    let different = different + usize::from(told && idle(recorded) != idle(got));
    match different {
        0 => 0,
        // Of two that are as far, the one is nearer whose order is.
        n if starts_together(recorded) => n * 100_000 + inversions(recorded, got),
        n => n,
    }
}

/// How many pairs of entries came in another order than recorded.
fn inversions(recorded: &Value, got: &Value) -> usize {
    let keys = |side: &Value| -> Vec<String> {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let key = |txn: &Value| {
            let key =
                format!("{} {} {} {}", txn["session"], txn["type"], txn["error"], txn["path"]);
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            format!("{key} {times}")
        };
        side["zk_txns"].as_array().into_iter().flatten().map(key).collect()
    };
    let places: BTreeMap<String, usize> = keys(got).into_iter().zip(0..).collect();
    let at: Vec<usize> = keys(recorded).iter().filter_map(|key| places.get(key).copied()).collect();
    let before = |n: usize| at[..n].iter().filter(|place| **place > at[n]).count();
    (0..at.len()).map(before).sum()
}
