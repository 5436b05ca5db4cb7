//! A dialog: takes the focus, keeps it, gives it back; Escape and the click beside close it.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::Icon;
use crate::app::use_action;
use crate::i18n::{k, use_lang};
use crate::state::UiAction;

#[derive(PartialEq, Properties)]
pub struct ModalProps {
    pub testid: AttrValue,
    pub title: AttrValue,
    /// Wider, for text.
    #[prop_or_default]
    pub wide: bool,
    pub children: Html,
}

#[component]
pub fn Modal(props: &ModalProps) -> Html {
    let lang = use_lang();
    let close = use_action()(UiAction::CloseDialog);
    let root = use_node_ref();
    use_effect_with(root.clone(), |root| {
        let before = gloo::utils::document().active_element();
        if let Some(root) = root.cast::<HtmlElement>() {
            let first = root
                .query_selector("[autofocus], input, select, textarea, .mbody button")
                .ok()
                .flatten()
                .and_then(|element| element.dyn_into::<HtmlElement>().ok())
                .unwrap_or(root);
            let _ = first.focus();
        }
        move || {
            if let Some(element) = before.and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
                let _ = element.focus();
            }
        }
    });
    let onkeydown = {
        let (root, close) = (root.clone(), close.clone());
        Callback::from(move |event: KeyboardEvent| match event.key().as_str() {
            "Escape" => {
                event.stop_propagation();
                close.emit(());
            }
            "Tab" => {
                if let Some(root) = root.cast::<HtmlElement>() {
                    keep_focus(&root, &event);
                }
            }
            _ => {}
        })
    };
    let beside = close.reform(|_: MouseEvent| ());
    let inside = Callback::from(|event: MouseEvent| event.stop_propagation());
    html! {
        <div class="modal-back" onclick={beside.clone()}>
            <div class={classes!("modal", props.wide.then_some("wide"))} role="dialog"
                aria-modal="true" aria-label={props.title.clone()} tabindex="-1"
                data-testid={props.testid.clone()} ref={root} {onkeydown} onclick={inside}>
                <div class="mhead">
                    <h2>{props.title.clone()}</h2>
                    <span class="grow" />
                    <button type="button" class="btn quiet icon" onclick={beside}
                        aria-label={lang.t(k::DIALOG_CLOSE)}
                        data-testid={format!("{}-close", props.testid)}>
                        <Icon name="close" small=true />
                    </button>
                </div>
                <div class="mbody">{props.children.clone()}</div>
            </div>
        </div>
    }
}

/// Tab goes round within the dialog.
fn keep_focus(root: &HtmlElement, event: &KeyboardEvent) {
    let query = "button, a[href], input, select, textarea, [tabindex='0']";
    let Ok(all) = root.query_selector_all(query) else { return };
    let at = |index: u32| all.item(index).and_then(|node| node.dyn_into::<HtmlElement>().ok());
    let (Some(first), Some(last)) = (at(0), all.length().checked_sub(1).and_then(at)) else {
        return;
    };
    let active = gloo::utils::document().active_element();
    let is = |element: &HtmlElement| active.as_ref().is_some_and(|a| a.is_same_node(Some(element)));
    let (from, to) = if event.shift_key() { (first, last) } else { (last, first) };
    if is(&from) {
        event.prevent_default();
        let _ = to.focus();
    }
}
