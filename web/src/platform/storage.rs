//! What the page keeps between visits. A browser that forbids it is no error.

const LANG: &str = "kafkascope.lang";
const THEME: &str = "kafkascope.theme";

fn storage() -> Option<web_sys::Storage> {
    gloo::utils::window().local_storage().ok().flatten()
}

fn get(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}

fn set(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(key, value);
    }
}

pub fn lang() -> Option<String> {
    get(LANG)
}

pub fn keep_lang(tag: &str) {
    set(LANG, tag);
}

pub fn theme() -> Option<String> {
    get(THEME)
}

pub fn keep_theme(name: &str) {
    set(THEME, name);
}
