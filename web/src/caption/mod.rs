//! One sentence for the step, one for its cause, and up to three things to try.

mod intro;
mod tries;

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, Life, SessionState};
use yew::prelude::*;

use crate::app::{Ctx, use_ctx};
use crate::engine::scenario::Origin;
use crate::engine::{use_flow, use_world};
use crate::i18n::{Lang, k, use_lang};
use crate::widgets::Icon;
use crate::words;

/// After so long without a change the run counts as quiet.
const QUIET: Span = Span::from_millis(400);

/// What the caption says.
#[derive(PartialEq)]
struct Said {
    what: Html,
    why: Html,
}

#[derive(PartialEq, Properties)]
pub struct CaptionProps {
    /// A lesson is open: it says itself what comes next.
    pub lesson: bool,
}

#[component]
pub fn Caption(props: &CaptionProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let engine = use_world();
    let flow = use_flow();
    let (said, tries) = engine.read(|lab| {
        let tries = match props.lesson {
            true => Vec::new(),
            false => tries::tries(lang, lab, flow.origin),
        };
        (say(lang, lab, flow.origin), tries)
    });
    // A screen reader is told of steps, not of a film.
    let live = if flow.playing { "off" } else { "polite" };
    html! {
        <section class="caption" data-testid="caption">
            <div class="say" aria-live={live}>
                <div class="what" data-testid="caption-what">{said.what}</div>
                <div class="because" data-testid="caption-why">{said.why}</div>
            </div>
            if !tries.is_empty() {
                {offers(lang, &ctx, tries)}
            }
        </section>
    }
}

fn offers(lang: Lang, ctx: &Ctx, tries: Vec<tries::Try>) -> Html {
    html! {
        <div class="try" role="group" aria-label={lang.t(k::CAPTION_TRY)}>
            <span aria-hidden="true">{lang.t(k::CAPTION_TRY)}</span>
            {for tries.into_iter().enumerate().map(|(index, one)| {
                let ctx = ctx.clone();
                let act = one.act;
                let onclick = Callback::from(move |_: MouseEvent| tries::run(&ctx, &act));
                html! {
                    <button type="button" class="btn" data-testid={format!("try-{index}")}
                        {onclick}>
                        <Icon name={one.icon} small=true />{one.label}
                    </button>
                }
            })}
        </div>
    }
}

fn say(lang: Lang, lab: &Lab, origin: Origin) -> Said {
    if let Some(said) = believed_alive(lang, lab) {
        return said;
    }
    let rows = lab.rows();
    let Some(index) = rows.iter().rposition(|row| !row.detail) else {
        if let Some(at) = tries::last_command(lab).filter(|_| origin == Origin::Shared) {
            return Said {
                what: lang.rich(k::CAPTION_SHARED, &[("at", &at)]),
                why: lang.rich(k::CAPTION_SHARED_WHY, &[]),
            };
        }
        let (what, why) = match lab.run().commands.is_empty() {
            true => (k::CAPTION_EMPTY, k::CAPTION_EMPTY_WHY),
            false => (k::CAPTION_BEGIN, k::CAPTION_BEGIN_WHY),
        };
        return Said { what: lang.rich(what, &[]), why: lang.rich(why, &[]) };
    };
    let row = &rows[index];
    if lab.now().since(last_step(lab)) > QUIET && !more_to_come(lab) {
        let (what, why) = match intro::is_first_run(lab) {
            true => (k::CAPTION_INVITE, k::CAPTION_INVITE_WHY),
            false => (k::CAPTION_QUIET, k::CAPTION_QUIET_WHY),
        };
        return Said { what: lang.rich(what, &[]), why: lang.rich(why, &[]) };
    }
    let what = sentence(lang, lab, origin, index, false);
    let why = match intro::first_of_its_kind(rows, index) {
        Some(key) if intro::is_first_run(lab) => lang.rich(key, &[]),
        _ => cause(lang, lab, origin, index).unwrap_or_else(|| moment(lang, row.at)),
    };
    Said { what, why }
}

fn moment(lang: Lang, at: Instant) -> Html {
    lang.rich(k::CAPTION_AT, &[("at", &at)])
}

fn last_step(lab: &Lab) -> Instant {
    lab.rows().iter().rev().find(|row| !row.detail).map_or(Instant::ZERO, |row| row.at)
}

/// The scenario still has something in store.
fn more_to_come(lab: &Lab) -> bool {
    (lab.world().commands_done as usize) < lab.run().commands.len()
}

fn sentence(lang: Lang, lab: &Lab, origin: Origin, index: usize, inner: bool) -> Html {
    let rows = lab.rows();
    let giver = words::giver(lab.branch(), rows, index, origin);
    let scene = words::Scene { procs: &lab.world().procs, giver, inner };
    let said = words::sentence(lang, &rows[index], scene);
    if inner { said.inner(lang) } else { said.html(lang) }
}

/// The nearest step that led to this one.
fn cause(lang: Lang, lab: &Lab, origin: Origin, index: usize) -> Option<Html> {
    let rows = lab.rows();
    let chain = words::chain(rows, u32::try_from(index).ok()?);
    let cause = chain.into_iter().skip(1).find(|at| !rows[*at as usize].detail)? as usize;
    let at = rows[cause].at;
    let because = sentence(lang, lab, origin, cause, true);
    let when = lang.fill(k::CAPTION_WHEN, &[("at", &at)]);
    Some(html! { <>{lang.t(k::CAPTION_BECAUSE)}{because}{when}</> })
}

/// Dead, and ZooKeeper doesn't know: the most important thing while it lasts.
fn believed_alive(lang: Lang, lab: &Lab) -> Option<Said> {
    let view = view::stage(lab);
    let dead = view.brokers.iter().find(|broker| {
        broker.life == Life::Down
            && broker.session.is_some_and(|session| session.state == SessionState::RunningOut)
    })?;
    let session = dead.session?;
    // The kill itself is told first, for as long as it is news.
    if lab.now().since(last_step(lab)) < Span::from_millis(30) {
        return None;
    }
    let who = words::upper(&lang.fill(k::WHO_BROKER, &[("id", &dead.id)]));
    let seconds = f64::from(session.timeout_ms) / 1_000.0;
    let tick = f64::from(lab.world().config.tick_ms) / 1_000.0;
    Some(Said {
        what: lang.rich(k::CAPTION_DEAD, &[("who", &who), ("at", &session.deadline)]),
        why: lang.rich(k::CAPTION_DEAD_WHY, &[("s", &seconds), ("tick", &tick)]),
    })
}
