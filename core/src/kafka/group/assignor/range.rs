//! Range, with racks too.

use std::collections::{BTreeMap, BTreeSet};

use super::{Assignment, Member, Numbered, Topics, static_first};

/// Topic by topic each member gets a run of neighbours: the floor, and one more for the first
/// ones. Where racks count, members first get what has a replica in their own.
/// [spec group-protocol.md F1]
pub fn range(topics: &Topics, members: &[Member]) -> Assignment {
    let group = Numbered::new(topics, static_first(members));
    let mut given = vec![Vec::new(); members.len()];
    let mut shares: Vec<Share> =
        (0..group.topics.len() as u32).map(|topic| Share::new(&group, topic)).collect();
    let matters = |share: &Share| {
        let members = group.subscribers[share.topic as usize].iter().copied();
        group.racks.matter(members, group.of_topic(share.topic))
    };
    let matter: Vec<bool> = shares.iter().map(matters).collect();
    if matter.contains(&true) {
        for together in alike(&group) {
            match &*together {
                [one] if matter[*one as usize] => {
                    by_rack(&group, &mut shares[*one as usize], &mut given);
                }
                [_] => {}
                together => together_by_rack(&group, together, &mut shares, &mut given),
            }
        }
    }
    for share in &mut shares {
        share.rest(&group, &mut given);
    }
    group.named(given)
}

/// Range without racks.
pub(super) fn plain(group: &Numbered<'_>) -> Vec<Vec<u32>> {
    let mut given = vec![Vec::new(); group.members.len()];
    for topic in 0..group.topics.len() as u32 {
        Share::new(group, topic).rest(group, &mut given);
    }
    given
}

/// Topics that have the same subscribers and as many partitions. Those of which no subscriber
/// has a rack are left out.
fn alike(group: &Numbered<'_>) -> Vec<Vec<u32>> {
    let mut alike: BTreeMap<(&[u32], u32), Vec<u32>> = BTreeMap::new();
    for ((topic, subscribers), (_, count)) in (0..).zip(&group.subscribers).zip(&group.topics) {
        if subscribers.iter().any(|member| group.racks.of_member[*member as usize].is_some()) {
            alike.entry((subscribers, *count)).or_default().push(topic);
        }
    }
    alike.into_values().collect()
}

/// How a topic is dealt.
struct Share {
    topic: u32,
    floor: u32,
    extras: u32,
    /// How many each subscriber has.
    has: Vec<u32>,
    /// Which partitions are still to be given.
    free: Vec<bool>,
}

impl Share {
    fn new(group: &Numbered<'_>, topic: u32) -> Share {
        let count = group.topics[topic as usize].1;
        let members = group.subscribers[topic as usize].len() as u32;
        Share {
            topic,
            floor: count.checked_div(members).unwrap_or(0),
            extras: count.checked_rem(members).unwrap_or(0),
            has: vec![0; members as usize],
            free: vec![true; count as usize],
        }
    }

    fn room(&self, at: usize) -> u32 {
        (self.floor + u32::from(self.extras > 0)).saturating_sub(self.has[at])
    }

    /// Gives partitions to the subscriber at this place.
    fn give(&mut self, group: &Numbered<'_>, at: usize, taken: &[u32], given: &mut [Vec<u32>]) {
        if taken.is_empty() {
            return;
        }
        self.has[at] += taken.len() as u32;
        if self.has[at] > self.floor {
            self.extras = self.extras.saturating_sub(1);
        }
        let topic = self.topic as usize;
        let member = group.subscribers[topic][at] as usize;
        for partition in taken {
            self.free[*partition as usize] = false;
            given[member].push(group.bases[topic] + partition);
        }
    }

    /// Plain range over what is left. [spec group-protocol.md F1, second pass]
    fn rest(&mut self, group: &Numbered<'_>, given: &mut [Vec<u32>]) {
        let left = (0..).zip(&self.free).filter(|(_, free)| **free);
        let left: Vec<u32> = left.map(|(partition, _)| partition).collect();
        let mut from = 0;
        for at in 0..self.has.len() {
            let to = left.len().min(from + self.room(at) as usize);
            self.give(group, at, &left[from..to], given);
            from = to;
        }
    }
}

/// A topic alone: each member in order takes what fits its rack, as far as it has room.
/// [spec group-protocol.md F1, first pass]
fn by_rack(group: &Numbered<'_>, share: &mut Share, given: &mut [Vec<u32>]) {
    let base = group.bases[share.topic as usize];
    let mut in_rack = vec![Vec::new(); group.racks.count as usize];
    for number in group.of_topic(share.topic) {
        for rack in &group.racks.of_partition[number as usize] {
            in_rack[*rack as usize].push(number - base);
        }
    }
    let all: Vec<u32> = (0..share.free.len() as u32).collect();
    // Whatever stands before these places is given away for good.
    let mut begun = vec![0; in_rack.len() + 1];
    for at in 0..share.has.len() {
        let member = group.subscribers[share.topic as usize][at];
        let rack = group.racks.of_member[member as usize].map(|rack| rack as usize);
        let list = rack.map_or(&all, |rack| &in_rack[rack]);
        let place = &mut begun[rack.unwrap_or(in_rack.len())];
        let room = share.room(at) as usize;
        let mut taken = Vec::new();
        while taken.len() < room && *place < list.len() {
            let partition = list[*place];
            *place += 1;
            if share.free[partition as usize] {
                taken.push(partition);
            }
        }
        share.give(group, at, &taken, given);
    }
}

/// Topics that are alike: the same partition of each goes to the first member with room whose
/// rack holds a replica of all of them. [spec group-protocol.md F1, first pass]
fn together_by_rack(
    group: &Numbered<'_>,
    together: &[u32],
    shares: &mut [Share],
    given: &mut [Vec<u32>],
) {
    let Some(first) = together.first().map(|topic| *topic as usize) else { return };
    let subscribers = &group.subscribers[first];
    // By rack, and those without one at the end: places of members, the first ones full already.
    let mut queues = vec![Vec::new(); group.racks.count as usize + 1];
    for (at, member) in subscribers.iter().enumerate() {
        let rack = group.racks.of_member[*member as usize];
        queues[rack.map_or(group.racks.count, |rack| rack) as usize].push(at);
    }
    let mut begun = vec![0; queues.len()];
    for partition in 0..group.topics[first].1 {
        let mut racks = together.iter().map(|topic| {
            let number = group.bases[*topic as usize] + partition;
            &*group.racks.of_partition[number as usize]
        });
        let one = racks.next().unwrap_or_default();
        let mut common: BTreeSet<u32> = one.iter().copied().collect();
        racks.for_each(|racks| common.retain(|rack| racks.binary_search(rack).is_ok()));
        let mut best: Option<usize> = None;
        for queue in common.into_iter().chain([group.racks.count]) {
            let (queue, place) = (&queues[queue as usize], &mut begun[queue as usize]);
            while queue.get(*place).is_some_and(|at| shares[first].room(*at) == 0) {
                *place += 1;
            }
            if let Some(at) = queue.get(*place) {
                best = Some(best.map_or(*at, |best| best.min(*at)));
            }
        }
        let Some(at) = best else { continue };
        for topic in together {
            shares[*topic as usize].give(group, at, &[partition], given);
        }
    }
}
