//! The textbook's controller: whoever holds `/controller` keeps every partition led.
//!
//! It works on levels, not on edges: whatever it hears, it reads what is true, compares each
//! partition with what `election` says it should be, and writes the difference. So a lost or
//! doubled notice changes nothing. [product.md T2, T4, T5]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::broker::{self, Effect, watcher};
use super::election::{self, Choice};
use super::event::Event;
use super::msg::{LeaderAndIsr, Msg, TopicPartition};
use super::paths;
use super::payload::{self, PartitionState, TopicInfo};
use crate::base::{Digest, Instant};
use crate::zk::client::WatcherId;
use crate::zk::hold::Session;
use crate::zk::op::{CreateMode, Data, Error, Failure, Op, Path, Reply, Zxid, open_acl};

/// What a request of the controller was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    ReadEpoch,
    WriteEpoch {
        epoch: i32,
    },
    ListBrokers,
    /// One of the brokers that the last listing named.
    ReadBroker {
        listing: u32,
        id: u32,
    },
    ListTopics,
    ListDeletions,
    ReadTopic {
        topic: Arc<str>,
    },
    ReadState {
        tp: TopicPartition,
    },
    /// A parent of the state znode.
    MakeParent,
    MakeState {
        tp: TopicPartition,
        state: PartitionState,
    },
    WriteState {
        tp: TopicPartition,
        state: PartitionState,
    },
    /// One of the deletes sent ahead while a topic is removed.
    PurgeAhead,
    PurgeList {
        topic: Arc<str>,
    },
    PurgeDelete {
        topic: Arc<str>,
    },
    Forget {
        topic: Arc<str>,
    },
}

/// A partition as the controller knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub assignment: Vec<u32>,
    /// What stands in its state znode, and that znode's version.
    pub state: Option<(PartitionState, i32)>,
    loaded: bool,
    /// Somebody wrote something else there: it is left alone.
    unreadable: bool,
    /// A read or write of the state is on its way.
    busy: bool,
}

/// A topic as the controller knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    pub parts: BTreeMap<u32, Part>,
    czxid: Zxid,
    has_parents: bool,
    /// It is being deleted; what is still to be removed, deepest last.
    purge: Option<Vec<Path>>,
}

#[derive(Clone)]
pub struct Controller {
    pub epoch: i32,
    /// Brokers that live, with the czxid of their registration: a broker that came back within
    /// one notice has a new one.
    pub live: BTreeMap<u32, Zxid>,
    pub topics: BTreeMap<Arc<str>, Topic>,
    started: bool,
    know_brokers: bool,
    listing: u32,
    reading: BTreeSet<u32>,
    next_live: BTreeMap<u32, Zxid>,
    writes: u32,
    orders: BTreeMap<u32, Vec<LeaderAndIsr>>,
    /// A mutation: leaders are chosen outside the assignment.
    #[cfg(feature = "mutations")]
    pub misplaces: bool,
}

/// What the controller works with while it handles one input.
pub struct ControllerIo<'a> {
    pub now: Instant,
    pub broker: u32,
    pub incarnation: u32,
    pub zk: &'a mut Session<broker::Pending>,
    pub out: &'a mut Vec<Effect>,
}

impl ControllerIo<'_> {
    fn ask(&mut self, op: Op, watcher: Option<WatcherId>, what: Pending) {
        let what = broker::Pending::Controller { incarnation: self.incarnation, what };
        self.zk.submit(self.now, op, watcher, what);
    }

    fn note(&mut self, event: Event) {
        self.out.push(Effect::Note(event));
    }

    fn create(&mut self, path: Path, data: Data, what: Pending) {
        let (acl, mode) = (open_acl(), CreateMode::Persistent);
        self.ask(Op::Create { path, data, acl, mode, ttl_ms: 0 }, None, what);
    }

    fn list(&mut self, path: &str, watcher: WatcherId, what: Pending) {
        self.ask(Op::GetChildren { path: path.into(), watch: true }, Some(watcher), what);
    }
}

impl Default for Controller {
    fn default() -> Self {
        Controller::new()
    }
}

impl Controller {
    pub fn new() -> Controller {
        Controller {
            epoch: 0,
            live: BTreeMap::new(),
            topics: BTreeMap::new(),
            started: false,
            know_brokers: false,
            listing: 0,
            reading: BTreeSet::new(),
            next_live: BTreeMap::new(),
            writes: 0,
            orders: BTreeMap::new(),
            #[cfg(feature = "mutations")]
            misplaces: false,
        }
    }

    pub fn start(&mut self, io: &mut ControllerIo<'_>) {
        let op = Op::GetData { path: paths::CONTROLLER_EPOCH.into(), watch: false };
        io.ask(op, None, Pending::ReadEpoch);
    }

    pub fn watch_fired(&mut self, io: &mut ControllerIo<'_>, watcher: WatcherId, path: &Path) {
        match watcher {
            watcher::BROKERS => io.list(paths::BROKER_IDS, watcher, Pending::ListBrokers),
            watcher::TOPICS => io.list(paths::TOPICS, watcher, Pending::ListTopics),
            watcher::DELETIONS => io.list(paths::DELETE_TOPICS, watcher, Pending::ListDeletions),
            watcher::TOPIC_DATA => {
                let name = path.rsplit('/').next().unwrap_or_default();
                if self.topics.get(name).is_some_and(|topic| topic.purge.is_none()) {
                    Controller::read_topic(io, name.into());
                }
            }
            _ => {}
        }
    }

    /// The connection went before the answer came: ask what is true.
    pub fn lost(&mut self, io: &mut ControllerIo<'_>, what: Pending) {
        match what {
            Pending::ReadEpoch | Pending::WriteEpoch { .. } => self.start(io),
            Pending::ListBrokers | Pending::ReadBroker { .. } => {
                io.list(paths::BROKER_IDS, watcher::BROKERS, Pending::ListBrokers);
            }
            Pending::ListTopics => io.list(paths::TOPICS, watcher::TOPICS, Pending::ListTopics),
            Pending::ReadTopic { topic } => Controller::read_topic(io, topic),
            Pending::ListDeletions => {
                io.list(paths::DELETE_TOPICS, watcher::DELETIONS, Pending::ListDeletions);
            }
            Pending::MakeState { tp, .. } | Pending::WriteState { tp, .. } => {
                self.writes = self.writes.saturating_sub(1);
                self.read_state(io, tp);
            }
            Pending::ReadState { tp } => self.read_state(io, tp),
            Pending::PurgeList { topic }
            | Pending::PurgeDelete { topic }
            | Pending::Forget { topic } => self.purge_next(io, &topic),
            Pending::MakeParent | Pending::PurgeAhead => {}
        }
    }

    pub fn done(
        &mut self,
        io: &mut ControllerIo<'_>,
        what: Pending,
        result: Result<Reply, Failure>,
    ) {
        match what {
            Pending::MakeParent | Pending::PurgeAhead => {}
            Pending::ReadEpoch => self.epoch_read(io, result),
            Pending::WriteEpoch { epoch } => self.epoch_written(io, epoch, &result),
            Pending::ListBrokers => self.brokers_listed(io, result),
            Pending::ReadBroker { listing, id } => self.broker_read(io, listing, id, &result),
            Pending::ListTopics => self.topics_listed(io, result),
            Pending::ListDeletions => self.deletions_listed(io, result),
            Pending::ReadTopic { topic } => self.topic_read(io, &topic, result),
            Pending::ReadState { tp } => self.state_read(io, &tp, result),
            Pending::MakeState { tp, state } | Pending::WriteState { tp, state } => {
                self.state_written(io, &tp, state, result);
            }
            Pending::PurgeList { topic } => self.purge_listed(io, &topic, result),
            Pending::PurgeDelete { topic } => self.purge_deleted(io, &topic, &result),
            Pending::Forget { topic } => self.forgotten(io, &topic),
        }
    }

    fn epoch_read(&mut self, io: &mut ControllerIo<'_>, result: Result<Reply, Failure>) {
        let path: Path = paths::CONTROLLER_EPOCH.into();
        match result {
            Ok(Reply::Data { data, stat }) => {
                let epoch = payload::number(&data).unwrap_or(0).saturating_add(1);
                let data = payload::number_data(i64::from(epoch));
                let op = Op::SetData { path, data, version: stat.version };
                io.ask(op, None, Pending::WriteEpoch { epoch });
            }
            _ => io.create(path, payload::number_data(1), Pending::WriteEpoch { epoch: 1 }),
        }
    }

    fn epoch_written(
        &mut self,
        io: &mut ControllerIo<'_>,
        epoch: i32,
        result: &Result<Reply, Failure>,
    ) {
        if result.is_err() {
            return self.start(io);
        }
        self.epoch = epoch;
        self.started = true;
        io.note(Event::ControllerStarted { broker: io.broker, epoch });
        io.list(paths::BROKER_IDS, watcher::BROKERS, Pending::ListBrokers);
        io.list(paths::TOPICS, watcher::TOPICS, Pending::ListTopics);
        io.list(paths::DELETE_TOPICS, watcher::DELETIONS, Pending::ListDeletions);
    }

    fn brokers_listed(&mut self, io: &mut ControllerIo<'_>, result: Result<Reply, Failure>) {
        let Ok(Reply::Children { children, .. }) = result else { return };
        self.listing += 1;
        self.reading = children.iter().filter_map(|name| name.parse().ok()).collect();
        self.next_live.clear();
        for id in &self.reading {
            let op = Op::GetData { path: paths::broker(*id), watch: false };
            io.ask(op, None, Pending::ReadBroker { listing: self.listing, id: *id });
        }
        if self.reading.is_empty() {
            self.brokers_known(io);
        }
    }

    fn broker_read(
        &mut self,
        io: &mut ControllerIo<'_>,
        listing: u32,
        id: u32,
        result: &Result<Reply, Failure>,
    ) {
        if listing != self.listing || !self.reading.remove(&id) {
            return;
        }
        if let Ok(Reply::Data { stat, .. }) = result {
            self.next_live.insert(id, stat.czxid);
        }
        if self.reading.is_empty() {
            self.brokers_known(io);
        }
    }

    fn brokers_known(&mut self, io: &mut ControllerIo<'_>) {
        let live = std::mem::take(&mut self.next_live);
        let before = std::mem::replace(&mut self.live, live);
        let moved = |a: &BTreeMap<u32, Zxid>, b: &BTreeMap<u32, Zxid>| -> Vec<u32> {
            a.iter().filter(|(id, czxid)| b.get(id) != Some(czxid)).map(|(id, _)| *id).collect()
        };
        let joined = moved(&self.live, &before);
        let left = moved(&before, &self.live);
        let first = !std::mem::replace(&mut self.know_brokers, true);
        if !first && joined.is_empty() && left.is_empty() {
            return;
        }
        io.note(Event::BrokersChanged { controller: io.broker, joined: joined.clone(), left });
        self.reconcile_all(io);
        self.order_all(&joined);
    }

    /// Tells brokers that have just come about every partition they hold.
    fn order_all(&mut self, brokers: &[u32]) {
        let mut orders = Vec::new();
        for (name, topic) in &self.topics {
            for (number, part) in &topic.parts {
                let tp = TopicPartition { topic: name.clone(), partition: *number };
                if topic.purge.is_none()
                    && !part.busy
                    && let Some(order) = order(&tp, topic.czxid, part)
                {
                    orders.push(order);
                }
            }
        }
        for order in orders {
            // A leader that is back has forgotten who asked to rejoin: its followers hear of it.
            let leader_is_new = order.leader.is_some_and(|id| brokers.contains(&id));
            for id in &order.replicas {
                let new = brokers.contains(id);
                if new || leader_is_new && self.live.contains_key(id) {
                    self.orders.entry(*id).or_default().push(order.clone());
                }
            }
        }
    }

    fn topics_listed(&mut self, io: &mut ControllerIo<'_>, result: Result<Reply, Failure>) {
        let Ok(Reply::Children { children, .. }) = result else { return };
        let names: BTreeSet<Arc<str>> = children.into_iter().collect();
        let known: BTreeSet<Arc<str>> = self.topics.keys().cloned().collect();
        let created: Vec<Arc<str>> = names.difference(&known).cloned().collect();
        // A topic that is being deleted goes when its deletion is through.
        let gone: Vec<Arc<str>> = known
            .difference(&names)
            .filter(|name| self.topics.get(*name).is_some_and(|topic| topic.purge.is_none()))
            .cloned()
            .collect();
        for name in &gone {
            self.topics.remove(name);
        }
        if !created.is_empty() || !gone.is_empty() {
            io.note(Event::TopicsChanged { controller: io.broker, created: created.clone(), gone });
        }
        for name in created {
            self.topics.insert(name.clone(), Topic::default());
            Controller::read_topic(io, name);
        }
    }

    fn read_topic(io: &mut ControllerIo<'_>, topic: Arc<str>) {
        let op = Op::GetData { path: paths::topic(&topic), watch: true };
        io.ask(op, Some(watcher::TOPIC_DATA), Pending::ReadTopic { topic });
    }

    fn topic_read(
        &mut self,
        io: &mut ControllerIo<'_>,
        name: &Arc<str>,
        result: Result<Reply, Failure>,
    ) {
        let Some(topic) = self.topics.get_mut(name) else { return };
        let Ok(Reply::Data { data, stat }) = result else {
            self.topics.remove(name);
            return;
        };
        topic.czxid = stat.czxid;
        let Some(info) = payload::read::<TopicInfo>(&data) else { return };
        let mut new = Vec::new();
        for (number, assignment) in info.partitions {
            // What is there already stays; only more of them come. [product.md T10]
            let known = topic.parts.get(&number).filter(|part| part.loaded || part.busy);
            if known.is_none() {
                topic.parts.insert(number, Part { assignment, ..Part::default() });
                new.push(number);
            }
        }
        for partition in new {
            self.read_state(io, TopicPartition { topic: name.clone(), partition });
        }
    }

    fn part(&mut self, tp: &TopicPartition) -> Option<&mut Part> {
        let topic = self.topics.get_mut(&tp.topic)?;
        if topic.purge.is_some() {
            return None;
        }
        topic.parts.get_mut(&tp.partition)
    }

    fn read_state(&mut self, io: &mut ControllerIo<'_>, tp: TopicPartition) {
        let Some(part) = self.part(&tp) else { return };
        part.busy = true;
        let op = Op::GetData { path: paths::state(&tp.topic, tp.partition), watch: false };
        io.ask(op, None, Pending::ReadState { tp });
    }

    fn state_read(
        &mut self,
        io: &mut ControllerIo<'_>,
        tp: &TopicPartition,
        result: Result<Reply, Failure>,
    ) {
        let Some(part) = self.part(tp) else { return };
        part.busy = false;
        part.loaded = true;
        part.unreadable = false;
        part.state = match result {
            Ok(Reply::Data { data, stat }) => {
                let state = payload::read(&data).map(|state| (state, stat.version));
                part.unreadable = state.is_none();
                state
            }
            _ => None,
        };
        if !self.reconcile(io, tp) {
            self.tell_replicas(tp);
        }
    }

    fn reconcile_all(&mut self, io: &mut ControllerIo<'_>) {
        let tps: Vec<TopicPartition> = self
            .topics
            .iter()
            .flat_map(|(name, topic)| {
                topic
                    .parts
                    .keys()
                    .map(|partition| TopicPartition { topic: name.clone(), partition: *partition })
            })
            .collect();
        for tp in tps {
            self.reconcile(io, &tp);
        }
    }

    /// Writes what should be, if that isn't what is. True if something was written.
    fn reconcile(&mut self, io: &mut ControllerIo<'_>, tp: &TopicPartition) -> bool {
        let live: BTreeSet<u32> = self.live.keys().copied().collect();
        let (epoch, known) = (self.epoch, self.know_brokers);
        #[cfg(feature = "mutations")]
        let misplaces = self.misplaces;
        let Some(part) = self.part(tp) else { return false };
        if !known || !part.loaded || part.unreadable || part.busy {
            return false;
        }
        match part.state.clone() {
            None => {
                #[cfg_attr(not(feature = "mutations"), expect(unused_mut))]
                let Some(mut choice) = election::first(&part.assignment, &live) else {
                    return false;
                };
                part.busy = true;
                #[cfg(feature = "mutations")]
                if misplaces {
                    choice.leader = live.iter().copied().find(|id| !part.assignment.contains(id));
                }
                let state = written(&choice, epoch, 0);
                self.note_choice(io, tp, None, &choice, 0);
                self.make_state(io, tp, state);
            }
            Some((before, version)) => {
                let leader = u32::try_from(before.leader).ok();
                let choice = election::elect(&part.assignment, &before.isr, leader, &live);
                if choice.leader == leader && choice.isr == before.isr {
                    return false;
                }
                part.busy = true;
                let leader_epoch = before.leader_epoch.saturating_add(1);
                let state = written(&choice, epoch, leader_epoch);
                self.note_choice(io, tp, Some(&before), &choice, leader_epoch);
                self.writes += 1;
                let op = Op::SetData {
                    path: paths::state(&tp.topic, tp.partition),
                    data: payload::write(&state),
                    version,
                };
                io.ask(op, None, Pending::WriteState { tp: tp.clone(), state });
            }
        }
        true
    }

    fn note_choice(
        &self,
        io: &mut ControllerIo<'_>,
        tp: &TopicPartition,
        before: Option<&PartitionState>,
        choice: &Choice,
        leader_epoch: i32,
    ) {
        let from = before.and_then(|state| u32::try_from(state.leader).ok());
        let (tp, leader, isr) = (tp.clone(), choice.leader, choice.isr.clone());
        if before.is_some() && from == leader {
            let members = before.map_or(&[][..], |state| &state.isr);
            let left = members.iter().copied().filter(|id| !isr.contains(id)).collect();
            io.note(Event::IsrShrunk { tp, leader, isr, left });
        } else {
            io.note(Event::LeaderChosen { tp, from, leader, isr, leader_epoch });
        }
    }

    fn make_state(
        &mut self,
        io: &mut ControllerIo<'_>,
        tp: &TopicPartition,
        state: PartitionState,
    ) {
        let Some(topic) = self.topics.get_mut(&tp.topic) else { return };
        if !std::mem::replace(&mut topic.has_parents, true) {
            io.create(paths::partitions(&tp.topic), None, Pending::MakeParent);
        }
        io.create(paths::partition(&tp.topic, tp.partition), None, Pending::MakeParent);
        let path = paths::state(&tp.topic, tp.partition);
        let data = payload::write(&state);
        self.writes += 1;
        io.create(path, data, Pending::MakeState { tp: tp.clone(), state });
    }

    fn state_written(
        &mut self,
        io: &mut ControllerIo<'_>,
        tp: &TopicPartition,
        state: PartitionState,
        result: Result<Reply, Failure>,
    ) {
        self.writes = self.writes.saturating_sub(1);
        let Some(part) = self.part(tp) else { return };
        part.busy = false;
        match result {
            Ok(Reply::Create { stat, .. } | Reply::Stat(stat)) => {
                part.state = Some((state, stat.version));
                // The world may have moved on while the write was under way.
                if !self.reconcile(io, tp) {
                    self.tell_replicas(tp);
                }
            }
            // A parent is missing: perhaps the topic is gone, perhaps its making was lost.
            Err(Failure { error: Error::NoNode, .. }) => {
                part.loaded = false;
                if let Some(topic) = self.topics.get_mut(&tp.topic) {
                    topic.has_parents = false;
                }
                Controller::read_topic(io, tp.topic.clone());
            }
            _ => self.read_state(io, tp.clone()),
        }
    }

    fn tell_replicas(&mut self, tp: &TopicPartition) {
        let czxid = self.topics.get(&tp.topic).map_or(0, |topic| topic.czxid);
        let Some(part) = self.part(tp) else { return };
        let Some(order) = order(tp, czxid, part) else { return };
        for id in order.replicas.clone() {
            if self.live.contains_key(&id) {
                self.orders.entry(id).or_default().push(order.clone());
            }
        }
    }

    /// Sends what was decided, one request a broker, once all writes are through.
    pub fn flush(&mut self, io: &mut ControllerIo<'_>) {
        if self.writes > 0 || !self.started {
            return;
        }
        for (to, partitions) in std::mem::take(&mut self.orders) {
            let msg = Msg::LeaderAndIsr {
                controller: io.broker,
                controller_epoch: self.epoch,
                partitions: partitions.into(),
            };
            io.out.push(Effect::Peer { to, msg });
        }
    }

    fn deletions_listed(&mut self, io: &mut ControllerIo<'_>, result: Result<Reply, Failure>) {
        let Ok(Reply::Children { children, .. }) = result else { return };
        for name in children {
            match self.topics.get(&name) {
                Some(topic) if topic.purge.is_some() => {}
                Some(_) => self.purge(io, &name),
                None => {
                    let op = Op::Delete { path: paths::delete_topic(&name), version: -1 };
                    io.ask(op, None, Pending::Forget { topic: name });
                }
            }
        }
    }

    /// Stops the replicas, sends the deletes of what is known ahead, then removes whatever is
    /// still found below the topic.
    fn purge(&mut self, io: &mut ControllerIo<'_>, name: &Arc<str>) {
        let Some(topic) = self.topics.get_mut(name) else { return };
        topic.purge = Some(vec![paths::topic(name)]);
        // What was decided before must not bring a replica back.
        for orders in self.orders.values_mut() {
            orders.retain(|order| order.tp.topic != *name);
        }
        self.orders.retain(|_, orders| !orders.is_empty());
        let mut stops: BTreeMap<u32, Vec<TopicPartition>> = BTreeMap::new();
        for (partition, part) in &topic.parts {
            for id in part.assignment.iter().filter(|id| self.live.contains_key(id)) {
                let tp = TopicPartition { topic: name.clone(), partition: *partition };
                stops.entry(*id).or_default().push(tp);
            }
        }
        for (to, partitions) in stops {
            let controller_epoch = self.epoch;
            let msg = Msg::StopReplica { controller_epoch, partitions: partitions.into() };
            io.out.push(Effect::Peer { to, msg });
        }
        for partition in topic.parts.keys() {
            for path in [paths::state(name, *partition), paths::partition(name, *partition)] {
                io.ask(Op::Delete { path, version: -1 }, None, Pending::PurgeAhead);
            }
        }
        self.purge_next(io, name);
    }

    fn purge_next(&mut self, io: &mut ControllerIo<'_>, name: &Arc<str>) {
        let Some(Some(stack)) = self.topics.get(name).map(|topic| &topic.purge) else { return };
        match stack.last() {
            Some(path) => {
                let op = Op::GetChildren { path: path.clone(), watch: false };
                io.ask(op, None, Pending::PurgeList { topic: name.clone() });
            }
            None => {
                let op = Op::Delete { path: paths::delete_topic(name), version: -1 };
                io.ask(op, None, Pending::Forget { topic: name.clone() });
            }
        }
    }

    fn purge_listed(
        &mut self,
        io: &mut ControllerIo<'_>,
        name: &Arc<str>,
        result: Result<Reply, Failure>,
    ) {
        let Some(stack) = self.topics.get_mut(name).and_then(|topic| topic.purge.as_mut()) else {
            return;
        };
        let Some(path) = stack.last().cloned() else { return };
        match result {
            Ok(Reply::Children { children, .. }) if children.is_empty() => {
                let op = Op::Delete { path, version: -1 };
                io.ask(op, None, Pending::PurgeDelete { topic: name.clone() });
            }
            Ok(Reply::Children { children, .. }) => {
                stack.extend(children.iter().map(|child| Path::from(format!("{path}/{child}"))));
                self.purge_next(io, name);
            }
            _ => {
                stack.pop();
                self.purge_next(io, name);
            }
        }
    }

    fn purge_deleted(
        &mut self,
        io: &mut ControllerIo<'_>,
        name: &Arc<str>,
        result: &Result<Reply, Failure>,
    ) {
        let not_empty = result.as_ref().is_err_and(|failure| failure.error == Error::NotEmpty);
        if let Some(stack) = self.topics.get_mut(name).and_then(|topic| topic.purge.as_mut())
            && !not_empty
        {
            stack.pop();
        }
        self.purge_next(io, name);
    }

    fn forgotten(&mut self, io: &mut ControllerIo<'_>, name: &Arc<str>) {
        if self.topics.remove(name).is_some() {
            io.note(Event::TopicDeleted { topic: name.clone() });
            // It may have been created again meanwhile.
            io.list(paths::TOPICS, watcher::TOPICS, Pending::ListTopics);
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.i64(i64::from(self.epoch));
        for (id, czxid) in &self.live {
            digest.u64(u64::from(*id));
            digest.i64(*czxid);
        }
        for (name, topic) in &self.topics {
            digest.text(name);
            for (number, part) in &topic.parts {
                digest.u64(u64::from(*number));
                if let Some((state, version)) = &part.state {
                    digest.i64(state.leader);
                    digest.i64(i64::from(state.leader_epoch));
                    digest.i64(i64::from(*version));
                }
            }
        }
    }
}

fn written(choice: &Choice, controller_epoch: i32, leader_epoch: i32) -> PartitionState {
    let leader = choice.leader.map_or(-1, i64::from);
    PartitionState { controller_epoch, leader, version: 1, leader_epoch, isr: choice.isr.clone() }
}

fn order(tp: &TopicPartition, topic_czxid: Zxid, part: &Part) -> Option<LeaderAndIsr> {
    let (state, version) = part.state.as_ref()?;
    Some(LeaderAndIsr {
        tp: tp.clone(),
        topic_czxid,
        leader: u32::try_from(state.leader).ok(),
        leader_epoch: state.leader_epoch,
        isr: state.isr.clone(),
        replicas: part.assignment.clone(),
        zk_version: *version,
    })
}
