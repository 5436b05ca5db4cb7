//! Brokers, controller and tools as the real releases do them, write by write. What differs
//! between releases is in [`super::release`].

pub mod task;
