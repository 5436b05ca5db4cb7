//! Settings of a running consumer: how often it commits, how long it works on a record.

use std::sync::Arc;

use kafkascope_core::lab::Lab;
use kafkascope_core::view;
use kafkascope_core::world::Command;
use yew::prelude::*;

use super::form::{Field, Form, Text, Wrong, at, number, problem, submit, touch};
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub name: AttrValue,
}

/// Milliseconds between commits, and of work on a record.
fn now(lab: &Lab, name: &str) -> (u64, u64) {
    let groups = view::groups(lab).groups;
    let mut members = groups.iter().flat_map(|group| &group.members);
    let member = members.find(|member| &*member.name == name);
    member.map_or((0, 0), |member| {
        (member.commit_every.millis(), u64::from(member.processing_us) / 1_000)
    })
}

fn command(name: &str, setting: &str, value: u64) -> Command {
    let (consumer, value) = (Arc::from(name), value.to_string().into());
    Command::Tune { consumer, name: setting.into(), value }
}

/// What the fields change, or the first that is wrong.
fn judge(
    lab: &Lab,
    lang: Lang,
    name: &str,
    (commit, work): (&str, &str),
) -> Result<Vec<Command>, Wrong> {
    let (commit_now, work_now) = now(lab, name);
    let commit = number(lang, "tune-commit", commit, (1, 86_400_000))?;
    let work = number(lang, "tune-processing", work, (0, 60_000))?;
    let mut commands = Vec::new();
    if commit != commit_now {
        commands.push(command(name, "auto.commit.interval.ms", commit));
    }
    if work != work_now {
        commands.push(command(name, "processing.us", work * 1_000));
    }
    for command in &commands {
        lab.check(command).map_err(|refusal| ("", words::refusal(lang, &refusal)))?;
    }
    Ok(commands)
}

#[component]
pub fn Tune(props: &Props) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let first = {
        let (engine, name) = (engine.clone(), props.name.clone());
        use_memo((), move |()| engine.read(|lab| now(lab, &name)))
    };
    let commit = use_state(|| Text::new(first.0.to_string()));
    let work = use_state(|| Text::new(first.1.to_string()));
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &props.name, (&commit.value, &work.value)));
    let go = {
        let (ctx, refused) = (ctx.clone(), refused.clone());
        let commands = verdict.clone().unwrap_or_default();
        Callback::from(move |()| match commands.split_last() {
            None => ctx.act(crate::state::UiAction::CloseDialog),
            Some((last, before)) => {
                for command in before {
                    if let Err(refusal) = ctx.engine.submit(command.clone()) {
                        refused.set(Some(words::refusal(lang, &refusal)));
                        return;
                    }
                }
                submit(&ctx, lang, last.clone(), &refused);
            }
        })
    };
    let wrong = verdict.err();
    let title = lang.fill(k::FORM_TUNE, &[("who", &props.name)]);
    html! {
        <Form testid="dialog-tune" {title} icon="session" submit={go}
            label={lang.t(k::FORM_TUNE_GO)} pressed={touch(&[commit.clone(), work.clone()])}
            blocked={wrong.as_ref().map(|(_, why)| why.clone())}>
            <div class="pair-fields">
                <Field id="tune-commit" label={lang.t(k::FORM_COMMIT)} numeric=true first=true
                    text={commit.clone()} hint={lang.t(k::FORM_TUNE_HINT)}
                    problem={at(wrong.as_ref(), "tune-commit")} />
                <Field id="tune-processing" label={lang.t(k::FORM_PROCESSING)} numeric=true
                    text={work.clone()} problem={at(wrong.as_ref(), "tune-processing")} />
            </div>
            {problem(at(wrong.as_ref(), "").as_ref().or(refused.as_ref()))}
        </Form>
    }
}
