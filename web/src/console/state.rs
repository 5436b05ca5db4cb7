//! What this region remembers: which client is typed at, and what was typed. No browser here.

use std::sync::Arc;

use kafkascope_core::world::command::CONSOLE;

/// Lines that the arrow keys reach.
const HISTORY: usize = 500;

#[derive(Clone, Debug, PartialEq)]
pub struct ConsoleUi {
    /// The plain client whose shell is shown.
    pub client: Arc<str>,
    /// Lines that were typed, the oldest first, whoever they were for.
    pub history: Vec<Arc<str>>,
    /// What stands in the field while the region is not shown.
    pub draft: Arc<str>,
    /// The whole scrollback is shown.
    pub whole: bool,
}

impl Default for ConsoleUi {
    fn default() -> Self {
        ConsoleUi { client: CONSOLE.into(), history: Vec::new(), draft: "".into(), whole: false }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleAction {
    Choose(Arc<str>),
    Typed(Arc<str>),
    Draft(Arc<str>),
    ShowWhole,
}

impl ConsoleUi {
    pub fn apply(&mut self, action: ConsoleAction) {
        match action {
            ConsoleAction::Choose(client) => {
                self.client = client;
                self.whole = false;
            }
            ConsoleAction::Typed(line) => {
                // The same line twice is one entry, as in every shell.
                if self.history.last() != Some(&line) {
                    self.history.push(line);
                }
                let surplus = self.history.len().saturating_sub(HISTORY);
                self.history.drain(..surplus);
                self.draft = "".into();
            }
            ConsoleAction::Draft(text) => self.draft = text,
            ConsoleAction::ShowWhole => self.whole = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_is_bounded_and_has_no_doubles() {
        let mut ui = ConsoleUi::default();
        for index in 0..600 {
            ui.apply(ConsoleAction::Typed(format!("get /{}", index / 2).into()));
        }
        assert_eq!(ui.history.len(), 300);
        for index in 0..600 {
            ui.apply(ConsoleAction::Typed(format!("ls /{index}").into()));
        }
        assert_eq!(ui.history.len(), HISTORY);
        assert_eq!(ui.history.last().map(|line| &**line), Some("ls /599"));
    }
}
