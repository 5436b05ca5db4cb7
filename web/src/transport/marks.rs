//! What stands out on the timeline, in a word or two.

use kafkascope_core::lab::Lab;
use kafkascope_core::view::{Mark, MarkKind};
use kafkascope_core::world::{Command, Event};

use crate::i18n::{Lang, k};
use crate::words;

pub fn label(lang: Lang, lab: &Lab, mark: &Mark) -> String {
    let procs = &lab.world().procs;
    let name = words::proc_at(lang, procs, mark.proc);
    match mark.kind {
        MarkKind::Election => lang.fill(k::MARK_ELECTION, &[("who", &name)]),
        MarkKind::Expiry => lang.fill(k::MARK_EXPIRY, &[("who", &name)]),
        MarkKind::Breach => lang.t(k::MARK_BREACH).to_string(),
        MarkKind::Added | MarkKind::Fault | MarkKind::Act => {
            let row = lab.all_rows().get(mark.row.0 as usize);
            match row.map(|row| &row.event) {
                Some(Event::Commanded(command)) => commanded(lang, command),
                _ => name,
            }
        }
    }
}

fn commanded(lang: Lang, command: &Command) -> String {
    let named = |key, target| lang.fill(key, &[("who", &words::who(lang, target))]);
    match command {
        Command::StartBroker { id, .. } => {
            format!("+ {}", lang.fill(k::WHO_BROKER, &[("id", id)]))
        }
        Command::OpenClient { name, .. } => format!("+ {name}"),
        Command::StartZooKeeper => "+ ZooKeeper".to_owned(),
        Command::Stop(who) => named(k::MARK_STOP, who),
        Command::Kill(who) => named(k::MARK_KILL, who),
        Command::Pause { who, .. } => named(k::MARK_PAUSE, who),
        Command::RollBrokers => lang.t(k::MARK_ROLL).to_string(),
        Command::Restart(who) => named(k::MARK_RESTART, who),
        Command::Cut(who) => named(k::MARK_CUT, who),
        Command::Heal(who) => named(k::MARK_HEAL, who),
        Command::CreateTopic { topic, .. } => format!("+ {topic}"),
        Command::DeleteTopic { topic } => format!("− {topic}"),
        Command::Resume(who) => named(k::MARK_RESUME, who),
        Command::Expire(who) => named(k::MARK_EXPIRE, who),
        Command::HoldLink { a, .. } => named(k::MARK_PAUSE, a),
        Command::DelayLink { a, .. } => named(k::MARK_DELAY, a),
        Command::CutPeers { a, .. } => named(k::MARK_CUT, a),
        Command::HealPeers { a, .. } => named(k::MARK_HEAL, a),
        Command::Admin(task) => task.to_string().chars().take(24).collect(),
        Command::StartConsumer { name, .. } | Command::StartProducer { name, .. } => {
            format!("+ {name}")
        }
        Command::Produce { producer, batch } => format!("{producer} → {}", batch.topic),
        Command::Commit { consumer } => format!("✓ {consumer}"),
        Command::Tune { consumer, name, .. } => format!("{consumer} {name}"),
        Command::Zk { line, .. } => line.chars().take(24).collect(),
    }
}

pub fn icon(lab: &Lab, mark: &Mark) -> &'static str {
    let row = lab.all_rows().get(mark.row.0 as usize);
    match mark.kind {
        MarkKind::Election => "crown",
        MarkKind::Expiry => "session",
        MarkKind::Breach => "warn",
        _ => row.map_or("plus", |row| words::icon(&row.event)),
    }
}

pub const fn class(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Election => "k",
        MarkKind::Expiry | MarkKind::Breach | MarkKind::Fault => "f",
        MarkKind::Added | MarkKind::Act => "a",
    }
}
