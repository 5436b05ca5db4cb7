//! Producers: what they send, where their partitioners put it, and what is then in the logs.
//! [recordings/0.8.2.2/README.md]

use std::collections::BTreeMap;
use std::sync::Arc;

use kafkascope_core::base::{Rng, Span};
use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::partitioner::{self, Topic};
use kafkascope_core::kafka::producer::{Batch, Kind, Partitioner, Producer, ProducerSpec, Tries};
use kafkascope_core::kafka::real::task::{Layout, Task};
use kafkascope_core::world::clients::PRODUCER_BOOT;
use kafkascope_core::world::{Command, Who};
use serde_json::{Map, Value, json};

use super::ops::{number, only, text};
use super::player::{Done, LIFE, Player};
use super::sent::Sent;
use super::sim::Sim;
use super::{Known, Unknown};

/// Unless a recording says otherwise.
const REFRESH_MS: u32 = 600_000;
/// What a producer's first record took longer than the others on the recorder's machine: its
/// connections and classes come with it. It decides how many follow before the next refresh.
const FIRST_SEND: Span = Span::from_millis(100);
/// The only broker of the recording that asks for partitions.
const BROKER: u32 = 1;

/// One of the recorder's producers, by its name in the recording.
fn kind(name: &str) -> Known<Kind> {
    match name {
        "old" => Ok(Kind::Scala),
        "new" | "fill" => Ok(Kind::Java),
        _ => Err(Unknown(format!("producer {name}"))),
    }
}

/// A number or a list of them.
fn numbers(value: &Value) -> Option<Vec<u32>> {
    match value.as_array() {
        Some(list) => list.iter().map(number).collect(),
        None => number(value).map(|one| vec![one]),
    }
}

fn acks(op: &Value) -> Known<i16> {
    let acks = op["acks"].as_i64().and_then(|acks| i16::try_from(acks).ok());
    acks.ok_or_else(|| Unknown(format!("acks of {op}")))
}

impl Player {
    /// False: not an op of producers.
    pub(super) fn producer_op(&mut self, op: &Value, done: &mut Done) -> Known<bool> {
        match text(op, "op")? {
            "produce" | "produce-each" if op["values"].is_array() => {
                self.produce_values(op, done)?;
                return Ok(true);
            }
            "produce" => {}
            _ => return Ok(false),
        }
        only(op, "topic partition per_partition from to acks producer wait_each")?;
        let bad = |what: &str| Unknown(format!("{what} of {op}"));
        let topic: Arc<str> = text(op, "topic")?.into();
        let partitions = numbers(&op["partition"]).ok_or_else(|| bad("partition"))?;
        let from = op["from"].as_u64().ok_or_else(|| bad("from"))?;
        let to = op["to"].as_u64().ok_or_else(|| bad("to"))?;
        let named = text(op, "producer")?;
        let name = self.begin(kind(named)?, acks(op)?, REFRESH_MS, named)?;
        let mut sent = Sent::new(named, self.producer_settings[named].clone());
        for value in from..=to {
            for partition in &partitions {
                let (topic, partition) = (topic.clone(), Some(*partition));
                self.send(&name, Batch { topic, partition, key: None, from: value, count: 1 })?;
            }
            if op["wait_each"] == true {
                let told = self.sim.told.len();
                self.sent(&name);
                sent.one(value, partitions.first().copied(), acks(op)?, &self.sim.told[told..]);
            }
        }
        let (ok, failed) = self.finish(&name)?;
        let result = match op["wait_each"] == true {
            true => sent.text(),
            false => format!("ok={ok} failed={failed}"),
        };
        done.produced.push((op.clone(), result));
        Ok(true)
    }

    /// A producer of its own, once it runs.
    fn begin(&mut self, kind: Kind, acks: i16, refresh_ms: u32, named: &str) -> Known<Arc<str>> {
        let (kind, partitioner, stream) = (Some(kind), Partitioner::Default, None);
        let set = &self.producer_settings[named];
        let ms = |names: [&str; 2]| names.iter().find_map(|name| number(&set[*name]));
        let tries = Tries {
            retries: ms(["message.send.max.retries", "retries"]),
            backoff_ms: ms(["retry.backoff.ms", ""]),
            timeout_ms: ms(["request.timeout.ms", "timeout.ms"]),
            delivery_ms: None,
        };
        let brokers = self.sim.lively_brokers().into();
        let spec = ProducerSpec { kind, acks, partitioner, refresh_ms, tries, brokers, stream };
        self.begin_with(spec)
    }

    pub(super) fn begin_with(&mut self, spec: ProducerSpec) -> Known<Arc<str>> {
        let name: Arc<str> = format!("producer-{}", self.sim.world.procs.len()).into();
        self.sim.command(Command::StartProducer { name: name.clone(), spec: spec.into() })?;
        self.sim.run_for(PRODUCER_BOOT);
        Ok(name)
    }

    pub(super) fn send(&mut self, producer: &Arc<str>, batch: Batch) -> Known<()> {
        let producer = producer.clone();
        self.sim.command(Command::Produce { producer, batch: batch.into() })
    }

    /// Until nothing it has waits for an answer.
    pub(super) fn sent(&mut self, producer: &Arc<str>) {
        let who = Who::Producer(producer.clone());
        let until = self.sim.now() + LIFE;
        self.sim.run(until, |sim| {
            let index = sim.world.find(&who);
            let producer = index.and_then(|index| sim.world.proc(index).producer());
            producer.is_none_or(Producer::is_idle)
        });
    }

    /// How many were taken and how many not; then it ends.
    fn finish(&mut self, producer: &Arc<str>) -> Known<(u64, u64)> {
        self.sent(producer);
        let who = Who::Producer(producer.clone());
        let index = self.sim.world.find(&who);
        let counts = index.and_then(|index| self.sim.world.proc(index).producer());
        let counts = counts.map_or((0, 0), |producer| match producer.spec.acks {
            0 => (producer.sent, producer.failed),
            _ => (producer.acknowledged, producer.failed),
        });
        self.sim.command(Command::Stop(who))?;
        Ok(counts)
    }

    /// Steps that ask which partitions are chosen; what was sent stands in their `vectors`. False:
    /// not such a step.
    pub(super) fn vectors(&mut self, step: &Value, done: &mut Done) -> Known<bool> {
        let op = &step["op"];
        let none = Vec::new();
        let asked = step["vectors"].as_array().unwrap_or(&none);
        let answers: Known<Vec<Value>> = match text(op, "op")? {
            "partition-by-class" => {
                only(op, "")?;
                asked.iter().map(by_class).collect()
            }
            "partition-by-class-null" => {
                only(op, "")?;
                asked.iter().map(by_class_null).collect()
            }
            "send-keys" => {
                only(op, "topics acks")?;
                let sizes: Vec<&Value> = asked.iter().collect();
                let topics = self.own_topics(op, &sizes)?;
                topics.iter().zip(asked).map(|(topic, asked)| self.keys(op, topic, asked)).collect()
            }
            "send-null-keys" => {
                only(op, "topics acks")?;
                // The first of them is the old producer's topic, the last one the Java producer's.
                let sizes: Vec<&Value> = asked.first().into_iter().chain(asked.last()).collect();
                let topics = self.own_topics(op, &sizes)?;
                done.chance.push("null-key-partition");
                asked.iter().map(|asked| self.null_keys(op, &topics, asked)).collect()
            }
            _ => return Ok(false),
        };
        done.vectors = Some(answers?.into());
        Ok(true)
    }

    /// The recorder's broker and its topics, of which only the vectors tell the sizes.
    fn own_topics(&mut self, op: &Value, sizes: &[&Value]) -> Known<Vec<Arc<str>>> {
        if !self.sim.is_registered(BROKER) {
            self.sim.command(Command::StartBroker { id: BROKER, host: None, rack: None })?;
            let until = self.sim.now() + LIFE;
            self.sim.run(until, |sim| sim.controller() == Some(BROKER));
            self.sim.run_for(Span::from_secs(1));
        }
        let mut topics: Vec<Arc<str>> = Vec::new();
        let named = op["topics"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for (topic, size) in named.zip(sizes) {
            let partitions = number(&size["partitions"]);
            let partitions = partitions.ok_or_else(|| Unknown(format!("topics of {op}")))?;
            let layout = Layout::Counts { partitions, replication: 1 };
            let task = Task::Create { topic: topic.into(), layout, configs: Vec::new() };
            self.sim.command(Command::Admin(task.into()))?;
            topics.push(topic.into());
        }
        self.sim.run_for(Span::from_secs(2));
        Ok(topics)
    }

    /// One record of each key, then where they are.
    fn keys(&mut self, op: &Value, topic: &Arc<str>, asked: &Value) -> Known<Value> {
        let kind = kind(text(asked, "producer")?)?;
        let partitions = number(&asked["partitions"]).unwrap_or_default();
        let producer = self.begin(kind, acks(op)?, REFRESH_MS, "")?;
        let keys = asked["result"].as_object().into_iter().flat_map(|keys| keys.keys());
        let keys: Vec<Arc<str>> = keys.map(|key| key.as_str().into()).collect();
        for key in &keys {
            let (topic, key) = (topic.clone(), Some(key.clone()));
            self.send(&producer, Batch { topic, partition: None, key, from: 0, count: 1 })?;
        }
        self.finish(&producer)?;
        let mut found: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        for one in written(&self.sim, topic, partitions) {
            found.extend(one.key.map(|key| (key, one.partition)));
        }
        let as_said = |key: &Arc<str>| {
            let said = partitioner::preview(kind, key, partitions).map(|at| at.partition);
            said.is_some() && found.get(key).copied() == said
        };
        Ok(json!({
            "producer": asked["producer"],
            "partitions": partitions,
            "keys": keys.len(),
            "all_where_the_class_says": keys.iter().all(as_said),
            "result": found.iter().map(|(key, at)| (key.to_string(), (*at).into()))
                .collect::<Map<String, Value>>(),
        }))
    }

    /// Records without a key, then where they are.
    fn null_keys(&mut self, op: &Value, topics: &[Arc<str>], asked: &Value) -> Known<Value> {
        let kind = kind(text(asked, "producer")?)?;
        let topic = topics.get(usize::from(kind == Kind::Java));
        let topic = topic.ok_or_else(|| Unknown(format!("topics of {op}")))?;
        let partitions = number(&asked["partitions"]).unwrap_or_default();
        let refresh = number(&asked["topic.metadata.refresh.interval.ms"]);
        let before = written(&self.sim, topic, partitions).len();
        let producer = self.begin(kind, acks(op)?, refresh.unwrap_or(REFRESH_MS), "")?;
        let pause = asked["pause_ms"].as_u64().map(Span::from_millis).unwrap_or_default();
        let drawn = draws(asked);
        for n in 0..number(&asked["records"]).unwrap_or_default() {
            if let Some(partition) = drawn.get(n as usize) {
                self.sim.world.steer_partition(&producer, *partition);
            }
            // Values count on, so that they tell the order over all partitions.
            let from = before as u64 + u64::from(n);
            let batch = Batch { topic: topic.clone(), partition: None, key: None, from, count: 1 };
            self.send(&producer, batch)?;
            self.sent(&producer);
            let slow = n == 0 && pause > Span::ZERO;
            self.sim.run_for(pause + if slow { FIRST_SEND } else { Span::ZERO });
        }
        self.finish(&producer)?;
        let mut new = written(&self.sim, topic, partitions);
        new.sort_by_key(|one| one.value);
        let new: Vec<u32> = new.into_iter().skip(before).map(|one| one.partition).collect();
        Ok(placed(asked, &new, partitions))
    }
}

/// The partitions of records, in the order in which they were sent, in the vector's own words.
fn placed(asked: &Value, sequence: &[u32], partitions: u32) -> Value {
    let mut answer = asked.as_object().cloned().unwrap_or_default();
    let (name, value): (&str, Value) = if answer.contains_key("sequence") {
        ("sequence", sequence.into())
    } else if answer.contains_key("records_per_partition") {
        let many = |p: u32| sequence.iter().filter(|at| **at == p).count();
        let each = (0..partitions).map(|p| (p.to_string(), many(p).into()));
        ("records_per_partition", each.collect::<Map<String, Value>>().into())
    } else {
        let runs = sequence.chunk_by(|a, b| a == b).map(|run| json!([run[0], run.len()]));
        ("runs_of_partition_and_count", runs.collect::<Vec<Value>>().into())
    };
    answer.insert(name.into(), value);
    answer.into()
}

/// Which partition each record without a key went to, where that is the draw of the old producer.
fn draws(asked: &Value) -> Vec<u32> {
    let runs = asked["runs_of_partition_and_count"].as_array().into_iter().flatten();
    let of_runs = runs.filter_map(|run| Some((number(&run[0])?, number(&run[1])?)));
    let each = asked["records_per_partition"].as_object().into_iter().flatten();
    let of_counts = each.filter_map(|(at, many)| Some((at.parse().ok()?, number(many)?)));
    let all = of_runs.chain(of_counts);
    all.flat_map(|(at, many)| std::iter::repeat_n(at, many.min(10_000) as usize)).collect()
}

/// A record of a topic at the broker.
struct Written {
    partition: u32,
    key: Option<Arc<str>>,
    value: u64,
}

fn written(sim: &Sim, topic: &Arc<str>, partitions: u32) -> Vec<Written> {
    let mut all = Vec::new();
    for partition in 0..partitions {
        let tp = TopicPartition { topic: topic.clone(), partition };
        let Some(log) = sim.world.broker(BROKER).and_then(|proc| proc.log(&tp)) else { continue };
        all.extend(log.records(log.start(), log.end()).map(|record| Written {
            partition,
            key: record.key.clone(),
            value: record.value.parse().unwrap_or_default(),
        }));
    }
    all
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.chars().map(digit).collect::<Option<_>>()?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// A partitioner's class asked about keys.
fn by_class(asked: &Value) -> Known<Value> {
    let bad = || Unknown(format!("partitioner {} of {}", asked["class"], asked["key_type"]));
    let partitions = number(&asked["partitions"]).ok_or_else(bad)?;
    let (java, key_type) = (asked["producer"] == "new", text(asked, "key_type")?);
    let bytes = |key: &str| match key_type {
        "byte[] as hex" => hex(key),
        "UTF-8 bytes of a String" => Some(key.as_bytes().to_vec()),
        _ => None,
    };
    let hash = |key: &str| match key_type {
        "String" => Some(partitioner::string_hash(key)),
        "Integer" => key.parse().ok(),
        "Long" => key.parse().ok().map(partitioner::long_hash),
        _ => bytes(key).map(|bytes| partitioner::bytes_hash(&bytes)),
    };
    let place = |key: &str| match java {
        true => partitioner::by_murmur2(&bytes(key)?, partitions),
        false => partitioner::by_hash_code(hash(key)?, partitions),
    };
    let mut answer = asked.as_object().cloned().unwrap_or_default();
    let mut result = Map::new();
    for (key, _) in asked["result"].as_object().into_iter().flatten() {
        result.insert(key.clone(), place(key).ok_or_else(bad)?.into());
    }
    answer.insert("result".into(), result.into());
    Ok(answer.into())
}

/// The Java producer's class asked without a key, of partitions with and without a leader.
fn by_class_null(asked: &Value) -> Known<Value> {
    let leaders = text(asked, "partition_has_leader")?;
    let numbered = (0..).zip(leaders.chars());
    let available: Vec<u32> = numbered.filter(|(_, led)| *led == '1').map(|(n, _)| n).collect();
    let name: Arc<str> = "T".into();
    let partitions = u32::try_from(leaders.len()).unwrap_or_default();
    let topic = Topic { name: &name, partitions, available: &available };
    let mut class = partitioner::of(Kind::Java, &Partitioner::Default);
    let mut rng = Rng::new(1);
    let many = asked["sequence"].as_array().map_or(0, Vec::len);
    let chosen = (0..many).filter_map(|_| class.choose(&mut rng, topic, None));
    let sequence: Vec<u32> = chosen.map(|choice| choice.partition).collect();
    Ok(json!({"partition_has_leader": leaders, "sequence": sequence, "note": asked["note"]}))
}

/// What each replica's log holds of the partitions that are asked for, in the recorder's words.
pub fn records(sim: &Sim, asked: &Value) -> Value {
    let mut all = Map::new();
    for (name, replicas) in asked.as_object().into_iter().flatten() {
        let Some((topic, partition)) = name.rsplit_once('-') else { continue };
        let Ok(partition) = partition.parse() else { continue };
        let tp = TopicPartition { topic: topic.into(), partition };
        let mut each = Map::new();
        for broker in replicas.as_object().into_iter().flat_map(|replicas| replicas.keys()) {
            let id: Option<u32> = broker.strip_prefix("broker-").and_then(|id| id.parse().ok());
            let log = id.and_then(|id| sim.world.broker(id)).and_then(|proc| proc.log(&tp));
            let values: Vec<(u64, u64)> = log.map_or_else(Vec::new, |log| {
                let values = log.records(log.start(), log.end()).map(|record| record.value.parse());
                (log.start()..).zip(values.map(Result::unwrap_or_default)).collect()
            });
            each.insert(broker.clone(), runs(&values).into());
        }
        all.insert(name.clone(), each.into());
    }
    all.into()
}

/// `offsets 0..9 = values 0..9`, a line for each run of numbers.
fn runs(values: &[(u64, u64)]) -> Vec<String> {
    let next = |a: &(u64, u64), b: &(u64, u64)| a.0 + 1 == b.0 && a.1 + 1 == b.1;
    let line = |run: &[(u64, u64)]| {
        let (first, last) = (run[0], run[run.len() - 1]);
        format!("offsets {}..{} = values {}..{}", first.0, last.0, first.1, last.1)
    };
    values.chunk_by(next).map(line).collect()
}
