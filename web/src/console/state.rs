//! What this region remembers. No browser here.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsoleUi {}

#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleAction {}

impl ConsoleUi {
    pub fn apply(&mut self, action: ConsoleAction) {
        match action {}
    }
}
