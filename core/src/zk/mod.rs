//! ZooKeeper: one server and its clients, as 3.4.6, 3.5.9, 3.8.4 and 3.9.5 do it. Knows no Kafka.

pub mod acl;
pub mod client;
pub mod hold;
pub mod java;
pub mod op;
pub mod path;
pub mod server;
pub mod session;
pub mod shell;
pub mod size;
pub mod tree;
pub mod txn;
pub mod vote;
pub mod watch;
pub mod watcher;
