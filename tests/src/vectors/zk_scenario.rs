//! Scenarios of ZooKeeper operations, on every release that they were recorded on, as the bare
//! protocol shows them and as Java clients do.

use std::collections::BTreeMap;

use kafkascope_core::zk::op::Release;
use serde_json::{Map, Value, json};

use super::Failure;
use super::json::text;
use super::zk_rig::{Rig, Seen};

pub fn is(vector: &Value) -> bool {
    let first = &vector["steps"][0];
    first["op"]["name"].is_string() && first["client"].is_string()
}

/// A scenario passes if it passes on all its releases, in all its views.
pub fn run(scenario: &Value) -> Vec<Failure> {
    let mut failures = Vec::new();
    let versions = scenario["versions"].as_array();
    let releases = match versions {
        None => Release::ALL.to_vec(),
        Some(names) => {
            let known: Vec<Release> =
                names.iter().filter_map(|name| Release::parse(text(name))).collect();
            if known.len() != names.len() {
                let names = names.clone().into();
                failures.push(Failure::new("", "versions", names, known.len().into()));
            }
            known
        }
    };
    for release in releases {
        let bare = scenario["level"] == "wire";
        if !bare {
            check(scenario, release, View::Java, &mut failures);
        }
        // Files from before the recorder kept frames say nothing about the bare protocol.
        if bare || scenario.get("recorded").is_some() {
            check(scenario, release, View::Wire { bare }, &mut failures);
        }
    }
    failures
}

#[derive(Clone, Copy, PartialEq)]
enum View {
    Java,
    /// `bare`: the scenario's own results are those of the protocol.
    Wire {
        bare: bool,
    },
}

fn check(scenario: &Value, release: Release, view: View, failures: &mut Vec<Failure>) {
    let seen = Rig::new(scenario, release, view == View::Java).play();
    let steps = scenario["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = if view == View::Java { "java" } else { "wire" };
    for (number, (step, seen)) in steps.iter().zip(&seen).enumerate() {
        let step = for_release(step, release);
        let at = format!("{} {name} step {number} {}", release.name(), step["op"]);
        for (field, expected, got) in compared(&step, seen, release, view) {
            if expected != got {
                failures.push(Failure::new(&at, field, expected, got));
            }
        }
    }
}

/// The step with what one release did otherwise; null there means that the field is absent.
fn for_release(step: &Value, release: Release) -> Value {
    let mut step = step.clone();
    let differs = step["differs"][release.name()].as_object().cloned().unwrap_or_default();
    if let Some(fields) = step.as_object_mut() {
        for (field, value) in differs {
            // A last_zxid of null is a server that could not be asked.
            if value.is_null() && field != "last_zxid" {
                fields.remove(&field);
            } else {
                fields.insert(field, value);
            }
        }
    }
    step
}

fn compared(
    step: &Value,
    seen: &Seen,
    release: Release,
    view: View,
) -> Vec<(&'static str, Value, Value)> {
    let ordered = step["events_unordered"] != true;
    let events = step["events"].as_array().cloned().unwrap_or_default();
    let pick = |server: &str, plain: &str| match (view, step.get(server)) {
        (View::Wire { .. }, Some(value)) => value.clone(),
        _ => step[plain].clone(),
    };
    let mut compared = vec![
        ("result", pick("server_result", "result"), seen.result.clone()),
        ("last_zxid", pick("server_last_zxid", "last_zxid"), seen.last_zxid.clone()),
    ];
    match view {
        View::Java => compared.push((
            "events",
            by_client(tidy(events), ordered),
            by_client(tidy(seen.events.clone()), ordered),
        )),
        View::Wire { bare } => {
            let zxids = release >= Release::V3_9_5;
            let expected = step.get("frames").cloned().unwrap_or_else(|| json!({}));
            let expected = expected.as_object().cloned().unwrap_or_default();
            let got = seen.frames.clone();
            if bare {
                let got = by_client(frame_events(&got), ordered);
                compared.push(("events", by_client(events, ordered), got));
            }
            compared.push(("frames", frames(expected, zxids), frames(got, zxids)));
        }
    }
    compared
}

/// Only newer servers put zxids into the headers of events.
fn frames(frames: Map<String, Value>, zxids: bool) -> Value {
    let strip = |frame: &Value| match text(frame).split_once(" @") {
        Some((event, _)) if !zxids => Value::from(event),
        _ => frame.clone(),
    };
    let all = frames.into_iter().map(|(client, list)| {
        let list: Vec<Value> = list.as_array().into_iter().flatten().map(strip).collect();
        (client, Value::from(list))
    });
    Value::Object(all.collect())
}

fn frame_events(frames: &Map<String, Value>) -> Vec<Value> {
    let mut events = Vec::new();
    for (client, list) in frames {
        for frame in list.as_array().into_iter().flatten().filter(|frame| **frame != "reply") {
            let (event, _) = text(frame).split_once(" @").unwrap_or((text(frame), ""));
            let (kind, path) = event.split_once(' ').unwrap_or((event, ""));
            events.push(json!({"client": client, "watch": null, "type": kind, "path": path}));
        }
    }
    events
}

/// Watchers that hear of one event have no order among themselves, nor have the notices of one
/// removal: they are sorted by name.
fn tidy(events: Vec<Value>) -> Vec<Value> {
    let mut clients: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events {
        clients.entry(text(&event["client"]).into()).or_default().push(event);
    }
    let group = |event: &Value| match text(&event["type"]) {
        kind if kind.ends_with("WatchRemoved") => ("removed".into(), event["path"].clone()),
        kind => (kind.to_owned(), event["path"].clone()),
    };
    let mut tidied = Vec::new();
    for events in clients.into_values() {
        for run in events.chunk_by(|a, b| group(a) == group(b)) {
            let mut run = run.to_vec();
            run.sort_by_key(|e| (text(&e["watch"]).to_owned(), text(&e["type"]).to_owned()));
            tidied.extend(run);
        }
    }
    tidied
}

fn by_client(events: Vec<Value>, ordered: bool) -> Value {
    let mut clients: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events {
        let told = json!([event["type"], event["path"], event["watch"]]);
        clients.entry(text(&event["client"]).into()).or_default().push(told);
    }
    let one = |(client, mut list): (String, Vec<Value>)| {
        if !ordered {
            list.sort_by_key(Value::to_string);
        }
        (client, Value::from(list))
    };
    Value::Object(clients.into_iter().map(one).collect())
}
