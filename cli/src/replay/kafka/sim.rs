//! The simulated world and what an onlooker keeps of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::kafka::consumer_zk::event::Event as Told;
use kafkascope_core::kafka::{Event as KafkaEvent, TopicPartition, paths};
use kafkascope_core::world::log::Logged;
use kafkascope_core::world::proc::{Kind, Proc, State, ZOOKEEPER};
use kafkascope_core::world::{Command, Config, Event, Fact, Row, Who, World};
use kafkascope_core::zk::op::ToServer;
use kafkascope_core::zk::server::TxnKind;
use serde_json::Value;

use super::names::{self, Names};
use super::{Known, Unknown};

/// Between two processes of one machine.
pub const LATENCY: Span = Span::from_micros(200);
/// A broker's start until its first packet.
pub const BOOT: Span = Span::from_millis(500);

/// The draws of every replay; what is chance is steered.
const SEED: u64 = 1;

#[derive(Clone)]
pub struct Sim {
    pub world: World,
    pub names: Names,
    /// Transactions since they were last taken.
    pub log: Vec<Logged>,
    /// When the server last logged anything, and when its tree last changed.
    pub logged_at: Instant,
    pub changed_at: Instant,
    /// Replicas that a broker has on its disk.
    pub folders: BTreeMap<u32, BTreeSet<String>>,
    /// Kafka's own events since they were last taken.
    pub told: Vec<Arc<KafkaEvent>>,
    /// What consumers told since it was last taken.
    pub heard: Vec<Heard>,
    /// What each consumer's application got since it started, in that order.
    pub consumed: BTreeMap<String, BTreeMap<TopicPartition, Vec<(u64, u64)>>>,
    /// Consumers whose entries in the log shall come at certain moments.
    pub paces: BTreeMap<String, Pace>,
    /// What the numbers in records stand for.
    pub texts: Vec<Arc<str>>,
    commands: Vec<(Instant, Arc<Command>)>,
}

/// Gates in the link of a consumer to ZooKeeper, one for each of its entries in the log.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    pub gates: Vec<Gate>,
    /// How many entries came, and how many requests left since the last of them.
    came: usize,
    asked: u32,
    /// How many requests before each entry's own.
    pub seen: Vec<u32>,
    /// Before when it does not go on after its tries' begins and after each release.
    pub tries: VecDeque<Instant>,
    pub releases: VecDeque<Instant>,
}

/// The request that makes an entry does not arrive before `at`; what is asked before it not
/// before `soonest`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    pub soonest: Instant,
    pub at: Instant,
    pub reads: u32,
}

impl Pace {
    pub fn new(gates: Vec<Gate>) -> Pace {
        Pace { gates, ..Pace::default() }
    }

    /// Until when nothing passes now.
    fn hold(&self) -> Option<Instant> {
        let gate = self.gates.get(self.came)?;
        Some(if self.asked >= gate.reads { gate.at } else { gate.soonest })
    }
}

/// An event of a consumer.
#[derive(Clone)]
pub struct Heard {
    pub at: Instant,
    pub consumer: String,
    pub event: Arc<KafkaEvent>,
}

impl Sim {
    pub fn new(config: Config) -> Sim {
        let mut world = World::new(config, SEED);
        world.keep_log();
        Sim {
            world,
            names: Names::default(),
            log: Vec::new(),
            logged_at: Instant::ZERO,
            changed_at: Instant::ZERO,
            folders: BTreeMap::new(),
            told: Vec::new(),
            heard: Vec::new(),
            consumed: BTreeMap::new(),
            paces: BTreeMap::new(),
            texts: Vec::new(),
            commands: Vec::new(),
        }
    }

    pub fn now(&self) -> Instant {
        self.world.now
    }

    /// Does a command now.
    pub fn command(&mut self, command: Command) -> Known<()> {
        let command = Arc::new(command);
        self.commands.push((self.world.now, command.clone()));
        let rows = self.step();
        match rows.iter().find_map(|row| match &row.event {
            Event::Refused(why) => Some(why.clone()),
            _ => None,
        }) {
            Some(why) => Err(Unknown(format!("{command} is refused: {:?}", why.1))),
            None => Ok(()),
        }
    }

    fn step(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.world.step(&self.commands, &mut rows);
        for row in &rows {
            self.look_at(row);
        }
        let entries = self.world.log.as_mut().map(|log| std::mem::take(&mut log.entries));
        for entry in entries.into_iter().flatten() {
            self.logged_at = entry.at;
            if changes_tree(&entry.txn.kind) {
                self.changed_at = entry.at;
            }
            let session = entry.txn.session;
            if let Some(index) = self.world.owners.get(&session) {
                let kind = self.world.proc(*index).kind.clone();
                self.names.name(session, &kind);
                if let Kind::Consumer(name) = kind {
                    self.pace(&name);
                }
            }
            self.log.push(entry);
        }
        self.count_requests();
        rows
    }

    fn look_at(&mut self, row: &Row) {
        if let Kind::Consumer(name) = &self.world.proc(row.proc).kind {
            let name = name.to_string();
            self.look_at_consumer(row, name);
        }
        let Event::Kafka(event) = &row.event else { return };
        match &**event {
            KafkaEvent::BecameLeader { broker, tp, .. }
            | KafkaEvent::BecameFollower { broker, tp, .. } => {
                let folder = format!("{}-{}", tp.topic, tp.partition);
                self.folders.entry(*broker).or_default().insert(folder);
            }
            KafkaEvent::ReplicaDeleted { broker, tp } => {
                let folder = format!("{}-{}", tp.topic, tp.partition);
                self.folders.entry(*broker).or_default().remove(&folder);
            }
            _ => {}
        }
        self.told.push(event.clone());
    }

    fn look_at_consumer(&mut self, row: &Row, consumer: String) {
        match &row.event {
            Event::Started => _ = self.consumed.insert(consumer, BTreeMap::new()),
            Event::Kafka(event) => {
                if let KafkaEvent::Consumer(Told::Consumed { tp, from, count, .. }) = &**event {
                    let of_consumer = self.consumed.entry(consumer.clone()).or_default();
                    let ranges = of_consumer.entry(tp.clone()).or_default();
                    let end = from + u64::from(*count);
                    match ranges.last_mut() {
                        Some((_, last)) if *last == *from => *last = end,
                        _ => ranges.push((*from, end)),
                    }
                }
                self.hold_by_line(&consumer, event);
                self.heard.push(Heard { at: row.at, consumer, event: event.clone() });
            }
            _ => {}
        }
    }

    /// Runs to `until`, or to the moment at which `stop` holds: then it is true.
    pub fn run(&mut self, until: Instant, stop: impl Fn(&Sim) -> bool) -> bool {
        loop {
            if stop(self) {
                return true;
            }
            match self.world.next_at(&self.commands) {
                Some(at) if at <= until => {
                    self.step();
                }
                _ => {
                    self.world.idle_until(until);
                    return stop(self);
                }
            }
        }
    }

    /// What was logged and told until now is nobody's business any more.
    pub fn forget(&mut self) {
        self.log.clear();
        self.told.clear();
        self.heard.clear();
    }

    pub fn run_for(&mut self, span: Span) {
        self.run(self.world.now + span, |_| false);
    }

    /// What stands at a path, if it is JSON.
    pub fn json(&self, path: &str) -> Option<Value> {
        let node = self.world.server.tree().get(path)?;
        serde_json::from_slice(node.data.as_ref()?).ok()
    }

    pub fn controller(&self) -> Option<u32> {
        let id = self.json(paths::CONTROLLER)?["brokerid"].as_u64()?;
        u32::try_from(id).ok()
    }

    pub fn is_registered(&self, id: u32) -> bool {
        self.world.path_exists(&paths::broker(id))
    }

    pub fn is_running(&self, who: &Who) -> bool {
        self.world.find(who).is_some_and(|index| self.world.proc(index).is_running())
    }

    /// Tools that are at work.
    pub fn tool_runs(&self) -> bool {
        let is_tool = |kind: &Kind| {
            !matches!(
                kind,
                Kind::ZooKeeper
                    | Kind::Broker(_)
                    | Kind::Impostor(..)
                    | Kind::Client(_)
                    | Kind::Consumer(_)
                    | Kind::Producer(_)
            )
        };
        // The election tool of 0.11 leaves a session open when it has done its work.
        let works = |proc: &Proc| proc.is_running() && !proc.tool_is_done();
        self.world.procs.iter().any(|proc| is_tool(&proc.kind) && works(proc))
    }

    /// Ids of the brokers whose process runs.
    pub fn running_brokers(&self) -> Vec<u32> {
        let running = self.world.procs.iter().filter(|proc| proc.is_running());
        running
            .filter_map(|proc| match proc.kind {
                Kind::Broker(id) => Some(id),
                _ => None,
            })
            .collect()
    }

    /// Those of them that do not stand still.
    pub fn lively_brokers(&self) -> Vec<u32> {
        let up = |id: &u32| {
            self.world.broker(*id).is_some_and(|proc| !matches!(proc.state, State::Paused { .. }))
        };
        self.running_brokers().into_iter().filter(up).collect()
    }

    /// Adds to the latency between a broker and ZooKeeper; nothing makes it as it was.
    pub fn delay(&mut self, broker: u32, extra: Span) {
        if let Some(index) = self.world.find(&Who::Broker(broker)) {
            self.world.links.change(index, ZOOKEEPER, |link| link.extra = extra);
        }
    }

    /// The same between a consumer and ZooKeeper.
    pub fn slow_down(&mut self, consumer: &str, extra: Span) {
        if let Some(index) = self.world.find(&Who::Consumer(consumer.into())) {
            self.world.links.change(index, ZOOKEEPER, |link| link.extra = extra);
        }
    }

    /// Nothing passes between a consumer and ZooKeeper before this moment.
    pub fn hold_back(&mut self, consumer: &str, until: Instant) {
        if let Some(index) = self.world.find(&Who::Consumer(consumer.into())) {
            self.world.links.change(index, ZOOKEEPER, |link| link.held_until = until);
        }
    }

    /// An entry of a consumer came: the next one has its own gate.
    fn pace(&mut self, consumer: &str) {
        let Some(pace) = self.paces.get_mut(consumer) else { return };
        pace.seen.push(pace.asked.saturating_sub(1));
        pace.came += 1;
        pace.asked = 0;
        let hold = pace.hold().unwrap_or(Instant::ZERO);
        self.hold_back(consumer, hold);
    }

    /// What it wrote into its log has its time too.
    fn hold_by_line(&mut self, consumer: &str, event: &KafkaEvent) {
        let Some(pace) = self.paces.get_mut(consumer) else { return };
        let line = match event {
            KafkaEvent::Consumer(Told::Attempt { .. }) => pace.tries.pop_front(),
            KafkaEvent::Consumer(Told::Released { .. }) => pace.releases.pop_front(),
            _ => None,
        };
        if let Some(line) = line {
            let hold = pace.hold().unwrap_or(Instant::ZERO).max(line);
            self.hold_back(consumer, hold);
        }
    }

    /// Requests left: whose entry is next may have to wait.
    fn count_requests(&mut self) {
        if self.paces.is_empty() {
            return;
        }
        for fact in std::mem::take(&mut self.world.facts) {
            let Fact::Asked { proc, frame: ToServer::Request { .. }, .. } = fact else { continue };
            let Kind::Consumer(name) = self.world.proc(proc).kind.clone() else { continue };
            let Some(pace) = self.paces.get_mut(&*name) else { continue };
            pace.asked += 1;
            let full = pace.gates.get(pace.came).is_some_and(|gate| pace.asked == gate.reads);
            if let Some(hold) = pace.hold().filter(|_| full) {
                self.hold_back(&name, hold);
            }
        }
    }

    /// The name of the session that a broker's process has now.
    pub fn broker_session(&self, broker: u32) -> Option<&str> {
        let mut sessions: Vec<&str> = self.names.iter().map(|(_, name)| name).collect();
        sessions.retain(|name| names::broker_of(name) == Some(broker));
        sessions.last().copied()
    }
}

fn changes_tree(kind: &TxnKind) -> bool {
    match kind {
        TxnKind::CreateSession { .. } | TxnKind::Error { .. } | TxnKind::Check { .. } => false,
        TxnKind::CloseSession { ephemerals, .. } => !ephemerals.is_empty(),
        _ => true,
    }
}
