//! The buttons at the left of the timeline.

use kafkascope_core::lab::{BranchId, Origin};
use yew::prelude::*;

use super::timeline::Timeline;
use crate::app::{use_action, use_ctx};
use crate::engine::{Engine, Speed, use_clock, use_flow, use_world};
use crate::i18n::{Key, Lang, k, use_lang};
use crate::state::{Menu, UiAction};
use crate::widgets::{Icon, Item, MenuButton};

#[derive(PartialEq, Properties)]
pub struct TransportProps {
    pub menu: Option<Menu>,
}

#[component]
pub fn Transport(props: &TransportProps) -> Html {
    html! {
        <footer class="transport" data-testid="transport">
            <div class="ctrl">
                <div class="rowc">
                    <Buttons />
                    <SpeedMenu open={props.menu == Some(Menu::Speed)} />
                    <span class="grow" />
                    <Clock />
                </div>
                <Meta open={props.menu == Some(Menu::Branches)} />
            </div>
            <Timeline />
        </footer>
    }
}

#[component]
fn Buttons() -> Html {
    let lang = use_lang();
    let flow = use_flow();
    let engine = use_ctx().engine;
    let button = |id: &'static str, icon, key: Key, keys: &str, class, act: fn(&Engine)| {
        let engine = engine.clone();
        let onclick = Callback::from(move |_: MouseEvent| act(&engine));
        let label = format!("{}  {keys}", lang.t(key));
        html! {
            <button type="button" class={classes!("tb", class)} data-testid={id} {onclick}
                aria-label={lang.t(key)} title={label}
                data-playing={(id == "transport-play").then(|| flow.playing.to_string())}>
                <Icon name={icon} />
            </button>
        }
    };
    let (icon, key) = match flow.playing {
        true => ("pause", k::TRANSPORT_PAUSE),
        false => ("play", k::TRANSPORT_PLAY),
    };
    html! {
        <>
            {button("transport-message-back", "prevmsg", k::TRANSPORT_MESSAGE_BACK, "⇧←",
                "fine", Engine::message_back)}
            {button("transport-back", "back", k::TRANSPORT_BACK, "←", "", Engine::back)}
            {button("transport-play", icon, key, "␣", "play", Engine::toggle_playing)}
            {button("transport-step", "step", k::TRANSPORT_STEP, "→", "", Engine::step)}
            {button("transport-message", "nextmsg", k::TRANSPORT_MESSAGE, "⇧→",
                "fine", Engine::message)}
        </>
    }
}

#[derive(PartialEq, Properties)]
struct OpenProps {
    open: bool,
}

/// `1/50×`, `5×`, or the word for the one that adapts.
fn speed_name(lang: Lang, speed: Speed) -> AttrValue {
    match speed {
        Speed::Auto => lang.t(k::TRANSPORT_AUTO),
        Speed::Fixed(up, 1) => format!("{up}×").into(),
        Speed::Fixed(up, down) => format!("{up}/{down}×").into(),
    }
}

#[component]
fn SpeedMenu(props: &OpenProps) -> Html {
    let lang = use_lang();
    let flow = use_flow();
    let engine = use_ctx().engine;
    let action = use_action();
    let items = Speed::ALL.iter().map(|speed| {
        let (engine, speed) = (engine.clone(), *speed);
        let id = match speed {
            Speed::Auto => "auto".to_owned(),
            Speed::Fixed(up, down) => format!("{up}-{down}"),
        };
        Item {
            checked: Some(flow.speed == speed),
            note: (speed == Speed::Auto).then(|| lang.t(k::TRANSPORT_AUTO_NOTE)),
            ..Item::new(
                id,
                speed_name(lang, speed),
                Callback::from(move |()| engine.set_speed(speed)),
            )
        }
    });
    html! {
        <MenuButton testid="transport-speed" class="btn quiet tight speed" open={props.open} up=true
            label={lang.t(k::TRANSPORT_SPEED)} items={items.collect::<Vec<_>>()}
            toggle={action(UiAction::ToggleMenu(Menu::Speed))} close={action(UiAction::CloseMenu)}>
            {speed_name(lang, flow.speed)}<Icon name="chevd" small=true />
        </MenuButton>
    }
}

#[component]
fn Clock() -> Html {
    let now = use_clock();
    html! {
        <div class="clock" data-testid="clock" role="timer">
            {now.to_string()}<small>{" s"}</small>
        </div>
    }
}

/// A, B, C, … as the tree of branches names them.
pub fn branch_name(lang: Lang, branch: u32) -> String {
    match (branch, u8::try_from(branch)) {
        (0, _) => lang.t(k::BRANCH_MAIN).to_string(),
        (_, Ok(number @ 1..=25)) => char::from(b'A' + number).to_string(),
        (number, _) => format!("#{number}"),
    }
}

#[component]
fn Meta(props: &OpenProps) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let action = use_action();
    let (steps, seed, branches, current) = engine.read(|lab| {
        let steps = lab.rows().iter().filter(|row| !row.detail).count();
        let branches: Vec<(Origin, String)> = lab
            .branches()
            .iter()
            .map(|branch| (branch.origin, branch.explored_at.to_string()))
            .collect();
        (steps, lab.run().seed, branches, lab.current_branch())
    });
    let items = branches.iter().zip(0_u32..).map(|((origin, explored), number)| {
        let engine = engine.clone();
        let choose = Callback::from(move |()| engine.switch(BranchId(number)));
        let note = match origin {
            Origin::Root => lang.fill(k::BRANCH_ROOT, &[("to", explored)]),
            Origin::Fork { from, at } => {
                let from = branch_name(lang, from.0);
                lang.fill(k::BRANCH_FORK, &[("from", &from), ("at", at), ("to", explored)])
            }
        };
        Item {
            checked: Some(BranchId(number) == current),
            note: Some(note.into()),
            ..Item::new(number.to_string(), branch_name(lang, number), choose)
        }
    });
    let name = match branches.len() {
        1 => branch_name(lang, current.0),
        n => lang.fill(k::BRANCH_OF, &[("name", &branch_name(lang, current.0)), ("n", &n)]),
    };
    html! {
        <div class={classes!("rowc", "meta", (branches.len() > 1).then_some("forked"))}>
            <span>{lang.fill(k::TRANSPORT_META, &[("n", &steps), ("seed", &seed)])}</span>
            <MenuButton testid="branch-list" class="btn quiet tight" open={props.open} up=true
                label={lang.t(k::BRANCH_LIST)} items={items.collect::<Vec<_>>()}
                toggle={action(UiAction::ToggleMenu(Menu::Branches))}
                close={action(UiAction::CloseMenu)}>
                <Icon name="fork" small=true /><span class="word">{name}</span>
            </MenuButton>
        </div>
    }
}
