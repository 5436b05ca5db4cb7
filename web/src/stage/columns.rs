//! Brokers as columns: name, host or trouble, the crown, the session's ring.

use kafkascope_core::kafka::broker::Phase;
use kafkascope_core::view::{BrokerView, Life, SessionState};
use yew::prelude::*;

use super::layout::{Geo, Rect, text_width};
use super::ring::Ring;
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};

#[component]
pub fn Columns(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let brokers = &parts.scene.view.brokers;
    let pick = Callback::from(move |proc| ctx.act(UiAction::Toggle(Selected::Proc(proc))));
    html! {
        <g>
            {for brokers.iter().zip(&parts.geo.cols).enumerate().map(|(index, (broker, rect))| {
                column(lang, parts, index, broker, *rect, &pick)
            })}
            {for brokers.iter().zip(&parts.geo.cols).map(|(broker, rect)| {
                crown(lang, parts, broker, *rect)
            })}
        </g>
    }
}

fn name(broker: &BrokerView) -> AttrValue {
    let twin = if broker.impostor { "-b" } else { "" };
    format!("broker-{}{twin}", broker.id).into()
}

/// What stands under the name: the host, or what is wrong.
pub fn status(lang: Lang, broker: &BrokerView) -> (String, bool) {
    let running_out = broker.session.is_some_and(|s| s.state == SessionState::RunningOut);
    let key = match (broker.life, broker.phase) {
        (Life::Down, _) if running_out => k::BROKER_DEAD,
        (Life::Down, _) => k::BROKER_DOWN,
        (Life::Paused { .. }, _) => k::BROKER_PAUSED,
        _ if broker.cut => k::BROKER_CUT,
        (Life::Booting, _) => return (lang.t(k::BROKER_BOOTING).to_string(), false),
        (_, Some(Phase::Refused)) => k::BROKER_REFUSED,
        (_, Some(Phase::WaitingForOldSession)) => k::BROKER_WAITING,
        (_, Some(Phase::Connecting)) => return (lang.t(k::BROKER_CONNECTING).to_string(), false),
        (_, Some(Phase::Registering)) => return (lang.t(k::BROKER_REGISTERING).to_string(), false),
        (_, Some(Phase::Stopping)) => return (lang.t(k::BROKER_STOPPING).to_string(), false),
        _ => return (format!("{}:9092", broker.host), false),
    };
    (lang.t(key).to_string(), true)
}

fn column(
    lang: Lang,
    parts: &Parts,
    index: usize,
    broker: &BrokerView,
    rect: Rect,
    pick: &Callback<u16>,
) -> Html {
    let geo = &parts.geo;
    let (status, trouble) = status(lang, broker);
    let dead = broker.life == Life::Down;
    let class = classes!(
        "broker",
        dead.then_some("dead"),
        (!dead && trouble).then_some("trouble"),
        (broker.life == Life::Booting).then_some("booting"),
        (parts.selected == Some(Selected::Proc(broker.proc))).then_some("sel"),
    );
    let choose = {
        let (pick, proc) = (pick.clone(), broker.proc);
        Callback::from(move |()| pick.emit(proc))
    };
    let label = format!("{}, {status}", lang.fill(k::WHO_BROKER, &[("id", &broker.id)]));
    let onkeydown = super::menus::enter(&choose);
    let roomy = !geo.narrow && rect.w >= 132.0;
    html! {
        <g key={broker.proc} {class} data-testid={name(broker)}>
            <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
                height={rect.h.to_string()} rx="10" class="bcol" />
            <path d={format!("M{} {}h{}", rect.x + 0.5, rect.y + geo.head, rect.w - 1.0)}
                class="bline" />
            <g tabindex="0" role="button" aria-label={label} class="bhead" {onkeydown}
                onclick={choose.reform(|_: MouseEvent| ())}>
                <rect x={(rect.x + 2.0).to_string()} y={(rect.y + 2.0).to_string()}
                    width={(rect.w - 4.0).to_string()} height={(geo.head - 4.0).to_string()}
                    rx="8" class="hitbox" />
                {head(lang, broker, rect, roomy, &status, trouble)}
            </g>
            {ring(geo, broker, index, rect, roomy)}
        </g>
    }
}

fn head(lang: Lang, broker: &BrokerView, rect: Rect, roomy: bool, status: &str, bad: bool) -> Html {
    let dead = broker.life == Life::Down;
    let (icon_x, text_x) = match roomy {
        true => (rect.x + 11.0, rect.x + 33.0),
        false => (rect.x + 6.0, rect.x + 8.0),
    };
    let name = match rect.w >= 84.0 {
        true => lang.fill(k::STAGE_BROKER, &[("id", &broker.id)]),
        false => broker.id.to_string(),
    };
    let y = if roomy { rect.y + 21.0 } else { rect.y + 18.0 };
    html! {
        <>
            if roomy {
                <use href="#i-broker" x={icon_x.to_string()} y={(rect.y + 10.0).to_string()}
                    width="16" height="16" class="ics bi" />
                if dead {
                    <use href="#i-kill" x={icon_x.to_string()} y={(rect.y + 10.0).to_string()}
                        width="16" height="16" class="ics deadx" />
                }
            }
            <text x={text_x.to_string()} y={y.to_string()} class="bname">{name}</text>
            if roomy || bad {
                <text x={text_x.to_string()} y={(y + 15.0).to_string()}
                    class={classes!("bhost", bad.then_some("f"))}>{status.to_owned()}</text>
            }
        </>
    }
}

fn ring(geo: &Geo, broker: &BrokerView, index: usize, rect: Rect, roomy: bool) -> Html {
    let Some((x, y)) = geo.ring(index) else { return Html::default() };
    if rect.w < 56.0 {
        return Html::default();
    }
    let words = (roomy && rect.w >= 150.0).then_some((-16.0, 12.0));
    let r = if geo.narrow { 8.0 } else { 10.0 };
    html! {
        <Ring {x} {y} {r} proc={broker.proc} session={broker.session} {words}
            had={broker.life == Life::Down}
            testid={format!("session-{}", name(broker))} />
    }
}

fn crown(lang: Lang, parts: &Parts, broker: &BrokerView, rect: Rect) -> Html {
    let holds = broker.controller.is_some_and(|controller| controller.holds_office);
    if broker.controller.is_none() && !broker.believed_controller {
        return Html::default();
    }
    let epoch = broker.controller.map(|c| c.epoch).or(parts.scene.epoch).unwrap_or(0);
    let short = parts.geo.narrow || rect.w < 150.0;
    let key = if short { k::STAGE_CROWN_SHORT } else { k::STAGE_CROWN };
    let text = lang.fill(key, &[("n", &epoch)]);
    // The text is centered: where its font is narrower than thought, both ends have the rest.
    let width = text_width(&text, 11.0) * 0.9 + 38.0;
    let x = match short {
        true => rect.x + (rect.w - width) / 2.0,
        false => rect.x + 10.0,
    };
    let y = rect.y - 14.0;
    let class = classes!(
        "crown",
        (!holds).then_some("stale"),
        (parts.scene.crowned == Some(broker.id)).then_some("moved"),
    );
    html! {
        <g key="crown" {class} data-testid="crown"
            style={format!("transform:translate({x}px,{y}px)")}>
            <rect width={width.to_string()} height="20" rx="10" />
            <use href="#i-crown" x="9" y="4" width="12" height="12" class="ics" />
            <text x={((24.0 + width - 10.0) / 2.0).to_string()} y="14" class="crownt"
                text-anchor="middle">{text}</text>
        </g>
    }
}
