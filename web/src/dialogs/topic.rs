//! Create topic, with the placement that it will get.

use kafkascope_core::base::limits;
use kafkascope_core::kafka::{paths, placement};
use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::command::Counted;
use kafkascope_core::world::{Command, Refusal};
use yew::prelude::*;

use super::admin;
use super::form::{Field, Form, Text, problem, submit, touch};
use super::number;
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

/// Brokers and partitions that the preview draws.
const COLUMNS: usize = 10;
const ROWS: usize = 8;

/// Names to begin with; after them, numbers.
const NAMES: [&str; 4] = ["orders", "payments", "logins", "clicks"];

fn next_name(lab: &Lab) -> String {
    let tree = lab.world().server.tree();
    let free = |name: &String| !tree.contains(&paths::topic(name));
    let named = NAMES.iter().map(|name| (*name).to_owned());
    named.chain((1..).map(|n| format!("topic-{n}"))).find(free).unwrap_or_default()
}

/// The ids in `/brokers/ids`, as the tool will see them.
fn registered(lab: &Lab) -> Vec<u32> {
    let children = view::children(lab, paths::BROKER_IDS);
    let mut ids: Vec<u32> = children.iter().filter_map(|child| child.name.parse().ok()).collect();
    ids.sort_unstable();
    ids
}

#[derive(Default)]
struct Verdict {
    name: Option<String>,
    partitions: Option<String>,
    replication: Option<String>,
    other: Option<String>,
    /// Known as soon as both numbers are.
    counts: Option<(u32, u32)>,
    command: Option<Command>,
}

impl Verdict {
    fn first(&self) -> Option<String> {
        let all = [&self.other, &self.name, &self.partitions, &self.replication];
        all.into_iter().flatten().next().cloned()
    }
}

/// Placed by hand, or with settings: what only a real release takes.
fn by_hand(lab: &Lab, lang: Lang, name: &Text, layout: &str, configs: &Text) -> Verdict {
    let mut line = format!("create topic {} {layout}", name.value.trim());
    for pair in configs.value.split_whitespace() {
        line = format!("{line} config {pair}");
    }
    match admin::judge(lab, lang, &line) {
        Ok(command) => Verdict { command: Some(command), ..Verdict::default() },
        Err(why) => Verdict { other: Some(why), ..Verdict::default() },
    }
}

fn judge(lab: &Lab, lang: Lang, name: &Text, partitions: &Text, replication: &Text) -> Verdict {
    let high = u64::from(limits::PARTITIONS_PER_TOPIC);
    let partitions = number::within(lang, &partitions.value, 1, high);
    let replication = number::within(lang, &replication.value, 1, limits::BROKERS as u64);
    let (partitions, replication) = match (partitions, replication) {
        (Ok(partitions), Ok(replication)) => (partitions as u32, replication as u32),
        (partitions, replication) => {
            return Verdict {
                partitions: partitions.err(),
                replication: replication.err(),
                ..Verdict::default()
            };
        }
    };
    let topic = name.value.trim().into();
    let command = Command::CreateTopic { topic, partitions, replication };
    let mut verdict = Verdict { counts: Some((partitions, replication)), ..Verdict::default() };
    let Err(refusal) = lab.check(&command) else {
        verdict.command = Some(command);
        return verdict;
    };
    let why = Some(words::refusal(lang, &refusal));
    match refusal {
        Refusal::BadName { .. } | Refusal::TopicExists(_) => verdict.name = why,
        Refusal::ReplicationAboveBrokers { .. } => verdict.replication = why,
        Refusal::OutOfRange { what: Counted::Partitions, .. } => verdict.partitions = why,
        Refusal::OutOfRange { what: Counted::Replication, .. } => verdict.replication = why,
        _ => verdict.other = why,
    }
    verdict
}

#[component]
pub fn CreateTopic() -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let name = {
        let engine = engine.clone();
        use_state(move || Text::new(engine.read(next_name)))
    };
    let partitions = use_state(|| Text::new("4"));
    let replication = {
        let engine = engine.clone();
        use_state(move || Text::new(engine.read(registered).len().clamp(1, 2).to_string()))
    };
    let refused = use_state(|| None::<String>);
    let (placed, configs) = (use_state(Text::default), use_state(Text::default));
    let real = engine.read(view::release).is_some();
    let (hand, set) = (placed.value.trim(), configs.value.trim());
    let verdict = match (hand.is_empty(), set.is_empty()) {
        (true, true) => engine.read(|lab| judge(lab, lang, &name, &partitions, &replication)),
        (false, _) => {
            let layout = format!("assignment {hand}");
            engine.read(|lab| by_hand(lab, lang, &name, &layout, &configs))
        }
        (true, false) => {
            let (n, rf) = (partitions.value.trim(), replication.value.trim());
            let layout = format!("partitions {n} replication {rf}");
            engine.read(|lab| by_hand(lab, lang, &name, &layout, &configs))
        }
    };
    let brokers = engine.read(registered);
    let go = {
        let (command, refused) = (verdict.command.clone(), refused.clone());
        Callback::from(move |()| {
            if let Some(command) = command.clone() {
                submit(&ctx, lang, command, &refused);
            }
        })
    };
    let hint = lang.fill(k::FORM_COPIES_HINT, &[("n", &brokers.len())]);
    html! {
        <Form testid="dialog-create-topic" title={lang.t(k::FORM_TOPIC_NEW)} icon="plus"
            label={lang.t(k::FORM_TOPIC_NEW_GO)} blocked={verdict.first()} submit={go}
            pressed={touch(&[name.clone(), partitions.clone(), replication.clone()])}>
            <Field id="topic-name" label={lang.t(k::FORM_NAME)} text={name.clone()} first=true
                problem={verdict.name.clone()} hint={lang.t(k::FORM_TOPIC_NAME_HINT)} />
            <div class="pair-fields">
                <Field id="partitions" label={lang.t(k::FORM_PARTITIONS)} text={partitions.clone()}
                    numeric=true problem={verdict.partitions.clone()}
                    hint={lang.t(k::FORM_PARTITIONS_HINT)} />
                <Field id="replication" label={lang.t(k::FORM_COPIES)} text={replication.clone()}
                    numeric=true problem={verdict.replication.clone()} {hint} />
            </div>
            if real {
                <div class="pair-fields">
                    <Field id="assignment" text={placed} placeholder="1:2,2:3"
                        label={admin::optional(lang, lang.t(k::FORM_ASSIGNMENT))}
                        hint={lang.t(k::FORM_ASSIGNMENT_HINT)} />
                    <Field id="configs" text={configs}
                        label={admin::optional(lang, lang.t(k::FORM_CONFIGS))}
                        hint={lang.t(k::FORM_CONFIGS_HINT)} />
                </div>
            } else {
                {preview(lang, &brokers, verdict.counts)}
            }
            {problem(verdict.other.as_ref().or(refused.as_ref()))}
        </Form>
    }
}

/// A small stage: columns are brokers, rows are partitions, a cell is a copy.
fn preview(lang: Lang, brokers: &[u32], counts: Option<(u32, u32)>) -> Html {
    let Some((partitions, replication)) = counts else { return Html::default() };
    let drawn = partitions.min(ROWS as u32);
    let Ok(placed) = placement::assign(brokers, drawn, replication, 0, 0) else {
        return Html::default();
    };
    let columns = &brokers[..brokers.len().min(COLUMNS)];
    let cell = |replicas: &Vec<u32>, broker: &u32| {
        let kind = match replicas.iter().position(|replica| replica == broker) {
            Some(0) => "leads",
            Some(_) => "copy",
            None => "none",
        };
        html! { <td class={kind}>{if kind == "leads" { "★" } else { "" }}</td> }
    };
    let row = |(number, replicas): (usize, &Vec<u32>)| {
        let ids: Vec<String> = replicas.iter().map(u32::to_string).collect();
        html! {
            <tr>
                <th scope="row">{format!("P{number}")}</th>
                {for columns.iter().map(|broker| cell(replicas, broker))}
                <td class="ids">{format!("[{}]", ids.join(", "))}</td>
            </tr>
        }
    };
    let more = partitions - drawn;
    html! {
        <figure class="placement" data-testid="placement">
            <figcaption>{lang.t(k::FORM_PLACEMENT)}</figcaption>
            <table>
                <thead><tr>
                    <th />
                    {for columns.iter().map(|id| html! { <th scope="col">{id}</th> })}
                    <th class="ids">{if brokers.len() > columns.len() { "…" } else { "" }}</th>
                </tr></thead>
                <tbody>{for placed.iter().enumerate().map(row)}</tbody>
            </table>
            if more > 0 { <p class="hint">{lang.fill(k::NODE_MORE, &[("n", &more)])}</p> }
        </figure>
    }
}
