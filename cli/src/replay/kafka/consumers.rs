//! Consumers that coordinate through ZooKeeper: their ops, and what is then seen of them.
//! [recordings/0.8.2.2/README.md]

use std::collections::BTreeMap;

use kafkascope_core::base::Span;
use kafkascope_core::kafka::Event as KafkaEvent;
use kafkascope_core::kafka::consumer_zk::connector::Phase;
use kafkascope_core::kafka::consumer_zk::event::{Event, Note};
use kafkascope_core::kafka::consumer_zk::spec::{ConsumerSpec, OPTIONS, Options, Wanted};
use kafkascope_core::world::{Command, Who};
use kafkascope_core::zk::tree::Znode;
use serde_json::{Map, Value, json};

use super::super::common::span;
use super::facts::shown;
use super::ops::{number, only, text};
use super::player::{Done, FLUSH, FOR_GOOD, LIFE, Player};
use super::sim::{Heard, Sim};
use super::{Known, Unknown};

/// The console consumer with this number.
pub fn console(n: u32) -> String {
    format!("{CONSOLE}{n}")
}

const CONSOLE: &str = "console";

/// What the console consumer looks at before `--from-beginning`.
const LOOKS: i32 = 30_000;
const FAILED: &str = "kafka.common.ConsumerRebalanceFailedException";
const FOUND: &str = "Found previous offset information for this group {group}. Please use \
    --delete-consumer-offsets to delete previous offsets metadata";

fn names(op: &Value) -> Known<Vec<String>> {
    let list = op["consumers"].as_array().into_iter().flatten().chain(op.get("consumer"));
    let name = |name: &Value| name.as_str().map(str::to_owned);
    let bad = || Unknown(format!("consumers of {op}"));
    list.map(|value| name(value).ok_or_else(bad)).collect()
}

fn who(name: &str) -> Who {
    Who::Consumer(name.into())
}

/// A list of topics with streams, or a pattern.
fn wanted(op: &Value) -> Known<Wanted> {
    let bad = || Unknown(format!("subscription of {op}"));
    if let Some(topics) = op["subscription"].as_object() {
        let one = |(topic, n): (&String, &Value)| Some((topic.as_str().into(), number(n)?));
        let topics = topics.iter().map(one).collect::<Option<Vec<_>>>();
        return topics.map(Wanted::Topics).ok_or_else(bad);
    }
    let regex = op["subscription"].as_str().ok_or_else(bad)?.into();
    let streams = number(&op["streams"]).unwrap_or(1);
    match op["pattern"].as_str() {
        Some("white_list") => Ok(Wanted::WhiteList { regex, streams }),
        Some("black_list") => Ok(Wanted::BlackList { regex, streams }),
        _ => Err(bad()),
    }
}

/// The settings of all consumers and those of this one, as far as anything follows from them.
fn settings(all: &Value, own: &Value) -> Known<Vec<(std::sync::Arc<str>, std::sync::Arc<str>)>> {
    let mut set = BTreeMap::new();
    for (name, value) in [all, own].into_iter().filter_map(Value::as_object).flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set.insert(name.clone(), value);
    }
    set.retain(|name, _| OPTIONS.iter().any(|(known, _)| known == name));
    for (name, value) in &set {
        if Options::default().set(name, value).is_none() {
            return Err(Unknown(format!("setting {name} = {value}")));
        }
    }
    Ok(set.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

impl Player {
    /// False: not an op of consumers.
    pub(super) fn consumer_op(&mut self, op: &Value, done: &mut Done) -> Known<bool> {
        match text(op, "op")? {
            "start-consumer" => {
                only(op, "consumer group subscription pattern streams config")?;
                let name = text(op, "consumer")?;
                self.start_consumer(op, name)?;
                let said = self.streams_of(name);
                done.result = Some(json!({"createMessageStreams": said}));
            }
            "start-consumers" => self.start_consumers(op, done)?,
            "stop-consumer" | "stop-consumers" => self.stop_consumers(op, done)?,
            "kill-consumer" => {
                only(op, "consumer")?;
                self.sim.command(Command::Kill(who(text(op, "consumer")?)))?;
            }
            "pause-consumer" => {
                only(op, "consumer for_ms")?;
                let span = op["for_ms"].as_u64().map(Span::from_millis);
                let who = who(text(op, "consumer")?);
                self.sim.command(Command::Pause { who, span: span.unwrap_or(FOR_GOOD) })?;
                if let Some(span) = span {
                    self.sim.run_for(span);
                }
            }
            "resume-consumer" => {
                only(op, "consumer")?;
                self.sim.command(Command::Resume(who(text(op, "consumer")?)))?;
            }
            "commit" => {
                only(op, "consumer")?;
                self.sim.command(Command::Commit { consumer: text(op, "consumer")?.into() })?;
                self.sim.run_for(FLUSH);
            }
            "start-console-consumer" => self.start_console(op, done)?,
            "stop-console-consumer" => {
                only(op, "n")?;
                let n = number(&op["n"]).ok_or_else(|| Unknown(format!("n of {op}")))?;
                self.sim.command(Command::Stop(who(&console(n))))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn start_consumer(&mut self, op: &Value, name: &str) -> Known<()> {
        let group = text(op, "group")?.into();
        let set = settings(&self.consumer_settings, &op["config"])?;
        let spec = ConsumerSpec { group, wanted: wanted(op)?, set };
        let command = Command::StartConsumer { name: name.into(), spec: spec.into() };
        self.sim.command(command)?;
        self.leaning.apply(&mut self.sim, name, self.begun);
        Ok(())
    }

    /// Until `createMessageStreams` has returned or failed.
    fn streams_of(&mut self, name: &str) -> String {
        let begun = self.sim.now();
        self.sim.run(begun + LIFE, |sim| has_returned(sim, name));
        let took = self.sim.now().since(begun).millis();
        let consumer = consumer(&self.sim, name);
        match consumer {
            Some(consumer) if consumer.reading => format!("returned after {took} ms"),
            Some(consumer) => {
                let (id, retries) = (&consumer.id, consumer.options.retries);
                format!("{FAILED}: {id} can't rebalance after {retries} retries")
            }
            None => "not running".into(),
        }
    }

    fn start_consumers(&mut self, op: &Value, done: &mut Done) -> Known<()> {
        only(op, "consumers group subscription at_once before")?;
        for before in op["before"].as_array().into_iter().flatten() {
            if !self.consumer_op(before, &mut Done::default())? {
                only(before, "op quiet_s")?;
            }
            self.sim.run_for(span(&before["quiet_s"]).unwrap_or_default());
        }
        if op.get("before").is_some() {
            self.begin_anew();
        }
        let names = names(op)?;
        for name in &names {
            self.start_consumer(op, name)?;
            if op["at_once"] != true {
                self.streams_of(name);
            }
        }
        let mut said = Map::new();
        for name in &names {
            said.insert(name.clone(), self.streams_of(name).into());
        }
        done.result = Some(said.into());
        Ok(())
    }

    /// Each call returns when the session is closed.
    fn stop_consumers(&mut self, op: &Value, done: &mut Done) -> Known<()> {
        only(op, "consumer consumers at_once")?;
        let names = names(op)?;
        let at_once = op["at_once"] == true;
        let gone = |sim: &Sim, name: &str| !sim.is_running(&who(name));
        for name in &names {
            self.sim.command(Command::Stop(who(name)))?;
            self.leaning.apply(&mut self.sim, name, self.begun);
            if !at_once {
                let until = self.sim.now() + LIFE;
                self.sim.run(until, |sim| gone(sim, name));
            }
        }
        let until = self.sim.now() + LIFE;
        self.sim.run(until, |sim| names.iter().all(|name| gone(sim, name)));
        done.result = Some(match at_once {
            true => names.iter().map(|_| "OK").collect::<Vec<_>>().into(),
            false => "stopped".into(),
        });
        Ok(())
    }

    /// With `--from-beginning` it first looks, in a session that it never closes, whether the
    /// group has offsets, and if so it ends. [seen: recordings/0.8.2.2/consumer-console]
    fn start_console(&mut self, op: &Value, done: &mut Done) -> Known<()> {
        only(op, "n from_beginning group subscription pattern streams config")?;
        let n = number(&op["n"]).ok_or_else(|| Unknown(format!("n of {op}")))?;
        let group = text(op, "group")?;
        if op["from_beginning"] == true {
            let name: std::sync::Arc<str> = format!("look-{n}").into();
            self.sim
                .command(Command::OpenClient { name: name.clone(), timeout_ms: Some(LOOKS) })?;
            self.sim.run_for(FLUSH);
            if self.sim.world.path_exists(&format!("/consumers/{group}/offsets").into()) {
                self.sim.command(Command::Kill(Who::Client(name)))?;
                done.result = Some(FOUND.replace("{group}", group).into());
                done.exit_code = Some(1);
                return Ok(());
            }
        }
        self.start_consumer(op, &console(n))
    }
}

impl Player {
    /// The same ops several times, each in a group of its own; those that are told by name are
    /// measured. Nothing is steered. [recordings/0.8.2.2/consumer-race-stats]
    pub(super) fn statistics(&mut self, step: &Value) -> Known<Vec<Value>> {
        only(&step["op"], "runs group ops")?;
        let mut told = step["runs"].as_array().into_iter().flatten();
        let mut runs = Vec::new();
        for run in 1..=step["op"]["runs"].as_u64().unwrap_or(0) {
            let ops = step["op"]["ops"].to_string().replace("{run}", &run.to_string());
            let ops: Value = serde_json::from_str(&ops).unwrap_or_default();
            for op in ops.as_array().into_iter().flatten() {
                self.sim.forget();
                self.begun = self.sim.now();
                let mut bare = op.clone();
                for field in ["quiet_s", "until", "max_s"] {
                    bare.as_object_mut().and_then(|fields| fields.remove(field));
                }
                self.consumer_op(&bare, &mut Done::default())?;
                self.wait(op, &mut Done::default())?;
                if op["until"].is_null() {
                    continue;
                }
                let events = events(&self.sim.heard, |_| 0);
                let mut fact = rebalance(&self.transactions(step), &events).unwrap_or_default();
                fact["what"] = told.next().map_or(Value::Null, |told| told["what"].clone());
                fact["run"] = run.into();
                fact["settled"] = self.all_hold(op)?.into();
                runs.push(fact);
            }
        }
        self.sim.forget();
        Ok(runs)
    }

    fn all_hold(&self, op: &Value) -> Known<bool> {
        for text in op["until"].as_array().into_iter().flatten() {
            let condition = super::until::Condition::parse(text.as_str().unwrap_or_default())?;
            if !condition.holds(&self.sim, &super::facts::Tree::new()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn consumer<'a>(
    sim: &'a Sim,
    name: &str,
) -> Option<&'a kafkascope_core::kafka::consumer_zk::Connector> {
    sim.world.find(&who(name)).and_then(|index| sim.world.proc(index).consumer())
}

fn has_returned(sim: &Sim, name: &str) -> bool {
    consumer(sim, name).is_none_or(|it| it.reading || it.phase == Phase::GaveUp)
}

// --- Facts ---------------------------------------------------------------------------------------

fn children<'a>(sim: &'a Sim, path: &str) -> impl Iterator<Item = (String, &'a Znode)> {
    let node = sim.world.server.tree().get(path);
    node.into_iter().flat_map(|node| node.children().map(|(name, node)| (name.to_string(), node)))
}

/// Every group: who is registered, who owns, what is committed.
pub fn groups(sim: &Sim) -> Value {
    let mut groups = Map::new();
    for (group, _) in children(sim, "/consumers") {
        let of = |kind: &str| {
            let folder = format!("/consumers/{group}/{kind}");
            let mut topics = Map::new();
            for (topic, _) in children(sim, &folder) {
                let path = format!("{folder}/{topic}");
                let each: Map<String, Value> =
                    children(sim, &path).map(|(name, node)| (name, shown(&node.data))).collect();
                topics.insert(topic, each.into());
            }
            Value::from(topics)
        };
        let mut ids = Map::new();
        for (id, node) in children(sim, &format!("/consumers/{group}/ids")) {
            let mut data = shown(&node.data);
            if let Some(fields) = data.as_object_mut() {
                fields.remove("timestamp");
            }
            ids.insert(id, data);
        }
        let facts = json!({"ids": ids, "owners": of("owners"), "offsets": of("offsets")});
        groups.insert(group, facts);
    }
    groups.into()
}

/// What the consumers that the recorder asked have delivered, as it writes that.
pub fn consumed(sim: &Sim, asked: &Value) -> Option<Value> {
    let mut said = Map::new();
    for name in asked.as_object()?.keys() {
        let of_consumer = sim.consumed.get(name);
        let each = of_consumer.into_iter().flatten().map(|(tp, ranges)| {
            let ranges = ranges.iter().map(|(from, end)| format!("{from}..{},", end - 1));
            format!("{}-{}={}", tp.topic, tp.partition, ranges.collect::<String>())
        });
        said.insert(name.clone(), each.collect::<Vec<_>>().join(" ").into());
    }
    Some(said.into())
}

/// What the consumers wrote into their logs.
pub fn events(heard: &[Heard], ms: impl Fn(&Heard) -> u64) -> Vec<Value> {
    let mut out = Vec::new();
    // The console consumer's log is its own.
    for one in heard.iter().filter(|one| !one.consumer.starts_with(CONSOLE)) {
        let KafkaEvent::Consumer(event) = &*one.event else { continue };
        for (name, args) in lines(event) {
            let mut entry = json!({"ms": ms(one), "event": name});
            if name != "thread-without-partition" {
                entry["consumer"] = one.consumer.as_str().into();
            }
            if !args.is_empty() {
                entry["args"] = args.into();
            }
            out.push(entry);
        }
    }
    out
}

fn lines(event: &Event) -> Vec<(&'static str, Vec<String>)> {
    let one = |name, arg: String| vec![(name, vec![arg])];
    let bare = |name| vec![(name, Vec::new())];
    let list = |topics: &[std::sync::Arc<str>]| format!("List({})", topics.join(", "));
    let path = |topic: &str| format!("/brokers/topics/{topic}");
    match event {
        Event::Registered { .. } => bare("register-end"),
        Event::Attempt { attempt, .. } => one("attempt", attempt.to_string()),
        Event::NoBrokers => bare("no-brokers"),
        Event::Released { .. } => bare("release"),
        Event::NotAssigned(_) | Event::Note(Note::Broken) => bare("exception-in-rebalance"),
        Event::ClaimRefused { tp, .. } => one("owner-node-exists", tp.partition.to_string()),
        Event::AttemptEnded { attempt, .. } => one("attempt-end", attempt.to_string()),
        Event::AttemptFailed { attempt } => {
            vec![("attempt-end", vec![attempt.to_string()]), ("attempt-failed", Vec::new())]
        }
        Event::Note(note) => match note {
            Note::Registering => bare("register-begin"),
            Note::SessionIsNew => bare("session-expired-handler"),
            Note::TopicChanged(topic) => one("topic-data-changed", path(topic)),
            Note::TopicGone(topic) => one("topic-data-deleted", path(topic)),
            Note::TopicsAdded(topics) => one("topics-added", list(topics)),
            Note::TopicsLost(topics) => one("topics-deleted", list(topics)),
            Note::TopicsChosen(topics) => one("topics-selected", list(topics)),
            Note::FetchersStopped { commits: true } => bare("commit"),
            Note::IdleThread { thread, topic } => {
                vec![("thread-without-partition", vec![thread.to_string(), topic.to_string()])]
            }
            Note::GaveUpUnheard => bare("rebalance-error"),
            Note::ShuttingDown => bare("shutdown-begin"),
            Note::ShutDown => bare("shutdown-end"),
            Note::Broken | Note::FetchersStopped { commits: false } => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The partition's owner node.
fn is_owner(path: &str) -> bool {
    let Some((above, number)) = path.rsplit_once('/') else { return false };
    let inner = above.strip_prefix("/consumers/").and_then(|rest| rest.split_once('/'));
    let topic = inner.and_then(|(_, rest)| rest.strip_prefix("owners/"));
    topic.is_some_and(|topic| !topic.contains('/')) && number.parse::<u32>().is_ok()
}

/// How ownership changed, from the transactions; moments are not compared.
pub fn rebalance(txns: &Value, events: &[Value]) -> Option<Value> {
    let (mut claims, mut releases, mut refused) = (0, 0, 0);
    for txn in txns.as_array()?.iter().filter(|txn| txn["path"].as_str().is_some_and(is_owner)) {
        match txn["type"].as_str()? {
            "create" => claims += 1,
            "delete" => releases += 1,
            "error" if txn["error"] == "NodeExists" => refused += 1,
            _ => {}
        }
    }
    if claims + releases + refused == 0 {
        return None;
    }
    let mut fact = json!({"claims": claims, "releases": releases, "refused_claims": refused});
    let attempts = events.iter().filter(|event| event["event"] == "attempt");
    let tries: Vec<u64> =
        attempts.filter_map(|event| event["args"][0].as_str()?.parse().ok()).collect();
    if let Some(highest) = tries.iter().max() {
        fact["attempts"] = tries.len().into();
        fact["highest_try"] = (*highest).into();
    }
    Some(fact)
}
