//! Things to try now: what makes sense in this state, and can be done.

use kafkascope_core::base::Instant;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, Life, SessionState, StageView};
use kafkascope_core::world::{Command, Who};

use crate::app::Ctx;
use crate::i18n::{Lang, k};
use crate::state::{Dialog, UiAction};
use crate::words;

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Submit(Command),
    Seek(Instant),
    Ui(Box<UiAction>),
}

pub struct Try {
    pub icon: &'static str,
    pub label: String,
    pub act: Act,
}

pub fn run(ctx: &Ctx, act: &Act) {
    match act {
        Act::Submit(command) => {
            // What is offered can be done; if it no longer can, the offers change.
            let _ = ctx.engine.submit(command.clone());
            ctx.engine.set_playing(true);
        }
        Act::Seek(at) => ctx.engine.seek(*at),
        Act::Ui(action) => ctx.act((**action).clone()),
    }
}

pub fn tries(lang: Lang, lab: &Lab) -> Vec<Try> {
    let view = view::stage(lab);
    let mut tries = Vec::new();
    trouble(lang, &view, &mut tries);
    if view.brokers.is_empty() {
        for id in 1..=3 {
            tries.push(start(lang, id));
        }
    }
    let up = view.brokers.iter().filter(|broker| broker.life == Life::Up).count();
    let calm = tries.is_empty() && !view.topics.is_empty();
    let leader = view.topics.iter().flat_map(|topic| &topic.partitions).find_map(|p| p.leader);
    if let Some(victim) = view
        .brokers
        .iter()
        .find(|b| b.controller.is_some() && b.life == Life::Up)
        .map(|b| b.id)
        .or(leader)
        .filter(|_| calm && up > 1)
    {
        let who = Who::Broker(victim);
        let label = lang.fill(k::TRY_KILL, &[("who", &words::who(lang, &who))]);
        tries.push(Try { icon: "kill", label, act: Act::Submit(Command::Kill(who)) });
        let dialog = Dialog::DeleteZnode("/controller".into());
        tries.push(Try {
            icon: "znode",
            label: lang.fill(k::TRY_DELETE, &[("path", &"/controller")]),
            act: Act::Ui(Box::new(UiAction::OpenDialog(dialog))),
        });
    }
    if !view.brokers.is_empty() {
        let next = view.brokers.iter().map(|broker| broker.id).max().unwrap_or(0) + 1;
        tries.push(start(lang, next));
        if view.topics.is_empty() && up > 0 {
            tries.push(Try {
                icon: "folder",
                label: lang.t(k::TRY_TOPIC).to_string(),
                act: Act::Ui(Box::new(UiAction::OpenDialog(Dialog::CreateTopic))),
            });
        }
    }
    tries.retain(|one| match &one.act {
        Act::Submit(command) => lab.check(command).is_ok(),
        _ => true,
    });
    tries.truncate(3);
    tries
}

fn start(lang: Lang, id: u32) -> Try {
    let who = words::who(lang, &Who::Broker(id));
    let command = Command::StartBroker { id, host: None, rack: None };
    let label = lang.fill(k::TRY_START, &[("who", &who)]);
    Try { icon: "plus", label, act: Act::Submit(command) }
}

/// What is broken can be waited for, or mended.
fn trouble(lang: Lang, view: &StageView, tries: &mut Vec<Try>) {
    let out = view.brokers.iter().filter_map(|broker| broker.session);
    let out = out.filter(|session| session.state == SessionState::RunningOut);
    if let Some(session) = out.min_by_key(|session| session.deadline) {
        let label = lang.t(k::TRY_EXPIRY).to_string();
        tries.push(Try { icon: "step", label, act: Act::Seek(session.deadline) });
    }
    for broker in view.brokers.iter().filter(|broker| !broker.impostor) {
        let who = Who::Broker(broker.id);
        let name = words::who(lang, &who);
        if broker.life == Life::Down {
            let command = Command::StartBroker { id: broker.id, host: None, rack: None };
            let label = lang.fill(k::TRY_RESTART, &[("who", &name)]);
            tries.push(Try { icon: "power", label, act: Act::Submit(command) });
        } else if broker.cut {
            let label = lang.fill(k::TRY_HEAL, &[("who", &name)]);
            tries.push(Try { icon: "link", label, act: Act::Submit(Command::Heal(who)) });
        }
    }
    tries.truncate(2);
}
