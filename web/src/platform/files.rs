//! Clipboard and downloads.

use std::cell::RefCell;

use gloo::file::{Blob, ObjectUrl};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use yew::Callback;

thread_local! {
    /// Until the next one: a browser may still be reading it.
    static LAST: RefCell<Option<ObjectUrl>> = const { RefCell::new(None) };
}

/// Offers a text as a file.
pub fn save(name: &str, text: &str) -> bool {
    let url = ObjectUrl::from(Blob::new_with_options(text, Some("text/plain;charset=utf-8")));
    let anchor = gloo::utils::document()
        .create_element("a")
        .ok()
        .and_then(|element| element.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    let Some(anchor) = anchor else { return false };
    anchor.set_href(&url);
    anchor.set_download(name);
    anchor.click();
    LAST.with_borrow_mut(|last| *last = Some(url));
    true
}

/// Copies a text; `done` hears whether it worked. Pages that aren't secure have no clipboard.
pub fn copy(text: &str, done: Callback<bool>) {
    let navigator = gloo::utils::window().navigator();
    let has = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard"))
        .is_ok_and(|clipboard| clipboard.is_object());
    if !has {
        done.emit(false);
        return;
    }
    let well = {
        let done = done.clone();
        Closure::once(move |_: JsValue| done.emit(true))
    };
    let badly = Closure::once(move |_: JsValue| done.emit(false));
    let _ = navigator.clipboard().write_text(text).then2(&well, &badly);
    // They are called once, later, by the browser.
    well.forget();
    badly.forget();
}
