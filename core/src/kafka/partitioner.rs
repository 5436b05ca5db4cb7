//! Which partition a record goes to. [spec producer.md, product.md T8]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::producer::{Choice as By, Kind, Partitioner as Wanted};
use crate::base::Rng;

/// `murmur2` of the Java client, as it is signed there. [spec producer.md P3]
pub fn murmur2(bytes: &[u8]) -> i32 {
    const M: u32 = 0x5bd1_e995;
    let mut h = 0x9747_b28c ^ bytes.len() as u32;
    let mut blocks = bytes.chunks_exact(4);
    for block in &mut blocks {
        let word = block.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let mut k = word.wrapping_mul(M);
        k ^= k >> 24;
        h = h.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        for (at, byte) in rest.iter().enumerate() {
            h ^= u32::from(*byte) << (8 * at);
        }
        h = h.wrapping_mul(M);
    }
    h ^= h >> 13;
    h = h.wrapping_mul(M);
    (h ^ h >> 15) as i32
}

/// `Long.hashCode` of Java. An `Integer` is its own.
pub fn long_hash(number: i64) -> i32 {
    (number ^ number >> 32) as i32
}

/// What the Java client makes of a hash: not `abs`, -1 becomes 2147483647. [spec producer.md P3]
pub fn to_positive(hash: i32) -> u32 {
    hash as u32 & 0x7fff_ffff
}

/// The partition of a keyed record of the Java client: over all partitions, with a leader or not.
/// None where there is no partition. [spec producer.md P2]
pub fn by_murmur2(key: &[u8], partitions: u32) -> Option<u32> {
    to_positive(murmur2(key)).checked_rem(partitions)
}

/// `String.hashCode` of Java: over UTF-16 units. [spec producer.md O1, group-protocol.md A1]
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// `Arrays.hashCode` of bytes, which are signed in Java. [spec producer.md O1]
pub fn bytes_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(1, |hash: i32, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed()))
    })
}

/// Kafka's `Utils.abs`, where the smallest number becomes 0. [spec producer.md O1]
pub fn abs(hash: i32) -> u32 {
    hash.checked_abs().map_or(0, i32::unsigned_abs)
}

/// The partition that the Scala producer of 0.8 gives a key whose `hashCode` this is.
/// [spec producer.md O1]
pub fn by_hash_code(hash: i32, partitions: u32) -> Option<u32> {
    abs(hash).checked_rem(partitions)
}

/// What a producer knows of a topic when it chooses.
#[derive(Clone, Copy, Debug)]
pub struct Topic<'a> {
    pub name: &'a Arc<str>,
    /// How many partitions there are, with a leader or not.
    pub partitions: u32,
    /// Those with a leader, in the producer's own order.
    pub available: &'a [u32],
}

/// A partition, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub partition: u32,
    pub by: By,
}

/// A strategy that can be plugged into a producer.
pub trait Partitioner: fmt::Debug + Send + Sync {
    /// None: there is nowhere to go now.
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice>;

    /// The producer has new metadata.
    fn refreshed(&mut self) {}

    /// The next draw of a partition is this one: a chance that those steer who replay a recording.
    fn steer(&mut self, _partition: u32) {}

    fn boxed(&self) -> Box<dyn Partitioner>;
}

impl Clone for Box<dyn Partitioner> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

fn by_key(kind: Kind, key: &str, partitions: u32) -> Option<Choice> {
    let hash = match kind {
        Kind::Java => murmur2(key.as_bytes()),
        Kind::Textbook | Kind::Scala => string_hash(key),
    };
    let partition = match kind {
        Kind::Java => to_positive(hash).checked_rem(partitions)?,
        Kind::Textbook | Kind::Scala => by_hash_code(hash, partitions)?,
    };
    Some(Choice { partition, by: By::KeyHash { hash, partitions } })
}

/// Where a record with this key goes if a topic has so many partitions: to be compared with more
/// of them. Adding partitions moves keys, but nothing that is in a log. [spec producer.md P2]
pub fn preview(kind: Kind, key: &str, partitions: u32) -> Option<Choice> {
    by_key(kind, key, partitions)
}

/// The textbook's: by the hash of the key, else in turn. [product.md T8]
#[derive(Clone, Debug, Default)]
struct Textbook {
    turns: RoundRobin,
}

impl Partitioner for Textbook {
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice> {
        match key {
            Some(key) => by_key(Kind::Textbook, key, topic.partitions),
            None => self.turns.choose(rng, topic, None),
        }
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

/// The old producer's: without a key one random partition is kept until the metadata are read
/// anew. [spec producer.md O1, O2]
#[derive(Clone, Debug, Default)]
struct Scala {
    kept: BTreeMap<Arc<str>, u32>,
    steered: Option<u32>,
}

impl Partitioner for Scala {
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice> {
        if let Some(key) = key {
            return by_key(Kind::Scala, key, topic.partitions);
        }
        let partition = match self.kept.get(topic.name) {
            Some(kept) => *kept,
            None => {
                let drawn = drawn(rng, topic.available)?;
                self.steered.take().filter(|one| topic.available.contains(one)).unwrap_or(drawn)
            }
        };
        self.kept.insert(topic.name.clone(), partition);
        Some(Choice { partition, by: By::Sticky })
    }

    fn refreshed(&mut self) {
        self.kept.clear();
    }

    fn steer(&mut self, partition: u32) {
        self.steered = Some(partition);
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

fn drawn(rng: &mut Rng, from: &[u32]) -> Option<u32> {
    let at = rng.below(from.len().max(1) as u64);
    from.get(usize::try_from(at).ok()?).copied()
}

/// The Java producer's of 0.8.2: without a key in turn over the partitions with a leader, or over
/// all if none has one, from a random number on; one counter for all topics.
/// [spec producer.md P2, U1]
#[derive(Clone, Debug, Default)]
struct Java {
    counter: Option<u32>,
}

impl Partitioner for Java {
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice> {
        if let Some(key) = key {
            return by_key(Kind::Java, key, topic.partitions);
        }
        let counter = self.counter.get_or_insert_with(|| rng.next_u64() as u32);
        let turn = to_positive(counter.cast_signed());
        let partition = match u32::try_from(topic.available.len()).unwrap_or(0) {
            0 => turn.checked_rem(topic.partitions)?,
            n => *topic.available.get((turn % n) as usize)?,
        };
        *counter = counter.wrapping_add(1);
        Some(Choice { partition, by: By::RoundRobin })
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

/// In turn whatever the key, from the first on. [spec producer.md U4]
#[derive(Clone, Debug, Default)]
struct RoundRobin {
    turns: BTreeMap<Arc<str>, u32>,
}

impl Partitioner for RoundRobin {
    fn choose(&mut self, _: &mut Rng, topic: Topic<'_>, _: Option<&str>) -> Option<Choice> {
        let turn = self.turns.entry(topic.name.clone()).or_default();
        let partition = match u32::try_from(topic.available.len()).unwrap_or(0) {
            0 => turn.checked_rem(topic.partitions)?,
            n => *topic.available.get((*turn % n) as usize)?,
        };
        *turn = turn.wrapping_add(1);
        Some(Choice { partition, by: By::RoundRobin })
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

/// Some keys have a partition of their own, as long as it exists. [product.md T8]
#[derive(Clone, Debug)]
struct Pinned {
    pins: BTreeMap<Arc<str>, u32>,
    others: Box<dyn Partitioner>,
}

impl Partitioner for Pinned {
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice> {
        let pin = key.and_then(|key| self.pins.get(key)).copied();
        match pin.filter(|partition| *partition < topic.partitions) {
            Some(partition) => Some(Choice { partition, by: By::Pinned }),
            None => self.others.choose(rng, topic, key),
        }
    }

    fn refreshed(&mut self) {
        self.others.refreshed();
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

/// The old producer asks a class of one's own only about records with a key.
/// [spec consumer-zk.md, T8]
#[derive(Clone, Debug)]
struct OnlyKeyed {
    keyed: Box<dyn Partitioner>,
    others: Scala,
}

impl Partitioner for OnlyKeyed {
    fn choose(&mut self, rng: &mut Rng, topic: Topic<'_>, key: Option<&str>) -> Option<Choice> {
        match key {
            Some(_) => self.keyed.choose(rng, topic, key),
            None => self.others.choose(rng, topic, None),
        }
    }

    fn refreshed(&mut self) {
        self.others.refreshed();
    }

    fn boxed(&self) -> Box<dyn Partitioner> {
        Box::new(self.clone())
    }
}

/// A producer's partitioner by its kind and its setting.
pub fn of(kind: Kind, wanted: &Wanted) -> Box<dyn Partitioner> {
    let default: Box<dyn Partitioner> = match kind {
        Kind::Textbook => Box::new(Textbook::default()),
        Kind::Scala => Box::new(Scala::default()),
        Kind::Java => Box::new(Java::default()),
    };
    match wanted {
        Wanted::Default => default,
        Wanted::RoundRobin if kind == Kind::Scala => {
            Box::new(OnlyKeyed { keyed: Box::new(RoundRobin::default()), others: Scala::default() })
        }
        Wanted::RoundRobin => Box::new(RoundRobin::default()),
        Wanted::Pinned(pins) => {
            Box::new(Pinned { pins: pins.iter().cloned().collect(), others: default })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(murmur2(b"21"), -973_932_308);
        assert_eq!(to_positive(-1), 2_147_483_647);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN);
        assert_eq!(abs(i32::MIN), 0);
        assert_eq!((long_hash(-1), long_hash(1 << 32)), (0, 1));
        assert_eq!(bytes_hash(&[]), 1);
        assert_eq!(bytes_hash(&[255]), 30);
        assert_eq!(by_murmur2(b"21", 7), Some(3));
        assert_eq!(by_hash_code(-7, 4), Some(3));
        assert_eq!(by_hash_code(1, 0), None);
    }

    /// [cases/lessons.md L7]
    #[test]
    fn keys_move_when_partitions_are_added() {
        let at = |n: u32, partitions: u32| {
            let choice = preview(Kind::Java, &format!("order-{n}"), partitions);
            choice.map_or(u32::MAX, |choice| choice.partition)
        };
        let row = |partitions: u32| (1..=8).map(|n| at(n, partitions)).collect::<Vec<u32>>();
        assert_eq!(row(3), [1, 0, 0, 2, 2, 0, 1, 2]);
        assert_eq!(row(4), [2, 3, 3, 2, 2, 1, 1, 1]);
        assert_eq!(row(6), [4, 3, 3, 2, 2, 3, 1, 5]);
        let moved = |to: u32| (1..=1_000).filter(|n| at(*n, 3) != at(*n, to)).count();
        assert_eq!((moved(4), moved(6)), (756, 506));
    }

    fn drawn(partitioner: &mut dyn Partitioner, available: &[u32], partitions: u32) -> Vec<u32> {
        let name: Arc<str> = "T".into();
        let mut rng = Rng::new(3);
        let topic = Topic { name: &name, partitions, available };
        (0..12)
            .filter_map(|_| partitioner.choose(&mut rng, topic, None))
            .map(|choice| choice.partition)
            .collect()
    }

    #[test]
    fn without_a_key_each_kind_has_its_own_way() {
        let order = [0, 2, 5, 4, 1, 3];
        let textbook = drawn(&mut *of(Kind::Textbook, &Wanted::Default), &[0, 1, 3], 4);
        assert_eq!(textbook, [0, 1, 3, 0, 1, 3, 0, 1, 3, 0, 1, 3]);
        let java = drawn(&mut *of(Kind::Java, &Wanted::Default), &order, 6);
        let begins = order.iter().position(|n| *n == java[0]).unwrap_or(0);
        let turns: Vec<u32> = order.iter().cycle().skip(begins).take(12).copied().collect();
        assert_eq!(java, turns);
        let mut scala = of(Kind::Scala, &Wanted::Default);
        let kept = drawn(&mut *scala, &order, 6);
        assert!(kept.iter().all(|partition| *partition == kept[0]));
        assert!(drawn(&mut *of(Kind::Scala, &Wanted::Default), &[], 6).is_empty());
        assert_eq!(drawn(&mut *of(Kind::Java, &Wanted::Default), &[], 6).len(), 12);
    }

    #[test]
    fn a_pinned_key_stays_while_its_partition_exists() {
        let mut pinned = of(Kind::Java, &Wanted::Pinned(vec![("a".into(), 5)]));
        let (name, mut rng): (Arc<str>, Rng) = ("T".into(), Rng::new(1));
        let mut at = |partitions: u32, key: &str| {
            let topic = Topic { name: &name, partitions, available: &[] };
            pinned.choose(&mut rng, topic, Some(key)).map(|choice| choice.by)
        };
        assert_eq!(at(6, "a"), Some(By::Pinned));
        assert!(matches!(at(5, "a"), Some(By::KeyHash { .. })));
        assert!(matches!(at(6, "b"), Some(By::KeyHash { .. })));
    }
}
