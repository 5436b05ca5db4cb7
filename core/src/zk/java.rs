//! Where a Java collection decides an order that clients can see, its order is part of the
//! behaviour: `java.util.HashSet` of strings, walked bucket by bucket. [spec zookeeper.md S3]

/// `String.hashCode`: over UTF-16 code units.
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The bucket of a hash in a table of `buckets` (a power of two): upper bits are spread down.
pub fn bucket(hash: i32, buckets: u32) -> u32 {
    let hash = hash as u32;
    (hash ^ (hash >> 16)) & (buckets - 1)
}

/// Buckets of a `HashSet` made empty, before the first growth.
pub const FRESH: u32 = 16;

/// Buckets that a set with `buckets` has once it holds `len` entries: doubled above three quarters.
pub fn grown(mut buckets: u32, len: usize) -> u32 {
    while len as u64 * 4 > u64::from(buckets) * 3 && buckets < 1 << 30 {
        buckets *= 2;
    }
    buckets
}

/// Buckets of a set cloned from one with `len` entries: made to fit. [spec zookeeper.md S3]
pub fn fitted(len: usize) -> u32 {
    let wanted = (len as u64 * 4 / 3 + 1).min(1 << 30) as u32;
    wanted.next_power_of_two()
}

/// Sorts entries that stand in insertion order into the order in which the set is walked: by
/// bucket, within a bucket as inserted.
pub fn walk<T>(entries: &mut [T], buckets: u32, text: impl Fn(&T) -> &str) {
    entries.sort_by_cached_key(|entry| bucket(string_hash(text(entry)), buckets));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(string_hash("hello"), 99_162_322);
        assert_eq!(string_hash("h\u{e9}\u{65e5}"), (104 * 31 + 0xe9) * 31 + 0x65e5);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN);
    }

    #[test]
    fn sets_grow_and_are_copied_as_in_java() {
        assert_eq!((grown(16, 12), grown(16, 13), grown(32, 5)), (16, 32, 32));
        assert_eq!([0, 1, 2, 3, 5, 6, 10, 12].map(fitted), [1, 2, 4, 8, 8, 16, 16, 32]);
    }
}
