//! The consumers that coordinate through ZooKeeper: the textbook's and those of 0.8.

pub mod assign;
pub mod pattern;
