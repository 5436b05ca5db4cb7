//! Texts in the person's language. Keys are constants made from `locales/en` by `build.rs`.
//!
//! In a text, `%{name}` is a value, `**…**` is bold and `` `…` `` is code. Values are put in after
//! the marks were read, so that a path with asterisks in it stays a path.

mod rich;
#[cfg(test)]
mod tests;

use std::fmt::Display;

use yew::prelude::*;

pub use rich::rich;

/// The name of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(&'static str);

pub mod k {
    //! One constant a text.
    use super::Key;

    include!(concat!(env!("OUT_DIR"), "/keys.rs"));
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    En,
    Zh,
}

impl Lang {
    pub const fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh-CN",
        }
    }

    pub fn parse(tag: &str) -> Lang {
        if tag.to_ascii_lowercase().starts_with("zh") { Lang::Zh } else { Lang::En }
    }

    pub const fn other(self) -> Lang {
        match self {
            Lang::En => Lang::Zh,
            Lang::Zh => Lang::En,
        }
    }

    /// A text without values.
    pub fn t(self, key: Key) -> AttrValue {
        raw(self, key).into()
    }

    /// A text with its values, as plain text.
    pub fn fill(self, key: Key, values: &[(&str, &dyn Display)]) -> String {
        rich::plain(&raw(self, key), values)
    }

    /// A text with its values, with its bold and code parts.
    pub fn rich(self, key: Key, values: &[(&str, &dyn Display)]) -> Html {
        rich(&raw(self, key), values)
    }
}

/// A text whose key is computed (lesson texts, names of invariants); `None` if there is none.
pub fn lookup(lang: Lang, key: &str) -> Option<String> {
    crate::_rust_i18n_try_translate(lang.tag(), key).map(String::from)
}

fn raw(lang: Lang, key: Key) -> String {
    lookup(lang, key.0).unwrap_or_else(|| key.0.to_owned())
}

#[hook]
pub fn use_lang() -> Lang {
    use_context::<Lang>().unwrap_or_default()
}
