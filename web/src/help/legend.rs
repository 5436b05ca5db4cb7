//! What each mark means, drawn with the stage's own classes.

use yew::prelude::*;

use crate::i18n::{Key, Lang, k};

pub fn html(lang: Lang) -> Html {
    let row = |(key, mark): (Key, Html)| {
        html! { <li><span class="drawn" aria-hidden="true">{mark}</span>
        <span>{lang.rich(key, &[])}</span></li> }
    };
    html! {
        <ul class="legend" data-testid="help-legend">
            {for replicas().into_iter().chain(znodes()).chain(sessions()).chain(flights()).map(row)}
        </ul>
    }
}

fn svg(inner: Html) -> Html {
    html! { <svg class="stage-svg" width="64" height="26" viewBox="0 0 64 26">{inner}</svg> }
}

fn replica(class: &'static str, text: &'static str) -> Html {
    svg(html! {
        <g class={classes!("rep", class)}>
            <rect class="rbox" x="2" y="3" width="60" height="20" rx="5" />
            if class.contains("off") {
                <rect class="rhatch" x="2" y="3" width="60" height="20" rx="5" />
            }
            <text class="rrole b" x="32" y="17" text-anchor="middle">{text}</text>
        </g>
    })
}

fn replicas() -> Vec<(Key, Html)> {
    let crown = svg(html! {
        <g class="crown">
            <rect x="6" y="3" width="52" height="20" rx="10" />
            <use href="#i-crown" x="14" y="7" width="12" height="12" class="ics" />
            <text class="crownt" x="38" y="17" text-anchor="middle">{"1"}</text>
        </g>
    });
    let warn = svg(html! {
        <g class="urp">
            <use href="#i-warn" x="10" y="6" width="14" height="14" class="ics" />
            <text class="urpt" x="28" y="17">{"1 / 2"}</text>
        </g>
    });
    vec![
        (k::MARK_LEADER, replica("lead", "★ leader")),
        (k::MARK_FOLLOWER, replica("fol", "ISR")),
        (k::MARK_OUT, replica("out", "—")),
        (k::MARK_OFFLINE, replica("off stale", "leader")),
        (k::MARK_URP, warn),
        (k::MARK_CROWN, crown),
    ]
}

fn chip(class: &'static str, struck: bool) -> Html {
    svg(html! {
        <g class={classes!("zc", class)}>
            <rect x="16" y="2" width="32" height="22" rx="5" />
            <text class="zct" x="32" y="17" text-anchor="middle">{"3"}</text>
            if struck {
                <path class="strike" d="M20 13H44" />
            }
        </g>
    })
}

fn znodes() -> Vec<(Key, Html)> {
    let eye = svg(html! {
        <g class="eye fire">
            <circle class="glow" cx="25" cy="13" r="11" />
            <use href="#i-eye" x="18" y="6" width="14" height="14" class="ics" />
            <text class="eyet" x="38" y="17">{"3"}</text>
        </g>
    });
    vec![
        (k::MARK_EPHEMERAL, chip("eph", false)),
        (k::MARK_PENDING, chip("eph pending", false)),
        (k::MARK_GONE, chip("eph gone", true)),
        (k::MARK_STALE, chip("eph stale", false)),
        (k::MARK_CHANGED, chip("eph chg", false)),
        (k::MARK_WATCH, eye),
    ]
}

fn ring(class: &'static str, part: f64) -> Html {
    let length = 2.0 * std::f64::consts::PI * 9.0;
    let dash = format!("{:.2} {length:.2}", length * part);
    svg(html! {
        <g class={classes!("ring", class)}>
            <circle class="track" cx="32" cy="13" r="9" fill="none" />
            if part > 0.0 {
                <circle class="arc" cx="32" cy="13" r="9" fill="none" stroke-dasharray={dash}
                    transform="rotate(-90 32 13)" />
            }
        </g>
    })
}

fn sessions() -> Vec<(Key, Html)> {
    vec![
        (k::MARK_RING, ring("", 0.7)),
        (k::MARK_DRAINING, ring("draining", 0.4)),
        (k::MARK_EXPIRED, ring("gone", 0.0)),
    ]
}

fn flights() -> Vec<(Key, Html)> {
    let diamond =
        |class: &'static str| svg(html! { <path {class} d="M32 6 39 13 32 20 25 13z" /> });
    let dot = |class: &'static str| svg(html! { <circle {class} cx="32" cy="13" r="4" /> });
    vec![
        (k::MARK_WRITE, diamond("f-zreq")),
        (k::MARK_READ, dot("f-ask")),
        (k::MARK_REPLY, dot("f-reply")),
        (k::MARK_REQUEST, dot("f-rec")),
        (k::MARK_EVENT, diamond("f-watch")),
        (k::MARK_PING, dot("f-ping")),
        (k::MARK_FETCH, dot("f-fetch")),
    ]
}
