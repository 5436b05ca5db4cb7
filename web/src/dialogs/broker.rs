//! Add broker: the next free number, or on purpose a taken one on another machine.

use std::sync::Arc;

use kafkascope_core::base::limits;
use kafkascope_core::lab::Lab;
use kafkascope_core::world::proc::Kind;
use kafkascope_core::world::{Command, Refusal, usual_host};
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submit, touch};
use super::number;
use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::words;

fn next_free(lab: &Lab) -> u32 {
    let used: std::collections::BTreeSet<u32> = lab
        .world()
        .procs
        .iter()
        .filter_map(|proc| match proc.kind {
            Kind::Broker(id) | Kind::Impostor(id, _) => Some(id),
            _ => None,
        })
        .collect();
    (1..).find(|id| !used.contains(id)).unwrap_or(1)
}

/// What is wrong, field by field, or the command.
#[derive(Default)]
struct Verdict {
    id: Option<String>,
    host: Option<String>,
    rack: Option<String>,
    other: Option<String>,
    command: Option<Command>,
}

impl Verdict {
    fn first(&self) -> Option<String> {
        [&self.id, &self.host, &self.rack, &self.other].into_iter().flatten().next().cloned()
    }
}

fn judge(lab: &Lab, lang: Lang, id: &Text, host: &Text, rack: &Text) -> Verdict {
    let high = u64::from(limits::BROKER_ID);
    let number = number::within(lang, &id.value, 0, high);
    let (host, rack) = (host.optional(), rack.optional());
    // Each name by itself: all that is wrong is said at once.
    let free = next_free(lab);
    let misnamed = |host: Option<Arc<str>>, rack: Option<Arc<str>>| {
        let refused = lab.check(&Command::StartBroker { id: free, host, rack }).err()?;
        matches!(refused, Refusal::BadName { .. }).then(|| words::refusal(lang, &refused))
    };
    let wrong = Verdict {
        id: number.as_ref().err().cloned(),
        host: misnamed(host.clone(), None),
        rack: misnamed(None, rack.clone()),
        ..Verdict::default()
    };
    let Some(id) = number.ok().and_then(|number| u32::try_from(number).ok()) else { return wrong };
    if wrong.first().is_some() {
        return wrong;
    }
    let command = Command::StartBroker { id, host: host.clone(), rack };
    let Err(refusal) = lab.check(&command) else {
        return Verdict { command: Some(command), ..Verdict::default() };
    };
    let why = Some(words::refusal(lang, &refusal));
    match refusal {
        Refusal::AlreadyRunning(_) if host.is_some() => Verdict { host: why, ..Verdict::default() },
        Refusal::AlreadyRunning(_) => {
            let why = why.map(|why| format!("{why}. {}", lang.t(k::FORM_TAKEN)));
            Verdict { id: why, ..Verdict::default() }
        }
        _ => Verdict { other: why, ..Verdict::default() },
    }
}

/// Whether another machine runs with this number.
fn is_taken(lab: &Lab, id: &str, host: &Text) -> bool {
    let Ok(id) = id.trim().parse::<u32>() else { return false };
    host.optional().is_some_and(|host| host != usual_host(id))
        && lab.world().procs.iter().any(|p| p.kind == Kind::Broker(id) && p.is_running())
}

#[component]
pub fn AddBroker() -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let id = {
        let engine = engine.clone();
        use_state(move || Text::new(engine.read(next_free).to_string()))
    };
    let (host, rack) = (use_state(Text::default), use_state(Text::default));
    let refused = use_state(|| None::<String>);
    let verdict = engine.read(|lab| judge(lab, lang, &id, &host, &rack));
    let taken = engine.read(|lab| is_taken(lab, &id.value, &host));
    let usual = id.value.trim().parse::<u32>().map(|id| usual_host(id).to_string());
    let go = {
        let (command, refused) = (verdict.command.clone(), refused.clone());
        Callback::from(move |()| {
            if let Some(command) = command.clone() {
                submit(&ctx, lang, command, &refused);
            }
        })
    };
    let hint = lang.t(if taken { k::FORM_HOST_TAKEN } else { k::FORM_HOST_HINT });
    let other = verdict.other.as_ref().or(refused.as_ref());
    html! {
        <Form testid="dialog-add-broker" title={lang.t(k::FORM_BROKER)} icon="plus" submit={go}
            label={lang.t(k::FORM_BROKER_GO)} blocked={verdict.first()}
            pressed={touch(&[id.clone(), host.clone(), rack.clone()])}>
            <div class="pair-fields">
                <Field id="broker-id" label={lang.t(k::FORM_BROKER_ID)} text={id.clone()}
                    numeric=true first=true problem={verdict.id.clone()}
                    hint={lang.t(k::FORM_BROKER_ID_HINT)} />
                <Field id="rack" label={lang.t(k::FORM_RACK)} text={rack.clone()}
                    problem={verdict.rack.clone()} hint={lang.t(k::FORM_OPTIONAL)} />
            </div>
            <Field id="host" label={lang.t(k::FORM_HOST)} text={host.clone()} {hint}
                problem={verdict.host.clone()} placeholder={usual.ok().map(AttrValue::from)} />
            {problem(other)}
        </Form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scenario;

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let lab = scenario::ALL[0].lab();
        let judge = |id: &str, host: &str, rack: &str| {
            judge(&lab, Lang::En, &Text::new(id), &Text::new(host), &Text::new(rack))
        };
        let wrong = judge("x", "a host", "a rack");
        assert!(wrong.id.is_some() && wrong.host.is_some() && wrong.rack.is_some());
        assert!(wrong.command.is_none());
        let wrong = judge("7", "h", "a rack");
        assert!(wrong.id.is_none() && wrong.host.is_none() && wrong.rack.is_some());
        assert!(judge("7", "", "r1").command.is_some());
    }
}
