use yew::prelude::*;

use crate::engine::{use_clock, use_engine, use_flow};
use crate::state::Menu;

#[derive(PartialEq, Properties)]
pub struct TransportProps {
    pub menu: Option<Menu>,
}

#[component]
pub fn Transport(props: &TransportProps) -> Html {
    let _ = &props.menu;
    let flow = use_flow();
    let engine = use_engine();
    let toggle = Callback::from(move |_: MouseEvent| engine.toggle_playing());
    html! { <footer class="transport" data-testid="transport">
    <button onclick={toggle}>{if flow.playing { "pause" } else { "play" }}</button><Clock /></footer> }
}

#[component]
fn Clock() -> Html {
    let now = use_clock();
    html! { <span data-testid="clock">{now.to_string()}</span> }
}
