//! The keyboard of the page. Nothing is taken from somebody who types.

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use crate::app::Ctx;
use crate::lessons;
use crate::state::{Dialog, UiAction, UiState};

#[hook]
pub fn use_keys(ctx: &Ctx, ui: &UseReducerHandle<UiState>) {
    // The listener stays; it looks at the newest state through a cell.
    let newest = use_mut_ref(UiState::default);
    *newest.borrow_mut() = (**ui).clone();
    let ctx = ctx.clone();
    use_effect_with((), move |()| {
        let document = gloo::utils::document();
        let options = EventListenerOptions::enable_prevent_default();
        let listener =
            EventListener::new_with_options(&document, "keydown", options, move |event| {
                if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                    let ui = newest.borrow().clone();
                    if on_key(&ctx, &ui, event) {
                        event.prevent_default();
                    }
                }
            });
        move || drop(listener)
    });
}

/// Whether the key's target needs it for itself.
fn is_typing(event: &KeyboardEvent) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok())
    else {
        return false;
    };
    matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
        || target.is_content_editable()
}

/// Buttons take space and Enter; sliders and menus take arrows.
fn is_taken(event: &KeyboardEvent) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok())
    else {
        return false;
    };
    let role = target.get_attribute("role").unwrap_or_default();
    match event.key().as_str() {
        " " => target.tag_name() == "BUTTON" || target.tag_name() == "A" || role == "button",
        "ArrowLeft" | "ArrowRight" => {
            matches!(role.as_str(), "slider" | "treeitem" | "tab" | "menuitem" | "menuitemradio")
        }
        _ => false,
    }
}

fn is_button(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
    target.is_some_and(|target| matches!(target.tag_name().as_str(), "BUTTON" | "A"))
}

/// True if the key was for the page.
fn on_key(ctx: &Ctx, ui: &UiState, event: &KeyboardEvent) -> bool {
    let key = event.key();
    if key == "Escape" {
        ctx.act(UiAction::Escape);
        return false;
    }
    let elsewhere = event.ctrl_key() || event.meta_key() || event.alt_key();
    if elsewhere || event.default_prevented() || is_typing(event) || is_taken(event) {
        return false;
    }
    if ui.dialog.is_some() {
        return false;
    }
    // Enter presses the button that has the focus.
    let pressed = key == "Enter" && is_button(event);
    if !pressed && lessons::on_key(&ui.lesson, ctx, &key) {
        return true;
    }
    let engine = &ctx.engine;
    match (key.as_str(), event.shift_key()) {
        (" ", _) => engine.toggle_playing(),
        ("ArrowRight", false) => engine.step(),
        ("ArrowLeft", false) => engine.back(),
        ("ArrowRight", true) => engine.message(),
        ("ArrowLeft", true) => engine.message_back(),
        // Slide remotes send a page or a dot.
        ("." | "PageDown", _) => {
            if !lessons::next(&ui.lesson, ctx) {
                engine.step();
            }
        }
        ("PageUp", _) => engine.back(),
        ("?", _) => ctx.act(UiAction::OpenDialog(Dialog::Help)),
        _ => return false,
    }
    true
}
