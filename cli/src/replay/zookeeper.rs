//! Recordings of ZooKeeper, stand-alone: plays their ops and says what happened in their schema.
//!
//! Nothing is looked up by a file's name, and no fact is taken from the recording: what stands in
//! the answer was seen in the simulated run. [recordings/zookeeper/README.md]

mod chance;
mod facts;
mod host;
mod player;
mod silence;
mod words;
mod world;

use kafkascope_core::zk::op::Release;
use serde_json::{Value, json};

use super::Replay;
use player::Player;

/// Why a recording can't be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    /// It belongs to a part of the model that isn't built.
    Waiting(String),
    /// An op or a field that nothing knows.
    Unknown(String),
}

impl From<words::Unknown> for Stop {
    fn from(unknown: words::Unknown) -> Stop {
        Stop::Unknown(unknown.0)
    }
}

/// Replays a recording of ZooKeeper; the answer has its schema.
pub fn play(recording: &Value) -> Replay {
    match run(recording) {
        Ok(run) => Replay::Done(run),
        Err(Stop::Waiting(what)) => Replay::Waiting(what),
        Err(Stop::Unknown(what)) => Replay::Unknown(what),
    }
}

fn run(recording: &Value) -> Result<Value, Stop> {
    let none = Vec::new();
    let steps = recording["steps"].as_array().unwrap_or(&none);
    if needs_ensemble(recording, steps) {
        return Err(Stop::Waiting("ZooKeeper ensembles".into()));
    }
    let release = recording["software"].as_str().and_then(release_in).unwrap_or_default();
    let java = recording["config"]["clients"].as_str().is_some_and(|c| c.contains("Java client"));
    let mut player = Player::new(release, java);
    let mut done = steps.iter().map(|step| player.step(step)).collect::<Result<Vec<_>, _>>()?;
    let steered: Vec<Value> = (0..)
        .zip(steps.iter().zip(&mut done))
        .flat_map(|(index, (recorded, got))| chance::steer(index, recorded, got))
        .collect();
    Ok(json!({
        "about": recording["about"],
        "software": recording["software"],
        "config": recording["config"],
        "steps": done,
        "steered": steered,
    }))
}

/// More than one server, or words that only an ensemble has.
fn needs_ensemble(recording: &Value, steps: &[Value]) -> bool {
    let ids = |op: &Value| op["ids"].as_array().is_some_and(|ids| ids.len() > 1);
    recording["config"]["servers"].as_u64().is_some_and(|n| n > 1)
        || steps.iter().any(|step| {
            let op = &step["op"];
            let inner = op["ops"].as_array().into_iter().flatten();
            ids(op) || inner.into_iter().any(ids) || step["servers"].is_object()
        })
}

/// The release named in a text like `ZooKeeper 3.9.5 (client)`.
fn release_in(text: &str) -> Option<Release> {
    text.split([' ', ',']).find_map(Release::parse)
}

#[cfg(test)]
mod tests;
