//! Which partition a record with a key goes to. Pure. [spec producer.md]

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(murmur2(b"21"), -973_932_308);
        assert_eq!(to_positive(-1), 2_147_483_647);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN);
        assert_eq!(abs(i32::MIN), 0);
        assert_eq!(bytes_hash(&[]), 1);
        assert_eq!(bytes_hash(&[255]), 30);
        assert_eq!(by_murmur2(b"21", 7), Some(3));
        assert_eq!(by_hash_code(-7, 4), Some(3));
        assert_eq!(by_hash_code(1, 0), None);
    }
}
