//! The differential test: random sequences of operations on a real ZooKeeper and on ours, with
//! every frame of every client compared, and at the end the whole tree.
//!
//! Compared to the letter: the frames of each connection in their order (replies with all fields
//! but the times, zxids of replies, pongs and events, children in the order in which the server
//! lists them), the ends of connections, the nodes with their stats, data and lists, the sessions
//! with their ephemerals. Every sequence starts with a fresh server, so zxids are compared as they
//! are; ids of sessions are named in the order of their opening.
//!
//! Not compared, since the real server leaves it open: the order between different connections;
//! the order of getEphemerals (a concurrent set); the events that a session's own expiry would
//! bring to its own connection, since the cut of it races with them.

mod agent;
mod draw;
mod jute;
mod model;
mod player;
mod real;
mod seen;
mod shrink;
mod tools;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kafkascope_core::zk::op::Release;
use kafkascope_core::zk::server::Mutation;

use agent::Agent;
use draw::Drawn;
use model::Model;
use player::{Observed, Player, Side, Step};
use real::Real;
use tools::Tools;

/// Operations of a sequence, without those that open its first sessions.
const OPERATIONS: usize = 40;
/// Short, so that an expiry takes little time.
const TICK_MS: u32 = 25;
/// The timeout of a client that is to expire: the least that the server grants. Far above what a
/// request takes, or the session would be gone too early.
const SHORT_MS: i32 = 150;
const MAX_MS: i32 = 60_000;
/// Sequences that run at a time for one release. An expiry leaves the processor idle.
const WORKERS: u64 = 2;
/// After so many failing sequences the rest is not worth the time.
const FAILURES: usize = 3;
/// How often a sequence is played again because a session expired before its time.
const TRIES: u32 = 5;

/// Why a sequence could not be played.
#[derive(Debug)]
pub enum Trouble {
    /// The machine was so slow that a session expired before its client could speak.
    Timing,
    Broken(String),
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        Trouble::Broken(error.to_string())
    }
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub release: Release,
    pub first_seed: u64,
    pub sequences: u64,
    /// A rule of ours that is broken on purpose.
    pub mutation: Option<Mutation>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    pub sequences: u64,
    pub operations: u64,
    /// Sequences that were played again because the machine was too slow.
    pub repeated: u64,
    pub took: Duration,
    /// Each ready to be read by a person.
    pub failures: Vec<String>,
}

/// Runs a plan; an error is the reason why this machine can't.
pub fn run(plan: &Plan, work: &Path) -> Result<Report, String> {
    let began = Instant::now();
    let tools = tools::prepare(plan.release, work)?;
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(plan.sequences) {
            scope.spawn(|| work_off(plan, &tools, &next, &stop, &report));
        }
    });
    let mut report = report.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    report.took = began.elapsed();
    Ok(report)
}

/// One worker: its own Java process, and seeds until there are no more or too many have failed.
fn work_off(
    plan: &Plan,
    tools: &Tools,
    next: &AtomicU64,
    stop: &AtomicBool,
    report: &Mutex<Report>,
) {
    // A rule that is broken on purpose needs to be noticed once.
    let enough = if plan.mutation.is_some() { 1 } else { FAILURES };
    let note = |failure: String| {
        let mut report = report.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        report.failures.push(failure);
        stop.store(report.failures.len() >= enough, Ordering::Relaxed);
    };
    let mut agent = match Agent::start(tools) {
        Ok(agent) => agent,
        Err(trouble) => return note(format!("{}: {trouble:?}", plan.release.name())),
    };
    while !stop.load(Ordering::Relaxed) {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= plan.sequences {
            return;
        }
        let seed = plan.first_seed.wrapping_add(at);
        let mut bench = Bench { plan, agent: &mut agent, repeated: 0 };
        let failure = bench.sequence(seed);
        let repeated = bench.repeated;
        {
            let mut report = report.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            report.sequences += 1;
            report.operations += OPERATIONS as u64;
            report.repeated += u64::from(repeated > 0);
        }
        if let Err(failure) = failure {
            note(format!("ZooKeeper {}, seed {seed}: {failure}", plan.release.name()));
        }
    }
}

/// Where ours and the real server part.
struct Difference {
    step: usize,
    what: String,
    ours: Vec<String>,
    real: Vec<String>,
}

struct Bench<'a> {
    plan: &'a Plan,
    agent: &'a mut Agent,
    repeated: u32,
}

impl Bench<'_> {
    /// Draws, plays and compares the sequence of a seed.
    fn sequence(&mut self, seed: u64) -> Result<(), String> {
        let said = |trouble: Trouble| format!("can not be played: {trouble:?}");
        let drawn = draw::draw(seed, self.plan.release, self.plan.mutation).map_err(said)?;
        let Some(found) = self.compare(&drawn).map_err(said)? else { return Ok(()) };
        let small = shrink::shrink(&drawn, |less| matches!(self.compare(less), Ok(Some(_))));
        let found = match self.compare(&small) {
            Ok(Some(less)) => less,
            _ => return Err(shrink::tell(&drawn, &found)),
        };
        Err(shrink::tell(&small, &found))
    }

    fn compare(&mut self, drawn: &Drawn) -> Result<Option<Difference>, Trouble> {
        let (ours, our_contents) = self.ours(drawn)?;
        let (real, real_contents) = loop {
            match self.real(drawn, &ours) {
                Err(Trouble::Timing) if self.repeated < TRIES => self.repeated += 1,
                played => break played?,
            }
        };
        for (step, (ours, real)) in ours.into_iter().zip(real).enumerate() {
            if ours.lines != real {
                let what = shrink::words(&drawn.steps[step]);
                return Ok(Some(Difference { step, what, ours: ours.lines, real }));
            }
        }
        let step = drawn.steps.len();
        let what = "the nodes and sessions at the end".into();
        let differs = our_contents != real_contents;
        let (ours, real) = (our_contents, real_contents);
        Ok(differs.then_some(Difference { step, what, ours, real }))
    }

    fn ours(&self, drawn: &Drawn) -> Result<(Vec<Observed>, Vec<String>), Trouble> {
        let model = Model::new(self.plan.release, self.plan.mutation);
        let mut player = Player::new(model, drawn.slots, self.plan.release);
        let steps = drawn.steps.iter().map(|step| player.step(step, None));
        let observed = steps.collect::<Result<_, _>>()?;
        Ok((observed, player.contents()?))
    }

    /// Stops where the real server parts from ours: what follows would say nothing.
    fn real(
        &mut self,
        drawn: &Drawn,
        ours: &[Observed],
    ) -> Result<(Vec<Vec<String>>, Vec<String>), Trouble> {
        let real = Real::new(self.agent)?;
        let mut player = Player::new(real, drawn.slots, self.plan.release);
        let mut all = Vec::new();
        for (step, expected) in drawn.steps.iter().zip(ours) {
            let lines = play(&mut player, step, expected)?;
            let parts = lines != expected.lines;
            all.push(lines);
            if parts {
                return Ok((all, Vec::new()));
            }
        }
        Ok((all, player.contents()?))
    }
}

/// A server that breaks the protocol is a difference, not the end of the test.
fn play(
    player: &mut Player<impl Side>,
    step: &Step,
    expected: &Observed,
) -> Result<Vec<String>, Trouble> {
    match player.step(step, Some(expected)) {
        Ok(observed) => Ok(observed.lines),
        Err(Trouble::Timing) => Err(Trouble::Timing),
        Err(Trouble::Broken(why)) => Ok(vec![format!("not played: {why}")]),
    }
}
