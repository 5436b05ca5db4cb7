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
