//! What can happen to the page. What happens to the run goes to the engine instead.

use std::rc::Rc;
use std::sync::Arc;

use super::ui::{Dialog, DockTab, Menu, NarrowTab, Selected, StoryFilter, Theme};
use crate::compare::Comparison;
use crate::console::ConsoleAction;
use crate::i18n::Lang;
use crate::lessons::LessonAction;
use crate::logs::LogsAction;
use crate::share::ShareAction;
use crate::znodes::ZnodesAction;

#[derive(Clone, Debug, PartialEq)]
pub enum UiAction {
    SetLang(Lang),
    SetTheme(Theme),
    /// Selecting what is selected already takes the selection away.
    Toggle(Selected),
    Select(Selected),
    /// Opens a menu, or closes it if it is the open one.
    ToggleMenu(Menu),
    CloseMenu,
    OpenDialog(Dialog),
    CloseDialog,
    ToggleDock(DockTab),
    ShowDock(DockTab),
    ShowNarrow(NarrowTab),
    FilterStory(StoryFilter),
    /// Shows what came out differently, or forgets it.
    Compare(Option<Rc<Comparison>>),
    /// Closes the topmost thing: menu, dialog, selection.
    Escape,
    Znodes(ZnodesAction),
    Console(ConsoleAction),
    Lesson(LessonAction),
    Share(ShareAction),
    Logs(LogsAction),
    /// Which group the panel shows.
    OwnershipGroup(Arc<str>),
    /// What is supposed there.
    Suppose(Option<crate::ownership::Change>),
}
