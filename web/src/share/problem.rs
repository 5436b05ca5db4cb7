//! What is wrong with a link or a file, in the person's language.

use kafkascope_core::script::{Problem, ScriptError};

use crate::i18n::{Key, Lang, k};

/// With the place: line and column count from 1.
pub fn located(lang: Lang, error: &ScriptError) -> String {
    let what = problem(lang, &error.problem);
    match error.problem {
        // Of the whole text, not of a place in it.
        Problem::BrokenLink | Problem::TooLarge { .. } | Problem::NotAScript => what,
        _ => lang.fill(
            k::SHARE_PLACE,
            &[("line", &error.line), ("column", &error.column), ("what", &what)],
        ),
    }
}

/// Without the place.
pub fn problem(lang: Lang, problem: &Problem) -> String {
    match problem {
        Problem::NotAScript => lang.t(k::SCRIPT_NOT_A_SCRIPT).to_string(),
        Problem::NewerVersion(given) => lang.fill(k::SCRIPT_NEWER, &[("given", given)]),
        Problem::TooLarge { limit } => lang.fill(k::SCRIPT_LARGE, &[("limit", limit)]),
        Problem::TooManyCommands { limit } => lang.fill(k::SCRIPT_MANY, &[("limit", limit)]),
        Problem::UnknownWord { given, expected } => {
            let expected = phrase(lang, expected);
            lang.fill(k::SCRIPT_UNKNOWN, &[("given", given), ("expected", &expected)])
        }
        Problem::Missing(what) => lang.fill(k::SCRIPT_MISSING, &[("what", &phrase(lang, what))]),
        Problem::Superfluous(given) => lang.fill(k::SCRIPT_SUPERFLUOUS, &[("given", given)]),
        Problem::NotANumber(given) => lang.fill(k::SCRIPT_NOT_A_NUMBER, &[("given", given)]),
        Problem::NotATime(given) => lang.fill(k::SCRIPT_NOT_A_TIME, &[("given", given)]),
        Problem::OutOfRange { given, low, high } => {
            lang.fill(k::SCRIPT_RANGE, &[("given", given), ("low", low), ("high", high)])
        }
        Problem::BadName(given) => lang.fill(k::SCRIPT_BAD_NAME, &[("given", given)]),
        Problem::BadPattern(given) => lang.fill(k::SCRIPT_BAD_PATTERN, &[("given", given)]),
        Problem::BadOption(given) => lang.fill(k::SCRIPT_BAD_OPTION, &[("given", given)]),
        Problem::TimeGoesBack { given, before } => {
            lang.fill(k::SCRIPT_BACK, &[("given", given), ("before", before)])
        }
        Problem::SettingAfterCommand => lang.t(k::SCRIPT_SETTING_LATE).to_string(),
        Problem::ControlCharacter(code) => {
            lang.fill(k::SCRIPT_CONTROL, &[("code", &format!("U+{code:04X}"))])
        }
        Problem::BrokenLink => lang.t(k::SCRIPT_BROKEN_LINK).to_string(),
    }
}

/// What the grammar expects. Its own words are the same in every language.
fn phrase(lang: Lang, what: &'static str) -> String {
    known(what).map_or_else(|| what.to_owned(), |key| lang.t(key).to_string())
}

fn known(what: &str) -> Option<Key> {
    Some(match what {
        "a broker id" => k::PHRASE_BROKER_ID,
        "a client" => k::PHRASE_CLIENT,
        "a command" => k::PHRASE_COMMAND,
        "a host" => k::PHRASE_HOST,
        "a moment" => k::PHRASE_MOMENT,
        "a name" => k::PHRASE_NAME,
        "a partition such as orders-0" => k::PHRASE_PARTITION,
        "a path" => k::PHRASE_PATH,
        "an entity, such as topics/t" => k::PHRASE_ENTITY,
        "how many partitions there are then" => k::PHRASE_TOTAL,
        "the brokers of each partition" => k::PHRASE_ASSIGNMENT,
        "key=value" => k::PHRASE_PAIR,
        "a profile" => k::PHRASE_PROFILE,
        "a question" => k::PHRASE_QUESTION,
        "a rack" => k::PHRASE_RACK,
        "a release of ZooKeeper" => k::PHRASE_RELEASE,
        "a seed" => k::PHRASE_SEED,
        "a session timeout" => k::PHRASE_TIMEOUT,
        "a setting" => k::PHRASE_SETTING,
        "a shell command" => k::PHRASE_SHELL,
        "a statement" => k::PHRASE_STATEMENT,
        "a topic" => k::PHRASE_TOPIC,
        "a value" => k::PHRASE_VALUE,
        "an answer" => k::PHRASE_ANSWER,
        "exactly one command" => k::PHRASE_ONE_COMMAND,
        "how long" => k::PHRASE_SPAN,
        "how many partitions" => k::PHRASE_PARTITIONS,
        "none, or the name of an invariant" => k::PHRASE_INVARIANT,
        "the key of a text" => k::PHRASE_KEY,
        "the model" => k::PHRASE_MODEL,
        "the name of a setting" => k::PHRASE_SETTING_NAME,
        "the replication factor" => k::PHRASE_REPLICATION,
        "the version" => k::PHRASE_VERSION,
        "what is expected" => k::PHRASE_EXPECTED,
        "at, do, wait, settle, expect, say, ask, set, profile, model, or a command" => {
            k::PHRASE_STATEMENTS
        }
        _ => return None,
    })
}
