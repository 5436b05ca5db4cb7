//! In-sync replicas, high watermark, acknowledgements, leader epochs.

use std::collections::BTreeMap;

use kafkascope_core::kafka::log::acks::{Asked, Error, Waits, on_append, on_committed};
use kafkascope_core::kafka::log::epoch_cache::{EpochCache, EpochOffset, truncation};
use kafkascope_core::kafka::log::high_watermark::{self, of_leader};
use kafkascope_core::kafka::log::isr::{Follower, InFlight, Leader, Rules};
use serde_json::{Value, json};

use super::Failure;
use super::json::{int, text};

fn long(value: &Value) -> u64 {
    u64::try_from(int(value)).unwrap_or_default()
}

fn short(value: &Value) -> u32 {
    u32::try_from(int(value)).unwrap_or_default()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().into_iter().flatten().map(short).collect()
}

fn set(mut ids: Vec<u32>) -> Value {
    ids.sort_unstable();
    json!(ids)
}

fn differs(at: &str, field: &str, expected: &Value, got: Value) -> Option<Failure> {
    (*expected != got).then(|| Failure::new(at, field, expected.clone(), got))
}

// --- ISR -----------------------------------------------------------------------------------------

/// Rules of the release that a vector's source names; the latest ones else.
fn rules(vector: &Value) -> Rules {
    let source = text(&vector["source"]);
    match source {
        _ if source.contains("(0.8") => Rules::v0_8(4000),
        _ if source.contains("(1.1") => Rules::V1_1,
        _ if source.contains("(2.8") => Rules::V2_8,
        _ => Rules::V3_9,
    }
}

/// The leader is the broker 0.
fn leader(vector: &Value) -> Leader {
    let setup = &vector["setup"];
    let (isr, now) = (ids(&setup["isr"]), long(&setup["t"]));
    let follower = |id: u32| {
        let mut follower = Follower::new(isr.contains(&id), now);
        if let Some(time) = setup["last_caught_up"].get(id.to_string()) {
            follower.last_caught_up = long(time);
        }
        (id, follower)
    };
    let others = ids(&setup["replicas"]).into_iter().filter(|id| *id != 0);
    Leader {
        rules: rules(vector),
        id: 0,
        followers: others.map(follower).collect(),
        isr,
        in_flight: None,
        leo: long(&setup["leader_leo"]),
        high_watermark: long(&setup["hw"]),
        epoch_start: long(&setup["epoch_start_offset"]),
        lag: long(&setup["lag_ms"]),
        min_insync: short(&setup["min_insync_replicas"]),
    }
}

pub fn run_leader(vector: &Value) -> Vec<Failure> {
    let (mut leader, mut now) = (leader(vector), long(&vector["setup"]["t"]));
    let mut failures = Vec::new();
    for (number, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let at = format!("step {number}");
        let fetch = &step["fetch"];
        let time = [&step["at"], &step["t"], &fetch["t"]].into_iter().find(|t| t.is_i64());
        now = time.map_or(now, long);
        let mut got = BTreeMap::from([("expect_expand_proposed", Value::Null)]);
        if fetch.is_object() {
            let replica = short(&fetch["replica"]);
            let before = leader.in_flight.clone();
            leader.fetched(replica, long(&fetch["offset"]), now);
            if let Some(InFlight::Expand(isr)) = &leader.in_flight
                && before.is_none()
            {
                got.insert("expect_expand_proposed", set(isr.clone()));
            }
            let caught_up = leader.followers.get(&replica).map(|f| f.last_caught_up);
            got.insert("expect_last_caught_up", json!(caught_up));
        } else if step.get("append").is_some() {
            leader.append(long(&step["append"]), now);
        } else if step.get("at").is_some() {
            got.insert("expect_out_of_sync", set(leader.out_of_sync(now)));
            if step.get("shrink_proposed").is_some() {
                let proposed = leader.propose_shrink(now).map(|change| change.isr().to_vec());
                got.insert("shrink_proposed", proposed.map_or(Value::Null, set));
            }
        } else if step["shrink_committed"] == true || step["expand_committed"] == true {
            leader.confirmed(now);
        } else {
            failures.push(Failure::new(&at, "step", step.clone(), Value::Null));
        }
        got.insert("expect_isr", set(leader.isr.clone()));
        got.insert("expect_maximal_isr", set(leader.maximal_isr().to_vec()));
        got.insert("expect_hw", json!(leader.high_watermark));
        failures.extend(compare(&at, step, &got));
    }
    failures
}

/// What a step says is asked; a list is a set.
fn compare(at: &str, step: &Value, got: &BTreeMap<&str, Value>) -> Vec<Failure> {
    let asked = |field: &String| field.starts_with("expect_") || field == "shrink_proposed";
    let fields = step.as_object().into_iter().flatten().filter(|(field, _)| asked(field));
    fields
        .filter_map(|(field, expected)| {
            let expected = if expected.is_array() { set(ids(expected)) } else { expected.clone() };
            differs(at, field, &expected, got.get(field.as_str()).cloned().unwrap_or_default())
        })
        .collect()
}

// --- High watermark ------------------------------------------------------------------------------

pub fn run_hw(vector: &Value) -> Vec<Failure> {
    let isr = ids(&vector["maximal_isr"]);
    let (now, lag) = (long(&vector["now"]), long(&vector["lag_ms"]));
    let followers = vector["followers"].as_object().into_iter().flatten();
    let followers = followers.map(|(id, follower)| high_watermark::Follower {
        leo: u64::try_from(int(&follower["leo"])).ok(),
        in_sync: id.parse().is_ok_and(|id| isr.contains(&id)),
        recent: now.saturating_sub(long(&follower["last_caught_up"])) <= lag,
    });
    let got = of_leader(long(&vector["hw"]), long(&vector["leader_leo"]), followers);
    differs("", "expect_hw", &vector["expect_hw"], json!(got)).into_iter().collect()
}

// --- Acknowledgements ----------------------------------------------------------------------------

pub fn run_acks(vector: &Value) -> Vec<Failure> {
    let (isr, min_insync) = (short(&vector["isr"]), short(&vector["min_isr"]));
    let acks = i32::try_from(int(&vector["acks"])).unwrap_or_default();
    let asked = Asked { acks, is_leader: vector["leader"] != false, isr, min_insync };
    let waits = on_append(asked, text(&vector["source"]).contains("(0.8"));
    let answer = match waits {
        Err(why) => why.name().to_owned(),
        Ok(Waits::Never) => "appended, no response".to_owned(),
        Ok(Waits::ForAppend) => "NONE right after the local append".to_owned(),
        Ok(Waits::ForReplicas(count)) if vector["timeout"] != true => {
            format!("NONE once {count} replicas (leader included) have it")
        }
        Ok(_) if vector["hw_reached"] == true => {
            let then = vector.get("isr_at_ack").map_or(isr, short);
            on_committed(then, min_insync).map_or_else(|why| why.name(), |()| "NONE").to_owned()
        }
        Ok(_) if vector["timeout"] == true => Error::RequestTimedOut.name().to_owned(),
        Ok(_) => "waits".to_owned(),
    };
    let expected = text(&vector["expect"]);
    // A remark may follow in brackets.
    let same = expected == answer || expected.split(" (code").next() == Some(&*answer);
    let mut failures = Vec::new();
    if !same {
        failures.push(Failure::new("", "expect", expected.into(), answer.into()));
    }
    if let Some(appended) = vector.get("appended") {
        failures.extend(differs("", "appended", appended, waits.is_ok().into()));
    }
    failures
}

// --- Leader epochs -------------------------------------------------------------------------------

fn epoch(value: &Value) -> i32 {
    i32::try_from(int(value)).unwrap_or(-1)
}

fn cache(entries: &Value) -> EpochCache {
    let mut cache = EpochCache::default();
    for entry in entries.as_array().into_iter().flatten() {
        cache.assign(epoch(&entry[0]), long(&entry[1]));
    }
    cache
}

fn pair(end: Option<EpochOffset>) -> Value {
    end.map_or(json!([-1, -1]), |end| json!([end.epoch, end.offset]))
}

pub fn run_epoch_cache(vector: &Value) -> Vec<Failure> {
    let mut cache = cache(&vector["assign"]);
    let mut failures = Vec::new();
    for op in vector["ops"].as_array().into_iter().flatten() {
        match text(&op[0]) {
            "assign" => cache.assign(epoch(&op[1]), long(&op[2])),
            "truncate-end" => cache.truncate_end(long(&op[1])),
            "truncate-start" => cache.truncate_start(long(&op[1])),
            _ => failures.push(Failure::new("", "ops", op.clone(), Value::Null)),
        }
    }
    let leo = long(&vector["leo"]);
    for question in vector["end_offset_for"].as_array().into_iter().flatten() {
        let got = pair(cache.end_offset(epoch(&question["epoch"]), leo));
        let at = question["epoch"].to_string();
        failures.extend(differs(&at, "end_offset_for", &question["expect"], got));
    }
    if let Some(expected) = vector.get("expect_entries") {
        let entries: Vec<_> = cache.entries().iter().map(|e| (e.epoch, e.offset)).collect();
        failures.extend(differs("", "expect_entries", expected, json!(entries)));
    }
    failures
}

pub fn run_truncation(vector: &Value) -> Vec<Failure> {
    let (leader, follower) = (&vector["leader"], &vector["follower"]);
    let leaders = cache(&leader["epochs"]);
    let (mut own, mut leo) = (cache(&follower["epochs"]), long(&follower["leo"]));
    let mut rounds = Vec::new();
    loop {
        let Some(ask) = own.latest() else {
            leo = leo.min(long(&follower["hw"]));
            break;
        };
        let answer = leaders.end_offset(ask, long(&leader["leo"]));
        let cut = truncation(&own, leo, long(&follower["hw"]), answer);
        let answer = pair(answer);
        rounds.push(json!({"ask": ask, "answer": answer, "truncate_to": cut.to, "done": cut.done}));
        leo = cut.to;
        own.truncate_end(leo);
        if cut.done {
            break;
        }
    }
    let mut expected = vector["rounds"].clone();
    for round in expected.as_array_mut().into_iter().flatten() {
        round.as_object_mut().map(|fields| fields.shift_remove("note"));
    }
    let rounds = differs("", "rounds", &expected, json!(rounds));
    let leo = differs("", "expect_follower_leo", &vector["expect_follower_leo"], json!(leo));
    rounds.into_iter().chain(leo).collect()
}
