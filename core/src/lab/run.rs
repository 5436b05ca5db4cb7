//! The whole input of a run.

use std::sync::Arc;

use crate::base::limits;
use crate::world::{Config, Timed, World};

/// Rises whenever the model does something else on the same input.
pub const MODEL: u32 = 1;

/// Same run and same model: same rows and same digest, on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The model that the run was written for.
    pub model: u32,
    pub seed: u64,
    pub config: Config,
    /// In the order of their moments.
    pub commands: Vec<Timed>,
}

impl Run {
    pub fn new(config: Config, seed: u64) -> Run {
        Run { model: MODEL, seed, config, commands: Vec::new() }
    }

    pub fn world(&self) -> World {
        World::new(self.config.clone(), self.seed)
    }

    /// The same commands, told to a cluster of another profile or release. What both have, each
    /// does in its own way; what the other one lacks stays, and becomes a row that says so.
    /// Settings that a person changed go along, defaults become the other's own.
    pub fn told_to(&self, mut config: Config) -> Run {
        config.keep_changes_of(&self.config);
        let commands = self.commands.iter().map(|(at, command)| {
            let retold = command.retold(config.profile);
            (*at, retold.map_or_else(|| command.clone(), Arc::new))
        });
        let commands = commands.collect();
        Run { model: self.model, seed: self.seed, config, commands }
    }

    pub fn is_too_long(&self) -> bool {
        self.commands.len() > limits::COMMANDS
    }
}
