//! Where the replicas of new partitions go, with racks and without. [spec kafka-zk.md §7]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kafka::placement::{self, Refusal};

/// A broker and the rack it says it is in.
pub type Racked = (u32, Option<Arc<str>>);

/// How many partitions of how many replicas, and from where the round begins.
pub struct Wanted {
    pub partitions: u32,
    pub replication: u32,
    pub start: u32,
    pub shift: u32,
    /// The number of the first one.
    pub first: u32,
}

/// `brokers` by id. With racks if all have one, without if none has.
pub fn place(brokers: &[Racked], wanted: &Wanted) -> Result<Vec<Vec<u32>>, Refusal> {
    let ids: Vec<u32> = brokers.iter().map(|(id, _)| *id).collect();
    // What the plain rule refuses is refused with racks too.
    placement::assign(&ids, wanted.partitions, wanted.replication, 0, 0)?;
    if brokers.iter().any(|(_, rack)| rack.is_none()) {
        return Ok(plain(&ids, wanted));
    }
    Ok(by_racks(brokers, wanted))
}

fn plain(ids: &[u32], wanted: &Wanted) -> Vec<Vec<u32>> {
    let n = ids.len() as u32;
    let at = |index: u32| ids[(index % n) as usize];
    let mut shift = wanted.shift;
    let mut placed = Vec::new();
    for p in wanted.first..wanted.first.saturating_add(wanted.partitions) {
        if p > 0 && p.is_multiple_of(n) {
            shift = shift.wrapping_add(1);
        }
        let first = p.wrapping_add(wanted.start) % n;
        let other = |j: u32| at(first + 1 + shift.wrapping_add(j) % (n - 1));
        placed.push(
            std::iter::once(at(first))
                .chain((1..wanted.replication).map(|j| other(j - 1)))
                .collect(),
        );
    }
    placed
}

/// Racks by name take turns, each with its brokers by id.
fn alternating(brokers: &[Racked]) -> Vec<(u32, Arc<str>)> {
    let mut racks = BTreeMap::<Arc<str>, Vec<u32>>::new();
    for (id, rack) in brokers {
        racks.entry(rack.clone().unwrap_or_default()).or_default().push(*id);
    }
    let mut order = Vec::new();
    for turn in 0..brokers.len() {
        for (rack, ids) in &racks {
            if let Some(id) = ids.get(turn) {
                order.push((*id, rack.clone()));
            }
        }
    }
    order
}

fn by_racks(brokers: &[Racked], wanted: &Wanted) -> Vec<Vec<u32>> {
    let order = alternating(brokers);
    let n = order.len() as u32;
    let racks: std::collections::BTreeSet<&Arc<str>> = order.iter().map(|(_, r)| r).collect();
    let mut shift = wanted.shift;
    let mut placed = Vec::new();
    for p in wanted.first..wanted.first.saturating_add(wanted.partitions) {
        if p > 0 && p.is_multiple_of(n) {
            shift = shift.wrapping_add(1);
        }
        let first = p.wrapping_add(wanted.start) % n;
        let (leader, rack) = &order[first as usize];
        let mut replicas = vec![*leader];
        let mut used = vec![rack];
        let mut k = 0;
        while (replicas.len() as u32) < wanted.replication {
            let step = shift.wrapping_mul(racks.len() as u32).wrapping_add(k) % (n - 1);
            let (id, rack) = &order[((first + 1 + step) % n) as usize];
            k += 1;
            let fresh_rack = !used.contains(&rack) || racks.iter().all(|rack| used.contains(rack));
            if fresh_rack && !replicas.contains(id) {
                replicas.push(*id);
                used.push(rack);
            }
        }
        placed.push(replicas);
    }
    placed
}
