//! Which release of Kafka a cluster runs, and what it does differently: a table of switches, each
//! with the rule it stands for. [spec kafka-zk.md]

use super::log::epoch_cache::Agreement;
use super::log::isr;

/// The releases that were run and recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    V0_8_2_2,
    V0_11_0_3,
    V1_1_1,
    #[default]
    V2_8_2,
    V3_9_2,
}

use Release::{V0_8_2_2, V0_11_0_3, V1_1_1, V2_8_2, V3_9_2};

impl Release {
    pub const ALL: [Release; 5] = [V0_8_2_2, V0_11_0_3, V1_1_1, V2_8_2, V3_9_2];

    pub const fn as_str(self) -> &'static str {
        match self {
            V0_8_2_2 => "0.8.2.2",
            V0_11_0_3 => "0.11.0.3",
            V1_1_1 => "1.1.1",
            V2_8_2 => "2.8.2",
            V3_9_2 => "3.9.2",
        }
    }

    pub fn parse(name: &str) -> Option<Release> {
        Release::ALL.into_iter().find(|release| release.as_str() == name)
    }

    /// The release of ZooKeeper that its brokers were recorded with.
    pub const fn zookeeper(self) -> crate::zk::op::Release {
        match self {
            V0_8_2_2 | V0_11_0_3 | V1_1_1 => crate::zk::op::Release::V3_4_6,
            V2_8_2 => crate::zk::op::Release::V3_5_9,
            V3_9_2 => crate::zk::op::Release::V3_8_4,
        }
    }

    /// Milliseconds. [spec kafka-zk.md B4]
    pub const fn session_timeout_ms(self) -> i32 {
        if self.at_least(V2_8_2) { 18_000 } else { 6_000 }
    }

    /// `replica.lag.time.max.ms`, milliseconds. [spec kafka-zk.md I2]
    pub const fn replica_lag_ms(self) -> u32 {
        if self.at_least(V2_8_2) { 30_000 } else { 10_000 }
    }

    const fn at_least(self, other: Release) -> bool {
        self as u32 >= other as u32
    }

    /// The controller election runs before the registration in `/brokers/ids`. [B5]
    pub const fn elects_before_registering(self) -> bool {
        !self.at_least(V1_1_1)
    }

    /// Persistent paths are created blindly, so that each refused one takes a zxid; before, they
    /// are looked for first. [W2]
    pub const fn creates_paths_blindly(self) -> bool {
        self.at_least(V1_1_1)
    }

    /// A NodeExists of the same broker is taken for its own lost session's: it waits one session
    /// timeout and tries again. [B1]
    pub const fn waits_for_own_old_node(self) -> bool {
        !self.at_least(V0_11_0_3)
    }

    /// Registration is one multi, and its czxid the broker's epoch. [B2]
    pub const fn has_broker_epoch(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// The controller's writes travel with a check of `/controller_epoch`, and its election is one
    /// multi. [C1, C2]
    pub const fn fences_controller_writes(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// Writes of entity configs travel with a check of `/controller`. [C9]
    pub const fn checks_controller_on_config(self) -> bool {
        self.at_least(V3_9_2)
    }

    /// The controller sends the writes of a batch without waiting between them. [WG1]
    pub const fn pipelines(self) -> bool {
        self.at_least(V1_1_1)
    }

    /// The controller's thread hears of a lost session after all events that came before. [L4]
    pub const fn queues_session_loss(self) -> bool {
        !self.at_least(V1_1_1)
    }

    /// Replicas on dead brokers go Offline at a failover, which writes states. [F2]
    pub const fn offlines_dead_at_failover(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// A block of producer ids is claimed at every process start. [§1 latest_producer_id_block]
    pub const fn claims_producer_block(self) -> bool {
        self.at_least(V0_11_0_3) && !self.at_least(V3_9_2)
    }

    pub const fn has_cluster_id(self) -> bool {
        self.at_least(V0_11_0_3)
    }

    /// `/feature` is kept, with this version. [§1 feature]
    pub const fn feature_version(self) -> Option<u32> {
        match self {
            V0_8_2_2 | V0_11_0_3 | V1_1_1 => None,
            V2_8_2 => Some(1),
            V3_9_2 => Some(2),
        }
    }

    /// A topic's znode has an id and lists of moving replicas. [§1 /brokers/topics/T]
    pub const fn has_topic_ids(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// Tools ask a broker; before, they write to ZooKeeper themselves. [N2, W3]
    pub const fn tools_ask_brokers(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// Groups have a coordinator; before, their consumers meet in ZooKeeper.
    pub const fn groups_by_coordinator(self) -> bool {
        self.at_least(V0_11_0_3)
    }

    /// The leader asks the controller for a change of the ISR; before, it writes the state itself.
    /// [I4]
    pub const fn alters_isr_by_controller(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// The topic's znode says which replicas come and go; before, only the plan does. [§8]
    pub const fn moves_in_topic_znode(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// An entry of a plan that names a dead broker is dropped. [§8, R2]
    pub const fn reassigns_to_live_only(self) -> bool {
        !self.at_least(V0_11_0_3)
    }

    /// The controller watches the states of partitions that move: it hears of no ISR otherwise.
    pub const fn watches_moving_states(self) -> bool {
        !self.alters_isr_by_controller()
    }

    /// The reassignment tool looks itself whether the plan's partitions exist.
    pub const fn tool_checks_plan(self) -> bool {
        self.at_least(V0_11_0_3)
    }

    /// After its own write of an ISR a leader leaves a notice for the controller. [I4]
    pub const fn notifies_isr_changes(self) -> bool {
        self.at_least(V0_11_0_3) && !self.at_least(V2_8_2)
    }

    /// A silent follower leaves the ISR even when it lacks nothing. [I2]
    pub const fn shrinks_by_time_alone(self) -> bool {
        !self.at_least(V2_8_2)
    }

    /// A follower that lacks too many records leaves the ISR, however lively. [I2]
    pub const fn shrinks_by_messages(self) -> bool {
        !self.at_least(V0_11_0_3)
    }

    /// ZkClient keeps a request that lost its connection or session until it has another one.
    /// [F5]
    pub const fn retries_until_connected(self) -> bool {
        !self.at_least(V1_1_1)
    }

    /// Whoever has nothing left to fetch from a broker waits for its last answer before it obeys
    /// the controller again. [F6]
    pub const fn waits_for_last_fetch(self) -> bool {
        matches!(self, V0_8_2_2)
    }

    /// How many looks at the ISR there are within `replica.lag.time.max.ms`. [I2]
    pub const fn lag_checks_per_limit(self) -> u64 {
        if self.at_least(V0_11_0_3) { 2 } else { 1 }
    }

    /// Records carry their leader epochs, and a log knows where each begins. [I7, I8]
    pub const fn keeps_leader_epochs(self) -> bool {
        self.at_least(V0_11_0_3)
    }

    /// How a new follower comes to agree with its leader. [I9]
    pub const fn agreement(self) -> Agreement {
        match self {
            V0_8_2_2 => Agreement::ToHighWatermark,
            V0_11_0_3 | V1_1_1 => Agreement::AskOnce,
            V2_8_2 | V3_9_2 => Agreement::OnFetch,
        }
    }

    /// How a leader sees who is in sync, where records carry epochs. [I2, I3, I5]
    pub const fn isr_rules(self) -> Option<isr::Rules> {
        let by_time = isr::Rules { move_on_shrink: true, ..isr::Rules::V1_1 };
        match self {
            V0_8_2_2 => None,
            V0_11_0_3 => Some(isr::Rules { wait_for_recent: false, ..by_time }),
            V1_1_1 => Some(by_time),
            V2_8_2 => Some(isr::Rules::V2_8),
            V3_9_2 => Some(isr::Rules::V3_9),
        }
    }

    /// `min.insync.replicas` is never more than there are replicas. [I5, I11]
    pub const fn bounds_min_insync(self) -> bool {
        self.at_least(V3_9_2)
    }

    /// An unclean election is allowed unless the topic says otherwise. [§5]
    pub const fn unclean_by_default(self) -> bool {
        !self.at_least(V0_11_0_3)
    }

    /// The last member of an ISR is removed too where an unclean election is allowed. [T3]
    pub const fn empties_isr_when_unclean(self) -> bool {
        !self.at_least(V0_11_0_3)
    }

    /// A change to unclean election on a topic elects at once. [L2]
    pub const fn elects_on_unclean_config(self) -> bool {
        self.at_least(V2_8_2)
    }

    /// An unclean election leaves `leader_recovery_state` 1. [L3]
    pub const fn marks_unclean_leaders(self) -> bool {
        self.at_least(V3_9_2)
    }

    /// A preferred election writes a partition even though its preferred replica leads. [L1]
    pub const fn rewrites_preferred_leaders(self) -> bool {
        matches!(self, V1_1_1)
    }

    /// A controlled shutdown chooses by ISR order and does not look who lives. [§5, L4]
    pub const fn shuts_down_by_isr_order(self) -> bool {
        matches!(self, V0_8_2_2)
    }

    /// `delete.topic.enable` unless set. [N5]
    pub const fn deletes_topics_by_default(self) -> bool {
        self.at_least(V1_1_1)
    }

    /// `/controller`'s payload. [§1]
    pub const fn controller_version(self) -> u32 {
        if self.at_least(V3_9_2) { 2 } else { 1 }
    }

    /// A topic's name that differs from another only in `.` and `_` is refused. [N1]
    pub const fn refuses_colliding_names(self) -> bool {
        self.at_least(V0_11_0_3)
    }

    /// Requests of the controller carry the epoch of the broker they are meant for. [C5]
    pub const fn fences_broker_epochs(self) -> bool {
        self.at_least(V2_8_2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_their_names() {
        for release in Release::ALL {
            assert_eq!(Release::parse(release.as_str()), Some(release));
        }
        assert_eq!(Release::parse("2.8"), None);
    }
}
