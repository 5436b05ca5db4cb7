//! Partition × member, and the table of offsets.

use std::collections::BTreeMap;
use std::sync::Arc;

use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::view::{GroupView, Plan};
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
            </tbody>
        </table>
    }
}

/// The locks with who holds them, and how far everybody is.
pub fn offsets(lang: Lang, group: &GroupView) -> Html {
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
        let class = classes!(hue, owner.is_none_or(|owner| owner.dead).then_some("bad"));
        html! {
            <tr {class} data-testid={format!("seat-{}-{}", seat.tp.topic, seat.tp.partition)}>
                <th scope="row">{format!("{}-{}", seat.tp.topic, seat.tp.partition)}</th>
                <td class="mono">{path}</td>
                <td class="held">{held}</td>
                <td>{text(seat.position)}</td>
                <td>{text(seat.committed)}</td>
                <td>{text(seat.end)}</td>
                <td>{text(seat.lag())}</td>
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
    ];
    html! {
        <div class="own-offsets">
            <h3>{lang.t(k::OWNERSHIP_OFFSETS)}</h3>
            <table>
                <thead><tr><td></td>{for heads.iter().map(|key| html! { <th>{lang.t(*key)}</th> })}
                </tr></thead>
                <tbody>{for rows}</tbody>
            </table>
        </div>
    }
}
