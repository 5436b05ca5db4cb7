//! What an administrator asks of a cluster of a real release, as a script writes it.

use std::sync::Arc;

use super::Problem;
use super::parse::{Parsed, Words, shorten};
use crate::base::limits;
use crate::kafka::TopicPartition;
use crate::kafka::real::task::{Layout, Setting, Task};

pub fn task(words: &mut Words<'_>, verb: &str) -> Parsed<Task> {
    match verb {
        "add" => {
            words.expect("partitions")?;
            let topic = words.name("a topic", limits::TOPIC_NAME)?;
            words.expect("total")?;
            let high = u64::from(limits::PARTITIONS_PER_TOPIC);
            let total = words.number("how many partitions there are then", 1, high)? as u32;
            let assignment = placed(words)?;
            Ok(Task::AddPartitions { topic, total, assignment })
        }
        "alter" => alter(words),
        "elect" => {
            words.expect("preferred")?;
            let mut named = Vec::new();
            while words.peek().is_some() {
                named.push(partition(words)?);
            }
            let partitions = (!named.is_empty()).then_some(named);
            Ok(Task::ElectPreferred { partitions })
        }
        "reassign" => {
            let plan = plan(words)?;
            let additional = words.take("additional");
            let mut throttle = None;
            if words.take("throttle") {
                throttle = Some(words.number("bytes a second", 1, 1_000_000_000_000)?);
            }
            Ok(Task::Reassign { plan, additional, throttle, asked: asked(words)? })
        }
        "cancel" => {
            words.expect("reassign")?;
            let mut partitions = vec![partition(words)?];
            while words.peek().is_some_and(|word| !["of", "by"].contains(&word)) {
                partitions.push(partition(words)?);
            }
            let targets = if words.take("of") { brokers(words)? } else { Vec::new() };
            Ok(Task::CancelReassign { partitions, targets, asked: asked(words)? })
        }
        "verify" => {
            words.expect("reassign")?;
            let plan = plan(words)?;
            Ok(Task::VerifyReassign { plan, asked: asked(words)? })
        }
        "metadata" => {
            let topic = words.name("a topic", limits::TOPIC_NAME)?;
            words.expect("broker")?;
            let broker = words.number("a broker id", 0, u64::from(limits::BROKER_ID))? as u32;
            Ok(Task::Metadata { topic, broker, placed: placed(words)? })
        }
        _ => {
            words.expect("topics")?;
            Ok(Task::List)
        }
    }
}

fn alter(words: &mut Words<'_>) -> Parsed<Task> {
    words.expect("config")?;
    let (_, entity) = words.next("an entity, such as topics/t")?;
    let set = pairs(words, "set")?;
    let mut delete = Vec::new();
    while words.take("delete") {
        let (_, key) = words.next("the name of a setting")?;
        delete.push(key.into());
    }
    Ok(Task::AlterConfig { entity: entity.into(), set, delete, asked: asked(words)? })
}

fn asked(words: &mut Words<'_>) -> Parsed<Option<u32>> {
    match words.take("by") {
        true => Ok(Some(words.number("a broker id", 0, u64::from(limits::BROKER_ID))? as u32)),
        false => Ok(None),
    }
}

/// `t-0`
fn partition(words: &mut Words<'_>) -> Parsed<TopicPartition> {
    let (at, word) = words.next("a partition, such as t-0")?;
    let bad = || words.error(at, Problem::BadName(shorten(word)));
    let (topic, number) = word.rsplit_once('-').ok_or_else(bad)?;
    let partition = number.parse().map_err(|_| bad())?;
    Ok(TopicPartition { topic: topic.into(), partition })
}

/// `1,2,3`
fn brokers(words: &mut Words<'_>) -> Parsed<Vec<u32>> {
    let (at, word) = words.next("broker ids, such as 1,2")?;
    let fits = |id: &u32| *id <= limits::BROKER_ID;
    let ids: Option<Vec<u32>> = word.split(',').map(|id| id.parse().ok().filter(fits)).collect();
    ids.filter(|ids| ids.len() <= limits::BROKERS)
        .ok_or_else(|| words.error(at, Problem::BadName(shorten(word))))
}

/// `t-0 to 1,2 and t-1 to 2,3`; a partition stands there once.
fn plan(words: &mut Words<'_>) -> Parsed<Vec<(TopicPartition, Vec<u32>)>> {
    let mut plan: Vec<(TopicPartition, Vec<u32>)> = Vec::new();
    loop {
        let at = words.at;
        let tp = partition(words)?;
        if plan.iter().any(|(known, _)| *known == tp) {
            let name = format!("{}-{}", tp.topic, tp.partition);
            return Err(words.error(at, Problem::BadName(shorten(&name))));
        }
        words.expect("to")?;
        plan.push((tp, brokers(words)?));
        if !words.take("and") {
            return Ok(plan);
        }
    }
}

/// `WORD key=value`, as often as it stands there.
pub fn pairs(words: &mut Words<'_>, word: &str) -> Parsed<Vec<Setting>> {
    let mut pairs = Vec::new();
    while words.take(word) {
        let (at, pair) = words.next("key=value")?;
        match pair.split_once('=') {
            Some((key, value)) => pairs.push((Arc::from(key), Arc::from(value))),
            None => return Err(words.error(at, Problem::Missing("="))),
        }
    }
    Ok(pairs)
}

/// `partitions N replication N` or `assignment 1:2,2:3`.
pub fn layout(words: &mut Words<'_>) -> Parsed<Layout> {
    if let Some(placed) = placed(words)? {
        return Ok(Layout::Assignment(placed));
    }
    words.expect("partitions")?;
    let high = u64::from(limits::PARTITIONS_PER_TOPIC);
    let partitions = words.number("how many partitions", 1, high)? as u32;
    words.expect("replication")?;
    let high = limits::BROKERS as u64;
    let replication = words.number("the replication factor", 1, high)? as u32;
    Ok(Layout::Counts { partitions, replication })
}

fn placed(words: &mut Words<'_>) -> Parsed<Option<Vec<Vec<u32>>>> {
    if !words.take("assignment") {
        return Ok(None);
    }
    let (at, text) = words.next("the brokers of each partition")?;
    let mut partitions = Vec::new();
    for part in text.split(',') {
        let ids = part.split(':').map(str::parse).collect::<Result<Vec<u32>, _>>();
        partitions.push(ids.map_err(|_| words.error(at, Problem::BadName(shorten(text))))?);
    }
    if partitions.len() > limits::PARTITIONS_PER_TOPIC as usize {
        let high = u64::from(limits::PARTITIONS_PER_TOPIC);
        let problem = Problem::OutOfRange { given: partitions.len() as u64, low: 1, high };
        return Err(words.error(at, problem));
    }
    Ok(Some(partitions))
}
