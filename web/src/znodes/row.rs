//! One row of the tree.

use std::rc::Rc;

use kafkascope_core::lab::Lab;
use kafkascope_core::zk::op::Path;
use kafkascope_core::zk::tree::{NodeKind, Tree, Znode};
use yew::prelude::*;

use super::data;
use super::flat::Flat;
use super::step::{Change, Step};
use crate::i18n::{Lang, k};
use crate::widgets::Icon;
use crate::words;

/// Old and new data of no more letters are shown side by side.
const SHORT: usize = 10;

/// All that a row shows.
#[derive(Clone, PartialEq)]
pub struct RowView {
    pub flat: Flat,
    kind: NodeKind,
    owner: Option<String>,
    owner_dead: bool,
    watchers: u32,
    fired: bool,
    data: String,
    change: Option<Change>,
    /// Old and new data, if both are short.
    was: Option<(String, String)>,
    /// What changed below a closed folder.
    inside: u32,
}

pub fn view(lab: &Lab, lang: Lang, step: &Step, before: Option<&Tree>, flat: &Flat) -> RowView {
    let world = lab.world();
    let server = &world.server;
    let node = server.tree().get(&flat.path).filter(|_| !flat.gone);
    // What is gone is shown as it was.
    let lost = before.and_then(|tree| tree.get(&flat.path));
    let kind = node.or(lost).map_or(NodeKind::Persistent, |node| node.kind);
    let session = match kind {
        NodeKind::Ephemeral(session) => Some(session),
        _ => None,
    };
    let proc = session.and_then(|session| world.owners.get(&session).copied());
    let holds = |index: u16| {
        let client = world.procs.get(usize::from(index)).and_then(|proc| proc.client());
        client.is_some_and(|client| Some(client.session()) == session)
    };
    let change =
        if flat.gone { Some(Change::Gone) } else { node.and_then(|n| step.change(&flat.path, n)) };
    RowView {
        flat: flat.clone(),
        kind,
        owner: proc.map(|index| words::proc_at(lang, &world.procs, index)),
        owner_dead: session.is_some() && node.is_some() && !proc.is_some_and(holds),
        watchers: server.watch_count(&flat.path),
        fired: step.fired.contains_key(&flat.path),
        data: node.or(lost).map_or_else(String::new, |node| data::preview(&node.data)),
        change,
        was: change.filter(|change| *change == Change::Data).and(was(lost, node)),
        inside: match (flat.open, node) {
            (Some(false), Some(node)) => step.inside(&flat.path, node),
            _ => 0,
        },
    }
}

fn was(before: Option<&Znode>, now: Option<&Znode>) -> Option<(String, String)> {
    let (before, now) = (data::preview(&before?.data), data::preview(&now?.data));
    let short = |text: &str| !text.is_empty() && text.chars().count() <= SHORT;
    (short(&before) && short(&now) && before != now).then_some((before, now))
}

#[derive(PartialEq, Properties)]
pub struct RowProps {
    pub view: Rc<RowView>,
    pub lang: Lang,
    pub selected: bool,
    pub focused: bool,
    pub choose: Callback<Path>,
    pub fold: Callback<(Path, bool)>,
}

/// The element's id, which the tree names as its active descendant.
pub fn id_of(path: &str) -> String {
    format!("zn{path}")
}

#[component]
pub fn TreeRow(props: &RowProps) -> Html {
    let RowView { flat, kind, change, .. } = &*props.view;
    let path = flat.path.clone();
    let onclick = {
        let (choose, path) = (props.choose.clone(), path.clone());
        Callback::from(move |_: MouseEvent| choose.emit(path.clone()))
    };
    let ephemeral = matches!(kind, NodeKind::Ephemeral(_));
    let state = match change {
        Some(Change::Gone) => Some("gone"),
        Some(_) => Some("changed"),
        None => None,
    };
    html! {
        <div role="treeitem" id={id_of(&path)} {onclick}
            class={classes!("zn", state, props.selected.then_some("sel"),
                props.focused.then_some("focus"))}
            aria-level={(u32::from(flat.depth) + 1).to_string()}
            aria-selected={props.selected.to_string()}
            aria-expanded={flat.open.map(|open| open.to_string())}
            style={format!("--d:{}", flat.depth)} title={path.to_string()}
            data-testid={format!("znode-row-{path}")}>
            {twist(props)}
            <span class={classes!("nm", ephemeral.then_some("eph-nm"))}>
                if !flat.prefix.is_empty() { <i>{flat.prefix.to_string()}</i> }
                {flat.name.to_string()}
            </span>
            {kind_mark(props.lang, *kind)}
            <span class="data">{props.view.data.clone()}</span>
            {notes(props)}
        </div>
    }
}

fn twist(props: &RowProps) -> Html {
    let flat = &props.view.flat;
    let Some(open) = flat.open else { return html! { <span class="tw" /> } };
    let (fold, path) = (props.fold.clone(), flat.path.clone());
    let onclick = Callback::from(move |event: MouseEvent| {
        event.stop_propagation();
        fold.emit((path.clone(), !open));
    });
    html! {
        <span class="tw" {onclick} data-testid={format!("znode-fold-{}", flat.path)}>
            <Icon name={if open { "chevd" } else { "chev" }} />
        </span>
    }
}

fn kind_mark(lang: Lang, kind: NodeKind) -> Html {
    let key = match kind {
        NodeKind::Container => k::TREE_CONTAINER,
        NodeKind::Ttl(_) => k::TREE_TTL,
        _ => return Html::default(),
    };
    html! { <span class="badge">{lang.t(key)}</span> }
}

/// What stands at the right: what changed, whose it is, who watches.
fn notes(props: &RowProps) -> Html {
    let (view, lang) = (&*props.view, props.lang);
    let what = match (view.change, &view.was) {
        (Some(Change::New), _) => Some(lang.t(k::TREE_NEW).to_string()),
        (Some(Change::Again), _) => Some(lang.t(k::TREE_AGAIN).to_string()),
        (Some(Change::Gone), _) => Some(lang.t(k::TREE_GONE).to_string()),
        (Some(Change::Data), Some((was, is))) => Some(format!("{was} → {is}")),
        (Some(Change::Data), None) => Some(lang.t(k::TREE_CHANGED).to_string()),
        (None, _) if view.inside > 0 => Some(lang.fill(k::TREE_INSIDE, &[("n", &view.inside)])),
        (None, _) => None,
    };
    let closed = view.flat.open == Some(false);
    html! {
        <>
            if let Some(what) = what { <span class="d">{what}</span> }
            if closed { <span class="n">{view.flat.children}</span> }
            if let Some(owner) = &view.owner {
                if view.owner_dead {
                    <span class="who dead" title={lang.t(k::TREE_DEAD_WHY)}>
                        <s>{owner.clone()}</s>{" "}{lang.t(k::TREE_DEAD)}
                    </span>
                } else {
                    <span class="who">{owner.clone()}</span>
                }
            }
            if view.watchers > 0 || view.fired {
                <span class={classes!("w", view.fired.then_some("fire"))}
                    title={lang.fill(k::TREE_WATCHES, &[("n", &view.watchers)])}
                    data-testid={format!("znode-eye-{}", view.flat.path)}>
                    <Icon name="eye" />{view.watchers}
                </span>
            }
        </>
    }
}
