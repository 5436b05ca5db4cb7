//! Members subscribe to different topics. [spec group-protocol.md F3, general]

use std::collections::{BTreeMap, BTreeSet};

use super::super::Numbered;
use super::{Claims, Dealt};

struct Deal<'a, 'b> {
    group: &'a Numbered<'b>,
    topic_of: Vec<u32>,
    /// Whether a member subscribes to a topic: members × topics.
    subscribes: Vec<bool>,
    owner: Vec<Option<u32>>,
    count: Vec<u32>,
    /// Members by how many they have, then by id; without those that take no part.
    sorted: BTreeSet<(u32, u32)>,
    by_rack: bool,
    previous: Vec<Option<u32>>,
    moves: Moves,
}

/// [spec group-protocol.md F3]
pub fn deal(group: &Numbered<'_>, claims: Claims) -> Dealt {
    let (partitions, members) = (group.partitions(), group.members.len() as u32);
    let topics = group.topics.len();
    let mut subscribes = vec![false; topics * group.members.len()];
    for (member, subscription) in group.subscriptions.iter().enumerate() {
        for topic in subscription {
            subscribes[member * topics + *topic as usize] = true;
        }
    }
    let mut deal = Deal {
        group,
        topic_of: group.topic_of_each(),
        subscribes,
        owner: vec![None; partitions as usize],
        count: vec![0; members as usize],
        sorted: BTreeSet::new(),
        by_rack: group.racks.matter(0..members, 0..partitions),
        previous: claims.previous,
        moves: Moves::default(),
    };
    let must_revoke = deal.keep(&claims.owned);
    let is_new_group = deal.count.iter().all(|count| *count == 0);
    deal.sorted = deal.count.iter().copied().zip(0..).collect();
    let all = deal.fewest_subscribers_first();
    let free: Vec<u32> =
        all.iter().copied().filter(|number| deal.owner[*number as usize].is_none()).collect();
    deal.give(&free);
    deal.balance(&all, &free, must_revoke, is_new_group);
    deal.result(&claims.said)
}

impl Deal<'_, '_> {
    fn subscribes(&self, member: u32, topic: u32) -> bool {
        self.subscribes[member as usize * self.group.topics.len() + topic as usize]
    }

    /// What is owned and still subscribed to stays. Whether a member has to give something up.
    fn keep(&mut self, owned: &[Vec<u32>]) -> bool {
        let mut must_revoke = false;
        for (member, numbers) in (0..).zip(owned) {
            for number in numbers {
                let topic = self.topic_of[*number as usize];
                let fits = !self.by_rack || self.group.racks.fit(member, *number);
                if fits && self.subscribes(member, topic) {
                    if self.owner[*number as usize].replace(member).is_none() {
                        self.count[member as usize] += 1;
                    }
                } else {
                    must_revoke = true;
                }
            }
        }
        must_revoke
    }

    /// All partitions by how many members may have them, then topic, then number.
    fn fewest_subscribers_first(&self) -> Vec<u32> {
        let mut topics: Vec<u32> = (0..self.group.topics.len() as u32).collect();
        topics.sort_by_key(|topic| self.group.subscribers[*topic as usize].len());
        topics.into_iter().flat_map(|topic| self.group.of_topic(topic)).collect()
    }

    /// The member that has the least of those that may have it, as far as `below` goes.
    fn least(&self, number: u32, by_rack: bool, below: u32) -> Option<u32> {
        let topic = self.topic_of[number as usize];
        let mut sorted = self.sorted.iter().take_while(|(count, _)| *count < below);
        sorted
            .find(|(_, member)| {
                self.subscribes(*member, topic)
                    && (!by_rack || self.group.racks.fit(*member, number))
            })
            .map(|(_, member)| *member)
    }

    /// Each to the member that has the least, first of those whose rack it fits.
    fn give(&mut self, free: &[u32]) {
        let rounds: &[bool] = if self.by_rack { &[true, false] } else { &[false] };
        for by_rack in rounds {
            for number in free {
                if self.owner[*number as usize].is_none()
                    && let Some(member) = self.least(*number, *by_rack, u32::MAX)
                {
                    self.owner[*number as usize] = Some(member);
                    self.counts(member, 1, 0);
                }
            }
        }
    }

    fn counts(&mut self, member: u32, more: u32, less: u32) {
        let count = &mut self.count[member as usize];
        self.sorted.remove(&(*count, member));
        *count = *count + more - less;
        self.sorted.insert((*count, member));
    }

    /// Moves partitions to members with 2 fewer until nothing is to be moved. What comes of it
    /// for a group that ran before counts only if it is more even.
    fn balance(&mut self, all: &[u32], free: &[u32], must_revoke: bool, is_new_group: bool) {
        let shared = |topic: u32| self.group.subscribers[topic as usize].len() >= 2;
        let is_movable = |number: &&u32| shared(self.topic_of[**number as usize]);
        let movable: Vec<u32> = all.iter().filter(is_movable).copied().collect();
        let first: Vec<u32> = free.iter().filter(is_movable).copied().collect();
        let takes_no_part = |member: u32| {
            let topics = &self.group.subscriptions[member as usize];
            let most: u32 =
                topics.iter().map(|topic| self.group.of_topic(*topic).len() as u32).sum();
            self.count[member as usize] == most && !topics.iter().any(|topic| shared(*topic))
        };
        let out: Vec<(u32, u32)> =
            self.sorted.iter().copied().filter(|(_, member)| takes_no_part(*member)).collect();
        for entry in &out {
            self.sorted.remove(entry);
        }
        let before = (self.owner.clone(), self.count.clone(), self.spread());
        if !must_revoke {
            self.level(&first);
        }
        if self.level(&movable) && !is_new_group && self.spread() >= before.2 {
            (self.owner, self.count) = (before.0, before.1);
        }
    }

    /// Sum of the differences of all pairs of those that take part.
    fn spread(&self) -> u64 {
        let (mut below, mut sum, mut spread) = (0, 0, 0);
        for (count, _) in &self.sorted {
            spread += below * u64::from(*count) - sum;
            below += 1;
            sum += u64::from(*count);
        }
        spread
    }

    /// Whether anything was moved.
    fn level(&mut self, numbers: &[u32]) -> bool {
        let mut moved = false;
        loop {
            let mut again = false;
            for number in numbers {
                if let Some(to) = self.better(*number) {
                    self.move_to(*number, to);
                    again = true;
                }
            }
            if !again {
                return moved;
            }
            moved = true;
        }
    }

    /// A member with at least 2 fewer than the owner: a former owner, or the one with the least.
    fn better(&self, number: u32) -> Option<u32> {
        let owner = self.owner[number as usize]?;
        let below = self.count[owner as usize].saturating_sub(1);
        let topic = self.topic_of[number as usize];
        let fewer =
            |member: &u32| self.count[*member as usize] < below && self.subscribes(*member, topic);
        let former = self.previous[number as usize].filter(fewer);
        former.or_else(|| self.least(number, false, below))
    }

    /// Moves this partition, or one of its topic back that went the other way before.
    fn move_to(&mut self, number: u32, to: u32) {
        let Some(owner) = self.owner[number as usize] else { return };
        let topic = self.topic_of[number as usize];
        let number = self.moves.instead(topic, number, owner, to);
        let Some(from) = self.owner[number as usize] else { return };
        if from == to {
            return;
        }
        self.moves.moved(topic, number, from, to);
        self.owner[number as usize] = Some(to);
        self.counts(from, 0, 1);
        self.counts(to, 1, 0);
    }

    fn result(self, said: &[Vec<u32>]) -> Dealt {
        let mut given = vec![Vec::new(); self.count.len()];
        for (number, owner) in (0u32..).zip(&self.owner) {
            if let Some(owner) = owner {
                given[*owner as usize].push(number);
            }
        }
        let mut moving = Vec::new();
        let mut owners: Vec<Vec<u32>> = vec![Vec::new(); self.owner.len()];
        for (member, numbers) in (0..).zip(said) {
            numbers.iter().for_each(|number| owners[*number as usize].push(member));
        }
        for ((number, owner), before) in (0..).zip(&self.owner).zip(&owners) {
            if let Some(owner) = owner.filter(|owner| !before.contains(owner))
                && !before.is_empty()
            {
                moving.push((owner, number));
            }
        }
        Dealt { given, moving }
    }
}

/// Which partition went from whom to whom, as a whole. [spec group-protocol.md F3]
#[derive(Default)]
struct Moves {
    by_topic: BTreeMap<(u32, u32, u32), BTreeSet<u32>>,
    of: BTreeMap<u32, (u32, u32)>,
}

impl Moves {
    fn instead(&self, topic: u32, number: u32, from: u32, to: u32) -> u32 {
        let from = self.of.get(&number).map_or(from, |(first, _)| *first);
        let back = self.by_topic.get(&(topic, to, from)).and_then(BTreeSet::first);
        back.copied().unwrap_or(number)
    }

    fn moved(&mut self, topic: u32, number: u32, from: u32, to: u32) {
        let mut first = from;
        if let Some((source, target)) = self.of.remove(&number) {
            first = source;
            if let Some(set) = self.by_topic.get_mut(&(topic, source, target)) {
                set.remove(&number);
            }
        }
        if first != to {
            self.of.insert(number, (first, to));
            self.by_topic.entry((topic, first, to)).or_default().insert(number);
        }
    }
}
