//! The offset manager of 0.8.2: a group's offsets are records in a partition of
//! `__consumer_offsets`, and whoever leads that partition is the group's coordinator.
//! [spec consumer-zk.md O3, O8]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::manager::{ReplicaManager, Roles, send};
use super::purgatory::Kind;
use super::store::Log;
use crate::base::Span;
use crate::kafka::broker::Ctx;
use crate::kafka::data::{Code, Msg, Offset, Record};
use crate::kafka::msg::TopicPartition;
use crate::kafka::partitioner;

pub const TOPIC: &str = "__consumer_offsets";

/// How long a commit waits for copies.
const COMMIT_TIMEOUT: Span = Span::from_secs(10);

/// What a partition of the offsets' topic says, read up to an offset.
#[derive(Clone, Debug, Default)]
pub struct Offsets {
    read_to: Offset,
    known: Arc<BTreeMap<Arc<str>, Offset>>,
}

/// The partition that a group's offsets are in: its leader is the coordinator.
pub fn partition_of(group: &str, partitions: u32) -> Option<TopicPartition> {
    let partition = partitioner::by_hash_code(partitioner::string_hash(group), partitions)?;
    Some(TopicPartition { topic: TOPIC.into(), partition })
}

/// The key of such a record: group, topic and partition.
fn key(group: &str, tp: &TopicPartition) -> Arc<str> {
    format!("{group},{},{}", tp.topic, tp.partition).into()
}

impl Offsets {
    /// Takes in what was committed since.
    fn read(&mut self, log: &Log) {
        if self.read_to >= log.high_watermark {
            return;
        }
        let known = Arc::make_mut(&mut self.known);
        for record in log.records(self.read_to, log.high_watermark) {
            if let (Some(key), Ok(offset)) = (&record.key, record.value.parse()) {
                known.insert(key.clone(), offset);
            }
        }
        self.read_to = log.high_watermark;
    }
}

impl ReplicaManager {
    /// OffsetCommit and OffsetFetch, at the broker that leads `at`.
    pub fn serve_offsets(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        at: Option<TopicPartition>,
        msg: Msg,
        roles: &impl Roles,
    ) {
        match (msg, at) {
            (Msg::OffsetCommit { id, group, offsets }, Some(at)) => {
                let record = |(tp, offset): &(TopicPartition, Offset)| Record {
                    key: Some(key(&group, tp)),
                    value: offset.to_string().into(),
                    epoch: crate::kafka::data::NO_EPOCH,
                    sent: crate::sim::RowId::NONE,
                    by_hand: false,
                };
                let records: Arc<[Record]> = offsets.iter().map(record).collect();
                // `offsets.commit.required.acks`: all that are in sync.
                let who = (from, id, Kind::OffsetCommit);
                let until = ctx.now + COMMIT_TIMEOUT;
                self.produce(ctx, me, (who, -1, until), &[(at, records)], roles);
            }
            (Msg::OffsetFetch { id, group, partitions }, Some(at)) => {
                let result = match ReplicaManager::leads(me, &at, roles) {
                    Ok(()) => Ok(self.offsets_of(&at, &group, partitions)),
                    Err(_) => Err(Code::NotCoordinatorForConsumer),
                };
                send(ctx, from, Msg::OffsetFetchAnswer { id, result });
            }
            (Msg::OffsetCommit { id, .. }, None) => {
                let result = Err(Code::ConsumerCoordinatorNotAvailable);
                send(ctx, from, Msg::OffsetCommitAnswer { id, result });
            }
            (Msg::OffsetFetch { id, .. }, None) => {
                let result = Err(Code::ConsumerCoordinatorNotAvailable);
                send(ctx, from, Msg::OffsetFetchAnswer { id, result });
            }
            _ => {}
        }
    }

    fn offsets_of(
        &mut self,
        at: &TopicPartition,
        group: &str,
        partitions: Vec<TopicPartition>,
    ) -> Vec<(TopicPartition, Offset)> {
        let Some(log) = self.store.get(at) else { return Vec::new() };
        let offsets = self.offsets.entry(at.clone()).or_default();
        offsets.read(log);
        let known = |tp: TopicPartition| {
            let offset = *offsets.known.get(&key(group, &tp))?;
            Some((tp, offset))
        };
        partitions.into_iter().filter_map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_partition() {
        let of = |group: &str, n: u32| partition_of(group, n).map(|tp| tp.partition);
        assert_eq!(of("g", 50), Some(3));
        assert_eq!(of("polygenelubricants", 50), Some(0));
        assert_eq!(of("g", 0), None);
    }

    #[test]
    fn the_last_committed_record_of_a_key_counts() {
        let tp = TopicPartition { topic: "T".into(), partition: 1 };
        let record = |value: &str| Record {
            key: Some(key("g", &tp)),
            value: value.into(),
            epoch: crate::kafka::data::NO_EPOCH,
            sent: crate::sim::RowId::NONE,
            by_hand: false,
        };
        let mut log = Log::default();
        log.append(["3", "7", "9"].map(record));
        log.high_watermark = 2;
        let mut offsets = Offsets::default();
        offsets.read(&log);
        assert_eq!(offsets.known.get(&key("g", &tp)), Some(&7));
        log.high_watermark = 3;
        offsets.read(&log);
        assert_eq!(offsets.known.get(&key("g", &tp)), Some(&9));
    }
}
