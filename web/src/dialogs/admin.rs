//! What an administrator asks of a cluster of a real release: more partitions, another setting.
//! The fields make a line of the script, so that a dialog takes exactly what a script takes.

use kafkascope_core::lab::Lab;
use kafkascope_core::script::parse_command;
use kafkascope_core::view;
use kafkascope_core::world::Command;
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::share;
use crate::words;

#[derive(PartialEq, Properties)]
pub struct TopicProps {
    pub topic: AttrValue,
}

/// One word of a script line: anything else in it would change what is asked.
fn word(text: &Text) -> Option<&str> {
    let word = text.value.trim();
    (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word)
}

/// The command of a line, if it can be done now.
pub fn judge(lab: &Lab, lang: Lang, line: &str) -> Result<Command, String> {
    let command = parse_command(line).map_err(|error| share::problem(lang, &error.problem))?;
    match lab.check(&command) {
        Ok(()) => Ok(command),
        Err(refusal) => Err(words::refusal(lang, &refusal)),
    }
}

#[component]
pub fn AddPartitions(props: &TopicProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let topic = props.topic.clone();
    let count = {
        let topic = topic.clone();
        move |lab: &Lab| {
            let topics = view::stage(lab).topics;
            topics.iter().find(|one| *one.name == *topic).map_or(0, |one| one.partitions.len())
        }
    };
    let now = engine.read(&count);
    let total = use_state(|| Text::new((now + 1).to_string()));
    let placed = use_state(Text::default);
    let refused = use_state(|| None::<String>);
    let mut line = format!("add partitions {topic} total {}", total.value.trim());
    if !placed.value.trim().is_empty() {
        line = format!("{line} assignment {}", placed.value.trim());
    }
    let verdict = engine.read(|lab| judge(lab, lang, &line));
    let fewer = total.value.trim().parse::<usize>().is_ok_and(|total| total <= now);
    let fewer = fewer.then(|| lang.fill(k::FORM_FEWER, &[("n", &now)]));
    let wrong = fewer.or(verdict.as_ref().err().cloned());
    let go = submits(&ctx, lang, verdict.ok(), &refused);
    html! {
        <Form testid="dialog-add-partitions" icon="plus" label={lang.t(k::FORM_ADD_GO)}
            title={lang.fill(k::FORM_ADD, &[("topic", &topic)])} blocked={wrong.clone()}
            submit={go} pressed={touch(&[total.clone(), placed.clone()])}>
            <Field id="total" label={lang.t(k::FORM_TOTAL)} text={total} numeric=true first=true
                problem={wrong} hint={lang.fill(k::FORM_TOTAL_HINT, &[("n", &now)])} />
            <Field id="assignment" label={optional(lang, lang.t(k::FORM_ASSIGNMENT))}
                text={placed} hint={lang.t(k::FORM_ASSIGNMENT_HINT)} placeholder="1:2,2:3" />
            <p class="hint">{lang.t(k::FORM_ADD_ABOUT)}</p>
            {problem(refused.as_ref())}
        </Form>
    }
}

pub fn optional(lang: Lang, label: AttrValue) -> AttrValue {
    format!("{label} ({})", lang.t(k::FORM_OPTIONAL)).into()
}

/// Where the replicas of one partition shall be.
#[component]
pub fn Reassign(props: &TopicProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let topic = props.topic.clone();
    let replicas = |number: &str| {
        let number: Option<u32> = number.trim().parse().ok();
        engine.read(|lab| {
            let topics = view::stage(lab).topics;
            let topic = topics.into_iter().find(|one| *one.name == *topic)?;
            let found = topic.partitions.into_iter().find(|one| Some(one.number) == number)?;
            Some(
                found
                    .replicas
                    .iter()
                    .map(|replica| replica.broker.to_string())
                    .collect::<Vec<_>>()
                    .join(","),
            )
        })
    };
    let partition = use_state(|| Text::new("0"));
    let to = {
        let now = replicas("0").unwrap_or_default();
        use_state(move || Text::new(now))
    };
    let refused = use_state(|| None::<String>);
    let (number, ids) = (partition.value.trim(), to.value.trim());
    let verdict =
        engine.read(|lab| judge(lab, lang, &format!("reassign {topic}-{number} to {ids}")));
    let wrong = verdict.as_ref().err().cloned();
    let now = replicas(number).unwrap_or_default();
    let go = submits(&ctx, lang, verdict.ok(), &refused);
    html! {
        <Form testid="dialog-reassign" icon="restart" label={lang.t(k::FORM_MOVE_GO)}
            title={lang.fill(k::FORM_MOVE, &[("topic", &topic)])} blocked={wrong.clone()}
            submit={go} pressed={touch(&[partition.clone(), to.clone()])}>
            <Field id="partition" label={lang.t(k::FORM_MOVE_PARTITION)} text={partition}
                numeric=true first=true />
            <Field id="replicas" label={lang.t(k::FORM_MOVE_TO)} text={to} problem={wrong}
                hint={lang.fill(k::FORM_MOVE_TO_HINT, &[("now", &now)])} />
            <p class="hint">{lang.t(k::FORM_MOVE_ABOUT)}</p>
            {problem(refused.as_ref())}
        </Form>
    }
}

#[component]
pub fn AlterConfig(props: &TopicProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let key = use_state(|| Text::new("min.insync.replicas"));
    let value = use_state(|| Text::new("2"));
    let refused = use_state(|| None::<String>);
    let topic = &props.topic;
    let line = match (word(&key), word(&value)) {
        (Some(key), Some(value)) => format!("alter config topics/{topic} set {key}={value}"),
        (Some(key), None) if value.value.trim().is_empty() => {
            format!("alter config topics/{topic} delete {key}")
        }
        _ => String::new(),
    };
    let verdict = match line.is_empty() {
        true => Err(lang.t(k::FORM_ONE_WORD).to_string()),
        false => engine.read(|lab| judge(lab, lang, &line)),
    };
    let wrong = verdict.as_ref().err().cloned();
    let go = submits(&ctx, lang, verdict.ok(), &refused);
    html! {
        <Form testid="dialog-alter-config" icon="check" label={lang.t(k::FORM_CONFIG_GO)}
            title={lang.fill(k::FORM_CONFIG, &[("topic", topic)])} blocked={wrong.clone()}
            submit={go} pressed={touch(&[key.clone(), value.clone()])}>
            <div class="pair-fields">
                <Field id="config-key" label={lang.t(k::FORM_KEY)} text={key} first=true
                    problem={wrong} hint={lang.t(k::FORM_KEY_HINT)} />
                <Field id="config-value" label={lang.t(k::FORM_VALUE)} text={value}
                    hint={lang.t(k::FORM_VALUE_HINT)} />
            </div>
            {problem(refused.as_ref())}
        </Form>
    }
}
