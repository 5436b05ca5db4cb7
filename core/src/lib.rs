//! **kafkascope-core**: a deterministic model of the coordination inside Apache Kafka and ZooKeeper.
//! Knows no browser, clock, thread, file or network.

pub mod base;
pub mod zk;
