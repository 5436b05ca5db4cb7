//! Placement of replicas and elections of leaders by the controllers that live with ZooKeeper.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::kafka::election::{
    self, Brokers, NotElected, Partition, Rules, Strategy, choose, told, without,
};
use kafkascope_core::kafka::placement::{self, Rack, Refusal, Unplaced, Wanted};
use serde_json::{Map, Value, json};

use super::Failure;
use super::json::{int, text};

const PLACEMENTS: [&str; 4] =
    ["rack-unaware", "rack-aware", "rack-alternated-list", "add-partitions"];

pub fn is_placement(vector: &Value) -> bool {
    vector["kind"].as_str().is_some_and(|kind| PLACEMENTS.contains(&kind))
}

pub fn is_election(vector: &Value) -> bool {
    vector["mode"] == "zk-controller"
}

fn number(value: &Value) -> u32 {
    // What is asked for may be below 0: that is too few, as 0 is.
    u32::try_from(int(value)).unwrap_or_default()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().into_iter().flatten().map(number).collect()
}

/// What the releases give that a vector speaks of: `expect`, or another one where it says so.
fn expected<'a>(vector: &'a Value, field: &str, releases: &[&'a str]) -> Vec<(&'a str, Value)> {
    let own = |release: &&'a str| {
        let otherwise = vector.get(format!("{field}_{}", release.replace('.', "_")));
        let otherwise = otherwise.or_else(|| vector.get(format!("{field}_{release}")));
        (*release, otherwise.unwrap_or(&vector[field]).clone())
    };
    releases.iter().map(own).collect()
}

const LATER: [&str; 2] = ["2.8", "3.9"];

fn compare(vector: &Value, field: &str, releases: &[&str], got: &Value) -> Vec<Failure> {
    let wrong = expected(vector, field, releases).into_iter().filter(|(_, want)| want != got);
    wrong.map(|(release, want)| Failure::new(release, field, want, got.clone())).collect()
}

// --- Placement -----------------------------------------------------------------------------------

/// Brokers by id, each with its rack.
fn brokers(vector: &Value) -> Vec<(u32, Rack)> {
    let racks = vector["racks"].as_object().into_iter().flatten();
    let mut brokers: Vec<(u32, Rack)> = racks
        .filter_map(|(id, rack)| Some((id.parse().ok()?, rack.as_str().map(Into::into))))
        .chain(ids(&vector["brokers"]).into_iter().map(|id| (id, None)))
        .collect();
    brokers.sort();
    brokers
}

pub fn run_placement(vector: &Value) -> Vec<Failure> {
    let brokers = brokers(vector);
    let placed = match text(&vector["kind"]) {
        "rack-alternated-list" => {
            let racks = brokers.into_iter().filter_map(|(id, rack)| Some((id, rack?)));
            let order = placement::alternated(&racks.collect::<Vec<_>>());
            return compare(vector, "expect", &LATER, &json!(order));
        }
        "add-partitions" => {
            let existing = vector["existing"].as_array().into_iter().flatten().map(ids);
            let existing: BTreeMap<u32, Vec<u32>> = (0..).zip(existing).collect();
            placement::add(&brokers, &existing, number(&vector["new_count"]), 0, false)
        }
        kind => {
            let wanted = wanted(vector);
            let placed = if kind == "rack-unaware" {
                let ids: Vec<u32> = brokers.iter().map(|(id, _)| *id).collect();
                placement::place(&ids, &wanted).map_err(Unplaced::from)
            } else {
                placement::place_by_rack(&brokers, &wanted)
            };
            placed.map(|placed| (wanted.first..).zip(placed).collect())
        }
    };
    let (got, error) = match placed {
        Ok(placed) => {
            let entry = |(id, replicas): (u32, Vec<u32>)| (id.to_string(), json!(replicas));
            (Value::Object(placed.into_iter().map(entry).collect::<Map<_, _>>()), "")
        }
        Err(why) => (Value::Null, refusal(why)),
    };
    let mut failures = compare(vector, "expect", &LATER, &got);
    // A remark may follow the name of the exception.
    let wanted = text(&vector["expect_error"]);
    if wanted.split(' ').next() != Some(error) {
        failures.push(Failure::new("", "expect_error", wanted.into(), error.into()));
    }
    failures
}

fn wanted(vector: &Value) -> Wanted {
    let fixed = vector.get("fixed_start_index");
    Wanted {
        partitions: number(&vector["partitions"]),
        replication: number(&vector["replication_factor"]),
        start: number(fixed.unwrap_or(&vector["start_index"])),
        shift: number(fixed.unwrap_or(&vector["next_replica_shift"])),
        first: number(&vector["start_partition_id"]),
    }
}

fn refusal(why: Unplaced) -> &'static str {
    match why {
        Unplaced::Refused(Refusal::NoPartitions) | Unplaced::NotMore => {
            "InvalidPartitionsException"
        }
        Unplaced::Refused(Refusal::NoReplicas | Refusal::TooFewBrokers { .. }) => {
            "InvalidReplicationFactorException"
        }
        Unplaced::SomeWithoutRack | Unplaced::NoBase => "AdminOperationException",
    }
}

// --- Elections -----------------------------------------------------------------------------------

pub fn run_election(vector: &Value) -> Vec<Failure> {
    let name = text(&vector["strategy"]);
    let (name, rules) = match name.strip_suffix("-0.8") {
        Some(name) => (name, Rules::V0_8),
        None => (name, Rules::V2),
    };
    let assignment = ids(&vector["assignment"]);
    let live: BTreeSet<u32> = ids(&vector["live_replicas"]).into_iter().collect();
    let leaving: BTreeSet<u32> = ids(&vector["shutting_down"]).into_iter().collect();
    let targets = ids(vector.get("target").unwrap_or(&vector["assignment"]));
    let strategy = match name {
        "new-partition" => return new_partition(vector, &assignment, &live),
        "offline-replica" => return offline_replica(vector),
        "offline" => Strategy::Offline { unclean: vector["unclean"] == true },
        "reassign" => Strategy::Reassign { targets: &targets },
        "preferred" => Strategy::Preferred,
        "controlled-shutdown" => Strategy::ControlledShutdown,
        _ => return vec![Failure::new("", "strategy", Value::Null, name.into())],
    };
    let (isr, leader) = (ids(&vector["isr"]), vector["leader"].as_i64());
    let leader = leader.and_then(|id| u32::try_from(id).ok());
    let partition = Partition { assignment: &assignment, isr: &isr, leader };
    let brokers = Brokers { live: &live, leaving: &leaving };
    let elected = choose(rules, strategy, partition, brokers);
    let mut got = Map::new();
    match &elected {
        Ok(elected) => {
            got.insert("expect_leader".into(), elected.leader.into());
            got.insert("expect_isr".into(), json!(elected.isr));
            got.insert("epoch_plus".into(), 1.into());
            got.insert("unclean_used".into(), elected.unclean.into());
            got.insert("counts_unclean".into(), i32::from(elected.unclean).into());
        }
        Err(why) => {
            got.insert("expect_leader".into(), Value::Null);
            got.insert("expect_error".into(), exception(strategy, *why).into());
        }
    }
    let told = told(strategy, partition, brokers);
    got.insert("leader_and_isr_goes_to".into(), json!(told));
    let releases = if rules == Rules::V0_8 { &["0.8"][..] } else { &LATER };
    // What a vector doesn't say isn't asked, except that nothing unclean happened unsaid.
    let unsaid = elected.is_ok_and(|e| e.unclean) && rules == Rules::V2;
    let said = |field: &str| vector.get(field).is_some();
    let silent = unsaid && !said("unclean_used") && vector["source"] == REAL;
    got.iter()
        .filter(|(field, _)| said(field) || silent && *field == "unclean_used")
        .flat_map(|(field, got)| compare(vector, field, releases, got))
        .collect()
}

/// Vectors of the real classes say each time a leader was unclean.
const REAL: &str = "recorded: Kafka 2.8.2 and 3.9.2";

/// What the selectors of 0.8.2 throw.
fn exception(strategy: Strategy<'_>, why: NotElected) -> &'static str {
    match (why, strategy) {
        (NotElected::NoReplicaOnline, _) => "NoReplicaOnlineException",
        (NotElected::NotNeeded, _) => "LeaderElectionNotNeededException",
        (NotElected::NotEligible, _) => "StateChangeFailedException",
    }
}

fn new_partition(vector: &Value, assignment: &[u32], live: &BTreeSet<u32>) -> Vec<Failure> {
    let made = election::first(assignment, live);
    let leader = made.as_ref().and_then(|choice| choice.leader);
    let mut failures = compare(vector, "expect_leader", &LATER, &json!(leader));
    if let Some(made) = made {
        failures.extend(compare(vector, "expect_isr", &LATER, &json!(made.isr)));
    }
    failures
}

fn offline_replica(vector: &Value) -> Vec<Failure> {
    let before = &vector["before"];
    let isr = ids(&before["isr"]);
    let leader = u32::try_from(int(&before["leader"])).ok();
    let partition = Partition { assignment: &isr, isr: &isr, leader };
    let got = match without(number(&vector["replica"]), partition, false) {
        None => before.clone(),
        Some(after) => json!({
            "leader": after.leader.map_or(-1, i64::from),
            "isr": after.isr,
            "leader_epoch": int(&before["leader_epoch"]) + 1,
        }),
    };
    compare(vector, "expect", &LATER, &got)
}
