//! Keys and groups, and the partition they belong to.

use kafkascope_core::kafka::partitioner::{abs, by_murmur2, murmur2, string_hash, to_positive};
use serde_json::{Value, json};

use super::Failure;
use super::json::text;

fn differs(field: &str, expected: &Value, got: Value) -> Option<Failure> {
    (*expected != got).then(|| Failure::new("", field, expected.clone(), got))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let at = |start: usize| u8::from_str_radix(hex.get(start..start + 2)?, 16).ok();
    (0..hex.len()).step_by(2).map(at).collect()
}

pub fn run_murmur2(vector: &Value) -> Vec<Failure> {
    let Some(key) = bytes(text(&vector["key_hex"])) else {
        return vec![Failure::new("", "key_hex", vector["key_hex"].clone(), Value::Null)];
    };
    let hash = murmur2(&key);
    let mut failures: Vec<Failure> = [
        differs("hash", &vector["hash"], json!(hash)),
        differs("to_positive", &vector["to_positive"], json!(to_positive(hash))),
    ]
    .into_iter()
    .flatten()
    .collect();
    for (count, expected) in vector["partitions"].as_object().into_iter().flatten() {
        let partition = count.parse().ok().and_then(|count| by_murmur2(&key, count));
        failures.extend(differs(count, expected, json!(partition)));
    }
    failures
}

pub fn run_coordinator(vector: &Value) -> Vec<Failure> {
    let hash = string_hash(text(&vector["group"]));
    let mut failures: Vec<Failure> =
        differs("java_hash", &vector["java_hash"], json!(hash)).into_iter().collect();
    for (field, expected) in vector.as_object().into_iter().flatten() {
        let Some(count) = field.strip_prefix("partition_of_") else { continue };
        let partition = count.parse().ok().and_then(|count| abs(hash).checked_rem(count));
        failures.extend(differs(field, expected, json!(partition)));
    }
    failures
}
