//! What everything stands on: virtual time, random draws, limits, the digest. Knows nothing else.

pub mod digest;
pub mod limits;
pub mod rng;
pub mod time;

pub use digest::Digest;
pub use rng::Rng;
pub use time::{Instant, Span};
