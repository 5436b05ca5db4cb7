//! Named properties, checked from outside after every step. They read the world and what clients
//! saw; they never change anything and no part of the model knows of them.

mod committed;
mod ephemerals;
mod groups;
mod office;
mod states;
mod watches;
mod zxids;

use crate::sim::RowId;
use crate::world::event::{Breach, Severity};
use crate::world::{Fact, Row, World};

/// When a property has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Always,
    /// What the real systems do as well: named whenever it is met.
    Found,
}

/// A property by name. The name is the key of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invariant {
    pub name: &'static str,
    pub kind: Kind,
}

pub const EPHEMERAL_WITH_SESSION: &str = "ephemeral-with-session";
pub const WATCH_ONCE: &str = "watch-once";
pub const EVENT_BEFORE_STATE: &str = "event-before-state";
pub const ZXID_FORWARD: &str = "zxid-forward";
pub const CONTROLLER_HOLDS_OFFICE: &str = "controller-holds-office";
pub const LEADER_IN_ASSIGNMENT: &str = "leader-in-assignment";
pub const ISR_IN_ASSIGNMENT: &str = "isr-in-assignment";
pub const LEADER_EPOCH_FORWARD: &str = "leader-epoch-forward";
pub const ONE_CONTROLLER_AN_EPOCH: &str = "one-controller-an-epoch";
pub const CONTROLLER_EPOCH_FORWARD: &str = "controller-epoch-forward";
pub const DEPOSED_FENCED: &str = "deposed-controller-fenced";
pub const DEPOSED_WROTE: &str = "deposed-controller-wrote";
pub const DEAD_LEADER: &str = "dead-leader";
pub const UNOWNED: &str = "unowned-after-failover";
pub const COMMITTED_IN_ISR: &str = "committed-in-isr";
pub const READ_ONCE: &str = "partition-read-once";
pub const READS_ITS_OWN: &str = "reads-what-it-owns";
pub const ALL_OWNED: &str = "stable-group-reads-all";
pub const OFFSETS_ADVANCE: &str = "offsets-advance";
pub const EXPIRED_READS: &str = "expired-member-reads";
pub const OWNER_BY_HAND: &str = "owner-touched-by-hand";
pub const OWNER_BY_OTHER: &str = "owner-deleted-by-another";
pub const GROUP_BY_HAND: &str = "group-touched-by-hand";
pub const WAITS_FOR_ITSELF: &str = "waits-for-itself";
pub const UNEQUAL_MEMBERS: &str = "unequal-members";
pub const GAVE_UP: &str = "gave-up-and-stayed";

/// All of them, in the order in which the page lists them.
pub const ALL: [Invariant; 26] = [
    Invariant { name: EPHEMERAL_WITH_SESSION, kind: Kind::Always },
    Invariant { name: WATCH_ONCE, kind: Kind::Always },
    Invariant { name: EVENT_BEFORE_STATE, kind: Kind::Always },
    Invariant { name: ZXID_FORWARD, kind: Kind::Always },
    Invariant { name: LEADER_IN_ASSIGNMENT, kind: Kind::Always },
    Invariant { name: ISR_IN_ASSIGNMENT, kind: Kind::Always },
    Invariant { name: LEADER_EPOCH_FORWARD, kind: Kind::Always },
    Invariant { name: ONE_CONTROLLER_AN_EPOCH, kind: Kind::Always },
    Invariant { name: CONTROLLER_EPOCH_FORWARD, kind: Kind::Always },
    Invariant { name: DEPOSED_FENCED, kind: Kind::Always },
    Invariant { name: READ_ONCE, kind: Kind::Always },
    Invariant { name: READS_ITS_OWN, kind: Kind::Always },
    Invariant { name: ALL_OWNED, kind: Kind::Always },
    Invariant { name: OFFSETS_ADVANCE, kind: Kind::Always },
    Invariant { name: CONTROLLER_HOLDS_OFFICE, kind: Kind::Found },
    Invariant { name: DEPOSED_WROTE, kind: Kind::Found },
    Invariant { name: DEAD_LEADER, kind: Kind::Found },
    Invariant { name: UNOWNED, kind: Kind::Found },
    Invariant { name: COMMITTED_IN_ISR, kind: Kind::Found },
    Invariant { name: EXPIRED_READS, kind: Kind::Found },
    Invariant { name: OWNER_BY_HAND, kind: Kind::Found },
    Invariant { name: OWNER_BY_OTHER, kind: Kind::Found },
    Invariant { name: GROUP_BY_HAND, kind: Kind::Found },
    Invariant { name: WAITS_FOR_ITSELF, kind: Kind::Found },
    Invariant { name: UNEQUAL_MEMBERS, kind: Kind::Found },
    Invariant { name: GAVE_UP, kind: Kind::Found },
];

/// How often each was looked at, and what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub checked: u64,
    pub breaches: u32,
    pub last: Option<RowId>,
}

/// The observers' memory. It is part of every checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    pub tallies: [Tally; ALL.len()],
    watches: watches::Watches,
    zxids: zxids::Zxids,
    office: office::Office,
    states: states::States,
    groups: groups::Groups,
}

/// What an observer says about one step.
pub struct Findings {
    pub breaches: Vec<(u16, Breach)>,
    checked: [u32; ALL.len()],
}

impl Findings {
    fn checked(&mut self, name: &'static str) {
        if let Some(at) = index(name) {
            self.checked[at] += 1;
        }
    }

    fn breach(&mut self, name: &'static str, severity: Severity, proc: u16, about: &str) {
        self.breaches.push((proc, Breach { invariant: name, severity, about: about.into() }));
    }
}

fn index(name: &str) -> Option<usize> {
    ALL.iter().position(|invariant| invariant.name == name)
}

impl Checks {
    /// Looks at the step that was just done; `rows` are its rows.
    pub fn observe(&mut self, world: &World, rows: &[Row]) -> Vec<(u16, Breach)> {
        let idle = !world.touched && world.facts.is_empty() && rows.is_empty();
        if idle && !self.groups.is_due(world.now) {
            return Vec::new();
        }
        let mut findings = Findings { breaches: Vec::new(), checked: [0; ALL.len()] };
        ephemerals::check(world, rows, &mut findings);
        committed::check(world, rows, &mut findings);
        self.states.check(world, rows, &mut findings);
        for fact in &world.facts {
            match fact {
                Fact::Asked { proc, session, frame } => {
                    self.watches.asked(*proc, *session, frame);
                }
                Fact::Frame { proc, session, frame } => {
                    self.watches.heard(*proc, *session, frame, &mut findings);
                    self.zxids.heard(*proc, *session, frame, &mut findings);
                }
                Fact::Wrote { .. } => {}
            }
        }
        self.office.check(world, rows, &mut findings);
        self.groups.check(world, rows, &mut findings);
        for (tally, checked) in self.tallies.iter_mut().zip(findings.checked) {
            tally.checked += u64::from(checked);
        }
        findings.breaches
    }

    /// A breach of `name` became row `row`.
    pub fn count(&mut self, name: &str, row: RowId) {
        if let Some(at) = index(name) {
            self.tallies[at].breaches += 1;
            self.tallies[at].last = Some(row);
        }
    }
}
