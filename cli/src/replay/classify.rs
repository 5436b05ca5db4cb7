//! Which slice of the simulator a recording belongs to, decided from its ops, fields and settings
//! alone, never from its name; and what in it nobody knows.

use super::facts;
use super::ops::{COMMON, Home, Kind, OF_TWO, REQUESTS};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// What has to be built before a recording can be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    ZooKeeper,
    Ensembles,
    Brokers,
    ZkConsumers,
    Replication,
    Groups,
    Share,
    Kraft,
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Slice::ZooKeeper => "ZooKeeper servers and clients (slice 1)",
            Slice::Ensembles => "ZooKeeper ensembles",
            Slice::Brokers => "brokers, controller and topics (slice 2)",
            Slice::ZkConsumers => "ZooKeeper consumers (slice 3)",
            Slice::Replication => "replication (slice 4)",
            Slice::Groups => "group coordinator (slice 5)",
            Slice::Share => "share groups",
            Slice::Kraft => "KRaft",
        })
    }
}

/// What a recording is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub slice: Slice,
    /// Replicas are moved in it.
    pub moves: bool,
    /// Brokers meet in ZooKeeper in it.
    pub zookeeper: bool,
    /// Facts whose names nobody knows: a file of a slice that is built fails by them.
    pub unknown_facts: Vec<String>,
}

/// What its ops and fields tell about a recording.
#[derive(Default)]
struct Traits<'a> {
    homes: BTreeSet<Home>,
    facts: BTreeSet<&'a str>,
    /// Names that the file gives to facts.
    named: BTreeSet<&'a str>,
    /// ZooKeeper servers, by number.
    servers: BTreeSet<u64>,
}

/// The class of a recording; an error names an op or a field of an op that nobody knows, and the
/// step it stands in.
pub fn classify(recording: &Value) -> Result<Class, String> {
    let steps = recording.get("steps").and_then(Value::as_array).ok_or("no list `steps`")?;
    let mut traits = Traits::default();
    for (i, step) in steps.iter().enumerate() {
        let step = step.as_object().ok_or_else(|| format!("step {i} is no object"))?;
        traits.facts.extend(step.keys().map(String::as_str));
        if let Some(op) = step.get("op") {
            traits.add(op).map_err(|why| format!("step {i}: {why}"))?;
        }
    }
    let many = recording.get("config").and_then(|config| config.get("servers"));
    traits.servers.extend(1..=many.and_then(Value::as_u64).unwrap_or(0).min(100));
    let unknown = |fact: &&&str| !facts::is_known(fact) && !traits.named.contains(**fact);
    let unknown_facts = traits.facts.iter().filter(unknown).map(|x| (*x).to_owned()).collect();
    let slice =
        traits.slice().ok_or("neither ops nor facts tell what kind of recording this is")?;
    let zookeeper = ["zk_txns", "znodes"].iter().any(|fact| traits.facts.contains(fact));
    let moves = traits.homes.contains(&Home::Reassignment);
    Ok(Class { slice, moves, zookeeper, unknown_facts })
}

impl<'a> Traits<'a> {
    /// One op, and those inside it.
    fn add(&mut self, op: &'a Value) -> Result<(), String> {
        let fields = op.as_object().ok_or("`op` is no object")?;
        let name = op.get("op").and_then(Value::as_str).ok_or("`op` has no name")?;
        let kinds = kinds_of(name).ok_or_else(|| format!("op {name} is unknown"))?;
        for field in fields.keys() {
            let of_op = kinds.iter().any(|kind| kind.has_field(field));
            let of_two = kinds.len() > 1 && OF_TWO.contains(&field.as_str());
            if !of_op && !of_two && !COMMON.contains(&field.as_str()) {
                return Err(format!("op {name} has the unknown field {field}"));
            }
        }
        self.homes.extend(kinds.iter().map(|kind| kind.home));
        self.add_details(name, op);
        for request in inner(op, "requests").chain((name == "request").then_some(op)) {
            known_request(request)?;
        }
        for op in inner(op, "ops").chain(inner(op, "before")) {
            self.add(op)?;
        }
        Ok(())
    }

    fn add_details(&mut self, name: &str, op: &'a Value) {
        let text = |key: &str| op.get(key).and_then(Value::as_str);
        for key in ["into", "fact"] {
            // `x[]` is appended to, `x.y` is a key of x.
            let name = text(key).map(|x| x.split(['[', '.']).next().unwrap_or(""));
            self.named.extend(name);
        }
        let facts = op.get("facts").and_then(Value::as_object);
        self.named.extend(facts.into_iter().flatten().map(|(name, _)| name.as_str()));
        if matches!(name, "start-server" | "kill-server" | "start-zookeeper" | "kill-zookeeper") {
            let one = op.get("id").and_then(Value::as_u64);
            self.servers.extend(one.into_iter().chain(inner(op, "ids").filter_map(Value::as_u64)));
        }
        if name == "setup" {
            let many = op.get("zookeepers").and_then(Value::as_u64).unwrap_or(1);
            self.servers.extend(1..=many.min(100));
        }
    }

    fn slice(&self) -> Option<Slice> {
        let home = |home: Home| self.homes.contains(&home);
        let fact = |names: &[&str]| names.iter().any(|name| self.facts.contains(name));
        let ensemble = self.servers.len() > 1;
        let consumers = home(Home::ZkConsumers) || fact(&["consumer_events"]);
        let moves = home(Home::Reassignment);
        let logs = home(Home::Replication) || fact(&["records", "disks", "fetched"]);
        let slice = if home(Home::ZooKeeper) {
            if ensemble { Slice::Ensembles } else { Slice::ZooKeeper }
        } else if home(Home::Share) {
            Slice::Share
        } else if home(Home::Kraft) || fact(&["metadata_records", "voters"]) {
            Slice::Kraft
        } else if fact(&["zk_txns", "znodes"]) || consumers {
            match () {
                () if ensemble => Slice::Ensembles,
                () if consumers => Slice::ZkConsumers,
                () if logs && (!moves || home(Home::Replication)) => Slice::Replication,
                () => Slice::Brokers,
            }
        } else if home(Home::Groups) || fact(&["callbacks", "wire", "group"]) {
            Slice::Groups
        } else if fact(&["keys"]) || logs || moves {
            Slice::Replication
        } else if self.servers.len() == 1 && fact(&["servers"]) {
            Slice::ZooKeeper
        } else {
            return None;
        };
        Some(slice)
    }
}

fn inner<'a>(op: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    op.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The rows of an op's name: `a+b`, and `a-then-b` where it is not listed, are two in one step.
fn kinds_of(name: &str) -> Option<Vec<&'static Kind>> {
    let apart = |part: &str| -> Option<Vec<&'static Kind>> {
        match Kind::of(part) {
            Some(kind) => Some(vec![kind]),
            None => part.split("-then-").map(Kind::of).collect(),
        }
    };
    let parts = name.split('+').map(apart).collect::<Option<Vec<_>>>()?;
    Some(parts.into_iter().flatten().collect())
}

/// A request by hand: its api, and that it has what the api needs.
fn known_request(request: &Value) -> Result<(), String> {
    if request.get("await").is_some() {
        return Ok(());
    }
    let api = request.get("api").and_then(Value::as_str).ok_or("a request without `api`")?;
    match REQUESTS.iter().find(|(name, _)| *name == api) {
        None => Err(format!("request {api} is unknown")),
        Some((_, fields)) => match fields.split(' ').find(|x| request.get(x).is_none()) {
            None => Ok(()),
            Some(missing) => Err(format!("request {api} without {missing}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn class(op: Value, facts: Value) -> Result<Class, String> {
        let mut step = facts;
        step["op"] = op;
        classify(&json!({"config": {}, "steps": [step]}))
    }

    #[test]
    fn slices_follow_from_ops_and_facts() {
        let slice = |op: Value, facts: Value| class(op, facts).unwrap().slice;
        let txns = || json!({"zk_txns": []});
        for (op, facts, want) in [
            (json!({"op": "start-broker", "id": 1}), txns(), Slice::Brokers),
            (json!({"op": "produce", "topic": "t"}), txns(), Slice::Replication),
            (json!({"op": "start-consumer", "consumer": "c1"}), txns(), Slice::ZkConsumers),
            (json!({"op": "start-server", "ids": [1, 2, 3]}), json!({}), Slice::Ensembles),
            (json!({"op": "start-server", "id": 1}), json!({}), Slice::ZooKeeper),
            (json!({"op": "setup", "zookeepers": 3}), txns(), Slice::Ensembles),
            (json!({"op": "join", "member": "c1"}), json!({"wire": []}), Slice::Groups),
            (json!({"op": "start-node", "id": 1}), json!({}), Slice::Kraft),
            (json!({"op": "kill-node+resume-nodes", "kill": 1}), json!({}), Slice::Kraft),
            (json!({"op": "share"}), json!({}), Slice::Share),
            (json!({"op": "produce-keyed"}), json!({"keys": []}), Slice::Replication),
        ] {
            assert_eq!(slice(op.clone(), facts), want, "{op}");
        }
    }

    #[test]
    fn what_nobody_knows_is_named() {
        let why = |op: Value| class(op, json!({})).unwrap_err();
        assert_eq!(why(json!({"op": "dance"})), "step 0: op dance is unknown");
        let inner = json!({"op": "sequence", "ops": [{"op": "ping", "client": "c", "loud": 1}]});
        assert_eq!(why(inner), "step 0: op ping has the unknown field loud");
        let request = json!({"op": "request", "api": "Dance"});
        assert_eq!(why(request), "step 0: request Dance is unknown");
        let op = json!({"op": "call", "client": "c", "name": "exists", "into": "seen_by_c[]"});
        let class = class(op, json!({"seen_by_c": [], "moon": 1})).unwrap();
        assert_eq!(class.unknown_facts, ["moon"]);
    }
}
