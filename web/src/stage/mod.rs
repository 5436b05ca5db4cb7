use yew::prelude::*;

use crate::state::{Menu, Selected};

#[derive(PartialEq, Properties)]
pub struct StageProps {
    pub selected: Option<Selected>,
    pub menu: Option<Menu>,
}

#[component]
pub fn Stage(props: &StageProps) -> Html {
    let _ = (&props.selected, &props.menu);
    html! { <section class="stage" data-testid="stage" /> }
}
