//! The page of kafkascope.

mod app;
mod caption;
mod compare;
mod console;
mod dialogs;
mod engine;
mod help;
mod i18n;
mod invariants;
mod keys;
mod lessons;
mod logs;
mod ownership;
mod platform;
mod share;
mod stage;
mod state;
mod story;
mod topbar;
mod topics;
mod transport;
mod widgets;
mod words;
mod znodes;

rust_i18n::i18n!("locales", fallback = "en");

fn main() {
    let root = gloo::utils::document().get_element_by_id("app");
    match root {
        Some(root) => drop(yew::Renderer::<app::App>::with_root(root).render()),
        None => drop(yew::Renderer::<app::App>::new().render()),
    }
}
