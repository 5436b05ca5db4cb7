//! ZooKeeper: one server and its clients, as 3.4.6, 3.5.9, 3.8.4 and 3.9.5 do it. Knows no Kafka.

pub mod client;
pub mod op;
