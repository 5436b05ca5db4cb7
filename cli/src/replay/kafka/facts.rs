//! What the recorder reads after a step, read from the simulated world.

use std::collections::BTreeMap;

use kafkascope_core::kafka::paths;
use kafkascope_core::kafka::release::Release;
use kafkascope_core::zk::op::{Data, SessionId, Zxid};
use kafkascope_core::zk::tree::{NodeKind, Znode};
use serde_json::{Map, Value, json};

use super::sim::Sim;

/// Nodes by path, each with the zxid that made it: made anew it counts as changed.
pub type Tree = BTreeMap<String, (Value, Zxid)>;

/// Data as the recorders show it: objects and lists as JSON, all else as text.
pub fn shown(data: &Data) -> Value {
    let Some(bytes) = data else { return Value::Null };
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if value.is_object() || value.is_array() => value,
        _ => String::from_utf8_lossy(bytes).into(),
    }
}

/// All nodes but ZooKeeper's own. The root is shown by the recorder of the later releases only.
pub fn tree(sim: &Sim, release: Release) -> Tree {
    let mut tree = Tree::new();
    let root = sim.world.server.tree().root();
    if release != Release::V0_8_2_2 {
        tree.insert("/".into(), (node(sim, root), root.czxid));
    }
    below(sim, "", root, &mut tree);
    // The older recorder compares what stands in a node, not when it was made.
    if release == Release::V0_8_2_2 {
        tree.values_mut().for_each(|(_, made)| *made = 0);
    }
    tree
}

fn below(sim: &Sim, path: &str, parent: &Znode, tree: &mut Tree) {
    for (name, child) in parent.children() {
        let path = format!("{path}/{name}");
        if path != "/zookeeper" {
            below(sim, &path, child, tree);
            tree.insert(path, (node(sim, child), child.czxid));
        }
    }
}

fn node(sim: &Sim, node: &Znode) -> Value {
    let stat = node.stat();
    let owner = match node.kind {
        NodeKind::Ephemeral(session) => sim.names.get(session).into(),
        _ => Value::Null,
    };
    json!({
        "data": shown(&node.data),
        "ephemeral_owner": owner,
        "version": stat.version,
        "cversion": stat.cversion,
        "aversion": stat.aversion,
    })
}

/// What is new or different in a tree, and which paths are gone.
pub fn changes(before: &Tree, after: &Tree) -> (Map<String, Value>, Vec<String>) {
    let new = after.iter().filter(|(path, node)| before.get(*path) != Some(node));
    let new = new.map(|(path, (node, _))| (path.clone(), node.clone())).collect();
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    (new, gone.cloned().collect())
}

/// Topics, by name.
pub fn topic_names(sim: &Sim) -> Vec<String> {
    let topics = sim.world.server.tree().get(paths::TOPICS);
    topics.into_iter().flat_map(|node| node.children()).map(|(name, _)| name.to_string()).collect()
}

/// Every partition of every topic.
pub fn topics(sim: &Sim, release: Release) -> Vec<Value> {
    let mut rows = Vec::new();
    let Some(topics) = sim.world.server.tree().get(paths::TOPICS) else { return rows };
    for (topic, _) in topics.children() {
        let info = sim.json(&paths::topic(topic)).unwrap_or_default();
        let partitions = info["partitions"].as_object();
        let mut numbers: Vec<(u32, &Value)> = partitions
            .into_iter()
            .flatten()
            .filter_map(|(number, replicas)| Some((number.parse().ok()?, replicas)))
            .collect();
        numbers.sort_by_key(|(number, _)| *number);
        for (number, replicas) in numbers {
            rows.extend(partition(sim, release, (topic, number), replicas, &info));
        }
    }
    if release == Release::V0_8_2_2 && rows.len() > MANY { short(&rows) } else { rows }
}

/// Above so many partitions the older recorder tells only numbers and leaders.
const MANY: usize = 24;

fn short(rows: &[Value]) -> Vec<Value> {
    let of_topic = |rows: &[Value]| {
        let leaders: Vec<&Value> = rows.iter().map(|row| &row["leader"]).collect();
        json!({"topic": rows[0]["topic"], "partitions": rows.len(), "leaders": leaders})
    };
    rows.chunk_by(|a, b| a["topic"] == b["topic"]).map(of_topic).collect()
}

/// One without a state is told by the older recorder only.
fn partition(
    sim: &Sim,
    release: Release,
    (topic, number): (&str, u32),
    replicas: &Value,
    info: &Value,
) -> Option<Value> {
    let path = paths::state(topic, number);
    let Some(state) = sim.json(&path) else {
        let told = release == Release::V0_8_2_2;
        return told.then(|| {
            json!({"topic": topic, "partition": number, "replicas": replicas, "leader": null,
                "note": "no state znode"})
        });
    };
    let mut row = json!({"topic": topic, "partition": number, "replicas": replicas});
    for field in ["leader", "leader_epoch", "isr", "controller_epoch"] {
        row[field] = state[field].clone();
    }
    if release != Release::V0_8_2_2 {
        let moving =
            |field: &str| info[field].get(number.to_string()).cloned().unwrap_or_else(|| json!([]));
        row["zk_version"] = sim.world.server.tree().get(&path).map(|node| node.version).into();
        row["adding"] = moving("adding_replicas");
        row["removing"] = moving("removing_replicas");
    }
    Some(row)
}

/// Who is controller and since which epoch.
pub fn controller(sim: &Sim) -> Value {
    let epoch = sim.world.server.tree().get(paths::CONTROLLER_EPOCH);
    let epoch = epoch.and_then(|node| kafkascope_core::kafka::payload::number(&node.data));
    json!({"id": sim.controller(), "epoch": epoch})
}

/// What each open session watches.
pub fn watches(sim: &Sim) -> Map<String, Value> {
    let open: Vec<SessionId> = sim.world.server.sessions().map(|session| session.id).collect();
    let of = |session: SessionId| {
        let (data, child) = sim.world.server.watched_by(session);
        let texts = |paths: &[kafkascope_core::zk::op::Path]| -> Vec<String> {
            paths.iter().map(|path| path.to_string()).collect()
        };
        let table = json!({"data_or_exists": texts(&data), "child": texts(&child)});
        (!data.is_empty() || !child.is_empty()).then(|| (sim.names.get(session).to_owned(), table))
    };
    open.into_iter().filter_map(of).collect()
}

/// The replicas on each broker's disk.
pub fn folders(sim: &Sim) -> Map<String, Value> {
    let of = |(broker, folders): (&u32, &std::collections::BTreeSet<String>)| {
        (format!("broker-{broker}"), json!(folders))
    };
    sim.folders.iter().map(of).collect()
}
