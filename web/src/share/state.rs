//! What this region remembers. No browser here.

use kafkascope_core::script::ScriptError;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareUi {
    /// Why the last link or file could not be opened.
    pub broken: Option<Broken>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// A file's name; a link has none.
    pub file: Option<String>,
    pub error: ScriptError,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ShareAction {
    Broken(Broken),
    Opened,
}

impl ShareUi {
    pub fn apply(&mut self, action: ShareAction) {
        self.broken = match action {
            ShareAction::Broken(broken) => Some(broken),
            ShareAction::Opened => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafkascope_core::script;

    #[test]
    fn what_opens_clears_what_did_not() {
        let mut ui = ShareUi::default();
        let error = script::parse("nonsense").expect_err("not a script");
        ui.apply(ShareAction::Broken(Broken { file: None, error }));
        assert!(ui.broken.is_some());
        ui.apply(ShareAction::Opened);
        assert_eq!(ui, ShareUi::default());
    }
}
