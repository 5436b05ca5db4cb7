//! **kafkascope-core**: a deterministic model of the coordination inside Apache Kafka and
//! ZooKeeper. Knows no browser, clock, thread, file or network.

pub mod base;
pub mod formats;
pub mod invariant;
pub mod kafka;
pub mod lab;
pub mod script;
pub mod sim;
pub mod view;
pub mod world;
pub mod zk;
