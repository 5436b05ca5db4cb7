//! Playing a script in a laboratory, statement by statement.

use std::sync::Arc;

use super::query::Answer;
use super::{Ask, Expectation, Line, Script, Statement, transcript};
use crate::base::{Instant, Span, limits};
use crate::lab::{Lab, Progress, Run};
use crate::world::{Command, Event, Refusal};

/// Events of one statement; what needs more isn't a lesson any more.
const BUDGET: u32 = 5_000_000;

/// Where the player waits for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    Say(Arc<str>),
    Ask(Ask),
    /// An expectation does not hold.
    Failed {
        line: u32,
        expected: Arc<str>,
        got: Arc<str>,
    },
    End,
}

pub struct Player {
    lines: Vec<Line>,
    next: usize,
    refused: Option<Refusal>,
}

impl Player {
    pub fn new(script: &Script) -> Player {
        Player { lines: script.lines.clone(), next: 0, refused: None }
    }

    /// A laboratory as the script starts it.
    pub fn lab(script: &Script) -> Lab {
        let mut run = Run::new(script.config.clone(), script.seed);
        run.model = script.model;
        Lab::new(run)
    }

    /// Plays on to the next thing that somebody has to read or answer.
    pub fn advance(&mut self, lab: &mut Lab) -> Pause {
        while let Some(line) = self.lines.get(self.next).cloned() {
            self.next += 1;
            match line.statement {
                Statement::At(at, command) => {
                    let _ = lab.advance(at, BUDGET);
                    self.submit(lab, command);
                }
                Statement::Do(command) => self.submit(lab, command),
                Statement::Wait(span) => {
                    let until = lab.now() + span;
                    let _ = lab.advance(until, BUDGET);
                }
                Statement::Settle(span) => settle(lab, span),
                Statement::Say(key) => return Pause::Say(key),
                Statement::Ask(ask) => return Pause::Ask(ask),
                Statement::Expect(expectation) => {
                    if let Some((expected, got)) = self.broken(lab, &expectation) {
                        return Pause::Failed { line: line.number, expected, got };
                    }
                }
            }
        }
        Pause::End
    }

    fn submit(&mut self, lab: &mut Lab, command: Command) {
        self.refused = lab.check(&command).err();
        let _ = lab.submit_anyway(command);
    }

    /// The command that the last script statement gave, if it was refused.
    pub fn refused(&self) -> Option<&Refusal> {
        self.refused.as_ref()
    }

    fn broken(&self, lab: &Lab, expectation: &Expectation) -> Option<(Arc<str>, Arc<str>)> {
        match expectation {
            Expectation::Is(query, answer) => {
                let got = query.ask(lab);
                let line = |answer: &Answer| Arc::from(format!("{query} = {answer}"));
                (got != *answer).then(|| (line(answer), line(&got)))
            }
            Expectation::Refused => {
                self.refused.is_none().then(|| ("refused".into(), "done".into()))
            }
            Expectation::Breach(name) => breach(lab, name.as_deref()),
            Expectation::Printed(text) => {
                let last = lab.rows().iter().rev().find_map(|row| match &row.event {
                    Event::Printed { text, .. } => Some(text.clone()),
                    _ => None,
                });
                let got = last.unwrap_or_default();
                let wanted: Arc<str> = format!("printed {text}").into();
                (!got.contains(&**text)).then(|| (wanted, format!("printed {got}").into()))
            }
        }
    }
}

fn breach(lab: &Lab, name: Option<&str>) -> Option<(Arc<str>, Arc<str>)> {
    let found = lab.rows().iter().rev().find_map(|row| match &row.event {
        Event::Breach(breach) if name.is_none_or(|name| name == breach.invariant) => {
            Some(breach.clone())
        }
        _ => None,
    });
    match (name, found) {
        (None, Some(breach)) => {
            let got = format!("breach {} ({})", breach.invariant, breach.about);
            Some(("breach none".into(), got.into()))
        }
        (Some(name), None) => Some((format!("breach {name}").into(), "breach none".into())),
        _ => None,
    }
}

/// Runs until nothing has changed for `span`.
pub fn settle(lab: &mut Lab, span: Span) {
    let begun = lab.now();
    let last = begun + Span::from_secs(limits::WAIT_SECS);
    loop {
        let until = lab.world().last_change.max(begun) + span;
        if lab.now() >= until.min(last) || lab.advance(until.min(last), BUDGET) == Progress::Limit {
            return;
        }
    }
}

/// What a script came to.
pub struct Outcome {
    pub lab: Lab,
    pub transcript: Vec<String>,
    /// Expectations that do not hold, with their line.
    pub failures: Vec<(u32, String)>,
}

/// Plays a whole script, past everything that waits for a reader.
pub fn check(script: &Script, detail: bool) -> Outcome {
    let mut lab = Player::lab(script);
    let mut player = Player::new(script);
    let mut failures = Vec::new();
    loop {
        match player.advance(&mut lab) {
            Pause::End => break,
            Pause::Failed { line, expected, got } => {
                failures.push((line, format!("expected {expected}, got {got}")));
            }
            Pause::Ask(Ask { after: Some(after), .. }) => player.submit(&mut lab, after),
            Pause::Say(_) | Pause::Ask(_) => {}
        }
    }
    let transcript = transcript::lines(&lab, detail);
    Outcome { lab, transcript, failures }
}

/// The run that a script describes, with every command at its moment.
pub fn run_of(script: &Script) -> Run {
    let only_moments = |line: &Line| match &line.statement {
        Statement::At(at, command) => Some((*at, Arc::new(command.clone()))),
        _ => None,
    };
    let timed: Option<Vec<(Instant, Arc<Command>)>> =
        script.lines.iter().map(only_moments).collect();
    match timed {
        Some(commands) => {
            let mut run = Run::new(script.config.clone(), script.seed);
            run.model = script.model;
            run.commands = commands;
            run
        }
        None => check(script, false).lab.run().clone(),
    }
}
