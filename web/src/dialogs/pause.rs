//! Pause: a process stands still for a while, as in a long garbage collection.

use kafkascope_core::base::{Span, limits};
use kafkascope_core::lab::Lab;
use kafkascope_core::world::{Command, Refusal, Who};
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submit, touch};
use super::number;
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct PauseProps {
    pub who: Who,
}

#[derive(Default)]
struct Verdict {
    seconds: Option<String>,
    other: Option<String>,
    command: Option<Command>,
}

fn judge(lab: &Lab, lang: Lang, who: &Who, text: &str) -> Verdict {
    let micros = match number::seconds(text) {
        Ok(micros) => micros,
        Err(fault) => {
            let why = number::say(lang, fault, 1, limits::PAUSE_SECS);
            return Verdict { seconds: Some(why), ..Verdict::default() };
        }
    };
    let command = Command::Pause { who: who.clone(), span: Span(micros) };
    match lab.check(&command) {
        Ok(()) => Verdict { command: Some(command), ..Verdict::default() },
        Err(refusal) => {
            let why = Some(words::refusal(lang, &refusal));
            match refusal {
                Refusal::OutOfRange { .. } => Verdict { seconds: why, ..Verdict::default() },
                _ => Verdict { other: why, ..Verdict::default() },
            }
        }
    }
}

/// The session timeout of the process in milliseconds.
fn timeout(lab: &Lab, who: &Who) -> Option<u64> {
    let proc = lab.world().procs.iter().find(|proc| proc.who().as_ref() == Some(who))?;
    let ms = proc.client()?.negotiated_timeout_ms();
    u64::try_from(ms).ok().filter(|ms| *ms > 0)
}

/// What such a pause will come to.
fn outcome(lang: Lang, command: Option<&Command>, timeout: Option<u64>) -> Option<String> {
    let (Some(Command::Pause { span, .. }), Some(timeout)) = (command, timeout) else {
        return None;
    };
    // Between a third of the timeout, when the client last pinged, and the whole of it plus a
    // bucket of the server, chance decides.
    let key: Key = match span.millis() {
        ms if ms * 3 < timeout * 2 => k::FORM_PAUSE_SHORT,
        ms if ms > timeout + timeout / 2 => k::FORM_PAUSE_LONG,
        _ => k::FORM_PAUSE_EDGE,
    };
    let seconds = Span::from_millis(timeout).to_string();
    Some(lang.fill(key, &[("timeout", &seconds)]))
}

#[component]
pub fn Pause(props: &PauseProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let seconds = use_state(|| Text::new("10"));
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &props.who, &seconds.value));
    let timeout = engine.read(|lab| timeout(lab, &props.who));
    let hint = outcome(lang, verdict.command.as_ref(), timeout);
    let go = {
        let (command, refused) = (verdict.command.clone(), refused.clone());
        Callback::from(move |()| {
            if let Some(command) = command.clone() {
                submit(&ctx, lang, command, &refused);
            }
        })
    };
    let title = lang.fill(k::FORM_PAUSE, &[("who", &words::who(lang, &props.who))]);
    let first = verdict.seconds.clone().or(verdict.other.clone());
    html! {
        <Form testid="dialog-pause" {title} icon="pause" label={lang.t(k::FORM_PAUSE_GO)}
            submit={go} blocked={first} pressed={touch(std::slice::from_ref(&seconds))}>
            <p class="about">{lang.t(k::FORM_PAUSE_ABOUT)}</p>
            <Field id="seconds" label={lang.t(k::FORM_SECONDS)} text={seconds.clone()} numeric=true
                first=true problem={verdict.seconds.clone()} hint={hint.map(AttrValue::from)} />
            {problem(verdict.other.as_ref().or(refused.as_ref()))}
        </Form>
    }
}
