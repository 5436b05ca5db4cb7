//! What the command `kafkascope` does, for tests as well.

pub mod commands;
pub mod replay;
