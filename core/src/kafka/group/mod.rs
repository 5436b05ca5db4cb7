//! Groups with a coordinator.

pub mod assignor;
pub mod reconcile;
pub mod vote;
