//! The logs of a broker, which outlive its process.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::epoch_cache::EpochCache;
use crate::base::Digest;
use crate::kafka::data::{Offset, Record};
use crate::kafka::msg::TopicPartition;

/// What the store's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A waiting request's time may be over.
    Waited,
    /// Followers hear of a high watermark that no data told them of.
    Tell,
    /// High watermarks are written down.
    Checkpoint,
}

/// What happens to a log, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Appended {
        broker: u32,
        tp: TopicPartition,
        from: Offset,
        count: u32,
        by_hand: bool,
    },
    Copied {
        broker: u32,
        tp: TopicPartition,
        from: Offset,
        count: u32,
    },
    HighWatermark {
        broker: u32,
        tp: TopicPartition,
        to: Offset,
    },
    /// Retention removed what is below.
    StartMoved {
        broker: u32,
        tp: TopicPartition,
        to: Offset,
    },
    /// A follower cut off what its leader does not have, or may not have.
    Truncated {
        broker: u32,
        tp: TopicPartition,
        to: Offset,
    },
}

/// Records that are kept together: a copy of a log shares all but the last, unfinished piece.
const CHUNK: usize = 256;

/// What a message takes in a log besides its key and its value: offset, size, checksum, magic,
/// attributes and two lengths.
const OVERHEAD: u64 = 26;

/// A folder `T-P`. [product.md T6]
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The first offset that is still there.
    start: Offset,
    pub high_watermark: Offset,
    /// Where the first chunk begins: at `start` or before it.
    base: Offset,
    chunks: Vec<Arc<[Record]>>,
    last: Vec<Record>,
    bytes: u64,
    epochs: EpochCache,
}

impl Log {
    /// The first offset that is still there.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// LEO, the next offset to be written.
    pub fn end(&self) -> Offset {
        self.base + (self.chunks.len() * CHUNK + self.last.len()) as Offset
    }

    /// Bytes of the records that are there.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn get(&self, offset: Offset) -> Option<&Record> {
        if offset < self.start {
            return None;
        }
        let at = usize::try_from(offset - self.base).ok()?;
        match self.chunks.get(at / CHUNK) {
            Some(chunk) => chunk.get(at % CHUNK),
            None => self.last.get(at - self.chunks.len() * CHUNK),
        }
    }

    /// Records from an offset on, up to but without another.
    pub fn records(&self, from: Offset, to: Offset) -> impl Iterator<Item = &Record> {
        (from.max(self.start)..to.min(self.end())).filter_map(|offset| self.get(offset))
    }

    /// Which leader epoch begins where: the file `leader-epoch-checkpoint`. [spec kafka-zk.md I8]
    pub fn epochs(&self) -> &EpochCache {
        &self.epochs
    }

    /// What comes next is of this epoch. [spec kafka-zk.md I7]
    pub fn begin_epoch(&mut self, epoch: i32) {
        self.epochs.assign(epoch, self.end());
    }

    /// As its leader, in an epoch.
    pub fn lead(&mut self, epoch: i32, records: impl IntoIterator<Item = Record>) {
        self.append(records.into_iter().map(|record| Record { epoch, ..record }));
    }

    /// Records as they are; those of a leader tell their epochs.
    pub fn append(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            if self.epochs.latest() != Some(record.epoch) {
                self.begin_epoch(record.epoch);
            }
            self.bytes += size(&record);
            self.last.push(record);
            if self.last.len() == CHUNK {
                self.chunks.push(std::mem::take(&mut self.last).into());
            }
        }
    }

    /// Cuts off what comes at `to` and later. False if there is nothing.
    pub fn truncate(&mut self, to: Offset) -> bool {
        if to >= self.end() {
            return false;
        }
        let keep = usize::try_from(to.max(self.start) - self.base).unwrap_or(0);
        while self.chunks.len() * CHUNK > keep {
            let chunk = self.chunks.pop();
            self.last = chunk.into_iter().flat_map(|chunk| chunk.to_vec()).collect();
        }
        self.last.truncate(keep - self.chunks.len() * CHUNK);
        self.epochs.truncate_end(self.end());
        self.high_watermark = self.high_watermark.min(self.end());
        self.bytes = self.records(self.start, self.end()).map(size).sum();
        true
    }

    /// Everything goes; what comes next has this offset.
    pub fn restart(&mut self, at: Offset) {
        *self = Log { start: at, base: at, high_watermark: at, ..Log::default() };
    }

    /// Removes the oldest records as long as what is left is not less than so many bytes, and
    /// nothing that is not committed. True if the start moved. `log.retention.bytes`, without
    /// waiting for the end of a segment.
    pub fn retain(&mut self, bytes: u64) -> bool {
        let before = self.start;
        while self.start < self.high_watermark
            && let Some(oldest) = self.get(self.start).map(size)
            && self.bytes - oldest >= bytes
        {
            self.bytes -= oldest;
            self.start += 1;
        }
        let done = usize::try_from(self.start - self.base).unwrap_or(0) / CHUNK;
        let gone = self.chunks.drain(..done.min(self.chunks.len())).count();
        self.base += (gone * CHUNK) as Offset;
        self.epochs.truncate_start(self.start);
        self.start != before
    }

    fn digest(&self, digest: &mut Digest) {
        digest.u64(self.start);
        digest.u64(self.end());
        digest.u64(self.high_watermark);
        for entry in self.epochs.entries() {
            digest.i64(i64::from(entry.epoch));
            digest.u64(entry.offset);
        }
    }
}

fn size(record: &Record) -> u64 {
    let key = record.key.as_ref().map_or(0, |key| key.len());
    OVERHEAD + (key + record.value.len()) as u64
}

/// All logs of a broker.
#[derive(Clone, Debug, Default)]
pub struct Store {
    pub logs: BTreeMap<TopicPartition, Arc<Log>>,
    /// High watermarks as they were last written down.
    pub checkpoint: Arc<super::checkpoint::File>,
}

impl Store {
    pub fn get(&self, tp: &TopicPartition) -> Option<&Log> {
        self.logs.get(tp).map(|log| &**log)
    }

    /// Where a log ends; one that isn't there is empty.
    pub fn end(&self, tp: &TopicPartition) -> Offset {
        self.get(tp).map_or(0, Log::end)
    }

    /// For a change: the log is made if it isn't there.
    pub fn log(&mut self, tp: &TopicPartition) -> &mut Log {
        Arc::make_mut(self.logs.entry(tp.clone()).or_default())
    }

    pub fn digest(&self, digest: &mut Digest) {
        for (tp, log) in &self.logs {
            digest.text(&tp.topic);
            digest.u64(u64::from(tp.partition));
            log.digest(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: u64, to: u64) -> impl Iterator<Item = Record> {
        (from..to).map(|n| Record {
            key: None,
            value: n.to_string().into(),
            epoch: crate::kafka::data::NO_EPOCH,
            sent: crate::sim::RowId::NONE,
            by_hand: false,
        })
    }

    fn values(log: &Log, from: Offset, to: Offset) -> Vec<String> {
        log.records(from, to).map(|record| record.value.to_string()).collect()
    }

    #[test]
    fn offsets_are_places() {
        let mut log = Log::default();
        log.append(numbers(0, 1_000));
        assert_eq!(log.end(), 1_000);
        assert_eq!(values(&log, 255, 258), ["255", "256", "257"]);
        assert_eq!(values(&log, 998, 2_000), ["998", "999"]);
        assert_eq!(log.get(1_000), None);
    }

    #[test]
    fn truncation_cuts_within_a_chunk() {
        let mut log = Log::default();
        log.append(numbers(0, 700));
        log.high_watermark = 650;
        assert!(log.truncate(300));
        assert!(!log.truncate(300));
        assert_eq!((log.end(), log.high_watermark), (300, 300));
        log.append(numbers(300, 520));
        assert_eq!(values(&log, 299, 301), ["299", "300"]);
        assert_eq!(values(&log, 511, 513), ["511", "512"]);
        let whole: u64 = numbers(0, 520).map(|record| size(&record)).sum();
        assert_eq!(log.bytes(), whole);
    }

    #[test]
    fn the_log_knows_where_its_epochs_begin() {
        let entries = |log: &Log| -> Vec<(i32, Offset)> {
            log.epochs().entries().iter().map(|entry| (entry.epoch, entry.offset)).collect()
        };
        let mut leader = Log::default();
        leader.lead(0, numbers(0, 3));
        leader.begin_epoch(1);
        leader.begin_epoch(3);
        leader.lead(3, numbers(3, 5));
        assert_eq!(entries(&leader), [(0, 0), (3, 3)]);
        let mut follower = Log::default();
        follower.append(leader.records(0, 5).cloned());
        assert_eq!(entries(&follower), entries(&leader));
        assert!(follower.truncate(3));
        assert_eq!(entries(&follower), [(0, 0)]);
        leader.high_watermark = 5;
        assert!(leader.retain(0));
        assert_eq!(entries(&leader), [(3, 5)]);
    }

    #[test]
    fn retention_moves_the_start_over_what_is_committed() {
        let mut log = Log::default();
        log.append(numbers(1_000, 2_000));
        log.high_watermark = 900;
        assert!(!log.retain(30_000));
        assert!(log.retain(30 * 400));
        assert_eq!((log.start(), log.end(), log.bytes()), (600, 1_000, 12_000));
        assert_eq!(log.get(599), None);
        assert_eq!(values(&log, 0, 601), ["1600"]);
        assert!(log.retain(0));
        assert_eq!(log.start(), 900);
        log.restart(5_000);
        assert_eq!((log.start(), log.end(), log.bytes()), (5_000, 5_000, 0));
    }
}
