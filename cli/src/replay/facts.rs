//! Names of the facts that a step of a recording can state. A name that the file itself gives to an
//! answer (`into`, `fact`, `facts`) is known too.

/// How a step is made or timed, and what is only told.
const INFORMATION: &str = "do op until quiet_s pause_s max_s reads read start before compare note \
    facts unknown id file args request maybe log tool lines votes describe disks_at_once \
    exit_after_s hashes_checked hashes_wrong commits_checked commits_elsewhere \
    partitions_checked partitions_wrong";

/// Brokers and topics with ZooKeeper, their logs, and 0.8's consumers.
const WITH_ZOOKEEPER: &str = "zk_txns znodes removed topics controller watches result produced \
    consumed records checkpointed_hw partition_folders process_exit_code exit_code group \
    consumer_events rebalance runs vectors metadata broker_2_alive disks disks_before_kill fetched \
    fetched_t elected_at_once roles election roles_meanwhile";

/// Groups by coordinator, and requests of their protocols made by hand.
const GROUPS: &str = "generations_used callbacks wire offsets_topic committed_offsets_after seen \
    member_id_given state_after state_before state generation_same generation_plus generation \
    members member same_member_id leader_is_old_leader leader_is_new_id new_leader \
    skip_assignment second join_of_new follower_heartbeat parked_sync assignment \
    also_generation_minus_1 follower follower_left_out_gets higher partition rejoin_with_it \
    with_version_9 plus tries heartbeats_of_L heartbeat_of_L heartbeat_of_L_after \
    join_of_L_with_old_id members_seen_by_leader leader_sync heartbeats_L_then_F F_afterwards \
    F_heartbeat answer rejoin_order id_order join_answer use_of_the_id_later response group_after \
    commit error keys runs_as_partition_and_run_length polls heartbeats";

/// Brokers and controllers without ZooKeeper.
const KRAFT: &str = "metadata_records topics_removed brokers voters quorum_state_files files \
    new_log_records checkpoint listed after leader end_before end_after raw_count";

/// ZooKeeper alone.
const ZOOKEEPER: &str = "servers leader clients client_told told events event results \
    read_only_results frames reads write write_visible stale_create_visible children \
    children_seen_on_it ephemeral ephemerals_seen_at_once e1 e2 read_now ephemeral_still_there \
    ephemeral_of_c ephemeral_of_c1 after_the_last_answer replies_to_the_create \
    replies_to_the_creates silent_connection client_connection old_connection new_connection \
    resume_afterwards resume_on_other_server pings_sent connection_closed_by_server \
    negotiated_timeouts_ms last_zxid_seen_by_c1 running_follower_before_the_kill";

/// Names that are made of a part and what it is about.
const BEGINNINGS: [&str; 6] =
    ["metadata_of_", "seconds_", "read_from_", "files ", "snapshot_lines_of_node_", "printed_by_"];
const ENDS: [&str; 3] = ["_ms", "_after_s", "_meanwhile"];

/// Is this a name that the recordings use?
pub fn is_known(name: &str) -> bool {
    let listed = |names: &str| names.split(' ').any(|x| x == name);
    [INFORMATION, WITH_ZOOKEEPER, GROUPS, KRAFT, ZOOKEEPER].into_iter().any(listed)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end))
}
