//! Things to try now: what makes sense in this state, and can be done.

use kafkascope_core::base::Instant;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, Life, SessionState, StageView};
use kafkascope_core::world::{Command, Event, Row, Who, ZkEvent};

use crate::app::Ctx;
use crate::engine::scenario::Origin;
use crate::i18n::{Lang, k};
use crate::lessons;
use crate::state::{Dialog, Selected, UiAction};
use crate::words;

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Submit(Command),
    Seek(Instant),
    /// To the row that says that the session of this process has expired, due at this moment.
    Expiry(u16, Instant),
    Lesson(usize),
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
        Act::Expiry(proc, due) => {
            ctx.engine.set_playing(false);
            // Its watches fire in the same moment: the row itself is pointed at.
            if let Some(row) = ctx.engine.with_lab(|lab| to_expiry(lab, *proc, *due)) {
                ctx.act(UiAction::Select(Selected::Row(row)));
            }
        }
        Act::Lesson(lesson) => lessons::open(ctx, *lesson),
        Act::Ui(action) => ctx.act((**action).clone()),
    }
}

/// Steps that may lie between the deadline and the row: other sessions end at the same tick.
const STEPS: usize = 60;

/// Goes to the deadline, and on to the row in which the session ends. Somebody may have come
/// back meanwhile: then it stays at the deadline.
fn to_expiry(lab: &mut Lab, proc: u16, due: Instant) -> Option<u32> {
    let expired = |row: &Row| {
        row.proc == proc && matches!(row.event, Event::Zk(ZkEvent::SessionExpired { .. }))
    };
    let from = lab.rows().len();
    lab.seek(due);
    for _ in 0..STEPS {
        let fresh = lab.rows().get(from..).unwrap_or_default();
        if let Some(at) = fresh.iter().position(expired) {
            let row = u32::try_from(from + at).ok()?;
            lab.seek_row(row);
            return Some(row);
        }
        let _ = lab.step();
    }
    lab.seek(due);
    None
}

/// When the run's last command is given, if that is still to come.
pub fn last_command(lab: &Lab) -> Option<Instant> {
    let left = lab.run().commands.get(lab.world().commands_done as usize..)?;
    left.last().map(|(at, _)| *at).filter(|at| *at > lab.now())
}

pub fn tries(lang: Lang, lab: &Lab, origin: Origin) -> Vec<Try> {
    let view = view::stage(lab);
    let mut tries = Vec::new();
    if let Some(at) = last_command(lab).filter(|_| origin == Origin::Shared) {
        let label = lang.fill(k::TRY_LAST, &[("at", &at)]);
        tries.push(Try { icon: "step", label, act: Act::Seek(at) });
        return tries;
    }
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
    let ours = matches!(origin, Origin::Scenario(_));
    if calm && ours && super::intro::is_first_run(lab) {
        let title = lessons::title(0, lang).unwrap_or_default();
        let label = lang.fill(k::TRY_LESSON, &[("title", &title)]);
        tries.push(Try { icon: "book", label, act: Act::Lesson(0) });
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
    let out = view.brokers.iter().filter_map(|broker| Some((broker.proc, broker.session?)));
    let out = out.filter(|(_, session)| session.state == SessionState::RunningOut);
    if let Some((proc, session)) = out.min_by_key(|(_, session)| session.deadline) {
        let label = lang.t(k::TRY_EXPIRY).to_string();
        tries.push(Try { icon: "step", label, act: Act::Expiry(proc, session.deadline) });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scenario;

    #[test]
    fn the_jump_to_an_expiry_ends_at_its_row() {
        let mut lab = scenario::ALL[0].lab();
        lab.seek(Instant(4_000_000));
        lab.submit(Command::Kill(Who::Broker(1))).expect("it runs");
        lab.seek(Instant(5_000_000));
        let tries = tries(Lang::En, &lab, Origin::Scenario(0));
        let Some(Act::Expiry(proc, due)) = tries.first().map(|one| one.act.clone()) else {
            panic!("no jump is offered")
        };
        let row = to_expiry(&mut lab, proc, due).expect("it expires");
        let row = &lab.rows()[row as usize];
        assert!(matches!(row.event, Event::Zk(ZkEvent::SessionExpired { .. })), "{row:?}");
        assert_eq!(lab.world().event_no, row.event_no);
    }

    #[test]
    fn a_shared_run_offers_its_last_command() {
        let mut lab = scenario::ALL[0].lab();
        let at = last_command(&lab).expect("commands lie ahead");
        let offered = tries(Lang::En, &lab, Origin::Shared);
        assert_eq!(offered.first().map(|one| one.act.clone()), Some(Act::Seek(at)));
        lab.seek(at);
        assert_eq!(last_command(&lab), None);
        assert!(tries(Lang::En, &lab, Origin::Shared).iter().all(|one| one.act != Act::Seek(at)));
    }
}
