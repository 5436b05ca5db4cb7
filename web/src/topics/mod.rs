//! The topics in the words of the release's own tool, to read and to copy.

use kafkascope_core::formats::describe;
use kafkascope_core::view;
use yew::prelude::*;

use crate::engine::use_world;
use crate::i18n::{Key, k, use_lang};
use crate::platform::files;
use crate::widgets::Icon;

#[component]
pub fn Topics() -> Html {
    let lang = use_lang();
    let engine = use_world();
    let told = use_state(|| None::<Key>);
    let stage = engine.read(view::stage);
    let text = describe::describe(&stage);
    let copy = {
        let (text, told) = (text.clone(), told.clone());
        Callback::from(move |_: MouseEvent| {
            let told = told.clone();
            let done = Callback::from(move |well: bool| {
                told.set(Some(if well { k::SHARE_COPIED } else { k::SHARE_NO_CLIPBOARD }));
            });
            files::copy(&text, done);
        })
    };
    let about = match stage.release {
        Some(release) => lang.fill(k::TOPICS_ABOUT, &[("release", &release.as_str())]),
        None => lang.t(k::TOPICS_TEXTBOOK).to_string(),
    };
    html! {
        <section class="topics" data-testid="topics" aria-label={lang.t(k::DOCK_TOPICS)}>
            <p class="compare-head">
                <span><code>{"kafka-topics --describe"}</code>{" "}{about}</span>
                <button type="button" class="btn" data-testid="topics-copy" onclick={copy}
                    disabled={text.is_empty()}>
                    <Icon name="link" small=true />{lang.t(k::TOPICS_COPY)}
                </button>
                if let Some(told) = *told { <span role="status">{lang.t(told)}</span> }
            </p>
            if text.is_empty() {
                <p class="empty">{lang.t(k::TOPICS_NONE)}</p>
            } else {
                <pre tabindex="0" data-testid="topics-text">{text}</pre>
            }
        </section>
    }
}
