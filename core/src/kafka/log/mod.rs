//! Rules of the log of a partition and its replicas. Pure. [spec kafka-zk.md §9]

pub mod acks;
pub mod epoch_cache;
pub mod high_watermark;
pub mod isr;
pub mod store;
