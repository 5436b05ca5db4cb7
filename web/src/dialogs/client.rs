//! Open client: a plain ZooKeeper client with a console of its own.

use kafkascope_core::lab::Lab;
use kafkascope_core::world::{Command, Refusal, Who};
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submit, touch};
use super::number;
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

/// The longest timeout that a client may ask for, as the model has it.
const TIMEOUT_MS: u64 = 600_000;

#[derive(Default)]
struct Verdict {
    name: Option<String>,
    timeout: Option<String>,
    other: Option<String>,
    command: Option<Command>,
}

fn judge(lab: &Lab, lang: Lang, name: &Text, timeout: &Text) -> Verdict {
    let asked = timeout.optional().map(|text| number::within(lang, &text, 1, TIMEOUT_MS));
    let wrong = asked.as_ref().and_then(|asked| asked.as_ref().err().cloned());
    let timeout_ms = asked.and_then(|asked| i32::try_from(asked.ok()?).ok());
    let command = Command::OpenClient { name: name.value.trim().into(), timeout_ms };
    // The name is looked at whatever the timeout is: all that is wrong is said at once.
    let Err(refusal) = lab.check(&command) else {
        let command = wrong.is_none().then_some(command);
        return Verdict { command, timeout: wrong, ..Verdict::default() };
    };
    let why = Some(words::refusal(lang, &refusal));
    match refusal {
        Refusal::BadName { .. } | Refusal::AlreadyRunning(_) => {
            Verdict { name: why, timeout: wrong, ..Verdict::default() }
        }
        Refusal::OutOfRange { .. } => Verdict { timeout: why, ..Verdict::default() },
        _ => Verdict { other: why, timeout: wrong, ..Verdict::default() },
    }
}

/// What the server makes of the wish.
fn granted(lab: &Lab, lang: Lang, timeout: &Text) -> String {
    let config = &lab.world().config;
    let (low, high) = (2 * u64::from(config.tick_ms), 20 * u64::from(config.tick_ms));
    let usual = u64::from(config.client_timeout_ms.unsigned_abs());
    let asked = timeout.optional().and_then(|text| number::whole(&text).ok()).unwrap_or(usual);
    let got = asked.clamp(low, high);
    lang.fill(k::FORM_GRANTED, &[("low", &low), ("high", &high), ("got", &got)])
}

#[component]
pub fn OpenClient() -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let name = {
        let engine = engine.clone();
        use_state(move || {
            Text::new(engine.read(|lab| super::next_name(lab, "client-", Who::Client)))
        })
    };
    let timeout = use_state(Text::default);
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &name, &timeout));
    let hint = engine.read(|lab| granted(lab, lang, &timeout));
    let usual = engine.read(|lab| lab.world().config.client_timeout_ms.to_string());
    let go = {
        let (command, refused) = (verdict.command.clone(), refused.clone());
        Callback::from(move |()| {
            if let Some(command) = command.clone() {
                submit(&ctx, lang, command, &refused);
            }
        })
    };
    let first = [&verdict.name, &verdict.timeout, &verdict.other].into_iter().flatten().next();
    html! {
        <Form testid="dialog-open-client" title={lang.t(k::FORM_CLIENT)} icon="client" submit={go}
            label={lang.t(k::FORM_CLIENT_GO)} blocked={first.cloned()}
            pressed={touch(&[name.clone(), timeout.clone()])}>
            <Field id="client-name" label={lang.t(k::FORM_NAME)} text={name.clone()} first=true
                problem={verdict.name.clone()} hint={lang.t(k::FORM_CLIENT_HINT)} />
            <Field id="timeout" label={lang.t(k::FORM_TIMEOUT)} text={timeout.clone()} numeric=true
                problem={verdict.timeout.clone()} {hint} placeholder={usual} />
            {problem(verdict.other.as_ref().or(refused.as_ref()))}
        </Form>
    }
}
