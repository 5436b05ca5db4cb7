//! The page's own address.

/// With its `#`, as it stands in the address bar.
pub fn fragment() -> String {
    gloo::utils::window().location().hash().unwrap_or_default()
}

/// The whole address with another fragment.
pub fn with_fragment(fragment: &str) -> String {
    let address = gloo::utils::window().location().href().unwrap_or_default();
    let page = address.split('#').next().unwrap_or_default();
    format!("{page}{fragment}")
}

/// Puts a fragment into the address bar. Nobody is told: the run is here already.
pub fn put_fragment(fragment: &str) -> bool {
    let history = gloo::utils::window().history();
    history.is_ok_and(|history| {
        let url = with_fragment(fragment);
        history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&url)).is_ok()
    })
}
