//! The browser: storage, media queries, clipboard, files, address. Only here and in components.

pub mod media;
pub mod storage;
