//! What is left of a session, as an arc that simulated time draws.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::view::{SessionState, SessionView};
use yew::prelude::*;

use crate::engine::{use_clock, use_engine};
use crate::i18n::{k, use_lang};

#[derive(PartialEq, Properties)]
pub struct RingProps {
    pub x: f64,
    pub y: f64,
    pub r: f64,
    pub proc: u16,
    pub session: Option<SessionView>,
    pub testid: AttrValue,
    /// Draws "2.7 s left" so far left of the ring when it runs out.
    #[prop_or_default]
    pub words: Option<(f64, f64)>,
    /// A process that never had one shows nothing.
    #[prop_or_default]
    pub had: bool,
}

/// The deadline now: pings move it without anything else changing.
fn fresh(engine: &crate::engine::Engine, session: SessionView) -> Instant {
    engine.read(|lab| {
        let mut all = lab.world().server.sessions();
        all.find(|one| one.id == session.session).map_or(session.deadline, |one| one.deadline)
    })
}

#[component]
pub fn Ring(props: &RingProps) -> Html {
    let lang = use_lang();
    let engine = use_engine();
    let now = use_clock();
    let (x, y, r) = (props.x, props.y, props.r);
    let Some(session) = props.session else {
        let class = if props.had { "ring gone" } else { "ring none" };
        return html! {
            <g {class} data-testid={props.testid.clone()}>
                <circle cx={x.to_string()} cy={y.to_string()} r={r.to_string()} class="track" />
            </g>
        };
    };
    let left = fresh(&engine, session).since(now).millis() as f64;
    let part = (left / f64::from(session.timeout_ms.max(1))).clamp(0.0, 1.0);
    let class = match session.state {
        SessionState::Kept => "ring",
        SessionState::RunningOut => "ring draining",
        SessionState::Frozen => "ring frozen",
    };
    let seconds = format!("{:.1}", left / 1_000.0);
    let words = lang.fill(k::STAGE_LEFT, &[("s", &seconds)]);
    html! {
        <g {class} data-testid={props.testid.clone()} role="img" aria-label={words.clone()}>
            <title>{format!("{words}\n{}", lang.t(k::STAGE_LEFT_WHY))}</title>
            <circle cx={x.to_string()} cy={y.to_string()} r={r.to_string()} class="track" />
            <path d={arc(x, y, r, part)} class="arc" />
            if let (SessionState::RunningOut, Some((dx, dy))) = (session.state, props.words) {
                <text x={(x + dx).to_string()} y={(y + dy).to_string()} class="drainl"
                    text-anchor="end">{words}</text>
            }
        </g>
    }
}

/// From twelve o'clock, clockwise; what is gone is missing at the start.
fn arc(x: f64, y: f64, r: f64, part: f64) -> String {
    if part <= 0.001 {
        return String::new();
    }
    if part >= 0.999 {
        return format!("M{x} {}A{r} {r} 0 1 1 {:.2} {}", y - r, x - 0.01, y - r);
    }
    let turn = (1.0 - part) * std::f64::consts::TAU;
    let (sx, sy) = (x + r * turn.sin(), y - r * turn.cos());
    let large = u8::from(part > 0.5);
    format!("M{sx:.2} {sy:.2}A{r} {r} 0 {large} 1 {x} {}", y - r)
}

#[derive(PartialEq, Properties)]
pub struct CommitProps {
    pub x: f64,
    pub y: f64,
    pub r: f64,
    /// When the next automatic commit is due, and how often there is one.
    pub at: Instant,
    pub every: Span,
}

/// The time until the next commit, inside the session's ring.
#[component]
pub fn Commit(props: &CommitProps) -> Html {
    let lang = use_lang();
    let now = use_clock();
    if props.at == Instant::NEVER || props.every == Span::ZERO {
        return Html::default();
    }
    let left = props.at.since(now).millis() as f64;
    let part = (left / (props.every.millis().max(1) as f64)).clamp(0.0, 1.0);
    let words = lang.fill(k::STAGE_COMMIT, &[("s", &format!("{:.1}", left / 1_000.0))]);
    html! {
        <g class="ring commit">
            <title>{words}</title>
            <path d={arc(props.x, props.y, props.r, part)} class="arc" />
        </g>
    }
}
