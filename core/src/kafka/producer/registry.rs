//! The textbook's producer and ZooKeeper: it registers under `/producers/ids`, watches the brokers
//! and the topics that it writes to, and knows leaders by their states. [product.md T7]

use std::collections::BTreeSet;
use std::sync::Arc;

use super::metadata::Topic;
use super::{Event, Kind, Producer, Timer};
use crate::kafka::broker::{self, Ctx, Effect};
use crate::kafka::data::Code;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::zk::client::{KeeperState, WatcherId};
use crate::zk::hold::{Heard, RETRY, Session};
use crate::zk::op::{CreateMode, Data, Error, Failure, Op, Path, Reply, open_acl};

pub const PRODUCERS: &str = "/producers";
pub const PRODUCER_IDS: &str = "/producers/ids";

/// One object hears of everything.
const WATCHER: WatcherId = WatcherId(1);

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Parent,
    Register,
    Brokers,
    Topic(Arc<str>),
    /// Who offers the topic's partitions.
    Providers(Arc<str>),
    State(TopicPartition),
    Close,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    connected: bool,
    /// Topics that are read and watched.
    watched: BTreeSet<Arc<str>>,
    /// Partitions whose states are read again a little later.
    again: Vec<TopicPartition>,
}

pub fn path(name: &str) -> Path {
    format!("{PRODUCER_IDS}/{name}").into()
}

impl Producer {
    /// Does all that ZooKeeper's client has to say; topics that it is to write to are watched.
    pub(super) fn listen(&mut self, ctx: &mut Ctx<'_>) {
        if self.kind != Kind::Textbook {
            return;
        }
        self.watch_topics(ctx);
        while let Some(heard) = self.zk.as_mut().and_then(Session::next_heard) {
            match heard {
                Heard::Io(io) => ctx.out.push(Effect::Zk(io)),
                Heard::State(KeeperState::SyncConnected) if !self.registry.connected => {
                    self.registry.connected = true;
                    self.register(ctx);
                    self.watch_topics(ctx);
                }
                Heard::State(KeeperState::Expired) => self.session_lost(ctx),
                Heard::State(_) => {}
                Heard::Event { path, .. } => self.fired(ctx, &path),
                Heard::Done { what, result } => self.done(ctx, what, result),
            }
        }
    }

    fn session_lost(&mut self, ctx: &mut Ctx<'_>) {
        if self.closing {
            return ctx.out.push(Effect::Exit);
        }
        self.registry = Registry::default();
        let mut zk = Session::new(self.settings.client());
        zk.start(ctx.now, ctx.rng);
        self.zk = Some(zk);
    }

    fn ask(&mut self, ctx: &Ctx<'_>, op: Op, what: Pending) {
        let watches = match &op {
            Op::Exists { watch, .. } | Op::GetData { watch, .. } => *watch,
            Op::GetChildren { watch, .. } => *watch,
            _ => false,
        };
        if let Some(zk) = &mut self.zk {
            zk.submit(ctx.now, op, watches.then_some(WATCHER), what);
        }
    }

    fn create(&mut self, ctx: &Ctx<'_>, path: Path, data: Data, mode: CreateMode, what: Pending) {
        self.ask(ctx, Op::Create { path, data, acl: open_acl(), mode, ttl_ms: 0 }, what);
    }

    fn register(&mut self, ctx: &Ctx<'_>) {
        for parent in [PRODUCERS, PRODUCER_IDS] {
            self.create(ctx, parent.into(), None, CreateMode::Persistent, Pending::Parent);
        }
        let path = path(&self.name);
        self.create(ctx, path, None, CreateMode::Ephemeral, Pending::Register);
        self.list_brokers(ctx);
    }

    fn list_brokers(&mut self, ctx: &Ctx<'_>) {
        let op = Op::GetChildren { path: paths::BROKER_IDS.into(), watch: true };
        self.ask(ctx, op, Pending::Brokers);
    }

    fn watch_topics(&mut self, ctx: &Ctx<'_>) {
        if !self.registry.connected || self.closing {
            return;
        }
        let wanted: BTreeSet<Arc<str>> = self.queue.iter().map(|item| item.topic.clone()).collect();
        for topic in wanted {
            if self.registry.watched.insert(topic.clone()) {
                self.read_topic(ctx, &topic);
                let op = Op::GetChildren { path: paths::topic(&topic), watch: true };
                self.ask(ctx, op, Pending::Providers(topic));
            }
        }
    }

    fn read_topic(&mut self, ctx: &Ctx<'_>, topic: &Arc<str>) {
        let op = Op::GetData { path: paths::topic(topic), watch: true };
        self.ask(ctx, op, Pending::Topic(topic.clone()));
    }

    fn read_state(&mut self, ctx: &Ctx<'_>, tp: TopicPartition) {
        let op = Op::GetData { path: paths::state(&tp.topic, tp.partition), watch: true };
        self.ask(ctx, op, Pending::State(tp));
    }

    fn fired(&mut self, ctx: &Ctx<'_>, path: &Path) {
        if **path == *paths::BROKER_IDS {
            return self.list_brokers(ctx);
        }
        if **path == *self::path(&self.name) {
            return self.register(ctx);
        }
        let Some(rest) = path.strip_prefix(paths::TOPICS) else { return };
        let mut parts = rest.trim_start_matches('/').split('/');
        let Some(topic) = parts.next().map(Arc::<str>::from) else { return };
        match parts.nth(1).and_then(|partition| partition.parse().ok()) {
            Some(partition) => self.read_state(ctx, TopicPartition { topic, partition }),
            None => {
                self.read_topic(ctx, &topic);
                let op = Op::GetChildren { path: paths::topic(&topic), watch: true };
                self.ask(ctx, op, Pending::Providers(topic));
            }
        }
    }

    fn done(&mut self, ctx: &mut Ctx<'_>, what: Pending, result: Result<Reply, Failure>) {
        let error = result.as_ref().err().map(|failure| failure.error);
        if what == Pending::Close {
            return ctx.out.push(Effect::Exit);
        }
        if self.closing || error == Some(Error::SessionExpired) {
            return;
        }
        if error == Some(Error::ConnectionLoss) {
            return self.ask_after_loss(ctx, what);
        }
        match (what, result) {
            (Pending::Register, Ok(_)) => Producer::note(ctx, Event::Registered),
            // Its own old session still holds the node: it waits for its end.
            (Pending::Register, Err(Failure { error: Error::NodeExists, .. })) => {
                let op = Op::Exists { path: path(&self.name), watch: true };
                self.ask(ctx, op, Pending::Parent);
            }
            (Pending::Brokers, Ok(Reply::Children { children, .. })) => {
                let mut ids: Vec<u32> = children.iter().filter_map(|id| id.parse().ok()).collect();
                ids.sort_unstable();
                self.brokers.clone_from(&ids);
                let read = Event::MetadataRead { brokers: ids, topic: None, partitions: 0 };
                Producer::note(ctx, read);
                self.read_leaderless(ctx);
            }
            (Pending::Topic(topic), result) => self.topic_read(ctx, topic, result.ok()),
            (Pending::State(tp), Ok(Reply::Data { data, .. })) => self.state_read(&tp, &data),
            (Pending::State(tp), Err(_)) => {
                // Not made yet: nothing can be watched.
                self.later(ctx, tp);
            }
            _ => {}
        }
    }

    /// A leader may be back without any change of its partition's state.
    fn read_leaderless(&mut self, ctx: &Ctx<'_>) {
        let leaderless = self.topics.iter().flat_map(|(name, topic)| {
            let none = topic.partitions.iter().filter(|(_, leader)| leader.is_none());
            none.map(|(partition, _)| TopicPartition { topic: name.clone(), partition: *partition })
        });
        for tp in leaderless.collect::<Vec<TopicPartition>>() {
            self.read_state(ctx, tp);
        }
    }

    /// The connection went with the question: it is asked again. [spec zookeeper.md S7]
    fn ask_after_loss(&mut self, ctx: &Ctx<'_>, what: Pending) {
        match what {
            Pending::Register => self.register(ctx),
            Pending::Brokers => self.list_brokers(ctx),
            Pending::Topic(topic) => self.read_topic(ctx, &topic),
            Pending::State(tp) => self.read_state(ctx, tp),
            Pending::Parent | Pending::Providers(_) | Pending::Close => {}
        }
    }

    fn topic_read(&mut self, ctx: &mut Ctx<'_>, topic: Arc<str>, reply: Option<Reply>) {
        let info = match reply {
            Some(Reply::Data { data, .. }) => payload::read::<TopicInfo>(&data),
            _ => None,
        };
        let Some(info) = info else {
            // There is no such topic: its node is waited for.
            self.topics.remove(&topic);
            let op = Op::Exists { path: paths::topic(&topic), watch: true };
            return self.ask(ctx, op, Pending::Parent);
        };
        let known = self.topics.get(&topic);
        let leader = |partition: u32| known.and_then(|known| known.leader(partition));
        let partitions: Vec<(u32, Option<u32>)> =
            info.partitions.keys().map(|partition| (*partition, leader(*partition))).collect();
        let count = u32::try_from(partitions.len()).unwrap_or(u32::MAX);
        let fresh: Vec<u32> = partitions.iter().map(|(partition, _)| *partition).collect();
        if known.is_none_or(|known| known.count() != count) {
            let brokers = self.brokers.clone();
            let topic = Some(topic.clone());
            Producer::note(ctx, Event::MetadataRead { brokers, topic, partitions: count });
        }
        self.topics.insert(topic.clone(), Topic { partitions, error: None });
        for partition in fresh {
            self.read_state(ctx, TopicPartition { topic: topic.clone(), partition });
        }
    }

    fn state_read(&mut self, tp: &TopicPartition, data: &Data) {
        let Some(topic) = self.topics.get_mut(&tp.topic) else { return };
        let state = payload::read::<PartitionState>(data);
        let leader = state.and_then(|state| u32::try_from(state.leader).ok());
        let leader = leader.filter(|leader| self.brokers.contains(leader));
        for (_, known) in topic.partitions.iter_mut().filter(|(n, _)| *n == tp.partition) {
            *known = leader;
        }
    }

    /// A leader didn't take what it was sent: until ZooKeeper says more, there is none. A broker
    /// that answered may only be a little late; of one that is gone the watches will tell.
    pub(super) fn leader_lost(&mut self, ctx: &mut Ctx<'_>, tp: &TopicPartition, why: Code) {
        if let Some(topic) = self.topics.get_mut(&tp.topic) {
            for (_, known) in topic.partitions.iter_mut().filter(|(n, _)| *n == tp.partition) {
                *known = None;
            }
        }
        if why != Code::LeaderNotAvailable {
            self.later(ctx, tp.clone());
        }
    }

    fn later(&mut self, ctx: &mut Ctx<'_>, tp: TopicPartition) {
        if self.registry.again.is_empty() {
            let timer = broker::Timer::Producer(Timer::Read);
            ctx.out.push(Effect::Arm { timer, at: ctx.now + RETRY });
        }
        if !self.registry.again.contains(&tp) {
            self.registry.again.push(tp);
        }
    }

    pub(super) fn read_again(&mut self, ctx: &Ctx<'_>) {
        for tp in std::mem::take(&mut self.registry.again) {
            self.read_state(ctx, tp);
        }
    }
}
