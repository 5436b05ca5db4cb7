//! Groups with a coordinator: reconciliation of a member, the vote for an assignor.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::kafka::group::reconcile::{
    Heartbeat, Member, Partition, Partitions, Rules, State, reconcile,
};
use kafkascope_core::kafka::group::vote::select_protocol;
use serde_json::{Value, json};

use super::Failure;
use super::json::{int, text};

fn partitions(value: &Value) -> Partitions {
    super::assignor::partitions(value)
        .into_iter()
        .flat_map(|(topic, list)| list.into_iter().map(move |number| (topic.clone(), number)))
        .collect()
}

/// `[[topic, [partition]]]`; none where nothing was said.
fn said(value: &Value) -> Option<Partitions> {
    let of = |entry: &Value| {
        let topic = text(&entry[0]).to_owned();
        partitions(&json!({ topic: entry[1] }))
    };
    Some(value.as_array()?.iter().flat_map(of).collect())
}

fn epoch(value: &Value) -> i32 {
    i32::try_from(int(value)).unwrap_or(-1)
}

fn member(value: &Value) -> Member {
    let named = |state: &State| state.name() == text(&value["state"]);
    Member {
        state: State::ALL.into_iter().find(named).unwrap_or(State::Unknown),
        epoch: epoch(&value["member_epoch"]),
        previous_epoch: epoch(&value["previous_member_epoch"]),
        assigned: partitions(&value["assigned"]),
        pending_revocation: partitions(&value["pending_revocation"]),
    }
}

pub fn run_reconcile(vector: &Value) -> Vec<Failure> {
    let owners = vector["partition_owner_epochs"].as_array().into_iter().flatten();
    let owners: BTreeMap<Partition, i32> = owners
        .map(|entry| {
            let number = u32::try_from(int(&entry[1])).unwrap_or_default();
            ((text(&entry[0]).to_owned(), number), epoch(&entry[2]))
        })
        .collect();
    let (target, owned) = (partitions(&vector["target"]), said(&vector["owned_in_heartbeat"]));
    let subscribed = vector["subscribed"].as_array().map(|topics| {
        topics.iter().map(|topic| text(topic).to_owned()).collect::<BTreeSet<String>>()
    });
    let heartbeat = Heartbeat {
        target_epoch: epoch(&vector["target_epoch"]),
        target: &target,
        owned: owned.as_ref(),
        subscribed: subscribed.as_ref(),
        subscription_changed: vector["subscription_changed"] == true,
    };
    let is_busy = |partition: &Partition| owners.get(partition).is_some_and(|epoch| *epoch != -1);
    let mut failures = Vec::new();
    for (release, rules) in [("3.9.2", Rules::V3_9), ("4.4.0", Rules::V4_4)] {
        let own = vector.get(format!("expect_{release}"));
        let expected = own.unwrap_or(&vector["expect"]);
        let got = reconcile(rules, &member(&vector["member"]), heartbeat, is_busy).ok();
        let expected = (!expected.is_null()).then(|| member(expected));
        if got != expected {
            let [want, got] = [expected, got].map(|member| format!("{member:?}").into());
            failures.push(Failure::new(release, "expect", want, got));
        }
    }
    failures
}

/// Where votes are even a list says which would do.
pub fn run_vote(vector: &Value) -> Vec<Failure> {
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let lists: Vec<Vec<String>> =
        vector["members"].as_object().into_iter().flatten().map(|(_, list)| names(list)).collect();
    let lists: Vec<Vec<&str>> =
        lists.iter().map(|list| list.iter().map(String::as_str).collect()).collect();
    let got = select_protocol(&lists);
    let mut expected = names(&vector["expect"]);
    expected.sort_unstable();
    if expected == got {
        return Vec::new();
    }
    vec![Failure::new("", "expect", json!(expected), json!(got))]
}
