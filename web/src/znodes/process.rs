//! What a selected process has in ZooKeeper: its session, its ephemeral nodes, its watches.

use kafkascope_core::lab::Lab;
use kafkascope_core::view::{
    self, Beliefs, SessionState, SessionView,
    beliefs::{self, beliefs},
};
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
    /// Of a controller of a real release.
    beliefs: Option<Beliefs>,
    tick_ms: u32,
}

fn card(lab: &Lab, lang: Lang, index: u16) -> Option<Card> {
    let proc = lab.world().procs.get(usize::from(index))?;
    let session = view::session(lab, index);
    let mut owned = Vec::new();
    if let Some(session) = &session {
        collect(lab.world().server.tree().root(), "", session.session, &mut owned);
    }
    let tick_ms = lab.world().config.tick_ms;
    let icon = match proc.kind {
        Kind::ZooKeeper => "znode",
        Kind::Client(_) | Kind::Admin => "client",
        Kind::Consumer(_) => "consumer",
        Kind::Producer(_) => "producer",
        Kind::Broker(_) | Kind::Impostor(..) => "broker",
    };
    let beliefs = beliefs(lab, index);
    let title = words::upper(&words::proc(lang, proc));
    Some(Card { title, icon, session, owned, beliefs, tick_ms })
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
                if let Some(beliefs) = &card.beliefs { {belief_list(lang, beliefs)} }
            </div>
        </div>
    }
}

/// What it believes beside what ZooKeeper holds, where the two differ.
fn belief_list(lang: Lang, beliefs: &Beliefs) -> Html {
    let side = |known: &Option<beliefs::Known>| match known {
        None => lang.t(k::COMPARE_ABSENT).to_string(),
        Some(known) => {
            let leader = known
                .leader
                .map_or_else(|| lang.t(k::WHO_NOBODY).to_string(), |leader| leader.to_string());
            let values: [(_, &dyn std::fmt::Display); 3] = [
                ("leader", &leader),
                ("epoch", &known.leader_epoch),
                ("isr", &words::ids(&known.isr)),
            ];
            lang.fill(k::NODE_BELIEF, &values)
        }
    };
    let row = |belief: &view::Belief| {
        html! {
            <tr>
                <th scope="row">{format!("{}-{}", belief.topic, belief.partition)}</th>
                <td>{side(&belief.believed)}</td>
                <td>{side(&belief.written)}</td>
            </tr>
        }
    };
    let about = lang
        .fill(k::NODE_BELIEFS_NOTE, &[("n", &beliefs.known), ("ids", &words::ids(&beliefs.live))]);
    html! {
        <div class="grow compare" data-testid="beliefs">
            <div class="h3"><b>{lang.t(k::NODE_BELIEFS)}</b><span>{about}</span></div>
            if beliefs.differ.is_empty() {
                <p class="none">{lang.t(k::NODE_BELIEFS_SAME)}</p>
            } else {
                <table>
                    <thead><tr>
                        <th />
                        <th scope="col">{lang.t(k::NODE_BELIEVED)}</th>
                        <th scope="col">{"ZooKeeper"}</th>
                    </tr></thead>
                    <tbody>{for beliefs.differ.iter().take(LISTED).map(row)}</tbody>
                </table>
            }
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
