//! Who leads a partition: pure functions of assignment, ISR and brokers. `first` and `elect` are
//! the textbook's, and a new partition's; what a release's controller decides is `choose`.

mod strategy;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use strategy::{
    Brokers, Elected, NotElected, Partition, Rules, Strategy, choose, told, without,
};

/// What a partition should look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `None`: nobody of the ISR lives.
    pub leader: Option<u32>,
    pub isr: Vec<u32>,
}

/// A new partition: the first live replica leads, the live ones are the ISR. `None` while none
/// lives. [spec kafka-zk.md T1]
pub fn first(assignment: &[u32], live: &BTreeSet<u32>) -> Option<Choice> {
    let isr: Vec<u32> = assignment.iter().copied().filter(|id| live.contains(id)).collect();
    isr.first().copied().map(|leader| Choice { leader: Some(leader), isr })
}

/// A leader that lives stays; else the first replica of the assignment that lives and is in the
/// ISR takes over. The dead leave the ISR, but its last member stays even when it is dead: only it
/// may lead again. [spec kafka-zk.md §5, T3]
pub fn elect(assignment: &[u32], isr: &[u32], leader: Option<u32>, live: &BTreeSet<u32>) -> Choice {
    let alive: Vec<u32> = isr.iter().copied().filter(|id| live.contains(id)).collect();
    let leader = leader
        .filter(|id| live.contains(id))
        .or_else(|| assignment.iter().copied().find(|id| alive.contains(id)));
    let isr = if alive.is_empty() { isr.to_vec() } else { alive };
    Choice { leader, isr }
}
