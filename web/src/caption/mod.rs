use yew::prelude::*;

#[component]
pub fn Caption() -> Html {
    html! { <section class="caption" data-testid="caption" /> }
}
