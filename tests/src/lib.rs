pub mod oracle;
pub mod recordings;
pub mod vectors;
