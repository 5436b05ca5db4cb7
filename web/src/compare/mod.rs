//! What came out differently when the same commands were told to another profile or release.

use std::rc::Rc;
use std::sync::Arc;

use kafkascope_core::base::Instant;
use kafkascope_core::kafka::release::Release;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::Difference;
use kafkascope_core::view::differ::{MOST, Office, Pair, Partition};
use kafkascope_core::world::{Config, Profile};
use yew::prelude::*;

use crate::app::{Ctx, use_ctx};
use crate::i18n::{Key, Lang, k, use_lang};
use crate::lessons;
use crate::state::{DockTab, UiAction};
use crate::words;

/// Two runs at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub at: Instant,
    pub before: AttrValue,
    pub after: AttrValue,
    pub rows: Vec<Difference>,
}

/// What a person can choose: the profile with the release in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Textbook,
    Release(Release),
}

impl Choice {
    pub const ALL: [Choice; 6] = [
        Choice::Textbook,
        Choice::Release(Release::V0_8_2_2),
        Choice::Release(Release::V0_11_0_3),
        Choice::Release(Release::V1_1_1),
        Choice::Release(Release::V2_8_2),
        Choice::Release(Release::V3_9_2),
    ];

    pub fn of(lab: &Lab) -> Choice {
        let config = &lab.world().config;
        match config.profile {
            Profile::Textbook => Choice::Textbook,
            Profile::V08 | Profile::V2 => Choice::Release(config.release),
        }
    }

    fn config(self) -> Config {
        match self {
            Choice::Textbook => Config::of(Profile::Textbook),
            Choice::Release(release) => Config::release(release),
        }
    }

    pub fn name(self, lang: Lang) -> AttrValue {
        match self {
            Choice::Textbook => lang.t(k::TOP_TEXTBOOK),
            Choice::Release(release) => release.as_str().into(),
        }
    }
}

/// Tells the run's commands to the chosen one and shows what came out differently.
pub fn choose(ctx: &Ctx, lang: Lang, choice: Choice) {
    let before = ctx.engine.read(Choice::of);
    if before == choice {
        return;
    }
    let (at, rows) = ctx.engine.retell(choice.config());
    lessons::leave(ctx);
    let (before, after) = (before.name(lang), choice.name(lang));
    ctx.act(UiAction::Compare(Some(Rc::new(Comparison { at, before, after, rows }))));
}

#[derive(PartialEq, Properties)]
pub struct CompareProps {
    pub comparison: Option<Rc<Comparison>>,
}

#[component]
pub fn Compare(props: &CompareProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let Some(comparison) = props.comparison.clone() else {
        return html! {
            <section class="compare" data-testid="compare">
                <p class="empty">{lang.t(k::COMPARE_NONE)}</p>
            </section>
        };
    };
    let close = Callback::from(move |_: MouseEvent| {
        ctx.act(UiAction::Compare(None));
        ctx.act(UiAction::ToggleDock(DockTab::Compare));
    });
    let head: [(_, &dyn std::fmt::Display); 3] =
        [("at", &comparison.at), ("before", &comparison.before), ("after", &comparison.after)];
    html! {
        <section class="compare" data-testid="compare" aria-label={lang.t(k::DOCK_COMPARE)}>
            <p class="compare-head">
                <span>{lang.rich(k::COMPARE_HEAD, &head)}</span>
                <button type="button" class="link" data-testid="compare-close" onclick={close}>
                    {lang.t(k::DIALOG_CLOSE)}
                </button>
            </p>
            if comparison.rows.is_empty() {
                <p class="empty">{lang.t(k::COMPARE_SAME)}</p>
            } else {
                {table(lang, &comparison)}
            }
            if comparison.rows.len() >= MOST {
                <p class="empty">{lang.fill(k::COMPARE_MORE, &[("n", &MOST)])}</p>
            }
        </section>
    }
}

fn table(lang: Lang, comparison: &Comparison) -> Html {
    html! {
        <table>
            <thead><tr>
                <th scope="col">{lang.t(k::COMPARE_WHAT)}</th>
                <th scope="col">{comparison.before.clone()}</th>
                <th scope="col">{comparison.after.clone()}</th>
            </tr></thead>
            <tbody>
                {for comparison.rows.iter().enumerate().map(|(index, row)| {
                    let (what, before, after) = cells(lang, row);
                    html! {
                        <tr key={index} data-testid={format!("difference-{index}")}>
                            <th scope="row">{what}</th><td>{before}</td><td>{after}</td>
                        </tr>
                    }
                })}
            </tbody>
        </table>
    }
}

fn cells(lang: Lang, row: &Difference) -> (String, String, String) {
    let plain = |key: Key| lang.t(key).to_string();
    match row {
        Difference::Controller(pair) => triple(lang, plain(k::COMPARE_CONTROLLER), pair, |one| {
            let Office { broker, epoch } = one;
            lang.fill(k::COMPARE_OFFICE, &[("id", broker), ("epoch", epoch)])
        }),
        Difference::Brokers(pair) => {
            triple(lang, plain(k::COMPARE_BROKERS), pair, |ids| words::ids(ids))
        }
        Difference::Partition { topic, number, pair } => {
            triple(lang, format!("{topic}-{number}"), pair, |one| partition(lang, one))
        }
        Difference::Znodes { parent, pair } => {
            let what = lang.fill(k::COMPARE_BELOW, &[("path", parent)]);
            triple(lang, what, pair, |names: &Vec<Arc<str>>| {
                let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
                words::list(lang, &names)
            })
        }
        Difference::Writes(pair) => triple(lang, plain(k::COMPARE_WRITES), pair, u64::to_string),
        Difference::Refused(pair) => triple(lang, plain(k::COMPARE_REFUSED), pair, u64::to_string),
    }
}

fn triple<T>(
    lang: Lang,
    what: String,
    pair: &Pair<T>,
    write: impl Fn(&T) -> String,
) -> (String, String, String) {
    let side = |one: &Option<T>| match one {
        Some(one) => write(one),
        None => lang.t(k::COMPARE_ABSENT).to_string(),
    };
    (what, side(&pair.before), side(&pair.after))
}

fn partition(lang: Lang, one: &Partition) -> String {
    let leader = match one.leader {
        Some(leader) => leader.to_string(),
        None => lang.t(k::WHO_NOBODY).to_string(),
    };
    let values: [(_, &dyn std::fmt::Display); 4] = [
        ("leader", &leader),
        ("epoch", &one.leader_epoch),
        ("isr", &words::ids(&one.isr)),
        ("replicas", &words::ids(&one.replicas)),
    ];
    lang.fill(k::COMPARE_PARTITION, &values)
}
