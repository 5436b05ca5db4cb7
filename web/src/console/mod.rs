//! The zkCli-like console (dock).

mod state;

use yew::prelude::*;

pub use state::{ConsoleAction, ConsoleUi};

#[derive(PartialEq, Properties)]
pub struct ConsoleProps {
    pub ui: ConsoleUi,
}

#[component]
pub fn Console(props: &ConsoleProps) -> Html {
    let _ = &props.ui;
    html! { <section class="console" data-testid="console" /> }
}
