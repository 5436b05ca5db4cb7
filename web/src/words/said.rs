//! A sentence: a text and its values, not yet in any form.

use std::fmt::Display;

use yew::prelude::*;

use crate::i18n::{Key, Lang};

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

    pub fn html(&self, lang: Lang) -> Html {
        lang.rich(self.key, &self.values())
    }
}
