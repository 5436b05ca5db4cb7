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
            while let Some(word) = words.peek() {
                let at = words.at;
                words.at += word.len();
                let bad = || words.error(at, Problem::BadName(shorten(word)));
                let (topic, number) = word.rsplit_once('-').ok_or_else(bad)?;
                let partition = number.parse().map_err(|_| bad())?;
                named.push(TopicPartition { topic: topic.into(), partition });
            }
            let partitions = (!named.is_empty()).then_some(named);
            Ok(Task::ElectPreferred { partitions })
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
    let mut asked = None;
    if words.take("by") {
        asked = Some(words.number("a broker id", 0, u64::from(limits::BROKER_ID))? as u32);
    }
    Ok(Task::AlterConfig { entity: entity.into(), set, delete, asked })
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
