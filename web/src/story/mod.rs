use yew::prelude::*;

use crate::state::{Menu, Selected, StoryFilter};

#[derive(PartialEq, Properties)]
pub struct StoryProps {
    pub filter: StoryFilter,
    pub selected: Option<Selected>,
    pub menu: Option<Menu>,
}

#[component]
pub fn Story(props: &StoryProps) -> Html {
    let _ = (&props.selected, &props.menu, &props.filter);
    html! { <section class="panel story" data-testid="story" /> }
}
