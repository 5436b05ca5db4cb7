//! The lessons there are: a script, and its texts in each language.

use kafkascope_core::script::texts::{self, Texts};
use kafkascope_core::script::{self, Script, Statement};

use crate::i18n::Lang;

pub struct Entry {
    pub id: &'static str,
    script: &'static str,
    en: &'static str,
    zh: &'static str,
}

macro_rules! lesson {
    ($name:literal) => {
        Entry {
            id: $name,
            script: include_str!(concat!("../../../lessons/", $name, ".scn")),
            en: include_str!(concat!("../../../lessons/", $name, ".en.md")),
            zh: include_str!(concat!("../../../lessons/", $name, ".zh-CN.md")),
        }
    };
}

pub const ALL: [Entry; 8] = [
    lesson!("zookeeper"),
    lesson!("registration"),
    lesson!("three-clocks"),
    lesson!("controller-failover"),
    lesson!("leader-election"),
    lesson!("zombie-controller"),
    lesson!("quick-restart"),
    lesson!("rolling-restart"),
];

impl Entry {
    /// Ours parse; tests see to it.
    pub fn script(&self) -> Option<Script> {
        script::parse(self.script).ok()
    }

    pub fn texts(&self, lang: Lang) -> Texts {
        let text = match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        };
        texts::parse(text).unwrap_or_default()
    }

    /// Title and what it is about, without reading the rest.
    pub fn heading(&self, lang: Lang) -> (&'static str, &'static str) {
        let text = match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        };
        let mut lines = text.lines();
        let title = lines.next().unwrap_or_default().trim_start_matches("# ");
        (title, lines.next().unwrap_or_default())
    }
}

/// Where a script waits for its reader, in order: numbers of its statements.
pub fn pauses(script: &Script) -> Vec<usize> {
    let reads = |statement: &Statement| matches!(statement, Statement::Say(_) | Statement::Ask(_));
    let lines = script.lines.iter().enumerate();
    lines.filter(|(_, line)| reads(&line.statement)).map(|(index, _)| index).collect()
}
