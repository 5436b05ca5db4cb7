//! Plain ZooKeeper clients: a card with its session and how many watches it has set.

use kafkascope_core::view::{ClientView, Life, SessionState};
use yew::prelude::*;

use super::layout::Rect;
use super::ring::Ring;
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};

#[component]
pub fn Clients(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let clients = &parts.scene.view.clients;
    let pick = Callback::from(move |proc| ctx.act(UiAction::Toggle(Selected::Proc(proc))));
    let (x, y) = parts.geo.client_title;
    html! {
        <g>
            if !parts.geo.narrow && !clients.is_empty() {
                <text x={x.to_string()} y={(y + 6.0).to_string()} class="glab">
                    {lang.t(k::STAGE_CLIENTS)}
                </text>
            }
            {for clients.iter().zip(&parts.geo.clients).enumerate().map(|(i, (client, rect))| {
                card(lang, parts, i, client, *rect, &pick)
            })}
        </g>
    }
}

fn status(lang: Lang, client: &ClientView) -> (String, bool) {
    let running_out = client.session.is_some_and(|s| s.state == SessionState::RunningOut);
    let key = match client.life {
        Life::Down if running_out => k::BROKER_DEAD,
        Life::Down => k::BROKER_DOWN,
        Life::Paused { .. } => k::BROKER_PAUSED,
        _ if client.cut => k::BROKER_CUT,
        Life::Booting => return (lang.t(k::BROKER_BOOTING).to_string(), false),
        Life::Up if client.session.is_none() => {
            return (lang.t(k::BROKER_CONNECTING).to_string(), false);
        }
        Life::Up => return (lang.fill(k::CLIENT_WATCHES, &[("n", &client.watches)]), false),
    };
    (lang.t(key).to_string(), true)
}

fn card(
    lang: Lang,
    parts: &Parts,
    index: usize,
    client: &ClientView,
    rect: Rect,
    pick: &Callback<u16>,
) -> Html {
    let (status, bad) = status(lang, client);
    let down = client.life == Life::Down;
    let class = classes!(
        "card",
        down.then_some("dead"),
        (parts.selected == Some(Selected::Proc(client.proc))).then_some("sel"),
    );
    let choose = {
        let (pick, proc) = (pick.clone(), client.proc);
        Callback::from(move |()| pick.emit(proc))
    };
    let onkeydown = super::menus::enter(&choose);
    let (rx, ry) = parts.geo.client_ring(index).unwrap_or_default();
    let room = ((rect.w - 96.0) / 7.4) as usize;
    let name: String = match client.name.chars().count() > room {
        true => client.name.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        false => client.name.to_string(),
    };
    html! {
        <g key={client.proc} {class} data-testid={format!("client-{}", client.name)}>
            <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
                height={rect.h.to_string()} rx="10" />
            <g tabindex="0" role="button" aria-label={format!("{}, {status}", client.name)}
                class="bhead" {onkeydown} onclick={choose.reform(|_: MouseEvent| ())}>
                <rect x={(rect.x + 2.0).to_string()} y={(rect.y + 2.0).to_string()}
                    width={(rect.w - 4.0).to_string()} height={(rect.h - 4.0).to_string()}
                    rx="8" class="hitbox" />
                <use href={if down { "#i-kill" } else { "#i-client" }}
                    x={(rect.x + 11.0).to_string()} y={(rect.y + 11.0).to_string()} width="16"
                    height="16" class={classes!("ics", if down { "deadx" } else { "pi" })} />
                <text x={(rect.x + 35.0).to_string()} y={(rect.y + 24.0).to_string()}
                    class="bname">{name}</text>
                if !bad && client.watches > 0 {
                    <use href="#i-eye" x={(rect.x + 12.0).to_string()}
                        y={(rect.y + 36.0).to_string()} width="14" height="14" class="ics eyei" />
                }
                <text x={(rect.x + 35.0).to_string()} y={(rect.y + 47.0).to_string()}
                    class={classes!("bhost", bad.then_some("f"))}>{status}</text>
            </g>
            <Ring x={rx} y={ry} r={8.5} proc={client.proc} session={client.session} had={down}
                words={Some((8.5, 27.0))} testid={format!("session-client-{}", client.name)} />
        </g>
    }
}
