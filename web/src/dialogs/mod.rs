//! Dialogs: add broker, create topic, pause, open client, deletions with their reasons.

use yew::prelude::*;

use crate::state::Dialog;

#[derive(PartialEq, Properties)]
pub struct DialogsProps {
    pub dialog: Dialog,
}

#[component]
pub fn Dialogs(props: &DialogsProps) -> Html {
    let _ = &props.dialog;
    html! { <div class="dialog" data-testid="dialog" /> }
}
