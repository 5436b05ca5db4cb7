//! A menu that hangs from a button: arrows move, Escape closes, a disabled entry says why.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::Icon;

/// An entry. Disabled ones stay in the list, with the reason.
#[derive(Clone, PartialEq)]
pub struct Item {
    pub id: AttrValue,
    /// Stands above this entry: the first of its kind.
    pub heading: Option<AttrValue>,
    pub icon: Option<&'static str>,
    pub label: AttrValue,
    pub note: Option<AttrValue>,
    pub checked: Option<bool>,
    pub danger: bool,
    /// Why it can't be chosen now.
    pub disabled: Option<AttrValue>,
    pub choose: Callback<()>,
}

impl Item {
    pub fn new(
        id: impl Into<AttrValue>,
        label: impl Into<AttrValue>,
        choose: Callback<()>,
    ) -> Item {
        Item {
            id: id.into(),
            heading: None,
            icon: None,
            label: label.into(),
            note: None,
            checked: None,
            danger: false,
            disabled: None,
            choose,
        }
    }
}

#[derive(PartialEq, Properties)]
pub struct MenuButtonProps {
    /// The stable name of the button; the menu is `…-menu`, an entry `…-item-ID`.
    pub testid: AttrValue,
    pub open: bool,
    pub toggle: Callback<()>,
    pub close: Callback<()>,
    pub items: Vec<Item>,
    #[prop_or_default]
    pub class: Classes,
    /// Opens upwards, to the left.
    #[prop_or_default]
    pub up: bool,
    #[prop_or_default]
    pub right: bool,
    /// For buttons without words.
    #[prop_or_default]
    pub label: Option<AttrValue>,
    pub children: Html,
}

#[component]
pub fn MenuButton(props: &MenuButtonProps) -> Html {
    let anchor = use_node_ref();
    use_effect_with((props.open, anchor.clone()), |(open, anchor)| {
        if *open && let Some(root) = anchor.cast::<HtmlElement>() {
            focus_item(&root, 0);
        }
    });
    let onkeydown = {
        let (anchor, close) = (anchor.clone(), props.close.clone());
        let open = props.open;
        Callback::from(move |event: KeyboardEvent| {
            if let Some(root) = anchor.cast::<HtmlElement>().filter(|_| open) {
                on_key(&root, &event, &close);
            }
        })
    };
    let onfocusout = {
        let (anchor, close, open) = (anchor.clone(), props.close.clone(), props.open);
        Callback::from(move |event: FocusEvent| {
            let inside = event
                .related_target()
                .and_then(|target| target.dyn_into::<web_sys::Node>().ok())
                .is_some_and(|node| {
                    anchor.cast::<HtmlElement>().is_some_and(|root| root.contains(Some(&node)))
                });
            if open && !inside && event.related_target().is_some() {
                close.emit(());
            }
        })
    };
    let toggle = props.toggle.reform(|_: MouseEvent| ());
    html! {
        <div class="menu-anchor" ref={anchor} {onkeydown} {onfocusout}>
            <button type="button" class={props.class.clone()} data-testid={props.testid.clone()}
                aria-haspopup="menu" aria-expanded={props.open.to_string()}
                aria-label={props.label.clone()} title={props.label.clone()} onclick={toggle}>
                {props.children.clone()}
            </button>
            if props.open {
                <Scrim close={props.close.clone()} />
                <div role="menu" data-testid={format!("{}-menu", props.testid)}
                    class={classes!("menu", props.up.then_some("up"),
                        props.right.then_some("right"))}>
                    {for props.items.iter().map(|item| entry(&props.testid, item, &props.close))}
                </div>
            }
        </div>
    }
}

/// Takes the click that lands beside the menu.
#[derive(PartialEq, Properties)]
struct ScrimProps {
    close: Callback<()>,
}

#[component]
fn Scrim(props: &ScrimProps) -> Html {
    let onclick = props.close.reform(|_: MouseEvent| ());
    html! { <div class="scrim" {onclick} /> }
}

pub fn entry(menu: &str, item: &Item, close: &Callback<()>) -> Html {
    let onclick = {
        let (choose, close, enabled) =
            (item.choose.clone(), close.clone(), item.disabled.is_none());
        Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            if enabled {
                close.emit(());
                choose.emit(());
            }
        })
    };
    let role = if item.checked.is_some() { "menuitemradio" } else { "menuitem" };
    let note = item.disabled.clone().or_else(|| item.note.clone());
    let button = html! {
        <button type="button" {role} key={item.id.as_str()} {onclick} tabindex="-1"
            class={classes!("item", item.danger.then_some("danger"))}
            data-testid={format!("{menu}-item-{}", item.id)}
            aria-checked={item.checked.map(|checked| checked.to_string())}
            aria-disabled={item.disabled.is_some().then_some("true")}>
            if let Some(name) = item.icon {
                <Icon {name} small=true />
            } else if let Some(checked) = item.checked {
                if checked { <Icon name="check" small=true /> } else { <span class="ic s" /> }
            }
            <span>
                {item.label.clone()}
                if let Some(note) = note { <small>{note}</small> }
            </span>
        </button>
    };
    match &item.heading {
        Some(heading) => html! { <><h3 role="presentation">{heading}</h3>{button}</> },
        None => button,
    }
}

fn focus_item(root: &HtmlElement, step: i32) {
    let Ok(items) = root.query_selector_all("[role=menu] button") else { return };
    let count = items.length();
    if count == 0 {
        return;
    }
    let active = gloo::utils::document().active_element();
    let at = (0..count).find(|index| {
        items.item(*index).and_then(|node| node.dyn_into::<web_sys::Element>().ok()) == active
    });
    let next = match at {
        Some(at) => (i64::from(at) + i64::from(step)).rem_euclid(i64::from(count)),
        None => 0,
    };
    let next = u32::try_from(next).ok().and_then(|next| items.item(next));
    if let Some(element) = next.and_then(|node| node.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

fn on_key(root: &HtmlElement, event: &KeyboardEvent, close: &Callback<()>) {
    match event.key().as_str() {
        "ArrowDown" => focus_item(root, 1),
        "ArrowUp" => focus_item(root, -1),
        "Escape" => {
            close.emit(());
            let button = root.query_selector("[aria-haspopup]").ok().flatten();
            if let Some(button) = button.and_then(|b| b.dyn_into::<HtmlElement>().ok()) {
                let _ = button.focus();
            }
        }
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}
