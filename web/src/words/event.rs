//! A row as a sentence: actor first, past or present, numbers last.

use kafkascope_core::base::Span;
use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::real::task::{Layout, Task};
use kafkascope_core::world::event::{Breach, Severity};
use kafkascope_core::world::proc::Kind;
use kafkascope_core::world::{Command, Event, Row, Who, ZkEvent};
use kafkascope_core::zk::client::KeeperState;

use super::{Giver, Said, Scene, clients, kafka, list, proc_at, refusal, upper, who, zk};
use crate::i18n::{Key, Lang, k, lookup};

/// What happened, in the person's language.
pub fn sentence(lang: Lang, row: &Row, scene: Scene<'_>) -> Said {
    let name = proc_at(lang, scene.procs, row.proc);
    // A client's name is its own; only "broker 2" begins large.
    let client = scene.procs.get(usize::from(row.proc)).is_some_and(|proc| {
        use Kind::{Admin, Client, Consumer, Producer};
        matches!(proc.kind, Client(_) | Admin | Consumer(_) | Producer(_))
    });
    let within = scene.inner || client || begins_otherwise(&row.event);
    let actor = if within { name } else { upper(&name) };
    let you = you(lang, scene);
    match &row.event {
        Event::Commanded(command) => commanded(lang, command, &you),
        Event::Refused(refused) => {
            let why = refusal(lang, &refused.1);
            Said::new(k::CMD_REFUSED, &[("you", &you), ("what", &refused.0), ("why", &why)])
        }
        Event::Started => Said::new(k::EVENT_STARTED, &[("who", &actor)]),
        Event::Exited => Said::new(k::EVENT_EXITED, &[("who", &actor)]),
        Event::Killed => Said::new(k::EVENT_KILLED, &[("who", &actor)]),
        Event::Paused { until } => Said::new(k::EVENT_PAUSED, &[("who", &actor), ("until", until)]),
        Event::Resumed => Said::new(k::EVENT_RESUMED, &[("who", &actor)]),
        Event::RollingDone => Said::new(k::EVENT_ROLLED, &[]),
        Event::LinkCut => Said::new(k::EVENT_CUT, &[("who", &actor)]),
        Event::LinkHealed => Said::new(k::EVENT_HEALED, &[("who", &actor)]),
        Event::Keeper(state) => keeper(*state, &actor),
        Event::Told { kind, path } => {
            let kind = kind.name();
            Said::new(k::EVENT_TOLD, &[("who", &actor), ("kind", &kind), ("path", path)])
        }
        Event::Zk(ZkEvent::WatchesFired { kind, path, whom }) => {
            let names: Vec<String> =
                whom.iter().map(|index| proc_at(lang, scene.procs, *index)).collect();
            let (kind, whom) = (kind.name(), list(lang, &names));
            Said::new(k::ZK_FIRED, &[("path", path), ("kind", &kind), ("whom", &whom)])
        }
        Event::Zk(event) => zk::sentence(event, &actor),
        Event::Kafka(event) => clients::sentence(lang, event, &actor)
            .unwrap_or_else(|| kafka::sentence(lang, event, scene.inner)),
        Event::Printed { text, .. } => {
            let text = if text.is_empty() { " " } else { text };
            Said::new(k::EVENT_PRINTED, &[("who", &actor), ("text", &text)])
        }
        Event::Breach(breach) => self::breach(lang, breach, &actor),
    }
}

/// Sentences that don't begin with their actor: "The session of **broker 1** expires".
fn begins_otherwise(event: &Event) -> bool {
    use ZkEvent::{SessionClosed, SessionExpired};
    matches!(event, Event::LinkCut | Event::Zk(SessionClosed { .. } | SessionExpired { .. }))
}

fn you(lang: Lang, scene: Scene<'_>) -> String {
    let text = lang.t(match scene.giver {
        Giver::You => k::WHO_YOU,
        Giver::Scenario => k::WHO_SCENARIO,
        Giver::Lesson => k::WHO_LESSON,
    });
    if scene.inner { text.to_string() } else { upper(&text) }
}

fn keeper(state: KeeperState, actor: &str) -> Said {
    let key = match state {
        KeeperState::Disconnected => k::KEEPER_DISCONNECTED,
        KeeperState::SyncConnected => k::KEEPER_CONNECTED,
        KeeperState::Expired => k::KEEPER_EXPIRED,
        KeeperState::AuthFailed => k::KEEPER_AUTH_FAILED,
        KeeperState::Closed => k::KEEPER_CLOSED,
    };
    Said::new(key, &[("who", &actor)])
}

fn breach(lang: Lang, breach: &Breach, actor: &str) -> Said {
    let key = match breach.severity {
        Severity::Violation => k::EVENT_VIOLATION,
        Severity::Found => k::EVENT_FOUND,
    };
    let text = format!("invariant.{}.broken", breach.invariant);
    let what = lookup(lang, &text).unwrap_or_else(|| breach.invariant.to_owned());
    Said::new(key, &[("what", &what), ("about", &breach.about), ("who", &actor)])
}

fn commanded(lang: Lang, command: &Command, you: &str) -> Said {
    let named = |key, target: &Who| Said::new(key, &[("you", &you), ("who", &who(lang, target))]);
    match command {
        Command::StartBroker { id, host, .. } => {
            let name = lang.fill(k::WHO_BROKER, &[("id", id)]);
            match host {
                Some(host) => Said::new(
                    k::CMD_START_IMPOSTOR,
                    &[("you", &you), ("who", &name), ("host", host)],
                ),
                None => Said::new(k::CMD_START, &[("you", &you), ("who", &name)]),
            }
        }
        Command::OpenClient { name, .. } => {
            Said::new(k::CMD_OPEN_CLIENT, &[("you", &you), ("who", name)])
        }
        Command::StartZooKeeper => Said::new(k::CMD_START, &[("you", &you), ("who", &"ZooKeeper")]),
        Command::Stop(target) => named(k::CMD_STOP, target),
        Command::Kill(target) => named(k::CMD_KILL, target),
        Command::Pause { who: target, span } => {
            let name = who(lang, target);
            Said::new(k::CMD_PAUSE, &[("you", &you), ("who", &name), ("span", span)])
        }
        Command::RollBrokers => Said::new(k::CMD_ROLL, &[("you", &you)]),
        Command::Restart(target) => named(k::CMD_RESTART, target),
        Command::Cut(target) => named(k::CMD_CUT, target),
        Command::Heal(target) => named(k::CMD_HEAL, target),
        Command::CreateTopic { topic, partitions, replication } => Said::new(
            k::CMD_CREATE_TOPIC,
            &[("you", &you), ("topic", topic), ("n", partitions), ("rf", replication)],
        ),
        Command::DeleteTopic { topic } => {
            Said::new(k::CMD_DELETE_TOPIC, &[("you", &you), ("topic", topic)])
        }
        Command::Resume(target) => named(k::CMD_RESUME, target),
        Command::Expire(target) => named(k::CMD_EXPIRE, target),
        Command::CutPeers { a, b } => peers(k::CMD_CUT_PEERS, lang, (a, b), you),
        Command::HealPeers { a, b } => peers(k::CMD_HEAL_PEERS, lang, (a, b), you),
        Command::HoldLink { a, b, span } => link(k::CMD_HOLD_LINK, lang, (a, b), (*span, you)),
        Command::DelayLink { a, b, by } if *by == Span::ZERO => {
            peers(k::CMD_UNDELAY_LINK, lang, (a, b), you)
        }
        Command::DelayLink { a, b, by } => link(k::CMD_DELAY_LINK, lang, (a, b), (*by, you)),
        Command::Admin(task) => admin(task, you),
        Command::StartConsumer { .. }
        | Command::StartProducer { .. }
        | Command::Produce { .. }
        | Command::Commit { .. }
        | Command::Tune { .. } => clients::commanded(command, you),
        Command::Zk { client, line } => {
            let line = if line.is_empty() { "⏎" } else { line };
            Said::new(k::CMD_ZK, &[("you", &you), ("who", client), ("line", &line)])
        }
    }
}

fn peers(key: Key, lang: Lang, (a, b): (&Who, &Who), you: &str) -> Said {
    Said::new(key, &[("you", &you), ("who", &who(lang, a)), ("other", &who(lang, b))])
}

fn link(key: Key, lang: Lang, (a, b): (&Who, &Who), (span, you): (Span, &str)) -> Said {
    let values: [(_, &dyn std::fmt::Display); 4] =
        [("you", &you), ("who", &who(lang, a)), ("other", &who(lang, b)), ("span", &span)];
    Said::new(key, &values)
}

/// What an administrator asked for.
fn admin(task: &Task, you: &str) -> Said {
    match task {
        Task::Create { topic, layout: Layout::Counts { partitions, replication }, .. } => {
            let values: [(_, &dyn std::fmt::Display); 4] =
                [("you", &you), ("topic", topic), ("n", partitions), ("rf", replication)];
            Said::new(k::CMD_CREATE_TOPIC, &values)
        }
        Task::Create { topic, layout: Layout::Assignment(placed), .. } => Said::new(
            k::CMD_CREATE_PLACED,
            &[("you", &you), ("topic", topic), ("n", &placed.len())],
        ),
        Task::AddPartitions { topic, total, .. } => {
            Said::new(k::CMD_ADD_PARTITIONS, &[("you", &you), ("topic", topic), ("n", total)])
        }
        Task::Delete { topic } => {
            Said::new(k::CMD_DELETE_TOPIC, &[("you", &you), ("topic", topic)])
        }
        Task::AlterConfig { entity, .. } => {
            Said::new(k::CMD_CONFIG, &[("you", &you), ("entity", entity)])
        }
        Task::ElectPreferred { .. } => Said::new(k::CMD_PREFERRED, &[("you", &you)]),
        Task::Metadata { topic, broker, .. } => {
            Said::new(k::CMD_METADATA, &[("you", &you), ("topic", topic), ("id", broker)])
        }
        Task::Reassign { plan, .. } => {
            Said::new(k::CMD_REASSIGN, &[("you", &you), ("plan", &plan_text(plan))])
        }
        Task::CancelReassign { partitions, .. } => {
            let named = partitions.iter().map(|tp| format!("{}-{}", tp.topic, tp.partition));
            let named = named.collect::<Vec<_>>().join(", ");
            Said::new(k::CMD_REASSIGN_CANCEL, &[("you", &you), ("tps", &named)])
        }
        Task::VerifyReassign { .. } => Said::new(k::CMD_REASSIGN_VERIFY, &[("you", &you)]),
        Task::List => Said::new(k::CMD_LIST, &[("you", &you)]),
    }
}

/// `t-0 → [1,2], t-1 → [2,3]`
fn plan_text(plan: &[(TopicPartition, Vec<u32>)]) -> String {
    let entry = |(tp, ids): &(TopicPartition, Vec<u32>)| {
        let ids = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("{}-{} → [{ids}]", tp.topic, tp.partition)
    };
    plan.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// The symbol of a row.
pub fn icon(event: &Event) -> &'static str {
    match event {
        Event::Commanded(command) => match &**command {
            Command::StartBroker { .. } | Command::OpenClient { .. } => "plus",
            Command::StartZooKeeper => "power",
            Command::Stop(_) => "stop",
            Command::Kill(_) => "kill",
            Command::Pause { .. } => "hold",
            Command::Restart(_) | Command::RollBrokers => "restart",
            Command::Cut(_) => "cut",
            Command::Heal(_) => "link",
            Command::Resume(_) => "play",
            Command::Expire(_) => "session",
            Command::CutPeers { .. } => "cut",
            Command::HoldLink { .. } | Command::DelayLink { .. } => "hold",
            Command::HealPeers { .. } => "link",
            Command::CreateTopic { .. } | Command::DeleteTopic { .. } | Command::Admin(_) => {
                "folder"
            }
            Command::StartConsumer { .. } | Command::StartProducer { .. } => "plus",
            Command::Produce { .. } => "msg",
            Command::Commit { .. } => "check",
            Command::Tune { .. } => "more",
            Command::Zk { .. } => "console",
        },
        Event::Started | Event::Resumed => "power",
        Event::RollingDone => "check",
        Event::Exited => "stop",
        Event::Killed => "kill",
        Event::Refused(_) => "warn",
        Event::Paused { .. } => "hold",
        Event::LinkCut => "cut",
        Event::LinkHealed => "link",
        Event::Keeper(_) => "session",
        Event::Told { .. } => "eye",
        Event::Zk(event) => zk::icon(event),
        Event::Kafka(event) => clients::icon(event).unwrap_or_else(|| kafka::icon(event)),
        Event::Printed { .. } => "console",
        Event::Breach(_) => "warn",
    }
}
