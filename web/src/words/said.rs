//! A sentence: a text and its values, not yet in any form.

use std::fmt::Display;

use yew::prelude::*;

use crate::i18n::{Key, Lang, rich};

#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub key: Key,
    pub values: Vec<(&'static str, String)>,
}

impl Said {
    pub fn new(key: Key, values: &[(&'static str, &dyn Display)]) -> Said {
        let values = values.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Said { key, values }
    }

    fn values(&self) -> Vec<(&str, &dyn Display)> {
        self.values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect()
    }

    /// Within a sentence: a text of ours begins small, a name stays as it is.
    pub fn inner(&self, lang: Lang) -> Html {
        rich(&lower(lang, &lang.t(self.key)), &self.values())
    }

    pub fn html(&self, lang: Lang) -> Html {
        lang.rich(self.key, &self.values())
    }
}

/// The first letter small, unless it begins a name. Chinese has no such letters, only names.
fn lower(lang: Lang, text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if lang == Lang::En && !text.starts_with("ZooKeeper") => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_within_another_begins_small() {
        assert_eq!(lower(Lang::En, "The session of **%{who}** expires"), {
            "the session of **%{who}** expires"
        });
        assert_eq!(lower(Lang::En, "ZooKeeper removes `%{path}`"), "ZooKeeper removes `%{path}`");
        assert_eq!(lower(Lang::En, "**%{who}** pings"), "**%{who}** pings");
        assert_eq!(lower(Lang::Zh, "Topic **%{topic}** 已删除"), "Topic **%{topic}** 已删除");
        assert_eq!(lower(Lang::En, ""), "");
    }
}
