//! Add a producer: where it sends, how often, with which keys.

use kafkascope_core::view;
use kafkascope_core::world::Who;
use yew::prelude::*;

use super::consumer::{first_topic, judge, next_name};
use super::form::{Field, Form, Text, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{k, use_lang};

#[component]
pub fn AddProducer() -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let engine = engine.clone();
        use_memo((), move |()| {
            engine.read(|lab| (next_name(lab, "p", Who::Producer), first_topic(lab)))
        })
    };
    let name = use_state(|| Text::new(first.0.clone()));
    let topic = use_state(|| Text::new(first.1.clone()));
    let every = use_state(|| Text::new("500"));
    let keys = use_state(Text::default);
    let acks = use_state(|| Text::new("1"));
    let java = use_state(|| false);
    let refused = use_state(|| None::<String>);
    let mut line = format!("start producer {}", name.value.trim());
    if *java {
        line += " kind java";
    }
    line += &format!(" acks {}", acks.value.trim());
    if let Some(topic) = topic.optional() {
        line += &format!(" topic {topic} every {}ms", every.value.trim());
        if let Some(keys) = keys.optional() {
            line += &format!(" keys {}", keys.replace(' ', ""));
        }
    }
    let verdict = engine.read(|lab| judge(lab, lang, &line));
    let textbook = engine.read(view::release).is_none();
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let toggle = {
        let java = java.clone();
        Callback::from(move |_: Event| java.set(!*java))
    };
    html! {
        <Form testid="dialog-add-producer" title={lang.t(k::FORM_PRODUCER)} icon="producer"
            submit={go} label={lang.t(k::FORM_PRODUCER_GO)} blocked={wrong.clone()}
            pressed={touch(&[name.clone(), topic.clone()])}>
            <div class="pair-fields">
                <Field id="producer-name" label={lang.t(k::FORM_NAME)} text={name} first=true />
                <Field id="producer-topic" label={lang.t(k::FORM_TOPIC)} text={topic} />
            </div>
            <div class="pair-fields">
                <Field id="producer-every" label={lang.t(k::FORM_EVERY)} numeric=true
                    text={every} />
                <Field id="producer-acks" label={lang.t(k::FORM_ACKS)} text={acks}
                    hint={lang.t(k::FORM_ACKS_HINT)} />
            </div>
            <Field id="producer-keys" label={lang.t(k::FORM_KEYS)} text={keys}
                hint={lang.t(k::FORM_KEYS_HINT)} placeholder="a,b,c" />
            if !textbook {
                <label class="check">
                    <input type="checkbox" checked={*java} onchange={toggle}
                        data-testid="field-producer-java" />
                    {lang.t(k::FORM_JAVA)}
                </label>
            }
            {problem(wrong.as_ref().or(refused.as_ref()))}
        </Form>
    }
}
