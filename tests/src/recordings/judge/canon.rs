//! The form in which facts are compared: moments out, sets sorted.

use super::python::{Judged, get, is_word, sorted, sorted_by_text};
use serde_json::{Map, Value, json};

/// Lists that are sets: the order of deletion, of a hash map, of a server's table, subscriptions,
/// assignments, voters by id.
const SETS: [&str; 13] = [
    "deletes",
    "removed_ephemerals",
    "data_or_exists",
    "child",
    "partitions",
    "topics",
    "subscribedTopicNames",
    "topicPartitions",
    "assignedPartitions",
    "partitionsPendingRevocation",
    "voters",
    "grantingVoters",
    "currentVoters",
];

/// Any list below one of these is a set too.
pub const ASSIGNMENT: [&str; 8] = [
    "partition_folders",
    "assignment",
    "target",
    "owned",
    "parts",
    "held_in_callback",
    "assignment_after_poll",
    "assignments",
];

/// Releases that do not order `isr`.
const ISR_IS_SET: [&str; 1] = ["4.4.0"];

/// Moments are never numbers; settings and granted times are.
const MOMENTS: [&str; 7] = ["ms", "at_ms", "at_s", "t_s", "at", "after_s", "zxid_order"];
/// Inside a fact: how random ids sorted (given to the replay), texts.
const NOT_FACTS: [&str; 3] = ["id_order", "hash_order", "reason"];
const SETTINGS: [&str; 6] = [
    "timeout_ms",
    "negotiated_timeout_ms",
    "session_timeout_ms",
    "rebalance_timeout_ms",
    "heartbeat_interval_ms",
    "granted_timeout_ms",
];

fn is_moment(key: &str) -> bool {
    let by_ending = key.ends_with("_ms") || key.ends_with("_after_s");
    MOMENTS.contains(&key) || by_ending && !SETTINGS.contains(&key)
}

/// The canonical form of a value that stands at `key`; `assigned`: below an assignment.
pub fn canon(x: &Value, release: &str, key: &str, assigned: bool) -> Judged<Value> {
    let here = assigned || ASSIGNMENT.contains(&key);
    match x {
        Value::Object(map) => {
            let mut out = Map::new();
            let paired = partitions_and_epochs(x)?;
            for (k, v) in map {
                let in_pairs = matches!(k.as_str(), "partitions" | "assignmentEpochs");
                if paired.is_some() && in_pairs || is_moment(k) || NOT_FACTS.contains(&k.as_str()) {
                    continue;
                }
                out.insert(k.clone(), canon(v, release, k, here)?);
            }
            if let Some(pairs) = paired {
                let k = "partitions_and_epochs";
                out.insert(k.into(), canon(&pairs, release, k, here)?);
            }
            Ok(Value::Object(out))
        }
        Value::Array(items) => {
            let below = |v: &Value| if v.is_object() { key } else { "" };
            let form = |v: &Value| canon(v, release, below(v), assigned);
            let items = items.iter().map(form).collect::<Judged<Vec<_>>>()?;
            let isr_is_set = key == "isr" && ISR_IS_SET.contains(&release);
            let is_set = SETS.contains(&key) || here || isr_is_set;
            Ok(Value::Array(if is_set { sorted_by_text(items) } else { items }))
        }
        Value::String(s) if s.contains("after ") => Ok(without_moments(s).into()),
        _ => Ok(x.clone()),
    }
}

/// Two lists side by side, one list of pairs: sorted together.
fn partitions_and_epochs(x: &Value) -> Judged<Option<Value>> {
    let of = |key: &str| get(x, key).and_then(Value::as_array);
    let (Some(partitions), Some(epochs)) = (of("partitions"), of("assignmentEpochs")) else {
        return Ok(None);
    };
    let pairs = partitions.iter().zip(epochs).map(|(p, e)| json!([p, e])).collect();
    Ok(Some(Value::Array(sorted(pairs)?)))
}

/// "after 12.5 ms" → "after <ms>".
fn without_moments(s: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(found) = s[at..].find("after ") {
        let from = at + found;
        let number = from + "after ".len();
        let begins = !s[..from].chars().next_back().is_some_and(is_word);
        match duration_length(&s[number..]).filter(|_| begins) {
            Some(length) => {
                out.push_str(&s[at..number]);
                out.push_str("<ms>");
                at = number + length;
            }
            None => {
                out.push_str(&s[at..number]);
                at = number;
            }
        }
    }
    out + &s[at..]
}

/// The length of a number of seconds or milliseconds that begins here.
fn duration_length(s: &str) -> Option<usize> {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let mut n = digits(s);
    if n == 0 {
        return None;
    }
    if let Some(fraction) = s[n..].strip_prefix('.').map(digits).filter(|f| *f > 0) {
        n += 1 + fraction;
    }
    for optional in [' ', 'm'] {
        n += usize::from(s[n..].starts_with(optional));
    }
    let rest = s[n..].strip_prefix('s')?;
    (!rest.starts_with(is_word)).then_some(n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_in_texts() {
        for (x, y) in [
            ("cut after 12 ms, told after 3.5s", "cut after <ms>, told after <ms>"),
            ("after 12 messages", "after 12 messages"),
            ("thereafter 12 ms", "thereafter 12 ms"),
            ("after all after 2 s", "after all after <ms>"),
        ] {
            assert_eq!(without_moments(x), y);
        }
    }

    #[test]
    fn sets_are_sorted_and_moments_dropped() {
        let x = json!({"owned": {"t": [2, 1]}, "isr": [3, 1], "x_ms": 1, "timeout_ms": 2, "at": 3});
        let y = canon(&x, "2.8.2", "", false).unwrap();
        assert_eq!(y, json!({"owned": {"t": [1, 2]}, "isr": [3, 1], "timeout_ms": 2}));
        assert_eq!(canon(&x, "4.4.0", "", false).unwrap()["isr"], json!([1, 3]));
    }
}
