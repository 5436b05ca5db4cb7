//! Have a producer send records now. Where a key goes is shown before it is sent.

use std::sync::Arc;

use kafkascope_core::base::limits;
use kafkascope_core::kafka::partitioner;
use kafkascope_core::kafka::producer::{Batch, Choice};
use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::{Command, Refusal};
use yew::prelude::*;

use super::consumer::first_topic;
use super::form::{Field, Form, Text, Wrong, at, named, number, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub name: AttrValue,
}

/// Where a key goes now, and where it would go with one partition more.
fn foreseen(lab: &Lab, lang: Lang, name: &str, topic: &str, key: &str) -> Option<String> {
    let view = view::stage(lab);
    let topic = view.topics.iter().find(|one| &*one.name == topic)?;
    let n = u32::try_from(topic.partitions.len()).ok()?;
    let kind = view::groups(lab).producers.iter().find(|one| &*one.name == name)?.kind?;
    let (now, then) =
        (partitioner::preview(kind, key, n)?, partitioner::preview(kind, key, n + 1)?);
    let Choice::KeyHash { hash, .. } = now.by else { return None };
    let values: [(_, &dyn std::fmt::Display); 6] = [
        ("key", &key),
        ("hash", &hash),
        ("n", &n),
        ("now", &now.partition),
        ("more", &(n + 1)),
        ("then", &then.partition),
    ];
    Some(lang.fill(k::FORM_FORESEEN, &values))
}

struct Fields {
    topic: UseStateHandle<Text>,
    key: UseStateHandle<Text>,
    partition: UseStateHandle<Text>,
    count: UseStateHandle<Text>,
}

/// What the fields make, or the first that is wrong.
fn judge(lab: &Lab, lang: Lang, name: &str, fields: &Fields) -> Result<Command, Wrong> {
    let topic = named(lang, "produce-topic", &fields.topic, limits::TOPIC_NAME)?;
    let count = number(lang, "produce-count", &fields.count.value, (1, limits::BATCH.into()))?;
    let most = u64::from(limits::PARTITIONS_PER_TOPIC) - 1;
    let partition = match fields.partition.optional() {
        Some(text) => u32::try_from(number(lang, "produce-partition", &text, (0, most))?).ok(),
        None => None,
    };
    let (key, count) = (fields.key.optional(), u32::try_from(count).unwrap_or(u32::MAX));
    let batch = Arc::new(Batch { topic, partition, key, from: 0, count });
    let command = Command::Produce { producer: name.into(), batch };
    match lab.check(&command) {
        Ok(()) => Ok(command),
        Err(refusal) => {
            // The topic's name is fine: it is the key's.
            let key = matches!(refusal, Refusal::BadName { .. });
            Err((if key { "produce-key" } else { "" }, words::refusal(lang, &refusal)))
        }
    }
}

#[component]
pub fn Produce(props: &Props) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let engine = engine.clone();
        use_memo((), move |()| engine.read(first_topic))
    };
    let fields = Fields {
        topic: use_state(|| Text::new((*first).clone())),
        key: use_state(Text::default),
        partition: use_state(Text::default),
        count: use_state(|| Text::new("1")),
    };
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &props.name, &fields));
    let by_key = fields.key.optional().filter(|_| fields.partition.optional().is_none());
    let hint = by_key.and_then(|key| {
        let topic = fields.topic.value.trim();
        engine.read(|lab| foreseen(lab, lang, &props.name, topic, &key))
    });
    let hint = hint.unwrap_or_else(|| lang.t(k::FORM_RECORD_KEY_HINT).to_string());
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let pressed = touch(&[
        fields.topic.clone(),
        fields.key.clone(),
        fields.partition.clone(),
        fields.count.clone(),
    ]);
    let title = lang.fill(k::FORM_PRODUCE, &[("who", &props.name)]);
    html! {
        <Form testid="dialog-produce" {title} icon="msg" submit={go}
            label={lang.t(k::FORM_PRODUCE_GO)} {pressed}
            blocked={wrong.as_ref().map(|(_, why)| why.clone())}>
            <div class="pair-fields">
                <Field id="produce-topic" label={lang.t(k::FORM_TOPIC)} first=true
                    text={fields.topic.clone()} problem={at(wrong.as_ref(), "produce-topic")} />
                <Field id="produce-count" label={lang.t(k::FORM_COUNT)} numeric=true
                    text={fields.count.clone()} problem={at(wrong.as_ref(), "produce-count")} />
            </div>
            <Field id="produce-key" label={lang.t(k::FORM_RECORD_KEY)} text={fields.key.clone()}
                {hint} problem={at(wrong.as_ref(), "produce-key")} />
            <Field id="produce-partition" label={lang.t(k::FORM_PARTITION)} numeric=true
                text={fields.partition.clone()} hint={lang.t(k::FORM_PARTITION_HINT)}
                problem={at(wrong.as_ref(), "produce-partition")} />
            {problem(at(wrong.as_ref(), "").as_ref().or(refused.as_ref()))}
        </Form>
    }
}
