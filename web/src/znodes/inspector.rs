//! One znode in full: what it holds, its stat, who watches it, what happened to it.

use kafkascope_core::kafka::paths;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, NodeView, WatcherView};
use kafkascope_core::zk::op::{Acl, Path, Stat, perms};
use kafkascope_core::zk::path;
use kafkascope_core::zk::tree::NodeKind;
use yew::prelude::*;

use super::data::{self, Shown};
use super::history::{self, History};
use super::process::Process;
use super::stat::{self, Field};
use super::step;
use crate::app::{Ctx, use_ctx};
use crate::console;
use crate::engine::use_world;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::state::{Dialog, Selected, UiAction};
use crate::widgets::Icon;
use crate::words;

/// Entries of the history that are shown at once.
const RECENT: usize = 12;

#[derive(PartialEq, Properties)]
pub struct InspectorProps {
    pub selected: Option<Selected>,
}

#[component]
pub fn Inspector(props: &InspectorProps) -> Html {
    let lang = use_lang();
    let body = match &props.selected {
        Some(Selected::Znode(path)) => html! { <Node path={path.to_string()} /> },
        Some(Selected::Partition(topic, number)) => {
            html! { <Node path={paths::state(topic, *number).to_string()} /> }
        }
        Some(Selected::Proc(proc)) => html! { <Process proc={*proc} /> },
        _ => html! { <p class="empty">{lang.t(k::NODE_CHOOSE)}</p> },
    };
    html! {
        <section class="inspector" data-testid="inspector">{body}</section>
    }
}

#[derive(PartialEq, Properties)]
struct NodeProps {
    path: AttrValue,
}

/// All that is shown of a node.
struct Facts {
    node: Option<NodeView>,
    /// Who owns it, and whether that process still has the session.
    owner: Option<(String, bool)>,
    watchers: Vec<(String, Vec<Key>)>,
    before: Option<Stat>,
    data_before: Option<Shown>,
    history: Vec<(history::Entry, String)>,
    earlier: usize,
    /// The step touched the node: without that nothing is tinted.
    touched: bool,
}

fn facts(lab: &Lab, lang: Lang, path: &Path, history: &[history::Entry], playing: bool) -> Facts {
    let world = lab.world();
    let node = view::node(lab, path);
    let step = step::of(lab);
    let touched = world.server.tree().get(path).is_some_and(|node| {
        step.change(path, node).is_some() || Some(node.pzxid) >= step.first_zxid.or(Some(i64::MAX))
    });
    let tree = touched.then(|| step.tree_before(lab, playing)).flatten();
    let before = tree.as_ref().and_then(|tree| tree.get(path));
    let owner = node.as_ref().and_then(|node| match node.kind {
        NodeKind::Ephemeral(session) => {
            let index = node.owner?;
            let client = world.proc(index).client();
            let alive = client.is_some_and(|client| client.session() == session);
            Some((words::proc_at(lang, &world.procs, index), alive))
        }
        _ => None,
    });
    let watcher = |watcher: &WatcherView| {
        let name = watcher.proc.map_or_else(
            || watcher.session.to_string(),
            |proc| words::proc_at(lang, &world.procs, proc),
        );
        (name, watch_kinds(watcher))
    };
    let earlier = history.len().saturating_sub(RECENT);
    Facts {
        watchers: node.iter().flat_map(|node| node.watchers.iter().map(watcher)).collect(),
        owner,
        before: before.map(|node| node.stat()),
        data_before: before.map(|node| data::shown(&node.data)),
        history: history[earlier..]
            .iter()
            .map(|entry| (entry.clone(), history::text(lang, lab, entry)))
            .collect(),
        earlier,
        touched: touched && tree.is_some(),
        node,
    }
}

fn watch_kinds(watcher: &WatcherView) -> Vec<Key> {
    let kinds = [
        (watcher.data, k::NODE_WATCH_DATA),
        (watcher.child, k::NODE_WATCH_CHILD),
        (watcher.persistent, k::NODE_WATCH_PERSISTENT),
        (watcher.recursive, k::NODE_WATCH_RECURSIVE),
    ];
    kinds.into_iter().filter(|(is, _)| *is).map(|(_, key)| key).collect()
}

#[component]
fn Node(props: &NodeProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let history = use_mut_ref(History::default);
    let path: Path = props.path.as_str().into();
    let flow = engine.flow();
    let facts = engine.read(|lab| {
        let mut history = history.borrow_mut();
        facts(lab, lang, &path, history.follow(lab, flow.run, &path), flow.playing)
    });
    html! {
        <div class="node" data-testid="znode-inspector" data-path={path.to_string()}>
            <div class="node-head">
                {crumbs(&ctx, &path)}
                {badges(lang, &facts)}
                <span class="grow" />
                {actions(&ctx, lang, &path, facts.node.as_ref())}
            </div>
            <div class="cols">
                if let Some(node) = &facts.node {
                    {data_part(lang, node, &facts)}
                    {stat_part(lang, node, &facts)}
                } else {
                    <p class="none absent" data-testid="znode-absent">
                        {lang.rich(k::NODE_ABSENT, &[("path", &path)])}
                    </p>
                }
                <div class="last">
                    if facts.node.is_some() { {watch_part(lang, &facts)} }
                    {history_part(&ctx, lang, &facts)}
                </div>
            </div>
        </div>
    }
}

/// The path, each folder a link.
fn crumbs(ctx: &Ctx, at: &Path) -> Html {
    let link = |to: String, text: String| {
        let (ctx, testid) = (ctx.clone(), format!("znode-crumb-{to}"));
        let onclick = Callback::from(move |_: MouseEvent| {
            ctx.act(UiAction::Select(Selected::Znode(to.as_str().into())));
        });
        html! { <button type="button" {onclick} data-testid={testid}>{text}</button> }
    };
    let mut parts = Vec::new();
    let parent = path::parent_name(at);
    if **at != *"/" {
        parts.push(link("/".to_owned(), "/".to_owned()));
        let mut so_far = String::new();
        for name in parent.split('/').filter(|name| !name.is_empty()) {
            so_far = format!("{so_far}/{name}");
            parts.push(link(so_far.clone(), format!("{name}/")));
        }
    }
    let name = if **at == *"/" { "/" } else { path::name(at) };
    html! { <h2 class="crumbs">{for parts}<b>{name.to_owned()}</b></h2> }
}

fn badges(lang: Lang, facts: &Facts) -> Html {
    let Some(node) = &facts.node else {
        return html! { <span class="badge">{lang.t(k::NODE_ABSENT_BADGE)}</span> };
    };
    let kind = match node.kind {
        NodeKind::Persistent => html! {
            <span class="badge" data-testid="znode-kind">{lang.t(k::NODE_PERSISTENT)}</span>
        },
        NodeKind::Ephemeral(session) => html! {
            <>
                <span class="badge eph" data-testid="znode-kind">{lang.t(k::NODE_EPHEMERAL)}</span>
                {owner_badge(lang, &session.to_string(), facts.owner.as_ref())}
            </>
        },
        NodeKind::Container => html! {
            <span class="badge" data-testid="znode-kind">{lang.t(k::TREE_CONTAINER)}</span>
        },
        NodeKind::Ttl(ms) => html! {
            <span class="badge" data-testid="znode-kind">
                {lang.fill(k::NODE_TTL, &[("ms", &ms)])}
            </span>
        },
    };
    html! {
        <>
            {kind}
            if is_sequential(&node.path) {
                <span class="badge">{lang.t(k::NODE_SEQUENTIAL)}</span>
            }
        </>
    }
}

fn owner_badge(lang: Lang, session: &str, owner: Option<&(String, bool)>) -> Html {
    let (who, alive) = owner.map_or((session, true), |(who, alive)| (who.as_str(), *alive));
    let key = if alive { k::NODE_SESSION_OF } else { k::NODE_SESSION_DEAD };
    html! {
        <span class={classes!("badge", (!alive).then_some("fault"))} title={session.to_owned()}
            data-testid="znode-owner">
            {lang.fill(key, &[("who", &who)])}
        </span>
    }
}

/// Ten digits at the end are what `create -s` appends.
fn is_sequential(path: &str) -> bool {
    let digits = path.bytes().rev().take_while(u8::is_ascii_digit).count();
    digits >= 10 && !path.ends_with('/')
}

fn actions(ctx: &Ctx, lang: Lang, path: &Path, node: Option<&NodeView>) -> Html {
    let dialog = |dialog: Dialog| {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::OpenDialog(dialog.clone())))
    };
    let there = node.is_some();
    let child = there && !node.is_some_and(|node| matches!(node.kind, NodeKind::Ephemeral(_)));
    let watch = {
        let (ctx, path) = (ctx.clone(), path.clone());
        Callback::from(move |_: MouseEvent| console::watch(&ctx.engine, &path, there))
    };
    let button = |id: &str, icon: &'static str, key: Key, danger: bool, onclick| {
        html! {
            <button type="button" class={classes!("btn", "small", danger.then_some("danger"))}
                {onclick} data-testid={format!("znode-{id}")}>
                <Icon name={icon} small=true />{lang.t(key)}
            </button>
        }
    };
    html! {
        <div class="acts">
            {button("watch", "eye", k::NODE_WATCH, false, watch)}
            if there {
                {button("set", "logs", k::NODE_EDIT, false, dialog(Dialog::SetData(path.clone())))}
            } else {
                {button("create", "plus", k::NODE_CREATE, false,
                    dialog(Dialog::CreateZnode(path.clone())))}
            }
            if child {
                {button("child", "plus", k::NODE_CHILD, false,
                    dialog(Dialog::CreateZnode(below(path))))}
            }
            if there && **path != *"/" {
                {button("delete", "kill", k::NODE_DELETE, true,
                    dialog(Dialog::DeleteZnode(path.clone())))}
            }
        </div>
    }
}

/// The folder with a slash: the dialog asks for the name.
fn below(path: &Path) -> Path {
    path::join(path, "").into()
}

fn data_part(lang: Lang, node: &NodeView, facts: &Facts) -> Html {
    let shown = data::shown(&node.data);
    let form = match shown {
        Shown::Json(_) => Some("JSON".to_owned()),
        Shown::Text(_) => Some(lang.t(k::NODE_TEXT).to_string()),
        Shown::Hex(_) => Some(lang.t(k::NODE_HEX).to_string()),
        Shown::Null | Shown::Empty => None,
    };
    let before = facts.data_before.as_ref().map(Shown::lines).unwrap_or_default();
    let line = |line: &String| {
        let fresh = facts.touched && facts.data_before.is_some() && !before.contains(line);
        html! { <span class={classes!(fresh.then_some("ch"))}>{format!("{line}\n")}</span> }
    };
    let length = node.data.as_ref().map_or(0, |data| data.len());
    html! {
        <div class="data-part">
            <div class="h3"><b>{lang.t(k::NODE_DATA)}</b>
                if let Some(form) = form { <span data-testid="znode-form">{form}</span> }
            </div>
            {match shown {
                Shown::Null => html! { <p class="none">{lang.t(k::NODE_NULL)}</p> },
                Shown::Empty => html! { <p class="none">{lang.t(k::NODE_EMPTY)}</p> },
                _ => html! {
                    <pre class="well" tabindex="0" data-testid="znode-data">
                        {for shown.lines().iter().map(line)}
                    </pre>
                },
            }}
            if length > data::SHOWN {
                <p class="none">
                    {lang.fill(k::NODE_CUT, &[("n", &data::SHOWN), ("all", &length)])}
                </p>
            }
        </div>
    }
}

fn stat_part(lang: Lang, node: &NodeView, facts: &Facts) -> Html {
    let mut fields = stat::fields(&node.stat, facts.before.as_ref());
    for field in fields.iter_mut().filter(|_| !facts.touched) {
        field.changed = false;
    }
    let row = |field: &Field| {
        html! {
            <div class="pair">
                <dt>{field.name}</dt>
                <dd data-testid={format!("znode-stat-{}", field.name)}
                    title={field.seconds.as_ref().map(|seconds| format!("{seconds} s"))}
                    class={classes!(field.changed.then_some("ch"))}>{field.value.clone()}</dd>
                if let Some(seconds) = &field.seconds {
                    <span class="ex">{format!("{seconds} s")}</span>
                }
            </div>
        }
    };
    html! {
        <div class="stat-part">
            <div class="h3"><b>{"Stat"}</b><span>{lang.t(k::NODE_TINTED)}</span></div>
            <dl class="stat wide">{for fields.iter().map(row)}
                <div class="pair" key="acl">
                    <dt>{"ACL"}</dt>
                    <dd data-testid="znode-acl">{acl(&node.acl)}</dd>
                </div>
            </dl>
        </div>
    }
}

/// `world:anyone:cdrwa`.
fn acl(list: &[Acl]) -> String {
    let letters = [
        (perms::CREATE, 'c'),
        (perms::DELETE, 'd'),
        (perms::READ, 'r'),
        (perms::WRITE, 'w'),
        (perms::ADMIN, 'a'),
    ];
    let entry = |entry: &Acl| {
        let may: String =
            letters.iter().filter(|(bit, _)| entry.perms & bit != 0).map(|(_, c)| c).collect();
        format!("{}:{}:{may}", entry.scheme, entry.id)
    };
    list.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn watch_part(lang: Lang, facts: &Facts) -> Html {
    let one = |(name, kinds): &(String, Vec<Key>)| {
        let kinds: Vec<String> = kinds.iter().map(|key| lang.t(*key).to_string()).collect();
        html! {
            <li><Icon name="eye" small=true />{name.clone()}
                <span class="ex">{kinds.join(&lang.t(k::WHO_JOINT))}</span></li>
        }
    };
    html! {
        <>
            <div class="h3"><b>{lang.t(k::NODE_WATCHERS)}</b>
                <span>{lang.t(k::NODE_WATCHERS_NOTE)}</span></div>
            if facts.watchers.is_empty() {
                <p class="none">{lang.t(k::NODE_WATCHERS_NONE)}</p>
            }
            <ul class="watchers" data-testid="znode-watchers">
                {for facts.watchers.iter().map(one)}
            </ul>
        </>
    }
}

fn history_part(ctx: &Ctx, lang: Lang, facts: &Facts) -> Html {
    let one = |(entry, text): &(history::Entry, String)| {
        let (ctx, row) = (ctx.clone(), entry.row);
        let onclick = Callback::from(move |_: MouseEvent| ctx.engine.seek_row(row));
        html! {
            <li key={row}>
                <button type="button" class="time" {onclick} title={lang.t(k::NODE_SEEK)}
                    data-testid={format!("znode-history-{row}")}>{entry.at.to_string()}</button>
                <span>{text.clone()}</span>
                if let Some(zxid) = entry.zxid {
                    <span class="ex mono">{format!("0x{zxid:x}")}</span>
                }
            </li>
        }
    };
    html! {
        <>
            <div class="h3"><b>{lang.t(k::NODE_HISTORY)}</b></div>
            if facts.history.is_empty() { <p class="none">{lang.t(k::NODE_HISTORY_NONE)}</p> }
            if facts.earlier > 0 {
                <p class="none">{lang.fill(k::NODE_EARLIER, &[("n", &facts.earlier)])}</p>
            }
            <ol class="history" data-testid="znode-history">
                {for facts.history.iter().map(one)}
            </ol>
        </>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_digits_are_a_sequence() {
        assert!(is_sequential("/a/lock-0000000003"));
        assert!(!is_sequential("/a/1420070400"[..5].into()));
        assert!(!is_sequential("/brokers/ids/10"));
    }

    #[test]
    fn an_acl_reads_as_zkcli_writes_it() {
        assert_eq!(acl(&kafkascope_core::zk::op::open_acl()), "world:anyone:cdrwa");
    }
}
