//! Replicas as rows, their records as cells.

use kafkascope_core::kafka::data::Offset;
use kafkascope_core::view::logs::{Against, Cell, Ghost};
use kafkascope_core::view::{PartitionLogs, ReplicaLog, Role};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use super::record;
use super::{LogsAction, Pick};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::UiAction;

/// Tints of leader epochs; the same comes again after so many.
const TINTS: i32 = 6;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub shown: PartitionLogs,
    pub pick: Option<Pick>,
}

#[component]
pub fn Grid(props: &Props) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let shown = &props.shown;
    let hover = use_state(|| None::<Pick>);
    let pick = {
        let ctx = ctx.clone();
        Callback::from(move |pick| ctx.act(UiAction::Logs(LogsAction::Pick(pick))))
    };
    // A key moves away from where the mouse happens to rest.
    let moved = {
        let (pick, hover) = (pick.clone(), hover.setter());
        Callback::from(move |next| {
            hover.set(None);
            pick.emit(next);
        })
    };
    let onkeydown = keys(shown, props.pick, &moved);
    // Where there is no room for all, the newest are in sight.
    let scroller = use_node_ref();
    use_effect_with((scroller.clone(), shown.tp.clone(), shown.to), |(scroller, ..)| {
        if let Some(element) = scroller.cast::<Element>() {
            element.set_scroll_left(element.scroll_width());
        }
    });
    let leave = {
        let hover = hover.clone();
        Callback::from(move |_: MouseEvent| hover.set(None))
    };
    let hands = Hands { pick, hover: hover.setter(), picked: props.pick };
    let stop = first_stop(shown, props.pick);
    let rows = shown.replicas.iter().map(|replica| row(lang, shown, replica, &hands, stop));
    let name = format!("{}-{}", shown.tp.topic, shown.tp.partition);
    html! {
        <>
            <div class="logs-scroll" data-testid="logs-grid" ref={scroller} {onkeydown}
                onmouseleave={leave}>
                <table class="logs-grid"
                    aria-label={lang.fill(k::LOGS_GRID, &[("name", &name)])}>
                    {epochs(lang, shown)}
                    <tbody>{for rows}</tbody>
                </table>
            </div>
            <record::Record shown={shown.clone()} pick={(*hover).or(props.pick)} />
        </>
    }
}

/// What a cell does.
struct Hands {
    pick: Callback<Pick>,
    hover: UseStateSetter<Option<Pick>>,
    picked: Option<Pick>,
}

fn id(pick: Pick) -> String {
    let kind = if pick.ghost { "ghost" } else { "record" };
    format!("log-{kind}-{}-{}", pick.broker, pick.offset)
}

/// The one cell that the tab key reaches.
fn first_stop(shown: &PartitionLogs, picked: Option<Pick>) -> Option<Pick> {
    picked.filter(|pick| record::find(shown, *pick).is_some()).or_else(|| {
        shown.replicas.iter().find_map(|replica| {
            let offset = replica.cells.last()?.entry.offset;
            Some(Pick { broker: replica.broker, offset, ghost: false })
        })
    })
}

/// Arrows go from record to record, Home and End to the ends of a row.
fn keys(
    shown: &PartitionLogs,
    picked: Option<Pick>,
    pick: &Callback<Pick>,
) -> Callback<KeyboardEvent> {
    let (shown, pick) = (shown.clone(), pick.clone());
    Callback::from(move |event: KeyboardEvent| {
        let Some(from) = first_stop(&shown, picked) else { return };
        let at = shown.replicas.iter().position(|replica| replica.broker == from.broker);
        let at = at.unwrap_or(0);
        let last = Offset::MAX;
        let (row, offset) = match event.key().as_str() {
            "ArrowLeft" => (at, from.offset.saturating_sub(1)),
            "ArrowRight" => (at, from.offset + 1),
            "ArrowUp" => (at.saturating_sub(1), from.offset),
            "ArrowDown" => (at + 1, from.offset),
            "Home" => (at, 0),
            "End" => (at, last),
            _ => return,
        };
        event.prevent_default();
        let Some(next) = shown.replicas.get(row).and_then(|replica| nearest(replica, offset))
        else {
            return;
        };
        pick.emit(next);
        let document = gloo::utils::document();
        let cell = document.get_element_by_id(&id(next));
        if let Some(cell) = cell.and_then(|cell| cell.dyn_into::<HtmlElement>().ok()) {
            let _ = cell.focus();
        }
    })
}

/// The record of a row that is nearest to an offset.
fn nearest(replica: &ReplicaLog, offset: Offset) -> Option<Pick> {
    let cells = replica.cells.iter().map(|cell| (cell.entry.offset, false));
    let ghosts = replica.ghosts.iter().map(|ghost| (ghost.entry.offset, true));
    let nearest = cells.chain(ghosts).min_by_key(|(at, ghost)| (at.abs_diff(offset), *ghost));
    nearest.map(|(offset, ghost)| Pick { broker: replica.broker, offset, ghost })
}

/// Where the records of each leader epoch begin, above the cells; the leader's if there is one.
fn epochs(lang: Lang, shown: &PartitionLogs) -> Html {
    let leads = shown.replicas.iter().find(|replica| replica.role == Role::Leader);
    let of = |offset: Offset| {
        let all = leads.into_iter().chain(&shown.replicas);
        let mut cells = all.filter_map(|replica| cell_at(replica, offset));
        cells.find_map(|cell| cell.entry.epoch)
    };
    let mut runs: Vec<(Option<i32>, u64)> = Vec::new();
    for offset in shown.from..shown.to {
        let epoch = of(offset);
        match runs.last_mut() {
            Some((last, count)) if *last == epoch => *count += 1,
            _ => runs.push((epoch, 1)),
        }
    }
    if runs.iter().all(|(epoch, _)| epoch.is_none()) {
        return Html::default();
    }
    let heads = runs.iter().map(|(epoch, count)| {
        let text = match epoch {
            // A narrow run has room for the number only.
            Some(epoch) if *count < 3 => format!("e{epoch}"),
            Some(epoch) => lang.fill(k::LOGS_EPOCH_RUN, &[("n", epoch)]),
            None => String::new(),
        };
        html! { <th colspan={count.to_string()} class={tint(*epoch)}>{text}</th> }
    });
    html! { <thead><tr><td class="who"></td>{for heads}<td></td></tr></thead> }
}

fn tint(epoch: Option<i32>) -> String {
    epoch.map_or_else(|| "ep0".to_owned(), |epoch| format!("ep{}", epoch.rem_euclid(TINTS)))
}

fn cell_at(replica: &ReplicaLog, offset: Offset) -> Option<&Cell> {
    let first = replica.cells.first()?.entry.offset;
    replica.cells.get(usize::try_from(offset.checked_sub(first)?).ok()?)
}

fn row(
    lang: Lang,
    shown: &PartitionLogs,
    replica: &ReplicaLog,
    hands: &Hands,
    stop: Option<Pick>,
) -> Html {
    // One place more, for the marks at the end.
    let places = (shown.from..=shown.to).map(|offset| {
        let ends = replica.log;
        let here = |at: Option<Offset>| at == Some(offset);
        let class = classes!(
            here(ends.map(|ends| ends.high_watermark)).then_some("hw"),
            here(ends.map(|ends| ends.end)).then_some("leo"),
        );
        let within = offset < shown.to;
        let cell = cell_at(replica, offset).filter(|_| within);
        let ghost = replica.ghosts.iter().find(|ghost| ghost.entry.offset == offset);
        html! {
            <td {class}>
                if let Some(cell) = cell { {record_cell(lang, replica, cell, hands, stop)} }
                if let Some(ghost) = ghost { {ghost_cell(lang, replica, ghost, hands, stop)} }
                if here(ends.map(|ends| ends.end)) && ghost.is_none() {
                    <span class="leo-mark">{lang.t(k::LOGS_LEO)}</span>
                }
            </td>
        }
    });
    let class = classes!(
        match replica.role {
            Role::Leader => "lead",
            Role::InSync => "fol",
            Role::OutOfSync => "out",
            Role::New => "fresh",
        },
        replica.offline.then_some("off"),
    );
    html! {
        <tr {class}>
            {side(lang, replica)}
            {for places}
        </tr>
    }
}

/// Who it is, what it is, and how far its log goes.
fn side(lang: Lang, replica: &ReplicaLog) -> Html {
    let role = match (replica.offline, replica.role) {
        (true, Role::Leader) => k::ROLE_OFFLINE_LEADER,
        (true, Role::InSync) => k::ROLE_OFFLINE_ISR,
        (true, _) => k::ROLE_OFFLINE,
        (_, Role::Leader) => k::ROLE_LEADER,
        (_, Role::InSync) => k::ROLE_IN_SYNC,
        _ => k::ROLE_OUT,
    };
    let who = lang.fill(k::WHO_BROKER, &[("id", &replica.broker)]);
    html! {
        <th scope="row" class="who" data-testid={format!("log-row-{}", replica.broker)}>
            <b>{who}</b>{" "}
            <span class="role">
                if replica.role == Role::Leader { {"★ "} }{lang.t(role)}
            </span>
            <span class="ends mono">
                <span class="folder">{replica.folder.to_string()}{" · "}</span>
                {match replica.log {
                    None => lang.t(k::LOGS_EMPTY_LOG).to_string(),
                    Some(ends) => format!(
                        "{}\u{a0}{} · {}\u{a0}{}", lang.t(k::LOGS_HW), ends.high_watermark,
                        lang.t(k::LOGS_LEO), ends.end,
                    ),
                }}
            </span>
        </th>
    }
}

fn record_cell(
    lang: Lang,
    replica: &ReplicaLog,
    cell: &Cell,
    hands: &Hands,
    stop: Option<Pick>,
) -> Html {
    let pick = Pick { broker: replica.broker, offset: cell.entry.offset, ghost: false };
    let class = classes!(
        "rec",
        tint(cell.entry.epoch),
        (!cell.committed).then_some("open"),
        (cell.against != Against::Same).then_some("differs"),
    );
    let text = match cell.against {
        Against::Same => cell.entry.offset.to_string(),
        _ => format!("≠{}", cell.entry.offset),
    };
    button(lang, pick, class, text, hands, stop)
}

fn ghost_cell(
    lang: Lang,
    replica: &ReplicaLog,
    ghost: &Ghost,
    hands: &Hands,
    stop: Option<Pick>,
) -> Html {
    let pick = Pick { broker: replica.broker, offset: ghost.entry.offset, ghost: true };
    let class = classes!("rec", "cut", ghost.lost.then_some("lost"));
    button(lang, pick, class, ghost.entry.offset.to_string(), hands, stop)
}

fn button(
    lang: Lang,
    pick: Pick,
    class: Classes,
    text: String,
    hands: &Hands,
    stop: Option<Pick>,
) -> Html {
    let who = lang.fill(k::WHO_BROKER, &[("id", &pick.broker)]);
    let label = lang.fill(k::LOGS_CELL, &[("who", &who), ("offset", &pick.offset)]);
    let onclick = hands.pick.reform(move |_: MouseEvent| pick);
    let onmouseenter = {
        let hover = hands.hover.clone();
        Callback::from(move |_: MouseEvent| hover.set(Some(pick)))
    };
    let onfocus = hands.pick.reform(move |_: FocusEvent| pick);
    let tabindex = if stop == Some(pick) { "0" } else { "-1" };
    html! {
        <button type="button" id={id(pick)} {class} {tabindex} aria-label={label} {onclick}
            {onfocus} {onmouseenter} aria-pressed={(hands.picked == Some(pick)).to_string()}>
            {text}
        </button>
    }
}
