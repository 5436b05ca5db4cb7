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
    /// Every partition of a topic has an owner in a group.
    Owned {
        group: String,
        topic: String,
        by: By,
    },
    ConsoleExited(u32),
    /// A partition has these replicas, in this order, and none comes or goes.
    Replicas(String, u32, Vec<u32>),
}

/// By whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    Anybody,
    /// Nobody else.
    Only(Vec<String>),
    /// Exactly these.
    Each(Vec<String>),
    /// So many.
    Count(usize),
}

use Condition::{
    Childless, ConsoleExited, ControllerOtherThan, DuplicateExited, Exists, Exited, Gone, IsrHas,
    IsrSize, Leader, Missing, Owned, Registered, Renewed, Replicas,
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
            ["replicas", what, ref ids @ ..] => {
                let (topic, part) = partition(what)?;
                let ids: Option<Vec<u32>> = serde_json::from_str(&ids.join(" ")).ok();
                Replicas(topic, part, ids?)
            }
            ["console", "consumer", n, "exited"] => ConsoleExited(n.parse().ok()?),
            ["owned", what, ref by @ ..] => {
                let (group, topic) = what.split_once('/')?;
                let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
                let by = match *by {
                    [] => By::Anybody,
                    ["only", ref these @ ..] => By::Only(names(these)),
                    ["each", ref these @ ..] => By::Each(names(these)),
                    ["by", count] => By::Count(count.parse().ok()?),
                    _ => return None,
                };
                Owned { group: group.into(), topic: topic.into(), by }
            }
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
            Owned { group, topic, by } => owned(sim, group, topic, by),
            Replicas(topic, part, ids) => {
                let info = sim.json(&paths::topic(topic)).unwrap_or_default();
                let key = part.to_string();
                let moves = |field: &str| !info[field][&key].is_null();
                info["partitions"][&key] == serde_json::json!(ids)
                    && !moves("adding_replicas")
                    && !moves("removing_replicas")
            }
            ConsoleExited(n) => {
                let name = super::consumers::console(*n);
                !sim.is_running(&Who::Consumer(name.as_str().into()))
            }
        }
    }
}

fn owned(sim: &Sim, group: &str, topic: &str, by: &By) -> bool {
    let info = sim.json(&paths::topic(topic)).unwrap_or_default();
    let Some(partitions) = info["partitions"].as_object() else { return false };
    let mut owners = std::collections::BTreeSet::new();
    for number in partitions.keys() {
        let path = format!("/consumers/{group}/owners/{topic}/{number}");
        let Some(node) = sim.world.server.tree().get(&path) else { return false };
        let data = String::from_utf8_lossy(node.data.as_deref().unwrap_or_default()).into_owned();
        let consumer = data.rsplit_once('-').map_or("", |(consumer, _)| consumer);
        let name = consumer.split_once('_').map_or("", |(_, name)| name);
        owners.insert(name.to_owned());
    }
    match by {
        By::Anybody => true,
        By::Only(these) => owners.iter().all(|owner| these.contains(owner)),
        By::Each(these) => {
            owners.iter().eq(these.iter().collect::<std::collections::BTreeSet<_>>())
        }
        By::Count(count) => owners.len() == *count,
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
