//! Records that a recording fills partitions with: value after value, each to every partition.
//! [recordings/0.8.2.2/README.md, produce]

use kafkascope_core::kafka::producer::{Batch, Kind, Partitioner, ProducerSpec};
use kafkascope_core::world::{Command, Who};
use serde_json::Value;

use super::ops::{number, only, text};
use super::player::{LIFE, Player};
use super::{Known, Unknown};

const NAME: &str = "fill";
/// `topic.metadata.refresh.interval.ms` of the Java producer.
const REFRESH_MS: u32 = 300_000;

/// Is it one of those that are awaited together?
pub fn is_fill(op: &Value) -> bool {
    op["op"] == "produce" && op["producer"] == NAME
}

impl Player {
    /// Until the last record is acknowledged.
    pub(super) fn fill(&mut self, op: &Value) -> Known<()> {
        only(op, "topic partition per_partition from to acks producer wait_each")?;
        let bad = || Unknown(format!("numbers of {op}"));
        let (from, to) = (op["from"].as_u64().ok_or_else(bad)?, op["to"].as_u64().ok_or_else(bad)?);
        let list = op["partition"].as_array().ok_or_else(bad)?;
        let partitions = list.iter().map(number).collect::<Option<Vec<u32>>>().ok_or_else(bad)?;
        if !self.sim.is_running(&Who::Producer(NAME.into())) {
            let acks = op["acks"].as_i64().and_then(|acks| i16::try_from(acks).ok());
            let spec = ProducerSpec {
                kind: Some(Kind::Java),
                acks: acks.ok_or_else(bad)?,
                partitioner: Partitioner::Default,
                refresh_ms: REFRESH_MS,
                stream: None,
            };
            self.sim.command(Command::StartProducer { name: NAME.into(), spec: spec.into() })?;
            self.sim.run_for(super::sim::BOOT + super::player::FLUSH);
        }
        let before = self.acknowledged();
        let topic = text(op, "topic")?;
        for value in from..=to {
            for partition in &partitions {
                let batch = Batch {
                    topic: topic.into(),
                    partition: Some(*partition),
                    key: None,
                    from: value,
                    count: 1,
                };
                let command = Command::Produce { producer: NAME.into(), batch: batch.into() };
                self.sim.command(command)?;
            }
        }
        let wanted = before + (to + 1 - from) * partitions.len() as u64;
        let until = self.sim.now() + LIFE;
        self.sim.run(until, |sim| acknowledged(sim) >= wanted);
        Ok(())
    }

    fn acknowledged(&self) -> u64 {
        acknowledged(&self.sim)
    }
}

fn acknowledged(sim: &super::sim::Sim) -> u64 {
    let found = sim.world.find(&Who::Producer(NAME.into()));
    let producer = found.and_then(|index| sim.world.proc(index).producer());
    producer.map_or(0, |producer| producer.acknowledged)
}
