//! Who gets which partition in a group that coordinates through ZooKeeper. Every member computes
//! it alone, from what it read. Pure. [spec consumer-zk.md, Assignment]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::pattern::Pattern;
use crate::kafka::log::offsets;
use crate::kafka::partitioner::string_hash;

// --- Formulas ------------------------------------------------------------------------------------

fn cut(from: u64, to: u64, partitions: u32) -> Range<u32> {
    let end = |at: u64| u32::try_from(at).unwrap_or(u32::MAX).min(partitions);
    end(from)..end(to)
}

/// The textbook's share of consumer `at` of `consumers`: F = ⌈partitions/consumers⌉, from `at`·F
/// on. The last ones may get nothing. [spec consumer-zk.md T11]
pub fn ceil_share(partitions: u32, consumers: u32, at: u32) -> Range<u32> {
    let each = u64::from(
        partitions
            .checked_div(consumers)
            .map_or(0, |floor| floor + u32::from(!partitions.is_multiple_of(consumers))),
    );
    cut(u64::from(at) * each, (u64::from(at) + 1) * each, partitions)
}

/// The same with ⌊partitions/consumers⌋: what the 0.x documentation says when it is read as a
/// division of integers. Leaves the remainder unowned. [spec consumer-zk.md, Textbook difference]
pub fn floor_share(partitions: u32, consumers: u32, at: u32) -> Range<u32> {
    let each = u64::from(partitions.checked_div(consumers).unwrap_or(0));
    cut(u64::from(at) * each, (u64::from(at) + 1) * each, partitions)
}

/// Kafka's share: the floor, and one more for each of the first `partitions mod consumers`.
/// [spec consumer-zk.md, Assignment: Range]
pub fn share(partitions: u32, consumers: u32, at: u32) -> Range<u32> {
    let Some(each) = partitions.checked_div(consumers) else { return 0..0 };
    let extra = partitions % consumers;
    let start = |at: u32| u64::from(each) * u64::from(at) + u64::from(at.min(extra));
    cut(start(at), start(at.saturating_add(1)), partitions)
}

// --- The high-level consumer of 0.8 --------------------------------------------------------------

/// What a member asks for, with how many streams. [spec consumer-zk.md R2, R3]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscription {
    Topics(BTreeMap<String, u32>),
    WhiteList(Pattern, u32),
    BlackList(Pattern, u32),
}

/// A registered member. [spec consumer-zk.md R1, R3]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub id: String,
    pub subscription: Subscription,
    /// `exclude.internal.topics`: patterns leave internal topics out.
    pub no_internal: bool,
}

impl Subscription {
    /// With how many streams a topic is read. Patterns leave the internal topic out where
    /// `no_internal` says so. [spec consumer-zk.md R3]
    pub fn streams(&self, topic: &str, no_internal: bool) -> Option<u32> {
        let (pattern, streams, listed) = match self {
            Subscription::Topics(topics) => return topics.get(topic).copied(),
            Subscription::WhiteList(pattern, streams) => (pattern, *streams, true),
            Subscription::BlackList(pattern, streams) => (pattern, *streams, false),
        };
        let internal = no_internal && topic == offsets::TOPIC;
        (!internal && pattern.is_match(topic) == listed).then_some(streams)
    }
}

impl Member {
    /// The topics it subscribes to, with its streams: a pattern against the topics that there
    /// are. [spec consumer-zk.md R3]
    pub fn topics<'a>(&'a self, existing: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u32> {
        if let Subscription::Topics(topics) = &self.subscription {
            return topics.iter().map(|(topic, streams)| (topic.as_str(), *streams)).collect();
        }
        let streams = |topic| self.subscription.streams(topic, self.no_internal);
        existing.filter_map(|topic| Some((topic, streams(topic)?))).collect()
    }
}

/// Id of a stream's thread. They are ordered as texts: `-10` before `-2`. [spec consumer-zk.md R2]
pub fn thread_id(member: &str, stream: u32) -> String {
    format!("{member}-{stream}")
}

/// `partition.assignment.strategy`. [spec consumer-zk.md, Assignment]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Range,
    RoundRobin,
}

impl Strategy {
    /// Any other name is range, and 0.8.0 and 0.8.1 know nothing else.
    pub fn named(name: &str) -> Strategy {
        if name == "roundrobin" { Strategy::RoundRobin } else { Strategy::Range }
    }
}

/// Why a member could not compute what it gets: its attempt to rebalance fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Round robin: some topic has other threads than another one. [spec consumer-zk.md B5]
    UnequalThreads,
    /// Round robin of 0.8.2: nobody in the group subscribes to any topic.
    NobodySubscribes,
}

/// Partitions by topic, by thread.
pub type Plan = BTreeMap<String, BTreeMap<String, Vec<u32>>>;

/// A group as a member reads it: the threads of each topic, sorted.
#[derive(Clone, Debug, Default)]
pub struct Group<'a> {
    threads: BTreeMap<&'a str, Vec<String>>,
    own: BTreeMap<&'a str, BTreeMap<&'a str, u32>>,
    topics: BTreeMap<&'a str, u32>,
}

impl<'a> Group<'a> {
    pub fn new(topics: &'a BTreeMap<String, u32>, members: &'a [Member]) -> Group<'a> {
        let topics: BTreeMap<&str, u32> =
            topics.iter().map(|(topic, partitions)| (topic.as_str(), *partitions)).collect();
        let mut group = Group { topics, ..Group::default() };
        for member in members {
            let own = member.topics(group.topics.keys().copied());
            for (topic, streams) in &own {
                let threads = (0..*streams).map(|stream| thread_id(&member.id, stream));
                group.threads.entry(topic).or_default().extend(threads);
            }
            group.own.insert(&member.id, own);
        }
        group.threads.values_mut().for_each(|threads| threads.sort_unstable());
        group
    }

    /// What the threads of `member` get, by its own computation. Threads that get nothing are
    /// left out. [spec consumer-zk.md, rebalance step 5]
    pub fn plan(&self, strategy: Strategy, member: &str) -> Result<Plan, Failed> {
        let Some(own) = self.own.get(member) else { return Ok(Plan::new()) };
        let mine: BTreeSet<String> = own
            .values()
            .max()
            .map(|most| (0..*most).map(|stream| thread_id(member, stream)).collect())
            .unwrap_or_default();
        match strategy {
            Strategy::Range => Ok(self.range(own, &mine)),
            Strategy::RoundRobin => self.round_robin(own, &mine),
        }
    }

    /// Topic by topic, each thread a run of neighbours. [spec consumer-zk.md, Assignment: Range]
    fn range(&self, own: &BTreeMap<&str, u32>, mine: &BTreeSet<String>) -> Plan {
        let mut plan = Plan::new();
        for topic in own.keys() {
            let partitions = self.topics.get(topic).copied().unwrap_or(0);
            let threads = self.threads.get(topic).map_or(&[][..], Vec::as_slice);
            let count = threads.len() as u32;
            for (at, thread) in (0..).zip(threads).filter(|(_, thread)| mine.contains(*thread)) {
                let run = share(partitions, count, at);
                if !run.is_empty() {
                    let topics = plan.entry(thread.clone()).or_default();
                    topics.insert((*topic).to_owned(), run.collect());
                }
            }
        }
        plan
    }

    /// All partitions of the member's topics by the hash of `[topic,partition]`, dealt to the
    /// threads in turn. Where two names have one hash, the later name comes first, as the Scala
    /// map has them. [spec consumer-zk.md, Assignment: Round robin]
    fn round_robin(
        &self,
        own: &BTreeMap<&str, u32>,
        mine: &BTreeSet<String>,
    ) -> Result<Plan, Failed> {
        let mut each = self.threads.values();
        let threads = each.next().ok_or(Failed::NobodySubscribes)?;
        if each.any(|others| others != threads) {
            return Err(Failed::UnequalThreads);
        }
        let partitions = |topic| 0..self.topics.get(topic).copied().unwrap_or(0);
        let mut all: Vec<(i32, &str, u32)> = (own.keys().rev())
            .flat_map(|topic| partitions(topic).map(move |partition| (*topic, partition)))
            .map(|(topic, number)| (string_hash(&format!("[{topic},{number}]")), topic, number))
            .collect();
        all.sort_by_key(|(hash, _, _)| *hash);
        let mut plan = Plan::new();
        for ((_, topic, partition), thread) in all.into_iter().zip(threads.iter().cycle()) {
            if mine.contains(thread) {
                let topics = plan.entry(thread.clone()).or_default();
                topics.entry(topic.to_owned()).or_default().push(partition);
            }
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(rule: fn(u32, u32, u32) -> Range<u32>, partitions: u32, of: u32) -> Vec<u32> {
        (0..of).map(|at| rule(partitions, of, at).len() as u32).collect()
    }

    #[test]
    fn the_three_formulas() {
        assert_eq!(lengths(ceil_share, 10, 4), [3, 3, 3, 1]);
        assert_eq!(lengths(ceil_share, 9, 4), [3, 3, 3, 0]);
        assert_eq!(lengths(share, 10, 4), [3, 3, 2, 2]);
        assert_eq!(lengths(floor_share, 10, 4), [2, 2, 2, 2]);
        assert_eq!(ceil_share(10, 6, 5), 10..10);
        assert_eq!(share(5, 0, 0), 0..0);
        assert_eq!(ceil_share(u32::MAX, 2, 1), 1 << 31..u32::MAX);
    }

    #[test]
    fn threads_are_sorted_as_texts() {
        let topics = BTreeMap::from([("t".to_owned(), 12)]);
        let subscription = Subscription::Topics(BTreeMap::from([("t".to_owned(), 11)]));
        let members = [Member { id: "c".into(), subscription, no_internal: true }];
        let plan = Group::new(&topics, &members).plan(Strategy::Range, "c").unwrap();
        assert_eq!(plan["c-0"]["t"], [0, 1]);
        assert_eq!(plan["c-10"]["t"], [3]);
        assert_eq!(plan["c-2"]["t"], [4]);
    }
}
