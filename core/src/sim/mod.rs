//! The machinery of a run: the queue of events, links between processes, the trace of rows.
//! Knows neither ZooKeeper nor Kafka.

pub mod link;
pub mod queue;
pub mod trace;

pub use link::{Link, Links, Verdict};
pub use queue::{Class, Queue};
pub use trace::{Row, RowId};
