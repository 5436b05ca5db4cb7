//! Assignors of the clients.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::kafka::group::assignor::{
    Assignment, Member, Partitions, Protocol, Topic, Topics, range, round_robin, server_range,
    sticky, uniform, uniform_by_different_topics, uniform_by_same_topics,
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

/// The class that answered: named by the file, or else by the test that a vector is from.
fn class_of(vector: &Value) -> &str {
    const BY_TEST: [(&str, &str); 4] = [
        ("CooperativeSticky", "CooperativeStickyAssignor"),
        ("Sticky", "StickyAssignor"),
        ("RoundRobin", "RoundRobinAssignor"),
        ("Range", "RangeAssignor"),
    ];
    let source = text(&vector["source"]);
    let by_test =
        || BY_TEST.iter().find(|(part, _)| source.contains(part)).map(|(_, class)| *class);
    vector["class"].as_str().or_else(by_test).unwrap_or_default()
}

pub fn run(vector: &Value) -> Vec<Failure> {
    let class = class_of(vector);
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

// --- Assignors of the server ---------------------------------------------------------------------

/// Names in the order that the reference walked them in, so that sorting them is that walk.
struct Walk {
    names: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

impl Walk {
    fn new(walked: &Value, all: impl Iterator<Item = String>) -> Walk {
        let walked = walked.as_array().into_iter().flatten();
        let walked: Vec<&str> = walked.filter_map(Value::as_str).collect();
        let place = |name: &str| walked.iter().position(|walked| *walked == name);
        let prefixed = |name: String| match place(&name) {
            Some(at) => (name.clone(), format!("{at:06} {name}")),
            None => (name.clone(), name),
        };
        let names: BTreeMap<String, String> = all.map(prefixed).collect();
        let back = names.iter().map(|(name, walked)| (walked.clone(), name.clone())).collect();
        Walk { names, back }
    }

    fn there(&self, name: &str) -> String {
        self.names.get(name).map_or(name, String::as_str).to_owned()
    }

    fn back(&self, name: &str) -> String {
        self.back.get(name).map_or(name, String::as_str).to_owned()
    }
}

/// As 4.4.0 answers.
pub fn run_on_server(vector: &Value) -> Vec<Failure> {
    let (mut topics, mut members) = (topics(vector), members(vector));
    let exists = |name: &String| vector["topics"][name].as_i64().is_some_and(|count| count >= 0);
    topics.retain(|name, _| exists(name));
    let order = &vector["walk_order"];
    let by_topic = Walk::new(&order["topics"], topics.keys().cloned());
    let by_member = Walk::new(&order["members"], members.iter().map(|m| m.id.clone()));
    let topics: Topics =
        topics.into_iter().map(|(name, topic)| (by_topic.there(&name), topic)).collect();
    for member in &mut members {
        member.id = by_member.there(&member.id);
        member.topics.iter_mut().for_each(|name| *name = by_topic.there(name));
        let owned = std::mem::take(&mut member.owned).into_iter();
        member.owned = owned.map(|(name, list)| (by_topic.there(&name), list)).collect();
    }
    let rule = match (text(&vector["assignor"]), text(&vector["subscription_type"])) {
        ("range", _) => server_range,
        ("uniform", "homogeneous") => uniform_by_same_topics,
        ("uniform", "heterogeneous") => uniform_by_different_topics,
        ("uniform", _) => uniform,
        _ => return vec![Failure::new("", "assignor", vector["assignor"].clone(), Value::Null)],
    };
    let given = rule(&topics, &members);
    members.reverse();
    if rule(&topics, &members) != given {
        return vec![Failure::new("members reversed", "expect", Value::Null, Value::Null)];
    }
    let error = text(&vector["expect_error"]);
    let Ok(given) = given else {
        let got = "PartitionAssignorException";
        let same = error == got;
        let failure = Failure::new("", "expect_error", error.into(), got.into());
        return if same { Vec::new() } else { vec![failure] };
    };
    let back = |own: Partitions| -> Partitions {
        own.into_iter().map(|(name, list)| (by_topic.back(&name), list)).collect()
    };
    let given: Assignment =
        given.into_iter().map(|(id, own)| (by_member.back(&id), back(own))).collect();
    for member in &mut members {
        member.id = by_member.back(&member.id);
    }
    let expected = vector.get("expect_4.4.0").unwrap_or(&vector["expect"]);
    let expected = whole(assignment(expected), &members);
    if error.is_empty() && expected == given {
        Vec::new()
    } else {
        vec![Failure::new("4.4.0", "expect", json!(expected), json!(given))]
    }
}
