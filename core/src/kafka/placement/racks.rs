//! Placement by racks: a partition's replicas stand in as many racks as there are.
//! [spec kafka-zk.md §7, rack aware]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Round, Unplaced, Wanted, place};

/// The rack that a broker was told it stands in, if any.
pub type Rack = Option<Arc<str>>;

/// Brokers in the order in which the placement goes round them: one of each rack in turn, racks by
/// name, brokers of a rack by id; a rack that has no more is passed over.
pub fn alternated(brokers: &[(u32, Arc<str>)]) -> Vec<u32> {
    let mut racks: BTreeMap<Vec<u16>, BTreeSet<u32>> = BTreeMap::new();
    for (id, rack) in brokers {
        // Java compares texts by their UTF-16 units.
        racks.entry(rack.encode_utf16().collect()).or_default().insert(*id);
    }
    let mut order = Vec::with_capacity(brokers.len());
    while !racks.is_empty() {
        order.extend(racks.values_mut().filter_map(BTreeSet::pop_first));
        racks.retain(|_, ids| !ids.is_empty());
    }
    order
}

/// Places partitions on brokers of which all have a rack, or none. The brokers stand sorted by id.
pub fn place_by_rack(brokers: &[(u32, Rack)], wanted: &Wanted) -> Result<Vec<Vec<u32>>, Unplaced> {
    let round = wanted.checked(brokers.len())?;
    let with = brokers.iter().filter_map(|(id, rack)| Some((*id, rack.clone()?)));
    let with: Vec<(u32, Arc<str>)> = with.collect();
    if with.is_empty() {
        let ids: Vec<u32> = brokers.iter().map(|(id, _)| *id).collect();
        return Ok(place(&ids, wanted)?);
    }
    if with.len() < brokers.len() {
        return Err(Unplaced::SomeWithoutRack);
    }
    let order = alternated(&with);
    let rack_of: BTreeMap<u32, Arc<str>> = with.into_iter().collect();
    let walk = Walk { round, order: &order, rack_of: &rack_of, racks: racks(&rack_of) };
    let placed = round.partitions(wanted).map(|(partition, shift)| {
        walk.replicas(round.first(partition, wanted.start), shift, wanted.replication)
    });
    Ok(placed.collect())
}

fn racks(rack_of: &BTreeMap<u32, Arc<str>>) -> usize {
    rack_of.values().collect::<BTreeSet<_>>().len()
}

struct Walk<'a> {
    round: Round,
    order: &'a [u32],
    rack_of: &'a BTreeMap<u32, Arc<str>>,
    racks: usize,
}

impl Walk<'_> {
    /// The first replica and its followers: candidates go round the brokers, one is passed over
    /// if it has a replica already, or its rack while another has none. The walk goes on where the
    /// follower before was found.
    fn replicas(&self, first: usize, shift: u64, replication: u32) -> Vec<u32> {
        let mut replicas = vec![self.order[first]];
        let mut racks: BTreeSet<&str> = replicas.iter().filter_map(|id| self.rack(*id)).collect();
        let mut candidates =
            (0..).map(|k| self.order[self.round.other(first, shift * self.racks as u64 + k)]);
        while replicas.len() < replication as usize {
            let fits = |id: &u32| {
                let rack = self.rack(*id).unwrap_or_default();
                (!racks.contains(rack) || racks.len() == self.racks) && !replicas.contains(id)
            };
            let Some(found) = candidates.find(fits) else { break };
            racks.extend(self.rack(found));
            replicas.push(found);
        }
        replicas
    }

    fn rack(&self, broker: u32) -> Option<&str> {
        self.rack_of.get(&broker).map(|rack| &**rack)
    }
}
