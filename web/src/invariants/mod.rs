use yew::prelude::*;

#[component]
pub fn Invariants() -> Html {
    html! { <section class="invariants" data-testid="invariants" /> }
}
