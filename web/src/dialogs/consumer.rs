//! Add a consumer: its group, what it reads, and how it behaves.

use std::sync::Arc;

use kafkascope_core::base::limits;
use kafkascope_core::kafka::consumer_zk::spec::{ConsumerSpec, Wanted};
use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::{Command, Refusal, Who};
use yew::prelude::*;

use super::form::{Field, Form, Text, Wrong, at, named, number, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub group: Option<AttrValue>,
}

/// The first topic that is not Kafka's own.
pub fn first_topic(lab: &Lab) -> String {
    let topics = view::stage(lab).topics;
    let own = topics.iter().find(|topic| !topic.name.starts_with("__"));
    own.map_or_else(|| "orders".to_owned(), |topic| topic.name.to_string())
}

fn first_group(lab: &Lab) -> String {
    let groups = view::groups(lab).groups;
    groups.first().map_or_else(|| "billing".to_owned(), |group| group.name.to_string())
}

struct Fields {
    name: UseStateHandle<Text>,
    group: UseStateHandle<Text>,
    topics: UseStateHandle<Text>,
    streams: UseStateHandle<Text>,
    commit: UseStateHandle<Text>,
    processing: UseStateHandle<Text>,
    round_robin: UseStateHandle<bool>,
}

/// Names with commas between them, or one pattern.
fn wanted(text: &str, streams: u32) -> Wanted {
    let is_pattern = text.contains(['*', '|', '[', '(', '+', '?', '^', '$', '\\']);
    match is_pattern {
        true => Wanted::WhiteList { regex: text.into(), streams },
        false => {
            let topics = text.split([',', ' ']).filter(|topic| !topic.is_empty());
            Wanted::Topics(topics.map(|topic| (topic.into(), streams)).collect())
        }
    }
}

/// What the fields make, or the first that is wrong.
fn judge(lab: &Lab, lang: Lang, fields: &Fields) -> Result<Command, Wrong> {
    let name = named(lang, "consumer-name", &fields.name, limits::CLIENT_NAME)?;
    let group = named(lang, "consumer-group", &fields.group, limits::CLIENT_NAME)?;
    let streams =
        number(lang, "consumer-streams", &fields.streams.value, (1, limits::STREAMS.into()))?;
    let topics = fields.topics.value.trim();
    if topics.is_empty() {
        return Err(("consumer-topics", lang.t(k::FORM_EMPTY).to_string()));
    }
    let mut set: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    if let Some(ms) = fields.commit.optional() {
        let ms = number(lang, "consumer-commit", &ms, (1, 86_400_000))?;
        set.push(("auto.commit.interval.ms".into(), ms.to_string().into()));
    }
    if let Some(ms) = fields.processing.optional() {
        let ms = number(lang, "consumer-processing", &ms, (0, 60_000))?;
        set.push(("processing.us".into(), (ms * 1_000).to_string().into()));
    }
    if *fields.round_robin {
        set.push(("partition.assignment.strategy".into(), "roundrobin".into()));
    }
    let wanted = wanted(topics, u32::try_from(streams).unwrap_or(u32::MAX));
    let spec = Arc::new(ConsumerSpec { group, wanted, set });
    let command = Command::StartConsumer { name, spec };
    match lab.check(&command) {
        Ok(()) => Ok(command),
        Err(refusal) => {
            let field = match refusal {
                Refusal::AlreadyRunning(_) => "consumer-name",
                // The other names are fine: it is a topic's, or the pattern.
                Refusal::BadName { .. } | Refusal::BadPattern { .. } => "consumer-topics",
                _ => "",
            };
            Err((field, words::refusal(lang, &refusal)))
        }
    }
}

#[component]
pub fn AddConsumer(props: &Props) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let (engine, group) = (engine.clone(), props.group.clone());
        use_memo((), move |()| {
            engine.read(|lab| {
                let group = group.map_or_else(|| first_group(lab), |group| group.to_string());
                (super::next_name(lab, "c", Who::Consumer), group, first_topic(lab))
            })
        })
    };
    let fields = Fields {
        name: use_state(|| Text::new(first.0.clone())),
        group: use_state(|| Text::new(first.1.clone())),
        topics: use_state(|| Text::new(first.2.clone())),
        streams: use_state(|| Text::new("1")),
        commit: use_state(Text::default),
        processing: use_state(Text::default),
        round_robin: use_state(|| false),
    };
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &fields));
    let textbook = engine.read(view::release).is_none();
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let pressed = touch(&[
        fields.name.clone(),
        fields.group.clone(),
        fields.topics.clone(),
        fields.streams.clone(),
        fields.commit.clone(),
        fields.processing.clone(),
    ]);
    html! {
        <Form testid="dialog-add-consumer" title={lang.t(k::FORM_CONSUMER)} icon="consumer"
            submit={go} label={lang.t(k::FORM_CONSUMER_GO)} {pressed}
            blocked={wrong.as_ref().map(|(_, why)| why.clone())}>
            {inputs(lang, &fields, wrong.as_ref(), textbook)}
            {problem(at(wrong.as_ref(), "").as_ref().or(refused.as_ref()))}
        </Form>
    }
}

fn inputs(lang: Lang, fields: &Fields, wrong: Option<&Wrong>, textbook: bool) -> Html {
    let toggle = {
        let round_robin = fields.round_robin.clone();
        Callback::from(move |_: Event| round_robin.set(!*round_robin))
    };
    html! {
        <>
            <div class="pair-fields">
                <Field id="consumer-name" label={lang.t(k::FORM_NAME)} text={fields.name.clone()}
                    first=true problem={at(wrong, "consumer-name")} />
                <Field id="consumer-group" label={lang.t(k::FORM_GROUP)}
                    text={fields.group.clone()} problem={at(wrong, "consumer-group")} />
            </div>
            <Field id="consumer-topics" label={lang.t(k::FORM_TOPICS)}
                text={fields.topics.clone()} hint={lang.t(k::FORM_TOPICS_HINT)}
                problem={at(wrong, "consumer-topics")} />
            <div class="pair-fields">
                if !textbook {
                    <Field id="consumer-streams" label={lang.t(k::FORM_STREAMS)} numeric=true
                        text={fields.streams.clone()} hint={lang.t(k::FORM_STREAMS_HINT)}
                        problem={at(wrong, "consumer-streams")} />
                }
                <Field id="consumer-commit" label={lang.t(k::FORM_COMMIT)} numeric=true
                    text={fields.commit.clone()} problem={at(wrong, "consumer-commit")}
                    placeholder={if textbook { "5000" } else { "60000" }} />
                <Field id="consumer-processing" label={lang.t(k::FORM_PROCESSING)} numeric=true
                    text={fields.processing.clone()} placeholder="0"
                    problem={at(wrong, "consumer-processing")} />
            </div>
            if !textbook {
                <label class="check">
                    <input type="checkbox" checked={*fields.round_robin} onchange={toggle}
                        data-testid="field-consumer-roundrobin" />
                    {lang.t(k::FORM_ROUND_ROBIN)}
                </label>
            }
        </>
    }
}
