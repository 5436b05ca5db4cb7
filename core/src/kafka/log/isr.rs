//! The in-sync replicas of a partition as its leader sees them. [spec kafka-zk.md I1-I5]

use std::collections::BTreeMap;

use super::high_watermark;

/// How a release takes a follower out of the ISR. [spec kafka-zk.md I2]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shrink {
    /// 0.8: no fetch that moved it for too long, or more than so many messages behind.
    Messages(u64),
    /// 0.9 to 2.0: not caught up for too long, however little there is to catch up with.
    LagTime,
    /// Later: not at the end of the log, and not caught up for too long.
    LagTimeUnlessAtEnd,
}

/// What differs between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    pub shrink: Shrink,
    /// A newcomer must have reached the leader's own epoch (0.11 and later). [I3]
    pub reach_epoch: bool,
    /// A follower out of the ISR that caught up lately holds the high watermark (1.0 on). [I5]
    pub wait_for_recent: bool,
    /// The high watermark is looked at again after a shrink (3.9; not 2.8). [I5]
    pub move_on_shrink: bool,
    /// It stands still while the ISR is below `min.insync.replicas` (3.7 on). [I5]
    pub hold_below_min: bool,
}

impl Rules {
    pub const fn v0_8(lag_messages: u64) -> Rules {
        Rules {
            shrink: Shrink::Messages(lag_messages),
            reach_epoch: false,
            wait_for_recent: false,
            move_on_shrink: true,
            hold_below_min: false,
        }
    }

    pub const V1_1: Rules = Rules { shrink: Shrink::LagTime, ..Rules::V2_8 };
    pub const V2_8: Rules = Rules {
        shrink: Shrink::LagTimeUnlessAtEnd,
        reach_epoch: true,
        wait_for_recent: true,
        move_on_shrink: false,
        hold_below_min: false,
    };
    pub const V3_9: Rules = Rules { move_on_shrink: true, hold_below_min: true, ..Rules::V2_8 };
}

/// What the leader remembers of a follower. Times are milliseconds. [spec kafka-zk.md I1]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Follower {
    /// None until it fetched from this leader.
    pub leo: Option<u64>,
    pub last_caught_up: u64,
    /// When its log end last moved. [I2, 0.8]
    pub last_moved: u64,
    /// When it fetched last, and where the leader's log ended then.
    last_fetch: Option<(u64, u64)>,
}

impl Follower {
    /// As it is when its leader becomes one: an ISR member has caught up just now, another never.
    /// [spec kafka-zk.md I1]
    pub fn new(in_isr: bool, now: u64) -> Follower {
        let last_caught_up = if in_isr { now } else { 0 };
        Follower { leo: None, last_caught_up, last_moved: now, last_fetch: None }
    }

    /// Its leader is made leader once more: of another epoch, with the same followers.
    pub fn led_anew(&mut self, in_isr: bool, now: u64, leader_leo: u64) {
        self.last_caught_up = if in_isr { now } else { 0 };
        self.last_fetch = Some((now, leader_leo));
    }

    /// It asks for what comes at `offset`, so its log ends there. [spec kafka-zk.md I1]
    pub fn fetched(&mut self, offset: u64, now: u64, leader_leo: u64) {
        let caught_up = match self.last_fetch {
            _ if offset >= leader_leo => Some(now),
            Some((then, leo)) if offset >= leo => Some(then),
            _ => None,
        };
        self.last_caught_up = self.last_caught_up.max(caught_up.unwrap_or(0));
        self.last_fetch = Some((now, leader_leo));
        if self.leo != Some(offset) {
            self.last_moved = now;
        }
        self.leo = Some(offset);
    }

    /// Whether it caught up within the lag time.
    pub fn is_recent(&self, now: u64, lag: u64) -> bool {
        now.saturating_sub(self.last_caught_up) <= lag
    }

    /// Whether an ISR member has to leave. [spec kafka-zk.md I2]
    pub fn is_out(&self, shrink: Shrink, leader_leo: u64, now: u64, lag: u64) -> bool {
        match shrink {
            Shrink::Messages(most) => {
                let behind = self.leo.map_or(0, |leo| leader_leo.saturating_sub(leo));
                now.saturating_sub(self.last_moved) > lag || behind > most
            }
            Shrink::LagTime => !self.is_recent(now, lag),
            Shrink::LagTimeUnlessAtEnd => self.leo != Some(leader_leo) && !self.is_recent(now, lag),
        }
    }
}

/// A change of the ISR that nobody has confirmed yet. [spec kafka-zk.md I4]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InFlight {
    Shrink(Vec<u32>),
    Expand(Vec<u32>),
}

impl InFlight {
    pub fn isr(&self) -> &[u32] {
        match self {
            InFlight::Shrink(isr) | InFlight::Expand(isr) => isr,
        }
    }
}

/// A leader's view of its partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leader {
    pub rules: Rules,
    pub id: u32,
    pub isr: Vec<u32>,
    pub in_flight: Option<InFlight>,
    pub followers: BTreeMap<u32, Follower>,
    pub leo: u64,
    pub high_watermark: u64,
    /// Where the leader's own epoch begins.
    pub epoch_start: u64,
    /// `replica.lag.time.max.ms`.
    pub lag: u64,
    pub min_insync: u32,
}

impl Leader {
    /// The ISR, and who asked to join it: an expand counts before it is confirmed, a shrink only
    /// after. [spec kafka-zk.md I4]
    pub fn maximal_isr(&self) -> &[u32] {
        match &self.in_flight {
            Some(InFlight::Expand(isr)) => isr,
            _ => &self.isr,
        }
    }

    /// A follower fetches. It may be to join the ISR, which is proposed at once, and the high
    /// watermark may move. [spec kafka-zk.md I1, I3, I5]
    pub fn fetched(&mut self, replica: u32, offset: u64, now: u64) {
        let leo = self.leo;
        let Some(follower) = self.followers.get_mut(&replica) else { return };
        follower.fetched(offset, now, leo);
        if self.may_join(replica) {
            let joined = self.isr.iter().copied().chain([replica]).collect();
            self.in_flight = Some(InFlight::Expand(joined));
        }
        self.move_high_watermark(now);
    }

    /// Whether an assigned follower that isn't in the ISR may come to its end: at the high
    /// watermark and in the leader's own epoch. [spec kafka-zk.md I3]
    pub fn may_join(&self, replica: u32) -> bool {
        let reached = self.followers.get(&replica).and_then(|follower| follower.leo);
        let reached = reached.is_some_and(|leo| {
            leo >= self.high_watermark && (!self.rules.reach_epoch || leo >= self.epoch_start)
        });
        reached && self.in_flight.is_none() && !self.isr.contains(&replica)
    }

    /// The leader writes. [spec kafka-zk.md I5]
    pub fn append(&mut self, records: u64, now: u64) {
        self.leo += records;
        self.move_high_watermark(now);
    }

    /// ISR members that have to leave; nobody while a change is in flight. [spec kafka-zk.md I2]
    pub fn out_of_sync(&self, now: u64) -> Vec<u32> {
        let is_out = |replica: &u32| {
            let follower = self.followers.get(replica);
            follower.is_some_and(|f| f.is_out(self.rules.shrink, self.leo, now, self.lag))
        };
        match self.in_flight {
            Some(_) => Vec::new(),
            None => self.isr.iter().copied().filter(is_out).collect(),
        }
    }

    /// Proposes the ISR without those that have to leave. [spec kafka-zk.md I2, I4]
    pub fn propose_shrink(&mut self, now: u64) -> Option<&InFlight> {
        let out = self.out_of_sync(now);
        if !out.is_empty() {
            let left = self.isr.iter().copied().filter(|id| !out.contains(id)).collect();
            self.in_flight = Some(InFlight::Shrink(left));
        }
        self.in_flight.as_ref()
    }

    /// The change in flight is confirmed. [spec kafka-zk.md I4, I5]
    pub fn confirmed(&mut self, now: u64) {
        match self.in_flight.take() {
            None => {}
            Some(InFlight::Expand(isr)) => {
                self.isr = isr;
                self.move_high_watermark(now);
            }
            Some(InFlight::Shrink(isr)) => {
                self.isr = isr;
                if self.rules.move_on_shrink {
                    self.move_high_watermark(now);
                }
            }
        }
    }

    /// [spec kafka-zk.md I5]
    pub fn move_high_watermark(&mut self, now: u64) {
        if self.rules.hold_below_min && self.isr.len() < self.min_insync as usize {
            return;
        }
        let isr = self.maximal_isr();
        let seen = self.followers.iter().map(|(id, follower)| high_watermark::Follower {
            leo: follower.leo,
            in_sync: isr.contains(id),
            recent: self.rules.wait_for_recent && follower.is_recent(now, self.lag),
        });
        self.high_watermark = high_watermark::of_leader(self.high_watermark, self.leo, seen);
    }
}
