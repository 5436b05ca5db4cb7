//! Where a Scala collection decides an order that can be seen, its order is part of what the
//! release does: small maps keep the order of insertion, others are walked by hash. [spec
//! kafka-zk.md §10 {h}]

use crate::kafka::msg::TopicPartition;

/// `improve` of the hash tries of Scala 2.10 to 2.12.
const fn improve(hash: i32) -> u32 {
    let mut h = hash.wrapping_add(!(hash << 9));
    h ^= ((h as u32) >> 14) as i32;
    h = h.wrapping_add(h << 4);
    h ^= ((h as u32) >> 10) as i32;
    h as u32
}

/// In which order a hash trie walks: five bits at a time, the lowest first.
const fn walk_key(hash: i32) -> u64 {
    let improved = improve(hash);
    let mut key: u64 = 0;
    let mut level = 0;
    while level < 7 {
        key = key << 5 | ((improved >> (level * 5)) & 31) as u64;
        level += 1;
    }
    key
}

const fn mix(hash: i32, data: i32) -> i32 {
    let mut k = data.wrapping_mul(0xcc9e_2d51_u32 as i32);
    k = k.rotate_left(15).wrapping_mul(0x1b87_3593);
    (hash ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64_u32 as i32)
}

const fn finalize(hash: i32, length: i32) -> i32 {
    let mut h = (hash ^ length) as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    (h ^ (h >> 16)) as i32
}

/// `String.hashCode`.
fn text(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Seed of the hash of a case class.
const CASE_CLASS: i32 = 0xcafe_babe_u32 as i32;

/// `TopicAndPartition.hashCode` of 0.8.
fn partition_hash(tp: &TopicPartition) -> i32 {
    finalize(mix(mix(CASE_CLASS, text(&tp.topic)), tp.partition as i32), 2)
}

/// `PartitionAndReplica.hashCode` of 0.8.
fn replica_hash(tp: &TopicPartition, replica: u32) -> i32 {
    let hash = mix(mix(CASE_CLASS, text(&tp.topic)), tp.partition as i32);
    finalize(mix(hash, replica as i32), 3)
}

/// Numbers as the keys of a map of strings; up to four stand in the order of insertion, which was
/// seen to be the reverse.
pub fn order_names(numbers: &mut [u32]) {
    match numbers.len() {
        0..=4 => numbers.sort_unstable_by(|a, b| b.cmp(a)),
        _ => numbers.sort_by_key(|number| walk_key(text(&number.to_string()))),
    }
}

/// The bucket in a mutable hash table of `1 << bits` buckets.
const fn bucket(hash: i32, bits: u32) -> u32 {
    let mixed = (hash.wrapping_mul(0x9e37_75cd_u32 as i32) as u32).swap_bytes();
    let mixed = mixed.wrapping_mul(0x9e37_75cd).rotate_right(bits);
    mixed >> (32 - bits)
}

/// Numbers, in order, as a mutable hash map with these keys walks them: so stand partitions in a
/// metadata answer of 0.8. [seen: recordings/0.8.2.2/producer-partitioning]
pub fn order_numbers<T>(entries: &mut [T], number: impl Fn(&T) -> u32) {
    let mut bits = 4;
    while entries.len() * 4 > (3 << bits) {
        bits += 1;
    }
    entries.reverse();
    entries.sort_by_key(|entry| std::cmp::Reverse(bucket(number(entry) as i32, bits)));
}

/// Partitions as a mutable hash map walks them into which they came in this order: from the last
/// bucket on, in each the youngest first.
fn order_as_map(tps: &mut [TopicPartition]) {
    order_as_read(tps, TopicPartition::clone);
}

/// The partition that a map of a topic's partitions begins with, whose numbers stand as its znode
/// has them.
pub fn first_of(topic: &std::sync::Arc<str>, numbers: &[u32]) -> Option<u32> {
    let named = |partition: &u32| TopicPartition { topic: topic.clone(), partition: *partition };
    let mut tps: Vec<TopicPartition> = numbers.iter().map(named).collect();
    order_as_map(&mut tps);
    tps.first().map(|tp| tp.partition)
}

/// Partitions of new topics, or new ones of an old topic, as the controller before 1.1 comes to
/// them: read from a map of texts into a map by partition, which is filtered into another one for
/// those that are added.
pub fn order_new(tps: &mut [TopicPartition], added: bool) {
    order_as_map(tps);
    if added {
        order_as_map(tps);
    }
    order_partitions(tps);
}

/// Partitions as a set of 0.8 walks them; up to four stay as they are.
pub fn order_partitions(tps: &mut [TopicPartition]) {
    if tps.len() > 4 {
        tps.sort_by_key(|tp| walk_key(partition_hash(tp)));
    }
}

/// Things as a mutable map by partition walks them into which they came in this order.
pub fn order_as_read<T>(things: &mut [T], of: impl Fn(&T) -> TopicPartition) {
    let mut bits = 4;
    while things.len() * 4 > (3 << bits) {
        bits += 1;
    }
    things.reverse();
    things.sort_by_key(|thing| std::cmp::Reverse(bucket(partition_hash(&of(thing)), bits)));
}

/// Entries of a plan, a map by partition; up to four stay as they are.
pub fn order_plan(plan: &mut [(TopicPartition, Vec<u32>)]) {
    if plan.len() > 4 {
        plan.sort_by_key(|(tp, _)| walk_key(partition_hash(tp)));
    }
}

/// Broker ids as a set walks them; up to four stay as they are.
pub fn order_ids(ids: &mut [u32]) {
    if ids.len() > 4 {
        ids.sort_by_key(|id| walk_key(*id as i32));
    }
}

/// Numbers of a topic's partitions as the controller writes them: its mutable map by partition
/// becomes one by text. (seen: recordings/0.8.2.2/{reassign-partitions,consumer-reassign})
pub fn order_keys(topic: &std::sync::Arc<str>, numbers: &mut [u32]) {
    let named = |partition: &u32| TopicPartition { topic: topic.clone(), partition: *partition };
    let mut tps: Vec<TopicPartition> = numbers.iter().map(named).collect();
    order_as_map(&mut tps);
    if tps.len() > 4 {
        tps.sort_by_key(|tp| walk_key(text(&tp.partition.to_string())));
    }
    for (number, tp) in numbers.iter_mut().zip(tps) {
        *number = tp.partition;
    }
}

/// Replicas as a set of 0.8 walks them; up to four stay as they are.
pub fn order_replicas(replicas: &mut [(TopicPartition, u32)]) {
    if replicas.len() > 4 {
        replicas.sort_by_key(|(tp, id)| walk_key(replica_hash(tp, *id)));
    }
}

/// Things as a `java.util` hash table walks them into which they came in this order: by bucket, the
/// oldest first. [spec kafka-zk.md §10 {h}]
pub fn order_java<T>(things: &mut [T], hash: impl Fn(&T) -> i32) {
    let mut size: u32 = 16;
    while things.len() as u64 * 4 > u64::from(size) * 3 {
        size *= 2;
    }
    things.sort_by_key(|thing| {
        let hash = hash(thing) as u32;
        (hash ^ (hash >> 16)) & (size - 1)
    });
}

/// `String.hashCode`.
pub fn text_hash(of: &str) -> i32 {
    text(of)
}

/// Partitions as the 0.8 consumer claims them: a mutable map into which its assignment put them.
pub fn order_claims(tps: &mut [TopicPartition]) {
    order_as_map(tps);
}

/// A member's streams, by number, as a mutable set of their thread ids walks them.
pub fn order_threads(consumer: &str, numbers: &mut [u32]) {
    let mut bits = 5;
    while numbers.len() * 1_000 > (450 << bits) {
        bits += 1;
    }
    let hash = |n: u32| finalize(mix(mix(CASE_CLASS, text(consumer)), n as i32), 2);
    numbers.sort_by_key(|n| bucket(hash(*n), bits));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: u32) -> Vec<u32> {
        let mut names: Vec<u32> = (0..count).collect();
        order_names(&mut names);
        names
    }

    /// [seen: recordings/0.8.2.2/{topic-create,delete-topic-add-partitions}]
    #[test]
    fn keys_of_a_topic_stand_as_recorded() {
        assert_eq!(names(3), [2, 1, 0]);
        assert_eq!(names(6), [4, 5, 1, 0, 2, 3]);
        assert_eq!(names(7), [4, 5, 6, 1, 0, 2, 3]);
    }

    #[test]
    fn metadata_stand_as_recorded() {
        let mut numbers: Vec<u32> = (0..6).collect();
        order_numbers(&mut numbers, |number| *number);
        assert_eq!(numbers, [2, 5, 4, 1, 3, 0]);
    }

    fn partitions(topic: &str, count: u32) -> Vec<u32> {
        let mut tps: Vec<TopicPartition> =
            (0..count).map(|partition| TopicPartition { topic: topic.into(), partition }).collect();
        order_partitions(&mut tps);
        tps.iter().map(|tp| tp.partition).collect()
    }

    fn new(topic: &str, numbers: &[u32], added: bool) -> Vec<u32> {
        let named = |partition: &u32| TopicPartition { topic: topic.into(), partition: *partition };
        let mut tps: Vec<TopicPartition> = numbers.iter().map(named).collect();
        order_new(&mut tps, added);
        tps.iter().map(|tp| tp.partition).collect()
    }

    /// [seen: recordings/0.8.2.2/{topic-create,auto-create,delete-topic-add-partitions}]
    #[test]
    fn new_partitions_come_as_recorded() {
        assert_eq!(partitions("u", 6), [1, 2, 3, 0, 4, 5]);
        assert_eq!(new("t", &[2, 1, 0], false), [0, 1, 2]);
        assert_eq!(new("fresh", &[2, 1, 0], false), [2, 0, 1]);
        assert_eq!(new("b", &[4, 5, 2, 3], true), [2, 3, 5, 4]);
        assert_eq!(new("c", &[2, 1], true), [2, 1]);
        assert_eq!(first_of(&"a".into(), &[1, 0]), Some(0));
        assert_eq!(first_of(&"b".into(), &[1, 0]), Some(1));
        assert_eq!(new("a", &[4, 5, 6, 2, 3], true), [4, 5, 2, 3, 6]);
    }

    fn claims(topic: &str, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
        let named = |partition: u32| TopicPartition { topic: topic.into(), partition };
        let mut tps: Vec<TopicPartition> = numbers.map(named).collect();
        order_claims(&mut tps);
        tps.iter().map(|tp| tp.partition).collect()
    }

    /// [seen: recordings/0.8.2.2/{consumer-range,consumer-threads}]
    #[test]
    fn a_consumer_claims_and_commits_as_recorded() {
        assert_eq!(claims("login", 0..10), [3, 2, 0, 5, 8, 7, 4, 9, 6, 1]);
        assert_eq!(claims("login", 4..7), [5, 4, 6]);
        assert_eq!(partitions("login", 10), [5, 6, 2, 4, 0, 8, 9, 1, 3, 7]);
        let mut idle = [7, 8, 9];
        order_threads("g_c10", &mut idle);
        assert_eq!(idle, [8, 9, 7]);
        let mut topics = ["t1", "t2", "t3", "x", "y"];
        order_java(&mut topics, |topic| text_hash(topic));
        assert_eq!(topics, ["x", "y", "t1", "t2", "t3"]);
    }
}
