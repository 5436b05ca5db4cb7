//! Questions to a run, for expectations and predictions. The answer is computed from the state.

use std::fmt;
use std::sync::Arc;

use super::query_groups::GroupQuery;
use crate::base::Instant;
use crate::kafka::paths;
use crate::kafka::payload::{self, ControllerInfo, PartitionState};
use crate::lab::Lab;
use crate::world::proc::State;
use crate::world::{Command, Event, Row, Who, World, ZkEvent};
use crate::zk::op::Path;
use crate::zk::tree::NodeKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// As ZooKeeper has it.
    Leader(Arc<str>, u32),
    Isr(Arc<str>, u32),
    Controller,
    /// Registered brokers.
    Brokers,
    /// Whether there is such a znode.
    Znode(Path),
    Data(Path),
    Children(Path),
    /// The process whose session owns the ephemeral znode.
    Owner(Path),
    /// Whether the process has a session that ZooKeeper counts as alive.
    Session(Who),
    Process(Who),
    /// What the process's ZooKeeper client believes about its session.
    Client(Who),
    /// The session's timeout in milliseconds, as negotiated.
    Timeout(Who),
    /// When ZooKeeper heard of the process last, in seconds.
    Heard(Who),
    /// When the process was killed last, in seconds.
    Killed(Who),
    /// When a session of the process expired last, in seconds.
    Expired(Who),
    /// Who was told when a watch at this path fired last.
    Told(Path),
    /// How many watch events have reached the process.
    Events(Who),
    /// Who watches this path.
    Watchers(Path),
    /// How many there are in the answer to another question.
    Count(Box<Query>),
    /// The run's clock in seconds.
    Now,
    /// About a group, or a log.
    Group(GroupQuery),
}

/// What a question can be answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    None,
    Present,
    Absent,
    Text(Arc<str>),
}

impl Answer {
    pub fn parse(text: &str) -> Option<Answer> {
        Some(match text {
            "" => return None,
            "none" => Answer::None,
            "present" => Answer::Present,
            "absent" => Answer::Absent,
            other => Answer::Text(other.into()),
        })
    }

    pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> Answer {
        let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
        if items.is_empty() { Answer::None } else { Answer::Text(items.join(",").into()) }
    }

    pub(super) fn moment(at: Instant) -> Answer {
        Answer::Text(format!("{}.{:03}", at.millis() / 1_000, at.millis() % 1_000).into())
    }

    fn number(value: Option<u32>) -> Answer {
        value.map_or(Answer::None, |value| Answer::Text(value.to_string().into()))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::None => "none",
            Answer::Present => "present",
            Answer::Absent => "absent",
            Answer::Text(text) => text,
        })
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::Leader(topic, partition) => write!(f, "leader {topic}-{partition}"),
            Query::Isr(topic, partition) => write!(f, "isr {topic}-{partition}"),
            Query::Controller => f.write_str("controller"),
            Query::Brokers => f.write_str("brokers"),
            Query::Znode(path) => write!(f, "znode {path}"),
            Query::Data(path) => write!(f, "data {path}"),
            Query::Children(path) => write!(f, "children {path}"),
            Query::Owner(path) => write!(f, "owner {path}"),
            Query::Session(who) => write!(f, "session {who}"),
            Query::Process(who) => write!(f, "process {who}"),
            Query::Client(who) => write!(f, "client {who}"),
            Query::Timeout(who) => write!(f, "timeout {who}"),
            Query::Heard(who) => write!(f, "heard {who}"),
            Query::Killed(who) => write!(f, "killed {who}"),
            Query::Expired(who) => write!(f, "expired {who}"),
            Query::Told(path) => write!(f, "told {path}"),
            Query::Events(who) => write!(f, "events {who}"),
            Query::Watchers(path) => write!(f, "watchers {path}"),
            Query::Count(query) => write!(f, "count {query}"),
            Query::Now => f.write_str("now"),
            Query::Group(query) => query.fmt(f),
        }
    }
}

impl Query {
    /// The answer at the moment that the laboratory shows.
    pub fn ask(&self, lab: &Lab) -> Answer {
        let world = lab.world();
        let rows = || lab.rows().iter().rev();
        let by = |who: &Who| world.find(who);
        match self {
            Query::Heard(who) => last(rows().find(|row| {
                Some(row.proc) == by(who) && matches!(&row.event, Event::Zk(event) if hears(event))
            })),
            Query::Killed(who) => last(rows().find(|row| match &row.event {
                Event::Commanded(command) => match &**command {
                    Command::Kill(killed) | Command::Restart(killed) => killed == who,
                    _ => false,
                },
                _ => false,
            })),
            Query::Expired(who) => last(rows().find(|row| {
                let expiry = matches!(row.event, Event::Zk(ZkEvent::SessionExpired { .. }));
                Some(row.proc) == by(who) && expiry
            })),
            Query::Told(wanted) => {
                let found = rows().find_map(|row| match &row.event {
                    Event::Zk(ZkEvent::WatchesFired { path, whom, .. }) if path == wanted => {
                        Some(whom.clone())
                    }
                    _ => None,
                });
                names(world, found.iter().flat_map(|whom| whom.iter().copied()))
            }
            Query::Events(who) => {
                let told = |row: &&Row| {
                    Some(row.proc) == by(who) && matches!(row.event, Event::Told { .. })
                };
                Answer::Text(rows().filter(told).count().to_string().into())
            }
            Query::Count(query) => {
                let count = match query.ask(lab) {
                    Answer::Text(text) => text.split(',').count(),
                    _ => 0,
                };
                Answer::Text(count.to_string().into())
            }
            Query::Group(query) => query.ask(lab),
            _ => self.answer(world),
        }
    }

    /// What the state alone can tell.
    fn answer(&self, world: &World) -> Answer {
        let tree = world.server.tree();
        match self {
            Query::Leader(topic, partition) => Answer::number(
                state(world, topic, *partition).and_then(|state| u32::try_from(state.leader).ok()),
            ),
            Query::Isr(topic, partition) => Answer::list(
                state(world, topic, *partition).map(|state| state.isr).unwrap_or_default(),
            ),
            Query::Controller => Answer::number(
                tree.get(paths::CONTROLLER)
                    .and_then(|node| payload::read::<ControllerInfo>(&node.data))
                    .map(|info| info.brokerid),
            ),
            Query::Brokers => {
                let mut ids: Vec<u32> = tree.get(paths::BROKER_IDS).map_or_else(Vec::new, |node| {
                    node.children().filter_map(|(name, _)| name.parse().ok()).collect()
                });
                ids.sort_unstable();
                Answer::list(ids)
            }
            Query::Znode(path) => match tree.get(path) {
                Some(_) => Answer::Present,
                None => Answer::Absent,
            },
            Query::Data(path) => match tree.get(path) {
                Some(node) => match &node.data {
                    Some(data) => Answer::Text(String::from_utf8_lossy(data).into()),
                    None => Answer::None,
                },
                None => Answer::Absent,
            },
            Query::Children(path) => match tree.get(path) {
                Some(node) => Answer::list(node.children().map(|(name, _)| name.clone())),
                None => Answer::Absent,
            },
            Query::Owner(path) => owner(world, path),
            Query::Session(who) => session(world, who),
            Query::Process(who) => process(world, who),
            Query::Client(who) => {
                let client = world.find(who).and_then(|index| world.proc(index).client());
                client.map_or(Answer::None, |client| Answer::Text(client.state().name().into()))
            }
            Query::Timeout(who) => {
                let index = world.find(who);
                let mut all = world.server.sessions();
                let session = all.find(|s| world.owners.get(&s.id).copied() == index);
                session.map_or(Answer::None, |s| Answer::Text(s.timeout_ms.to_string().into()))
            }
            Query::Watchers(path) => {
                let sessions = world.server.watchers(path).into_iter().map(|w| w.session);
                names(world, sessions.filter_map(|session| world.owners.get(&session).copied()))
            }
            Query::Now => Answer::moment(world.now),
            // Of the story, which `ask` reads.
            Query::Heard(_)
            | Query::Killed(_)
            | Query::Expired(_)
            | Query::Told(_)
            | Query::Events(_)
            | Query::Count(_)
            | Query::Group(_) => Answer::None,
        }
    }
}

/// A partition's state, as ZooKeeper has it.
pub(super) fn state(world: &World, topic: &str, partition: u32) -> Option<PartitionState> {
    let node = world.server.tree().get(&paths::state(topic, partition))?;
    payload::read(&node.data)
}

fn process(world: &World, who: &Who) -> Answer {
    let state = match world.find(who).map(|index| world.proc(index).state) {
        None | Some(State::Down) => "down",
        Some(State::Paused { .. }) => "paused",
        Some(State::Booting) => "booting",
        Some(State::Up) => "up",
    };
    Answer::Text(state.into())
}

/// Whether the event shows that the client is there.
fn hears(event: &ZkEvent) -> bool {
    !matches!(
        event,
        ZkEvent::SessionExpired { .. } | ZkEvent::WatchesFired { .. } | ZkEvent::Swept { .. }
    )
}

fn last(row: Option<&Row>) -> Answer {
    row.map_or(Answer::None, |row| Answer::moment(row.at))
}

fn names(world: &World, procs: impl Iterator<Item = u16>) -> Answer {
    let mut names: Vec<String> =
        procs.filter_map(|index| world.proc(index).who()).map(|who| who.to_string()).collect();
    names.sort();
    Answer::list(names)
}

fn owner(world: &World, path: &Path) -> Answer {
    let Some(node) = world.server.tree().get(path) else { return Answer::Absent };
    let NodeKind::Ephemeral(session) = node.kind else { return Answer::None };
    let who = world.owners.get(&session).and_then(|index| world.proc(*index).who());
    who.map_or(Answer::None, |who| Answer::Text(who.to_string().into()))
}

fn session(world: &World, who: &Who) -> Answer {
    let Some(index) = world.find(who) else { return Answer::Absent };
    let alive = world.server.sessions().any(|s| world.owners.get(&s.id) == Some(&index));
    if alive { Answer::Present } else { Answer::Absent }
}
