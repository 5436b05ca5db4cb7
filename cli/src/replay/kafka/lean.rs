//! How the run is leaned towards what was recorded where only speed decides: whether a joiner's
//! first try meets owner nodes that are still there, and in which order simultaneous joins arrive.
//! The links between consumers and ZooKeeper get slower, nothing else. [recordings/README.md,
//! Chance]

use std::collections::BTreeMap;

use kafkascope_core::base::{Instant, Rng, Span};
use serde_json::Value;

use super::sim::{self, Pace, Sim};

/// What is added to the latency of consumers' links in a step, and when they may begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaning {
    pub slower: BTreeMap<String, Span>,
    /// Before when, from the step's begin, a consumer does nothing, and what is then added until
    /// each of its entries in the log.
    pub paces: BTreeMap<String, (Span, Vec<Span>)>,
}

impl Leaning {
    /// A consumer that was just started, or was there.
    pub fn apply(&self, sim: &mut Sim, name: &str, begun: Instant) {
        if let Some(extra) = self.slower.get(name) {
            sim.slow_down(name, *extra);
        }
        if let Some((first, extra)) = self.paces.get(name) {
            sim.hold_back(name, begun + *first);
            sim.paces.insert(name.to_owned(), Pace { extra: extra.clone(), came: Vec::new() });
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
        if let Some((first, extra)) = bent.paces.get_mut(name) {
            if rng.chance(1, 3) || extra.is_empty() {
                *first = us((first.micros() + rng.below(3_000)).saturating_sub(1_500));
            } else {
                let from = rng.below(extra.len() as u64) as usize;
                let from = if rng.chance(1, 2) { from.min(15) } else { from };
                let value = us(rng.below(most));
                extra[from..].fill(value);
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

/// So much apart, two begin at the same time; a request took about 25 times as long there.
const TOGETHER: u64 = 50;
const FASTER: u64 = 25;

/// When each of those who start together begins, as far apart as it was recorded.
fn begins(step: &Value) -> Leaning {
    let mut first: Vec<(u64, &str)> = Vec::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for txn in entries(step) {
        let name = base(txn["session"].as_str().unwrap_or_default());
        *count.entry(name).or_default() += 1;
        let writes = txn["path"].as_str().is_some_and(|path| path.starts_with("/consumers/"));
        if writes && !first.iter().any(|(_, known)| *known == name) {
            first.push((txn["ms"].as_u64().unwrap_or(0), name));
        }
    }
    first.sort_unstable();
    let mut at = sim::BOOT.micros() + 5_000;
    let mut before = first.first().map_or(0, |(ms, _)| *ms);
    let mut paces = BTreeMap::new();
    for (ms, name) in first {
        let gap = (ms - before) * 1_000;
        at += if ms - before <= TOGETHER { gap / FASTER } else { gap };
        before = ms;
        let entries = count.get(name).copied().unwrap_or(0);
        paces.insert(name.to_owned(), (us(at), vec![Span::ZERO; entries]));
    }
    Leaning { paces, ..Leaning::default() }
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
