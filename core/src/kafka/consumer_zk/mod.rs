//! The consumers that coordinate through ZooKeeper: the textbook's and those of 0.8.

pub mod assign;
pub mod connector;
pub mod event;
pub mod pattern;
pub mod spec;

pub use connector::Connector;
