//! What this region remembers: which folders the person opened or closed. No browser here.

use std::collections::BTreeMap;
use std::sync::Arc;

use kafkascope_core::zk::path;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZnodesUi {
    /// Folders that were opened (true) or closed by hand; the others are as their size says.
    pub folds: BTreeMap<Arc<str>, bool>,
    /// The row that the arrow keys stand on.
    pub focus: Option<Arc<str>>,
    /// The side panel is wide, and most of it is the tree's.
    pub large: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ZnodesAction {
    Fold(Arc<str>, bool),
    Focus(Arc<str>),
    /// Opens every folder above a node.
    Reveal(Arc<str>),
    ToggleLarge,
}

impl ZnodesUi {
    pub fn apply(&mut self, action: ZnodesAction) {
        match action {
            ZnodesAction::Fold(folder, open) => {
                self.folds.insert(folder, open);
            }
            ZnodesAction::Focus(node) => self.focus = Some(node),
            ZnodesAction::Reveal(node) => {
                let mut at = &*node;
                while let Some(parent) = path::parent(at).filter(|parent| !parent.is_empty()) {
                    self.folds.insert(parent.into(), true);
                    at = parent;
                }
                self.focus = Some(node);
            }
            ZnodesAction::ToggleLarge => self.large = !self.large,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revealing_opens_what_is_above() {
        let mut ui = ZnodesUi::default();
        ui.apply(ZnodesAction::Fold("/a/b".into(), false));
        ui.apply(ZnodesAction::Reveal("/a/b/c".into()));
        let open: Vec<&str> = ui.folds.iter().filter(|(_, open)| **open).map(|f| &**f.0).collect();
        assert_eq!(open, ["/a", "/a/b"]);
        assert_eq!(ui.focus.as_deref(), Some("/a/b/c"));
    }
}
