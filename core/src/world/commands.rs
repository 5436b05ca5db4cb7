//! Doing what a person asked, or saying why it can't be done now. A refused command changes
//! nothing.

use std::sync::Arc;

use super::command::{CONSOLE, Command, Counted, NameFault, Refusal, Who};
use super::event::{Event, ZkEvent};
use super::item::What;
use super::network::ShellInput;
use super::proc::{Kind, Node, Proc, State, ZOOKEEPER};
use super::{Emit, Profile, World};
use crate::base::{Instant, Span, limits};
use crate::kafka::admin::{Admin, Task as TextbookTask};
use crate::kafka::broker::{Broker, Input};
use crate::kafka::log::manager::ReplicaManager;
use crate::kafka::payload::TopicInfo;
use crate::kafka::real;
use crate::kafka::real::task::{Layout, Task};
use crate::kafka::release::Release;
use crate::kafka::{TopicPartition, paths, payload};
use crate::sim::{Class, RowId};
use crate::zk::op::SessionId;
use crate::zk::shell::Shell;

/// What the tools of all releases ask for.
const TOOL_TIMEOUT_MS: i32 = 30_000;

/// Every broker listens here, each on its own machine.
const PORT: u32 = 9_092;

impl World {
    pub(super) fn command(&mut self, emit: &mut Emit<'_>, command: &Arc<Command>) {
        if let Err(refusal) = self.check(command) {
            let refused = Arc::new(((**command).clone(), refusal));
            self.emit(emit, ZOOKEEPER, false, Event::Refused(refused));
            return;
        }
        self.changed();
        let proc = self.subject(command);
        self.emit(emit, proc, false, Event::Commanded(command.clone()));
        match &**command {
            Command::StartBroker { id, host, rack } => {
                self.start_broker(emit, *id, host.clone(), rack.clone());
            }
            Command::OpenClient { name, timeout_ms } => {
                self.open_client(emit, name.clone(), *timeout_ms);
            }
            Command::StartZooKeeper => {
                self.start_server();
                self.emit(emit, ZOOKEEPER, true, Event::Zk(ZkEvent::ServerStarted));
            }
            Command::Stop(who) => self.stop(emit, who),
            Command::Kill(who) => self.kill(emit, who),
            Command::Pause { who, span } => self.pause(emit, who, *span),
            Command::Restart(who) => self.restart(emit, who),
            Command::RollBrokers => self.roll(emit),
            Command::Cut(who) => self.cut(emit, who, true),
            Command::Heal(who) => self.cut(emit, who, false),
            Command::CreateTopic { topic, partitions, replication } => {
                let (partitions, replication) = (*partitions, *replication);
                if self.config.profile != Profile::Textbook {
                    let layout = Layout::Counts { partitions, replication };
                    let (topic, configs) = (topic.clone(), Vec::new());
                    let task = Arc::new(Task::Create { topic, layout, configs });
                    return self.administrate(emit, &task);
                }
                let task = TextbookTask::Create { topic: topic.clone(), partitions, replication };
                self.run_tool(emit, task);
            }
            Command::DeleteTopic { topic } if self.config.profile != Profile::Textbook => {
                self.administrate(emit, &Arc::new(Task::Delete { topic: topic.clone() }));
            }
            Command::DeleteTopic { topic } => {
                self.run_tool(emit, TextbookTask::Delete { topic: topic.clone() });
            }
            Command::Resume(who) => self.resume_now(emit, who),
            Command::CutPeers { a, b } => self.cut_peers(emit, (a, b), true),
            Command::HealPeers { a, b } => self.cut_peers(emit, (a, b), false),
            Command::HoldLink { a, b, span } => {
                let until = self.now + *span;
                self.bend(a, b, |link| link.held_until = until);
            }
            Command::DelayLink { a, b, by } => self.bend(a, b, |link| link.extra = *by),
            Command::Expire(who) => self.expire_session(emit, who),
            Command::Admin(task) if self.config.profile == Profile::Textbook => {
                if let Task::AddPartitions { topic, total, .. } = &**task {
                    let (topic, total) = (topic.clone(), *total);
                    self.run_tool(emit, TextbookTask::AddPartitions { topic, total });
                }
            }
            Command::Admin(task) => self.administrate(emit, task),
            Command::StartConsumer { .. }
            | Command::StartProducer { .. }
            | Command::Produce { .. }
            | Command::Commit { .. }
            | Command::Tune { .. } => self.client_command(emit, command),
            Command::Zk { client, line } => self.type_line(emit, client, line),
        }
    }

    /// The process that a command is about.
    fn subject(&self, command: &Command) -> u16 {
        match command {
            Command::Stop(who)
            | Command::Kill(who)
            | Command::Pause { who, .. }
            | Command::Restart(who)
            | Command::Cut(who)
            | Command::Resume(who)
            | Command::Expire(who)
            | Command::CutPeers { a: who, .. }
            | Command::HealPeers { a: who, .. }
            | Command::HoldLink { a: who, .. }
            | Command::DelayLink { a: who, .. }
            | Command::Heal(who) => self.find(who).unwrap_or(ZOOKEEPER),
            Command::Zk { client, .. } => {
                self.find(&Who::Client(client.clone())).unwrap_or(ZOOKEEPER)
            }
            Command::Produce { producer: name, .. } => {
                self.find(&Who::Producer(name.clone())).unwrap_or(ZOOKEEPER)
            }
            Command::Commit { consumer: name } | Command::Tune { consumer: name, .. } => {
                self.find(&Who::Consumer(name.clone())).unwrap_or(ZOOKEEPER)
            }
            _ => ZOOKEEPER,
        }
    }

    /// Whether a command can be done now; the page greys out what can't, with this reason.
    pub fn check(&self, command: &Command) -> Result<(), Refusal> {
        match command {
            Command::StartBroker { id, host, rack } => {
                self.check_start(*id, host.as_deref(), rack.as_deref())
            }
            Command::OpenClient { name, timeout_ms } => self.check_open(name, *timeout_ms),
            Command::StartZooKeeper if self.server_up => {
                Err(Refusal::AlreadyRunning(Who::ZooKeeper))
            }
            Command::StartZooKeeper => Ok(()),
            Command::Stop(who) | Command::Kill(who) => self.running(who).map(|_| ()),
            Command::RollBrokers if self.is_rolling() => Err(Refusal::AlreadyRolling),
            Command::RollBrokers if self.to_roll().is_empty() => Err(Refusal::NoBrokers),
            Command::RollBrokers => Ok(()),
            Command::Restart(Who::ZooKeeper) => Err(Refusal::NotForThis(Who::ZooKeeper)),
            Command::Restart(who) => {
                self.find(who).map(|_| ()).ok_or_else(|| Refusal::UnknownProcess(who.clone()))
            }
            Command::Pause { who: Who::ZooKeeper, .. } => Err(Refusal::NotForThis(Who::ZooKeeper)),
            Command::Pause { who, span } => {
                let secs = span.0.div_ceil(1_000_000);
                within(Counted::PauseSeconds, secs, 1, limits::PAUSE_SECS)?;
                match self.running(who)?.state {
                    State::Paused { .. } => Err(Refusal::AlreadyPaused(who.clone())),
                    _ => Ok(()),
                }
            }
            Command::Cut(Who::ZooKeeper) | Command::Heal(Who::ZooKeeper) => {
                Err(Refusal::NotForThis(Who::ZooKeeper))
            }
            Command::Cut(who) => self.check_cut(who, false),
            Command::Heal(who) => self.check_cut(who, true),
            Command::CreateTopic { topic, partitions, replication } => {
                self.check_create(topic, *partitions, *replication)
            }
            Command::DeleteTopic { topic } => {
                self.zookeeper_up()?;
                check_name(topic, limits::TOPIC_NAME)?;
                match self.path_exists(&paths::topic(topic)) {
                    true => Ok(()),
                    false => Err(Refusal::UnknownTopic(topic.clone())),
                }
            }
            Command::Resume(who) => match self.running(who)?.state {
                State::Paused { .. } => Ok(()),
                _ => Err(Refusal::NotPaused(who.clone())),
            },
            Command::CutPeers { a, b } => self.check_peers(a, b, false),
            Command::HealPeers { a, b } => self.check_peers(a, b, true),
            Command::HoldLink { a, b, .. } | Command::DelayLink { a, b, .. } => {
                self.check_two(a, b).map(|_| ())
            }
            Command::Expire(who) => match self.session_of_process(who)? {
                Some(_) => Ok(()),
                None => Err(Refusal::NoSession(who.clone())),
            },
            Command::Admin(task) => self.check_task(task),
            Command::StartConsumer { .. }
            | Command::StartProducer { .. }
            | Command::Produce { .. }
            | Command::Commit { .. }
            | Command::Tune { .. } => self.check_client_command(command),
            Command::Zk { client, line } => self.check_line(client, line),
        }
    }

    fn zookeeper_up(&self) -> Result<(), Refusal> {
        if self.server_up { Ok(()) } else { Err(Refusal::ZooKeeperDown) }
    }

    pub(super) fn running(&self, who: &Who) -> Result<&Proc, Refusal> {
        let index = self.find(who).ok_or_else(|| Refusal::UnknownProcess(who.clone()))?;
        let proc = self.proc(index);
        if proc.is_running() { Ok(proc) } else { Err(Refusal::NotRunning(who.clone())) }
    }

    fn check_cut(&self, who: &Who, is_cut: bool) -> Result<(), Refusal> {
        let index = self.find(who).ok_or_else(|| Refusal::UnknownProcess(who.clone()))?;
        match (self.is_cut(index), is_cut) {
            (true, false) => Err(Refusal::AlreadyCut(who.clone())),
            (false, true) => Err(Refusal::NotCut(who.clone())),
            _ => Ok(()),
        }
    }

    /// Two processes that there is a link between.
    fn check_two(&self, a: &Who, b: &Who) -> Result<(u16, u16), Refusal> {
        let known = |who: &Who| self.find(who).ok_or_else(|| Refusal::UnknownProcess(who.clone()));
        let (one, other) = (known(a)?, known(b)?);
        match one == other {
            true => Err(Refusal::NotForThis(a.clone())),
            false => Ok((one, other)),
        }
    }

    fn bend(&mut self, a: &Who, b: &Who, change: impl Fn(&mut crate::sim::Link)) {
        if let (Some(one), Some(other)) = (self.find(a), self.find(b)) {
            self.links.change(one, other, change);
        }
    }

    fn check_peers(&self, a: &Who, b: &Who, is_cut: bool) -> Result<(), Refusal> {
        let (one, other) = self.check_two(a, b)?;
        match (self.links.is_cut(one, other), is_cut) {
            (true, false) => Err(Refusal::AlreadyCut(a.clone())),
            (false, true) => Err(Refusal::NotCut(a.clone())),
            _ => Ok(()),
        }
    }

    /// The session that the server still has for a process, its last one if the process is gone.
    fn session_of_process(&self, who: &Who) -> Result<Option<SessionId>, Refusal> {
        let index = self.find(who).ok_or_else(|| Refusal::UnknownProcess(who.clone()))?;
        let ours = |session: &&SessionId| self.server.session(**session).is_some();
        let of = self.owners.iter().filter(|(_, owner)| **owner == index).map(|(id, _)| id);
        Ok(of.rev().find(ours).copied())
    }

    fn check_start(&self, id: u32, host: Option<&str>, rack: Option<&str>) -> Result<(), Refusal> {
        within(Counted::BrokerId, u64::from(id), 0, u64::from(limits::BROKER_ID))?;
        if let Some(rack) = rack {
            check_name(rack, limits::CLIENT_NAME)?;
        }
        if let Some(host) = host {
            check_name(host, limits::CLIENT_NAME)?;
        }
        if let Some(index) = self.find_broker(id, host) {
            let proc = self.proc(index);
            return match proc.who().filter(|_| proc.is_running()) {
                Some(who) => Err(Refusal::AlreadyRunning(who)),
                None => Ok(()),
            };
        }
        let is_broker = |p: &&Proc| matches!(p.kind, Kind::Broker(_) | Kind::Impostor(..));
        let brokers = self.procs.iter().filter(is_broker).count();
        at_most(Counted::Brokers, brokers, limits::BROKERS)
    }

    fn check_open(&self, name: &Arc<str>, timeout_ms: Option<i32>) -> Result<(), Refusal> {
        check_name(name, limits::CLIENT_NAME)?;
        if let Some(ms) = timeout_ms {
            let given = u64::try_from(ms).unwrap_or(0);
            within(Counted::SessionTimeoutMs, given, 1, 600_000)?;
        }
        let who = Who::Client(name.clone());
        match self.find(&who) {
            Some(index) if self.proc(index).is_running() => Err(Refusal::AlreadyRunning(who)),
            Some(_) => Ok(()),
            None => {
                let is_client = |proc: &&Proc| matches!(proc.kind, Kind::Client(_));
                let clients = self.procs.iter().filter(is_client).count();
                at_most(Counted::Clients, clients, limits::CLIENTS)
            }
        }
    }

    fn check_create(
        &self,
        topic: &Arc<str>,
        partitions: u32,
        replication: u32,
    ) -> Result<(), Refusal> {
        self.zookeeper_up()?;
        check_name(topic, limits::TOPIC_NAME)?;
        let high = u64::from(limits::PARTITIONS_PER_TOPIC);
        within(Counted::Partitions, u64::from(partitions), 1, high)?;
        within(Counted::Replication, u64::from(replication), 1, limits::BROKERS as u64)?;
        let tree = self.server.tree();
        let children = |path: &str| {
            tree.get(path).map_or(0, |node| u32::try_from(node.child_count()).unwrap_or(0))
        };
        let brokers = children(paths::BROKER_IDS);
        if replication > brokers {
            return Err(Refusal::ReplicationAboveBrokers { replication, brokers });
        }
        if self.path_exists(&paths::topic(topic)) {
            return Err(Refusal::TopicExists(topic.clone()));
        }
        at_most(Counted::Topics, children(paths::TOPICS) as usize, limits::TOPICS)
    }

    fn check_task(&self, task: &Task) -> Result<(), Refusal> {
        match (self.config.profile, task) {
            (Profile::Textbook, Task::AddPartitions { topic, total, assignment: None }) => {
                self.check_add(topic, *total)
            }
            (Profile::Textbook, _) => Err(Refusal::NotInTextbook),
            (_, Task::Reassign { plan, .. }) => self.check_plan(plan),
            _ => self.zookeeper_up(),
        }
    }

    /// What no tool would be given: brokers that never were, or one of them twice.
    fn check_plan(&self, plan: &[(TopicPartition, Vec<u32>)]) -> Result<(), Refusal> {
        self.zookeeper_up()?;
        for (tp, replicas) in plan {
            check_name(&tp.topic, limits::TOPIC_NAME)?;
            if !self.path_exists(&paths::topic(&tp.topic)) {
                return Err(Refusal::UnknownTopic(tp.topic.clone()));
            }
            let node = self.server.tree().get(&paths::topic(&tp.topic));
            let info = node.and_then(|node| payload::read::<TopicInfo>(&node.data));
            if info.is_some_and(|info| !info.partitions.contains_key(&tp.partition)) {
                return Err(Refusal::UnknownPartition(tp.clone()));
            }
            for (n, id) in replicas.iter().enumerate() {
                if self.find_broker(*id, None).is_none() {
                    return Err(Refusal::UnknownProcess(Who::Broker(*id)));
                }
                if replicas.iter().take(n).any(|other| other == id) {
                    return Err(Refusal::ReplicaTwice(*id));
                }
            }
        }
        Ok(())
    }

    fn check_add(&self, topic: &Arc<str>, total: u32) -> Result<(), Refusal> {
        self.zookeeper_up()?;
        check_name(topic, limits::TOPIC_NAME)?;
        within(Counted::Partitions, total.into(), 1, limits::PARTITIONS_PER_TOPIC.into())?;
        match self.path_exists(&paths::topic(topic)) {
            true => Ok(()),
            false => Err(Refusal::UnknownTopic(topic.clone())),
        }
    }

    fn check_line(&self, client: &Arc<str>, line: &str) -> Result<(), Refusal> {
        let given = line.len() as u64;
        within(Counted::LineBytes, given, 1, limits::CONSOLE_LINE as u64)?;
        match &**client {
            // The console opens its session with its first line.
            CONSOLE => Ok(()),
            _ => self.running(&Who::Client(client.clone())).map(|_| ()),
        }
    }

    fn find_broker(&self, id: u32, host: Option<&str>) -> Option<u16> {
        let at = self.procs.iter().position(|proc| match (&proc.kind, host) {
            (Kind::Broker(known), None) => *known == id,
            (Kind::Broker(known), Some(host)) => *known == id && *usual_host(id) == *host,
            (Kind::Impostor(known, theirs), Some(host)) => *known == id && **theirs == *host,
            _ => false,
        })?;
        u16::try_from(at).ok()
    }

    pub(super) fn add(&mut self, kind: Kind) -> u16 {
        self.procs.push(Proc::new(kind));
        u16::try_from(self.procs.len() - 1).unwrap_or(u16::MAX)
    }

    /// A new life: it runs once it has booted.
    pub(super) fn launch(&mut self, emit: &Emit<'_>, index: u16, node: Node, after: Span) {
        let proc = &mut self.procs[usize::from(index)];
        proc.life += 1;
        proc.node = node;
        proc.state = State::Booting;
        proc.timer_at = Instant::NEVER;
        proc.conn = None;
        let what = What::Boot { proc: index, life: proc.life };
        self.schedule(self.now + after, Class::Process, emit.cause, what);
    }

    pub(super) fn start_broker(
        &mut self,
        emit: &Emit<'_>,
        id: u32,
        host: Option<Arc<str>>,
        rack: Option<Arc<str>>,
    ) {
        let usual = usual_host(id);
        let index = self.find_broker(id, host.as_deref()).unwrap_or_else(|| match &host {
            Some(host) if *host != usual => self.add(Kind::Impostor(id, host.clone())),
            _ => self.add(Kind::Broker(id)),
        });
        let proc = &mut self.procs[usize::from(index)];
        proc.rack = rack.or(proc.rack.take());
        let rack = proc.rack.clone();
        if self.config.profile != Profile::Textbook {
            return self.start_real(emit, index, id, host.unwrap_or(usual));
        }
        let disk = std::mem::take(&mut proc.disk);
        let mut broker =
            Broker::new(id, host.unwrap_or(usual), PORT, rack, self.config.broker_zk());
        broker.logs = ReplicaManager::new(disk, self.config.logs());
        #[cfg(feature = "mutations")]
        {
            broker.mutation = match self.config.mutation {
                Some(super::config::Mutation::Kafka(mutation)) => Some(mutation),
                _ => None,
            };
        }
        let spread = self.rng.below(self.config.boot_spread.0 + 1);
        let after = self.config.boot + Span(spread);
        self.launch(emit, index, Node::Broker(Arc::new(broker)), after);
    }

    fn open_client(&mut self, emit: &Emit<'_>, name: Arc<str>, timeout_ms: Option<i32>) -> u16 {
        let found = self.find(&Who::Client(name.clone()));
        let index = found.unwrap_or_else(|| self.add(Kind::Client(name)));
        let shell = Shell::new(self.config.client_zk(timeout_ms));
        self.launch(emit, index, Node::Shell(Arc::new(shell)), Span::ZERO);
        index
    }

    /// A tool takes the place of one that is done, so that the table stays small.
    fn run_tool(&mut self, emit: &Emit<'_>, task: TextbookTask) {
        let free = |proc: &Proc| proc.kind == Kind::Admin && !proc.is_running();
        let found = self.procs.iter().position(free).and_then(|at| u16::try_from(at).ok());
        let index = found.unwrap_or_else(|| self.add(Kind::Admin));
        let admin = Admin::new(task, self.config.client_zk(None));
        self.launch(emit, index, Node::Admin(Arc::new(admin)), Span::from_millis(1));
    }

    /// A broker of a real release. A machine that is not the usual one advertises itself.
    fn start_real(&mut self, emit: &Emit<'_>, index: u16, id: u32, host: Arc<str>) {
        let rack = self.proc(index).rack.clone();
        let address = match &self.config.kafka.advertised {
            Some((shared, base)) if *usual_host(id) == *host => (shared.clone(), base + id),
            _ => (host, PORT),
        };
        let settings = Arc::new(self.config.kafka.clone());
        let mut broker = real::Broker::new(id, address, rack, settings, self.config.broker_zk());
        let disk = std::mem::take(&mut self.procs[usize::from(index)].disk);
        broker.logs = ReplicaManager::new(disk, self.config.logs());
        #[cfg(feature = "mutations")]
        if let Some(super::config::Mutation::Kafka(mutation)) = self.config.mutation {
            broker.controller.mutation = Some(mutation);
        }
        let spread = self.rng.below(self.config.boot_spread.0 + 1);
        self.launch(emit, index, Node::Real(Arc::new(broker)), self.config.boot + Span(spread));
    }

    /// Runs the release's tool, or the two sessions that its election tool of 0.11 opens.
    fn administrate(&mut self, emit: &Emit<'_>, task: &Arc<Task>) {
        let settings = Arc::new(self.config.kafka.clone());
        let is_up = |proc: &&Proc| matches!(proc.node, Node::Real(_)) && proc.state == State::Up;
        let brokers = self.procs.iter().filter(is_up).filter_map(|proc| match proc.kind {
            Kind::Broker(id) => Some(id),
            _ => None,
        });
        let brokers: Vec<u32> = brokers.collect();
        let zk = self.config.client_zk(Some(TOOL_TIMEOUT_MS));
        let tool = real::Tool::new(task.clone(), settings, zk, brokers);
        let twice = matches!(**task, Task::ElectPreferred { .. })
            && self.config.release == Release::V0_11_0_3;
        if twice {
            self.launch_tool(emit, tool.clone().looking_only());
            return self.launch_tool(emit, tool.lingering());
        }
        self.launch_tool(emit, tool);
    }

    fn launch_tool(&mut self, emit: &Emit<'_>, tool: real::Tool) {
        let free = |proc: &Proc| proc.kind == Kind::Admin && !proc.is_running();
        let found = self.procs.iter().position(free).and_then(|at| u16::try_from(at).ok());
        let index = found.unwrap_or_else(|| self.add(Kind::Admin));
        self.launch(emit, index, Node::Tool(Arc::new(tool)), Span::from_millis(1));
    }

    fn type_line(&mut self, emit: &mut Emit<'_>, client: &Arc<str>, line: &Arc<str>) {
        let who = Who::Client(client.clone());
        let running = self.find(&who).filter(|index| self.proc(*index).is_running());
        let index = match running {
            Some(index) => index,
            None => {
                let index = self.open_client(emit, client.clone(), None);
                self.procs[usize::from(index)].state = State::Up;
                self.shell_step(emit, index, ShellInput::Start);
                index
            }
        };
        self.shell_step(emit, index, ShellInput::Run(line.clone()));
    }

    pub(super) fn stop(&mut self, emit: &mut Emit<'_>, who: &Who) {
        let Some(index) = self.find(who) else { return };
        if index == ZOOKEEPER {
            self.emit(emit, ZOOKEEPER, true, Event::Zk(ZkEvent::ServerStopped));
            return self.stop_server(emit);
        }
        match (&self.proc(index).node, self.proc(index).state) {
            // What stands still or hasn't begun can't say good-bye.
            (_, State::Paused { .. } | State::Booting) | (Node::Admin(_), _) => {
                self.procs[usize::from(index)].fault = emit.cause;
                self.end(emit, index);
            }
            (
                Node::Broker(_)
                | Node::Real(_)
                | Node::Tool(_)
                | Node::Consumer(_)
                | Node::Producer(_),
                _,
            ) => {
                self.broker_step(emit, index, Input::Stop);
            }
            (Node::Shell(_), _) => self.shell_step(emit, index, ShellInput::Close),
            (Node::Nothing, _) => {}
        }
    }

    fn kill(&mut self, emit: &mut Emit<'_>, who: &Who) {
        let Some(index) = self.find(who) else { return };
        self.emit(emit, index, true, Event::Killed);
        self.procs[usize::from(index)].fault = emit.cause;
        match index {
            ZOOKEEPER => self.stop_server(emit),
            _ => self.end(emit, index),
        }
    }

    fn pause(&mut self, emit: &mut Emit<'_>, who: &Who, span: Span) {
        let Some(index) = self.find(who) else { return };
        let until = self.now + span;
        let proc = &mut self.procs[usize::from(index)];
        let booting = proc.state == State::Booting;
        proc.state = State::Paused { until, booting };
        let life = proc.life;
        _ = self.fetches(index, false);
        self.emit(emit, index, true, Event::Paused { until });
        self.procs[usize::from(index)].fault = emit.cause;
        if let Kind::Broker(id) = self.proc(index).kind {
            self.frozen.insert(id, self.now);
        }
        self.schedule(until, Class::Process, emit.cause, What::Resume { proc: index, life });
    }

    fn restart(&mut self, emit: &mut Emit<'_>, who: &Who) {
        let Some(index) = self.find(who) else { return };
        if self.proc(index).is_running() {
            self.procs[usize::from(index)].fault = emit.cause;
            self.end(emit, index);
        }
        match who {
            Who::Broker(id) => self.start_broker(emit, *id, None, None),
            Who::Machine(id, host) => self.start_broker(emit, *id, Some(host.clone()), None),
            Who::Client(name) => {
                self.open_client(emit, name.clone(), None);
            }
            Who::Consumer(name) => self.restart_consumer(emit, name),
            Who::Producer(name) => self.restart_producer(emit, name),
            Who::ZooKeeper => {}
        }
    }

    fn resume_now(&mut self, emit: &mut Emit<'_>, who: &Who) {
        let Some(index) = self.find(who) else { return };
        let life = self.proc(index).life;
        self.resume(emit, index, life);
    }

    fn expire_session(&mut self, emit: &mut Emit<'_>, who: &Who) {
        let Ok(Some(session)) = self.session_of_process(who) else { return };
        if let Some(index) = self.find(who) {
            self.procs[usize::from(index)].fault = emit.cause;
        }
        let mut out = Vec::new();
        self.server.expire_session(self.now, session, &mut out);
        self.server_said(emit, ZOOKEEPER, out);
    }

    fn cut_peers(&mut self, emit: &mut Emit<'_>, (a, b): (&Who, &Who), cut: bool) {
        let (Some(one), Some(other)) = (self.find(a), self.find(b)) else { return };
        self.links.change(one, other, |link| link.cut = cut);
        if !cut {
            self.release_parked(one, other);
        }
        self.emit(emit, one, true, if cut { Event::LinkCut } else { Event::LinkHealed });
    }

    fn cut(&mut self, emit: &mut Emit<'_>, who: &Who, cut: bool) {
        let Some(index) = self.find(who) else { return };
        self.links.change(index, ZOOKEEPER, |link| link.cut = cut);
        if cut {
            self.emit(emit, index, true, Event::LinkCut);
            self.procs[usize::from(index)].fault = emit.cause;
        } else {
            self.emit(emit, index, true, Event::LinkHealed);
            self.release_parked(index, ZOOKEEPER);
        }
    }

    /// The row that the next one will follow, for those who ask what a command led to.
    pub fn last_row(&self) -> RowId {
        RowId(self.rows_made().wrapping_sub(1))
    }
}

pub fn usual_host(id: u32) -> Arc<str> {
    format!("broker-{id}").into()
}

pub(super) fn within(what: Counted, given: u64, low: u64, high: u64) -> Result<(), Refusal> {
    if (low..=high).contains(&given) {
        Ok(())
    } else {
        Err(Refusal::OutOfRange { what, given, low, high })
    }
}

pub(super) fn at_most(what: Counted, have: usize, limit: usize) -> Result<(), Refusal> {
    if have < limit { Ok(()) } else { Err(Refusal::TooMany { what, limit: limit as u64 }) }
}

/// Names of topics, clients, hosts and racks, by Kafka's rule for topics.
pub fn check_name(name: &str, limit: usize) -> Result<(), Refusal> {
    let why = if name.is_empty() {
        Some(NameFault::Empty)
    } else if name.len() > limit {
        Some(NameFault::TooLong { limit: limit as u64 })
    } else if name == "." || name == ".." {
        Some(NameFault::Dots)
    } else {
        name.chars()
            .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))
            .map(NameFault::Character)
    };
    match why {
        None => Ok(()),
        Some(why) => {
            let shown: String = name.chars().take(limits::CLIENT_NAME).collect();
            Err(Refusal::BadName { name: shown.into(), why })
        }
    }
}
