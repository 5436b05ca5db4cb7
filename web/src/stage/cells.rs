//! Partitions as lanes, replicas as cells.

use kafkascope_core::view::{PartitionView, ReplicaView, Role, TopicView};
use yew::prelude::*;

use super::layout::{Lane, Level, Rect, shorten, text_width};
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};

#[component]
pub fn Cells(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let view = &parts.scene.view;
    let pick = Callback::from(move |selected| ctx.act(UiAction::Toggle(selected)));
    html! {
        <g>
            {for parts.geo.titles.iter().filter_map(|(topic, y)| {
                Some(title(lang, parts, view.topics.get(*topic)?, *topic, *y))
            })}
            {for parts.geo.lanes.iter().filter_map(|lane| {
                let topic = view.topics.get(lane.topic)?;
                let partition = topic.partitions.get(lane.partition)?;
                Some(one_lane(lang, parts, topic, partition, *lane, &pick))
            })}
        </g>
    }
}

/// How many copies its partitions have, or that it is being deleted.
pub fn copies(lang: Lang, topic: &TopicView) -> String {
    match topic.deleting {
        true => lang.t(k::STAGE_DELETING).to_string(),
        false => lang.fill(k::STAGE_RF, &[("n", &topic.replication)]),
    }
}

/// Beside its lanes. On a narrow screen the name stands above them, with its menu.
fn title(lang: Lang, parts: &Parts, topic: &TopicView, index: usize, y: f64) -> Html {
    let geo = &parts.geo;
    if geo.narrow {
        return Html::default();
    }
    let center = geo.gutter.x + geo.gutter.w / 2.0;
    let sub = copies(lang, topic);
    let why = lang.fill(k::TIP_RF, &[("name", &topic.name), ("n", &topic.replication)]);
    if index > 0 {
        // Its menu stands right behind; how many copies is said where there is room below.
        let name = shorten(&topic.name, "", 12.0, geo.gutter.w - 22.0);
        let x = geo.gutter.x.to_string();
        return html! {
            <g>
                <title>{why}</title>
                <text x={x.clone()} y={y.to_string()} class="tname">{name}</text>
                if geo.cell >= 38.0 {
                    <text {x} y={(y + 14.0).to_string()} class="tsub">{sub}</text>
                }
            </g>
        };
    }
    html! {
        <g>
            <title>{why}</title>
            <text x={center.to_string()} y={y.to_string()} class="tname" text-anchor="middle">
                {shorten(&topic.name, "", 12.0, geo.gutter.w)}
            </text>
            <text x={center.to_string()} y={(y + 14.0).to_string()} class="tsub"
                text-anchor="middle">{sub}</text>
        </g>
    }
}

type Pick = Callback<Selected>;

fn one_lane(
    lang: Lang,
    parts: &Parts,
    topic: &TopicView,
    partition: &PartitionView,
    lane: Lane,
    pick: &Pick,
) -> Html {
    let geo = &parts.geo;
    let selected = Selected::Partition(topic.name.clone(), partition.number);
    let is_selected = parts.selected.as_ref() == Some(&selected);
    let middle = lane.y + geo.cell / 2.0;
    let last = parts.geo.cols.last().map_or(0.0, Rect::right);
    let label_x = match geo.narrow {
        true => 3.0,
        false => geo.gutter.x + geo.gutter.w / 2.0 - 16.0,
    };
    let choose = {
        let (pick, selected) = (pick.clone(), selected.clone());
        Callback::from(move |()| pick.emit(selected.clone()))
    };
    let onkeydown = super::menus::enter(&choose);
    let name = format!("{}-{}", topic.name, partition.number);
    let low = partition.placed && partition.isr.len() < partition.replicas.len();
    html! {
        <g key={name.clone()} class={classes!("lanerow", is_selected.then_some("sel"))}
            data-testid={format!("lane-{name}")}>
            <path d={format!("M{} {middle}H{last}", label_x + 32.0)} class="rail" />
            <g class="lane" tabindex="0" role="button" aria-label={name.clone()} {onkeydown}
                onclick={choose.reform(|_: MouseEvent| ())}>
                <rect x={label_x.to_string()} y={(middle - 10.0).to_string()} width="32"
                    height="20" rx="5" />
                <text x={(label_x + 16.0).to_string()} y={(middle + 4.5).to_string()}
                    class="lanet" text-anchor="middle">{format!("P{}", partition.number)}</text>
            </g>
            if low && geo.level == Level::Lanes && !geo.narrow {
                {under(lang, partition, label_x, middle)}
            }
            {repl(parts, partition, lane)}
            {for partition.replicas.iter().map(|replica| {
                cell(lang, parts, topic, partition, replica, lane, &choose)
            })}
        </g>
    }
}

/// Fewer in sync than there are copies.
fn under(lang: Lang, partition: &PartitionView, x: f64, middle: f64) -> Html {
    let (isr, all) = (partition.isr.len(), partition.replicas.len());
    html! {
        <g class="urp">
            <title>{lang.fill(k::TIP_UNDER, &[("isr", &isr), ("n", &all)])}</title>
            <rect x={(x - 8.0).to_string()} y={(middle + 11.0).to_string()} width="48"
                height="17" class="hitbox" />
            <use href="#i-warn" x={(x - 6.0).to_string()} y={(middle + 13.0).to_string()}
                width="13" height="13" class="ics" />
            <text x={(x + 11.0).to_string()} y={(middle + 24.0).to_string()} class="urpt">
                {format!("{isr} / {all}")}
            </text>
        </g>
    }
}

fn place(parts: &Parts, broker: u32, lane: Lane) -> Option<Rect> {
    let brokers = &parts.scene.view.brokers;
    let index = brokers.iter().position(|one| one.id == broker && !one.impostor)?;
    let col = parts.geo.cols.get(index)?;
    let inset: f64 = if parts.geo.narrow { 4.0 } else { 9.0 };
    let inset = inset.min(col.w * 0.08);
    Some(Rect::new(col.x + inset, lane.y, col.w - 2.0 * inset, parts.geo.cell))
}

/// From the leader to its followers, under the lane.
fn repl(parts: &Parts, partition: &PartitionView, lane: Lane) -> Html {
    if parts.geo.level != Level::Lanes || !partition.placed {
        return Html::default();
    }
    let Some(leader) = partition.leader.and_then(|id| place(parts, id, lane)) else {
        return Html::default();
    };
    let from = leader.x + leader.w / 2.0;
    let down = partition.replicas.iter().any(|one| one.role == Role::Leader && one.offline);
    let y = leader.bottom();
    let paths = partition.replicas.iter().filter(|replica| replica.role != Role::Leader);
    let paths = paths.filter_map(|replica| {
        let to = place(parts, replica.broker, lane)?;
        let to = to.x + to.w / 2.0;
        let turn = if to > from { 4.0 } else { -4.0 };
        let d = format!("M{from} {y}q0 5 {turn} 5H{}q{turn} 0 {turn} -5", to - turn);
        let class = classes!("repl", (replica.offline || down).then_some("broken"));
        Some(html! { <path {d} {class} /> })
    });
    paths.collect()
}

fn class_of(replica: &ReplicaView) -> &'static str {
    match (replica.offline, replica.role) {
        (true, Role::Leader | Role::InSync) => "off stale",
        (true, _) => "off",
        (false, Role::Leader) => "lead",
        (false, Role::InSync) => "fol",
        (false, Role::OutOfSync) => "out",
        (false, Role::New) => "fresh",
    }
}

fn role(lang: Lang, replica: &ReplicaView) -> AttrValue {
    lang.t(match (replica.offline, replica.role) {
        (true, Role::Leader) => k::ROLE_OFFLINE_LEADER,
        (true, Role::InSync) => k::ROLE_OFFLINE_ISR,
        (true, _) => k::ROLE_OFFLINE,
        (false, Role::Leader) if replica.preferred => k::ROLE_LEADER,
        (false, Role::Leader) => k::ROLE_LEADER_OTHER,
        (false, Role::InSync) => k::ROLE_IN_SYNC,
        (false, Role::OutOfSync) => k::ROLE_OUT,
        (false, Role::New) => k::ROLE_NEW,
    })
}

/// The second line of a cell: what its broker knows.
fn note(lang: Lang, partition: &PartitionView, replica: &ReplicaView) -> String {
    let preferred = partition.replicas.iter().find(|one| one.preferred).map(|one| one.broker);
    match (replica.role, replica.offline) {
        (Role::New, _) | (_, true) => String::new(),
        _ if !replica.knows => lang.t(k::ROLE_UNTOLD).to_string(),
        (Role::Leader, _) if !replica.preferred => {
            let preferred = preferred.unwrap_or(0);
            let values: [(_, &dyn std::fmt::Display); 2] =
                [("epoch", &partition.leader_epoch), ("id", &preferred)];
            lang.fill(k::ROLE_EPOCH_PREFERRED, &values)
        }
        (Role::Leader, _) => lang.fill(k::ROLE_EPOCH, &[("epoch", &partition.leader_epoch)]),
        _ => match partition.leader {
            Some(leader) => lang.fill(k::ROLE_FOLLOWS, &[("id", &leader)]),
            None => lang.t(k::ROLE_NO_LEADER).to_string(),
        },
    }
}

fn cell(
    lang: Lang,
    parts: &Parts,
    topic: &TopicView,
    partition: &PartitionView,
    replica: &ReplicaView,
    lane: Lane,
    choose: &Callback<()>,
) -> Html {
    let Some(rect) = place(parts, replica.broker, lane) else { return Html::default() };
    let moved =
        parts.scene.moved.iter().any(|(name, n)| *name == topic.name && *n == partition.number);
    let class = classes!(
        "rep",
        class_of(replica),
        (moved && replica.role == Role::Leader).then_some("chgr"),
        (!replica.knows && !replica.offline && replica.role != Role::New).then_some("untold"),
    );
    let role = role(lang, replica);
    let name = format!("{}-{}", topic.name, partition.number);
    let label = format!("{name}, {}, {role}", lang.fill(k::WHO_BROKER, &[("id", &replica.broker)]));
    let tip = format!("{label}{}", tip(lang, partition, replica));
    let onkeydown = super::menus::enter(choose);
    let hatched = replica.offline.then(|| {
        html! { <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
        height={rect.h.to_string()} rx="5" class="rhatch" /> }
    });
    html! {
        <g key={replica.broker} {class} tabindex="0" role="button" aria-label={label} {onkeydown}
            data-testid={format!("replica-{name}-{}", replica.broker)}
            onclick={choose.reform(|_: MouseEvent| ())}>
            <title>{tip}</title>
            <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
                height={rect.h.to_string()} rx="5" class="rbox" />
            {hatched.unwrap_or_default()}
            {words(lang, parts, partition, replica, rect, &topic.name, role)}
        </g>
    }
}

/// What the short words and signs of a cell mean, for who asks.
fn tip(lang: Lang, partition: &PartitionView, replica: &ReplicaView) -> String {
    let preferred = partition.replicas.iter().find(|one| one.preferred).map(|one| one.broker);
    let sign = match (replica.role, replica.offline) {
        (_, true) | (Role::New, _) => return String::new(),
        (Role::Leader, _) if replica.preferred => {
            lang.fill(k::TIP_PREFERRED, &[("epoch", &partition.leader_epoch)])
        }
        (Role::Leader, _) => {
            let id = preferred.unwrap_or(0);
            lang.fill(k::TIP_OTHER, &[("epoch", &partition.leader_epoch), ("id", &id)])
        }
        _ => String::new(),
    };
    let untold = if replica.knows { String::new() } else { lang.t(k::TIP_UNTOLD).to_string() };
    [sign, untold].iter().filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect()
}

fn star(replica: &ReplicaView) -> &'static str {
    match (replica.role, replica.offline, replica.preferred) {
        (Role::Leader, false, true) => "★ ",
        (Role::Leader, false, false) => "☆ ",
        _ => "",
    }
}

fn words(
    lang: Lang,
    parts: &Parts,
    partition: &PartitionView,
    replica: &ReplicaView,
    rect: Rect,
    topic: &str,
    role: AttrValue,
) -> Html {
    let geo = &parts.geo;
    let role = format!("{}{role}", star(replica));
    let middle = rect.y + rect.h / 2.0 + 4.0;
    if geo.level == Level::Small || rect.h < 26.0 {
        let text = if rect.w < 64.0 { star(replica).trim().to_owned() } else { role };
        return html! {
            <text x={(rect.x + rect.w / 2.0).to_string()} y={middle.to_string()} class="rrole"
                text-anchor="middle">{text}</text>
        };
    }
    let note = note(lang, partition, replica);
    let (top, below) = match (rect.h >= 34.0, note.is_empty() && !geo.narrow) {
        (true, false) => (rect.y + 16.0, Some(rect.y + 31.0)),
        _ => (middle, None),
    };
    let left = rect.x + if geo.narrow { 5.0 } else { 9.0 };
    if geo.narrow || rect.w < 138.0 {
        // That it is offline comes first where both have no room.
        let fits = text_width(&role, 10.0) <= rect.w - 10.0;
        let role =
            if fits || !replica.offline { role } else { lang.t(k::ROLE_OFFLINE).to_string() };
        return html! {
            <>
                <text x={left.to_string()} y={top.to_string()} class="rrole b">{role}</text>
                if let Some(y) = below.filter(|_| rect.w >= 84.0) {
                    <text x={left.to_string()} y={y.to_string()} class="rnote">{note}</text>
                }
            </>
        };
    }
    let right = rect.right() - 9.0;
    let room = right - left - text_width(&role, 11.0) - 8.0;
    let name = shorten(topic, &format!("-{}", partition.number), 12.0, room);
    html! {
        <>
            <text x={left.to_string()} y={top.to_string()} class="rname">{name}</text>
            <text x={right.to_string()} y={top.to_string()} class="rrole" text-anchor="end">
                {role}
            </text>
            if let (Some(y), Some(log)) = (below, replica.log.filter(|_| replica.knows)) {
                {offsets(log, left, right, y - 11.0)}
            } else if let Some(y) = below {
                <text x={left.to_string()} y={y.to_string()} class="rnote">{note}</text>
            }
        </>
    }
}

/// The last offsets of a log; dashed from its own high watermark on.
fn offsets((start, end, high): (u64, u64, u64), left: f64, right: f64, y: f64) -> Html {
    let width = (end.to_string().len() as f64 * 6.6 + 7.0).max(19.0);
    let fit = ((right - left + 2.0) / (width + 2.0)).floor().clamp(1.0, 5.0) as u64;
    let first = end.saturating_sub(fit).max(start);
    let boxes = (first..end).map(|offset| {
        let x = left + (offset - first) as f64 * (width + 2.0);
        let class = classes!("ofs", (offset >= high).then_some("above"));
        html! {
            <g key={offset} {class}>
                <rect x={x.to_string()} y={y.to_string()} width={width.to_string()} height="14"
                    rx="2.5" />
                <text x={(x + width / 2.0).to_string()} y={(y + 11.0).to_string()}
                    text-anchor="middle">{offset.to_string()}</text>
            </g>
        }
    });
    html! { <g class="offsets">{for boxes}</g> }
}
