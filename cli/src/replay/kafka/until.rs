//! Conditions that the recorder waited for. [recordings/0.8.2.2/README.md;
//! recorder/zk-brokers/README.md]

use kafkascope_core::kafka::paths;
use kafkascope_core::world::Who;
use serde_json::Value;

use super::facts::Tree;
use super::sim::Sim;
use super::{Known, Unknown};

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Registered(u32),
    Gone(u32),
    Exited(u32),
    DuplicateExited(u32),
    /// Every partition of the topic, or this one, has so many in its ISR.
    IsrSize(String, Option<u32>, usize),
    IsrHas(String, Option<u32>, u32),
    Leader(String, u32, i64),
    ControllerOtherThan(u32),
    Exists(String),
    Missing(String),
    Childless(String),
    /// Owned by another session than before the step.
    Renewed(String),
}

use Condition::{
    Childless, ControllerOtherThan, DuplicateExited, Exists, Exited, Gone, IsrHas, IsrSize, Leader,
    Missing, Registered, Renewed,
};

/// `t-3` is partition 3 of t; a topic's own name may hold a dash.
fn partition(text: &str) -> Option<(String, u32)> {
    let (topic, number) = text.rsplit_once('-')?;
    Some((topic.into(), number.parse().ok()?))
}

impl Condition {
    pub fn parse(text: &str) -> Known<Condition> {
        let words: Vec<&str> = text.split(' ').collect();
        Condition::of(&words).ok_or_else(|| Unknown(format!("until {text}")))
    }

    fn of(words: &[&str]) -> Option<Condition> {
        Some(match *words {
            ["broker", id, "registered"] => Registered(id.parse().ok()?),
            ["broker", id, "gone"] => Gone(id.parse().ok()?),
            ["broker", id, "exited"] => Exited(id.parse().ok()?),
            ["duplicate", "of", "broker", id, "exited"] => DuplicateExited(id.parse().ok()?),
            ["isr", what, kind, number] => {
                let (topic, part) = match partition(what) {
                    Some((topic, part)) => (topic, Some(part)),
                    None => (what.into(), None),
                };
                match kind {
                    "size" => IsrSize(topic, part, number.parse().ok()?),
                    "has" => IsrHas(topic, part, number.parse().ok()?),
                    _ => return None,
                }
            }
            ["leader", what, id] => {
                let (topic, part) = partition(what)?;
                Leader(topic, part, id.parse().ok()?)
            }
            ["controller", "other", "than", id] => ControllerOtherThan(id.parse().ok()?),
            ["exists", path] => Exists(path.into()),
            ["missing", path] => Missing(path.into()),
            ["childless", path] => Childless(path.into()),
            ["renewed", path] => Renewed(path.into()),
            _ => return None,
        })
    }

    /// Does it hold now? `before` is the tree as the step found it.
    pub fn holds(&self, sim: &Sim, before: &Tree) -> bool {
        let node = |path: &str| sim.world.server.tree().get(path);
        match self {
            Registered(id) => sim.is_registered(*id),
            Gone(id) => !sim.is_registered(*id),
            Exited(id) => !sim.is_running(&Who::Broker(*id)),
            DuplicateExited(id) => !sim.is_running(&Who::Machine(*id, super::ops::OTHER.into())),
            IsrSize(topic, part, size) => {
                all(sim, topic, *part, |state| isr(state).is_some_and(|isr| isr.len() == *size))
            }
            IsrHas(topic, part, id) => all(sim, topic, *part, |state| {
                isr(state).is_some_and(|isr| isr.iter().any(|member| *member == *id))
            }),
            Leader(topic, part, id) => {
                all(sim, topic, Some(*part), |state| state["leader"].as_i64() == Some(*id))
            }
            ControllerOtherThan(id) => sim.controller().is_some_and(|now| now != *id),
            Exists(path) => node(path).is_some(),
            Missing(path) => node(path).is_none(),
            Childless(path) => node(path).is_some_and(|node| node.child_count() == 0),
            Renewed(path) => {
                let owner = node(path).map(|node| node.stat().ephemeral_owner);
                let owner = owner.map(kafkascope_core::zk::op::SessionId);
                let old = before.get(path).map(|(node, _)| node["ephemeral_owner"].clone());
                owner.is_some_and(|now| old != Some(sim.names.get(now).into()))
            }
        }
    }
}

fn isr(state: &Value) -> Option<&Vec<Value>> {
    state["isr"].as_array()
}

/// Of the partitions that have a state, of which there is one at least.
fn all(sim: &Sim, topic: &str, part: Option<u32>, holds: impl Fn(&Value) -> bool) -> bool {
    let Some(node) = sim.world.server.tree().get(&paths::partitions(topic)) else { return false };
    let numbers = node.children().filter_map(|(name, _)| name.parse::<u32>().ok());
    let wanted = numbers.filter(|number| part.is_none_or(|part| part == *number));
    let states: Vec<Value> =
        wanted.filter_map(|number| sim.json(&paths::state(topic, number))).collect();
    !states.is_empty() && states.iter().all(holds)
}
