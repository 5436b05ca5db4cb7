//! The lessons there are: a script, and its texts in each language.

use kafkascope_core::script::texts::{self, Texts};
use kafkascope_core::script::{self, Script, Statement};
use kafkascope_core::world::Command;

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

pub const ALL: [Entry; 18] = [
    lesson!("zookeeper"),
    lesson!("registration"),
    lesson!("logs-and-producers"),
    lesson!("groups-register"),
    lesson!("partition-formula"),
    lesson!("owner-locks"),
    lesson!("pull-and-commit"),
    lesson!("ceil-or-floor"),
    lesson!("idle-consumer"),
    lesson!("rebalance-retries"),
    lesson!("counted-twice"),
    lesson!("keys-move"),
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

thread_local! {
    /// The commands of each lesson: asked for with every row of a story.
    static COMMANDS: Vec<Vec<Command>> = ALL.iter().map(commands).collect();
}

fn commands(entry: &Entry) -> Vec<Command> {
    let lines = entry.script().map(|script| script.lines).unwrap_or_default();
    let given = lines.into_iter().filter_map(|line| match line.statement {
        Statement::At(_, command) | Statement::Do(command) => Some(command),
        Statement::Ask(ask) => ask.after,
        _ => None,
    });
    given.collect()
}

/// Whether the lesson's script has this command.
pub fn gives(lesson: usize, command: &Command) -> bool {
    COMMANDS.with(|all| all.get(lesson).is_some_and(|commands| commands.contains(command)))
}
