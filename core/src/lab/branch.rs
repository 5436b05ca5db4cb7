//! A branch: one run, the rows it has made so far, and checkpoints along it.

use std::sync::Arc;

use super::run::Run;
use crate::base::{Instant, limits};
use crate::invariant::Checks;
use crate::world::{Command, Row, World};

/// Events between two checkpoints.
const EVERY: u64 = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId(pub u32);

/// Where a branch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Root,
    Fork { from: BranchId, at: Instant },
}

pub struct Checkpoint {
    pub world: World,
    pub checks: Checks,
}

pub struct Branch {
    pub origin: Origin,
    pub run: Run,
    pub rows: Vec<Row>,
    pub explored_events: u64,
    pub explored_at: Instant,
    /// Which commands a person gave at the cursor; the others belong to the scenario.
    typed: Vec<bool>,
    checkpoints: Vec<Arc<Checkpoint>>,
    /// Event numbers of deliveries, rising.
    deliveries: Vec<u64>,
}

impl Branch {
    pub fn new(run: Run, origin: Origin) -> Branch {
        let typed = vec![false; run.commands.len()];
        Branch {
            origin,
            run,
            rows: Vec::new(),
            explored_events: 0,
            explored_at: Instant::ZERO,
            typed,
            checkpoints: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    pub fn initial_world(&self) -> World {
        self.run.world()
    }

    pub fn keep(&mut self, world: &World, checks: &Checks) {
        let checkpoint = Checkpoint { world: world.clone(), checks: checks.clone() };
        self.checkpoints.push(Arc::new(checkpoint));
        let weight: usize = self.checkpoints.iter().map(|c| c.world.weight()).sum();
        if weight > limits::CHECKPOINT_BYTES {
            self.thin();
        }
    }

    /// Drops every second checkpoint of the older half; the first one always stays.
    fn thin(&mut self) {
        let half = self.checkpoints.len() / 2;
        let mut index = 0;
        self.checkpoints.retain(|_| {
            index += 1;
            index > half || index % 2 == 1
        });
    }

    /// Keeps the books after an event; only what is new counts.
    pub fn popped(&mut self, world: &World, checks: &Checks) {
        if world.event_no <= self.explored_events {
            return;
        }
        self.explored_events = world.event_no;
        self.explored_at = self.explored_at.max(world.now);
        if world.delivered {
            self.deliveries.push(world.event_no);
        }
        if world.event_no.is_multiple_of(EVERY) {
            self.keep(world, checks);
        }
    }

    /// The last checkpoint that `fits`; what fits comes before what doesn't.
    pub fn checkpoint(&self, fits: &impl Fn(&World) -> bool) -> Option<&Arc<Checkpoint>> {
        let count = self.checkpoints.partition_point(|checkpoint| fits(&checkpoint.world));
        self.checkpoints.get(count.checked_sub(1)?)
    }

    pub fn is_delivery(&self, event_no: u64) -> bool {
        self.deliveries.binary_search(&event_no).is_ok()
    }

    pub fn delivery_before(&self, event_no: u64) -> Option<u64> {
        let count = self.deliveries.partition_point(|no| *no < event_no);
        self.deliveries.get(count.checked_sub(1)?).copied()
    }

    /// Puts a person's command in after those that are done, at its moment.
    pub fn insert(&mut self, done: usize, at: Instant, command: Command) {
        let later = self.run.commands[done..].partition_point(|(other, _)| *other <= at);
        self.run.commands.insert(done + later, (at, Arc::new(command)));
        self.typed.insert(done + later, true);
    }

    /// A new branch that shares everything up to `world`. What the scenario still has in store
    /// stays to come; what a person did later does not.
    pub fn fork(&self, origin: Origin, world: &World) -> Branch {
        let done = world.commands_done as usize;
        let stays = |index: &usize| *index < done || !self.typed[*index];
        let kept: Vec<usize> = (0..self.run.commands.len()).filter(stays).collect();
        let mut run = self.run.clone();
        run.commands = kept.iter().map(|index| self.run.commands[*index].clone()).collect();
        let here = world.event_no;
        let checkpoints = self.checkpoints.partition_point(|c| c.world.event_no <= here);
        let deliveries = self.deliveries.partition_point(|no| *no <= here);
        Branch {
            origin,
            run,
            rows: self.rows[..world.rows_made() as usize].to_vec(),
            explored_events: here,
            explored_at: world.now,
            typed: kept.iter().map(|index| self.typed[*index]).collect(),
            checkpoints: self.checkpoints[..checkpoints].to_vec(),
            deliveries: self.deliveries[..deliveries].to_vec(),
        }
    }

    /// Which of the run's commands a person gave.
    pub fn is_typed(&self, index: usize) -> bool {
        self.typed.get(index).copied().unwrap_or(false)
    }
}
