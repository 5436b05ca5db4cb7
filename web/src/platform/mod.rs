//! The browser: storage, media queries, clipboard, files, address. Only here and in components.

pub mod address;
pub mod files;
pub mod measure;
pub mod media;
pub mod storage;
