//! What counts (`count.py`): which fields are compared, by entry or as one, and how many facts a
//! recording holds. A comparison's line is right only if b + d + e equal these totals.

use serde_json::Value;

/// Lists whose order is compared.
pub const ORDER: [&str; 7] = [
    "zk_txns",
    "metadata_records",
    "callbacks",
    "wire",
    "offsets_topic",
    "consumer_events",
    "new_log_records",
];

/// Fields that count an entry each; any other compared field counts one.
pub const BY_ENTRY: [&str; 10] = [
    "znodes",
    "removed",
    "topics",
    "topics_removed",
    "brokers",
    "watches",
    "servers",
    "vectors",
    "keys",
    "events",
];

/// How the step is made or timed, and what is only told: not compared.
const INFORMATION: [&str; 34] = [
    "do",
    "op",
    "until",
    "quiet_s",
    "pause_s",
    "max_s",
    "reads",
    "read",
    "start",
    "before",
    "compare",
    "note",
    "facts",
    "unknown",
    "id",
    "file",
    "args",
    "request",
    "maybe",
    "log",
    "tool",
    "lines",
    "votes",
    "describe",
    "disks_at_once",
    "exit_after_s",
    "snapshot_lines_of_node_3",
    "hashes_checked",
    "hashes_wrong",
    "commits_checked",
    "commits_elsewhere",
    "partitions_checked",
    "partitions_wrong",
    "printed_by_1",
];

/// Is the field only told, not compared?
pub fn is_information(key: &str) -> bool {
    INFORMATION.contains(&key)
        || key.starts_with("metadata_of_")
        || key.starts_with("seconds_")
        || (key.ends_with("_ms") || key.ends_with("_after_s")) && key != "negotiated_timeout_ms"
}

/// Is the field compared as a list of order, given its value?
pub fn is_order(field: &str, value: &Value) -> bool {
    ORDER.contains(&field) && value.is_array()
}

/// Is the field compared by entry, given its value?
pub fn is_by_entry(field: &str, value: &Value) -> bool {
    BY_ENTRY.contains(&field) && (value.is_array() || value.is_object())
}

/// `len` of a list or an object, 1 of anything else.
pub fn entries_of(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 1,
    }
}

/// A recording that begins in the middle has its start state in step 0: loaded, not compared.
pub fn is_loaded(index: usize, step: &Value) -> bool {
    let op = step.get("op").and_then(|op| op.get("op"));
    index == 0 && matches!(op.and_then(Value::as_str), Some("state" | "setup"))
}

/// (B, D) of a recording: facts that are settled, entries whose order is compared.
pub fn totals(recording: &Value) -> (usize, usize) {
    let steps = recording.get("steps").and_then(Value::as_array);
    let (mut settled, mut order) = (0, 0);
    for (i, step) in steps.into_iter().flatten().enumerate() {
        if !is_loaded(i, step) {
            let (b, d) = of_step(step);
            settled += b;
            order += d;
        }
    }
    (settled, order)
}

fn of_step(step: &Value) -> (usize, usize) {
    let (mut settled, mut order) = (0, 0);
    let hints = step.get("compare").filter(|hints| hints.is_object());
    for (key, value) in step.as_object().into_iter().flatten() {
        let hint = hints.and_then(|hints| hints.get(key)).filter(|hint| !hint.is_null());
        let ignored = hint.and_then(Value::as_str) == Some("ignore");
        if ignored || hint.is_none() && is_information(key) {
            continue;
        }
        if is_order(key, value) {
            order += entries_of(value);
        } else if is_by_entry(key, value) {
            settled += entries_of(value);
        } else {
            settled += 1;
        }
    }
    (settled, order)
}
