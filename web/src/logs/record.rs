//! One record in words: what it is, who has it, and what became of it.

use kafkascope_core::sim::RowId;
use kafkascope_core::view::PartitionLogs;
use kafkascope_core::view::logs::{Against, Entry};
use yew::prelude::*;

use super::Pick;
use crate::app::{Ctx, use_ctx};
use crate::i18n::{Key, Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub shown: PartitionLogs,
    pub pick: Option<Pick>,
}

/// What stands at the place that is pointed at.
pub fn find(shown: &PartitionLogs, pick: Pick) -> Option<&Entry> {
    let replica = shown.replicas.iter().find(|replica| replica.broker == pick.broker)?;
    let entry = match pick.ghost {
        true => {
            let mut ghosts = replica.ghosts.iter();
            &ghosts.find(|ghost| ghost.entry.offset == pick.offset)?.entry
        }
        false => {
            let mut cells = replica.cells.iter();
            &cells.find(|cell| cell.entry.offset == pick.offset)?.entry
        }
    };
    Some(entry)
}

#[component]
pub fn Record(props: &Props) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let shown = &props.shown;
    let found = props.pick.and_then(|pick| Some((pick, find(shown, pick)?)));
    let Some((pick, entry)) = found else {
        return html! {
            <p class="logs-record dim" data-testid="logs-record">{lang.t(k::LOGS_HINT)}</p>
        };
    };
    let mut parts = vec![lang.rich(k::LOGS_OFFSET, &[("offset", &entry.offset)])];
    if let Some(epoch) = entry.epoch {
        parts.push(html! { {lang.fill(k::LOGS_EPOCH, &[("n", &epoch)])} });
    }
    parts.push(match &entry.key {
        Some(key) => lang.rich(k::LOGS_KEY, &[("key", key)]),
        None => html! { {lang.t(k::LOGS_NO_KEY)} },
    });
    parts.push(lang.rich(k::LOGS_VALUE, &[("value", &entry.value)]));
    parts.extend(holders(lang, shown, entry));
    let rows = match pick.ghost {
        true => ghost(lang, shown, pick, &mut parts),
        false => {
            parts.extend(standing(lang, shown, pick));
            vec![]
        }
    };
    let sent = (!entry.sent.is_none()).then_some((k::LOGS_SENT, entry.sent));
    let links = sent.into_iter().chain(rows).map(|(key, row)| link(lang, &ctx, key, row));
    html! {
        <p class="logs-record" data-testid="logs-record" aria-live="polite">
            {for parts.into_iter().map(|part| html! { <span>{part}</span> })}
            {for links}
        </p>
    }
}

fn link(lang: Lang, ctx: &Ctx, key: Key, row: RowId) -> Html {
    let ctx = ctx.clone();
    let onclick = Callback::from(move |_: MouseEvent| ctx.engine.seek_row(row.0));
    html! { <button type="button" class="link" {onclick}>{lang.t(key)}</button> }
}

/// Which brokers have this very record, and which don't.
fn holders(lang: Lang, shown: &PartitionLogs, entry: &Entry) -> Vec<Html> {
    let has = |replica: &&kafkascope_core::view::ReplicaLog| {
        replica.cells.iter().any(|cell| cell.entry == *entry)
    };
    let (have, lack): (Vec<_>, Vec<_>) = shown.replicas.iter().partition(has);
    let names = |replicas: Vec<&kafkascope_core::view::ReplicaLog>| {
        let name = |id: &u32| lang.fill(k::WHO_BROKER, &[("id", id)]);
        let names: Vec<String> = replicas.iter().map(|replica| name(&replica.broker)).collect();
        words::list(lang, &names)
    };
    let mut parts = Vec::new();
    if !have.is_empty() {
        parts.push(html! { {lang.fill(k::LOGS_HAS, &[("list", &names(have))])} });
    }
    if !lack.is_empty() {
        parts.push(html! { {lang.fill(k::LOGS_LACKS, &[("list", &names(lack))])} });
    }
    parts
}

/// Committed or not, and what it is beside the leader's.
fn standing(lang: Lang, shown: &PartitionLogs, pick: Pick) -> Vec<Html> {
    let replica = shown.replicas.iter().find(|replica| replica.broker == pick.broker);
    let cell = replica
        .and_then(|replica| replica.cells.iter().find(|cell| cell.entry.offset == pick.offset));
    let Some(cell) = cell else { return Vec::new() };
    let committed = if cell.committed { k::LOGS_COMMITTED } else { k::LOGS_OPEN };
    let mut parts = vec![html! { {lang.t(committed)} }];
    match cell.against {
        Against::Same => {}
        Against::Differs => parts.push(lang.rich(k::LOGS_DIFFERS, &[])),
        Against::Lacking => parts.push(lang.rich(k::LOGS_LACKING, &[])),
    }
    parts
}

/// What became of one that was cut off, and the row that tells of it.
fn ghost(
    lang: Lang,
    shown: &PartitionLogs,
    pick: Pick,
    parts: &mut Vec<Html>,
) -> Vec<(Key, RowId)> {
    let replica = shown.replicas.iter().find(|replica| replica.broker == pick.broker);
    let ghost = replica
        .and_then(|replica| replica.ghosts.iter().find(|ghost| ghost.entry.offset == pick.offset));
    let Some(ghost) = ghost else { return Vec::new() };
    let who = lang.fill(k::WHO_BROKER, &[("id", &pick.broker)]);
    parts.push(html! { {lang.fill(k::LOGS_GHOST, &[("who", &who)])} });
    if ghost.was_committed {
        parts.push(lang.rich(k::LOGS_GHOST_COMMITTED, &[]));
    }
    let key = if ghost.lost { k::LOGS_GHOST_LOST } else { k::LOGS_GHOST_AGAIN };
    parts.push(lang.rich(key, &[]));
    vec![(k::LOGS_CUT, ghost.row)]
}
