//! The whole input of a run.

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

    pub fn is_too_long(&self) -> bool {
        self.commands.len() > limits::COMMANDS
    }
}
