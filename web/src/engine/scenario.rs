//! Runs that the page can open by itself.

use kafkascope_core::lab::{Lab, Run};
use kafkascope_core::script;

use crate::i18n::{Key, k};

const STARTUP: &str = include_str!("../../../lessons/startup.scn");

/// Where the run on the page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Scenario(usize),
    /// A link or a file.
    Shared,
    /// By its number.
    Lesson(usize),
}

pub struct Scenario {
    pub id: &'static str,
    pub name: Key,
    pub about: Key,
    make: fn() -> Run,
}

pub const ALL: [Scenario; 3] = [
    Scenario {
        id: "startup",
        name: k::SCENARIO_STARTUP,
        about: k::SCENARIO_STARTUP_ABOUT,
        make: startup,
    },
    Scenario {
        id: "empty",
        name: k::SCENARIO_EMPTY,
        about: k::SCENARIO_EMPTY_ABOUT,
        make: || of("kafkascope 1\nprofile textbook seed 7\n"),
    },
    Scenario {
        id: "dense",
        name: k::SCENARIO_DENSE,
        about: k::SCENARIO_DENSE_ABOUT,
        make: || {
            of("kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..50\n\
                at 3s create topic events partitions 1000 replication 2\n")
        },
    },
];

fn startup() -> Run {
    of(STARTUP)
}

/// Scripts of ours parse; a broken one would give an empty run, and a test looks.
fn of(text: &str) -> Run {
    match script::parse(text) {
        Ok(script) => script::run_of(&script),
        Err(_) => Run::new(kafkascope_core::world::Config::default(), 7),
    }
}

impl Scenario {
    pub fn lab(&self) -> Lab {
        Lab::new((self.make)())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_scenario_is_a_script_that_parses() {
        for scenario in &super::ALL {
            let commands = scenario.lab().run().commands.len();
            assert_eq!(commands == 0, scenario.id == "empty", "{}", scenario.id);
        }
    }
}
