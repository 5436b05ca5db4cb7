//! The order in which Scala 2.11 walks a set of partitions, as a tool prints it.

use kafkascope_core::zk::op::Path;

/// `kafka.common.TopicAndPartition`: topic and number.
pub type Pair = (Path, u32);

/// Immutable sets keep so many elements as they came; larger ones are hash tries.
const SMALL: usize = 4;

/// Partitions as `Set.toString` lists them.
pub fn set(mut pairs: Vec<Pair>) -> Vec<Pair> {
    if pairs.len() > SMALL {
        pairs.sort_by_key(|pair| walk(improved(hash(pair))));
    }
    pairs
}

/// A trie branches by five bits, the lowest first.
fn walk(hash: u32) -> [u32; 7] {
    [0, 5, 10, 15, 20, 25, 30].map(|shift| hash >> shift & 31)
}

fn improved(hash: u32) -> u32 {
    let mut h = hash.wrapping_add(!(hash << 9));
    h ^= h >> 14;
    h = h.wrapping_add(h << 4);
    h ^ (h >> 10)
}

/// The hash of a case class: MurmurHash3 over its fields.
fn hash((topic, number): &Pair) -> u32 {
    let text = topic.encode_utf16();
    let text = text.fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    finish(mix(mix(0xcafe_babe, text), *number) ^ 2)
}

fn mix(hash: u32, data: u32) -> u32 {
    let k = data.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    (hash ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn finish(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_partitions_is_walked_as_the_tool_printed_it() {
        let of = |topic: &str, numbers: std::ops::Range<u32>| -> Vec<Pair> {
            numbers.map(|number| (topic.into(), number)).collect()
        };
        let all = [of("solo", 0..1), of("t", 0..3), of("u", 0..6)].concat();
        let names: Vec<String> = set(all).iter().map(|(t, p)| format!("[{t},{p}]")).collect();
        // (seen: recordings/0.8.2.2/broker-crash)
        let seen = "[u,1] [u,2] [t,1] [t,2] [t,0] [u,3] [u,0] [u,4] [solo,0] [u,5]";
        assert_eq!(names.join(" "), seen);
    }
}
