//! Small parts that every region uses.

mod icon;
mod menu;

pub use icon::Icon;
pub use menu::{Item, MenuButton};
