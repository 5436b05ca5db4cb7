//! Dialogs: add broker, create and delete topics, pause, open client, and the znode's own.

pub mod admin;
mod broker;
mod client;
mod consumer;
mod form;
mod number;
mod pause;
mod produce;
mod producer;
mod topic;
mod topic_delete;
mod tune;
mod znode;

use std::sync::Arc;

use kafkascope_core::lab::Lab;
use kafkascope_core::world::Who;
use yew::prelude::*;

use crate::state::Dialog;

/// The first name with this stem that no process of the kind has.
pub fn next_name(lab: &Lab, stem: &str, who: impl Fn(Arc<str>) -> Who) -> String {
    let taken = |name: &str| {
        let who = who(name.into());
        lab.world().procs.iter().any(|proc| proc.who().as_ref() == Some(&who))
    };
    (1..).map(|n| format!("{stem}{n}")).find(|name| !taken(name)).unwrap_or_default()
}

#[derive(PartialEq, Properties)]
pub struct DialogsProps {
    pub dialog: Dialog,
}

#[component]
pub fn Dialogs(props: &DialogsProps) -> Html {
    let text = |path: &Arc<str>| AttrValue::from(path.to_string());
    match &props.dialog {
        Dialog::AddBroker => html! { <broker::AddBroker /> },
        Dialog::CreateTopic => html! { <topic::CreateTopic /> },
        Dialog::DeleteTopic(topic) => html! { <topic_delete::DeleteTopic topic={text(topic)} /> },
        Dialog::AddPartitions(topic) => html! { <admin::AddPartitions topic={text(topic)} /> },
        Dialog::Reassign(topic) => html! { <admin::Reassign topic={text(topic)} /> },
        Dialog::AlterConfig(topic) => html! { <admin::AlterConfig topic={text(topic)} /> },
        Dialog::AddConsumer(group) => {
            let group = group.as_ref().map(text);
            html! { <consumer::AddConsumer {group} /> }
        }
        Dialog::AddProducer => html! { <producer::AddProducer /> },
        Dialog::Produce(name) => html! { <produce::Produce name={text(name)} /> },
        Dialog::Tune(name) => html! { <tune::Tune name={text(name)} /> },
        Dialog::OpenClient => html! { <client::OpenClient /> },
        Dialog::Pause(who) => html! { <pause::Pause who={who.clone()} /> },
        Dialog::DeleteZnode(path) => html! { <znode::DeleteZnode path={text(path)} /> },
        Dialog::SetData(path) => html! { <znode::SetData path={text(path)} /> },
        Dialog::CreateZnode(path) => html! { <znode::CreateZnode path={text(path)} /> },
        Dialog::Share | Dialog::Help => Html::default(),
    }
}
