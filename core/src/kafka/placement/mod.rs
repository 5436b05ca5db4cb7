//! Which broker gets which replica of a new topic, and of partitions added to one. Pure: what a
//! real release draws at random comes in as `start` and `shift`. [spec kafka-zk.md §7]

mod racks;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use racks::{Rack, alternated, place_by_rack};

/// Why a topic can't be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoPartitions,
    NoReplicas,
    TooFewBrokers { replication: u32, brokers: u32 },
}

/// Why brokers with racks, or more partitions, can't be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplaced {
    Refused(Refusal),
    /// Some brokers have a rack and some have none.
    SomeWithoutRack,
    /// The number asked for is not above the present one.
    NotMore,
    /// There is no partition to take the replication factor from.
    NoBase,
}

impl From<Refusal> for Unplaced {
    fn from(refusal: Refusal) -> Unplaced {
        Unplaced::Refused(refusal)
    }
}

/// What is to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub partitions: u32,
    pub replication: u32,
    /// Index of the broker that the round of first replicas begins at: drawn below the number of
    /// brokers, before `shift`.
    pub start: u32,
    /// How far the second replica first stands from the first: drawn as `start`.
    pub shift: u32,
    /// Number of the first partition.
    pub first: u32,
}

impl Wanted {
    /// Both draws are the same where the start is given. [spec kafka-zk.md §7]
    pub fn fixed(partitions: u32, replication: u32, start: u32, first: u32) -> Wanted {
        Wanted { partitions, replication, start, shift: start, first }
    }

    fn checked(&self, brokers: usize) -> Result<Round, Refusal> {
        let brokers = u32::try_from(brokers).unwrap_or(u32::MAX);
        match self {
            Wanted { partitions: 0, .. } => Err(Refusal::NoPartitions),
            Wanted { replication: 0, .. } => Err(Refusal::NoReplicas),
            Wanted { replication, .. } if *replication > brokers => {
                Err(Refusal::TooFewBrokers { replication: *replication, brokers })
            }
            _ => Ok(Round { brokers: u64::from(brokers) }),
        }
    }
}

/// Indices going round the brokers, of which there is at least one.
#[derive(Clone, Copy)]
struct Round {
    brokers: u64,
}

impl Round {
    fn first(self, partition: u64, start: u32) -> usize {
        ((partition + u64::from(start)) % self.brokers) as usize
    }

    /// The broker `1 + distance` after the first one, never the first one itself.
    fn other(self, first: usize, distance: u64) -> usize {
        let others = (self.brokers - 1).max(1);
        ((first as u64 + 1 + distance % others) % self.brokers) as usize
    }

    /// The partitions' numbers, each with how far its followers stand from it: further by one
    /// each time the round of first replicas is full, by the absolute number.
    fn partitions(self, wanted: &Wanted) -> impl Iterator<Item = (u64, u64)> {
        let (first, mut shift) = (u64::from(wanted.first), u64::from(wanted.shift));
        (first..first + u64::from(wanted.partitions)).map(move |partition| {
            if partition > 0 && partition.is_multiple_of(self.brokers) {
                shift += 1;
            }
            (partition, shift)
        })
    }
}

/// Kafka's placement without racks: the first replicas go round the brokers from `start`, the
/// others follow at a distance that grows by one each time the round is full. One list for each
/// partition. [spec kafka-zk.md §7, rack unaware]
pub fn place(brokers: &[u32], wanted: &Wanted) -> Result<Vec<Vec<u32>>, Refusal> {
    let round = wanted.checked(brokers.len())?;
    let placed = round.partitions(wanted).map(|(partition, shift)| {
        let first = round.first(partition, wanted.start);
        let others = (0..u64::from(wanted.replication) - 1)
            .map(|replica| brokers[round.other(first, shift + replica)]);
        std::iter::once(brokers[first]).chain(others).collect()
    });
    Ok(placed.collect())
}

/// A new topic without racks. [spec kafka-zk.md §7]
pub fn assign(
    brokers: &[u32],
    partitions: u32,
    replication: u32,
    start: u32,
    shift: u32,
) -> Result<Vec<Vec<u32>>, Refusal> {
    place(brokers, &Wanted { partitions, replication, start, shift, first: 0 })
}

/// A topic's partitions after it was given `count` of them, those that were there before too. The
/// new ones have as many replicas as partition 0, and begin at the first broker whose id is not
/// below that of its first replica, at the first of all if there is none. 0.8.2 takes `base`, the
/// first partition of its hash map, for partition 0, and that replica's id itself for the index
/// (`by_id`). [spec kafka-zk.md §7, adding partitions]
pub fn add(
    brokers: &[(u32, Rack)],
    existing: &BTreeMap<u32, Vec<u32>>,
    count: u32,
    base: u32,
    by_id: bool,
) -> Result<BTreeMap<u32, Vec<u32>>, Unplaced> {
    let pattern = existing.get(&base).ok_or(Unplaced::NoBase)?;
    let before = existing.len() as u32;
    if count <= before {
        return Err(Unplaced::NotMore);
    }
    let leader = pattern.first().copied().unwrap_or_default();
    let at = || brokers.iter().position(|(id, _)| *id >= leader).unwrap_or(0) as u32;
    let start = if by_id { leader } else { at() };
    let wanted = Wanted::fixed(count - before, pattern.len() as u32, start, before);
    let placed = place_by_rack(brokers, &wanted)?;
    Ok(existing.clone().into_iter().chain((before..).zip(placed)).collect())
}
