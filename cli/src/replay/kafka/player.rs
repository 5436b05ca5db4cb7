//! Plays a recording's steps: the op, then the step's conditions and waits, then what is to be
//! read.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::kafka::Event as KafkaEvent;
use kafkascope_core::kafka::real::task::Task;
use kafkascope_core::kafka::release::Release;
use kafkascope_core::world::log::Logged;
use kafkascope_core::world::{Command, Config, Who};
use serde_json::{Map, Value, json};

use super::super::common::span;
use super::chance::{self, Chance};
use super::facts::{self, Tree};
use super::lean::{self, Leaning};
use super::names::BY_HAND;
use super::ops::{self, OTHER, id, ids, only, text};
use super::sim::{self, Sim};
use super::until::Condition;
use super::{Known, Unknown, consumers, disks, load, log, producers, records, sent, texts};

/// How long a condition without a limit is waited for.
const PATIENCE: Span = Span::from_secs(300);
/// A process that starts or stops has done so by then.
pub(super) const LIFE: Span = Span::from_secs(120);
/// What was asked of ZooKeeper is done by then, and a tool's process has ended.
pub(super) const FLUSH: Span = Span::from_millis(50);
/// A pause without an end.
pub(super) const FOR_GOOD: Span = Span::from_secs(3_600);
/// So many ways to begin a step are tried.
const MOMENTS: usize = 400;
/// Unless a recording says otherwise.
const QUIET: Span = Span::from_secs(3);

#[derive(Clone)]
pub struct Player {
    pub(super) release: Release,
    pub(super) sim: Sim,
    /// What is set for all consumers.
    pub(super) consumer_settings: Value,
    pub(super) producer_settings: Value,
    /// How this step's links lean.
    pub(super) leaning: Leaning,
    /// How many requests came before each entry of a consumer that was paced.
    pub seen: std::collections::BTreeMap<String, Vec<u32>>,
    /// The tree when the step began.
    before: Tree,
    pub steered: Vec<Value>,
    later: i64,
    index: usize,
    /// When the step's op began.
    pub(super) begun: Instant,
    quiet: Span,
    hand_ms: Option<i32>,
}

/// What the ops of one step left behind.
#[derive(Default)]
pub(super) struct Done {
    pub result: Option<Value>,
    /// What producers printed, op by op.
    pub produced: Vec<(Value, String)>,
    /// How long the step's op took.
    took: Span,
    /// How a process ended that the op started.
    pub exit_code: Option<i32>,
    /// What producers or their partitioners did.
    pub vectors: Option<Value>,
    /// An id that was claimed a second time.
    duplicate: Option<u32>,
    /// What was read of logs, by the fact's name.
    pub read: Vec<(String, Value)>,
    /// What became of records that were sent, by the later recorder.
    pub values: Vec<Value>,
    /// Kinds of chance that were steered.
    pub chance: Vec<&'static str>,
}

/// When a step begins, and how the links lean in it.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    pub later: Span,
    pub leaning: Leaning,
}

impl Player {
    /// `later`: by how many milliseconds the start's brokers come after one another beyond what
    /// is recorded.
    pub fn new(release: Release, config: Config, recording: &Value, later: i64) -> Known<Player> {
        let given = &recording["config"];
        let mut sim = Sim::new(config);
        if let Some(ms) = given["by-hand session timeout ms"].as_i64() {
            let timeout_ms = i32::try_from(ms).ok();
            sim.command(Command::OpenClient { name: BY_HAND.into(), timeout_ms })?;
            sim.run_for(FLUSH);
        }
        let before = facts::tree(&sim, release);
        let hand_ms = given["by_hand"]["session_timeout_ms"].as_i64();
        Ok(Player {
            release,
            sim,
            consumer_settings: given["consumer"].clone(),
            producer_settings: given["producers"].clone(),
            leaning: Leaning::default(),
            seen: Default::default(),
            before: if has_root(release) { Tree::new() } else { before },
            steered: Vec::new(),
            later,
            index: 0,
            begun: Instant::ZERO,
            quiet: span(&given["quiet_s"]).unwrap_or(QUIET),
            hand_ms: hand_ms.and_then(|ms| i32::try_from(ms).ok()),
        })
    }

    /// Moments at which a step may begin; the first is as good as any.
    pub fn moments(&self, step: &Value) -> Vec<Moment> {
        if self.index == 0 {
            return vec![Moment::default()];
        }
        let (phases, leanings) = (chance::phases(step), lean::leanings(step));
        let mut moments = Vec::new();
        for leaning in &leanings {
            for later in &phases {
                moments.push(Moment { later: *later, leaning: leaning.clone() });
            }
        }
        moments.truncate(MOMENTS);
        moments
    }

    /// One step, begun so much later than it could; the answer has the recording's fields, and how
    /// far what only timers and speed decide is from what was recorded.
    pub fn step(&mut self, step: &Value, moment: &Moment) -> Known<(Value, usize)> {
        let index = self.index;
        self.index += 1;
        if index == 0 && ["state", "setup"].contains(&text(&step["op"], "op")?) {
            let quiet = span(&step["quiet_s"]).unwrap_or(self.quiet);
            load::load(&mut self.sim, step, quiet, self.later)?;
            return Ok((self.facts(step, Done::default()), 0));
        }
        if index == 0 && step["op"]["op"] == "race-statistics" {
            load::load(&mut self.sim, step, self.quiet, self.later)?;
            let mut facts = self.facts(step, Done::default()).take();
            facts["runs"] = self.statistics(step)?.into();
            return Ok((facts, 0));
        }
        let chance = Chance::of(step, &self.sim);
        let mut done = self.play(step, &chance, moment)?;
        // What a timer decides.
        let fits = chance.ticks_fit(&self.transactions(step));
        if fits && (moment.later > Span::ZERO || chance.has_deaths()) {
            done.chance.push("death-tick");
        }
        if !self.leaning.is_level() {
            let together = step["op"]["at_once"] == true;
            done.chance.push(if together { "join-order" } else { "first-try" });
        }
        for what in done.chance.drain(..) {
            self.steered.push(json!({"step": index, "what": what}));
        }
        let facts = self.facts(step, done);
        let timed = |field: &Value, got: &Value| !field.is_null() && field != got;
        let late = timed(&step["result"]["seconds"], &facts["result"]["seconds"])
            || timed(&step["checkpointed_hw"], &facts["checkpointed_hw"]);
        let distance = lean::distance(step, &facts)
            + usize::from(!fits || late)
            + chance::other_checkpoints(step, &facts);
        Ok((facts, distance))
    }

    /// Whether it makes no sense to begin this step later.
    pub fn is_hopeless(&self, step: &Value, got: &Value) -> bool {
        let known = |fact: &str, id: &str| self.high_watermark(step, fact, id).unwrap_or(0);
        chance::is_hopeless(step, got, known)
    }

    /// What a broker knows of the partition that a fact of the step reads.
    fn high_watermark(&self, step: &Value, fact: &str, id: &str) -> Option<u64> {
        let inner = step["op"]["ops"].as_array().into_iter().flatten();
        let mut reads = step["reads"].as_array().into_iter().flatten().chain(inner);
        let at = records::partition_of(reads.find(|read| read["fact"] == *fact)?).ok()?;
        let log = self.sim.world.broker(id.parse().ok()?)?.log(&at)?;
        Some(log.high_watermark)
    }

    /// The step begins here: what was before it is nobody's.
    pub(super) fn begin_anew(&mut self) {
        self.begun = self.sim.now();
        self.before = facts::tree(&self.sim, self.release);
        self.sim.forget();
    }

    fn play(&mut self, step: &Value, chance: &Chance, moment: &Moment) -> Known<Done> {
        let mut done = Done::default();
        self.sim.run_for(moment.later);
        self.begun = self.sim.now();
        self.leaning = moment.leaning.clone();
        self.leaning.apply_all(&mut self.sim, self.begun);
        if chance.lean(&mut self.sim) {
            done.chance.push("controller-race");
        }
        if !self.vectors(step, &mut done)? {
            self.op(&step["op"], chance, &mut done)?;
        }
        done.took = self.sim.now().since(self.begun);
        self.wait(step, &mut done)?;
        chance.straighten(&mut self.sim);
        let paces = std::mem::take(&mut self.sim.paces);
        self.seen = paces.into_iter().map(|(name, pace)| (name, pace.seen)).collect();
        self.leaning.straighten(&mut self.sim);
        Ok(done)
    }

    // --- Ops -------------------------------------------------------------------------------------

    fn op(&mut self, op: &Value, chance: &Chance, done: &mut Done) -> Known<()> {
        match text(op, "op")? {
            "sequence" => {
                only(op, "ops")?;
                for inner in op["ops"].as_array().into_iter().flatten() {
                    if let Some(pause) = span(&inner["after_s"]) {
                        self.sim.run_for(pause);
                    }
                    self.op(inner, chance, done)?;
                }
            }
            "start-zookeeper" => {
                only(op, "id")?;
                if !self.sim.world.server_up {
                    self.sim.command(Command::StartZooKeeper)?;
                }
            }
            "start-broker" => {
                only(op, "id port duplicate")?;
                self.start(id(op)?, None, op["duplicate"] == true, done)?;
            }
            "start-brokers" => self.start_all(op, done)?,
            "kill-broker" | "kill-brokers" => {
                only(op, "id ids after_each_s")?;
                for (n, id) in ids(op)?.into_iter().enumerate() {
                    if let Some(pause) = span(&op["after_each_s"]).filter(|_| n > 0) {
                        self.sim.run_for(pause);
                    }
                    self.sim.command(Command::Kill(Who::Broker(id)))?;
                }
            }
            "stop-broker" => {
                only(op, "id controlled")?;
                self.stop(op, self.release != Release::V0_8_2_2, chance, done)?;
            }
            "restart-broker" => {
                only(op, "id down_s")?;
                self.stop(op, true, chance, done)?;
                self.sim.run_for(span(&op["down_s"]).unwrap_or_default());
                self.start(id(op)?, None, false, done)?;
            }
            "freeze-broker" | "pause-broker" => self.freeze(op)?,
            "thaw-broker" | "resume-broker" => {
                only(op, "id ids")?;
                for id in ids(op)? {
                    self.sim.command(Command::Resume(Who::Broker(id)))?;
                }
            }
            "zk-create" | "zk-set" | "zk-delete" => self.by_hand(op)?,
            "state" | "idle" => only(op, "")?,
            "read" => self.read(op, done)?,
            "kill-zookeeper" => {
                only(op, "id")?;
                self.sim.command(Command::Kill(Who::ZooKeeper))?;
            }
            "wait" => {
                only(op, "until max_s")?;
                self.conditions(op, self.sim.now() + limit(op))?;
            }
            _ if self.consumer_op(op, done)? || self.producer_op(op, done)? => {}
            _ => match ops::task(op, chance)? {
                Some(task) => self.administer(op, task, chance, done)?,
                None => return Err(Unknown(format!("op {op}"))),
            },
        }
        Ok(())
    }

    fn start_all(&mut self, op: &Value, done: &mut Done) -> Known<()> {
        only(op, "ids racks one_by_one")?;
        let racks = op["racks"].as_array();
        for (n, id) in ids(op)?.into_iter().enumerate() {
            let rack = racks.and_then(|racks| racks.get(n)).and_then(Value::as_str);
            self.start(id, rack, false, done)?;
            if op["one_by_one"] == true {
                let until = self.sim.now() + LIFE;
                self.sim.run(until, |sim| sim.is_registered(id));
            }
        }
        Ok(())
    }

    /// The later recorder waits until the broker is registered or has given up.
    fn start(&mut self, id: u32, rack: Option<&str>, twice: bool, done: &mut Done) -> Known<()> {
        let host = twice.then(|| OTHER.into());
        self.sim.command(Command::StartBroker { id, host, rack: rack.map(Into::into) })?;
        let until = self.sim.now() + LIFE;
        if twice {
            done.duplicate = Some(id);
        } else if self.release != Release::V0_8_2_2 {
            let session = self.sim.broker_session(id).map(str::to_owned);
            self.sim.run(until, |sim| {
                sim.is_registered(id) && sim.broker_session(id) != session.as_deref()
            });
        }
        Ok(())
    }

    /// With a controlled shutdown unless it is said otherwise.
    fn stop(&mut self, op: &Value, waits: bool, chance: &Chance, done: &mut Done) -> Known<()> {
        if op["controlled"] == false {
            return Err(Unknown(format!("controlled of {op}")));
        }
        let id = id(op)?;
        let back = chance.taken_back(id);
        if !back.is_empty() {
            self.sim.world.expect_late_fetch(id, &back);
            done.chance.push("isr-return");
        }
        let who = Who::Broker(id);
        self.sim.command(Command::Stop(who.clone()))?;
        if waits {
            let until = self.sim.now() + LIFE;
            self.sim.run(until, |sim| !sim.is_running(&who));
        }
        Ok(())
    }

    fn freeze(&mut self, op: &Value) -> Known<()> {
        only(op, "id ids for_ms seconds")?;
        let for_ms = op["for_ms"].as_u64().map(Span::from_millis);
        let span = for_ms.or_else(|| span(&op["seconds"]));
        for id in ids(op)? {
            let who = Who::Broker(id);
            self.sim.command(Command::Pause { who, span: span.unwrap_or(FOR_GOOD) })?;
        }
        if let Some(span) = span {
            self.sim.run_for(span);
        }
        Ok(())
    }

    /// In the session that is open for it, or in one of its own.
    fn by_hand(&mut self, op: &Value) -> Known<()> {
        let line = self.line(op)?;
        let stays = op["session"].is_string();
        let name: std::sync::Arc<str> =
            if stays { BY_HAND.into() } else { format!("hand-of-step-{}", self.index).into() };
        if !stays {
            let timeout_ms = self.hand_ms;
            self.sim.command(Command::OpenClient { name: name.clone(), timeout_ms })?;
            self.sim.run_for(FLUSH);
        }
        self.sim.command(Command::Zk { client: name.clone(), line: line.into() })?;
        self.sim.run_for(FLUSH);
        if !stays {
            self.sim.command(Command::Stop(Who::Client(name)))?;
        }
        Ok(())
    }

    /// What is typed into a shell for it.
    fn line(&self, op: &Value) -> Known<String> {
        only(op, "path data session sequential add add_to")?;
        let path = text(op, "path")?;
        let data = match &op["data"] {
            // The data that is given has aliases for random ids.
            _ if op["add"].is_object() => self.with_added(op, path)?,
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let quoted = if data.contains('\'') { format!("\"{data}\"") } else { format!("'{data}'") };
        let numbered = if op["sequential"] == true { "-s " } else { "" };
        Ok(match text(op, "op")? {
            "zk-create" => format!("create {numbered}{path} {quoted}"),
            "zk-set" if numbered.is_empty() => format!("set {path} {quoted}"),
            "zk-delete" => format!("delete {path}"),
            _ => return Err(Unknown(format!("sequential of {op}"))),
        })
    }

    /// The node's JSON with keys put into it, or into the object in it that is named.
    fn with_added(&self, op: &Value, path: &str) -> Known<String> {
        let mut data = self.sim.json(path).ok_or_else(|| Unknown(format!("no JSON at {path}")))?;
        let into = match op["add_to"].as_str() {
            Some(name) => &mut data[name],
            None => &mut data,
        };
        let added = op["add"].as_object().cloned().unwrap_or_default();
        let into = into.as_object_mut().ok_or_else(|| Unknown(format!("add_to of {op}")))?;
        into.extend(added);
        Ok(data.to_string())
    }

    /// Until the tool has ended, or the broker that was asked has answered.
    fn administer(
        &mut self,
        op: &Value,
        task: Task,
        chance: &Chance,
        done: &mut Done,
    ) -> Known<()> {
        match &task {
            Task::Create { topic, .. } | Task::Metadata { topic, .. }
                if op["assignment"].is_null() && chance.placement(topic).is_some() =>
            {
                done.chance.push("placement-draw");
            }
            Task::AlterConfig { asked: Some(_), .. }
            | Task::Reassign { asked: Some(_), .. }
            | Task::CancelReassign { asked: Some(_), .. }
            | Task::VerifyReassign { asked: Some(_), .. } => done.chance.push("asked-broker"),
            _ => {}
        }
        let before = self.sim.clone();
        self.sim.command(Command::Admin(task.clone().into()))?;
        self.sim.run_for(Span::from_millis(1));
        let until = self.sim.now() + LIFE;
        self.sim.run(until, |sim| !sim.tool_runs());
        if self.release == Release::V0_8_2_2 {
            self.sim.run_for(FLUSH);
            done.result = match op["op"] == "describe" {
                true => {
                    let topic = text(op, "topic")?;
                    Some(texts::describe(&self.sim, (topic != "all").then_some(topic)).into())
                }
                false => texts::said(&task, &before, &self.sim).map(Value::from),
            };
        }
        Ok(())
    }

    // --- Waiting ---------------------------------------------------------------------------------

    pub(super) fn conditions(&mut self, step: &Value, until: Instant) -> Known<()> {
        for text in step["until"].as_array().into_iter().flatten() {
            let condition = Condition::parse(text.as_str().unwrap_or_default())?;
            let before = &self.before;
            self.sim.run(until, |sim| condition.holds(sim, before));
        }
        Ok(())
    }

    fn reads(&mut self, step: &Value, after: bool, done: &mut Done) -> Known<()> {
        for read in step["reads"].as_array().into_iter().flatten() {
            if after == (read["when"] == "after-quiet") {
                self.read(read, done)?;
            }
        }
        Ok(())
    }

    /// The step's conditions, its pause, and then nothing new for its quiet time; what it reads is
    /// read before that or after.
    pub(super) fn wait(&mut self, step: &Value, done: &mut Done) -> Known<()> {
        let returned = self.sim.now();
        let end = returned + limit(step);
        let quiet = span(&step["quiet_s"]).unwrap_or(self.quiet);
        self.conditions(step, end)?;
        if let Some(pause) = span(&step["pause_s"]) {
            self.sim.run_for(pause);
        }
        self.reads(step, false, done)?;
        let from = self.sim.now();
        if self.release == Release::V0_8_2_2 {
            // Counted from the call's return; half of it at least after the conditions.
            let least = from + Span::from_micros(quiet.micros() / 2);
            self.still(least.min(end), end, quiet, move |sim| sim.logged_at.max(returned));
        } else {
            self.still(from, end, quiet, move |sim| sim.changed_at.max(from));
        }
        self.reads(step, true, done)
    }

    /// Runs until `quiet` has passed since what `last` says, not before `least`.
    fn still(&mut self, least: Instant, end: Instant, quiet: Span, last: impl Fn(&Sim) -> Instant) {
        loop {
            let due = (last(&self.sim) + quiet).max(least).min(end);
            if due <= self.sim.now() {
                return;
            }
            self.sim.run(due, |_| false);
        }
    }

    // --- What was seen ---------------------------------------------------------------------------

    pub(super) fn transactions(&self, step: &Value) -> Value {
        let unseen =
            step["note"].as_str().is_some_and(|note| note.contains("missing from zk_txns"));
        let entries = self.sim.log.iter().filter(|logged| {
            let by_hand = self.sim.names.get(logged.txn.session) == BY_HAND;
            let opens = matches!(
                logged.txn.kind,
                kafkascope_core::zk::server::TxnKind::CreateSession { .. }
            );
            !(by_hand && (unseen || opens))
        });
        let entry = |(n, logged): (usize, &Logged)| {
            let mut entry = log::entry(logged, &self.sim.names, self.release);
            entry["zxid_order"] = (n + 1).into();
            match self.release {
                Release::V0_8_2_2 => entry["ms"] = logged.at.since(self.begun).millis().into(),
                _ => entry["at_ms"] = logged.at.millis().into(),
            }
            entry
        };
        entries.enumerate().map(entry).collect::<Vec<_>>().into()
    }

    fn facts(&mut self, step: &Value, done: Done) -> Value {
        let mut facts = Map::new();
        for field in ["do", "op"] {
            facts.insert(field.into(), step[field].clone());
        }
        facts.insert("zk_txns".into(), self.transactions(step));
        let after = facts::tree(&self.sim, self.release);
        let (new, gone) = facts::changes(&self.before, &after);
        facts.insert("znodes".into(), new.into());
        facts.insert("removed".into(), gone.into());
        self.before = after;
        facts.insert("topics".into(), facts::topics(&self.sim, self.release).into());
        facts.insert("controller".into(), facts::controller(&self.sim));
        facts.insert("watches".into(), facts::watches(&self.sim).into());
        facts.insert("partition_folders".into(), facts::folders(&self.sim).into());
        self.consumer_facts(step, &mut facts);
        if !done.produced.is_empty() {
            // In tenths, as it is written down.
            let seconds = (done.took.millis() + 50) / 100;
            let seconds = json!(f64::from(u32::try_from(seconds).unwrap_or(u32::MAX)) / 10.0);
            let result = sent::named(&step["result"], &done.produced, &seconds);
            facts.insert("result".into(), result);
        }
        if let Some(result) = done.result {
            facts.insert("result".into(), result);
        }
        facts.extend(done.vectors.map(|vectors| ("vectors".to_owned(), vectors)));
        self.log_facts(step, &mut facts);
        self.record_facts(step, &mut facts, done.read, done.values);
        if let Some(code) = done.exit_code {
            facts.insert("process_exit_code".into(), code.into());
        }
        if let Some(id) = done.duplicate {
            let gone = !self.sim.is_running(&Who::Machine(id, OTHER.into()));
            // A start that failed. [spec kafka-zk.md B1, B2]
            let code = if gone { json!(1) } else { Value::Null };
            facts.insert("process_exit_code".into(), code.clone());
            facts.insert("exit_code".into(), code);
        }
        self.sim.forget();
        facts.into()
    }

    /// What brokers have on their disks, and what they answer.
    fn log_facts(&self, step: &Value, facts: &mut Map<String, Value>) {
        if step.get("records").is_some() {
            facts.insert("records".into(), producers::records(&self.sim, &step["records"]));
        }
        if step.get("checkpointed_hw").is_some() {
            facts.insert("checkpointed_hw".into(), disks::checkpoints(&self.sim));
        }
        for (name, shape) in step.as_object().into_iter().flatten() {
            if let Some(fact) = disks::read(&self.sim, name, shape) {
                facts.insert(name.clone(), fact);
            }
        }
    }

    /// `produced` may have another name, if the ops did it meanwhile.
    fn record_facts(
        &self,
        step: &Value,
        facts: &mut Map<String, Value>,
        read: Vec<(String, Value)>,
        produced: Vec<Value>,
    ) {
        facts.extend(read);
        if !produced.is_empty() {
            let meanwhile = step.get("produced_meanwhile").is_some();
            let name = if meanwhile { "produced_meanwhile" } else { "produced" };
            facts.insert(name.into(), produced.into());
        }
        if step.get("elected_at_once").is_some() {
            facts.insert("elected_at_once".into(), elected(&self.sim.told).into());
        }
    }

    fn consumer_facts(&self, step: &Value, facts: &mut Map<String, Value>) {
        let ms = |heard: &sim::Heard| heard.at.since(self.begun).millis();
        let events = consumers::events(&self.sim.heard, ms);
        if let Some(fact) = consumers::rebalance(&facts["zk_txns"], &events) {
            facts.insert("rebalance".into(), fact);
        }
        facts.insert("consumer_events".into(), events.into());
        if let Some(fact) = consumers::consumed(&self.sim, &step["consumed"]) {
            facts.insert("consumed".into(), fact);
        }
        if step.get("group").is_some() {
            facts.insert("group".into(), consumers::groups(&self.sim));
        }
    }
}

/// A leader was there without any broker that came or went.
fn elected(told: &[std::sync::Arc<KafkaEvent>]) -> bool {
    let chosen =
        |event: &KafkaEvent| matches!(event, KafkaEvent::LeaderChosen { leader: Some(_), .. });
    let moved = |event: &KafkaEvent| matches!(event, KafkaEvent::BrokersChanged { .. });
    let first = told.iter().position(|event| chosen(event));
    first.is_some_and(|first| !told.iter().take(first).any(|event| moved(event)))
}

/// The later recorder shows the root, also in the tree of an empty server.
fn has_root(release: Release) -> bool {
    release != Release::V0_8_2_2
}

fn limit(step: &Value) -> Span {
    span(&step["max_s"]).unwrap_or(PATIENCE)
}
