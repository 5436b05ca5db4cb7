//! Recordings of the real systems, and how a replay is compared with them. The contract is
//! `tests/recordings/README.md`.

pub mod collect;
pub mod command;
pub mod damage;
pub mod diff;
pub mod judge;
pub mod python;
