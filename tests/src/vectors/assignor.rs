//! Assignors of the clients.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::kafka::group::assignor::{
    Assignment, Member, Partitions, Protocol, Topic, Topics, range, round_robin, sticky,
};
use serde_json::{Value, json};

use super::Failure;
use super::json::{int, text};

fn short(value: &Value) -> u32 {
    u32::try_from(int(value)).unwrap_or_default()
}

pub fn topics(vector: &Value) -> Topics {
    let racks = |topic: &str| {
        let partitions = vector["partition_racks"][topic].as_array().into_iter().flatten();
        let of = |racks: &Value| {
            let racks = racks.as_array().into_iter().flatten();
            racks.filter_map(|rack| rack.as_str().map(str::to_owned)).collect()
        };
        partitions.map(of).collect()
    };
    let entries = vector["topics"].as_object().into_iter().flatten();
    entries
        .map(|(name, count)| (name.clone(), Topic { partitions: short(count), racks: racks(name) }))
        .collect()
}

pub fn partitions(value: &Value) -> Partitions {
    let numbers = |list: &Value| {
        let mut list: Vec<u32> = list.as_array().into_iter().flatten().map(short).collect();
        list.sort_unstable();
        list
    };
    let entries = value.as_object().into_iter().flatten();
    let entries = entries.map(|(topic, list)| (topic.clone(), numbers(list)));
    entries.filter(|(_, list)| !list.is_empty()).collect()
}

pub fn assignment(value: &Value) -> Assignment {
    let members = value.as_object().into_iter().flatten();
    members.map(|(id, topics)| (id.clone(), partitions(topics))).collect()
}

pub fn members(vector: &Value) -> Vec<Member> {
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let generation = |value: &Value| value.as_i64().and_then(|n| i32::try_from(n).ok());
    let member = |member: &Value| Member {
        id: text(&member["id"]).to_owned(),
        instance: name(&member["instance"]),
        rack: name(&member["rack"]),
        topics: member["topics"].as_array().into_iter().flatten().filter_map(name).collect(),
        owned: partitions(member.get("owned").unwrap_or(&member["current"])),
        generation: generation(&member["generation"]),
        subscription_generation: generation(&member["sub_generation"]),
    };
    vector["members"].as_array().into_iter().flatten().map(member).collect()
}

/// What is given out, and the whole target.
fn answer(class: &str, topics: &Topics, members: &[Member]) -> Option<(Assignment, Assignment)> {
    let protocol = match class {
        "RangeAssignor" => {
            let given = range(topics, members);
            return Some((given.clone(), given));
        }
        "RoundRobinAssignor" => {
            let given = round_robin(topics, members);
            return Some((given.clone(), given));
        }
        "StickyAssignor" => Protocol::Eager,
        "CooperativeStickyAssignor" => Protocol::Cooperative,
        _ => return None,
    };
    let given = sticky(topics, members, protocol);
    Some((given.handed_out, given.target))
}

pub fn run(vector: &Value) -> Vec<Failure> {
    let class = text(&vector["class"]);
    let (topics, mut members) = (topics(vector), members(vector));
    let Some((given, target)) = answer(class, &topics, &members) else {
        return vec![Failure::new("", "class", vector["class"].clone(), Value::Null)];
    };
    let mut failures = Vec::new();
    members.reverse();
    if answer(class, &topics, &members) != Some((given.clone(), target.clone())) {
        failures.push(Failure::new("members reversed", "expect", json!(given), Value::Null));
    }
    let expected = match &vector["expect_sorted_walk"] {
        Value::Null => &vector["expect"],
        walked => walked,
    };
    let expected = whole(assignment(expected), &members);
    // The older files have no walk that leads to their answer where hash order decided it.
    let any_will_do = vector["order_sensitive"] == true && vector.get("event").is_none();
    let full = &vector["target_before_revocation"];
    // What is held back depends on the target.
    let held_back = any_will_do && full.is_object();
    if expected != given && !held_back && !(any_will_do && is_as_good(&given, &expected)) {
        failures.push(Failure::new("", "expect", json!(expected), json!(given)));
    }
    if full.is_object() && vector.get("expect_sorted_walk").is_none() {
        let full = whole(assignment(full), &members);
        if full != target && !(any_will_do && is_as_good(&target, &full)) {
            let field = "target_before_revocation";
            failures.push(Failure::new("", field, json!(full), json!(target)));
        }
    }
    failures
}

/// An entry for each member.
pub fn whole(mut assignment: Assignment, members: &[Member]) -> Assignment {
    for member in members {
        assignment.entry(member.id.clone()).or_default();
    }
    assignment
}

/// The same partitions are given, as evenly.
pub fn is_as_good(given: &Assignment, expected: &Assignment) -> bool {
    let size = |own: &Partitions| own.values().map(Vec::len).sum::<usize>();
    let sizes = |all: &Assignment| {
        let mut sizes: Vec<usize> = all.values().map(size).collect();
        sizes.sort_unstable();
        sizes
    };
    let all = |all: &Assignment| -> BTreeSet<(String, u32)> {
        let own: BTreeMap<_, _> = all.clone();
        let own = own.into_values().flatten();
        own.flat_map(|(topic, list)| list.into_iter().map(move |p| (topic.clone(), p))).collect()
    };
    sizes(given) == sizes(expected) && all(given) == all(expected)
}
