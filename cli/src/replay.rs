//! Replays a recording's ops through the simulator and says what happened, in the recording's own
//! schema. What cannot be replayed yet says what it waits for.

pub mod classify;
mod common;
pub mod facts;
mod kafka;
pub mod ops;
mod zookeeper;

use classify::{Class, Slice, classify};
use serde_json::Value;

/// What became of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum Replay {
    /// The run, in the recording's schema: as many steps, and `steered`.
    Done(Value),
    /// The recording needs something that is not built yet, and what.
    Waiting(String),
    /// There is something in it that nobody knows, and what: it fails.
    Unknown(String),
}

/// Slices whose recordings have a player.
const BUILT: &[Slice] = &[Slice::ZooKeeper, Slice::Brokers, Slice::ZkConsumers];

/// Replays a recording. Everything follows from what it says, nothing from its name.
pub fn replay(recording: &Value) -> Replay {
    match classify(recording) {
        Err(why) => Replay::Unknown(why),
        Ok(Class { slice, .. }) if !BUILT.contains(&slice) => Replay::Waiting(slice.to_string()),
        Ok(Class { unknown_facts, .. }) if !unknown_facts.is_empty() => {
            Replay::Unknown(format!("unknown facts: {}", unknown_facts.join(", ")))
        }
        Ok(Class { slice, .. }) => play(slice, recording),
    }
}

/// The player of each slice; those that are not built are waited for.
fn play(slice: Slice, recording: &Value) -> Replay {
    match slice {
        Slice::ZooKeeper => zookeeper::play(recording),
        Slice::Brokers | Slice::ZkConsumers => kafka::play(recording),
        _ => Replay::Waiting(slice.to_string()),
    }
}
