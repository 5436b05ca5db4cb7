//! Icons of the sprite in `index.html`.

use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct IconProps {
    /// The symbol's name without its `i-`.
    pub name: &'static str,
    #[prop_or_default]
    pub small: bool,
}

#[component]
pub fn Icon(props: &IconProps) -> Html {
    html! {
        <svg class={classes!("ic", props.small.then_some("s"))} aria-hidden="true">
            <use href={format!("#i-{}", props.name)} />
        </svg>
    }
}
