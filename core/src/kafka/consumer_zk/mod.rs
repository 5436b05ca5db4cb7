//! The consumers that coordinate through ZooKeeper: the textbook's and those of 0.8.

pub mod assign;
pub mod connector;
pub mod event;
mod fetch;
mod look;
mod member;
pub mod nodes;
mod offsets;
pub mod pattern;
mod rebalance;
pub mod spec;
pub mod task;

pub use connector::Connector;
