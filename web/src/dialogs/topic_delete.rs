//! Delete topic: which one, and what goes with it.

use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::Command;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::form::{Form, problem, submit};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct DeleteTopicProps {
    pub topic: AttrValue,
}

fn topics(lab: &Lab) -> Vec<String> {
    view::children(lab, "/brokers/topics").iter().map(|topic| topic.name.to_string()).collect()
}

fn blocked(lab: &Lab, lang: Lang, command: &Command) -> Option<String> {
    lab.check(command).err().map(|refusal| words::refusal(lang, &refusal))
}

#[component]
pub fn DeleteTopic(props: &DeleteTopicProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let refused = use_state(|| None::<String>);
    let mut topics = engine.read(topics);
    let chosen = {
        let first = topics.first().cloned().unwrap_or_default();
        let given = props.topic.to_string();
        use_state(move || if given.is_empty() { first } else { given })
    };
    if !chosen.is_empty() && !topics.contains(&chosen) {
        topics.insert(0, (*chosen).clone());
    }
    let command = Command::DeleteTopic { topic: chosen.as_str().into() };
    let blocked = engine.read(|lab| blocked(lab, lang, &command));
    let go = {
        let refused = refused.clone();
        Callback::from(move |()| submit(&ctx, lang, command.clone(), &refused))
    };
    let select = use_node_ref();
    let onchange = {
        let (chosen, select) = (chosen.clone(), select.clone());
        Callback::from(move |_: Event| {
            if let Some(select) = select.cast::<HtmlSelectElement>() {
                chosen.set(select.value());
            }
        })
    };
    let option = |topic: &String| {
        html! {
            <option value={topic.clone()} selected={*topic == *chosen}>{topic.clone()}</option>
        }
    };
    html! {
        <Form testid="dialog-delete-topic" title={lang.t(k::FORM_TOPIC_DELETE)} icon="kill"
            danger=true label={lang.fill(k::FORM_TOPIC_DELETE_GO, &[("topic", &*chosen)])}
            {blocked} submit={go}>
            <div class="field">
                <label for="field-topic">{lang.t(k::FORM_TOPIC)}</label>
                <select id="field-topic" ref={select} {onchange} autofocus=true
                    data-testid="field-topic">{for topics.iter().map(option)}</select>
                <p class="hint">{lang.rich(k::FORM_TOPIC_DELETE_ABOUT, &[("topic", &*chosen)])}</p>
            </div>
            {problem(refused.as_ref())}
        </Form>
    }
}
