//! The run on the page: owns the laboratory, plays it, and tells regions what changed.

mod driver;
mod handle;
mod pace;
pub mod scenario;

pub use driver::Goal;
pub use handle::{Engine, use_clock, use_engine, use_flow, use_world};
pub use pace::Speed;
