//! Questions to a run, for expectations and predictions. The answer is computed from the state.

use std::fmt;
use std::sync::Arc;

use crate::kafka::paths;
use crate::kafka::payload::{self, ControllerInfo, PartitionState};
use crate::world::proc::State;
use crate::world::{Who, World};
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

    fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> Answer {
        let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
        if items.is_empty() { Answer::None } else { Answer::Text(items.join(",").into()) }
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
        }
    }
}

impl Query {
    pub fn answer(&self, world: &World) -> Answer {
        let tree = world.server.tree();
        let state = |topic: &str, partition: u32| {
            let node = tree.get(&paths::state(topic, partition))?;
            payload::read::<PartitionState>(&node.data)
        };
        match self {
            Query::Leader(topic, partition) => Answer::number(
                state(topic, *partition).and_then(|state| u32::try_from(state.leader).ok()),
            ),
            Query::Isr(topic, partition) => {
                Answer::list(state(topic, *partition).map(|state| state.isr).unwrap_or_default())
            }
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
            Query::Process(who) => match world.find(who).map(|index| world.proc(index).state) {
                None | Some(State::Down) => Answer::Text("down".into()),
                Some(State::Paused { .. }) => Answer::Text("paused".into()),
                Some(State::Booting) => Answer::Text("booting".into()),
                Some(State::Up) => Answer::Text("up".into()),
            },
        }
    }
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
