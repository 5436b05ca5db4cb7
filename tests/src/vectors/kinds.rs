//! Which kind of vector is which, and who runs it.

use serde_json::Value;

use super::{
    Failure, Outcome, assignor, consumer_zk, group, kafka, log, producer, zk_misc, zk_scenario,
};

/// A kind of vector: how it is known and how it is run, or why it is not yet.
struct Kind {
    is: fn(&Value) -> bool,
    run: Result<fn(&Value) -> Vec<Failure>, &'static str>,
}

const KINDS: &[Kind] = &[
    Kind { is: zk_scenario::is, run: Ok(zk_scenario::run) },
    Kind { is: zk_misc::is, run: Ok(zk_misc::run) },
    Kind { is: |v| has(v, &["key_hex", "hash"]), run: Ok(producer::run_murmur2) },
    Kind { is: |v| has(v, &["group", "java_hash"]), run: Ok(producer::run_coordinator) },
    Kind { is: |v| v["api"] == "select-protocol", run: Ok(group::run_vote) },
    Kind { is: |v| v["api"].is_string(), run: Err("group protocol: group slice") },
    Kind { is: |v| has(v, &["setup", "steps"]), run: Ok(log::run_leader) },
    Kind { is: |v| has(v, &["leader_leo", "hw"]), run: Ok(log::run_hw) },
    Kind { is: |v| has(v, &["acks", "isr"]), run: Ok(log::run_acks) },
    Kind { is: |v| has(v, &["follower", "rounds"]), run: Ok(log::run_truncation) },
    Kind { is: |v| v["kind"] == "epoch-cache", run: Ok(log::run_epoch_cache) },
    Kind { is: |v| has(v, &["random_state", "calls"]), run: Err("placement: KRaft slice") },
    Kind { is: |v| v["mode"] == "kraft", run: Err("KRaft elections: KRaft slice") },
    Kind { is: kafka::is_election, run: Ok(kafka::run_election) },
    Kind { is: |v| v["kind"] == "kraft-striped", run: Err("placement: KRaft slice") },
    Kind { is: kafka::is_placement, run: Ok(kafka::run_placement) },
    Kind { is: |v| has(v, &["member", "target_epoch", "target"]), run: Ok(group::run_reconcile) },
    Kind { is: consumer_zk::is, run: Ok(consumer_zk::run) },
    Kind { is: |v| v["assignor"] == "simple", run: Err("share groups: not yet") },
    Kind { is: |v| v["assignor"].is_string(), run: Ok(assignor::run_on_server) },
    Kind { is: |v| has(v, &["topics", "members"]), run: Ok(assignor::run) },
];

fn has(vector: &Value, fields: &[&str]) -> bool {
    fields.iter().all(|field| vector.get(field).is_some())
}

/// Runs one vector of whatever kind. One that nobody knows is a failure.
pub fn run(vector: &Value) -> Outcome {
    let Some(kind) = KINDS.iter().find(|kind| (kind.is)(vector)) else {
        let fields = vector.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
        let failure = Failure::new("", "kind", Value::Null, fields.unwrap_or_default().into());
        return Outcome::Failed(vec![failure]);
    };
    match kind.run {
        Err(why) => Outcome::Skipped(why),
        Ok(run) => match run(vector) {
            failures if failures.is_empty() => Outcome::Passed,
            failures => Outcome::Failed(failures),
        },
    }
}
