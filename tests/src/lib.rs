pub mod recordings;
pub mod vectors;
