//! Why? Every step and its cause, back to the command that started it.

mod index;

use std::collections::BTreeSet;

use kafkascope_core::lab::{Lab, Origin};
use kafkascope_core::view;
use kafkascope_core::world::{Event, Row, ZkEvent};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use self::index::{Entry, Index, entries};
use crate::app::{use_action, use_ctx};
use crate::engine::{use_flow, use_world};
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Menu, Selected, StoryFilter, UiAction};
use crate::widgets::{Icon, Item, MenuButton};
use crate::words::{self, Giver};

/// Steps in the list at a time; scrolling to an end brings more.
const WINDOW: usize = 60;

#[derive(PartialEq, Properties)]
pub struct StoryProps {
    pub filter: StoryFilter,
    pub selected: Option<Selected>,
    pub menu: Option<Menu>,
}

/// A line, ready to be drawn.
#[derive(Clone, PartialEq)]
enum Line {
    Row(Box<RowLine>),
    Fold { from: u32, text: String, open: bool },
}

#[derive(Clone, PartialEq)]
struct RowLine {
    row: u32,
    at: String,
    icon: &'static str,
    what: Html,
    /// What is odd about it, and where the real one was seen to do it.
    note: Option<String>,
    /// The step that led to it, unless that is the line above.
    cause: Option<(u32, String)>,
    class: Classes,
}

#[component]
pub fn Story(props: &StoryProps) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let flow = use_flow();
    let index = use_mut_ref(Index::default);
    let shift = use_state(|| 0_usize);
    let unfolded = use_state(BTreeSet::<u32>::new);
    let body = use_node_ref();
    let (lines, now, note, hidden) = engine.read(|lab| {
        let mut index = index.borrow_mut();
        index.update(lab, flow.run, flow.origin);
        lines(lang, lab, &index, props, *shift, &unfolded)
    });
    use_scroll(&body, now, *shift);
    let more = {
        let shift = shift.clone();
        Callback::from(move |_: MouseEvent| shift.set(*shift + WINDOW / 2))
    };
    let latest = {
        let shift = shift.clone();
        Callback::from(move |_: MouseEvent| shift.set(0))
    };
    let toggle = {
        let unfolded = unfolded.clone();
        Callback::from(move |from: u32| {
            let mut set = (*unfolded).clone();
            if !set.remove(&from) {
                set.insert(from);
            }
            unfolded.set(set);
        })
    };
    html! {
        <section class="panel story-panel" data-testid="story" aria-label={lang.t(k::STORY_TITLE)}>
            <Head filter={props.filter} open={props.menu == Some(Menu::StoryFilter)} />
            <div class="pbody" ref={body}>
                if let Some(note) = note {
                    <div class="fork-note"><Icon name="fork" small=true /><span>{note}</span></div>
                }
                if hidden > 0 {
                    <button type="button" class="btn quiet earlier" data-testid="story-earlier"
                        onclick={more}>{lang.fill(k::STORY_EARLIER, &[("n", &hidden)])}</button>
                }
                <ol class="story">
                    {for lines.into_iter().map(|line| match line {
                        Line::Row(line) => {
                            let key = line.row;
                            html! { <RowItem {key} line={*line} /> }
                        }
                        Line::Fold { from, text, open } => {
                            let toggle = toggle.clone();
                            let onclick = Callback::from(move |_: MouseEvent| toggle.emit(from));
                            html! {
                                <li class="fold" key={format!("f{from}")}>
                                    <button type="button" {onclick} aria-expanded={open.to_string()}
                                        data-testid={format!("story-fold-{from}")}>{text}</button>
                                </li>
                            }
                        }
                    })}
                </ol>
                if *shift > 0 {
                    <button type="button" class="btn quiet earlier" data-testid="story-latest"
                        onclick={latest}>{lang.t(k::STORY_LATEST)}</button>
                }
            </div>
        </section>
    }
}

#[derive(PartialEq, Properties)]
struct HeadProps {
    filter: StoryFilter,
    open: bool,
}

#[component]
fn Head(props: &HeadProps) -> Html {
    let lang = use_lang();
    let action = use_action();
    let name = |filter| match filter {
        StoryFilter::Steps => k::STORY_STEPS,
        StoryFilter::All => k::STORY_ALL,
    };
    let item = |id: &'static str, filter| Item {
        checked: Some(props.filter == filter),
        ..Item::new(id, lang.t(name(filter)), action(UiAction::FilterStory(filter)))
    };
    let items = vec![item("steps", StoryFilter::Steps), item("all", StoryFilter::All)];
    html! {
        <div class="phead">
            <Icon name="why" small=true />
            <h2>{lang.t(k::STORY_TITLE)}</h2>
            <span class="sub">{lang.t(k::STORY_SUB)}</span>
            <span class="grow" />
            <MenuButton testid="story-filter" class="btn quiet tight" open={props.open} {items}
                right=true toggle={action(UiAction::ToggleMenu(Menu::StoryFilter))}
                close={action(UiAction::CloseMenu)}>
                {lang.t(name(props.filter))}<Icon name="chevd" small=true />
            </MenuButton>
        </div>
    }
}

#[derive(PartialEq, Properties)]
struct RowItemProps {
    line: RowLine,
}

#[component]
fn RowItem(props: &RowItemProps) -> Html {
    let ctx = use_ctx();
    let lang = use_lang();
    let line = &props.line;
    let go = |row: u32| {
        let ctx = ctx.clone();
        Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            ctx.engine.seek_row(row);
            ctx.act(UiAction::Select(Selected::Row(row)));
        })
    };
    html! {
        <li class={classes!("row", line.class.clone())}
            data-testid={format!("story-row-{}", line.row)}
            onclick={go(line.row)}>
            <button type="button" class="time" onclick={go(line.row)}>{line.at.clone()}</button>
            <span class="mk"><Icon name={line.icon} small=true /></span>
            <div>
                {line.what.clone()}
                if let Some(note) = &line.note { <span class="seen">{note.clone()}</span> }
                if let Some((row, at)) = &line.cause {
                    <span class="bc">{lang.t(k::STORY_BECAUSE)}
                        <button type="button" class="link" onclick={go(*row)}
                            data-testid={format!("story-cause-{}", line.row)}>{at.clone()}</button>
                    </span>
                }
            </div>
        </li>
    }
}

/// Keeps the current step in sight while nobody looks elsewhere.
#[hook]
fn use_scroll(body: &NodeRef, now: Option<u32>, shift: usize) {
    use_effect_with((body.clone(), now, shift), |(body, _, shift)| {
        let Some(body) = body.cast::<HtmlElement>().filter(|_| *shift == 0) else { return };
        let current = body.query_selector(".row.now").ok().flatten();
        if let Some(row) = current.and_then(|row| row.dyn_into::<HtmlElement>().ok()) {
            let (top, height) = (row.offset_top() - body.offset_top(), row.offset_height());
            let (view, seen) = (body.client_height(), body.scroll_top());
            if top < seen || top + height + 40 > seen + view {
                body.set_scroll_top(top - view + height + 48);
            }
        }
    });
}

type Lines = (Vec<Line>, Option<u32>, Option<Html>, usize);

fn lines(
    lang: Lang,
    lab: &Lab,
    index: &Index,
    props: &StoryProps,
    shift: usize,
    unfolded: &BTreeSet<u32>,
) -> Lines {
    let rows = lab.all_rows();
    let done = u32::try_from(lab.rows().len()).unwrap_or(u32::MAX);
    let now = lab.rows().iter().rposition(|row| !row.detail).and_then(|n| u32::try_from(n).ok());
    let center = match &props.selected {
        Some(Selected::Row(row)) if *row >= done => index.place(*row),
        _ => now.map_or(0, |now| index.place(now)),
    };
    let to = (center + 12).min(index.steps.len()).saturating_sub(shift).max(1);
    let from = to.saturating_sub(WINDOW);
    let all = props.filter == StoryFilter::All;
    let entries = entries(index, rows, from, to, &|fold| all != unfolded.contains(&fold));
    let chain: BTreeSet<u32> = match &props.selected {
        Some(Selected::Row(row)) => words::chain(rows, *row).into_iter().collect(),
        _ => BTreeSet::new(),
    };
    let look = Look { lang, lab, index, chain: &chain, selected: &props.selected, done, now };
    let mut last = None;
    let lines = entries.into_iter().map(|entry| match entry {
        Entry::Row(row) => {
            let line = look.row(row, last);
            last = Some(row);
            Line::Row(Box::new(line))
        }
        Entry::Fold(from, to) => {
            let open = all != unfolded.contains(&from);
            Line::Fold { from, text: folded(lang, &rows[from as usize..to as usize]), open }
        }
    });
    let lines = lines.collect();
    (lines, now, fork_note(lang, lab), from)
}

fn fork_note(lang: Lang, lab: &Lab) -> Option<Html> {
    let Origin::Fork { from, at } = lab.branch().origin else { return None };
    let values: [(_, &dyn std::fmt::Display); 3] = [
        ("at", &at),
        ("old", &crate::transport::branch_name(lang, from.0)),
        ("new", &crate::transport::branch_name(lang, lab.current_branch().0)),
    ];
    Some(lang.rich(k::STORY_FORK, &values))
}

/// "… 12: reads, pings".
fn folded(lang: Lang, rows: &[Row]) -> String {
    let (mut reads, mut pings, mut others) = (0, 0, 0);
    for row in rows {
        match &row.event {
            Event::Zk(ZkEvent::Read { .. } | ZkEvent::ReadFailed { .. }) => reads += 1,
            Event::Zk(ZkEvent::Pinged { .. }) => pings += 1,
            _ => others += 1,
        }
    }
    let parts = [(reads, k::FOLD_READS), (pings, k::FOLD_PINGS), (others, k::FOLD_OTHERS)];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, key)| lang.fill(*key, &[("n", count)]))
        .collect();
    format!("… {}", parts.join(&lang.t(k::WHO_JOINT)))
}

struct Look<'a> {
    lang: Lang,
    lab: &'a Lab,
    index: &'a Index,
    chain: &'a BTreeSet<u32>,
    selected: &'a Option<Selected>,
    done: u32,
    now: Option<u32>,
}

impl Look<'_> {
    fn row(&self, number: u32, above: Option<u32>) -> RowLine {
        let rows = self.lab.all_rows();
        let row = &rows[number as usize];
        let giver = self.index.giver(number);
        let scene = words::Scene { procs: &self.lab.world().procs, giver, inner: false };
        let selected = *self.selected == Some(Selected::Row(number));
        let in_chain = self.chain.contains(&number);
        let class = classes!(
            (self.now == Some(number)).then_some("now"),
            selected.then_some("sel"),
            (in_chain && !selected).then_some("chain"),
            (!self.chain.is_empty() && !in_chain).then_some("dim"),
            (number >= self.done).then_some("later"),
            (giver == Giver::You).then_some("act"),
            row.detail.then_some("detail"),
            tone(&row.event),
        );
        RowLine {
            row: number,
            at: row.at.to_string(),
            icon: words::icon(&row.event),
            what: words::sentence(self.lang, row, scene).html(self.lang),
            note: view::release(self.lab)
                .and_then(|release| words::seen::note(self.lang, release, rows, number as usize)),
            cause: self.cause(number, above),
            class,
        }
    }

    /// The nearest step before it in its chain, unless it stands right above.
    fn cause(&self, number: u32, above: Option<u32>) -> Option<(u32, String)> {
        let rows = self.lab.all_rows();
        let chain = words::chain(rows, number);
        let cause = chain.into_iter().skip(1).find(|at| !rows[*at as usize].detail)?;
        (above != Some(cause)).then(|| (cause, rows[cause as usize].at.to_string()))
    }
}

fn tone(event: &Event) -> Option<&'static str> {
    use kafkascope_core::world::event::Severity;
    match event {
        Event::Breach(breach) => Some(match breach.severity {
            Severity::Violation => "breach",
            Severity::Found => "found",
        }),
        Event::Killed
        | Event::Paused { .. }
        | Event::LinkCut
        | Event::Refused(_)
        | Event::Zk(ZkEvent::SessionExpired { .. } | ZkEvent::ServerStopped) => Some("fault"),
        _ => None,
    }
}
