//! The order of votes and the layout of transaction ids. [spec zookeeper.md Q1, Q2, Q7]

use super::op::Zxid;

/// For whom a server votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vote {
    pub leader: u64,
    pub zxid: Zxid,
    pub peer_epoch: i64,
}

/// Whether a new vote replaces the current one: the higher epoch, then the higher zxid, then the
/// higher server id. A server of weight 0 never wins. [spec zookeeper.md Q2]
pub fn beats(new: Vote, new_weight: u64, current: Vote) -> bool {
    new_weight != 0
        && (new.peer_epoch, new.zxid, new.leader)
            > (current.peer_epoch, current.zxid, current.leader)
}

/// Epoch in the upper half, counter below. [spec zookeeper.md Q7]
pub const fn zxid(epoch: i64, counter: i64) -> Zxid {
    (epoch << 32) | (counter & 0xffff_ffff)
}

pub const fn epoch_of(zxid: Zxid) -> i64 {
    zxid >> 32
}

pub const fn counter_of(zxid: Zxid) -> i64 {
    zxid & 0xffff_ffff
}
