//! What the page itself remembers: nothing of the run, which is the engine's. No browser here, so
//! all of it is tested natively.

mod action;
mod reduce;
mod ui;

pub use action::UiAction;
pub use ui::{Dialog, DockTab, Menu, NarrowTab, Selected, StoryFilter, Theme, UiState};
