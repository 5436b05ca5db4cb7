//! Up to where a partition is committed. [spec kafka-zk.md I5]

/// What the leader knows of a follower when it looks for the high watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follower {
    /// None: unknown since the leader became one. Nothing moves before it is known.
    pub leo: Option<u64>,
    /// In the ISR, or asked for it: the maximal ISR.
    pub in_sync: bool,
    /// Caught up within the lag time: waited for although it is in no ISR (1.0 and later).
    pub recent: bool,
}

/// The leader's high watermark: the least end of the log of those that count, never less than
/// before. [spec kafka-zk.md I5]
pub fn of_leader(before: u64, leo: u64, followers: impl IntoIterator<Item = Follower>) -> u64 {
    let counted = followers.into_iter().filter(|follower| follower.in_sync || follower.recent);
    let least = counted.map(|follower| follower.leo.unwrap_or(0)).fold(leo, u64::min);
    least.max(before)
}

/// A follower's: what its leader told with a fetch, as far as it has it. [spec kafka-zk.md I5]
pub fn of_follower(leo: u64, told: u64) -> u64 {
    leo.min(told)
}
