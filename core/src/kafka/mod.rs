//! Kafka as a client of ZooKeeper: brokers, the controller, topics. Of `zk` it knows only the
//! protocol's words, the client and paths.

pub mod admin;
pub mod broker;
pub mod consumer_zk;
pub mod controller;
pub mod data;
pub mod election;
pub mod event;
pub mod group;
pub mod log;
pub mod msg;
pub mod partitioner;
pub mod paths;
pub mod payload;
pub mod placement;
pub mod producer;
pub mod real;
pub mod release;
pub mod settings;

pub use event::Event;
pub use msg::{Msg, TopicPartition};
