//! The reducer: pure, total, and without a browser.

use std::rc::Rc;

use yew::Reducible;

use super::{DockTab, NarrowTab, Selected, UiAction, UiState};
use crate::share::ShareAction;

impl Reducible for UiState {
    type Action = UiAction;

    fn reduce(self: Rc<Self>, action: UiAction) -> Rc<Self> {
        let mut next = (*self).clone();
        next.apply(action);
        if next == *self { self } else { next.into() }
    }
}

impl UiState {
    pub fn apply(&mut self, action: UiAction) {
        match action {
            UiAction::SetLang(lang) => self.lang = lang,
            UiAction::SetTheme(theme) => self.theme = theme,
            UiAction::Toggle(selected) => {
                let same = self.selected.as_ref() == Some(&selected);
                self.selected = None;
                if !same {
                    self.select(selected);
                }
            }
            UiAction::Select(selected) => self.select(selected),
            UiAction::ToggleMenu(menu) => {
                self.menu = (self.menu.as_ref() != Some(&menu)).then_some(menu);
            }
            UiAction::CloseMenu => self.menu = None,
            UiAction::OpenDialog(dialog) => {
                self.menu = None;
                self.dialog = Some(dialog);
            }
            UiAction::CloseDialog => _ = self.close_dialog(),
            UiAction::ToggleDock(tab) => match self.dock == Some(tab) {
                true => {
                    self.dock = None;
                    self.narrow = NarrowTab::default();
                }
                false => self.show_dock(tab),
            },
            UiAction::ShowDock(tab) => self.show_dock(tab),
            UiAction::ShowNarrow(tab) => match tab {
                NarrowTab::Dock(dock) => self.show_dock(dock),
                tab => self.narrow = tab,
            },
            UiAction::FilterStory(filter) => {
                self.menu = None;
                self.story = filter;
            }
            UiAction::Compare(comparison) => {
                self.menu = None;
                self.comparison = comparison;
                if self.comparison.is_some() {
                    self.show_dock(DockTab::Compare);
                }
            }
            UiAction::Escape => self.escape(),
            UiAction::Znodes(action) => self.znodes.apply(action),
            UiAction::Console(action) => self.console.apply(action),
            UiAction::Lesson(action) => self.lesson.apply(action),
            UiAction::Share(action) => self.share.apply(action),
            UiAction::Logs(action) => self.logs.apply(action),
            UiAction::OwnershipGroup(name) => self.ownership.group = Some(name),
            UiAction::Suppose(change) => self.ownership.change = change,
        }
    }

    fn select(&mut self, selected: Selected) {
        // What has details shows them; a step and a message tell theirs where they stand.
        if let Selected::Znode(_) | Selected::Proc(_) | Selected::Partition(..) = selected {
            self.show_dock(DockTab::Znode);
        }
        self.selected = Some(selected);
    }

    fn show_dock(&mut self, tab: DockTab) {
        self.dock = Some(tab);
        self.narrow = NarrowTab::Dock(tab);
    }

    fn escape(&mut self) {
        if self.menu.take().is_none() && !self.close_dialog() {
            self.selected = None;
        }
    }

    /// What could not be opened has been read with that.
    fn close_dialog(&mut self) -> bool {
        self.share.apply(ShareAction::Opened);
        self.dialog.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialog, Menu};
    use super::*;

    fn after(actions: &[UiAction]) -> UiState {
        let mut state = UiState::default();
        for action in actions {
            state.apply(action.clone());
        }
        state
    }

    #[test]
    fn escape_closes_one_thing_at_a_time() {
        let select = UiAction::Select(Selected::Proc(2));
        let dialog = UiAction::OpenDialog(Dialog::AddBroker);
        let menu = UiAction::ToggleMenu(Menu::Speed);
        let mut state = after(&[select, dialog, menu]);
        state.apply(UiAction::Escape);
        assert!(state.menu.is_none() && state.dialog.is_some());
        state.apply(UiAction::Escape);
        assert!(state.dialog.is_none() && state.selected.is_some());
        state.apply(UiAction::Escape);
        assert!(state.selected.is_none());
    }

    #[test]
    fn selecting_twice_takes_it_back() {
        let row = UiAction::Toggle(Selected::Row(3));
        assert_eq!(after(std::slice::from_ref(&row)).selected, Some(Selected::Row(3)));
        assert_eq!(after(&[row.clone(), row]).selected, None);
    }

    #[test]
    fn what_has_details_shows_them() {
        let partition = Selected::Partition("orders".into(), 0);
        for selected in [Selected::Znode("/a".into()), Selected::Proc(2), partition] {
            let state = after(&[UiAction::Toggle(selected)]);
            assert_eq!(state.dock, Some(DockTab::Znode));
            assert_eq!(state.narrow, NarrowTab::Dock(DockTab::Znode));
        }
        for selected in [Selected::Row(3), Selected::Flight(4)] {
            assert_eq!(after(&[UiAction::Select(selected)]).dock, None);
        }
    }

    #[test]
    fn at_most_one_menu_is_open() {
        let speed = UiAction::ToggleMenu(Menu::Speed);
        assert_eq!(after(&[speed.clone(), speed.clone()]).menu, None);
        let state = after(&[speed, UiAction::ToggleMenu(Menu::Branches)]);
        assert_eq!(state.menu, Some(Menu::Branches));
    }
}
