//! On the first run each thing is named once, when it is first seen.

use kafkascope_core::kafka;
use kafkascope_core::lab::Lab;
use kafkascope_core::world::{Command, Event, Row, ZkEvent};

use crate::i18n::{Key, k};

/// Nobody has done anything yet.
pub fn is_first_run(lab: &Lab) -> bool {
    let commands = lab.run().commands.len();
    lab.branches().len() == 1 && !(0..commands).any(|index| lab.branch().is_typed(index))
}

/// The thing that a row is about, if it deserves a word.
fn thing(event: &Event) -> Option<Key> {
    Some(match event {
        Event::Commanded(command) => match &**command {
            Command::StartBroker { .. } => k::INTRO_BROKER,
            Command::CreateTopic { .. } => k::INTRO_TOPIC,
            Command::OpenClient { .. } => k::INTRO_CLIENT,
            Command::StartConsumer { .. } => k::INTRO_CONSUMER,
            Command::StartProducer { .. } => k::INTRO_PRODUCER,
            Command::Zk { .. } => k::INTRO_CONSOLE,
            _ => return None,
        },
        Event::Zk(event) => match event {
            ZkEvent::SessionOpened { .. } => k::INTRO_SESSION,
            ZkEvent::Created { path, .. } if &**path == "/brokers" => k::INTRO_ZNODE,
            ZkEvent::Created { path, .. } if &**path == "/controller" => k::INTRO_CONTROLLER_NODE,
            ZkEvent::Created { path, ephemeral: true, .. } if path.starts_with("/brokers/ids/") => {
                k::INTRO_EPHEMERAL
            }
            ZkEvent::Created { path, ephemeral: true, .. }
                if path.starts_with("/brokers/topics/") =>
            {
                k::INTRO_PROVIDES
            }
            ZkEvent::Created { path, ephemeral: true, .. }
                if path.starts_with("/consumers/") && path.contains("/owners/") =>
            {
                k::INTRO_OWNER_NODE
            }
            ZkEvent::Created { path, .. } if path.ends_with("/state") => k::INTRO_STATE,
            ZkEvent::WatchesFired { .. } => k::INTRO_WATCH,
            ZkEvent::Failed { .. } => k::INTRO_NODE_EXISTS,
            _ => return None,
        },
        Event::Kafka(event) => match &**event {
            kafka::Event::ControllerStarted { .. } => k::INTRO_CONTROLLER,
            kafka::Event::LeaderChosen { .. } => k::INTRO_LEADER,
            kafka::Event::BecameLeader { .. } => k::INTRO_LEADS,
            kafka::Event::LostElection { .. } => k::INTRO_LOST,
            _ => return None,
        },
        _ => return None,
    })
}

pub fn first_of_its_kind(rows: &[Row], index: usize) -> Option<Key> {
    let key = thing(&rows.get(index)?.event)?;
    let before = rows[..index].iter().filter(|row| !row.detail);
    let known = before.filter_map(|row| thing(&row.event)).any(|other| other == key);
    (!known).then_some(key)
}
