//! Rules of the log of a partition and its replicas, pure [spec kafka-zk.md §9]; and what a broker
//! of any kind does with logs: `store` keeps them, `manager` serves them, `follow` copies them,
//! `purgatory` keeps who waits, `offsets` those of groups.

pub mod acks;
pub mod checkpoint;
pub mod epoch_cache;
mod follow;
pub mod high_watermark;
pub mod isr;
pub mod manager;
pub mod offsets;
mod purgatory;
pub mod store;
#[cfg(test)]
mod tests;
