//! Scripts: one grammar for scenarios, lessons, tests, saved files and links.

mod ask;
mod clients;
pub mod link;
mod parse;
mod play;
mod print;
pub mod query;
mod query_groups;
mod task;
pub mod texts;
pub mod transcript;
mod transcript_clients;

pub use ask::{Ask, foresee, options};
pub use parse::{parse, parse_command, parse_query};
pub use play::{Outcome, Pause, Player, check, run_of, settle};
pub use print::print;
pub use query::{Answer, Query};
pub use query_groups::GroupQuery;

use std::fmt;
use std::sync::Arc;

use crate::base::{Instant, Span};
use crate::world::{Command, Config};

/// The version of the grammar, on the first line.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub model: u32,
    pub seed: u64,
    pub config: Config,
    pub lines: Vec<Line>,
    /// What stands below `----`, line by line.
    pub expected: Option<Vec<Arc<str>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: u32,
    pub statement: Statement,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// At a moment of the run.
    At(Instant, Command),
    /// Where the script stands.
    Do(Command),
    Wait(Span),
    /// Until nothing has changed for so long.
    Settle(Span),
    Expect(Expectation),
    /// A text by key.
    Say(Arc<str>),
    /// Predict; the answer is computed on a copy of the run.
    Ask(Ask),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    Is(Query, Answer),
    /// The last command was refused.
    Refused,
    /// An observer found this, or (`None`) nothing at all.
    Breach(Option<Arc<str>>),
    /// The last thing that a shell printed contains this.
    Printed(Arc<str>),
}

/// What is wrong with a script, and where: line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    pub line: u32,
    pub column: u32,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The first line is not `kafkascope 1`.
    NotAScript,
    NewerVersion(Arc<str>),
    TooLarge {
        limit: u64,
    },
    TooManyCommands {
        limit: u64,
    },
    UnknownWord {
        given: Arc<str>,
        expected: &'static str,
    },
    Missing(&'static str),
    Superfluous(Arc<str>),
    NotANumber(Arc<str>),
    NotATime(Arc<str>),
    OutOfRange {
        given: u64,
        low: u64,
        high: u64,
    },
    BadName(Arc<str>),
    /// Not a regular expression as consumers take them.
    BadPattern(Arc<str>),
    /// Not a setting with a value that it takes.
    BadOption(Arc<str>),
    TimeGoesBack {
        given: Instant,
        before: Instant,
    },
    SettingAfterCommand,
    ControlCharacter(u32),
    BrokenLink,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotAScript => f.write_str("a script begins with the line `kafkascope 1`"),
            Problem::NewerVersion(given) => {
                write!(f, "version `{given}` of the grammar is not known here, only {VERSION}")
            }
            Problem::TooLarge { limit } => write!(f, "longer than {limit} bytes"),
            Problem::TooManyCommands { limit } => write!(f, "more than {limit} commands"),
            Problem::UnknownWord { given, expected } => {
                write!(f, "`{given}` is not known here; expected {expected}")
            }
            Problem::Missing(what) => write!(f, "the line ends before {what}"),
            Problem::Superfluous(given) => write!(f, "`{given}` is more than the line takes"),
            Problem::NotANumber(given) => write!(f, "`{given}` is not a whole number"),
            Problem::NotATime(given) => {
                write!(f, "`{given}` is not a time such as 2s, 1500ms or 12.4s")
            }
            Problem::OutOfRange { given, low, high } => {
                write!(f, "{given} is not between {low} and {high}")
            }
            Problem::BadName(given) => {
                write!(f, "`{given}` is not a name: letters, digits, `.`, `_` and `-` only")
            }
            Problem::BadPattern(given) => write!(f, "`{given}` is not a pattern of topics"),
            Problem::BadOption(given) => {
                write!(f, "`{given}` is not a setting with a value that it takes")
            }
            Problem::TimeGoesBack { given, before } => {
                write!(f, "{given} s lies before {before} s of the line above")
            }
            Problem::SettingAfterCommand => f.write_str("settings come before the first command"),
            Problem::ControlCharacter(code) => write!(f, "control character U+{code:04X}"),
            Problem::BrokenLink => f.write_str("the link is damaged: its text can't be unpacked"),
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.problem)
    }
}
