//! What the system prefers.

fn matches(query: &str) -> bool {
    gloo::utils::window().match_media(query).ok().flatten().is_some_and(|list| list.matches())
}

pub fn reduced_motion() -> bool {
    matches("(prefers-reduced-motion: reduce)")
}

pub fn dark() -> bool {
    matches("(prefers-color-scheme: dark)")
}

/// The browser's first language.
pub fn language() -> String {
    gloo::utils::window().navigator().language().unwrap_or_default()
}

/// Scrolls to the first element that fits the selector, where the page is one long column.
pub fn show_if_narrow(selector: &str) {
    if !matches("(max-width: 1179px)") {
        return;
    }
    let document = gloo::utils::document();
    let (element, top) = (document.query_selector(selector), document.query_selector(".top"));
    if let (Ok(Some(element)), Ok(top)) = (element, top) {
        let covered = top.map_or(0.0, |top| f64::from(top.client_height()));
        let window = gloo::utils::window();
        let offset = window.scroll_y().unwrap_or_default();
        let y = element.get_bounding_client_rect().top() + offset - covered;
        window.scroll_to_with_x_and_y(0.0, y);
    }
}
