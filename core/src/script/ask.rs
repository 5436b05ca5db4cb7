//! Predict, then reveal: what a question's command would lead to, tried on a copy of the run.

use std::fmt;
use std::sync::Arc;

use super::query::{Answer, Query};
use super::{query_groups, settle};
use crate::base::{Instant, Span};
use crate::lab::Lab;
use crate::world::{Command, Who};

/// Events of one look ahead; what needs more isn't a lesson any more.
const BUDGET: u32 = 5_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub key: Arc<str>,
    pub query: Query,
    /// How long after the command; without it, when everything has come to rest.
    pub within: Option<Span>,
    /// What can be chosen; empty: made from the state.
    pub among: Vec<Answer>,
    /// Without it only time passes.
    pub after: Option<Command>,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ask {} {}", self.key, self.query)?;
        if let Some(span) = self.within {
            write!(f, " in {span}")?;
        }
        for (index, answer) in self.among.iter().enumerate() {
            write!(f, " {} {answer}", if index == 0 { "among" } else { "|" })?;
        }
        match &self.after {
            Some(command) => write!(f, " after {command}"),
            None => Ok(()),
        }
    }
}

/// The run as it will be when the question's answer is read off.
pub fn foresee(lab: &Lab, ask: &Ask) -> Lab {
    let mut run = lab.run().clone();
    run.commands.truncate(lab.world().commands_done as usize);
    let mut copy = Lab::new(run);
    copy.seek(lab.now());
    if let Some(command) = &ask.after
        && copy.submit(command.clone()).is_err()
    {
        return copy;
    }
    let config = &lab.run().config;
    match ask.within {
        Some(span) => {
            let _ = copy.advance(lab.now() + span, BUDGET);
        }
        None => {
            // Longer than any session lives on without its client.
            let timeout = config.session_timeout_ms.max(config.client_timeout_ms).unsigned_abs();
            let longest = u64::from(timeout) + 2 * u64::from(config.tick_ms);
            let _ = copy.advance(lab.now() + Span::from_millis(longest), BUDGET);
            settle(&mut copy, Span::from_secs(1));
        }
    }
    copy
}

/// What a person can choose from: what the script names, or what the state makes plausible. The
/// answer is always among it.
pub fn options(lab: &Lab, ask: &Ask, answer: &Answer) -> Vec<Answer> {
    let mut options = match ask.among.is_empty() {
        true => plausible(lab, &ask.query),
        false => ask.among.clone(),
    };
    let mut seen: Vec<Answer> = Vec::new();
    options.retain(|option| {
        let new = !seen.contains(option);
        seen.push(option.clone());
        new
    });
    if !options.contains(answer) {
        options.push(answer.clone());
    }
    if let Query::Expired(_) = ask.query {
        options.sort_by_key(|option| match option {
            Answer::Text(text) => micros(text),
            _ => u64::MAX,
        });
    }
    options
}

fn plausible(lab: &Lab, query: &Query) -> Vec<Answer> {
    let now = query.ask(lab);
    match query {
        Query::Session(_) | Query::Znode(_) => vec![Answer::Present, Answer::Absent],
        Query::Controller | Query::Leader(..) => {
            let mut options = items(&Query::Brokers.ask(lab));
            options.push(Answer::None);
            options
        }
        Query::Expired(who) => moments(lab, who),
        Query::Group(query) => query_groups::plausible(lab, query),
        Query::Brokers | Query::Isr(..) | Query::Children(_) => without_one(&now),
        _ => vec![now],
    }
}

fn items(answer: &Answer) -> Vec<Answer> {
    match answer {
        Answer::Text(text) => text.split(',').map(|item| Answer::Text(item.into())).collect(),
        _ => Vec::new(),
    }
}

/// The list as it is, and with each of its items gone.
fn without_one(answer: &Answer) -> Vec<Answer> {
    let all = items(answer);
    let mut options = vec![answer.clone()];
    for gone in 0..all.len().min(3) {
        let mut left = all.clone();
        left.remove(gone);
        options.push(Answer::list(left));
    }
    options
}

/// Now; when the timeout is over; the tick of the server after that, and one later.
fn moments(lab: &Lab, who: &Who) -> Vec<Answer> {
    let world = lab.world();
    let Some(index) = world.find(who) else { return Vec::new() };
    let session = world.server.sessions().find(|s| world.owners.get(&s.id) == Some(&index));
    let (Some(session), Answer::Text(heard)) = (session, Query::Heard(who.clone()).ask(lab)) else {
        return Vec::new();
    };
    let heard_ms = match micros(&heard) {
        u64::MAX => 0,
        us => us / 1_000,
    };
    let timeout = u64::from(session.timeout_ms.unsigned_abs());
    let tick = Span::from_millis(u64::from(world.config.tick_ms));
    let exact = Instant(heard_ms * 1_000) + Span::from_millis(timeout);
    let moments = [lab.now(), exact, session.deadline, session.deadline + tick];
    moments.into_iter().map(Answer::moment).collect()
}

/// Seconds such as `12.400` in microseconds; what is no time comes last.
fn micros(seconds: &str) -> u64 {
    super::parse::parse_span(&format!("{seconds}s")).map_or(u64::MAX, |span| span.0)
}
