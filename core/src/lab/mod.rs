//! The laboratory: a run, its branches, and a cursor that goes anywhere in them.
//!
//! Checkpoints are copies of the world; going back is going to the last checkpoint before and
//! playing on from there. The same run gives the same rows, so rows are kept and never made twice.

mod branch;
pub mod run;

use std::sync::Arc;

pub use branch::{Branch, BranchId, Origin};
pub use run::{MODEL, Run};

use crate::base::{Digest, Instant, Span, limits};
use crate::invariant::Checks;
use crate::world::{Command, Refusal, Row, World};

/// How far a step looks for something to happen.
const STEP_HORIZON: Span = Span::from_secs(120);

/// What an advance came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The moment, or the step, that was asked for is reached.
    Reached,
    /// The budget of events is used up: ask again.
    Budget,
    /// Nothing will happen as far as a step looks.
    Nothing,
    /// The run is at its limit of events.
    Limit,
}

pub struct Lab {
    branches: Vec<Branch>,
    current: usize,
    world: World,
    checks: Checks,
    /// Where the cursor stands; nothing happens between the world's last event and here.
    time: Instant,
    /// Rises with every change of what there is to see.
    revision: u64,
}

impl Lab {
    pub fn new(run: Run) -> Lab {
        let branch = Branch::new(run, Origin::Root);
        let world = branch.initial_world();
        let mut lab = Lab {
            branches: vec![branch],
            current: 0,
            world,
            checks: Checks::default(),
            time: Instant::ZERO,
            revision: 0,
        };
        lab.branches[0].keep(&lab.world, &lab.checks);
        lab
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    pub fn now(&self) -> Instant {
        self.time
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn run(&self) -> &Run {
        &self.branch().run
    }

    pub fn branch(&self) -> &Branch {
        &self.branches[self.current]
    }

    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    pub fn current_branch(&self) -> BranchId {
        BranchId(self.current as u32)
    }

    /// The rows up to the cursor.
    pub fn rows(&self) -> &[Row] {
        &self.branch().rows[..self.world.rows_made() as usize]
    }

    /// The rows as far as this branch was ever run.
    pub fn all_rows(&self) -> &[Row] {
        &self.branch().rows
    }

    /// How far this branch was run.
    pub fn explored(&self) -> Instant {
        self.branch().explored_at
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.world.next_at(&self.branch().run.commands)
    }

    /// One event. False if there is none, or no more are allowed.
    fn pop(&mut self) -> bool {
        if self.world.event_no >= limits::EVENTS {
            return false;
        }
        let branch = &mut self.branches[self.current];
        let known = branch.rows.len();
        let first = self.world.rows_made() as usize;
        let mut fresh = Vec::new();
        if !self.world.step(&branch.run.commands, &mut fresh) {
            return false;
        }
        for (proc, breach) in self.checks.observe(&self.world, &fresh) {
            let name = breach.invariant;
            let event = crate::world::Event::Breach(Arc::new(breach));
            self.world.report(&mut fresh, proc, event);
            self.checks.count(name, self.world.last_row());
        }
        let again = known.saturating_sub(first).min(fresh.len());
        debug_assert_eq!(&branch.rows[first..first + again], &fresh[..again], "replay differs");
        branch.rows.extend(fresh.drain(again..));
        branch.popped(&self.world, &self.checks);
        self.time = self.world.now;
        true
    }

    /// Runs to `until`, at most `budget` events of it.
    pub fn advance(&mut self, until: Instant, budget: u32) -> Progress {
        self.revision += 1;
        for _ in 0..budget {
            match self.next_at() {
                Some(at) if at <= until => {
                    if !self.pop() {
                        return Progress::Limit;
                    }
                }
                _ => {
                    self.arrive(until);
                    return Progress::Reached;
                }
            }
        }
        match self.next_at() {
            Some(at) if at <= until => Progress::Budget,
            _ => {
                self.arrive(until);
                Progress::Reached
            }
        }
    }

    fn arrive(&mut self, at: Instant) {
        self.time = self.time.max(at);
        let branch = &mut self.branches[self.current];
        branch.explored_at = branch.explored_at.max(self.time);
    }

    /// Runs to the next row that isn't a detail. If there is none within reach, nothing moves.
    pub fn step(&mut self) -> Progress {
        if !self.something_comes() {
            return Progress::Nothing;
        }
        self.run_until(|lab, rows_before| lab.rows()[rows_before..].iter().any(|row| !row.detail))
    }

    /// Looks ahead on a copy of the world.
    fn something_comes(&self) -> bool {
        let mut scout = self.world.clone();
        let commands = &self.branch().run.commands;
        let horizon = self.time + STEP_HORIZON;
        let mut rows = Vec::new();
        while scout.next_at(commands).is_some_and(|at| at <= horizon) {
            if !scout.step(commands, &mut rows) {
                return false;
            }
            if rows.drain(..).any(|row| !row.detail) {
                return true;
            }
        }
        false
    }

    /// Runs to the next message that is delivered, or command that is done.
    pub fn fine_step(&mut self) -> Progress {
        self.run_until(|lab, rows_before| {
            lab.branch().is_delivery(lab.world.event_no) || lab.rows().len() > rows_before
        })
    }

    fn run_until(&mut self, reached: impl Fn(&Lab, usize) -> bool) -> Progress {
        self.revision += 1;
        let horizon = self.time + STEP_HORIZON;
        loop {
            let rows_before = self.rows().len();
            match self.next_at() {
                None => return Progress::Nothing,
                Some(at) if at > horizon => {
                    return Progress::Nothing;
                }
                Some(_) if !self.pop() => return Progress::Limit,
                Some(_) if reached(self, rows_before) => return Progress::Reached,
                Some(_) => {}
            }
        }
    }

    /// Back to the step before. False at the start.
    pub fn step_back(&mut self) -> bool {
        let here = self.world.event_no;
        let before = self.rows().iter().rev().find(|row| !row.detail && row.event_no < here);
        self.back_to(before.map(|row| row.event_no))
    }

    /// Back to the message before.
    pub fn fine_step_back(&mut self) -> bool {
        let here = self.world.event_no;
        let row = self.rows().iter().rev().find(|row| row.event_no < here).map(|r| r.event_no);
        let delivery = self.branch().delivery_before(here);
        self.back_to(row.max(delivery))
    }

    fn back_to(&mut self, event_no: Option<u64>) -> bool {
        if self.world.event_no == 0 && self.time == Instant::ZERO {
            return false;
        }
        self.seek_event(event_no.unwrap_or(0));
        true
    }

    /// To the state right after event `event_no` of what was run already.
    pub fn seek_event(&mut self, event_no: u64) {
        self.revision += 1;
        self.load(|world| world.event_no <= event_no);
        while self.world.event_no < event_no && self.pop() {}
        self.time = self.world.now;
    }

    /// To a moment, before or after.
    pub fn seek(&mut self, at: Instant) {
        self.revision += 1;
        self.load(|world| world.now <= at);
        while self.next_at().is_some_and(|next| next <= at) && self.pop() {}
        self.time = at;
        let branch = &mut self.branches[self.current];
        branch.explored_at = branch.explored_at.max(at);
    }

    /// The world right after event `event_no` of what was run already; the cursor stays where it
    /// is. `None`: it was not run, or is too far from a checkpoint.
    pub fn peek(&self, event_no: u64) -> Option<World> {
        let branch = self.branch();
        let checkpoint = branch.checkpoint(&|world: &World| world.event_no <= event_no)?;
        let far = event_no.checked_sub(checkpoint.world.event_no)?;
        if far > limits::PEEK_EVENTS || event_no > branch.explored_events {
            return None;
        }
        let (mut world, mut checks) = (checkpoint.world.clone(), checkpoint.checks.clone());
        let mut rows = Vec::new();
        while world.event_no < event_no && world.step(&branch.run.commands, &mut rows) {
            for (proc, breach) in checks.observe(&world, &rows) {
                let name = breach.invariant;
                let event = crate::world::Event::Breach(Arc::new(breach));
                world.report(&mut rows, proc, event);
                checks.count(name, world.last_row());
            }
            rows.clear();
        }
        Some(world)
    }

    /// Takes the last checkpoint that `fits`, unless the world here is nearer.
    fn load(&mut self, fits: impl Fn(&World) -> bool) {
        let Some(checkpoint) = self.branch().checkpoint(&fits).cloned() else { return };
        if fits(&self.world) && self.world.event_no >= checkpoint.world.event_no {
            return;
        }
        self.world = checkpoint.world.clone();
        self.checks = checkpoint.checks.clone();
    }

    /// To the row `row` of this branch.
    pub fn seek_row(&mut self, row: u32) {
        if let Some(event_no) = self.all_rows().get(row as usize).map(|row| row.event_no) {
            self.seek_event(event_no);
        }
    }

    /// Whether a command could be done at the cursor.
    pub fn check(&self, command: &Command) -> Result<(), Refusal> {
        self.world.check(command)
    }

    /// A person asks for something at the cursor. In the past of what was run, this forks: the
    /// branch that was is kept. A command that can't be done is refused and changes nothing.
    pub fn submit(&mut self, command: Command) -> Result<Option<BranchId>, Refusal> {
        self.world.check(&command)?;
        self.submit_anyway(command)
    }

    /// As a script does it: a command that can't be done becomes a row that says so.
    pub fn submit_anyway(&mut self, command: Command) -> Result<Option<BranchId>, Refusal> {
        let limit = limits::COMMANDS as u64;
        if self.run().commands.len() as u64 >= limit {
            let what = crate::world::command::Counted::Commands;
            return Err(Refusal::TooMany { what, limit });
        }
        self.revision += 1;
        let forked = self.fork_if_past();
        // What was taken out at this moment came before.
        let at = match self.world.event_no {
            0 => self.time,
            _ => self.time.max(self.world.now + Span(1)),
        };
        let done = self.world.commands_done as usize;
        self.branches[self.current].insert(done, at, command);
        self.time = self.time.max(at);
        let _ = self.advance(at, u32::MAX);
        Ok(forked)
    }

    /// Where nothing but pings lies ahead, there is nothing to keep.
    fn fork_if_past(&mut self) -> Option<BranchId> {
        let branch = self.branch();
        if self.world.event_no >= branch.explored_events {
            return None;
        }
        let ahead = &branch.rows[self.world.rows_made() as usize..];
        if ahead.iter().all(|row| row.detail) {
            let origin = branch.origin;
            self.branches[self.current] = branch.fork(origin, &self.world);
            return None;
        }
        let origin = Origin::Fork { from: self.current_branch(), at: self.time };
        let fork = branch.fork(origin, &self.world);
        self.branches.push(fork);
        self.current = self.branches.len() - 1;
        Some(self.current_branch())
    }

    /// Shows another branch, at the same moment as far as it was run.
    pub fn switch(&mut self, branch: BranchId) {
        let index = branch.0 as usize;
        if index >= self.branches.len() || index == self.current {
            return;
        }
        self.current = index;
        let at = self.time.min(self.branch().explored_at);
        let Some(first) = self.branch().checkpoint(&|world: &World| world.event_no == 0).cloned()
        else {
            return;
        };
        self.world = first.world.clone();
        self.checks = first.checks.clone();
        self.seek(at);
    }

    /// The first row in which two branches differ, as the index of both.
    pub fn first_difference(&self, a: BranchId, b: BranchId) -> Option<usize> {
        let (a, b) = (self.branches.get(a.0 as usize)?, self.branches.get(b.0 as usize)?);
        let common = a.rows.iter().zip(&b.rows).take_while(|(x, y)| x == y).count();
        (common < a.rows.len() || common < b.rows.len()).then_some(common)
    }

    /// The fingerprint of the rows so far and of the state at the cursor.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for row in self.rows() {
            digest.u64(row.at.0);
            digest.u64(row.event_no);
            digest.u64(u64::from(row.cause.0));
            digest.u64(u64::from(row.proc));
            digest.text(&format!("{:?}", row.event));
        }
        self.world.digest(&mut digest);
        digest.finish()
    }
}
