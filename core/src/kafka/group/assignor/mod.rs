//! Who gets which partition in a group with a coordinator. Pure, and the same whatever order the
//! members come in: where the real classes walk a hash map, these walk members by id.
//! [spec group-protocol.md F]

mod range;
mod round_robin;
mod sticky;
#[cfg(test)]
mod tests;
mod uniform;

use std::collections::{BTreeMap, BTreeSet};

pub use range::range;
pub use round_robin::round_robin;
pub use sticky::{Protocol, Sticky, sticky};
pub use uniform::{
    NoSuchTopic, server_range, uniform, uniform_by_different_topics, uniform_by_same_topics,
};

/// Racks of the replicas of a partition, of those that have one.
pub type Racks = BTreeSet<String>;

/// A topic as the members know it. Without partitions it is as if it did not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    pub partitions: u32,
    /// One for each partition; what is missing has none.
    pub racks: Vec<Racks>,
}

pub type Topics = BTreeMap<String, Topic>;

/// Partitions by topic.
pub type Partitions = BTreeMap<String, Vec<u32>>;

/// By member id; each member has an entry.
pub type Assignment = BTreeMap<String, Partitions>;

/// A member as the leader of the group sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub id: String,
    /// `group.instance.id`: a static member.
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub topics: Vec<String>,
    /// What it says it owns.
    pub owned: Partitions,
    /// The generation in the assignor's own data.
    pub generation: Option<i32>,
    /// The generation in the subscription.
    pub subscription_generation: Option<i32>,
}

/// Members, topics and racks by number: members in the order they are walked in, topics by name.
/// A partition's number counts through all topics.
struct Numbered<'a> {
    members: Vec<&'a Member>,
    topics: Vec<(&'a str, u32)>,
    /// Where a topic's partitions begin; one more at the end.
    bases: Vec<u32>,
    /// Topics of a member, ascending.
    subscriptions: Vec<Vec<u32>>,
    /// Members of a topic, ascending.
    subscribers: Vec<Vec<u32>>,
    racks: NumberedRacks,
}

/// The racks that members have or replicas stand in.
struct NumberedRacks {
    count: u32,
    of_member: Vec<Option<u32>>,
    /// By the partition's number. Empty if no member has a rack.
    of_partition: Vec<Vec<u32>>,
}

impl<'a> Numbered<'a> {
    /// Only topics that exist and that somebody subscribes to.
    fn new(topics: &'a Topics, members: Vec<&'a Member>) -> Numbered<'a> {
        let wanted: BTreeSet<&str> =
            members.iter().flat_map(|member| &member.topics).map(String::as_str).collect();
        let existing: Vec<(&str, &Topic)> = (topics.iter())
            .map(|(name, topic)| (name.as_str(), topic))
            .filter(|(name, topic)| topic.partitions > 0 && wanted.contains(name))
            .collect();
        let mut bases = vec![0];
        bases.extend(existing.iter().scan(0, |end: &mut u32, (_, topic)| {
            *end = end.saturating_add(topic.partitions);
            Some(*end)
        }));
        let numbers: BTreeMap<&str, u32> =
            existing.iter().zip(0..).map(|((name, _), number)| (*name, number)).collect();
        let of_member = |member: &&Member| {
            let found = member.topics.iter().filter_map(|topic| numbers.get(topic.as_str()));
            let mut found: Vec<u32> = found.copied().collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let subscriptions: Vec<Vec<u32>> = members.iter().map(of_member).collect();
        let mut subscribers = vec![Vec::new(); existing.len()];
        for (member, subscription) in (0..).zip(&subscriptions) {
            for topic in subscription {
                subscribers[*topic as usize].push(member);
            }
        }
        let racks = NumberedRacks::new(&existing, &members);
        let topics = existing.iter().map(|(name, topic)| (*name, topic.partitions)).collect();
        Numbered { members, topics, bases, subscriptions, subscribers, racks }
    }

    fn partitions(&self) -> u32 {
        self.bases.last().copied().unwrap_or(0)
    }

    /// Numbers of the partitions of a topic.
    fn of_topic(&self, topic: u32) -> std::ops::Range<u32> {
        self.bases[topic as usize]..self.bases[topic as usize + 1]
    }

    /// The topic of each partition.
    fn topic_of_each(&self) -> Vec<u32> {
        (0..).zip(&self.topics).flat_map(|(t, (_, count))| (0..*count).map(move |_| t)).collect()
    }

    /// The number of a topic, if it exists and somebody subscribes to it.
    fn topic(&self, name: &str) -> Option<u32> {
        let at = self.topics.binary_search_by_key(&name, |(name, _)| name);
        at.ok().map(|at| at as u32)
    }

    /// Numbers of those partitions of a topic that exist.
    fn existing<'p>(&self, topic: u32, partitions: &'p [u32]) -> impl Iterator<Item = u32> + 'p {
        let (base, count) = (self.bases[topic as usize], self.topics[topic as usize].1);
        partitions.iter().filter(move |number| **number < count).map(move |number| base + number)
    }

    /// The names again. Partitions in any order.
    fn named(&self, given: Vec<Vec<u32>>) -> Assignment {
        let topic_of = self.topic_of_each();
        let named = |mut numbers: Vec<u32>| {
            numbers.sort_unstable();
            let mut partitions = Partitions::new();
            let mut rest = numbers.as_slice();
            while let Some(first) = rest.first() {
                let topic = topic_of[*first as usize] as usize;
                let (own, others) =
                    rest.split_at(rest.partition_point(|number| *number < self.bases[topic + 1]));
                let list = own.iter().map(|number| number - self.bases[topic]).collect();
                partitions.insert(self.topics[topic].0.to_owned(), list);
                rest = others;
            }
            partitions
        };
        let ids = self.members.iter().map(|member| member.id.clone());
        ids.zip(given.into_iter().map(named)).collect()
    }
}

impl NumberedRacks {
    fn new(topics: &[(&str, &Topic)], members: &[&Member]) -> NumberedRacks {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let of_member: Vec<Option<u32>> = members
            .iter()
            .map(|member| {
                let rack = member.rack.as_deref().filter(|rack| !rack.is_empty())?;
                let next = numbers.len() as u32;
                Some(*numbers.entry(rack).or_insert(next))
            })
            .collect();
        let mut of_partition = Vec::new();
        if !numbers.is_empty() {
            for (_, topic) in topics {
                for partition in 0..topic.partitions {
                    let racks = topic.racks.get(partition as usize).into_iter().flatten();
                    let racks = racks.map(|rack| {
                        let next = numbers.len() as u32;
                        *numbers.entry(rack).or_insert(next)
                    });
                    let mut racks: Vec<u32> = racks.collect();
                    racks.sort_unstable();
                    of_partition.push(racks);
                }
            }
        }
        NumberedRacks { count: numbers.len() as u32, of_member, of_partition }
    }

    /// Whether racks count for these members and partitions: some member stands in a rack where
    /// a replica is, and not every partition is in all of the racks.
    /// [spec group-protocol.md F1, KIP-881]
    fn matter(&self, members: impl Iterator<Item = u32>, partitions: std::ops::Range<u32>) -> bool {
        if self.of_partition.is_empty() {
            return false;
        }
        let mut all = vec![false; self.count as usize];
        for rack in partitions.clone().flat_map(|number| &self.of_partition[number as usize]) {
            all[*rack as usize] = true;
        }
        let size = all.iter().filter(|is| **is).count();
        let mut racks = members.filter_map(|member| self.of_member[member as usize]);
        racks.any(|rack| all[rack as usize])
            && partitions.clone().any(|number| self.of_partition[number as usize].len() != size)
    }

    /// A member without a rack is at home everywhere.
    fn fit(&self, member: u32, partition: u32) -> bool {
        self.of_member[member as usize]
            .is_none_or(|rack| self.of_partition[partition as usize].binary_search(&rack).is_ok())
    }
}

/// Static members by instance id, then the others by member id: the order of range and round
/// robin. [spec group-protocol.md F]
fn static_first(members: &[Member]) -> Vec<&Member> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|member| (member.instance.is_none(), &member.instance, &member.id));
    sorted
}

/// By member id alone: the order of the sticky ones. [spec group-protocol.md F]
fn by_id(members: &[Member]) -> Vec<&Member> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|member| &member.id);
    sorted
}
