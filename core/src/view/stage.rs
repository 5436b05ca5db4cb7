//! The stage: processes, partitions, what ZooKeeper holds, and what is on its way.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::Instant;
use crate::kafka::broker::Phase;
use crate::kafka::consumer_zk::nodes;
use crate::kafka::data::{Msg as DataMsg, Offset};
use crate::kafka::payload::{self, ControllerInfo, PartitionState, TopicInfo};
use crate::kafka::real::msg::Msg as RealMsg;
pub use crate::kafka::release::Release as KafkaRelease;
use crate::kafka::{self, paths};
use crate::lab::Lab;
use crate::sim::RowId;
use crate::world::item::{Down, Item, Up, What};
use crate::world::proc::{Kind, Proc, State, ZOOKEEPER};
use crate::world::{Profile, World};
use crate::zk::client::KeeperState;
use crate::zk::op::{EventType, Path, Release, SessionId, ToClient, ToServer, Zxid};
use crate::zk::tree::{NodeKind, Tree, Znode};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageView {
    /// The release of Kafka; the textbook has none.
    pub release: Option<KafkaRelease>,
    pub zookeeper: ZkView,
    pub brokers: Vec<BrokerView>,
    pub topics: Vec<TopicView>,
    pub clients: Vec<ClientView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZkView {
    pub up: bool,
    pub release: Release,
    pub sessions: u32,
    pub last_zxid: Zxid,
    pub groups: Vec<ChipGroup>,
}

/// A znode and its children, as the band on top of the stage shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipGroup {
    pub path: Path,
    pub watchers: u32,
    pub chips: Vec<Chip>,
    /// Chips that are left out of a long group.
    pub more: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub path: Path,
    /// What is written on it: a child's name, or a broker's id.
    pub label: Arc<str>,
    /// Its data where that is a number.
    pub count: Option<i32>,
    pub ephemeral: bool,
    /// The owner's process is dead, its session still counts.
    pub owner_dead: bool,
    pub czxid: Zxid,
    pub mzxid: Zxid,
}

/// How a process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Booting,
    Up,
    Paused { until: Instant },
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Its client pings.
    Kept,
    /// Nobody will ping any more, or nothing gets through: it runs out.
    RunningOut,
    /// The server stands still; time does not count.
    Frozen,
}

/// A session as the server counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionView {
    pub session: SessionId,
    pub timeout_ms: i32,
    /// When the server's bucket for it comes up.
    pub deadline: Instant,
    pub state: SessionState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerView {
    pub epoch: i32,
    /// Its session owns `/controller`.
    pub holds_office: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerView {
    pub proc: u16,
    pub id: u32,
    pub host: Arc<str>,
    /// Another machine with a taken id.
    pub impostor: bool,
    pub rack: Option<Arc<str>>,
    pub life: Life,
    /// None while it doesn't run.
    pub phase: Option<Phase>,
    /// `/brokers/ids/N` exists and is of one of this process's sessions.
    pub registered: bool,
    pub cut: bool,
    pub controller: Option<ControllerView>,
    /// `/controller` names it, though its process is dead or no longer acts.
    pub believed_controller: bool,
    pub session: Option<SessionView>,
    pub keeper: Option<KeeperState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientView {
    pub proc: u16,
    pub name: Arc<str>,
    pub life: Life,
    pub cut: bool,
    pub session: Option<SessionView>,
    pub keeper: Option<KeeperState>,
    pub watches: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicView {
    pub name: Arc<str>,
    pub replication: u32,
    pub deleting: bool,
    /// From 2.8 on a topic has one.
    pub id: Option<Arc<str>>,
    /// What `/config/topics/T` overrides, as it stands there.
    pub configs: Vec<(Arc<str>, Arc<str>)>,
    pub partitions: Vec<PartitionView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionView {
    pub number: u32,
    /// As the state znode has it.
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub replicas: Vec<ReplicaView>,
    /// The state znode exists.
    pub placed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaView {
    pub broker: u32,
    pub role: Role,
    /// The first of the assignment.
    pub preferred: bool,
    /// Its process is dead, stands still or is another's.
    pub offline: bool,
    /// The broker itself knows of its role.
    pub knows: bool,
    /// Its log: the first offset, the LEO and its own high watermark; `None`: nothing was written.
    pub log: Option<(Offset, Offset, Offset)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Leader,
    InSync,
    OutOfSync,
    /// Assigned; no leader was chosen yet.
    New,
}

/// A group shows at most so many chips.
const CHIPS: usize = 24;

/// By the address of data: the data, and what was read of them.
type Read<T> = BTreeMap<usize, (Arc<[u8]>, T)>;

/// What was read of znodes' data the last time: most of it is the same the next time. An entry
/// keeps the data alive that it was read from, so that no other data can have its address.
#[derive(Default)]
pub struct Memory {
    topics: Read<Arc<TopicData>>,
    states: Read<Option<Arc<PartitionState>>>,
    old_topics: Read<Arc<TopicData>>,
    old_states: Read<Option<Arc<PartitionState>>>,
}

/// A topic's znode.
#[derive(Default)]
struct TopicData {
    partitions: BTreeMap<u32, Vec<u32>>,
    id: Option<Arc<str>>,
}

impl Memory {
    /// What is not asked for until the next turn is forgotten.
    fn turn(&mut self) {
        self.old_topics = std::mem::take(&mut self.topics);
        self.old_states = std::mem::take(&mut self.states);
    }

    fn topic(&mut self, node: &Znode) -> Arc<TopicData> {
        let Some(data) = &node.data else { return Arc::default() };
        let address = data.as_ptr() as usize;
        let found = self.old_topics.remove(&address).unwrap_or_else(|| {
            let info = payload::read::<TopicInfo>(&node.data);
            let id = field(node, "topic_id").and_then(|id| id.as_str().map(Arc::from));
            let partitions = info.map(|info| info.partitions).unwrap_or_default();
            (data.clone(), Arc::new(TopicData { partitions, id }))
        });
        let read = found.1.clone();
        self.topics.insert(address, found);
        read
    }

    fn state(&mut self, node: &Znode) -> Option<Arc<PartitionState>> {
        let data = node.data.as_ref()?;
        let address = data.as_ptr() as usize;
        let found = self
            .old_states
            .remove(&address)
            .unwrap_or_else(|| (data.clone(), payload::read(&node.data).map(Arc::new)));
        let read = found.1.clone();
        self.states.insert(address, found);
        read
    }
}

pub fn stage(lab: &Lab) -> StageView {
    stage_with(lab, &mut Memory::default())
}

/// The same, faster where most is as it was.
pub fn stage_with(lab: &Lab, memory: &mut Memory) -> StageView {
    memory.turn();
    let world = lab.world();
    let sessions = sessions(world);
    StageView {
        release: release(lab),
        zookeeper: zookeeper(world),
        brokers: brokers(world, &sessions),
        topics: topics(world, memory),
        clients: clients(world, &sessions),
    }
}

pub fn release(lab: &Lab) -> Option<KafkaRelease> {
    let config = &lab.world().config;
    (config.profile != Profile::Textbook).then_some(config.release)
}

/// The youngest session of each process that the server counts as alive.
pub(super) fn sessions(world: &World) -> BTreeMap<u16, SessionView> {
    let mut found = BTreeMap::new();
    for session in world.server.sessions() {
        let Some(index) = world.owners.get(&session.id).copied() else { continue };
        let proc = world.proc(index);
        let keeps = proc.state == State::Up
            && !world.is_cut(index)
            && (proc.client().is_some_and(|client| client.session() == session.id)
                || is_being_told(world, session.id));
        let state = match (world.server_up, keeps) {
            (false, _) => SessionState::Frozen,
            (true, true) => SessionState::Kept,
            (true, false) => SessionState::RunningOut,
        };
        let (session, timeout_ms, deadline) = (session.id, session.timeout_ms, session.deadline);
        found.insert(index, SessionView { session, timeout_ms, deadline, state });
    }
    found
}

/// The session that the server counts for a process.
pub fn session(lab: &Lab, proc: u16) -> Option<SessionView> {
    sessions(lab.world()).remove(&proc)
}

/// The answer that opens this session is on its way to its client.
fn is_being_told(world: &World, opened: SessionId) -> bool {
    world.in_flight().any(|(_, _, item)| match &item.what {
        What::ToClient { conn, down: Down::Frame(ToClient::Connected { session, .. }) } => {
            *session == opened && world.conns.contains_key(conn)
        }
        _ => false,
    })
}

pub(super) fn life(proc: &Proc) -> Life {
    match proc.state {
        State::Booting => Life::Booting,
        State::Up => Life::Up,
        State::Paused { until, .. } => Life::Paused { until },
        State::Down => Life::Down,
    }
}

fn zookeeper(world: &World) -> ZkView {
    let tree = world.server.tree();
    let mut groups = Vec::new();
    if let Some(node) = tree.get(paths::CONTROLLER) {
        let label = payload::read::<ControllerInfo>(&node.data)
            .map_or_else(|| "?".into(), |info| info.brokerid.to_string().into());
        let path: Path = paths::CONTROLLER.into();
        let chips = vec![chip(world, path.clone(), label, node)];
        groups.push(ChipGroup { watchers: watchers(world, &path), path, chips, more: 0 });
    } else if tree.get(paths::CONTROLLER_EPOCH).is_some() {
        let path: Path = paths::CONTROLLER.into();
        let watchers = watchers(world, &path);
        groups.push(ChipGroup { watchers, path, chips: Vec::new(), more: 0 });
    }
    let mut folders: Vec<Path> = vec![paths::BROKER_IDS.into()];
    let textbook = world.config.profile == Profile::Textbook;
    match tree.get(paths::TOPICS) {
        // Only the textbook keeps who leads how many below a topic.
        Some(node) if textbook => {
            folders.extend(node.children().map(|(name, _)| paths::topic(name)));
        }
        Some(_) => folders.push(paths::TOPICS.into()),
        None => {}
    }
    for path in folders {
        if let Some(node) = tree.get(&path) {
            let own = |name: &str| !textbook || name.parse::<u32>().is_ok();
            groups.push(group(world, path, node, own));
        }
    }
    if !textbook {
        groups.extend(kafkas_mail(world));
    }
    groups.extend(of_clients(world));
    groups.extend(beside_kafka(world));
    ZkView {
        up: world.server_up,
        release: world.config.zookeeper,
        sessions: u32::try_from(world.server.sessions().len()).unwrap_or(u32::MAX),
        last_zxid: world.last_zxid(),
        groups,
    }
}

fn watchers(world: &World, path: &str) -> u32 {
    world.server.watch_count(path)
}

/// What producers and consumers register and own.
fn of_clients(world: &World) -> Vec<ChipGroup> {
    let tree = world.server.tree();
    let mut groups = Vec::new();
    if let Some(node) = tree.get("/producers/ids") {
        groups.push(group(world, "/producers/ids".into(), node, |_| true));
    }
    let Some(consumers) = tree.get("/consumers") else { return groups };
    for (name, node) in consumers.children() {
        if let Some(ids) = node.child("ids") {
            let mut made = group(world, nodes::ids(name), ids, |_| true);
            for chip in &mut made.chips {
                chip.label = member_name(world, &chip.label);
            }
            groups.push(made);
        }
        for (topic, owners) in node.child("owners").into_iter().flat_map(Znode::children) {
            let path: Path = format!("{}/{topic}", nodes::folder(name, "owners")).into();
            groups.push(group(world, path, owners, |_| true));
        }
    }
    groups
}

/// A registration's id is long: the page knows its process by a name.
fn member_name(world: &World, id: &Arc<str>) -> Arc<str> {
    let named = world.procs.iter().find_map(|proc| match &proc.kind {
        Kind::Consumer(name) if proc.client_id.as_ref() == Some(id) => Some(name.clone()),
        _ => None,
    });
    named.unwrap_or_else(|| id.clone())
}

/// Folders through which Kafka's processes tell each other of work to do, while there is some.
fn kafkas_mail(world: &World) -> Vec<ChipGroup> {
    const MAIL: [&str; 4] = [
        paths::DELETE_TOPICS,
        "/config/changes",
        "/isr_change_notification",
        "/log_dir_event_notification",
    ];
    const LETTERS: [&str; 2] = ["/admin/preferred_replica_election", "/admin/reassign_partitions"];
    let tree = world.server.tree();
    let full = MAIL.iter().filter_map(|path| Some((*path, tree.get(path)?)));
    let mut groups: Vec<ChipGroup> = full
        .filter(|(_, node)| node.child_count() > 0)
        .map(|(path, node)| group(world, path.into(), node, |_| true))
        .collect();
    for path in LETTERS {
        if let Some(node) = tree.get(path) {
            groups.push(group(world, path.into(), node, |_| true));
        }
    }
    groups
}

/// What plain clients have made at the top of the tree. A node without children shows its owner.
fn beside_kafka(world: &World) -> Vec<ChipGroup> {
    const KAFKA: [&str; 13] = [
        "admin",
        "brokers",
        "cluster",
        "config",
        "consumers",
        "controller",
        "controller_epoch",
        "feature",
        "isr_change_notification",
        "latest_producer_id_block",
        "log_dir_event_notification",
        "producers",
        "zookeeper",
    ];
    let Some(root) = world.server.tree().get("/") else { return Vec::new() };
    let others = root.children().filter(|(name, _)| !KAFKA.contains(&&***name));
    others
        .map(|(name, node)| {
            let path: Path = format!("/{name}").into();
            let mut made = group(world, path.clone(), node, |_| true);
            if let (NodeKind::Ephemeral(session), true) = (node.kind, made.chips.is_empty()) {
                let owner = world.owners.get(&session).map(|index| world.proc(*index));
                let label = match owner.map(|proc| &proc.kind) {
                    Some(Kind::Client(client)) => client.clone(),
                    Some(Kind::Broker(id)) => id.to_string().into(),
                    _ => name.clone(),
                };
                made.chips.push(chip(world, path, label, node));
            }
            made
        })
        .collect()
}

fn group(world: &World, path: Path, node: &Znode, shows: impl Fn(&str) -> bool) -> ChipGroup {
    let mut names: Vec<(&Arc<str>, &Znode)> =
        node.children().filter(|(name, _)| shows(name)).collect();
    names.sort_by_key(|(name, _)| name.parse::<u32>().unwrap_or(u32::MAX));
    let more = u32::try_from(names.len().saturating_sub(CHIPS)).unwrap_or(0);
    let chips = names
        .into_iter()
        .take(CHIPS)
        .map(|(name, child)| chip(world, format!("{path}/{name}").into(), name.clone(), child))
        .collect();
    ChipGroup { watchers: watchers(world, &path), path, chips, more }
}

fn chip(world: &World, path: Path, label: Arc<str>, node: &Znode) -> Chip {
    let owner = match node.kind {
        NodeKind::Ephemeral(session) => Some(session),
        _ => None,
    };
    Chip {
        path,
        label,
        count: payload::number(&node.data),
        ephemeral: owner.is_some(),
        owner_dead: owner.is_some_and(|session| !has_client(world, session)),
        czxid: node.czxid,
        mzxid: node.mzxid,
    }
}

/// A process runs whose client believes in this session.
fn has_client(world: &World, session: SessionId) -> bool {
    world.owners.get(&session).is_some_and(|index| {
        world.proc(*index).client().is_some_and(|client| client.session() == session)
    })
}

fn brokers(world: &World, sessions: &BTreeMap<u16, SessionView>) -> Vec<BrokerView> {
    let tree = world.server.tree();
    let office = tree.get(paths::CONTROLLER);
    let holder = office.and_then(|node| match node.kind {
        NodeKind::Ephemeral(session) => Some(session),
        _ => None,
    });
    let named = office
        .and_then(|node| payload::read::<ControllerInfo>(&node.data))
        .map(|info| info.brokerid);
    let mut brokers: Vec<BrokerView> = (0_u16..)
        .zip(&world.procs)
        .filter_map(|(index, proc)| {
            let (id, impostor, host) = match &proc.kind {
                Kind::Broker(id) => (*id, false, crate::world::usual_host(*id)),
                Kind::Impostor(id, host) => (*id, true, host.clone()),
                _ => return None,
            };
            let owns = tree.get(&paths::broker(id)).is_some_and(|node| match node.kind {
                NodeKind::Ephemeral(session) => world.owners.get(&session) == Some(&index),
                _ => false,
            });
            let session = proc.client().map(|client| client.session());
            let controller = proc.controller_epoch().map(|epoch| ControllerView {
                epoch,
                holds_office: holder.is_some() && holder == session,
            });
            Some(BrokerView {
                proc: index,
                id,
                host,
                impostor,
                rack: proc.rack.clone(),
                life: life(proc),
                phase: proc.phase(),
                registered: owns,
                cut: world.is_cut(index),
                believed_controller: controller.is_none() && !impostor && named == Some(id),
                controller,
                session: sessions.get(&index).copied(),
                keeper: proc.client().map(|client| client.state()),
            })
        })
        .collect();
    brokers.sort_by_key(|broker| (broker.id, broker.impostor, broker.proc));
    brokers
}

fn clients(world: &World, sessions: &BTreeMap<u16, SessionView>) -> Vec<ClientView> {
    (0_u16..)
        .zip(&world.procs)
        .filter_map(|(index, proc)| {
            let Kind::Client(name) = &proc.kind else { return None };
            let session = sessions.get(&index).copied();
            Some(ClientView {
                proc: index,
                name: name.clone(),
                life: life(proc),
                cut: world.is_cut(index),
                keeper: proc.client().map(|client| client.state()),
                watches: watches_of(proc),
                session,
            })
        })
        .collect()
}

/// Paths that a client waits at.
fn watches_of(proc: &Proc) -> u32 {
    let set = proc.client().and_then(|client| client.watches().rearm(0)).unwrap_or_default();
    let count = set.data.len()
        + set.exist.len()
        + set.child.len()
        + set.persistent.len()
        + set.persistent_recursive.len();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn topics(world: &World, memory: &mut Memory) -> Vec<TopicView> {
    let tree = world.server.tree();
    let Some(folder) = tree.get(paths::TOPICS) else { return Vec::new() };
    let deletions = tree.get(paths::DELETE_TOPICS);
    let mut machines = Machines::default();
    folder
        .children()
        .map(|(name, node)| {
            let topic = memory.topic(node);
            let assignments = &topic.partitions;
            let states = node.child("partitions");
            let partitions: Vec<PartitionView> = assignments
                .iter()
                .map(|(number, replicas)| {
                    let state = states
                        .and_then(|states| states.child(&number.to_string()))
                        .and_then(|partition| partition.child("state"))
                        .and_then(|state| memory.state(state));
                    partition(world, &mut machines, (name, *number), replicas, state)
                })
                .collect();
            TopicView {
                name: name.clone(),
                replication: assignments
                    .values()
                    .map(|replicas| u32::try_from(replicas.len()).unwrap_or(0))
                    .max()
                    .unwrap_or(0),
                deleting: deletions.is_some_and(|node| node.child(name).is_some()),
                id: topic.id.clone(),
                configs: configs(tree, name),
                partitions,
            }
        })
        .collect()
}

fn field(node: &Znode, name: &str) -> Option<serde_json::Value> {
    let mut object: serde_json::Map<_, _> = payload::read(&node.data)?;
    object.remove(name)
}

fn configs(tree: &Tree, topic: &str) -> Vec<(Arc<str>, Arc<str>)> {
    let config =
        tree.get(&format!("/config/topics/{topic}")).and_then(|node| field(node, "config"));
    let Some(serde_json::Value::Object(pairs)) = config else { return Vec::new() };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => Arc::from(text),
        other => Arc::from(other.to_string()),
    };
    pairs.into_iter().map(|(key, value)| (Arc::from(key), text(value))).collect()
}

/// Who is reached under each broker's id, looked up once.
type Machines<'a> = BTreeMap<u32, Option<&'a Proc>>;

fn partition<'a>(
    world: &'a World,
    machines: &mut Machines<'a>,
    (topic, number): (&Arc<str>, u32),
    replicas: &[u32],
    state: Option<Arc<PartitionState>>,
) -> PartitionView {
    let leader = state.as_ref().and_then(|state| u32::try_from(state.leader).ok());
    let leader_epoch = state.as_ref().map_or(0, |state| state.leader_epoch);
    let placed = state.is_some();
    let isr = state.map(|state| state.isr.clone()).unwrap_or_default();
    let tp = kafka::TopicPartition { topic: topic.clone(), partition: number };
    let replicas = replicas
        .iter()
        .enumerate()
        .map(|(at, id)| {
            let proc = *machines.entry(*id).or_insert_with(|| world.broker(*id));
            let believed =
                proc.and_then(|proc| proc.replica(&tp)).map(|(leader, epoch, _)| (leader, epoch));
            ReplicaView {
                broker: *id,
                role: match placed {
                    false => Role::New,
                    true if leader == Some(*id) => Role::Leader,
                    true if isr.contains(id) => Role::InSync,
                    true => Role::OutOfSync,
                },
                preferred: at == 0,
                offline: proc.is_none_or(|proc| proc.state != State::Up),
                knows: believed == Some((leader, leader_epoch)),
                log: proc
                    .and_then(|proc| proc.log(&tp))
                    .map(|log| (log.start(), log.end(), log.high_watermark))
                    .filter(|(_, end, _)| *end > 0),
            }
        })
        .collect();
    PartitionView { number, leader, leader_epoch, isr, replicas, placed }
}

/// Something on its way from one process to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Its number, the same as long as it flies.
    pub id: u64,
    pub from: u16,
    pub to: u16,
    pub sent_at: Instant,
    pub arrives_at: Instant,
    pub cause: RowId,
    pub kind: FlightKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlightKind {
    UpdateMetadata {
        partitions: u32,
    },
    /// A leader asks the controller for other ISRs.
    AlterIsr {
        partitions: u32,
    },
    ControlledShutdown,
    /// A tool asks a broker.
    AdminRequest,
    /// The answer to one of these.
    Answer,
    Connect,
    Close,
    Ping,
    Pong,
    /// A read.
    Ask {
        path: Path,
    },
    /// A request that changes something.
    Write {
        path: Path,
    },
    Reply {
        ok: bool,
    },
    Watch {
        kind: EventType,
        path: Path,
    },
    /// Between brokers: the request's name and of how many partitions it speaks.
    LeaderAndIsr {
        partitions: u32,
    },
    StopReplica {
        partitions: u32,
    },
    Fetch {
        partitions: u32,
    },
    FetchAnswer {
        partitions: u32,
    },
    /// Records on their way to a leader.
    Produce {
        count: u32,
    },
    /// Records that a fetch brings, to a consumer or a follower.
    Records {
        count: u32,
    },
    OffsetCommit {
        partitions: u32,
    },
    /// A client asks a broker for metadata or offsets.
    ClientRequest,
}

/// Everything on its way, in the order of arrival.
pub fn flights(lab: &Lab) -> Vec<Flight> {
    let world = lab.world();
    let mut flights: Vec<Flight> = world
        .in_flight()
        .filter_map(|(arrives_at, id, item)| flight(world, arrives_at, id, item))
        .collect();
    flights.sort_by_key(|flight| (flight.arrives_at, flight.id));
    flights
}

fn flight(world: &World, arrives_at: Instant, id: u64, item: &Item) -> Option<Flight> {
    let (from, to, kind) = match &item.what {
        What::ToServer { conn, up } => {
            let proc = world.conns.get(conn)?.proc;
            (proc, ZOOKEEPER, up_kind(up))
        }
        What::ToClient { conn, down } => {
            let proc = world.conns.get(conn)?.proc;
            (ZOOKEEPER, proc, down_kind(down))
        }
        What::Peer { from, to, msg, .. } => (*from, *to, peer_kind(msg)),
        _ => return None,
    };
    let (sent_at, cause) = (item.sent_at, item.cause);
    Some(Flight { id, from, to, sent_at, arrives_at, cause, kind })
}

fn up_kind(up: &Up) -> FlightKind {
    match up {
        Up::Syn | Up::Frame(ToServer::Connect(_)) => FlightKind::Connect,
        Up::Fin => FlightKind::Close,
        Up::Frame(ToServer::Ping) => FlightKind::Ping,
        Up::Frame(ToServer::Request { op, .. }) => {
            let path = op.path().cloned().unwrap_or_else(|| "".into());
            match op.is_write() {
                true => FlightKind::Write { path },
                false => FlightKind::Ask { path },
            }
        }
    }
}

fn down_kind(down: &Down) -> FlightKind {
    match down {
        Down::SynAck | Down::Frame(ToClient::Connected { .. }) => FlightKind::Connect,
        Down::Rst | Down::Fin => FlightKind::Close,
        Down::Frame(ToClient::Pong { .. }) => FlightKind::Pong,
        Down::Frame(ToClient::Reply { result, .. }) => FlightKind::Reply { ok: result.is_ok() },
        Down::Frame(ToClient::Event { kind, path, .. }) => {
            FlightKind::Watch { kind: *kind, path: path.clone() }
        }
    }
}

fn peer_kind(msg: &kafka::Msg) -> FlightKind {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    match msg {
        kafka::Msg::LeaderAndIsr { partitions, .. } => {
            FlightKind::LeaderAndIsr { partitions: count(partitions.len()) }
        }
        kafka::Msg::StopReplica { partitions, .. } => {
            FlightKind::StopReplica { partitions: count(partitions.len()) }
        }
        kafka::Msg::Fetch { partitions } => {
            FlightKind::Fetch { partitions: count(partitions.len()) }
        }
        kafka::Msg::NotLeader { partitions } | kafka::Msg::Fetched { partitions } => {
            FlightKind::FetchAnswer { partitions: count(partitions.len()) }
        }
        kafka::Msg::Closed => FlightKind::Close,
        kafka::Msg::Data(msg) => data_kind(msg),
        kafka::Msg::Real(msg) => real_kind(msg),
    }
}

/// A message about records.
fn data_kind(msg: &DataMsg) -> FlightKind {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let records = |len: usize| FlightKind::Records { count: count(len) };
    match msg {
        DataMsg::Produce { batches, .. } => FlightKind::Produce {
            count: count(batches.iter().map(|(_, records)| records.len()).sum()),
        },
        DataMsg::FetchAnswer { results, .. } => {
            let brought = results.iter().filter_map(|(_, result)| result.as_ref().ok());
            records(brought.map(|fetched| fetched.records.len()).sum())
        }
        DataMsg::Followed { partitions } => {
            records(partitions.iter().map(|(_, fetched)| fetched.records.len()).sum())
        }
        DataMsg::Diverged { partitions } => {
            FlightKind::FetchAnswer { partitions: count(partitions.len()) }
        }
        DataMsg::Fetch { partitions, .. } => {
            FlightKind::Fetch { partitions: count(partitions.len()) }
        }
        DataMsg::Follow { partitions } => FlightKind::Fetch { partitions: count(partitions.len()) },
        DataMsg::OffsetCommit { offsets, .. } => {
            FlightKind::OffsetCommit { partitions: count(offsets.len()) }
        }
        DataMsg::Metadata { .. }
        | DataMsg::ListOffsets { .. }
        | DataMsg::FindCoordinator { .. }
        | DataMsg::OffsetFetch { .. } => FlightKind::ClientRequest,
        DataMsg::Produced { .. }
        | DataMsg::MetadataAnswer { .. }
        | DataMsg::ListOffsetsAnswer { .. }
        | DataMsg::Coordinator { .. }
        | DataMsg::OffsetCommitAnswer { .. }
        | DataMsg::OffsetFetchAnswer { .. } => FlightKind::Answer,
    }
}

/// A message of a real release, as the page names it.
fn real_kind(msg: &RealMsg) -> FlightKind {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    match msg {
        RealMsg::LeaderAndIsr { orders, .. } => {
            FlightKind::LeaderAndIsr { partitions: count(orders.len()) }
        }
        RealMsg::StopReplica { partitions, .. } => {
            FlightKind::StopReplica { partitions: count(partitions.len()) }
        }
        RealMsg::Fetch { partitions } => FlightKind::Fetch { partitions: count(partitions.len()) },
        RealMsg::Alive => FlightKind::Fetch { partitions: 0 },
        RealMsg::Fetched { partitions } | RealMsg::NotLeader { partitions } => {
            FlightKind::FetchAnswer { partitions: count(partitions.len()) }
        }
        RealMsg::Probe => FlightKind::FetchAnswer { partitions: 0 },
        RealMsg::UpdateMetadata { partitions, .. } => {
            FlightKind::UpdateMetadata { partitions: count(partitions.len()) }
        }
        RealMsg::AlterIsr { changes, .. } => {
            FlightKind::AlterIsr { partitions: count(changes.len()) }
        }
        RealMsg::ControlledShutdown { .. } => FlightKind::ControlledShutdown,
        RealMsg::WhoIsController | RealMsg::Ask { .. } => FlightKind::AdminRequest,
        RealMsg::Deleted { .. }
        | RealMsg::IsrAltered { .. }
        | RealMsg::ShutDown { .. }
        | RealMsg::Controller { .. }
        | RealMsg::First { .. }
        | RealMsg::Answer { .. }
        | RealMsg::NotController => FlightKind::Answer,
    }
}
