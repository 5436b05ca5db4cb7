//! What a selected process has in ZooKeeper: its session, its ephemeral nodes, its watches.

use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, SessionState, SessionView};
use kafkascope_core::world::proc::{Kind, ZOOKEEPER};
use kafkascope_core::zk::op::{Path, SessionId};
use kafkascope_core::zk::tree::{NodeKind, Znode};
use yew::prelude::*;

use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};
use crate::widgets::Icon;
use crate::words;

/// Nodes that are listed; the rest is counted.
const LISTED: usize = 40;

#[derive(PartialEq, Properties)]
pub struct ProcessProps {
    pub proc: u16,
}

struct Card {
    title: String,
    icon: &'static str,
    session: Option<SessionView>,
    owned: Vec<Path>,
    tick_ms: u32,
}

fn card(lab: &Lab, lang: Lang, index: u16) -> Option<Card> {
    let proc = lab.world().procs.get(usize::from(index))?;
    let stage = view::stage(lab);
    let session = stage
        .brokers
        .iter()
        .find(|broker| broker.proc == index)
        .map(|broker| broker.session)
        .or_else(|| stage.clients.iter().find(|c| c.proc == index).map(|c| c.session))
        .flatten();
    let mut owned = Vec::new();
    if let Some(session) = &session {
        collect(lab.world().server.tree().root(), "", session.session, &mut owned);
    }
    let tick_ms = lab.world().config.tick_ms;
    let icon = match proc.kind {
        Kind::ZooKeeper => "znode",
        Kind::Client(_) | Kind::Admin => "client",
        Kind::Broker(_) | Kind::Impostor(..) => "broker",
    };
    Some(Card { title: words::upper(&words::proc(lang, proc)), icon, session, owned, tick_ms })
}

fn collect(node: &Znode, at: &str, session: SessionId, found: &mut Vec<Path>) {
    for (name, child) in node.children() {
        let path = format!("{at}/{name}");
        if child.kind == NodeKind::Ephemeral(session) {
            found.push(path.as_str().into());
        }
        collect(child, &path, session, found);
    }
}

#[component]
pub fn Process(props: &ProcessProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let found = engine.read(|lab| card(lab, lang, props.proc));
    let Some(card) = found else { return Html::default() };
    let more = card.owned.len().saturating_sub(LISTED);
    let link = |path: &Path| {
        let (ctx, path) = (ctx.clone(), path.clone());
        let text = path.to_string();
        let onclick = Callback::from(move |_: MouseEvent| {
            ctx.act(UiAction::Select(Selected::Znode(path.clone())));
        });
        html! {
            <li><button type="button" class="path-link eph-nm" {onclick}>{text}</button></li>
        }
    };
    html! {
        <div class="node process" data-testid="process-inspector">
            <div class="node-head">
                <h2><Icon name={card.icon} />{card.title.clone()}</h2>
            </div>
            <div class="cols">
                <div>
                    <div class="h3"><b>{lang.t(k::NODE_SESSION)}</b></div>
                    {session(lang, &card, props.proc)}
                </div>
                <div class="grow">
                    <div class="h3"><b>{lang.t(k::NODE_OWNED)}</b>
                        <span>{lang.t(k::NODE_OWNED_NOTE)}</span></div>
                    if card.owned.is_empty() {
                        <p class="none">{lang.t(k::NODE_OWNED_NONE)}</p>
                    }
                    <ul class="paths">
                        {for card.owned.iter().take(LISTED).map(link)}
                        if more > 0 {
                            <li>{lang.fill(k::NODE_MORE, &[("n", &more)])}</li>
                        }
                    </ul>
                </div>
            </div>
        </div>
    }
}

fn session(lang: Lang, card: &Card, proc: u16) -> Html {
    let Some(session) = card.session else {
        let key = if proc == ZOOKEEPER { k::NODE_SERVER } else { k::NODE_NO_SESSION };
        return html! { <p class="none">{lang.t(key)}</p> };
    };
    let state = match session.state {
        SessionState::Kept => k::NODE_KEPT,
        SessionState::RunningOut => k::NODE_RUNNING_OUT,
        SessionState::Frozen => k::NODE_FROZEN,
    };
    html! {
        <dl class="stat">
            <dt>{"sessionId"}</dt><dd>{session.session.to_string()}</dd>
            <dt>{"timeout"}</dt><dd>{format!("{} ms", session.timeout_ms)}</dd>
            <dt>{"deadline"}</dt>
            <dd>{format!("{} s", session.deadline)}
                <small>{lang.fill(k::NODE_ROUNDED, &[("tick", &card.tick_ms)])}</small></dd>
            <dt>{lang.t(k::NODE_STATE)}</dt><dd class="words">{lang.t(state)}</dd>
        </dl>
    }
}
