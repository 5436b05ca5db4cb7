//! Link, file save and file open.

use kafkascope_core::script::{Script, ScriptError};
use yew::prelude::*;

/// The run in the address, if there is one.
pub fn initial() -> Option<Result<Script, ScriptError>> {
    None
}

#[component]
pub fn Share() -> Html {
    html! { <div class="dialog share" data-testid="share" /> }
}
