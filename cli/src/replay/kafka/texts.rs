//! What the tools of 0.8.2.2 print. (seen: recordings/0.8.2.2/{topic-create,auto-create,
//! delete-topic-add-partitions,broker-crash})

use kafkascope_core::kafka::real::task::{Layout, Task};
use kafkascope_core::kafka::real::{registry, scala};
use kafkascope_core::kafka::{TopicPartition, paths};
use serde_json::Value;

use super::sim::Sim;

const ERROR: &str = "Error while executing topic command";
/// The longest name that a topic may have there. [spec kafka-zk.md N1]
const NAME: usize = 255;

/// The recorder kept so many characters of what was said about a new topic.
const KEPT: usize = 200;

/// What a tool says, from the world before it began and after it ended.
pub fn said(task: &Task, before: &Sim, after: &Sim) -> Option<String> {
    Some(match task {
        Task::Create { topic, layout, .. } => {
            let text = match made(topic, before, after) {
                true => format!("Created topic \"{topic}\"."),
                false => not_created(topic, layout, before),
            };
            text.chars().take(KEPT).collect()
        }
        Task::AddPartitions { topic, total, .. } => add(topic, *total, before),
        Task::Delete { topic } if has(before, topic) => format!(
            "Topic {topic} is marked for deletion.\n\
             Note: This will have no impact if delete.topic.enable is not set to true."
        ),
        Task::Delete { topic } => format!("Topic {topic} does not exist"),
        Task::AlterConfig { entity, .. } => {
            format!("Updated config for topic \"{}\".", entity.strip_prefix("topics/")?)
        }
        Task::ElectPreferred { partitions } => {
            let mut named = partitions.clone().unwrap_or_else(|| all_partitions(before));
            scala::order_partitions(&mut named);
            let name = |tp: &TopicPartition| format!("[{},{}]", tp.topic, tp.partition);
            let list = named.iter().map(name).collect::<Vec<_>>().join(", ");
            format!("Successfully started preferred replica election for partitions Set({list})")
        }
        Task::Reassign { plan, .. } => reassign(plan, before, after),
        Task::VerifyReassign { plan, .. } => verify(plan, before),
        Task::CancelReassign { .. } => return None,
        Task::Metadata { topic, .. } if !has(before, topic) => format!("{topic} error=5"),
        Task::Metadata { topic, .. } => metadata(topic, before),
        Task::List => list(before),
    })
}

type Plan = [(TopicPartition, Vec<u32>)];

fn as_plan(entries: &Plan) -> String {
    let entry = |(tp, replicas): &(TopicPartition, Vec<u32>)| {
        let (topic, ids) = (&tp.topic, listed(replicas, ","));
        let partition = tp.partition;
        format!(r#"{{"topic":"{topic}","partition":{partition},"replicas":[{ids}]}}"#)
    };
    let all = entries.iter().map(entry).collect::<Vec<_>>().join(",");
    format!(r#"{{"version":1,"partitions":[{all}]}}"#)
}

fn listed(ids: &[u32], between: &str) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

/// What stands in `/admin/reassign_partitions`.
fn moving(sim: &Sim) -> Vec<(TopicPartition, Vec<u32>)> {
    let node = sim.world.server.tree().get(registry::REASSIGN);
    let mut plan = node.map(|node| registry::read_plan(&node.data)).unwrap_or_default();
    scala::order_plan(&mut plan);
    plan
}

/// Where the partitions of a plan's topics are, then what became of it. (seen:
/// recordings/0.8.2.2/reassign-partitions)
fn reassign(plan: &Plan, before: &Sim, after: &Sim) -> String {
    let mut topics: Vec<&std::sync::Arc<str>> = plan.iter().map(|(tp, _)| &tp.topic).collect();
    topics.dedup();
    let mut now = Vec::new();
    for topic in topics {
        let info = before.json(&paths::topic(topic)).unwrap_or_default();
        let parts = info["partitions"].as_object().into_iter().flatten();
        let of = |(number, ids): (&String, &Value)| {
            let tp = TopicPartition { topic: topic.clone(), partition: number.parse().ok()? };
            let ids = ids.as_array()?.iter().filter_map(super::ops::number).collect::<Vec<_>>();
            Some((tp, ids))
        };
        now.extend(parts.filter_map(of));
    }
    scala::order_as_read(&mut now, |(tp, _)| tp.clone());
    let mut wanted = plan.to_vec();
    scala::order_plan(&mut wanted);
    let running = moving(before);
    let end = if !running.is_empty() {
        let entry = |(tp, ids): &(TopicPartition, Vec<u32>)| {
            let (topic, ids) = (&tp.topic, listed(ids, ", "));
            format!("[{topic},{}] -> ReassignedPartitionsContext(List({ids}),null)", tp.partition)
        };
        let map = running.iter().map(entry).collect::<Vec<_>>().join(", ");
        let why = format!(
            "Partition reassignment currently in progress for Map({map}). Aborting operation"
        );
        format!(
            "Partitions reassignment failed due to {why}\n\
             kafka.common.AdminCommandFailedException: {why}"
        )
    } else if plan.iter().any(|(tp, _)| after.world.path_exists(&paths::topic(&tp.topic))) {
        format!("Successfully started reassignment of partitions {}", as_plan(&wanted))
    } else {
        format!("Failed to reassign partitions {}", as_plan(&wanted))
    };
    format!(
        "Current partition replica assignment\n\n{}\n\n\
         Save this to use as the --reassignment-json-file option during rollback\n{end}",
        as_plan(&now)
    )
}

fn verify(plan: &Plan, sim: &Sim) -> String {
    let running = moving(sim);
    let mut plan = plan.to_vec();
    scala::order_plan(&mut plan);
    let mut text = String::from("Status of partition reassignment:");
    for (tp, target) in &plan {
        let name = format!("Reassignment of partition [{},{}]", tp.topic, tp.partition);
        let info = sim.json(&paths::topic(&tp.topic)).unwrap_or_default();
        let now = &info["partitions"][tp.partition.to_string()];
        text += "\n";
        text += &match running.iter().any(|(other, _)| other == tp) {
            true => format!("{name} is still in progress"),
            false if *now == serde_json::json!(target) => format!("{name} completed successfully"),
            false => format!("{name} failed"),
        };
    }
    text
}

fn has(sim: &Sim, topic: &str) -> bool {
    sim.world.path_exists(&paths::topic(topic))
}

fn made(topic: &str, before: &Sim, after: &Sim) -> bool {
    !has(before, topic) && has(after, topic)
}

fn not_created(topic: &str, layout: &Layout, before: &Sim) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if topic == "." || topic == ".." {
        return format!("{ERROR} topic name cannot be \".\" or \"..\"");
    }
    if !topic.chars().all(legal) || topic.len() > NAME {
        return format!(
            "{ERROR} topic name {topic} is illegal, contains a character other than ASCII \
             alphanumerics, '.', '_' and '-'"
        );
    }
    let brokers = ids(before).len();
    match layout {
        Layout::Counts { replication, .. } if *replication as usize > brokers => {
            let why = format!(
                "replication factor: {replication} larger than available brokers: {brokers}"
            );
            format!("{ERROR} {why}\nkafka.admin.AdminOperationException: {why}")
        }
        _ => {
            let why = format!("Topic \"{topic}\" already exists.");
            format!("{ERROR} {why}\nkafka.common.TopicExistsException: {why}")
        }
    }
}

fn add(topic: &str, total: u32, before: &Sim) -> String {
    let info = before.json(&paths::topic(topic)).unwrap_or_default();
    let now = info["partitions"].as_object().map_or(0, serde_json::Map::len);
    let warning = "WARNING: If partitions are increased for a topic that has a key, the \
                   partition logic or ordering of the messages will be affected";
    if (total as usize) > now {
        return format!("{warning}\nAdding partitions succeeded!");
    }
    let why = "The number of partitions for a topic can only be increased";
    format!("{warning}\n{ERROR} {why}\nkafka.admin.AdminOperationException: {why}")
}

fn ids(sim: &Sim) -> Vec<u32> {
    let node = sim.world.server.tree().get(paths::BROKER_IDS);
    node.into_iter()
        .flat_map(|node| node.children().filter_map(|(name, _)| name.parse().ok()))
        .collect()
}

fn topics(sim: &Sim) -> Vec<String> {
    let node = sim.world.server.tree().get(paths::TOPICS);
    node.into_iter().flat_map(|node| node.children().map(|(name, _)| name.to_string())).collect()
}

/// In the order in which the tool asks for them.
fn all_partitions(sim: &Sim) -> Vec<TopicPartition> {
    let tree = sim.world.server.tree();
    let listed = |path: &str| tree.get(path).map(|node| node.listed()).unwrap_or_default();
    let of = |topic: std::sync::Arc<str>| {
        let numbers = listed(&paths::partitions(&topic));
        let numbers = numbers.into_iter().filter_map(|name| name.parse().ok());
        let named = |partition| TopicPartition { topic: topic.clone(), partition };
        numbers.map(named).collect::<Vec<TopicPartition>>()
    };
    listed(paths::TOPICS).into_iter().flat_map(of).collect()
}

fn list(sim: &Sim) -> String {
    let line = |topic: String| match sim.world.path_exists(&paths::delete_topic(&topic)) {
        true => format!("{topic} - marked for deletion"),
        false => topic,
    };
    topics(sim).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn joined(list: &Value, between: &str) -> String {
    let ids = list.as_array().into_iter().flatten();
    ids.map(Value::to_string).collect::<Vec<_>>().join(between)
}

/// Partitions of a topic's node in their order, with the state of each.
fn partitions(sim: &Sim, topic: &str) -> Vec<(u32, Value, Option<Value>)> {
    let info = sim.json(&paths::topic(topic)).unwrap_or_default();
    let parts = info["partitions"].as_object().cloned().unwrap_or_default();
    let mut rows: Vec<(u32, Value, Option<Value>)> = parts
        .into_iter()
        .filter_map(|(number, replicas)| Some((number.parse::<u32>().ok()?, replicas)))
        .map(|(number, replicas)| (number, replicas, sim.json(&paths::state(topic, number))))
        .collect();
    rows.sort_by_key(|(number, ..)| *number);
    rows
}

/// `kafka-topics --describe`.
pub fn describe(sim: &Sim, wanted: Option<&str>) -> String {
    let mut lines = Vec::new();
    for topic in topics(sim).iter().filter(|topic| wanted.is_none_or(|wanted| wanted == *topic)) {
        let rows = partitions(sim, topic);
        let config = sim.json(&format!("/config/topics/{topic}")).unwrap_or_default();
        let config = config["config"].as_object().cloned().unwrap_or_default();
        let value = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let config: Vec<String> =
            config.iter().map(|(key, v)| format!("{key}={}", value(v))).collect();
        let factor = rows.first().and_then(|row| row.1.as_array()).map_or(0, Vec::len);
        lines.push(format!(
            "Topic:{topic}\tPartitionCount:{}\tReplicationFactor:{factor}\tConfigs:{}",
            rows.len(),
            config.join(",")
        ));
        for (number, replicas, state) in rows {
            let leader = state.as_ref().map_or(Value::Null, |state| state["leader"].clone());
            let leader = if leader.is_null() { "none".into() } else { leader.to_string() };
            let isr = state.as_ref().map_or(String::new(), |state| joined(&state["isr"], ","));
            lines.push(format!(
                "\tTopic: {topic}\tPartition: {number}\tLeader: {leader}\tReplicas: {}\tIsr: {isr}",
                joined(&replicas, ",")
            ));
        }
    }
    lines.join("\n")
}

/// A metadata answer: only live replicas are listed. [spec kafka-zk.md Z3]
fn metadata(topic: &str, sim: &Sim) -> String {
    let live = ids(sim);
    let alive = |list: &Value| -> Vec<u32> {
        let ids = list.as_array().into_iter().flatten().filter_map(Value::as_u64);
        ids.filter_map(|id| u32::try_from(id).ok()).filter(|id| live.contains(id)).collect()
    };
    let text = |ids: &[u32]| ids.iter().map(|id| format!("{id},")).collect::<String>();
    let mut parts = vec![format!("{topic} error=0")];
    for (number, replicas, state) in partitions(sim, topic) {
        let state = state.unwrap_or_default();
        let leader = state["leader"].as_i64().filter(|id| *id >= 0);
        let known = alive(&replicas);
        let all = replicas.as_array().map_or(0, Vec::len);
        let error = match leader {
            None => 5,
            Some(_) if known.len() < all => 9,
            Some(_) => 0,
        };
        let leader = leader.map_or_else(|| "none".into(), |id| id.to_string());
        parts.push(format!(
            "{number} leader={leader} error={error} replicas={} isr={}",
            text(&known),
            text(&alive(&state["isr"]))
        ));
    }
    parts.join(" | ")
}
