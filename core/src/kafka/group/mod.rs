//! Groups with a coordinator.

pub mod assignor;
