//! Add a consumer: its group, what it reads, and how it behaves.

use std::sync::Arc;

use kafkascope_core::lab::Lab;
use kafkascope_core::script::parse_command;
use kafkascope_core::view;
use kafkascope_core::world::{Command, Who};
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::share::problem as script_problem;
use crate::words;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub group: Option<AttrValue>,
}

pub fn next_name(lab: &Lab, stem: &str, who: impl Fn(Arc<str>) -> Who) -> String {
    let procs = &lab.world().procs;
    let free = |name: &String| {
        let who = who(name.as_str().into());
        !procs.iter().any(|proc| proc.who().as_ref() == Some(&who))
    };
    (1..).map(|n| format!("{stem}{n}")).find(free).unwrap_or_default()
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

/// What the fields make, in the words of a script: one grammar says what is wrong.
fn line(fields: &Fields) -> String {
    let mut line =
        format!("start consumer {} group {}", fields.name.value.trim(), fields.group.value.trim());
    let streams = fields.streams.value.trim();
    let streams = match streams {
        "" | "1" => String::new(),
        n => format!(" streams {n}"),
    };
    let wanted = fields.topics.value.trim();
    let is_pattern = wanted.contains(['*', '|', '[', '(', '+', '?', '^', '$', '\\']);
    if is_pattern {
        line += &format!(" whitelist {wanted}{streams}");
    } else {
        for topic in wanted.split([',', ' ']).filter(|topic| !topic.is_empty()) {
            line += &format!(" topic {topic}{streams}");
        }
    }
    let ms = |name: &str, text: &Text, scale: &str| match text.value.trim() {
        "" => String::new(),
        value => format!(" with {name}={value}{scale}"),
    };
    line += &ms("auto.commit.interval.ms", &fields.commit, "");
    line += &ms("processing.us", &fields.processing, "000");
    if *fields.round_robin {
        line += " with partition.assignment.strategy=roundrobin";
    }
    line
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

/// The command, or what is wrong with the line or with the moment.
pub fn judge(lab: &Lab, lang: Lang, line: &str) -> Result<Command, String> {
    let command =
        parse_command(line).map_err(|error| script_problem::problem(lang, &error.problem))?;
    match lab.check(&command) {
        Ok(()) => Ok(command),
        Err(refusal) => Err(words::refusal(lang, &refusal)),
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
                (next_name(lab, "c", Who::Consumer), group, first_topic(lab))
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
    let verdict = engine.read(|lab| judge(lab, lang, &line(&fields)));
    let textbook = engine.read(view::release).is_none();
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let pressed = touch(&[fields.name.clone(), fields.group.clone(), fields.topics.clone()]);
    let toggle = {
        let round_robin = fields.round_robin.clone();
        Callback::from(move |_: Event| round_robin.set(!*round_robin))
    };
    html! {
        <Form testid="dialog-add-consumer" title={lang.t(k::FORM_CONSUMER)} icon="consumer"
            submit={go} label={lang.t(k::FORM_CONSUMER_GO)} blocked={wrong.clone()} {pressed}>
            <div class="pair-fields">
                <Field id="consumer-name" label={lang.t(k::FORM_NAME)} text={fields.name.clone()}
                    first=true />
                <Field id="consumer-group" label={lang.t(k::FORM_GROUP)}
                    text={fields.group.clone()} />
            </div>
            <Field id="consumer-topics" label={lang.t(k::FORM_TOPICS)} text={fields.topics.clone()}
                hint={lang.t(k::FORM_TOPICS_HINT)} />
            <div class="pair-fields">
                if !textbook {
                    <Field id="consumer-streams" label={lang.t(k::FORM_STREAMS)} numeric=true
                        text={fields.streams.clone()} hint={lang.t(k::FORM_STREAMS_HINT)} />
                }
                <Field id="consumer-commit" label={lang.t(k::FORM_COMMIT)} numeric=true
                    text={fields.commit.clone()}
                    placeholder={if textbook { "5000" } else { "60000" }} />
                <Field id="consumer-processing" label={lang.t(k::FORM_PROCESSING)} numeric=true
                    text={fields.processing.clone()} placeholder="0" />
            </div>
            if !textbook {
                <label class="check">
                    <input type="checkbox" checked={*fields.round_robin} onchange={toggle}
                        data-testid="field-consumer-roundrobin" />
                    {lang.t(k::FORM_ROUND_ROBIN)}
                </label>
            }
            {problem(wrong.as_ref().or(refused.as_ref()))}
        </Form>
    }
}
