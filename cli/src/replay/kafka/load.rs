//! The start of a recording that begins in the middle: its tree, sessions and brokers.
//!
//! Brokers are started on an empty tree, the oldest first. Then the recorded nodes are
//! put in place without a transaction, `/controller` is taken away and the recorded one takes it:
//! like any new controller it reads all there is, tells every broker its partitions and, with all
//! of them alive, writes no state. [spec kafka-zk.md C3, F3]

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::kafka::{paths, payload};
use kafkascope_core::world::{Command, Who, wall_ms};
use kafkascope_core::zk::op::{Data, SessionId};
use kafkascope_core::zk::server::load::Placed;
use serde_json::Value;

use super::sim::Sim;
use super::{Known, Unknown};

/// How long something may take that must come.
const PATIENCE: Span = Span::from_secs(60);
/// Everything that follows from one thing is over by then.
const CALM: Span = Span::from_secs(2);
/// What follows from a registration has begun.
const SOON: Span = Span::from_millis(100);
/// A round of every timer that a broker looks at its replicas by.
const ROUND: Span = Span::from_secs(10);
/// Brokers that shall not win an election hear of it so much later.
const LATE: Span = Span::from_millis(500);
/// The client that takes `/controller` away.
const LOADER: &str = "loader";

/// One broker of the recorded start.
struct Running {
    id: u32,
    session: String,
    controller: bool,
    /// From its registration to the first step that is played: its timers' phase.
    age: Span,
    rack: Option<String>,
}

pub fn load(sim: &mut Sim, step: &Value, quiet: Span, later: i64) -> Known<()> {
    let nodes = step["start"].get("znodes").unwrap_or(&step["znodes"]);
    let nodes = nodes.as_object().ok_or_else(|| Unknown("a start without znodes".into()))?;
    let mut brokers = brokers(step, quiet);
    brokers.sort_by_key(|broker| (std::cmp::Reverse(broker.age), broker.id));
    let begun = sim.now();
    let oldest = brokers.first().map_or(Span::ZERO, |broker| broker.age);
    for (broker, n) in brokers.iter().zip(0..) {
        let younger = oldest.micros() - broker.age.micros();
        let at = begun + Span::from_micros(younger.saturating_add_signed(later * 1_000 * n));
        sim.run(at, |_| false);
        start(sim, broker)?;
    }
    let Some(controller) = brokers.iter().find(|broker| broker.controller) else { return Ok(()) };
    // As old as they were recorded, but for whole rounds of their timers.
    let registered = sim.world.server.tree().get(&paths::broker(controller.id));
    let registered = registered.map_or(0, |node| node.ctime - wall_ms(Instant::ZERO));
    let mut moment = Instant::ZERO + Span::from_millis(u64::try_from(registered).unwrap_or(0));
    while moment < sim.now() + CALM {
        moment += ROUND;
    }
    sim.run(moment, |_| false);
    put(sim, nodes, true)?;
    logs(sim, step)?;
    elect(sim, controller.id, &brokers)?;
    untouched(sim, nodes)?;
    put(sim, nodes, false)?;
    sim.run(moment + controller.age, |_| false);
    sim.forget();
    sim.logged_at = sim.now();
    sim.changed_at = sim.now();
    Ok(())
}

/// The replicas' records: the strings "0", "1", … at the offsets of the same number.
fn logs(sim: &mut Sim, step: &Value) -> Known<()> {
    for (name, replicas) in step["start"]["logs"].as_object().into_iter().flatten() {
        let bad = || Unknown(format!("start: log {name}"));
        let (topic, partition) = name.rsplit_once('-').ok_or_else(bad)?;
        let partition = partition.parse().map_err(|_| bad())?;
        let tp = kafkascope_core::kafka::TopicPartition { topic: topic.into(), partition };
        for (id, log) in replicas.as_object().into_iter().flatten() {
            let id = id.parse().map_err(|_| bad())?;
            let end = log["log_end_offset"].as_u64().ok_or_else(bad)?;
            if end > 0 && log["values"] != *format!("0..{}", end - 1) {
                return Err(bad());
            }
            sim.world.place_log(id, &tp, (0..end).map(|n| n.to_string().into()));
        }
    }
    Ok(())
}

fn start(sim: &mut Sim, broker: &Running) -> Known<()> {
    let (id, rack) = (broker.id, broker.rack.as_deref().map(Into::into));
    sim.command(Command::StartBroker { id, host: None, rack })?;
    let until = sim.now() + PATIENCE;
    if !sim.run(until, |sim| sim.is_registered(id)) {
        return Err(Unknown(format!("start: broker {id} does not register")));
    }
    sim.run_for(SOON);
    let owner = sim.world.server.tree().get(&paths::broker(id));
    let session = owner.map(|node| SessionId(node.stat().ephemeral_owner));
    sim.names.give(session.unwrap_or_default(), &broker.session);
    Ok(())
}

/// How old they are is said, or follows from the log: the first step began when it had been quiet.
fn brokers(step: &Value, quiet: Span) -> Vec<Running> {
    let none = Vec::new();
    let txns = step["zk_txns"].as_array().unwrap_or(&none);
    let end = txns.iter().filter_map(|txn| txn["at_ms"].as_u64()).max();
    let logged = |id: &str| {
        let path = format!("/brokers/ids/{id}");
        let is_it = |op: &Value| op["type"] == "create" && op["path"] == *path;
        let inner = |txn: &Value| txn["ops"].as_array().is_some_and(|ops| ops.iter().any(is_it));
        let found = txns.iter().rev().find(|txn| is_it(txn) || inner(txn))?;
        let ms = end?.checked_sub(found["at_ms"].as_u64()?)?;
        Some(Span::from_micros(Span::from_millis(ms).micros() + quiet.micros()))
    };
    let listed = step["start"]["brokers"].as_object().into_iter().flatten();
    let up = listed.filter(|(_, broker)| broker["up"] == true);
    up.filter_map(|(id, broker)| {
        Some(Running {
            id: id.parse().ok()?,
            session: broker["session"].as_str()?.to_owned(),
            controller: broker["controller"] == true,
            age: super::super::common::span(&broker["up_for_s"])
                .or_else(|| logged(id))
                .unwrap_or_default(),
            rack: broker["rack"].as_str().map(str::to_owned),
        })
    })
    .collect()
}

/// Puts the recorded nodes in place; before the election the controller's epoch is the one before.
fn put(sim: &mut Sim, nodes: &serde_json::Map<String, Value>, before: bool) -> Known<()> {
    let now_ms = wall_ms(sim.now());
    let mut placed = Vec::new();
    for (path, node) in nodes {
        let owner = match node["ephemeral_owner"].as_str() {
            Some(name) => {
                let found = sim.names.iter().find(|(_, known)| *known == name);
                let found = found.map(|(session, _)| session);
                Some(found.ok_or_else(|| Unknown(format!("start: no session {name}")))?)
            }
            None => None,
        };
        let number = |field: &str| node[field].as_i64().and_then(|n| i32::try_from(n).ok());
        placed.push(Placed {
            path: path.as_str().into(),
            data: data(&node["data"], now_ms),
            owner,
            version: number("version").unwrap_or(0),
            cversion: number("cversion").unwrap_or(0),
            aversion: number("aversion").unwrap_or(0),
        });
    }
    placed.sort_by(|a, b| a.path.cmp(&b.path));
    take_out_others(sim, &placed);
    if before {
        // The first election makes the epoch's node. [spec kafka-zk.md C8]
        let is_epoch = |node: &Placed| *node.path == *paths::CONTROLLER_EPOCH;
        placed.retain(|node| !is_epoch(node) || node.version > 0);
        // Whoever has it now loses it in a moment.
        placed.retain(|node| *node.path != *paths::CONTROLLER);
        for node in placed.iter_mut().filter(|node| is_epoch(node)) {
            let epoch = payload::number(&node.data).unwrap_or_default();
            node.data = data(&(epoch - 1).to_string().into(), now_ms);
            node.version -= 1;
        }
        sim.world.server.take_out(&paths::CONTROLLER_EPOCH.into());
    }
    sim.world.server.place(&placed, now_ms);
    Ok(())
}

/// Data as it stood there; a time is now.
fn data(value: &Value, now_ms: i64) -> Data {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    Some(text.replace("<ms>", &now_ms.to_string()).into_bytes().into())
}

/// Nodes of the empty start that the recording hasn't, the deepest first.
fn take_out_others(sim: &mut Sim, placed: &[Placed]) {
    let release = sim.world.config.release;
    let tree = super::facts::tree(sim, release);
    let known = |path: &str| placed.binary_search_by(|node| (*node.path).cmp(path)).is_ok();
    for path in tree.keys().rev().filter(|path| *path != "/" && !known(path)) {
        sim.world.server.take_out(&path.as_str().into());
    }
}

/// The new controller must have found everything in order: a state that it wrote is another start.
fn untouched(sim: &Sim, nodes: &serde_json::Map<String, Value>) -> Known<()> {
    for (path, node) in nodes.iter().filter(|(path, _)| path.ends_with("/state")) {
        let version = sim.world.server.tree().get(path).map(|node| i64::from(node.version));
        if version != node["version"].as_i64() {
            return Err(Unknown(format!("start: {path} does not stay as it was recorded")));
        }
    }
    Ok(())
}

/// `/controller` goes, and the recorded controller takes it again.
fn elect(sim: &mut Sim, winner: u32, brokers: &[Running]) -> Known<()> {
    for broker in brokers.iter().filter(|broker| broker.id != winner) {
        sim.delay(broker.id, LATE);
    }
    let name: std::sync::Arc<str> = LOADER.into();
    sim.command(Command::OpenClient { name: name.clone(), timeout_ms: None })?;
    sim.run_for(CALM);
    let line = format!("delete {}", paths::CONTROLLER).into();
    sim.command(Command::Zk { client: name.clone(), line })?;
    let until = sim.now() + PATIENCE;
    sim.run(until, |sim| sim.controller().is_none());
    if !sim.run(until, |sim| sim.controller() == Some(winner)) {
        return Err(Unknown(format!("start: broker {winner} does not become controller")));
    }
    sim.run_for(CALM);
    sim.command(Command::Stop(Who::Client(name)))?;
    sim.run_for(CALM);
    for broker in brokers {
        sim.delay(broker.id, Span::ZERO);
    }
    Ok(())
}
