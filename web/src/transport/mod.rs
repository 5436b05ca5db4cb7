//! Play, steps, speed, clock, branches, and the timeline.

mod controls;
mod marks;
mod timeline;

pub use controls::{Transport, branch_name};
