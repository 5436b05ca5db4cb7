//! Small parts that every region uses.

mod icon;
mod menu;
mod modal;

pub use icon::Icon;
pub use menu::{Item, MenuButton};
pub use modal::Modal;
