//! What a cluster's brokers are set to, by the names of `server.properties`.

use std::sync::Arc;

use super::release::Release;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub release: Release,
    /// `auto.leader.rebalance.enable`
    pub auto_leader_rebalance: bool,
    /// `leader.imbalance.check.interval.seconds`
    pub imbalance_check_s: u32,
    /// `leader.imbalance.per.broker.percentage`
    pub imbalance_percent: u32,
    /// `controlled.shutdown.enable`
    pub controlled_shutdown: bool,
    /// `controlled.shutdown.max.retries`
    pub shutdown_retries: u32,
    /// `controlled.shutdown.retry.backoff.ms`
    pub shutdown_backoff_ms: u32,
    /// `auto.create.topics.enable`
    pub auto_create_topics: bool,
    /// `num.partitions`, of topics made by themselves
    pub num_partitions: u32,
    /// `default.replication.factor`
    pub default_replication: u32,
    /// `replica.lag.time.max.ms`
    pub replica_lag_ms: u32,
    /// `replica.lag.max.messages`, of 0.8 alone.
    pub replica_lag_messages: u32,
    /// `replica.high.watermark.checkpoint.interval.ms`
    pub checkpoint_ms: u32,
    /// `delete.topic.enable`
    pub delete_topics: bool,
    /// `unclean.leader.election.enable`
    pub unclean_election: bool,
    /// `min.insync.replicas`
    pub min_insync: u32,
    /// `log.retention.bytes`; `None`: no limit.
    pub retention_bytes: Option<u64>,
    /// `offsets.topic.num.partitions`
    pub offsets_partitions: u32,
    /// `offsets.topic.replication.factor`
    pub offsets_replication: u32,
    /// What brokers advertise: one host, and a port that is this plus the broker's id; `None`:
    /// each is on a machine of its own.
    pub advertised: Option<(Arc<str>, u32)>,
}

impl Settings {
    /// The release's own defaults.
    pub fn of(release: Release) -> Settings {
        Settings {
            release,
            auto_leader_rebalance: true,
            imbalance_check_s: 300,
            imbalance_percent: 10,
            controlled_shutdown: true,
            shutdown_retries: 3,
            shutdown_backoff_ms: 5_000,
            auto_create_topics: true,
            num_partitions: 1,
            default_replication: 1,
            checkpoint_ms: 5_000,
            replica_lag_ms: release.replica_lag_ms(),
            replica_lag_messages: 4_000,
            delete_topics: release.deletes_topics_by_default(),
            unclean_election: release.unclean_by_default(),
            min_insync: 1,
            retention_bytes: None,
            offsets_partitions: 50,
            offsets_replication: 3,
            advertised: None,
        }
    }
}
