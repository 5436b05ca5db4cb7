//! Keyboard map, legend, and what the model leaves out.

mod legend;
mod markdown;

use yew::prelude::*;

use crate::i18n::{Key, Lang, k, use_lang};
use crate::widgets::Modal;

pub const FIDELITY_EN: &str = include_str!("../../../docs/fidelity.md");
pub const FIDELITY_ZH: &str = include_str!("../../../docs/fidelity.zh-CN.md");

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Keys,
    Legend,
    Honesty,
}

const PARTS: [(Part, &str, Key); 3] = [
    (Part::Keys, "help-tab-keys", k::HELP_KEYS),
    (Part::Legend, "help-tab-legend", k::HELP_LEGEND),
    (Part::Honesty, "help-tab-honesty", k::HELP_HONESTY),
];

/// Keys, and what they do.
const KEYS: [(&[&str], Key); 12] = [
    (&["space"], k::HELP_KEY_PLAY),
    (&["→"], k::HELP_KEY_STEP),
    (&["←"], k::HELP_KEY_BACK),
    (&["shift →"], k::HELP_KEY_MESSAGE),
    (&["shift ←"], k::HELP_KEY_MESSAGE_BACK),
    (&[".", "PageDown"], k::HELP_KEY_NEXT),
    (&["PageUp"], k::HELP_KEY_PREVIOUS),
    (&["↵"], k::HELP_KEY_LESSON),
    (&["1", "2", "3", "A", "B", "C"], k::HELP_KEY_CHOOSE),
    (&["esc"], k::HELP_KEY_ESCAPE),
    (&["?"], k::HELP_KEY_HELP),
    (&["tab", "↵"], k::HELP_KEY_TAB),
];

#[component]
pub fn Help() -> Html {
    let lang = use_lang();
    let part = use_state(|| Part::Keys);
    let tabs = PARTS.iter().map(|(this, id, name)| {
        let (part, this) = (part.clone(), *this);
        let pressed = *part == this;
        let onclick = Callback::from(move |_: MouseEvent| part.set(this));
        html! {
            <button type="button" aria-pressed={pressed.to_string()} data-testid={*id} {onclick}>
                {lang.t(*name)}
            </button>
        }
    });
    html! {
        <Modal testid="help" title={lang.t(k::HELP_TITLE)} wide=true>
            <div class="seg help-parts">{for tabs}</div>
            <div class="help-body">
                {match *part {
                    Part::Keys => keys(lang),
                    Part::Legend => legend::html(lang),
                    Part::Honesty => html! { <Honesty /> },
                }}
            </div>
        </Modal>
    }
}

fn keys(lang: Lang) -> Html {
    html! {
        <dl class="keys" data-testid="help-keys">
            {for KEYS.iter().map(|(names, what)| html! {
                <div>
                    <dt>{for names.iter().map(|name| html! { <kbd class="kbd">{*name}</kbd> })}</dt>
                    <dd>{lang.t(*what)}</dd>
                </div>
            })}
        </dl>
    }
}

/// What is held to the real thing, and what isn't there.
#[component]
fn Honesty() -> Html {
    let lang = use_lang();
    let text = match lang {
        Lang::En => FIDELITY_EN,
        Lang::Zh => FIDELITY_ZH,
    };
    html! { <div class="doc" data-testid="honesty">{markdown::html(&markdown::parse(text))}</div> }
}
