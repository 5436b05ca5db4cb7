//! Keyboard map, legend, and what the model leaves out.

use yew::prelude::*;

#[component]
pub fn Help() -> Html {
    html! { <div class="dialog help" data-testid="help" /> }
}
