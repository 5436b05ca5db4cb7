//! Add a producer: where it sends, how often, with which keys.

use std::sync::Arc;

use kafkascope_core::base::{Span, limits};
use kafkascope_core::kafka::producer::{Kind, Partitioner, ProducerSpec, Stream, Tries, keys};
use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::{Command, Refusal, Who};
use yew::prelude::*;

use super::consumer::first_topic;
use super::form::{Field, Form, Text, Wrong, at, named, number, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

/// `topic.metadata.refresh.interval.ms` of 0.8. [spec producer.md O2]
const REFRESH_MS: u32 = 600_000;

struct Fields {
    name: UseStateHandle<Text>,
    topic: UseStateHandle<Text>,
    every: UseStateHandle<Text>,
    keys: UseStateHandle<Text>,
    acks: UseStateHandle<Text>,
    java: UseStateHandle<bool>,
}

/// What the fields make, or the first that is wrong.
fn judge(lab: &Lab, lang: Lang, fields: &Fields) -> Result<Command, Wrong> {
    let name = named(lang, "producer-name", &fields.name, limits::CLIENT_NAME)?;
    let acks = match fields.acks.value.trim() {
        "all" | "-1" => -1,
        text => i16::try_from(number(lang, "producer-acks", text, (0, 100))?).unwrap_or(1),
    };
    let mut stream = None;
    if fields.topic.optional().is_some() {
        let topic = named(lang, "producer-topic", &fields.topic, limits::TOPIC_NAME)?;
        let every = number(lang, "producer-every", &fields.every.value, (1, 86_400_000))?;
        let keys = keys::turns(fields.keys.value.split([',', ' ']))
            .map_err(|bad| ("producer-keys", lang.fill(k::FORM_KEYS_BAD, &[("given", &bad)])))?;
        stream = Some(Stream { topic, every: Span::from_millis(every), keys, count: None });
    }
    let kind = fields.java.then_some(Kind::Java);
    let (partitioner, refresh_ms) = (Partitioner::Default, REFRESH_MS);
    let spec = Arc::new(ProducerSpec {
        kind,
        acks,
        partitioner,
        refresh_ms,
        tries: Tries::default(),
        brokers: Arc::default(),
        stream,
    });
    let command = Command::StartProducer { name, spec };
    match lab.check(&command) {
        Ok(()) => Ok(command),
        Err(refusal) => {
            let field = match refusal {
                Refusal::AlreadyRunning(_) => "producer-name",
                // The other names are fine: it is a key's.
                Refusal::BadName { .. } => "producer-keys",
                _ => "",
            };
            Err((field, words::refusal(lang, &refusal)))
        }
    }
}

#[component]
pub fn AddProducer() -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let engine = engine.clone();
        use_memo((), move |()| {
            engine.read(|lab| (super::next_name(lab, "p", Who::Producer), first_topic(lab)))
        })
    };
    let fields = Fields {
        name: use_state(|| Text::new(first.0.clone())),
        topic: use_state(|| Text::new(first.1.clone())),
        every: use_state(|| Text::new("500")),
        keys: use_state(Text::default),
        acks: use_state(|| Text::new("1")),
        java: use_state(|| false),
    };
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &fields));
    let textbook = engine.read(view::release).is_none();
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let pressed = touch(&[
        fields.name.clone(),
        fields.topic.clone(),
        fields.every.clone(),
        fields.keys.clone(),
        fields.acks.clone(),
    ]);
    html! {
        <Form testid="dialog-add-producer" title={lang.t(k::FORM_PRODUCER)} icon="producer"
            submit={go} label={lang.t(k::FORM_PRODUCER_GO)} {pressed}
            blocked={wrong.as_ref().map(|(_, why)| why.clone())}>
            {inputs(lang, &fields, wrong.as_ref(), textbook)}
            {problem(at(wrong.as_ref(), "").as_ref().or(refused.as_ref()))}
        </Form>
    }
}

fn inputs(lang: Lang, fields: &Fields, wrong: Option<&Wrong>, textbook: bool) -> Html {
    let toggle = {
        let java = fields.java.clone();
        Callback::from(move |_: Event| java.set(!*java))
    };
    html! {
        <>
            <div class="pair-fields">
                <Field id="producer-name" label={lang.t(k::FORM_NAME)} text={fields.name.clone()}
                    first=true problem={at(wrong, "producer-name")} />
                <Field id="producer-topic" label={lang.t(k::FORM_TOPIC)}
                    text={fields.topic.clone()} problem={at(wrong, "producer-topic")} />
            </div>
            <div class="pair-fields">
                <Field id="producer-every" label={lang.t(k::FORM_EVERY)} numeric=true
                    text={fields.every.clone()} problem={at(wrong, "producer-every")} />
                <Field id="producer-acks" label={lang.t(k::FORM_ACKS)} text={fields.acks.clone()}
                    hint={lang.t(k::FORM_ACKS_HINT)} problem={at(wrong, "producer-acks")} />
            </div>
            <Field id="producer-keys" label={lang.t(k::FORM_KEYS)} text={fields.keys.clone()}
                hint={lang.t(k::FORM_KEYS_HINT)} placeholder="a*8,b,c"
                problem={at(wrong, "producer-keys")} />
            if !textbook {
                <label class="check">
                    <input type="checkbox" checked={*fields.java} onchange={toggle}
                        data-testid="field-producer-java" />
                    {lang.t(k::FORM_JAVA)}
                </label>
            }
        </>
    }
}
