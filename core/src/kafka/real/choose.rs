//! Who leads, by strategy, as the controller asks for it. [spec kafka-zk.md §5]

use std::collections::BTreeSet;

use super::context::{Context, Leadership, Part};
use crate::kafka::election::{self, Brokers, Elected, Partition, Rules};
use crate::kafka::release::Release;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    Offline,
    Preferred,
    ControlledShutdown,
    /// Its replicas have moved: those of the assignment are in sync.
    Reassign,
}

/// Brokers that live, the leaving ones too, as the elections take them.
pub fn live(context: &Context) -> BTreeSet<u32> {
    context.live.keys().copied().collect()
}

/// `None`: nobody can lead, or nothing needs to change. `unclean`: that is allowed.
pub fn choose(
    (strategy, release): (Strategy, Release),
    (live, leaving): (&BTreeSet<u32>, &BTreeSet<u32>),
    part: &Part,
    before: &Leadership,
    unclean: bool,
) -> Option<Elected> {
    let rules = if release == Release::V0_8_2_2 { Rules::V0_8 } else { Rules::V2 };
    let (assignment, isr, leader) = (&part.assignment, &before.isr, before.leader);
    let wanted = match strategy {
        Strategy::Offline => election::Strategy::Offline { unclean },
        Strategy::Preferred => election::Strategy::Preferred,
        Strategy::Reassign => election::Strategy::Reassign { targets: assignment },
        Strategy::ControlledShutdown => election::Strategy::ControlledShutdown,
    };
    // [L1]
    let leads = strategy == Strategy::Preferred && leader == assignment.first().copied();
    if leads && !release.rewrites_preferred_leaders() {
        return None;
    }
    let partition = Partition { assignment, isr, leader };
    election::choose(rules, wanted, partition, Brokers { live, leaving }).ok()
}

/// Whether no member of the ISR is online.
pub fn needs_unclean(context: &Context, isr: &[u32]) -> bool {
    !isr.iter().any(|id| context.is_online(*id))
}
