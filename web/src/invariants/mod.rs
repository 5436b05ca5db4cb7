//! The named properties, how often each was looked at, and what was found.

use kafkascope_core::invariant::{ALL, Invariant, Kind, Tally};
use kafkascope_core::lab::Lab;
use kafkascope_core::world::Event;
use kafkascope_core::world::event::Severity;
use yew::prelude::*;

use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, lookup, use_lang};
use crate::state::{Selected, UiAction};
use crate::widgets::Icon;
use crate::words;

/// So many of the newest findings are listed.
const SHOWN: usize = 40;

struct Finding {
    row: u32,
    at: String,
    severity: Severity,
    what: Html,
}

#[component]
pub fn Invariants() -> Html {
    let lang = use_lang();
    let engine = use_world();
    let (tallies, findings) = engine.read(|lab| (lab.checks().tallies, findings(lang, lab)));
    html! {
        <section class="invariants" data-testid="invariants"
            aria-label={lang.t(k::DOCK_INVARIANTS)}>
            if !findings.is_empty() {
                <ul class="breaches">{for findings.into_iter().map(finding)}</ul>
            }
            <ul class="lawgrid">
                {for ALL.iter().zip(&tallies).map(|(law, tally)| property(lang, law, tally))}
            </ul>
        </section>
    }
}

fn property(lang: Lang, law: &Invariant, tally: &Tally) -> Html {
    let text = |part: &str| {
        lookup(lang, &format!("invariant.{}.{part}", law.name)).unwrap_or_else(|| law.name.into())
    };
    let (icon, class) = match (tally.breaches, law.kind) {
        (0, _) => ("check", "holds"),
        (_, Kind::Always) => ("kill", "bad"),
        (_, Kind::Found) => ("warn", "found"),
    };
    let kind = lang.t(match law.kind {
        Kind::Always => k::LAW_ALWAYS,
        Kind::Found => k::LAW_FOUND,
    });
    let counts = match tally.breaches {
        0 => lang.fill(k::LAW_CHECKED, &[("n", &tally.checked)]),
        n => lang.fill(k::LAW_BROKEN, &[("n", &n)]),
    };
    html! {
        <li {class} key={law.name} data-testid={format!("invariant-{}", law.name)}>
            <Icon name={icon} small=true />
            <div>{text("title")}<small>{format!("{kind} · {counts}")}</small></div>
        </li>
    }
}

fn findings(lang: Lang, lab: &Lab) -> Vec<Finding> {
    let procs = &lab.world().procs;
    let scene = words::Scene { procs, giver: words::Giver::Scenario, inner: false };
    let rows = lab.rows();
    (0..rows.len())
        .rev()
        .filter_map(|index| {
            let row = &rows[index];
            let Event::Breach(breach) = &row.event else { return None };
            Some(Finding {
                row: u32::try_from(index).ok()?,
                at: row.at.to_string(),
                severity: breach.severity,
                what: words::sentence(lang, row, scene).html(lang),
            })
        })
        .take(SHOWN)
        .collect()
}

fn finding(one: Finding) -> Html {
    html! { <Breach row={one.row} at={one.at} what={one.what}
    bad={one.severity == Severity::Violation} /> }
}

#[derive(PartialEq, Properties)]
struct BreachProps {
    row: u32,
    at: String,
    what: Html,
    bad: bool,
}

#[component]
fn Breach(props: &BreachProps) -> Html {
    let ctx = use_ctx();
    let row = props.row;
    let onclick = Callback::from(move |_: MouseEvent| {
        ctx.engine.seek_row(row);
        ctx.act(UiAction::Select(Selected::Row(row)));
    });
    html! {
        <li class={if props.bad { "bad" } else { "found" }} data-testid={format!("breach-{row}")}>
            <Icon name="warn" small=true />
            <button type="button" class="link" {onclick}>{props.at.clone()}</button>
            <span>{props.what.clone()}</span>
        </li>
    }
}
