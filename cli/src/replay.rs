//! Replays a recording's ops through the simulator and says what happened, in the recording's own
//! schema. What cannot be replayed yet says what it waits for.

pub mod classify;
mod common;
pub mod facts;
mod kafka;
pub mod ops;
mod zookeeper;

use classify::{Class, Slice, classify};
use kafkascope_core::kafka::release::Release;
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

/// Releases whose logs and copies are replayed.
const REPLICATION: &[Release] =
    &[Release::V0_8_2_2, Release::V0_11_0_3, Release::V1_1_1, Release::V2_8_2, Release::V3_9_2];

/// Replays a recording. Everything follows from what it says, nothing from its name.
pub fn replay(recording: &Value) -> Replay {
    match classify(recording) {
        Err(why) => Replay::Unknown(why),
        Ok(class) if !is_built(&class, recording) => Replay::Waiting(match class.moves {
            true => "replicas that move (slice 4)".to_owned(),
            false => class.slice.to_string(),
        }),
        Ok(Class { unknown_facts, .. }) if !unknown_facts.is_empty() => {
            Replay::Unknown(format!("unknown facts: {}", unknown_facts.join(", ")))
        }
        Ok(Class { slice, .. }) => play(slice, recording),
    }
}

fn is_built(class: &Class, recording: &Value) -> bool {
    let release = kafka::release(recording);
    let known = release.is_some_and(|release| REPLICATION.contains(&release));
    let copies = known && class.zookeeper;
    // Replicas that move are replayed where no logs are compared and nobody reads, and not yet as
    // 0.8.2.2 ends several moves at once.
    let moved = class.moves && release == Some(Release::V0_8_2_2);
    match class.slice {
        Slice::Replication => copies && !class.moves,
        slice => BUILT.contains(&slice) && !moved,
    }
}

/// The player of each slice; those that are not built are waited for.
fn play(slice: Slice, recording: &Value) -> Replay {
    match slice {
        Slice::ZooKeeper => zookeeper::play(recording),
        Slice::Brokers | Slice::ZkConsumers | Slice::Replication => kafka::play(recording),
        _ => Replay::Waiting(slice.to_string()),
    }
}
