//! The tree: rows of what is open, only those on screen in the document.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::zk::op::{Path, Zxid};
use kafkascope_core::zk::path;
use kafkascope_core::zk::tree::{NodeKind, Tree as Nodes, Znode};
use web_sys::HtmlElement;
use yew::prelude::*;

use super::flat::{Flat, Shape, flatten};
use super::row::{RowView, TreeRow, id_of, view};
use super::step::{self, Step};
use super::{ZnodesAction, ZnodesUi};
use crate::app::{Ctx, use_ctx};
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{DockTab, Selected, UiAction};
use crate::widgets::Icon;

/// Shorter lists are put into the document whole.
const FEW: usize = 150;
/// Rows beyond the edges of what is seen.
const MARGIN: usize = 12;

#[derive(PartialEq, Properties)]
pub struct TreeProps {
    pub ui: ZnodesUi,
    pub selected: Option<Selected>,
}

/// What the list of rows depends on.
#[derive(Clone, PartialEq)]
struct Mark {
    run: u32,
    branch: BranchId,
    zxid: Zxid,
    after: u64,
    folds: std::collections::BTreeMap<Arc<str>, bool>,
}

/// The list as it was made last, and the counts in its head.
#[derive(Default)]
struct Made {
    mark: Option<Mark>,
    rows: Rc<Vec<Flat>>,
    step: Step,
    before: Option<Nodes>,
    /// The first row that this step made, changed or took away.
    changed: Option<Path>,
    nodes: u32,
    ephemeral: u32,
}

fn refresh(made: &mut Made, lab: &Lab, run: u32, playing: bool, ui: &ZnodesUi) {
    let server = &lab.world().server;
    let (branch, zxid) = (lab.current_branch(), server.last_zxid());
    made.step = step::of(lab);
    let after = made.step.after;
    let mark = Mark { run, branch, zxid, after, folds: ui.folds.clone() };
    if made.mark.as_ref() == Some(&mark) {
        return;
    }
    let tree = server.tree();
    let gone: BTreeSet<Path> = made.step.gone(tree);
    let wanted = made.step.data_set || !gone.is_empty();
    made.before = wanted.then(|| made.step.tree_before(lab, playing)).flatten();
    let watched = |at: &str| server.watch_count(at) > 0;
    let shape = Shape { tree, folds: &ui.folds, gone: &gone, watched: &watched };
    made.rows = Rc::new(flatten(&shape));
    let touched = |row: &&Flat| {
        let node = tree.get(&row.path).filter(|_| !row.gone);
        row.gone || node.is_some_and(|node| made.step.change(&row.path, node).is_some())
    };
    made.changed = made.rows.iter().find(touched).map(|row| row.path.clone());
    made.nodes = tree.count();
    made.ephemeral = ephemerals(tree.root());
    made.mark = Some(mark);
}

fn ephemerals(node: &Znode) -> u32 {
    node.children().fold(0, |sum, (_, child)| {
        sum + u32::from(matches!(child.kind, NodeKind::Ephemeral(_))) + ephemerals(child)
    })
}

/// Which rows are on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    first: usize,
    last: usize,
    height: i32,
}

fn seen(body: &HtmlElement, count: usize) -> Window {
    let query = body.query_selector(".zn").ok().flatten();
    let height = query.map_or(22, |row| row.client_height()).max(16);
    let row = |pixels: i32| usize::try_from(pixels.max(0) / height).unwrap_or(0);
    let first = row(body.scroll_top()).saturating_sub(MARGIN);
    let last = (row(body.scroll_top() + body.client_height()) + MARGIN).min(count);
    Window { first: first - first % 4, last, height }
}

#[component]
pub fn Tree(props: &TreeProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let made = use_mut_ref(Made::default);
    let body = use_node_ref();
    let window = use_state(Window::default);
    let flow = engine.flow();
    engine.read(|lab| {
        refresh(&mut made.borrow_mut(), lab, flow.run, flow.playing, &props.ui);
    });
    let rows = made.borrow().rows.clone();
    let selected = match &props.selected {
        Some(Selected::Znode(path)) => Some(path.clone()),
        _ => None,
    };
    use_reveal(&ctx, &body, &rows, selected.clone());
    use_follow(&body, &rows, (made.borrow().step.after, made.borrow().changed.clone()));
    let update = {
        let (body, window, count) = (body.clone(), window.clone(), rows.len());
        Callback::from(move |()| {
            if let Some(body) = body.cast::<HtmlElement>() {
                let now = seen(&body, count);
                if count > FEW && now != *window {
                    window.set(now);
                }
            }
        })
    };
    {
        let update = update.clone();
        use_effect_with(rows.len(), move |_| update.emit(()));
    }
    let range = if rows.len() <= FEW {
        0..rows.len()
    } else {
        let last = window.last.clamp(MARGIN * 4, rows.len());
        window.first.min(last)..last
    };
    let views: Vec<Rc<RowView>> = engine.read(|lab| {
        let made = made.borrow();
        let row = |flat| Rc::new(view(lab, lang, &made.step, made.before.as_ref(), flat));
        rows[range.clone()].iter().map(row).collect()
    });
    let onkeydown = on_key(&ctx, &rows, &props.ui);
    let focus = props.ui.focus.clone();
    let active = focus.clone().filter(|path| rows.iter().any(|row| row.path == *path));
    html! {
        <section data-testid="znodes"
            class={classes!("panel", "znodes", props.ui.large.then_some("large"))}
            aria-label={lang.t(k::ZNODES_TITLE)}>
            {head(&ctx, lang, &made.borrow(), props.ui.large)}
            <div class="pbody" ref={body} onscroll={update.reform(|_: Event| ())}>
                <div class="tree" role="tree" tabindex="0" {onkeydown}
                    aria-label={lang.t(k::ZNODES_TITLE)} data-testid="znode-tree"
                    aria-activedescendant={active.as_deref().map(id_of)}
                    style={padding(&range, rows.len(), window.height)}>
                    <Rows {views} {lang} {selected} {focus} />
                    if rows.is_empty() { <p class="empty">{lang.t(k::TREE_EMPTY)}</p> }
                </div>
            </div>
        </section>
    }
}

/// Room for the rows that are not in the document.
fn padding(range: &std::ops::Range<usize>, count: usize, height: i32) -> Option<String> {
    let room = |rows: usize| i64::try_from(rows).unwrap_or(0) * i64::from(height);
    (count > FEW).then(|| {
        let (above, below) = (room(range.start), room(count - range.end));
        format!("padding-top:{above}px;padding-bottom:{}px", below + 8)
    })
}

fn head(ctx: &Ctx, lang: Lang, made: &Made, large: bool) -> Html {
    let act = |action: UiAction| {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(action.clone()))
    };
    let counts = lang.fill(k::TREE_COUNTS, &[("n", &made.nodes), ("eph", &made.ephemeral)]);
    let label = lang.t(if large { k::TREE_SMALL } else { k::TREE_LARGE });
    html! {
        <div class="phead">
            <Icon name="znode" small=true />
            <h2>{lang.t(k::ZNODES_TITLE)}</h2>
            <span class="sub" data-testid="znode-counts">{counts}</span>
            <span class="grow" />
            <button type="button" class="btn quiet icon" data-testid="znodes-console"
                onclick={act(UiAction::ShowDock(DockTab::Console))}
                aria-label={lang.t(k::TREE_CONSOLE)} title={lang.t(k::TREE_CONSOLE)}>
                <Icon name="console" small=true />
            </button>
            <button type="button" class="btn quiet icon large" data-testid="znodes-large"
                aria-pressed={large.to_string()} aria-label={label.clone()} title={label}
                onclick={act(UiAction::Znodes(ZnodesAction::ToggleLarge))}>
                <Icon name="compare" small=true />
            </button>
        </div>
    }
}

/// What is selected elsewhere is brought into view.
#[hook]
fn use_reveal(ctx: &Ctx, body: &NodeRef, rows: &Rc<Vec<Flat>>, selected: Option<Path>) {
    let (ctx, body, rows) = (ctx.clone(), body.clone(), rows.clone());
    let there = selected.as_ref().is_some_and(|path| rows.iter().any(|r| r.path == *path));
    use_effect_with((selected, there), move |(selected, there)| {
        let Some(selected) = selected else { return };
        if *there {
            scroll_to(&body, &rows, selected);
        } else {
            ctx.act(UiAction::Znodes(ZnodesAction::Reveal(selected.clone())));
        }
    });
}

/// What this step changed is brought into view, unless somebody is busy in the tree.
#[hook]
fn use_follow(body: &NodeRef, rows: &Rc<Vec<Flat>>, changed: (u64, Option<Path>)) {
    let (body, rows) = (body.clone(), rows.clone());
    use_effect_with(changed, move |(_, changed)| {
        let Some(element) = body.cast::<HtmlElement>() else { return };
        let busy = element.matches(":hover, :focus-within").unwrap_or(false);
        if let Some(path) = changed.as_ref().filter(|_| !busy) {
            scroll_to(&body, &rows, path);
        }
    });
}

fn scroll_to(body: &NodeRef, rows: &[Flat], path: &str) {
    let Some(body) = body.cast::<HtmlElement>() else { return };
    let Some(index) = rows.iter().position(|row| &*row.path == path) else { return };
    let height = seen(&body, rows.len()).height;
    let top = i32::try_from(index).unwrap_or(0).saturating_mul(height);
    let (from, to) = (body.scroll_top(), body.scroll_top() + body.client_height());
    if top < from {
        body.set_scroll_top(top);
    } else if top + 2 * height > to {
        body.set_scroll_top(top + 2 * height - body.client_height());
    }
}

#[derive(PartialEq, Properties)]
struct RowsProps {
    views: Vec<Rc<RowView>>,
    lang: Lang,
    selected: Option<Path>,
    focus: Option<Path>,
}

#[component]
fn Rows(props: &RowsProps) -> Html {
    let ctx = use_ctx();
    let choose = use_callback(ctx.clone(), |path: Path, ctx| choose(ctx, &path));
    let fold = use_callback(ctx, |(path, open): (Path, bool), ctx| {
        ctx.act(UiAction::Znodes(ZnodesAction::Fold(path, open)));
    });
    let row = |view: &Rc<RowView>| {
        let path = &view.flat.path;
        // What is gone may stand beside what is there again.
        let key = format!("{path}{}", if view.flat.gone { "†" } else { "" });
        html! {
            <TreeRow {key} view={view.clone()} lang={props.lang} choose={choose.clone()}
                fold={fold.clone()} selected={props.selected.as_ref() == Some(path)}
                focused={props.focus.as_ref() == Some(path)} />
        }
    };
    props.views.iter().map(row).collect()
}

fn choose(ctx: &Ctx, path: &Path) {
    ctx.act(UiAction::Znodes(ZnodesAction::Focus(path.clone())));
    ctx.act(UiAction::Select(Selected::Znode(path.clone())));
}

/// Arrow keys as in every tree: up and down, right opens, left closes or goes to the folder.
fn on_key(ctx: &Ctx, rows: &Rc<Vec<Flat>>, ui: &ZnodesUi) -> Callback<KeyboardEvent> {
    let (ctx, rows, focus) = (ctx.clone(), rows.clone(), ui.focus.clone());
    Callback::from(move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.shift_key() {
            return;
        }
        let at = focus.as_ref().and_then(|path| rows.iter().position(|row| row.path == *path));
        let Some(act) = key_action(&event.key(), &rows, at) else { return };
        event.prevent_default();
        match act {
            KeyAction::Go(index) => {
                if let Some(row) = rows.get(index) {
                    ctx.act(UiAction::Znodes(ZnodesAction::Focus(row.path.clone())));
                    bring(&event, &row.path, index);
                }
            }
            KeyAction::Fold(index, open) => {
                if let Some(row) = rows.get(index) {
                    ctx.act(UiAction::Znodes(ZnodesAction::Fold(row.path.clone(), open)));
                }
            }
            KeyAction::Choose(index) => {
                if let Some(row) = rows.get(index) {
                    choose(&ctx, &row.path);
                }
            }
        }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyAction {
    Go(usize),
    Fold(usize, bool),
    Choose(usize),
}

fn key_action(key: &str, rows: &[Flat], at: Option<usize>) -> Option<KeyAction> {
    let last = rows.len().checked_sub(1)?;
    let Some(at) = at else {
        return match key {
            "ArrowDown" | "Home" | "ArrowRight" => Some(KeyAction::Go(0)),
            "ArrowUp" | "End" => Some(KeyAction::Go(last)),
            _ => None,
        };
    };
    let row = &rows[at];
    Some(match (key, row.open) {
        ("ArrowDown", _) => KeyAction::Go((at + 1).min(last)),
        ("ArrowUp", _) => KeyAction::Go(at.saturating_sub(1)),
        ("Home", _) => KeyAction::Go(0),
        ("End", _) => KeyAction::Go(last),
        ("ArrowRight", Some(false)) => KeyAction::Fold(at, true),
        ("ArrowRight", Some(true)) => KeyAction::Go((at + 1).min(last)),
        ("ArrowLeft", Some(true)) => KeyAction::Fold(at, false),
        ("ArrowLeft", _) => {
            let above = |other: &&Flat| path_lies_in(&row.path, &other.path);
            let parent = rows[..at].iter().rev().find(above)?;
            KeyAction::Go(rows[..at].iter().rposition(|other| other.path == parent.path)?)
        }
        ("ArrowRight", None) => KeyAction::Go(at),
        ("Enter" | " ", _) => KeyAction::Choose(at),
        _ => return None,
    })
}

fn path_lies_in(inner: &str, folder: &str) -> bool {
    let mut at = inner;
    while let Some(parent) = path::parent(at).filter(|parent| !parent.is_empty()) {
        if parent == folder {
            return true;
        }
        at = parent;
    }
    false
}

/// The row that the arrows come to stays on screen, in the document or not yet.
fn bring(event: &KeyboardEvent, path: &str, index: usize) {
    let document = gloo::utils::document();
    if let Some(row) = document.get_element_by_id(&id_of(path)) {
        row.scroll_into_view_with_scroll_into_view_options(&nearest());
        return;
    }
    let tree = event.current_target().and_then(|target| {
        use wasm_bindgen::JsCast;
        target.dyn_into::<HtmlElement>().ok()?.parent_element()
    });
    if let Some(body) = tree {
        body.set_scroll_top(i32::try_from(index).unwrap_or(0).saturating_mul(22));
    }
}

fn nearest() -> web_sys::ScrollIntoViewOptions {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, open: Option<bool>) -> Flat {
        let (name, prefix) = ("x".into(), "".into());
        Flat { path: path.into(), prefix, name, depth: 0, children: 0, open, gone: false }
    }

    #[test]
    fn arrows_move_open_and_close() {
        let rows = [row("/a", None), row("/b/c", Some(true)), row("/b/c/d", None)];
        assert_eq!(key_action("ArrowDown", &rows, None), Some(KeyAction::Go(0)));
        assert_eq!(key_action("ArrowDown", &rows, Some(2)), Some(KeyAction::Go(2)));
        assert_eq!(key_action("ArrowLeft", &rows, Some(2)), Some(KeyAction::Go(1)));
        assert_eq!(key_action("ArrowLeft", &rows, Some(1)), Some(KeyAction::Fold(1, false)));
        assert_eq!(key_action("Enter", &rows, Some(0)), Some(KeyAction::Choose(0)));
        assert_eq!(key_action("x", &rows, Some(0)), None);
        assert_eq!(key_action("ArrowDown", &[], None), None);
    }
}
