//! How what was seen becomes the recordings' facts.

use kafkascope_core::base::{Instant, Span};
use serde_json::{Value, json};

use super::world::{StandIn, Told};

/// Seconds as the recorder rounded them.
pub fn seconds(span: Span) -> f64 {
    (span.micros() as f64 / 100_000.0).round() / 10.0
}

/// `default: None:Expired`, `w-data: Expired`, `w-data: NodeDeleted /a`.
fn line(told: &Told) -> String {
    let none = if told.is_state && told.watcher == "default" { "None:" } else { "" };
    format!("{}: {none}{}", told.watcher, told.what)
}

/// Events after each client was asked and has answered: in order, without the clients' names, and
/// sorted within one state, whose watchers stand in no order.
pub fn events(told: &[Told]) -> Value {
    let runs = told.chunk_by(|a, b| a.what == b.what);
    runs.flat_map(|run| sorted(run.iter().map(line))).collect::<Vec<_>>().into()
}

/// Events as they stand at this moment, client by client.
pub fn events_now(told: &[Told]) -> Value {
    let mut told = told.to_vec();
    told.sort_by(|a, b| a.client.cmp(&b.client));
    let runs = told.chunk_by(|a, b| a.client == b.client && a.what == b.what);
    let named = |t: &Told| format!("{}/{}", t.client, line(t));
    runs.flat_map(|run| sorted(run.iter().map(named))).collect::<Vec<_>>().into()
}

fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

/// What was told since `start`, and how much later.
pub fn told_since(told: &[Told], start: Instant) -> Value {
    let entry = |t: &Told| {
        json!({
            "event": format!("{}/{}", t.client, line(t)),
            "after_s": seconds(t.at.since(start)),
        })
    };
    told.iter().filter(|t| t.at >= start).map(entry).collect::<Vec<_>>().into()
}

/// From `start` on, which is the connect.
pub fn gaps(log: &[(Instant, String)], start: Instant) -> Value {
    let mut before = start;
    let pings = log.iter().filter(|(_, what)| what == "ping").map(|(at, _)| {
        let gap = seconds(at.since(before));
        before = *at;
        gap
    });
    pings.collect::<Vec<_>>().into()
}

/// The first eight things that the stand-in heard from its last answer on.
pub fn after_the_last_answer(stand_in: &StandIn, last: Instant) -> Value {
    let entries = stand_in.log.iter().filter(|(at, _)| *at >= last).take(8);
    entries
        .map(|(at, what)| json!({"after_s": seconds(at.since(last)), "event": what}))
        .collect::<Vec<_>>()
        .into()
}
