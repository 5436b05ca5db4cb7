//! From a recording's words to what a person asks of the world.

use std::sync::Arc;

use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::real::task::{Layout, Setting, Task};
use serde_json::Value;

use super::chance::Chance;
use super::{Known, Unknown};

/// The host of a second machine that claims a broker's id.
pub const OTHER: &str = "other";

pub fn text<'a>(op: &'a Value, field: &str) -> Known<&'a str> {
    op[field].as_str().ok_or_else(|| Unknown(format!("{field} of {op}")))
}

pub fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

pub fn id(op: &Value) -> Known<u32> {
    number(&op["id"]).ok_or_else(|| Unknown(format!("id of {op}")))
}

/// `id` or `ids`.
pub fn ids(op: &Value) -> Known<Vec<u32>> {
    match op["ids"].as_array() {
        Some(list) => list
            .iter()
            .map(|one| number(one).ok_or_else(|| Unknown(format!("ids of {op}"))))
            .collect(),
        None => Ok(vec![id(op)?]),
    }
}

/// Nothing but these fields may stand in an op: what is not played must not be passed over.
pub fn only(op: &Value, known: &str) -> Known<()> {
    let fields = op.as_object().into_iter().flat_map(|fields| fields.keys());
    for field in fields {
        let common = ["op", "after_s"].contains(&field.as_str());
        if !common && !known.split(' ').any(|name| name == field) {
            return Err(Unknown(format!("{field} of {op}")));
        }
    }
    Ok(())
}

fn assignment(value: &Value) -> Option<Vec<Vec<u32>>> {
    let replicas = |list: &Value| list.as_array()?.iter().map(number).collect();
    value.as_array()?.iter().map(replicas).collect()
}

fn settings(value: &Value) -> Vec<Setting> {
    let entries = value.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    };
    entries.map(|(key, value)| (key.as_str().into(), text(value))).collect()
}

/// `<250 times x>` is a text written short.
pub fn written_out(text: &str) -> Arc<str> {
    let long = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let long = long.and_then(|inner| inner.split_once(" times "));
    match long.and_then(|(many, what)| Some((many.parse::<usize>().ok()?, what))) {
        Some((many, what)) if many <= 10_000 => what.repeat(many).into(),
        _ => text.into(),
    }
}

/// What an administrator asks for; nothing if the op is no such thing.
pub fn task(op: &Value, chance: &Chance) -> Known<Option<Task>> {
    let bad = |what: &str| Unknown(format!("{what} of {op}"));
    let topic = || text(op, "topic").map(written_out);
    let placed = |field: &str| match &op[field] {
        Value::Null => Ok(None),
        given => assignment(given).map(Some).ok_or_else(|| bad(field)),
    };
    Ok(Some(match text(op, "op")? {
        "create-topic" => create(op, chance)?,
        "add-partitions" => {
            only(op, "topic partitions total count assignment")?;
            let total = ["total", "partitions", "count"].iter().find_map(|name| number(&op[*name]));
            Task::AddPartitions {
                topic: topic()?,
                total: total.ok_or_else(|| bad("partitions"))?,
                assignment: placed("assignment")?,
            }
        }
        "delete-topic" => {
            only(op, "topic")?;
            Task::Delete { topic: topic()? }
        }
        "alter-topic-config" => {
            only(op, "topic config")?;
            let entity = format!("topics/{}", text(op, "topic")?).into();
            Task::AlterConfig { entity, set: settings(&op["config"]), delete: vec![], asked: None }
        }
        "alter-config" => {
            only(op, "entity set delete")?;
            let entity = text(op, "entity")?;
            let delete = op["delete"].as_array().into_iter().flatten();
            let delete = delete.filter_map(Value::as_str).map(Into::into).collect();
            let asked = chance.asked(entity);
            Task::AlterConfig { entity: entity.into(), set: settings(&op["set"]), delete, asked }
        }
        "preferred-election" | "elect-preferred" => {
            only(op, "partitions all_partitions by")?;
            let named = partitions(&op["partitions"])?;
            let partitions = named.filter(|_| op["all_partitions"] != true);
            Task::ElectPreferred { partitions }
        }
        name if name.starts_with("reassign") => return moves(op, chance),
        "metadata" => {
            only(op, "topic broker")?;
            let topic = topic()?;
            let broker = number(&op["broker"]).ok_or_else(|| bad("broker"))?;
            let placed = chance.placement(&topic);
            Task::Metadata { topic, broker, placed }
        }
        "list-topics" => {
            only(op, "")?;
            Task::List
        }
        "describe" => {
            only(op, "topic what bootstrap")?;
            Task::List
        }
        _ => return Ok(None),
    }))
}

/// What moves replicas, or asks about that.
fn moves(op: &Value, chance: &Chance) -> Known<Option<Task>> {
    let bad = |what: &str| Unknown(format!("{what} of {op}"));
    Ok(Some(match text(op, "op")? {
        "reassign" => {
            only(op, "plan partitions additional replace throttle")?;
            let plan = plan(op)?;
            let asked = chance.asked_for_topics(plan.iter().map(|(tp, _)| &*tp.topic));
            let additional = op["additional"] == true;
            Task::Reassign { plan, additional, throttle: op["throttle"].as_u64(), asked }
        }
        "reassign-verify" => {
            only(op, "plan partitions")?;
            let plan = plan(op)?;
            let asked = chance.asked_for_topics(plan.iter().map(|(tp, _)| &*tp.topic));
            Task::VerifyReassign { plan, asked }
        }
        "reassign-cancel" => {
            only(op, "partitions targets")?;
            let partitions = partitions(&op["partitions"])?.ok_or_else(|| bad("partitions"))?;
            let lists = op["targets"].as_object().into_iter().flat_map(|map| map.values());
            let targets = lists.flat_map(|list| list.as_array().into_iter().flatten());
            let mut targets = targets.map(|id| number(id).ok_or_else(|| bad("targets")));
            let targets = targets.by_ref().collect::<Known<Vec<u32>>>()?;
            let asked = chance.asked_for_topics(partitions.iter().map(|tp| &*tp.topic));
            Task::CancelReassign { partitions, targets, asked }
        }
        "reassign-list" => {
            only(op, "")?;
            Task::List
        }
        _ => return Ok(None),
    }))
}

/// Placed as it is given, or as the draw was that was recorded.
fn create(op: &Value, chance: &Chance) -> Known<Task> {
    only(op, "topic partitions replication_factor rf assignment config configs")?;
    let count = |field: &str| number(&op[field]).ok_or_else(|| Unknown(format!("{field} of {op}")));
    let topic = text(op, "topic").map(written_out)?;
    let layout = match (&op["assignment"], chance.placement(&topic)) {
        (Value::Null, Some(drawn)) => Layout::Assignment(drawn),
        (Value::Null, None) => Layout::Counts {
            partitions: count("partitions")?,
            replication: count(if op["rf"].is_null() { "replication_factor" } else { "rf" })?,
        },
        (given, _) => {
            let given = assignment(given);
            Layout::Assignment(given.ok_or_else(|| Unknown(format!("assignment of {op}")))?)
        }
    };
    let configs = [settings(&op["config"]), settings(&op["configs"])].concat();
    Ok(Task::Create { topic, layout, configs })
}

/// Where replicas shall go: `{"t-0": [1, 2]}` as `plan` or `partitions`.
fn plan(op: &Value) -> Known<Vec<(TopicPartition, Vec<u32>)>> {
    let bad = || Unknown(format!("plan of {op}"));
    let given = if op["plan"].is_null() { &op["partitions"] } else { &op["plan"] };
    let one = |(name, ids): (&String, &Value)| {
        let (topic, partition) = name.rsplit_once('-')?;
        let tp = TopicPartition { topic: topic.into(), partition: partition.parse().ok()? };
        Some((tp, ids.as_array()?.iter().map(number).collect::<Option<Vec<u32>>>()?))
    };
    let entries = given.as_object().ok_or_else(bad)?.iter();
    entries.map(|entry| one(entry).ok_or_else(bad)).collect()
}

/// `all`, or a list of `t-1`.
fn partitions(value: &Value) -> Known<Option<Vec<TopicPartition>>> {
    if value == "all" {
        return Ok(None);
    }
    let bad = || Unknown(format!("partitions {value}"));
    let one = |value: &Value| {
        let (topic, partition) = value.as_str()?.rsplit_once('-')?;
        Some(TopicPartition { topic: topic.into(), partition: partition.parse().ok()? })
    };
    let list = value.as_array().ok_or_else(bad)?;
    list.iter().map(|value| one(value).ok_or_else(bad)).collect::<Known<_>>().map(Some)
}
