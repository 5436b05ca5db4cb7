//! What brokers wrote down of their high watermarks, and what they answer to a raw fetch or a
//! request for metadata. [recordings/0.8.2.2/README.md]

use std::fmt::Write;

use kafkascope_core::kafka::data::PartitionMeta;
use kafkascope_core::kafka::{TopicPartition, paths};
use kafkascope_core::world::Who;
use serde_json::{Map, Value};

use super::sim::Sim;

/// `replication-offset-checkpoint` of every broker that has one.
pub fn checkpoints(sim: &Sim) -> Value {
    let mut all = Map::new();
    for (id, folders) in &sim.folders {
        let Some(proc) = sim.world.broker(*id) else { continue };
        let kept = &proc.store().checkpoint;
        let mut file = Map::new();
        for folder in folders {
            let Some(tp) = partition(folder) else { continue };
            file.insert(folder.clone(), kept.get(&tp).copied().unwrap_or(0).into());
        }
        if !file.is_empty() {
            all.insert(format!("broker-{id}"), file.into());
        }
    }
    all.into()
}

fn partition(name: &str) -> Option<TopicPartition> {
    let (topic, partition) = name.rsplit_once('-')?;
    Some(TopicPartition { topic: topic.into(), partition: partition.parse().ok()? })
}

/// A fact that is asked of brokers, if its name says so: in the shape that was recorded.
pub fn read(sim: &Sim, name: &str, shape: &Value) -> Option<Value> {
    if name == "read_from_leader" {
        return Some(fetched(sim, None, shape));
    }
    if let Some(id) = name.strip_prefix("read_from_broker_") {
        return Some(fetched(sim, Some(id.parse().ok()?), shape));
    }
    if name == "metadata" && shape.is_string() {
        return Some(metadata(sim, shape.as_str()?).into());
    }
    let id = name.strip_prefix("broker_")?.strip_suffix("_alive")?.parse().ok()?;
    Some(sim.is_running(&Who::Broker(id)).into())
}

/// By topic, or of the only topic there is.
fn fetched(sim: &Sim, broker: Option<u32>, shape: &Value) -> Value {
    match shape.as_object() {
        Some(topics) => topics
            .keys()
            .map(|topic| (topic.clone(), Value::from(fetch(sim, broker, topic))))
            .collect::<Map<String, Value>>()
            .into(),
        None => match super::facts::topic_names(sim).first() {
            Some(topic) => fetch(sim, broker, topic).into(),
            None => Value::Null,
        },
    }
}

/// All of partition 0 up to its high watermark. [spec kafka-zk.md I6, I12]
fn fetch(sim: &Sim, broker: Option<u32>, topic: &str) -> String {
    let tp = TopicPartition { topic: topic.into(), partition: 0 };
    let state = sim.json(&paths::state(topic, 0)).unwrap_or_default();
    let leader = state["leader"].as_u64().and_then(|id| u32::try_from(id).ok());
    let proc = broker.or(leader).and_then(|id| sim.world.broker(id));
    let Some((proc, real)) = proc.and_then(|proc| Some((proc, proc.real_broker()?))) else {
        return String::new();
    };
    let replica = real.replicas.map.get(&tp);
    match replica.map(|replica| replica.state.leader == Some(real.id)) {
        None => return "error=3 hw=-1".into(),
        Some(false) => return "error=6 hw=-1".into(),
        Some(true) => {}
    }
    let mut text = String::new();
    let high_watermark = proc.log(&tp).map_or(0, |log| {
        for (offset, record) in (log.start()..).zip(log.records(log.start(), log.high_watermark)) {
            let _ = write!(text, "{offset}:{} ", record.value);
        }
        log.high_watermark
    });
    let _ = write!(text, "hw={high_watermark}");
    text
}

/// What the first broker says of the topics that the recorded text names. [spec kafka-zk.md Z3]
fn metadata(sim: &Sim, recorded: &str) -> String {
    let asked = sim.running_brokers().into_iter().find_map(|id| sim.world.broker(id));
    let Some(real) = asked.and_then(|proc| proc.real_broker()) else { return String::new() };
    // Only reading: the broker stays as it is.
    let mut cache = real.metadata.clone();
    let mut lines = Vec::new();
    for topic in recorded.lines().filter_map(|line| line.split(' ').next()) {
        let meta = cache.topic(&topic.into(), true);
        let Ok(partitions) = meta.partitions else {
            lines.push(format!("{topic} error=3"));
            continue;
        };
        let mut line = format!("{topic} error=0");
        partitions.iter().for_each(|one| tell(sim, topic, &mut line, one));
        lines.push(line);
    }
    lines.join("\n")
}

fn tell(sim: &Sim, topic: &str, line: &mut String, one: &PartitionMeta) {
    let list = |ids: &[u32]| -> String { ids.iter().map(|id| format!("{id},")).collect() };
    let number = one.partition;
    let count = |value: &Value| value.as_array().map_or(0, Vec::len);
    let assigned = sim.json(&paths::topic(topic)).unwrap_or_default();
    let state = sim.json(&paths::state(topic, number)).unwrap_or_default();
    let dead = one.replicas.len() < count(&assigned["partitions"][number.to_string()])
        || one.isr.len() < count(&state["isr"]);
    let error = match (one.leader, dead) {
        (None, _) => 5,
        (_, true) => 9,
        _ => 0,
    };
    let leader = one.leader.map_or_else(|| "none".into(), |id| id.to_string());
    let isr = if one.leader.is_some() { list(&one.isr) } else { String::new() };
    let replicas = list(&one.replicas);
    let _ = write!(line, " | {number} leader={leader} error={error} replicas={replicas} isr={isr}");
}
