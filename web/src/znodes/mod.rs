//! The znode tree (side panel) and the node inspector (dock).

mod state;

use yew::prelude::*;

pub use state::{ZnodesAction, ZnodesUi};

use crate::state::Selected;

#[derive(PartialEq, Properties)]
pub struct TreeProps {
    pub ui: ZnodesUi,
    pub selected: Option<Selected>,
}

#[component]
pub fn Tree(props: &TreeProps) -> Html {
    let _ = (&props.ui, &props.selected);
    html! { <section class="panel znodes" data-testid="znodes" /> }
}

#[derive(PartialEq, Properties)]
pub struct InspectorProps {
    pub selected: Option<Selected>,
}

#[component]
pub fn Inspector(props: &InspectorProps) -> Html {
    let _ = &props.selected;
    html! { <section class="inspector" data-testid="inspector" /> }
}
