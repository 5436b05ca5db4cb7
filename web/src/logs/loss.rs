//! "Will I lose data?": what the partition stands on, and what is left when brokers die, tried on
//! copies of the run.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::render::{AnimationFrame, request_animation_frame};
use kafkascope_core::kafka::TopicPartition;
use kafkascope_core::kafka::data::Offset;
use kafkascope_core::view::loss::{self, ACKS, Case, Loss, Standing, Writer};
use yew::prelude::*;

use crate::engine::{Engine, use_world};
use crate::i18n::{Lang, k, use_lang};
use crate::words;

/// Events between two frames.
const BUDGET: u32 = 2_000;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub tp: TopicPartition,
}

/// The question that was asked last, and the frame in which it goes on.
#[derive(Default)]
struct Job {
    loss: Option<Loss>,
    frame: Option<AnimationFrame>,
}

type Shared = Rc<RefCell<Job>>;

/// Works a while, and again in the next frame until it is done.
fn go_on(job: &Shared, update: &UseForceUpdateHandle) {
    let (next, update) = (job.clone(), update.clone());
    let frame = request_animation_frame(move |_| {
        let done = match &mut next.borrow_mut().loss {
            Some(loss) => {
                loss.work(BUDGET);
                loss.is_done()
            }
            None => true,
        };
        update.force_update();
        if !done {
            go_on(&next, &update);
        }
    });
    job.borrow_mut().frame = Some(frame);
}

#[component]
pub fn WillILose(props: &Props) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let update = use_force_update();
    let job: Shared = use_mut_ref(Job::default);
    {
        // A frame that is asked for goes with the panel.
        let job = job.clone();
        use_effect_with((), move |()| {
            move || {
                let _ = std::mem::take(&mut *job.borrow_mut());
            }
        });
    }
    let (now, writers) = engine.read(|lab| loss::facts(lab, &props.tp));
    let ask = {
        let (engine, job, tp) = (engine.clone(), job.clone(), props.tp.clone());
        Callback::from(move |_: MouseEvent| {
            job.borrow_mut().loss = engine.read(|lab| Loss::ask(lab, &tp));
            super::down();
            go_on(&job, &update);
        })
    };
    let job = job.borrow();
    let asked = job.loss.as_ref().filter(|loss| loss.tp == props.tp);
    let busy = asked.is_some_and(|loss| !loss.is_done());
    let text = if asked.is_some() { k::LOSS_AGAIN } else { k::LOSS_ASK };
    html! {
        <section class="loss" id="loss" data-testid="loss">
            <div class="loss-ask">
                <h3>{lang.t(k::LOSS_TITLE)}</h3>
                <button type="button" class="btn" onclick={ask} data-testid="loss-ask"
                    disabled={busy || now.leader.is_none()}>{lang.t(text)}</button>
                <span class="dim">
                    {lang.t(if now.leader.is_none() { k::LOSS_NO_LEADER } else { k::LOSS_ABOUT })}
                </span>
            </div>
            {facts(lang, &now, &writers)}
            if let Some(loss) = asked { {answer(lang, &engine, loss)} }
        </section>
    }
}

fn acks(acks: i16) -> String {
    if acks < 0 { "all".to_owned() } else { acks.to_string() }
}

fn facts(lang: Lang, now: &Standing, writers: &[Writer]) -> Html {
    let who = |writer: &Writer| {
        let acks = lang.fill(k::LOSS_ACKS, &[("acks", &acks(writer.acks))]);
        format!("{} {acks}", writer.name)
    };
    let all: Vec<String> = writers.iter().map(who).collect();
    let by = match all.is_empty() {
        true => lang.t(k::LOSS_NO_WRITERS).to_string(),
        false => words::list(lang, &all),
    };
    let takes = ACKS.iter().zip(&now.accepts).map(|(one, taken)| {
        let name = lang.fill(k::LOSS_ACKS, &[("acks", &acks(*one))]);
        match taken {
            Ok(()) => html! {
                <span class="yes">{lang.fill(k::LOSS_YES, &[("acks", &name)])}</span>
            },
            Err(why) => html! {
                <span class="no">
                    {lang.fill(k::LOSS_NO, &[("acks", &name), ("why", &why.name())])}
                </span>
            },
        }
    });
    let isr = format!("{} / {} {}", now.isr.len(), now.replicas.len(), words::ids(&now.isr));
    let low = now.isr.len() < now.replicas.len();
    html! {
        <dl class="loss-facts">
            <div><dt>{lang.t(k::LOSS_REPLICAS)}</dt><dd>{now.replicas.len()}</dd></div>
            <div><dt>{lang.t(k::LOSS_IN_SYNC)}</dt>
                <dd class={classes!(low.then_some("bad"))}>{isr}</dd></div>
            <div><dt><code>{"min.insync.replicas"}</code></dt><dd>{now.min_insync}</dd></div>
            <div><dt>{lang.t(k::LOSS_UNCLEAN)}</dt>
                <dd>{lang.t(if now.unclean { k::LOSS_ON } else { k::LOSS_OFF })}</dd></div>
            <div><dt>{lang.t(k::LOSS_WRITERS)}</dt><dd>{by}</dd></div>
            <div><dt>{lang.t(k::LOSS_ACCEPTED)}</dt>
                <dd class="takes" data-testid="loss-accepted">{for takes}</dd></div>
        </dl>
    }
}

fn answer(lang: Lang, engine: &Engine, loss: &Loss) -> Html {
    let values: [(_, &dyn std::fmt::Display); 2] = [("n", &loss.cases.len()), ("all", &loss.all)];
    if !loss.is_done() {
        return html! {
            <p class="dim" role="status" data-testid="loss-working">
                {lang.fill(k::LOSS_WORKING, &values)}
            </p>
        };
    }
    let stale = engine.read(|lab| lab.world().event_no != loss.event_no);
    let rows = loss.cases.iter().map(|case| row(lang, case));
    let heads = [
        k::LOSS_COL_KILLED,
        k::LOSS_COL_THEN,
        k::LOSS_COL_GONE,
        k::LOSS_COL_UNREADABLE,
        k::LOSS_COL_ACCEPTS,
    ];
    html! {
        <div class="loss-answer" role="status" data-testid="loss-answer">
            {verdict(lang, &loss.cases)}
            <div class="loss-scroll">
                <table>
                    <thead><tr>
                        {for heads.iter().map(|key| html! { <th scope="col">{lang.t(*key)}</th> })}
                    </tr></thead>
                    <tbody>{for rows}</tbody>
                </table>
            </div>
            <p class="dim">
                {lang.fill(k::LOSS_ASKED_AT, &[("at", &loss.at)])}
                if stale { {" · "}{lang.t(k::LOSS_STALE)} }
            </p>
        </div>
    }
}

/// The worst of the cases with one dead, and of those with two.
fn verdict(lang: Lang, cases: &[Case]) -> Html {
    let worst = |dead: usize| {
        let cases = cases.iter().filter(move |case| case.killed.len() == dead);
        let counts = cases.map(|case| (Case::count(&case.gone), Case::count(&case.unreadable)));
        counts.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
    };
    let texts = [
        (1, [k::LOSS_ONE_FINE, k::LOSS_ONE_OFFLINE, k::LOSS_ONE_GONE]),
        (2, [k::LOSS_TWO_FINE, k::LOSS_TWO_OFFLINE, k::LOSS_TWO_GONE]),
    ];
    let lines = texts.into_iter().filter_map(|(dead, [fine, offline, gone])| {
        let (class, key, n) = match worst(dead)? {
            (0, 0) => ("fine", fine, 0),
            (0, n) => ("waits", offline, n),
            (n, _) => ("bad", gone, n),
        };
        Some(html! { <p {class}><span>{lang.rich(key, &[("n", &n)])}</span></p> })
    });
    html! { <div class="loss-verdict" data-testid="loss-verdict">{for lines}</div> }
}

/// `3, 5–9`
fn runs(runs: &[(Offset, Offset)]) -> String {
    const SHOWN: usize = 6;
    let one = |(from, to): &(Offset, Offset)| match to - from {
        1 => from.to_string(),
        _ => format!("{from}–{}", to - 1),
    };
    let mut text: Vec<String> = runs.iter().take(SHOWN).map(one).collect();
    if runs.len() > SHOWN {
        text.push(format!("+{}", runs.len() - SHOWN));
    }
    text.join(", ")
}

fn row(lang: Lang, case: &Case) -> Html {
    let name = |id: &u32| lang.fill(k::WHO_BROKER, &[("id", id)]);
    let killed: Vec<String> = case.killed.iter().map(name).collect();
    let isr = words::ids(&case.then.isr);
    let then = match case.then.leader {
        Some(leader) => lang.fill(k::LOSS_THEN, &[("leader", &leader), ("isr", &isr)]),
        None => lang.t(k::LOSS_THEN_NONE).to_string(),
    };
    let offsets = |which: &[(Offset, Offset)]| match which.is_empty() {
        true => lang.t(k::LOSS_NOTHING).to_string(),
        false => runs(which),
    };
    let class = |which: &[(Offset, Offset)], bad| if which.is_empty() { "dim" } else { bad };
    let taken = case.then.accepts.last().copied().unwrap_or(Ok(()));
    html! {
        <tr>
            <th scope="row">{words::list(lang, &killed)}</th>
            <td>{then}
                if !case.settled { <small>{lang.t(k::LOSS_UNSETTLED)}</small> }
            </td>
            <td class={class(&case.gone, "bad")}>
                {offsets(&case.gone)}
                if case.gone_committed > 0 {
                    <small>{lang.fill(k::LOSS_COMMITTED, &[("n", &case.gone_committed)])}</small>
                }
            </td>
            <td class={class(&case.unreadable, "waits")}>{offsets(&case.unreadable)}</td>
            <td>{match taken {
                Ok(()) => "✓".to_owned(),
                Err(why) => format!("✕ {}", why.name()),
            }}</td>
        </tr>
    }
}
