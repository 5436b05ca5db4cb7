//! What waits in the queue.

use crate::base::Instant;
use crate::kafka;
use crate::kafka::broker::Timer;
use crate::sim::RowId;
use crate::zk::op::{ConnId, ToClient, ToServer};

/// An entry of the queue with the row that caused it.
#[derive(Clone, Debug)]
pub struct Item {
    pub cause: RowId,
    pub sent_at: Instant,
    pub what: What,
}

/// On the way to the server, on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Up {
    Syn,
    Frame(ToServer),
    /// The client closed, or its kernel did when it died.
    Fin,
}

/// On the way to a client, on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Down {
    SynAck,
    /// Nobody listens, or nobody knows this connection.
    Rst,
    Frame(ToClient),
    Fin,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A started process begins to run.
    Boot {
        proc: u16,
        life: u32,
    },
    Resume {
        proc: u16,
        life: u32,
    },
    ToServer {
        conn: ConnId,
        up: Up,
    },
    ToClient {
        conn: ConnId,
        down: Down,
    },
    Peer {
        from: u16,
        to: u16,
        to_life: u32,
        from_id: u32,
        msg: kafka::Msg,
    },
    ClientTimer {
        proc: u16,
        life: u32,
    },
    BrokerTimer {
        proc: u16,
        life: u32,
        timer: Timer,
    },
    /// The server looks for sessions whose time is up.
    Expiry,
    /// The server looks for containers and TTL nodes that nobody needs.
    Sweep,
    /// A rolling restart looks whether it can go on.
    Roll,
}

impl What {
    /// The process that would handle it, for what a standing process leaves waiting.
    pub fn receiver(&self) -> Option<u16> {
        match self {
            What::Peer { to, .. } => Some(*to),
            What::Boot { proc, .. }
            | What::ClientTimer { proc, .. }
            | What::BrokerTimer { proc, .. } => Some(*proc),
            _ => None,
        }
    }
}
