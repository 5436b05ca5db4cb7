//! The logs of a broker, which outlive its process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kafka::data::{Offset, Record};
use crate::kafka::msg::TopicPartition;

/// What the store's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A waiting fetch's time is over.
    Waited,
}

/// What happens to a log, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Appended {
        broker: u32,
        tp: TopicPartition,
        from: Offset,
        count: u32,
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
}

/// A folder `T-P`. [product.md T6]
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The first offset that is still there.
    pub start: Offset,
    pub records: Vec<Record>,
    pub high_watermark: Offset,
}

impl Log {
    /// LEO, the next offset to be written.
    pub fn end(&self) -> Offset {
        self.start + self.records.len() as Offset
    }
}

#[derive(Clone, Debug, Default)]
pub struct Store {
    pub logs: BTreeMap<TopicPartition, Arc<Log>>,
}
