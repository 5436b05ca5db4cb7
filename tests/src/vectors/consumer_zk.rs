//! Assignments of the consumers that coordinate through ZooKeeper.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::kafka::consumer_zk::assign::{
    Failed, Group, Member, Plan, Strategy, Subscription, ceil_share, floor_share,
};
use kafkascope_core::kafka::consumer_zk::pattern::Pattern;
use serde_json::{Value, json};

use super::Failure;
use super::json::text;

pub fn is(vector: &Value) -> bool {
    vector["members"].is_object() && vector["topics"].is_object()
}

fn counts(value: &Value) -> BTreeMap<String, u32> {
    let number = |n: &Value| n.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(name, n)| (name.clone(), number(n))).collect()
}

fn members(vector: &Value) -> Result<Vec<Member>, String> {
    let entries = vector["members"].as_object().into_iter().flatten();
    entries
        .map(|(id, wants)| {
            let wants = counts(wants);
            let pattern = |wants: BTreeMap<String, u32>| {
                let (pattern, streams) = wants.into_iter().next().unwrap_or_default();
                let made = Pattern::filter(&pattern).map(|made| (made, streams));
                made.map_err(|_| pattern)
            };
            let subscription = match text(&vector["patterns"][id]) {
                "white_list" => pattern(wants).map(|(p, n)| Subscription::WhiteList(p, n))?,
                "black_list" => pattern(wants).map(|(p, n)| Subscription::BlackList(p, n))?,
                _ => Subscription::Topics(wants),
            };
            Ok(Member { id: id.clone(), subscription, no_internal: true })
        })
        .collect()
}

fn exception(why: Failed) -> &'static str {
    match why {
        Failed::UnequalThreads => "IllegalArgumentException",
        Failed::NobodySubscribes => "NoSuchElementException",
    }
}

/// The exception that the vector has for a member, without the remark after its name.
fn refusal<'a>(vector: &'a Value, member: &str) -> &'a str {
    let why = &vector["expect_error"];
    let why = text(if why.is_object() { &why[member] } else { why });
    why.split([' ', '(']).next().unwrap_or_default()
}

/// What a vector expects without threads that get nothing.
fn plan_of(value: &Value) -> Plan {
    let lists = |topics: &Value| -> BTreeMap<String, Vec<u32>> {
        let entries = topics.as_object().into_iter().flatten();
        let numbers = |list: &Value| {
            let list = list.as_array().into_iter().flatten();
            list.filter_map(|n| n.as_u64().and_then(|n| n.try_into().ok())).collect()
        };
        entries
            .map(|(topic, list)| (topic.clone(), numbers(list)))
            .filter(|(_, list): &(String, Vec<u32>)| !list.is_empty())
            .collect()
    };
    let threads = value.as_object().into_iter().flatten();
    threads
        .map(|(thread, topics)| (thread.clone(), lists(topics)))
        .filter(|(_, topics)| !topics.is_empty())
        .collect()
}

fn sorted(mut plan: Plan) -> Plan {
    plan.values_mut().flat_map(BTreeMap::values_mut).for_each(|list| list.sort_unstable());
    plan
}

pub fn run(vector: &Value) -> Vec<Failure> {
    let topics = counts(&vector["topics"]);
    let members = match members(vector) {
        Ok(members) => members,
        Err(no) => return vec![Failure::new("", "pattern", no.into(), Value::Null)],
    };
    let strategy = Strategy::named(text(&vector["kind"]));
    let group = Group::new(&topics, &members);
    let (mut plan, mut failures) = (Plan::new(), Vec::new());
    for member in &members {
        let got = match group.plan(strategy, &member.id) {
            Ok(own) => {
                plan.extend(own);
                ""
            }
            Err(why) => exception(why),
        };
        let expected = refusal(vector, &member.id);
        if expected != got {
            failures.push(Failure::new(&member.id, "expect_error", expected.into(), got.into()));
        }
    }
    let field = if vector.get("partial").is_some() { "partial" } else { "expect" };
    let expected = sorted(plan_of(&vector[field]));
    let plan = sorted(plan);
    // Where hash order decides, any deal that is as even and as complete will do.
    let same = match vector["order_sensitive"] == true {
        true => shape(&plan) == shape(&expected),
        false => plan == expected,
    };
    if !same {
        failures.push(Failure::new("", field, json!(expected), json!(plan)));
    }
    failures.extend(formulas(vector, &topics, &members));
    failures
}

/// Who gets how many, and what is given away.
fn shape(plan: &Plan) -> (BTreeMap<&str, usize>, BTreeSet<(&str, u32)>) {
    let count = |topics: &BTreeMap<String, Vec<u32>>| topics.values().map(Vec::len).sum();
    let given = plan.values().flatten();
    let given = given.flat_map(|(topic, list)| list.iter().map(|n| (topic.as_str(), *n)));
    (
        plan.iter().map(|(thread, topics)| (thread.as_str(), count(topics))).collect(),
        given.collect(),
    )
}

/// The textbook's formulas for one topic and one stream each.
fn formulas(vector: &Value, topics: &BTreeMap<String, u32>, members: &[Member]) -> Vec<Failure> {
    let partitions = topics.values().next().copied().unwrap_or_default();
    let consumers = u32::try_from(members.len()).unwrap_or_default();
    let rules =
        [("textbook_ceil", ceil_share as fn(u32, u32, u32) -> _), ("textbook_floor", floor_share)];
    rules
        .iter()
        .filter(|(field, _)| vector.get(field).is_some())
        .filter_map(|(field, rule)| {
            let shares = (0..consumers).map(|at| rule(partitions, consumers, at));
            let got = json!(shares.map(|share| share.collect::<Vec<u32>>()).collect::<Vec<_>>());
            let wanted = &vector[field];
            (*wanted != got).then(|| Failure::new("", field, wanted.clone(), got))
        })
        .collect()
}
