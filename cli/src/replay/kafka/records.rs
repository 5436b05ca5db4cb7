//! Records as the later recorder sends and reads them: `produced`, `fetched` and `disks`.
//! [recorder/zk-brokers/README.md]

use std::sync::Arc;

use kafkascope_core::base::Span;
use kafkascope_core::kafka::data::Code;
use kafkascope_core::kafka::log::store::Log;
use kafkascope_core::kafka::producer::{self, Batch, Kind, Partitioner, ProducerSpec, Tries};
use kafkascope_core::kafka::release::Release;
use kafkascope_core::kafka::{Event as KafkaEvent, TopicPartition, paths};
use kafkascope_core::world::proc::State;
use kafkascope_core::world::{Command, Who};
use serde_json::{Map, Value, json};

use super::ops::{number, only, text};
use super::player::{Done, Player};
use super::sim::Sim;
use super::{Known, Unknown};

/// `metadata.max.age.ms`
const REFRESH_MS: u32 = 300_000;
/// What a consumer of the recorder needs until it has read.
const READING: Span = Span::from_millis(400);

/// What a client is given to produce.
struct Given<'a> {
    at: TopicPartition,
    acks: Vec<i16>,
    values: Vec<&'a Value>,
    timeout_ms: u32,
    bootstrap: Arc<[u32]>,
}

fn acks(value: &Value) -> Option<i16> {
    match value {
        Value::String(text) if text == "all" => Some(-1),
        Value::String(text) => text.parse().ok(),
        other => other.as_i64().and_then(|acks| i16::try_from(acks).ok()),
    }
}

pub(super) fn partition_of(op: &Value) -> Known<TopicPartition> {
    let partition = number(&op["partition"]);
    let partition = partition.ok_or_else(|| Unknown(format!("partition of {op}")))?;
    Ok(TopicPartition { topic: text(op, "topic")?.into(), partition })
}

fn given<'a>(sim: &Sim, op: &'a Value) -> Known<Given<'a>> {
    only(op, "topic partition acks from count values timeout_ms wait_each bootstrap")?;
    let bad = |what: &str| Unknown(format!("{what} of {op}"));
    let values: Vec<&Value> =
        op["values"].as_array().ok_or_else(|| bad("values"))?.iter().collect();
    let acks = match &op["acks"] {
        Value::Array(each) => each.iter().map(acks).collect(),
        one => acks(one).map(|one| vec![one; values.len()]),
    };
    let acks: Vec<i16> = acks.ok_or_else(|| bad("acks"))?;
    if acks.len() != values.len() || values.iter().any(|value| !value.is_string()) {
        return Err(bad("values"));
    }
    let timeout_ms = number(&op["timeout_ms"]).ok_or_else(|| bad("timeout_ms"))?;
    let bootstrap = match &op["bootstrap"] {
        Value::Null => sim.lively_brokers(),
        given => ids(given).ok_or_else(|| bad("bootstrap"))?,
    };
    let at = partition_of(op)?;
    Ok(Given { at, acks, values, timeout_ms, bootstrap: bootstrap.into() })
}

fn ids(value: &Value) -> Option<Vec<u32>> {
    value.as_array()?.iter().map(number).collect()
}

impl Player {
    /// Each record answered, failed or timed out before the next is sent; one client for those in
    /// a row that want the same acks.
    pub(super) fn produce_values(&mut self, op: &Value, done: &mut Done) -> Known<()> {
        let given = given(&self.sim, op)?;
        let mut client: Option<(i16, Arc<str>)> = None;
        for (acks, value) in given.acks.iter().zip(&given.values) {
            let name = match client.take() {
                Some((same, name)) if same == *acks => name,
                other => {
                    self.close(other.map(|(_, name)| name))?;
                    self.client(&given, *acks)?
                }
            };
            let result = self.one(&given.at, &name, *acks, value)?;
            done.values.push(json!([value, result]));
            client = Some((*acks, name));
        }
        self.close(client.map(|(_, name)| name))
    }

    fn client(&mut self, given: &Given<'_>, acks: i16) -> Known<Arc<str>> {
        let (retries, timeout_ms) = (Some(0), Some(given.timeout_ms));
        let delivery_ms = timeout_ms;
        let spec = ProducerSpec {
            kind: Some(Kind::Java),
            acks,
            partitioner: Partitioner::Default,
            refresh_ms: REFRESH_MS,
            tries: Tries { retries, timeout_ms, delivery_ms, backoff_ms: None },
            brokers: given.bootstrap.clone(),
            stream: None,
        };
        self.begin_with(spec)
    }

    fn close(&mut self, client: Option<Arc<str>>) -> Known<()> {
        match client {
            Some(name) => self.sim.command(Command::Stop(Who::Producer(name))),
            None => Ok(()),
        }
    }

    /// Its offset, or what kind of error came.
    fn one(
        &mut self,
        at: &TopicPartition,
        client: &Arc<str>,
        acks: i16,
        value: &Value,
    ) -> Known<Value> {
        // The world's records have numbers: which text each of them stands for is kept here.
        let from = self.sim.texts.len() as u64;
        self.sim.texts.push(value.as_str().unwrap_or_default().into());
        let before = self.sim.told.len();
        let (topic, partition) = (at.topic.clone(), Some(at.partition));
        self.send(client, Batch { topic, partition, key: None, from, count: 1 })?;
        self.sent(client);
        let told = self.sim.told.get(before..).unwrap_or_default();
        let release = self.release;
        let result = told.iter().find_map(|event| match &**event {
            KafkaEvent::Producer(producer::Event::Acknowledged { from, .. }) => Some(json!(from)),
            KafkaEvent::Producer(producer::Event::Failed { why, retries: 0, .. }) => {
                Some(exception(*why, release).into())
            }
            _ => None,
        });
        Ok(result.unwrap_or_else(|| if acks == 0 { json!(-1) } else { Value::Null }))
    }

    /// Facts that processes or files are asked for. A metadata answer is only told, not compared,
    /// and nothing is written for it.
    pub(super) fn read(&mut self, read: &Value, done: &mut Done) -> Known<()> {
        let fact = text(read, "fact")?;
        if fact.starts_with("metadata_of_") {
            return Ok(());
        }
        let at = partition_of(read)?;
        let found = if fact.starts_with("disks") {
            disks(&self.sim, &at)
        } else if fact.starts_with("fetched") {
            self.fetched(read, &at)
        } else {
            return Err(Unknown(format!("read {fact}")));
        };
        done.read.push((fact.into(), found));
        Ok(())
    }

    /// A new consumer reads from the first offset to the high watermark, or as long as it was told
    /// if there is nothing.
    fn fetched(&mut self, read: &Value, at: &TopicPartition) -> Value {
        let leader = self.sim.json(&paths::state(&at.topic, at.partition));
        let leader = leader.and_then(|state| number(&state["leader"]));
        let empty = Log::default();
        let proc = leader.and_then(|id| self.sim.world.broker(id));
        let Some(proc) = proc.filter(|proc| proc.state == State::Up) else { return Value::Null };
        let log = proc.log(at).unwrap_or(&empty);
        let (start, end) = (log.start(), log.high_watermark);
        let shown = |(offset, record): (u64, &kafkascope_core::kafka::data::Record)| {
            let number: Option<usize> = record.value.parse().ok();
            let text = number.and_then(|number| self.sim.texts.get(number));
            json!([offset, text.map_or(&*record.value, |text| &**text)])
        };
        let records: Vec<Value> = (start..).zip(log.records(start, end)).map(shown).collect();
        let answer = json!({"start_offset": start, "end_offset": end, "records": records});
        let wait = read["wait_ms"].as_u64().map_or(READING, Span::from_millis);
        self.sim.run_for(if end > start { READING } else { wait });
        answer
    }
}

/// What stands in the files of all brokers that have a replica, dead ones too.
fn disks(sim: &Sim, at: &TopicPartition) -> Value {
    let mut all = Map::new();
    let folder = format!("{}-{}", at.topic, at.partition);
    for (id, folders) in &sim.folders {
        let Some(proc) = sim.world.broker(*id).filter(|_| folders.contains(&folder)) else {
            continue;
        };
        let (store, empty) = (proc.store(), Log::default());
        let log = store.get(at).unwrap_or(&empty);
        let epochs: Vec<Value> =
            log.epochs().entries().iter().map(|entry| json!([entry.epoch, entry.offset])).collect();
        all.insert(
            id.to_string(),
            json!({
                "log_end_offset": log.end(),
                "hw_checkpoint": store.checkpoint.get(at).copied().unwrap_or(0),
                "leader_epochs": epochs,
            }),
        );
    }
    all.into()
}

/// The class of the error that the client throws.
fn exception(code: Code, release: Release) -> &'static str {
    match code {
        Code::NotEnoughReplicas => "NotEnoughReplicasException",
        Code::NotEnoughReplicasAfterAppend => "NotEnoughReplicasAfterAppendException",
        Code::NotLeaderForPartition if release >= Release::V2_8_2 => "NotLeaderOrFollowerException",
        Code::NotLeaderForPartition => "NotLeaderForPartitionException",
        Code::UnknownTopicOrPartition => "UnknownTopicOrPartitionException",
        Code::InvalidTopic => "InvalidTopicException",
        Code::LeaderNotAvailable => "NetworkException",
        _ => "TimeoutException",
    }
}
