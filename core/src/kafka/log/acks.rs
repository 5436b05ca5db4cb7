//! When a producer gets which answer. [spec kafka-zk.md I11, I12]

/// What is wrong with a request to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    NotLeaderOrFollower,
    InvalidRequiredAcks,
    /// Nothing was appended.
    NotEnoughReplicas,
    /// The records stay.
    NotEnoughReplicasAfterAppend,
    /// The records stay.
    RequestTimedOut,
}

impl Error {
    pub fn name(self) -> &'static str {
        match self {
            Error::NotLeaderOrFollower => "NOT_LEADER_OR_FOLLOWER",
            Error::InvalidRequiredAcks => "INVALID_REQUIRED_ACKS",
            Error::NotEnoughReplicas => "NOT_ENOUGH_REPLICAS",
            Error::NotEnoughReplicasAfterAppend => "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
            Error::RequestTimedOut => "REQUEST_TIMED_OUT",
        }
    }
}

/// What an answer waits for, after the append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waits {
    /// There is no answer.
    Never,
    ForAppend,
    ForHighWatermark,
    /// 0.8: until so many replicas have it, the leader among them.
    ForReplicas(u32),
}

/// Where a request meets its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub acks: i32,
    pub is_leader: bool,
    /// Members of the ISR, the leader among them.
    pub isr: u32,
    pub min_insync: u32,
}

/// Whether records are appended, and what the answer waits for. 0.8 (`counts`) takes any number
/// of replicas. [spec kafka-zk.md I11, I12]
pub fn on_append(asked: Asked, counts: bool) -> Result<Waits, Error> {
    let waits = match asked.acks {
        0 => Waits::Never,
        1 => Waits::ForAppend,
        -1 => Waits::ForHighWatermark,
        acks if counts => u32::try_from(acks).map_or(Waits::ForHighWatermark, Waits::ForReplicas),
        _ => return Err(Error::InvalidRequiredAcks),
    };
    if !asked.is_leader {
        return Err(Error::NotLeaderOrFollower);
    }
    if waits == Waits::ForHighWatermark && asked.isr < asked.min_insync {
        return Err(Error::NotEnoughReplicas);
    }
    Ok(waits)
}

/// What is answered once the high watermark has passed the records. [spec kafka-zk.md I11]
pub fn on_committed(isr: u32, min_insync: u32) -> Result<(), Error> {
    if isr < min_insync { Err(Error::NotEnoughReplicasAfterAppend) } else { Ok(()) }
}
