//! The znodes that Kafka keeps its state in. [spec kafka-zk.md §1]

use crate::zk::op::Path;

pub const BROKERS: &str = "/brokers";
pub const BROKER_IDS: &str = "/brokers/ids";
pub const TOPICS: &str = "/brokers/topics";
pub const CONTROLLER: &str = "/controller";
pub const CONTROLLER_EPOCH: &str = "/controller_epoch";
pub const ADMIN: &str = "/admin";
pub const DELETE_TOPICS: &str = "/admin/delete_topics";

/// What every cluster has before the first broker registers, parents first.
pub const PERSISTENT: [&str; 5] = [BROKERS, BROKER_IDS, TOPICS, ADMIN, DELETE_TOPICS];

pub fn broker(id: u32) -> Path {
    format!("{BROKER_IDS}/{id}").into()
}

pub fn topic(topic: &str) -> Path {
    format!("{TOPICS}/{topic}").into()
}

/// The textbook's ephemeral count of led partitions. [product.md T3]
pub fn topic_provider(topic: &str, broker: u32) -> Path {
    format!("{TOPICS}/{topic}/{broker}").into()
}

pub fn partitions(topic: &str) -> Path {
    format!("{TOPICS}/{topic}/partitions").into()
}

pub fn partition(topic: &str, partition: u32) -> Path {
    format!("{TOPICS}/{topic}/partitions/{partition}").into()
}

pub fn state(topic: &str, partition: u32) -> Path {
    format!("{TOPICS}/{topic}/partitions/{partition}/state").into()
}

pub fn delete_topic(topic: &str) -> Path {
    format!("{DELETE_TOPICS}/{topic}").into()
}
