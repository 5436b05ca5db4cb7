//! Groups that coordinate through ZooKeeper: who is a member, who owns and who reads what, how
//! far it is; and the producers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stage::{Life, SessionView, life, sessions};
use crate::base::{Instant, Span};
use crate::kafka::consumer_zk::assign::Strategy;
use crate::kafka::consumer_zk::connector::{Phase, Rules};
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::consumer_zk::spec::Wanted;
use crate::kafka::data::Offset;
use crate::kafka::payload::{self, TopicInfo};
use crate::kafka::{self, TopicPartition, consumer_zk, paths, producer};
use crate::lab::Lab;
use crate::world::proc::{Kind, Proc};
use crate::world::{Event, Row, World};
use crate::zk::op::Path;
use crate::zk::tree::{NodeKind, Tree, Znode};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupsView {
    pub groups: Vec<GroupView>,
    pub producers: Vec<ProducerView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerView {
    pub proc: u16,
    pub name: Arc<str>,
    pub kind: Option<producer::Kind>,
    pub life: Life,
    pub cut: bool,
    pub session: Option<SessionView>,
    pub sent: u64,
    pub acknowledged: u64,
    /// The topic it sends to by itself.
    pub topic: Option<Arc<str>>,
    pub acks: i16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    pub name: Arc<str>,
    pub rules: Option<Rules>,
    pub strategy: Strategy,
    pub members: Vec<MemberView>,
    /// Partitions that some member subscribes to or some node speaks of, by topic and number.
    pub seats: Vec<Seat>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberView {
    /// The process; a registration without one is somebody else's.
    pub proc: Option<u16>,
    /// Its place among all members of all groups.
    pub nth: usize,
    pub name: Arc<str>,
    pub id: Arc<str>,
    /// `/consumers/G/ids/C` exists.
    pub registered: bool,
    pub life: Life,
    pub cut: bool,
    pub session: Option<SessionView>,
    pub phase: Option<Phase>,
    pub attempt: u32,
    /// Topics with streams that it subscribes to.
    pub topics: BTreeMap<Arc<str>, u32>,
    pub commit_at: Instant,
    pub commit_every: Span,
    pub processing_us: u32,
    /// `rebalance.max.retries`
    pub retries: u32,
}

/// A partition as a group sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub tp: TopicPartition,
    pub owner: Option<Holder>,
    /// Members that read it, by their own belief.
    pub readers: Vec<usize>,
    /// The reader's next offset.
    pub position: Option<Offset>,
    pub committed: Option<Offset>,
    /// LEO of the leader's log; `None`: nobody leads or there is no log yet.
    pub end: Option<Offset>,
}

impl Seat {
    /// What is written and not yet committed.
    pub fn lag(&self) -> Option<Offset> {
        let done = self.committed.or(self.position).unwrap_or(0);
        self.end.map(|end| end.saturating_sub(done))
    }
}

/// An owner node: a lock, and the session that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub path: Path,
    /// Its data: a thread's or a consumer's id.
    pub id: Arc<str>,
    /// The member, by place.
    pub member: Option<usize>,
    /// Its session's process is gone.
    pub dead: bool,
}

impl GroupView {
    pub fn member(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| &*member.name == name)
    }

    /// Partitions that a member owns by the owner nodes.
    pub fn owned_by(&self, member: usize) -> impl Iterator<Item = &Seat> {
        self.seats
            .iter()
            .filter(move |seat| seat.owner.as_ref().and_then(|o| o.member) == Some(member))
    }

    pub fn is_rebalancing(&self) -> bool {
        let busy = |phase: Phase| {
            matches!(
                phase,
                Phase::Releasing | Phase::Assigning | Phase::Claiming | Phase::BackingOff
            )
        };
        self.members.iter().any(|member| member.phase.is_some_and(busy))
    }

    pub fn lag(&self) -> Offset {
        self.seats.iter().filter_map(Seat::lag).sum()
    }

    /// The members of a topic's partitions, sorted by id, with their streams.
    pub fn takers(&self, topic: &str) -> Vec<(usize, u32)> {
        let mut takers: Vec<(usize, u32)> = (0..)
            .zip(&self.members)
            .filter(|(_, member)| member.registered)
            .filter_map(|(at, member)| Some((at, *member.topics.get(topic)?)))
            .collect();
        takers.sort_by(|a, b| self.members[a.0].id.cmp(&self.members[b.0].id));
        takers
    }
}

pub fn groups(lab: &Lab) -> GroupsView {
    let world = lab.world();
    let sessions = sessions(world);
    GroupsView { groups: of_world(world, &sessions), producers: producers(world, &sessions) }
}

fn producers(world: &World, sessions: &BTreeMap<u16, SessionView>) -> Vec<ProducerView> {
    (0_u16..)
        .zip(&world.procs)
        .filter_map(|(index, proc)| {
            let Kind::Producer(name) = &proc.kind else { return None };
            let (producer, spec) = (proc.producer(), proc.producer.as_ref());
            Some(ProducerView {
                proc: index,
                name: name.clone(),
                kind: producer.map(|producer| producer.kind),
                life: life(proc),
                cut: world.is_cut(index),
                session: sessions.get(&index).copied(),
                sent: producer.map_or(0, |producer| producer.sent),
                acknowledged: producer.map_or(0, |producer| producer.acknowledged),
                topic: spec
                    .and_then(|spec| spec.stream.as_ref())
                    .map(|stream| stream.topic.clone()),
                acks: spec.map_or(1, |spec| spec.acks),
            })
        })
        .collect()
}

/// What is gathered of one group.
#[derive(Default)]
struct Gathered {
    rules: Option<Rules>,
    strategy: Option<Strategy>,
    members: Vec<MemberView>,
}

fn of_world(world: &World, sessions: &BTreeMap<u16, SessionView>) -> Vec<GroupView> {
    let tree = world.server.tree();
    let mut found: BTreeMap<Arc<str>, Gathered> = BTreeMap::new();
    for (index, proc) in (0_u16..).zip(&world.procs) {
        let Kind::Consumer(name) = &proc.kind else { continue };
        let Some(spec) = &proc.consumer else { continue };
        let session = sessions.get(&index).copied();
        let gathered = found.entry(spec.group.clone()).or_default();
        let id: Arc<str> = match proc.consumer() {
            Some(consumer) => {
                gathered.rules = Some(consumer.rules);
                gathered.strategy.get_or_insert(consumer.options.strategy);
                consumer.id.clone()
            }
            None => {
                let known = proc.client_id.clone();
                known.unwrap_or_else(|| format!("{}_{name}", spec.group).into())
            }
        };
        let registered = tree.get(&consumer_zk::nodes::id(&spec.group, &id)).is_some();
        // Who left in good order is no member any more.
        if !proc.is_running() && !registered && session.is_none() {
            continue;
        }
        let member = member(world, tree, (index, proc), name, id, registered);
        gathered.members.push(MemberView { session, ..member });
    }
    if let Some(node) = tree.get("/consumers") {
        for (name, _) in node.children() {
            found.entry(name.clone()).or_default();
        }
    }
    let mut groups: Vec<GroupView> =
        found.into_iter().map(|(name, gathered)| group(world, name, gathered)).collect();
    for (nth, member) in groups.iter_mut().flat_map(|group| &mut group.members).enumerate() {
        member.nth = nth;
    }
    groups
}

fn member(
    world: &World,
    tree: &Tree,
    (index, proc): (u16, &Proc),
    name: &Arc<str>,
    id: Arc<str>,
    registered: bool,
) -> MemberView {
    let consumer = proc.consumer();
    let options = consumer.map(|consumer| &consumer.options);
    MemberView {
        proc: Some(index),
        nth: 0,
        name: name.clone(),
        id,
        registered,
        life: life(proc),
        cut: world.is_cut(index),
        session: None,
        phase: consumer.map(|consumer| consumer.phase),
        attempt: consumer.map_or(0, |consumer| consumer.attempt),
        topics: topics_of(tree, proc),
        commit_at: consumer.map_or(Instant::NEVER, |consumer| consumer.commit_at),
        commit_every: Span::from_millis(options.map_or(0, |o| o.commit_interval_ms.into())),
        processing_us: options.map_or(0, |options| options.processing_us),
        retries: options.map_or(0, |options| options.retries),
    }
}

/// A pattern is read against the topics that there are.
fn topics_of(tree: &Tree, proc: &Proc) -> BTreeMap<Arc<str>, u32> {
    let Some(spec) = &proc.consumer else { return BTreeMap::new() };
    if let Wanted::Topics(topics) = &spec.wanted {
        return topics.iter().cloned().collect();
    }
    let Ok(subscription) = spec.wanted.subscription() else { return BTreeMap::new() };
    let no_internal = proc.consumer().is_none_or(|consumer| consumer.options.no_internal);
    let existing = tree.get(paths::TOPICS).into_iter().flat_map(Znode::children);
    existing
        .filter_map(|(name, _)| Some((name.clone(), subscription.streams(name, no_internal)?)))
        .collect()
}

fn partitions_of(tree: &Tree, topic: &str) -> Vec<u32> {
    let info = tree
        .get(&paths::topic(topic))
        .and_then(|node| payload::read::<TopicInfo>(&node.data))
        .map(|info| info.partitions);
    info.map(|partitions| partitions.keys().copied().collect()).unwrap_or_default()
}

/// What a consumer told in a row.
pub fn note(row: &Row) -> Option<&Note> {
    match &row.event {
        Event::Kafka(event) => match &**event {
            kafka::Event::Consumer(note) => Some(note),
            _ => None,
        },
        _ => None,
    }
}

/// Below `/consumers/G/KIND`: nodes by topic and partition.
fn nodes<'a>(
    tree: &'a Tree,
    group: &str,
    kind: &str,
) -> BTreeMap<TopicPartition, (Path, &'a Znode)> {
    let folder = consumer_zk::nodes::folder(group, kind);
    let Some(node) = tree.get(&folder) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for (topic, below) in node.children() {
        for (name, node) in below.children() {
            if let Some(partition) = consumer_zk::nodes::partition(name) {
                let tp = TopicPartition { topic: topic.clone(), partition };
                found.insert(tp, (format!("{folder}/{topic}/{name}").into(), node));
            }
        }
    }
    found
}

fn group(world: &World, name: Arc<str>, gathered: Gathered) -> GroupView {
    let tree = world.server.tree();
    let members = gathered.members;
    let (owners, offsets) = (nodes(tree, &name, "owners"), nodes(tree, &name, "offsets"));
    let topics = members.iter().flat_map(|member| member.topics.keys().cloned());
    let mut all: BTreeMap<TopicPartition, ()> = BTreeMap::new();
    for topic in topics.collect::<std::collections::BTreeSet<_>>() {
        for partition in partitions_of(tree, &topic) {
            all.insert(TopicPartition { topic: topic.clone(), partition }, ());
        }
    }
    all.extend(owners.keys().map(|tp| (tp.clone(), ())));
    if all.is_empty() {
        // Nobody is left: what was committed still says how far the group came.
        all.extend(offsets.keys().map(|tp| (tp.clone(), ())));
    }
    let seats = all.into_keys().map(|tp| {
        let owner = owners.get(&tp).map(|(path, node)| holder(world, &members, path, node));
        let offset = offsets.get(&tp).and_then(|(_, node)| payload::number(&node.data));
        seat(world, &members, tp, owner, offset.and_then(|n| u64::try_from(n).ok()))
    });
    let seats = seats.collect();
    GroupView {
        name,
        rules: gathered.rules,
        strategy: gathered.strategy.unwrap_or(Strategy::Range),
        members,
        seats,
    }
}

fn holder(world: &World, members: &[MemberView], path: &Path, node: &Znode) -> Holder {
    let data = node.data.as_deref().unwrap_or_default();
    let id: Arc<str> = String::from_utf8_lossy(data).into();
    let session = match node.kind {
        NodeKind::Ephemeral(session) => Some(session),
        _ => None,
    };
    let proc = session.and_then(|session| world.owners.get(&session).copied());
    let member = members.iter().position(|member| match proc {
        Some(proc) => member.proc == Some(proc),
        None => id.starts_with(&*member.id),
    });
    let lives = proc.is_some_and(|proc| {
        let client = world.proc(proc).client();
        client.is_some_and(|client| Some(client.session()) == session)
    });
    Holder { path: path.clone(), id, member, dead: !lives }
}

fn seat(
    world: &World,
    members: &[MemberView],
    tp: TopicPartition,
    owner: Option<Holder>,
    committed: Option<Offset>,
) -> Seat {
    let mut readers = Vec::new();
    let mut position = None;
    for (at, member) in members.iter().enumerate() {
        let consumer = member.proc.and_then(|proc| world.proc(proc).consumer());
        if let Some(owned) = consumer.and_then(|consumer| consumer.owned.get(&tp)) {
            readers.push(at);
            position = position.max(Some(owned.position));
        }
    }
    let leader = world
        .server
        .tree()
        .get(&paths::state(&tp.topic, tp.partition))
        .and_then(|node| payload::read::<payload::PartitionState>(&node.data))
        .and_then(|state| u32::try_from(state.leader).ok());
    let log = leader.and_then(|id| world.broker(id)).and_then(|proc| proc.log(&tp));
    Seat { end: log.map(|log| log.end()), tp, owner, readers, position, committed }
}
