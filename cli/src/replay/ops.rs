//! The table of all `op` names with their fields, as the recordings' `check.py` has it, and what
//! each of them tells about the slice that a recording belongs to.

use Home::{Any, Groups, Kraft, Reassignment, Replication, Share, ZkConsumers, ZooKeeper};

/// What an op's name tells: `Any` is done in recordings of several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    Any,
    /// ZooKeeper servers and bare or Java clients, without Kafka.
    ZooKeeper,
    /// Consumers that coordinate through ZooKeeper, and the producers of that time.
    ZkConsumers,
    /// Logs and what becomes of them.
    Replication,
    /// Replicas that move: of these, consumers are only one of the onlookers.
    Reassignment,
    Groups,
    Share,
    /// Nodes, metadata quorum, transactions.
    Kraft,
}

/// Names (a name and its synonyms), what they tell, and all fields that occur.
pub struct Kind {
    pub names: &'static str,
    pub home: Home,
    pub fields: &'static str,
}

impl Kind {
    /// The row of an op's name.
    pub fn of(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.names.split(' ').any(|x| x == name))
    }

    pub fn has_field(&self, field: &str) -> bool {
        self.fields.split(' ').any(|x| x == field)
    }
}

const fn kind(names: &'static str, home: Home, fields: &'static str) -> Kind {
    Kind { names, home, fields }
}

/// Fields that any op may have; `until`, `quiet_s` and `max_s` where it stands in a list.
pub const COMMON: [&str; 7] = ["op", "as", "after_s", "unknown", "quiet_s", "until", "max_s"];

/// Which of the ids an op "a+b" means.
pub const OF_TWO: [&str; 2] = ["kill", "resume"];

/// Requests of a group protocol that are made by hand, with their fields.
pub const REQUESTS: &[(&str, &str)] = &[
    (
        "JoinGroup",
        "group member instance protocol_type protocols session_timeout_ms \
      rebalance_timeout_ms",
    ),
    ("SyncGroup", "group member instance generation protocol_type protocol assignments"),
    ("Heartbeat", "group member instance generation"),
    ("LeaveGroup", "group members"),
    ("OffsetCommit", "group member instance generation offsets"),
    ("OffsetDelete", "group partitions"),
    ("DeleteGroups", "groups"),
    ("describe", "group"),
    (
        "ConsumerGroupHeartbeat",
        "group member epoch instance rack rebalance_timeout_ms topics regex assignor \
      owned",
    ),
];

const KINDS: &[Kind] = &[
    kind("setup", Any, "brokers topics configs zookeepers ids format"),
    kind("start-cluster", Kraft, "brokers topics configs zookeepers ids format"),
    kind("format", Kraft, "ids args"),
    kind("start-broker", Any, "duplicate id port"),
    kind("start-node", Kraft, "duplicate id port"),
    kind("start-brokers", Any, "racks ids one_by_one format"),
    kind("start-nodes", Kraft, "racks ids one_by_one format"),
    kind("kill-broker", Any, "then id"),
    kind("kill-node", Kraft, "then id"),
    kind("kill-brokers", Any, "ids after_each_s"),
    kind("kill-nodes", Kraft, "ids after_each_s"),
    kind("stop-broker", Any, "controlled id"),
    kind("stop-node", Kraft, "controlled id"),
    kind("stop-nodes-in-order", Kraft, "ids"),
    kind("restart-broker", Any, "id down_s"),
    kind("restart-node", Kraft, "id down_s"),
    kind("restart-node-hard", Kraft, "id down_s"),
    kind("pause-broker freeze-broker", Any, "for_ms seconds then id ids"),
    kind("pause-node pause-nodes", Kraft, "for_ms seconds then id ids"),
    kind("resume-broker thaw-broker", Any, "id ids"),
    kind("resume-node resume-nodes", Kraft, "id ids"),
    kind("pause-after-registration", Kraft, "id"),
    kind("start-zookeeper", Any, "id"),
    kind("kill-zookeeper", Replication, "id"),
    kind("kill-zookeepers", Replication, "seconds ids"),
    kind("zk-create", Any, "sequential path session data"),
    kind("zk-set", Any, "sequential path session add_to data add"),
    kind("zk-delete", Any, "path session"),
    kind(
        "create-topic create-topics",
        Any,
        "topic topics assignment partitions replication_factor rf config configs after \
      leader ids bootstrap",
    ),
    kind("delete-topic", Any, "recreate topic"),
    kind("add-partitions", Any, "assignment topic total partitions count"),
    kind("alter-config alter-topic-config", Any, "entity name topic type set delete config"),
    kind("reassign", Reassignment, "replace throttle additional partitions plan bootstrap"),
    kind(
        "alter-reassignments tool-reassign",
        Kraft,
        "replace throttle additional partitions plan bootstrap",
    ),
    kind("reassign-cancel", Reassignment, "targets partitions"),
    kind("tool-cancel", Kraft, "targets partitions"),
    kind("reassign-list", Reassignment, ""),
    kind("reassign-verify", Reassignment, "partitions plan"),
    kind("elect-preferred preferred-election", Any, "type partitions by all_partitions"),
    kind("elect-leaders", Kraft, "type partitions by all_partitions"),
    kind("list-topics", Any, ""),
    kind("describe", Any, "topic what bootstrap"),
    kind("metadata", Any, "broker topic"),
    kind("add-voter", Kraft, "id via"),
    kind("remove-voter", Kraft, "id directory_id"),
    kind("tool", Any, "class args via before"),
    kind("probe", Any, ""),
    kind("read-logs read-dirs read-snapshot", Kraft, "ids partitions"),
    kind(
        "produce produce-each",
        Replication,
        "topic partition acks from to count values per_partition request_timeout_ms \
      wait_each value_bytes props same_key id ids bootstrap timeout_ms producer \
      partitions key runs",
    ),
    kind(
        "consume",
        Replication,
        "topic partition from isolation isolations topics wait_ms bootstrap",
    ),
    kind(
        "consume-both",
        Kraft,
        "topic partition from isolation isolations topics wait_ms bootstrap",
    ),
    kind("txn", Kraft, "producer do txid timeout_ms topic partition value"),
    kind("describe-transactions", Kraft, "txid topic partition"),
    kind("produce-keyed", Any, "topics acks keys value_bytes wait_each"),
    kind(
        "send-keys send-null-keys partition-by-class partition-by-class-null",
        ZkConsumers,
        "topics acks keys value_bytes wait_each",
    ),
    kind(
        "join",
        Groups,
        "member members consumer group instance topics subscription pattern regex streams \
      assignors protocol every_ms config remote_assignor commit_on_revoke",
    ),
    kind(
        "start-consumer",
        ZkConsumers,
        "member members consumer group instance topics subscription pattern regex streams \
      assignors protocol every_ms config remote_assignor commit_on_revoke",
    ),
    kind("start-consumers", ZkConsumers, "at_once subscription group consumers before"),
    kind("leave", Groups, "member members consumer group"),
    kind("stop-consumer", ZkConsumers, "member members consumer group"),
    kind("stop-consumers", ZkConsumers, "at_once consumers"),
    kind("stop", Groups, "member group"),
    kind("kill", Groups, "member consumer"),
    kind("kill-consumer", ZkConsumers, "member consumer"),
    kind("restart", Groups, "member instance old down_s topics protocol assignors remote_assignor"),
    kind("pause-consumer", ZkConsumers, "consumer for_ms"),
    kind("resume-consumer", ZkConsumers, "consumer"),
    kind("pause-poll", Groups, "member group"),
    kind("resume-poll", Groups, "member group"),
    kind("subscribe", Groups, "member topics"),
    kind("unsubscribe", Groups, "member"),
    kind("commit", Any, "member members consumer offset offsets group"),
    kind("remove-members", Groups, "instances"),
    kind("delete-group", Groups, ""),
    kind(
        "share",
        Share,
        "mode topic partitions per_partition from group members poll_ms commit \
      acknowledge",
    ),
    kind(
        "start-console-consumer",
        ZkConsumers,
        "config streams pattern subscription group from_beginning n",
    ),
    kind("stop-console-consumer", ZkConsumers, "n"),
    kind("race-statistics", ZkConsumers, "ops group runs"),
    kind(
        "request",
        Groups,
        "api v group member epoch instance rack rebalance_timeout_ms topics regex \
      assignor owned generation offsets repeat",
    ),
    kind("requests", Groups, "requests facts"),
    kind("start-server", ZooKeeper, "id ids server since_loss_s"),
    kind("kill-server", ZooKeeper, "id ids"),
    kind("stop-server", ZooKeeper, "id"),
    kind("pause-server", ZooKeeper, "id ids"),
    kind("resume-server", ZooKeeper, "id ids"),
    kind(
        "connect",
        ZooKeeper,
        "clients client server timeout_ms granted_timeout_ms read_only wait_s into on",
    ),
    kind("connect-each", ZooKeeper, "server timeouts_ms then"),
    kind(
        "call",
        ZooKeeper,
        "client name path data mode version watch into relative_zxid exist child repeat \
      wait_answer if_connected on",
    ),
    kind("poll", ZooKeeper, "client name path data mode every_s once at_once max_s into"),
    kind("listen", ZooKeeper, "client max_s until pings_every_ms into on"),
    kind("ping", ZooKeeper, "client wait_s into on"),
    kind("resume", ZooKeeper, "client server timeout_ms read_only wait_s into on"),
    kind("end-session", ZooKeeper, "client how on"),
    kind(
        "silence",
        ZooKeeper,
        "server client timeout_ms ephemeral watcher last_packet_phase_ms max_s",
    ),
    kind("setData", ZooKeeper, "release path start_version data version"),
    kind("sequence", Any, "ops"),
    kind("read", Any, "fact topic partition broker topics bootstrap wait_ms server client what"),
    kind(
        "state wait idle",
        Any,
        "for until max_s answers pause_s every_s pings pings_every_ms into seconds group",
    ),
];
