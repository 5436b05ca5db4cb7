//! Have a producer send records now. Where a key goes is shown before it is sent.

use kafkascope_core::kafka::partitioner;
use kafkascope_core::kafka::producer::Kind;
use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use yew::prelude::*;

use super::consumer::{first_topic, judge};
use super::form::{Field, Form, Text, problem, submits, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub name: AttrValue,
}

/// Where a key goes now, and where it would go with one partition more.
fn foreseen(lab: &Lab, lang: Lang, name: &str, topic: &str, key: &str) -> Option<String> {
    let view = view::stage(lab);
    let topic = view.topics.iter().find(|one| &*one.name == topic)?;
    let n = u32::try_from(topic.partitions.len()).ok().filter(|n| *n > 0)?;
    let kind = view::groups(lab).producers.iter().find(|one| &*one.name == name)?.kind?;
    let (hash, now, then) = match kind {
        Kind::Java => {
            let hash = partitioner::murmur2(key.as_bytes());
            let at = |n| partitioner::by_murmur2(key.as_bytes(), n);
            (hash, at(n)?, at(n + 1)?)
        }
        Kind::Scala | Kind::Textbook => {
            let hash = partitioner::string_hash(key);
            let at = |n| partitioner::by_hash_code(hash, n);
            (hash, at(n)?, at(n + 1)?)
        }
    };
    let values: [(_, &dyn std::fmt::Display); 6] = [
        ("key", &key),
        ("hash", &hash),
        ("n", &n),
        ("now", &now),
        ("more", &(n + 1)),
        ("then", &then),
    ];
    Some(lang.fill(k::FORM_FORESEEN, &values))
}

#[component]
pub fn Produce(props: &Props) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let engine = engine.clone();
        use_memo((), move |()| engine.read(first_topic))
    };
    let topic = use_state(|| Text::new((*first).clone()));
    let key = use_state(Text::default);
    let partition = use_state(Text::default);
    let count = use_state(|| Text::new("1"));
    let refused = use_state(|| None::<String>);
    let mut line = format!("produce {} topic {}", props.name, topic.value.trim());
    if let Some(partition) = partition.optional() {
        line += &format!(" partition {partition}");
    }
    if let Some(key) = key.optional() {
        line += &format!(" key {key}");
    }
    line += &format!(" count {}", count.value.trim());
    let verdict = engine.read(|lab| judge(lab, lang, &line));
    let hint = key.optional().filter(|_| partition.optional().is_none()).and_then(|key| {
        engine.read(|lab| foreseen(lab, lang, &props.name, topic.value.trim(), &key))
    });
    let hint = hint.unwrap_or_else(|| lang.t(k::FORM_RECORD_KEY_HINT).to_string());
    let go = submits(&ctx, lang, verdict.clone().ok(), &refused);
    let wrong = verdict.err();
    let title = lang.fill(k::FORM_PRODUCE, &[("who", &props.name)]);
    html! {
        <Form testid="dialog-produce" {title} icon="msg" submit={go}
            label={lang.t(k::FORM_PRODUCE_GO)} blocked={wrong.clone()}
            pressed={touch(&[topic.clone(), key.clone(), count.clone()])}>
            <div class="pair-fields">
                <Field id="produce-topic" label={lang.t(k::FORM_TOPIC)} text={topic} first=true />
                <Field id="produce-count" label={lang.t(k::FORM_COUNT)} numeric=true
                    text={count} />
            </div>
            <Field id="produce-key" label={lang.t(k::FORM_RECORD_KEY)} text={key} {hint} />
            <Field id="produce-partition" label={lang.t(k::FORM_PARTITION)} numeric=true
                text={partition} hint={lang.t(k::FORM_PARTITION_HINT)} />
            {problem(wrong.as_ref().or(refused.as_ref()))}
        </Form>
    }
}
