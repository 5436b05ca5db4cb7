//! Who owns which partition of a group, by which rule, how the last rebalance went, and what
//! would move if something changed.

mod grid;
mod suppose;

use std::sync::Arc;

use kafkascope_core::base::Span;
use kafkascope_core::view::ownership::Step;
use kafkascope_core::view::{self, GroupView, Plan, Rebalance, Rule, Suppose, Trend};
use yew::prelude::*;

pub use suppose::Change;

use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::state::{Dialog, UiAction};
use crate::widgets::Icon;

/// What the panel remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnershipUi {
    /// `None`: the first group.
    pub group: Option<Arc<str>>,
    pub change: Option<Change>,
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub ui: OwnershipUi,
}

/// What it shows, taken from the run at once.
struct Seen {
    names: Vec<Arc<str>>,
    group: GroupView,
    rebalance: Option<Rebalance>,
    trend: Trend,
}

fn look(lab: &kafkascope_core::lab::Lab, wanted: Option<&Arc<str>>) -> Option<Seen> {
    let all: Vec<GroupView> =
        view::groups(lab).groups.into_iter().filter(|group| !group.members.is_empty()).collect();
    let names = all.iter().map(|group| group.name.clone()).collect();
    // The largest one is what most people ask about.
    let largest = || (0..all.len()).rev().max_by_key(|at| all[*at].members.len()).unwrap_or(0);
    let named = wanted.and_then(|name| all.iter().position(|group| group.name == *name));
    let at = named.unwrap_or_else(largest);
    let group = all.into_iter().nth(at)?;
    let rebalance = view::rebalance(lab, &group);
    let trend = view::trend(lab, &group);
    Some(Seen { names, group, rebalance, trend })
}

#[component]
pub fn Ownership(props: &Props) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let ctx = use_ctx();
    let Some(seen) = engine.read(|lab| look(lab, props.ui.group.as_ref())) else {
        let add = {
            let ctx = ctx.clone();
            Callback::from(move |_: MouseEvent| {
                ctx.act(UiAction::OpenDialog(Dialog::AddConsumer(None)));
            })
        };
        let coordinator = engine.read(view::release).is_some_and(|r| r.groups_by_coordinator());
        let empty = match coordinator {
            true => k::REFUSAL_NOT_IN_THIS_PROFILE,
            false => k::OWNERSHIP_NONE,
        };
        return html! {
            <section class="ownership" data-testid="ownership">
                <p class="empty">
                    {lang.t(empty)}
                </p>
                if !coordinator {
                    <button type="button" class="btn" onclick={add}>
                        <Icon name="plus" small=true />{lang.t(k::ADD_CONSUMER)}
                    </button>
                }
            </section>
        };
    };
    let now = Suppose::now(&seen.group);
    let plans = now.plans();
    let other = Suppose { rule: other(now.rule), ..now.clone() };
    html! {
        <section class="ownership" data-testid="ownership" aria-label={lang.t(k::DOCK_OWNERSHIP)}>
            {tabs(lang, &ctx, &seen)}
            <div class="own-cols">
                <div class="own-formula">
                    <h3>{lang.t(k::OWNERSHIP_FORMULA)}</h3>
                    {for plans.iter().map(|plan| formula(lang, &seen.group, plan))}
                </div>
                <div class="own-grids">
                    {grids(lang, &seen, &plans, &other)}
                </div>
                <div class="own-phases">
                    <h3>{lang.t(k::OWNERSHIP_PHASES)}</h3>
                    {phases(lang, &ctx, seen.rebalance.as_ref())}
                </div>
            </div>
            <suppose::WhatIf group={seen.group.clone()} change={props.ui.change.clone()} />
            {grid::offsets(lang, &seen.group, &seen.trend)}
        </section>
    }
}

/// The colour of a member, by its place in the group.
fn hue(group: &GroupView, member: Option<usize>) -> String {
    let member = member.and_then(|at| group.members.get(at));
    member.map_or_else(String::new, |member| crate::stage::hue(member.nth))
}

/// The rule that stands beside it.
fn other(rule: Rule) -> Rule {
    match rule {
        Rule::Ceil => Rule::Range,
        Rule::Range | Rule::RoundRobin => Rule::Ceil,
    }
}

fn tabs(lang: Lang, ctx: &crate::app::Ctx, seen: &Seen) -> Html {
    if seen.names.len() < 2 {
        return Html::default();
    }
    let buttons = seen.names.iter().map(|name| {
        let (ctx, pick) = (ctx.clone(), name.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            ctx.act(UiAction::OwnershipGroup(pick.clone()));
        });
        let pressed = (*name == seen.group.name).to_string();
        html! {
            <button type="button" class="btn quiet" aria-pressed={pressed} {onclick}
                data-testid={format!("ownership-group-{name}")}>{name.to_string()}</button>
        }
    });
    html! { <p class="own-tabs"><span>{lang.t(k::OWNERSHIP_GROUP)}</span>{for buttons}</p> }
}

/// PT, CG and F with the run's own numbers, and what each gets.
fn formula(lang: Lang, group: &GroupView, plan: &Plan) -> Html {
    let (n, c) = (plan.partitions, plan.takers.len() as u32);
    let count = c.max(1);
    let line = match plan.rule {
        Rule::Ceil => {
            let f = n.div_ceil(count);
            lang.fill(k::OWNERSHIP_CEIL, &[("n", &n), ("c", &c), ("f", &f)])
        }
        Rule::Range => {
            let (f, rest) = (n / count, n % count);
            let values: [(_, &dyn std::fmt::Display); 4] =
                [("n", &n), ("c", &c), ("f", &f), ("rest", &rest)];
            lang.fill(k::OWNERSHIP_FLOOR, &values)
        }
        Rule::RoundRobin => lang.fill(k::OWNERSHIP_ROBIN, &[("n", &n)]),
    };
    let takers = match plan.rule {
        Rule::Ceil => k::OWNERSHIP_CG,
        _ => k::OWNERSHIP_CT,
    };
    let f = n.div_ceil(count);
    let rows = plan.takers.iter().enumerate().take(12).map(|(at, taker)| {
        let hue = hue(group, group.member(&taker.member));
        let range = match plan.rule {
            Rule::Ceil => {
                let from = at as u32 * f;
                format!("PT[{from}..{}]", (from + f).saturating_sub(1))
            }
            _ => format!("[{at}]"),
        };
        html! {
            <li class={hue}>
                <b>{taker.id.to_string()}</b>{" ← "}<span class="dim">{range}</span>{" "}
                if taker.gets.is_empty() {
                    <em>{lang.t(k::OWNERSHIP_GETS_NOTHING)}</em>
                } else {
                    {runs(&taker.gets)}
                }
            </li>
        }
    });
    html! {
        <div class="own-topic" data-testid={format!("formula-{}", plan.topic)}>
            <p><b>{plan.topic.to_string()}</b></p>
            <p class="mono">{format!("PT = {n} ")}<span class="dim">{lang.t(k::OWNERSHIP_PT)}</span>
                {format!(" · CG = {c} ")}<span class="dim">{lang.t(takers)}</span></p>
            <p class="mono strong">{line}</p>
            <ol>{for rows}
                if plan.takers.len() > 12 {
                    <li class="dim">{format!("… {}", plan.takers.len())}</li>
                }
            </ol>
        </div>
    }
}

/// `P0 P1 P2`, or `P0–P9` where there are many.
pub fn runs(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let name = |(from, to): &(u32, u32)| match to - from {
        0 => format!("P{from}"),
        1 => format!("P{from} P{to}"),
        _ => format!("P{from}–P{to}"),
    };
    parts.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn grids(lang: Lang, seen: &Seen, plans: &[Plan], other: &Suppose) -> Html {
    let before = seen.rebalance.as_ref().map(|told| told.before.clone()).unwrap_or_default();
    let target = grid::Owners::of_plans(plans);
    let beside = other.plans();
    let title = match other.rule {
        Rule::Ceil => k::OWNERSHIP_OTHER_CEIL,
        _ => k::OWNERSHIP_OTHER_FLOOR,
    };
    let previous = grid::Owners::of_map(&before);
    let current = grid::Owners::now(&seen.group);
    let moved =
        before.iter().filter(|(tp, name)| target.of(tp).is_some_and(|to| to != **name)).count();
    let idle: Vec<String> =
        plans.first().map(Plan::idle).unwrap_or_default().iter().map(|n| n.to_string()).collect();
    let told = seen.rebalance.as_ref();
    let one = |title, owners, goal| grid::grid(lang, &seen.group, title, owners, goal, None);
    html! {
        <>
            <div class="own-row">
                {one(("grid-before", k::OWNERSHIP_BEFORE), &previous, None)}
                {grid::grid(lang, &seen.group, ("grid-now", k::OWNERSHIP_NOW), &current,
                    Some(&target), told)}
                {one(("grid-rule", k::OWNERSHIP_TARGET), &target, None)}
                {one(("grid-other", title), &grid::Owners::of_plans(&beside), None)}
            </div>
            <p class="own-note">
                {remark(lang, seen, moved)}
                if !idle.is_empty() {
                    {" · "}{lang.fill(k::OWNERSHIP_IDLE, &[("who", &idle.join(", "))])}
                }
            </p>
        </>
    }
}

/// What moved and how long it stood still.
fn remark(lang: Lang, seen: &Seen, moved: usize) -> String {
    let Some(told) = &seen.rebalance else { return lang.t(k::OWNERSHIP_NEVER).to_string() };
    let mut text = match moved {
        0 => lang.t(k::OWNERSHIP_MOVED_NONE).to_string(),
        n => lang.fill(k::OWNERSHIP_MOVED, &[("n", &n)]),
    };
    let shortest = told.still.values().min().copied().unwrap_or(Span::ZERO);
    if let Some(longest) = told.still.values().max() {
        let still = lang
            .fill(k::OWNERSHIP_STILL, &[("from", &shortest.millis()), ("to", &longest.millis())]);
        text = format!("{text} · {still}");
    } else if moved == 0 {
        text = String::new();
    }
    text
}

fn phases(lang: Lang, ctx: &crate::app::Ctx, told: Option<&Rebalance>) -> Html {
    let Some(told) = told else {
        return html! { <p class="dim">{lang.t(k::OWNERSHIP_NEVER)}</p> };
    };
    let rows = told.phases.iter().map(|phase| {
        let (name, icon, unit): (Key, _, Key) = match phase.step {
            Step::Trigger => (k::OWNERSHIP_TRIGGER, "eye", k::OWNERSHIP_TIMES),
            Step::Release => (k::OWNERSHIP_RELEASE, "link", k::OWNERSHIP_PARTITIONS),
            Step::Compute => (k::OWNERSHIP_COMPUTE, "grid", k::OWNERSHIP_TIMES),
            Step::Claim => (k::OWNERSHIP_CLAIM, "owner", k::OWNERSHIP_PARTITIONS),
            Step::Retry => (k::OWNERSHIP_RETRY, "warn", k::OWNERSHIP_TIMES),
            Step::Done => (k::OWNERSHIP_DONE, "check", k::OWNERSHIP_MEMBERS),
        };
        let (ctx, row) = (ctx.clone(), phase.row.0);
        let onclick = Callback::from(move |_: MouseEvent| ctx.engine.seek_row(row));
        html! {
            <li>
                <button type="button" class="phase" {onclick}
                    data-testid={format!("phase-{:?}", phase.step).to_lowercase()}>
                    <Icon name={icon} small=true />
                    <span>{lang.t(name)}</span>
                    <span class="dim">{lang.fill(unit, &[("n", &phase.count)])}</span>
                    <time>{phase.at.to_string()}</time>
                </button>
            </li>
        }
    });
    html! { <ol>{for rows}</ol> }
}
