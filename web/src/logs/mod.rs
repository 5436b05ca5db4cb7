//! A partition's logs side by side, and what of them outlives its brokers.

mod grid;
mod loss;
mod record;

use std::cell::RefCell;
use std::rc::Rc;

use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::data::Offset;
use kafkascope_core::view::logs::{Memory, Wanted};
use kafkascope_core::view::{self, LogsView, PartitionLogs};
use yew::prelude::*;

use crate::app::{Ctx, use_ctx};
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Dialog, Selected, UiAction};
use crate::widgets::Icon;
use crate::words;

/// Offsets side by side.
const WINDOW: u32 = 16;

/// A record that the person points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    pub broker: u32,
    pub offset: Offset,
    /// One that was cut off.
    pub ghost: bool,
}

/// What the panel remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogsUi {
    /// `None`: what is selected on the stage, or the first with records.
    tp: Option<TopicPartition>,
    /// Where the window ends; `None`: at the newest.
    to: Option<Offset>,
    pick: Option<Pick>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LogsAction {
    Show(TopicPartition),
    Page(Option<Offset>),
    Pick(Pick),
}

impl LogsUi {
    pub fn apply(&mut self, action: LogsAction) {
        match action {
            LogsAction::Show(tp) => *self = LogsUi { tp: Some(tp), ..LogsUi::default() },
            LogsAction::Page(to) => self.to = to,
            LogsAction::Pick(pick) => self.pick = Some(pick),
        }
    }
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub ui: LogsUi,
    pub selected: Option<Selected>,
}

#[component]
pub fn Logs(props: &Props) -> Html {
    let lang = use_lang();
    let (engine, ctx) = (use_world(), use_ctx());
    let memory: Rc<RefCell<Memory>> = use_mut_ref(Memory::default);
    let selected = match &props.selected {
        Some(Selected::Partition(topic, number)) => {
            Some(TopicPartition { topic: topic.clone(), partition: *number })
        }
        _ => None,
    };
    let tp = props.ui.tp.clone().or(selected);
    let wanted = Wanted { tp, to: props.ui.to, window: WINDOW };
    let seen = engine.read(|lab| view::logs(lab, &wanted, &mut memory.borrow_mut()));
    let Some(shown) = seen.shown.clone() else { return empty(lang, &ctx) };
    html! {
        <section class="logs" data-testid="logs" aria-label={lang.t(k::DOCK_LOGS)}>
            {list(lang, &ctx, &seen, &shown.tp)}
            <div class="logs-main">
                {head(lang, &ctx, &shown, props.ui.to.is_some())}
                <grid::Grid shown={shown.clone()} pick={props.ui.pick} />
                {legend(lang, &shown)}
                <loss::WillILose tp={shown.tp} />
            </div>
        </section>
    }
}

/// How to get records.
fn empty(lang: Lang, ctx: &Ctx) -> Html {
    let add = {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::OpenDialog(Dialog::AddProducer)))
    };
    html! {
        <section class="logs empty" data-testid="logs" aria-label={lang.t(k::DOCK_LOGS)}>
            <p class="empty">{lang.t(k::LOGS_NONE)}</p>
            <button type="button" class="btn" onclick={add} data-testid="logs-add-producer">
                <Icon name="plus" small=true />{lang.t(k::ADD_PRODUCER)}
            </button>
        </section>
    }
}

fn list(lang: Lang, ctx: &Ctx, seen: &LogsView, shown: &TopicPartition) -> Html {
    let lines = seen.partitions.iter().map(|line| {
        let (ctx, tp) = (ctx.clone(), line.tp.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            ctx.act(UiAction::Logs(LogsAction::Show(tp.clone())));
        });
        let name = format!("{}-{}", line.tp.topic, line.tp.partition);
        let low = line.in_sync < line.replicas;
        let leader = match line.leader {
            Some(id) => format!("★ {id}"),
            None => lang.t(k::LOGS_NOBODY).to_string(),
        };
        let class = classes!("logs-line", line.leader.is_none().then_some("bad"));
        html! {
            <button type="button" {class} aria-pressed={(line.tp == *shown).to_string()}
                data-testid={format!("logs-partition-{name}")} {onclick}>
                <b>{name}</b>
                <span class="dim">{leader}</span>
                <span class={classes!("isr", low.then_some("low"))}>
                    {format!("ISR {}/{}", line.in_sync, line.replicas)}
                </span>
                <span class="end">{line.end.to_string()}</span>
            </button>
        }
    });
    html! {
        <nav class="logs-list" aria-label={lang.t(k::LOGS_PARTITIONS)} data-testid="logs-list">
            {for lines}
            if seen.more > 0 {
                <p class="dim">{lang.fill(k::LOGS_MORE, &[("n", &seen.more)])}</p>
            }
        </nav>
    }
}

/// What is shown, and the way to earlier offsets.
fn head(lang: Lang, ctx: &Ctx, shown: &PartitionLogs, paged: bool) -> Html {
    let page = |to: Option<Offset>| {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::Logs(LogsAction::Page(to))))
    };
    let half = Offset::from(WINDOW / 2);
    let earlier = page(Some(shown.to.saturating_sub(half)));
    let later = shown.to + half;
    let later = page((later < shown.end).then_some(later));
    let leader = match shown.leader {
        Some(id) => format!("leader {id}"),
        None => lang.t(k::LOGS_NOBODY).to_string(),
    };
    let last = shown.to.saturating_sub(1);
    let values: [(_, &dyn std::fmt::Display); 3] =
        [("from", &shown.from), ("to", &last), ("end", &shown.end.saturating_sub(1))];
    html! {
        <div class="logs-head">
            <h3>{format!("{}-{}", shown.tp.topic, shown.tp.partition)}</h3>
            <span class={classes!(shown.leader.is_none().then_some("bad"))}>{leader}</span>
            <span class="dim">{lang.fill(k::LOGS_EPOCH, &[("n", &shown.leader_epoch)])}</span>
            <span class="dim">{format!("ISR {}", words::ids(&shown.isr))}</span>
            <button type="button" class="link" onclick={Callback::from(|_: MouseEvent| down())}
                data-testid="logs-to-loss">{lang.t(k::LOSS_TITLE)}</button>
            <span class="logs-page">
                <span class="dim" data-testid="logs-window">
                    {lang.fill(k::LOGS_WINDOW, &values)}
                </span>
                <button type="button" class="btn icon" onclick={earlier}
                    data-testid="logs-earlier" disabled={shown.from <= shown.first}
                    aria-label={lang.t(k::LOGS_EARLIER)} title={lang.t(k::LOGS_EARLIER)}>
                    <span class="turned"><Icon name="chev" small=true /></span>
                </button>
                <button type="button" class="btn icon" onclick={later}
                    data-testid="logs-later" disabled={shown.to >= shown.end}
                    aria-label={lang.t(k::LOGS_LATER)} title={lang.t(k::LOGS_LATER)}>
                    <Icon name="chev" small=true />
                </button>
                <button type="button" class="btn" onclick={page(None)} disabled={!paged}
                    data-testid="logs-newest">{lang.t(k::LOGS_NEWEST)}</button>
            </span>
        </div>
    }
}

/// To the question below.
fn down() {
    if let Some(below) = gloo::utils::document().get_element_by_id("loss") {
        below.scroll_into_view();
    }
}

fn legend(lang: Lang, shown: &PartitionLogs) -> Html {
    let cells = || shown.replicas.iter().flat_map(|replica| &replica.cells);
    let other = |cell: &view::logs::Cell| cell.against != view::logs::Against::Same;
    let lost = shown.replicas.iter().any(|replica| !replica.ghosts.is_empty());
    html! {
        <ul class="logs-legend">
            <li><i class="rec"></i>{lang.t(k::LOGS_LEGEND_COMMITTED)}</li>
            <li><i class="rec open"></i>{lang.t(k::LOGS_LEGEND_OPEN)}</li>
            <li><i class="bar"></i>{lang.t(k::LOGS_LEGEND_HW)}</li>
            if cells().any(other) {
                <li><i class="rec differs">{"≠"}</i>{lang.t(k::LOGS_LEGEND_DIFFERS)}</li>
            }
            if lost {
                <li><i class="rec cut">{"0"}</i>{lang.t(k::LOGS_LEGEND_GHOST)}</li>
            }
        </ul>
    }
}
