//! What the marks mean, at the foot of the stage.

use yew::prelude::*;

use super::PartProps;
use super::layout::Level;
use crate::i18n::{Key, Lang, k, use_lang};

#[component]
pub fn Legend(props: &PartProps) -> Html {
    let lang = use_lang();
    let geo = &props.parts.geo;
    let (x, y) = geo.legend;
    let pitch = match lang {
        Lang::En => 96.0,
        Lang::Zh => 84.0,
    };
    let per_row = if geo.narrow { 4 } else { 6 };
    let pitch = if geo.narrow { (geo.w - 20.0) / 4.0 } else { pitch };
    let dense = geo.level == Level::Dense;
    let shown = ALL.iter().filter(|(name, _)| !dense || *name != "eph");
    html! {
        <g class="legend" aria-hidden="true">
            {for shown.enumerate().map(|(i, (name, key))| {
                let x = x + (i % per_row) as f64 * pitch;
                let y = y + (i / per_row) as f64 * 19.0;
                html! { <g transform={format!("translate({x} {y})")}>
                    {key_mark(name)}
                    <text x="19" y="4" class="legt">{lang.t(*key)}</text>
                </g> }
            })}
        </g>
    }
}

const ALL: [(&str, Key); 12] = [
    ("lead", k::SIGN_LEADER),
    ("fol", k::SIGN_IN_SYNC),
    ("out", k::SIGN_OUT),
    ("off", k::SIGN_OFFLINE),
    ("eph", k::SIGN_EPHEMERAL),
    ("ring", k::SIGN_SESSION),
    ("write", k::SIGN_WRITE),
    ("watch", k::SIGN_WATCH),
    ("ask", k::SIGN_READ),
    ("reply", k::SIGN_REPLY),
    ("leader", k::SIGN_REQUEST),
    ("ping", k::SIGN_PING),
];

fn key_mark(name: &str) -> Html {
    match name {
        "lead" | "fol" | "out" | "off" | "eph" => html! {
            <rect x=".5" y="-5" width="13" height="10" rx="3" class={format!("k-{name}")} />
        },
        "ring" => html! {
            <g class="ring"><circle cx="7" cy="0" r="5" class="track" />
                <path d="M12 0A5 5 0 1 1 7 -5" class="arc" /></g>
        },
        "write" => html! { <path d="M7 -5 12 0 7 5 2 0z" class="f-zreq" /> },
        "watch" => html! { <path d="M7 -5 12 0 7 5 2 0z" class="f-watch" /> },
        "ask" => html! { <circle cx="7" r="3.4" class="f-ask" /> },
        "reply" => html! { <circle cx="7" r="3" class="f-reply" /> },
        "leader" => html! { <circle cx="7" r="4.4" class="f-rec" /> },
        _ => html! { <circle cx="7" r="2.6" class="f-ping" /> },
    }
}
