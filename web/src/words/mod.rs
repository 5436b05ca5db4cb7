//! What things are called. Every region takes its words from here, so that the page has one voice.

mod event;
mod kafka;
mod refusal;
mod said;
pub mod seen;
mod zk;

pub use event::{icon, sentence};
pub use refusal::refusal;
pub use said::Said;

use kafkascope_core::sim::RowId;
use kafkascope_core::world::proc::{Kind, Proc};
use kafkascope_core::world::{Event, Row, Who};

use crate::i18n::{Lang, k};

/// A process by name, as within a sentence.
pub fn proc(lang: Lang, proc: &Proc) -> String {
    match &proc.kind {
        Kind::ZooKeeper => "ZooKeeper".to_owned(),
        Kind::Broker(id) => lang.fill(k::WHO_BROKER, &[("id", id)]),
        Kind::Impostor(id, host) => lang.fill(k::WHO_IMPOSTOR, &[("id", id), ("host", host)]),
        Kind::Client(name) => name.to_string(),
        Kind::Admin => "kafka-topics".to_owned(),
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
        Who::Client(name) => name.to_string(),
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
    /// Whether a person gave the command of this row; the scenario gave the others.
    pub yours: bool,
    /// Within a sentence: names begin small.
    pub inner: bool,
}

/// Rows of the story that a person made: counted by the commands before them.
pub fn is_yours(branch: &kafkascope_core::lab::Branch, rows: &[Row], row: usize) -> bool {
    let command = |row: &Row| matches!(row.event, Event::Commanded(_) | Event::Refused(_));
    if !rows.get(row).is_some_and(command) {
        return false;
    }
    let before = rows[..row].iter().filter(|row| command(row)).count();
    branch.is_typed(before)
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
