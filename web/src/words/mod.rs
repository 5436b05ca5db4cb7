//! What things are called. Every region takes its words from here, so that the page has one voice.

mod clients;
mod event;
mod kafka;
mod refusal;
mod said;
pub mod seen;
mod zk;

pub use event::{icon, sentence};
pub use refusal::refusal;
pub use said::Said;

use kafkascope_core::lab::Branch;
use kafkascope_core::sim::RowId;
use kafkascope_core::world::proc::{Kind, Proc};
use kafkascope_core::world::{Event, Row, Who};

use crate::engine::scenario::Origin;
use crate::i18n::{Lang, k};
use crate::lessons;

/// A process by name, as within a sentence.
pub fn proc(lang: Lang, proc: &Proc) -> String {
    match &proc.kind {
        Kind::ZooKeeper => "ZooKeeper".to_owned(),
        Kind::Broker(id) => lang.fill(k::WHO_BROKER, &[("id", id)]),
        Kind::Impostor(id, host) => lang.fill(k::WHO_IMPOSTOR, &[("id", id), ("host", host)]),
        Kind::Client(name) => name.to_string(),
        Kind::Admin => "kafka-topics".to_owned(),
        Kind::Consumer(name) | Kind::Producer(name) => name.to_string(),
    }
}

/// A process by its number.
pub fn proc_at(lang: Lang, procs: &[Proc], index: u16) -> String {
    procs.get(usize::from(index)).map_or_else(|| "?".to_owned(), |found| proc(lang, found))
}

pub fn who(lang: Lang, who: &Who) -> String {
    match who {
        Who::ZooKeeper => "ZooKeeper".to_owned(),
        Who::Broker(id) => lang.fill(k::WHO_BROKER, &[("id", id)]),
        Who::Machine(id, host) => lang.fill(k::WHO_IMPOSTOR, &[("id", id), ("host", host)]),
        Who::Client(name) | Who::Consumer(name) | Who::Producer(name) => name.to_string(),
    }
}

/// The first letter large, as at the start of a sentence.
pub fn upper(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A few of many names: `a, b, c` or `a, b and 7 more`.
pub fn list(lang: Lang, names: &[String]) -> String {
    const SHOWN: usize = 4;
    let joint = lang.t(k::WHO_JOINT);
    if names.len() <= SHOWN {
        return names.join(&joint);
    }
    let first = names[..SHOWN - 1].join(&joint);
    lang.fill(k::WHO_MORE, &[("first", &first), ("n", &(names.len() + 1 - SHOWN))])
}

/// Ids as Kafka lists them.
pub fn ids(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    format!("[{}]", ids.join(", "))
}

/// What `sentence` needs beside the row.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub procs: &'a [Proc],
    /// Who gave the command of this row.
    pub giver: Giver,
    /// Within a sentence: names begin small.
    pub inner: bool,
}

/// Who gave a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Giver {
    You,
    #[default]
    Scenario,
    Lesson,
}

/// Whether a row is a command, done or refused.
pub fn is_command(row: &Row) -> bool {
    matches!(row.event, Event::Commanded(_) | Event::Refused(_))
}

/// Who gave a row's command; what is no command counts as the scenario's.
pub fn giver(branch: &Branch, rows: &[Row], row: usize, origin: Origin) -> Giver {
    if !rows.get(row).is_some_and(is_command) {
        return Giver::Scenario;
    }
    let before = rows[..row].iter().filter(|row| is_command(row)).count();
    giver_of(branch, before, origin)
}

/// Who gave the branch's command of this number. A lesson gives its own as a person would, so
/// they are told by what they are.
pub fn giver_of(branch: &Branch, number: usize, origin: Origin) -> Giver {
    let typed = branch.is_typed(number);
    match (origin, branch.run.commands.get(number)) {
        (Origin::Lesson(_), _) if !typed => Giver::Lesson,
        (Origin::Lesson(lesson), Some((_, command))) if lessons::gives(lesson, command) => {
            Giver::Lesson
        }
        _ if typed => Giver::You,
        _ => Giver::Scenario,
    }
}

/// The row's chain of causes, itself first.
pub fn chain(rows: &[Row], row: u32) -> Vec<u32> {
    let mut chain = vec![row];
    let mut at = row;
    while let Some(cause) = cause(rows, at) {
        at = cause;
        chain.push(at);
    }
    chain
}

/// A cause lies before its effect, so following it ends.
fn cause(rows: &[Row], at: u32) -> Option<u32> {
    let row = rows.get(at as usize)?;
    let known = Some(row.cause).filter(|cause| *cause != RowId::NONE).map(|cause| cause.0);
    known.filter(|cause| *cause < at)
}

#[cfg(test)]
mod tests {
    use kafkascope_core::base::Instant;
    use kafkascope_core::world::{Command, ZkEvent};

    use super::*;
    use crate::engine::scenario;

    #[test]
    fn a_lesson_gives_its_commands_and_a_person_the_others() {
        let mut lab = scenario::ALL[1].lab();
        let open = |name: &str| Command::OpenClient { name: name.into(), timeout_ms: None };
        for name in ["alice", "mallory"] {
            lab.submit(open(name)).expect("it runs");
        }
        let by = |number, origin| giver_of(lab.branch(), number, origin);
        assert_eq!(by(0, Origin::Lesson(0)), Giver::Lesson);
        assert_eq!(by(1, Origin::Lesson(0)), Giver::You);
        assert_eq!(by(0, Origin::Scenario(1)), Giver::You);
        let startup = scenario::ALL[0].lab();
        assert_eq!(giver_of(startup.branch(), 0, Origin::Scenario(0)), Giver::Scenario);
    }

    #[test]
    fn a_session_expires_because_its_holder_was_killed() {
        let mut lab = scenario::ALL[0].lab();
        let _ = lab.advance(Instant(3_000_000), u32::MAX);
        lab.submit(Command::Kill(Who::Broker(1))).expect("it runs");
        let _ = lab.advance(Instant(12_000_000), u32::MAX);
        let rows = lab.rows();
        let expired = |row: &Row| matches!(row.event, Event::Zk(ZkEvent::SessionExpired { .. }));
        let expiry = rows.iter().position(expired).expect("it expires");
        let chain = chain(rows, u32::try_from(expiry).unwrap());
        let first = &rows[*chain.last().unwrap() as usize].event;
        let kill = Command::Kill(Who::Broker(1));
        assert!(matches!(first, Event::Commanded(command) if **command == kill), "{first:?}");
    }
}
