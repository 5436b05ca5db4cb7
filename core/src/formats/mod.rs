//! What the real tools print, made from views.

pub mod describe;
