//! Brokers, controller and tools as the real releases do them, write by write. What differs
//! between releases is in [`super::release`].

mod boot;
pub mod broker;
pub mod choose;
pub mod context;
pub mod controller;
pub mod fiber;
pub mod metadata;
pub mod msg;
mod records;
pub mod registry;
pub mod replicas;
pub mod scala;
pub mod task;
pub mod tool;
mod writer;

use crate::base::Rng;

pub use broker::Broker;
pub use tool::Tool;

/// A random id as Kafka writes them: 16 bytes in base64 for URLs, 22 characters.
pub fn uuid(rng: &mut Rng) -> String {
    use base64::Engine;
    let mut bytes = [0_u8; 16];
    bytes[..8].copy_from_slice(&rng.next_u64().to_be_bytes());
    bytes[8..].copy_from_slice(&rng.next_u64().to_be_bytes());
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}
