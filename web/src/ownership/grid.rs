//! Partition × member, and the table of offsets.

use std::collections::BTreeMap;
use std::sync::Arc;

use kafkascope_core::base::Instant;
use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::view::trend::{Steps, Trend};
use kafkascope_core::view::{GroupView, Plan, Rebalance};
use yew::prelude::*;

use crate::i18n::{Key, Lang, k};

/// Columns of a grid; more are counted only.
const MOST: usize = 24;
const MEMBERS: usize = 12;

/// Which member has which partition.
#[derive(Default)]
pub struct Owners(BTreeMap<TopicPartition, Arc<str>>);

impl Owners {
    pub fn of_map(map: &BTreeMap<TopicPartition, Arc<str>>) -> Owners {
        Owners(map.clone())
    }

    pub fn of_plans(plans: &[Plan]) -> Owners {
        let mut owners = BTreeMap::new();
        for plan in plans {
            for taker in &plan.takers {
                for partition in &taker.gets {
                    let tp = TopicPartition { topic: plan.topic.clone(), partition: *partition };
                    owners.insert(tp, taker.member.clone());
                }
            }
        }
        Owners(owners)
    }

    /// By the owner nodes.
    pub fn now(group: &GroupView) -> Owners {
        let owned = group.seats.iter().filter_map(|seat| {
            let member = seat.owner.as_ref()?.member?;
            Some((seat.tp.clone(), group.members.get(member)?.name.clone()))
        });
        Owners(owned.collect())
    }

    pub fn of(&self, tp: &TopicPartition) -> Option<Arc<str>> {
        self.0.get(tp).cloned()
    }
}

pub fn grid(
    lang: Lang,
    group: &GroupView,
    (testid, title): (&'static str, Key),
    owners: &Owners,
    goal: Option<&Owners>,
    told: Option<&Rebalance>,
) -> Html {
    let columns: Vec<&TopicPartition> =
        group.seats.iter().map(|seat| &seat.tp).take(MOST).collect();
    let many = columns.iter().any(|tp| tp.topic != columns[0].topic);
    let mut names: Vec<Arc<str>> = group.members.iter().map(|m| m.name.clone()).collect();
    for name in owners.0.values() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let head = columns.iter().map(|tp| {
        let full = format!("{}-{}", tp.topic, tp.partition);
        let short = match many {
            true => format!("{}{}", tp.topic.chars().next().unwrap_or('?'), tp.partition),
            false => tp.partition.to_string(),
        };
        html! { <th scope="col" title={full}>{short}</th> }
    });
    let rows = names.iter().take(MEMBERS).enumerate().map(|(at, name)| {
        let hue = super::hue(group, group.member(name).or(Some(at)));
        let cells = columns.iter().map(|tp| {
            let has = owners.of(tp).as_deref() == Some(&**name);
            let wants = goal.is_some_and(|goal| goal.of(tp).as_deref() == Some(&**name));
            let class = match (has, wants) {
                (true, _) => "has",
                (false, true) => "wants",
                _ => "",
            };
            html! { <td {class}>{if has { "●" } else if wants { "…" } else { "" }}</td> }
        });
        html! { <tr class={hue}><th scope="row">{name.to_string()}</th>{for cells}</tr> }
    });
    html! {
        <table class="own-grid" data-testid={testid}>
            <caption>{lang.t(title)}</caption>
            <thead><tr><td></td>{for head}
                if group.seats.len() > MOST { <th>{format!("+{}", group.seats.len() - MOST)}</th> }
            </tr></thead>
            <tbody>{for rows}
                if names.len() > MEMBERS {
                    <tr><th>{format!("+{}", names.len() - MEMBERS)}</th></tr>
                }
                if let Some(told) = told {
                    {marks(lang, group, owners, told, &columns)}
                    {stood(lang, told, &columns)}
                }
            </tbody>
        </table>
    }
}

/// What became of each partition in the last rebalance.
fn marks(
    lang: Lang,
    group: &GroupView,
    owners: &Owners,
    told: &Rebalance,
    columns: &[&TopicPartition],
) -> Html {
    let cells = columns.iter().map(|tp| {
        let (before, now) = (told.before.get(tp), owners.of(tp));
        let owned = group.seats.iter().any(|seat| seat.tp == **tp && seat.owner.is_some());
        let (sign, key) = match (before, &now) {
            (None, None) if owned => return html! { <td></td> },
            (_, None) if told.before.contains_key(tp) => ("↑", k::OWNERSHIP_MARK_RELEASED),
            (_, None) => ("!", k::OWNERSHIP_MARK_UNOWNED),
            (None, Some(_)) => ("+", k::OWNERSHIP_MARK_NEW),
            (Some(from), Some(to)) if from == to => ("=", k::OWNERSHIP_MARK_SAME),
            _ => ("→", k::OWNERSHIP_MARK_MOVED),
        };
        let label = lang.t(key);
        html! { <td title={label.clone()} aria-label={label}>{sign}</td> }
    });
    html! {
        <tr class="marks" data-testid="grid-marks">
            <th scope="row">{lang.t(k::OWNERSHIP_MARKS)}</th>{for cells}
        </tr>
    }
}

/// For how many milliseconds nobody owned it.
fn stood(lang: Lang, told: &Rebalance, columns: &[&TopicPartition]) -> Html {
    let cells = columns.iter().map(|tp| {
        let Some(span) = told.still.get(tp) else { return html! { <td></td> } };
        let (ms, open) = (span.millis(), told.open.contains(tp));
        let text = match ms {
            0..1_000 => ms.to_string(),
            _ => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        };
        let full = lang.fill(k::OWNERSHIP_STOOD_FOR, &[("n", &ms)]);
        let class = open.then_some("open");
        html! { <td {class} title={full}>{text}{if open { "…" } else { "" }}</td> }
    });
    html! {
        <tr class="stood" data-testid="grid-stood">
            <th scope="row">{lang.t(k::OWNERSHIP_STOOD)}</th>{for cells}
        </tr>
    }
}

/// A small line of a lag; it grows from the bottom, and `most` is its top.
fn spark(steps: &Steps, trend: &Trend, most: u64, label: String, testid: String) -> Html {
    let (w, h) = (86.0, 16.0);
    let whole = trend.until.since(trend.from).0.max(1) as f64;
    let x = |at: Instant| w * at.since(trend.from).0 as f64 / whole;
    let y = |lag: u64| h - 1.0 - (h - 3.0) * lag as f64 / most.max(1) as f64;
    let mut d = String::new();
    for (at, (begin, lag)) in steps.iter().enumerate() {
        match at {
            0 => d.push_str(&format!("M{:.1} {:.1}", x(*begin), y(*lag))),
            _ => d.push_str(&format!("H{:.1}V{:.1}", x(*begin), y(*lag))),
        }
    }
    d.push_str(&format!("H{w}"));
    let last = steps.last().map_or(h, |(_, lag)| y(*lag));
    let area = format!("{d}V{h}H0Z");
    html! {
        <svg class="spark" width={w.to_string()} height={h.to_string()} role="img"
            viewBox={format!("0 0 {w} {h}")} aria-label={label.clone()} data-testid={testid}>
            <title>{label}</title>
            <path d={area} class="area" />
            <path {d} class="line" />
            <circle cx={(w - 2.0).to_string()} cy={last.to_string()} r="2" />
        </svg>
    }
}

/// The line with its numbers in words.
fn line(lang: Lang, steps: &Steps, trend: &Trend, testid: String) -> Html {
    let most = steps.iter().map(|(_, lag)| *lag).max().unwrap_or(0);
    let first = steps.first().map_or(0, |(_, lag)| *lag);
    let now = steps.last().map_or(0, |(_, lag)| *lag);
    let s = trend.until.since(trend.from).millis() / 1_000;
    let values: [(_, &dyn std::fmt::Display); 4] =
        [("s", &s), ("from", &first), ("most", &most), ("now", &now)];
    spark(steps, trend, most, lang.fill(k::OWNERSHIP_TREND_OF, &values), testid)
}

/// The locks with who holds them, and how far everybody is.
pub fn offsets(lang: Lang, group: &GroupView, trend: &Trend) -> Html {
    let text = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let rows = group.seats.iter().take(200).map(|seat| {
        let owner = seat.owner.as_ref();
        let member = owner.and_then(|owner| owner.member);
        let hue = super::hue(group, member);
        let held = match owner {
            Some(owner) if owner.dead => lang.t(k::OWNERSHIP_DEAD).to_string(),
            Some(owner) => owner.id.to_string(),
            None => lang.t(k::OWNERSHIP_NOBODY).to_string(),
        };
        let path = owner.map_or_else(String::new, |owner| owner.path.to_string());
        let tp = format!("{}-{}", seat.tp.topic, seat.tp.partition);
        let class = classes!(hue, owner.is_none_or(|owner| owner.dead).then_some("bad"));
        html! {
            <tr {class} data-testid={format!("seat-{tp}")}>
                <th scope="row">{tp.clone()}</th>
                <td class="mono">{path}</td>
                <td class="held">{held}</td>
                <td>{text(seat.position)}</td>
                <td>{text(seat.committed)}</td>
                <td>{text(seat.end)}</td>
                <td>{text(seat.lag())}</td>
                <td>
                    if let Some(steps) = trend.seats.get(&seat.tp) {
                        {line(lang, steps, trend, format!("trend-{tp}"))}
                    }
                </td>
            </tr>
        }
    });
    let heads = [
        k::OWNERSHIP_COL_OWNER,
        k::OWNERSHIP_COL_SESSION,
        k::OWNERSHIP_COL_POSITION,
        k::OWNERSHIP_COL_COMMITTED,
        k::OWNERSHIP_COL_END,
        k::OWNERSHIP_COL_LAG,
        k::OWNERSHIP_COL_TREND,
    ];
    html! {
        <div class="own-offsets">
            <h3>{lang.t(k::OWNERSHIP_OFFSETS)}</h3>
            <p class="own-whole">
                {lang.fill(k::OWNERSHIP_WHOLE, &[("n", &group.lag())])}{" "}
                {line(lang, &trend.whole, trend, "trend-whole".to_owned())}
            </p>
            <table>
                <thead><tr><td></td>{for heads.iter().map(|key| html! { <th>{lang.t(*key)}</th> })}
                </tr></thead>
                <tbody>{for rows}</tbody>
            </table>
        </div>
    }
}
