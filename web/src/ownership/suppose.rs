//! What if: who would get what, before anything happens; then it can be done.

use std::sync::Arc;

use kafkascope_core::kafka::consumer_zk::spec::{ConsumerSpec, Wanted};
use kafkascope_core::kafka::real::task::Task;
use kafkascope_core::view::ownership::Move;
use kafkascope_core::view::{self, GroupView, Rule, Suppose, moves};
use kafkascope_core::world::{Command, Who};
use yew::prelude::*;

use crate::app::use_ctx;
use crate::dialogs::next_name;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::state::UiAction;

/// A change that is only supposed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    AddMember,
    Remove(Arc<str>),
    AddPartition(Arc<str>),
    OtherRule,
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub group: GroupView,
    pub change: Option<Change>,
}

/// The group as it would be, and the command that makes it so.
fn suppose(
    lab: &kafkascope_core::lab::Lab,
    group: &GroupView,
    change: &Change,
) -> (Suppose, Option<Command>) {
    let mut then = Suppose::now(group);
    let command = match change {
        Change::AddMember => {
            let name = next_name(lab, "c", Who::Consumer);
            // It subscribes to what the others do.
            let like = group.members.iter().find(|member| !member.topics.is_empty());
            let topics = like.map(|member| member.topics.clone()).unwrap_or_default();
            let wanted = topics.iter().map(|(topic, streams)| (topic.clone(), *streams));
            let mut set = Vec::new();
            if then.rule == Rule::RoundRobin {
                set.push(("partition.assignment.strategy".into(), "roundrobin".into()));
            }
            let wanted = Wanted::Topics(wanted.collect());
            let spec = Arc::new(ConsumerSpec { group: group.name.clone(), wanted, set });
            // What is random in it comes after the name and decides nothing.
            let id = match then.rule {
                Rule::Ceil => format!("{name}:"),
                _ => format!("{}_{name}", group.name),
            };
            let id = id.into();
            let name: Arc<str> = name.into();
            then.members.insert(id, (name.clone(), topics));
            Some(Command::StartConsumer { name, spec })
        }
        Change::Remove(name) => {
            then.members.retain(|_, (member, _)| member != name);
            Some(Command::Kill(Who::Consumer(name.clone())))
        }
        Change::AddPartition(topic) => {
            let total = then.topics.get(topic).copied().unwrap_or(0) + 1;
            then.topics.insert(topic.clone(), total);
            let task = Task::AddPartitions { topic: topic.clone(), total, assignment: None };
            Some(Command::Admin(Arc::new(task)))
        }
        Change::OtherRule => {
            then.rule = super::other(then.rule);
            None
        }
    };
    (then, command)
}

#[component]
pub fn WhatIf(props: &Props) -> Html {
    let lang = use_lang();
    let (engine, ctx) = (use_world(), use_ctx());
    let group = &props.group;
    let pick = |change: Option<Change>| {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::Suppose(change.clone())))
    };
    let button = |change: Change, testid: String, text: String| {
        let pressed = props.change.as_ref() == Some(&change);
        let onclick = pick((!pressed).then_some(change));
        html! {
            <button type="button" class="btn" aria-pressed={pressed.to_string()} {onclick}
                data-testid={testid}>{text}</button>
        }
    };
    let leavers = group.members.iter().filter(|member| member.registered).take(6).map(|member| {
        let text = lang.fill(k::OWNERSHIP_IF_KILL, &[("who", &member.name)]);
        button(Change::Remove(member.name.clone()), format!("if-kill-{}", member.name), text)
    });
    let mut topics: Vec<Arc<str>> = group.seats.iter().map(|seat| seat.tp.topic.clone()).collect();
    topics.dedup();
    let growers = topics.iter().take(3).map(|topic| {
        let text = lang.fill(k::OWNERSHIP_IF_PARTITIONS, &[("topic", topic)]);
        button(Change::AddPartition(topic.clone()), format!("if-grow-{topic}"), text)
    });
    let words = |key| lang.t(key).to_string();
    html! {
        <div class="own-if" data-testid="what-if">
            <h3>{lang.t(k::OWNERSHIP_WHAT_IF)}</h3>
            <p class="own-tabs">
                {button(Change::AddMember, "if-add".into(), words(k::OWNERSHIP_IF_ADD))}
                {for leavers}
                {for growers}
                {button(Change::OtherRule, "if-rule".into(), words(k::OWNERSHIP_IF_RULE))}
            </p>
            if let Some(change) = &props.change {
                {engine.read(|lab| answer(lang, &ctx, lab, group, change))}
            }
        </div>
    }
}

fn answer(
    lang: Lang,
    ctx: &crate::app::Ctx,
    lab: &kafkascope_core::lab::Lab,
    group: &GroupView,
    change: &Change,
) -> Html {
    let now = Suppose::now(group);
    let (then, command) = suppose(lab, group, change);
    let (before, after) = (now.plans(), then.plans());
    let moved: Vec<Move> = moves(&before, &after);
    let all: u32 = after.iter().map(|plan| plan.partitions).sum();
    let idle: Vec<String> = after
        .first()
        .map(view::Plan::idle)
        .unwrap_or_default()
        .iter()
        .map(|name| name.to_string())
        .collect();
    let shown = moved.iter().take(10).map(|one| {
        let from = one.from.as_deref().unwrap_or("–");
        let to = one.to.as_deref().unwrap_or("–");
        html! { <li>{format!("P{}: {from} → {to}", one.tp.partition)}</li> }
    });
    let clear = {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::Suppose(None)))
    };
    let refused = command.as_ref().and_then(|command| lab.check(command).err());
    let go = command.map(|command| {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| {
            if ctx.engine.submit(command.clone()).is_ok() {
                ctx.act(UiAction::Suppose(None));
            }
        })
    });
    html! {
        <div class="own-answer" role="status" data-testid="what-if-answer">
            <p><b>{lang.fill(k::OWNERSHIP_WOULD, &[("n", &moved.len()), ("all", &all)])}</b>
                if !idle.is_empty() {
                    {" · "}{lang.fill(k::OWNERSHIP_IDLE, &[("who", &idle.join(", "))])}
                }
            </p>
            <ul class="mono">{for shown}
                if moved.len() > 10 { <li>{format!("+{}", moved.len() - 10)}</li> }
            </ul>
            <p class="own-tabs">
                if let Some(onclick) = go {
                    <button type="button" class="btn primary" {onclick} disabled={refused.is_some()}
                        data-testid="what-if-do">
                        {refused.map_or_else(
                            || lang.t(k::OWNERSHIP_DO_IT).to_string(),
                            |why| crate::words::refusal(lang, &why),
                        )}
                    </button>
                }
                <button type="button" class="btn quiet" onclick={clear}>
                    {lang.t(k::OWNERSHIP_CLEAR)}
                </button>
            </p>
        </div>
    }
}
