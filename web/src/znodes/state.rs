//! What this region remembers. No browser here.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZnodesUi {}

#[derive(Clone, Debug, PartialEq)]
pub enum ZnodesAction {}

impl ZnodesUi {
    pub fn apply(&mut self, action: ZnodesAction) {
        match action {}
    }
}
