//! The bar on top: what is shown, how it stands, and how it is shown.

use kafkascope_core::lab::Lab;
use yew::prelude::*;

use crate::app::{use_action, use_ctx};
use crate::engine::scenario::{self, Origin};
use crate::engine::{use_engine, use_flow, use_world};
use crate::i18n::{Key, Lang, k, use_lang};
use crate::lessons;
use crate::platform::{media, storage};
use crate::state::{Dialog, DockTab, Menu, Theme, UiAction};
use crate::widgets::{Icon, Item, MenuButton};

#[derive(PartialEq, Properties)]
pub struct TopbarProps {
    pub theme: Theme,
    pub menu: Option<Menu>,
}

#[component]
pub fn Topbar(props: &TopbarProps) -> Html {
    let lang = use_lang();
    let action = use_action();
    let click = |what: UiAction| action(what).reform(|_: MouseEvent| ());
    html! {
        <header class="top" data-testid="topbar">
            <div class="logo">{logo()}<span>{"kafkascope"}</span></div>
            <span class="vr wide" />
            <Profiles />
            <Scenarios open={props.menu == Some(Menu::Scenario)} />
            <span class="grow" />
            <Laws />
            <button type="button" class="btn share-btn" data-testid="share-open"
                aria-label={lang.t(k::TOP_SHARE)}
                onclick={click(UiAction::OpenDialog(Dialog::Share))}>
                <Icon name="share" small=true /><span class="word">{lang.t(k::TOP_SHARE)}</span>
            </button>
            <span class="vr wide" />
            <LangSwitch />
            <ThemeSwitch theme={props.theme} />
            <button type="button" class="btn quiet icon" data-testid="help-open"
                aria-label={lang.t(k::TOP_HELP)} title={lang.t(k::TOP_HELP)}
                onclick={click(UiAction::OpenDialog(Dialog::Help))}>
                <span class="kbd" aria-hidden="true">{"?"}</span>
            </button>
        </header>
    }
}

fn logo() -> Html {
    html! {
        <svg viewBox="0 0 24 24" aria-hidden="true">
            <rect x="1" y="1" width="22" height="22" rx="6.5" fill="var(--crown)" />
            <path d="M6 7h12M6 12h12M6 17h12" stroke="var(--crown-text)" stroke-width="1.6"
                opacity=".4" stroke-linecap="round" />
            <circle cx="8.5" cy="7" r="2.4" fill="#56B4E9" />
            <circle cx="15.5" cy="12" r="2.4" fill="#E69F00" />
            <circle cx="11" cy="17" r="2.4" fill="#009E73" />
        </svg>
    }
}

/// The generations of coordination. One so far; the others say why they wait.
#[component]
fn Profiles() -> Html {
    let lang = use_lang();
    let later = lang.t(k::TOP_PROFILE_LATER);
    html! {
        <div class="seg" role="group" data-testid="profile" aria-label={lang.t(k::TOP_PROFILE)}>
            <button type="button" aria-pressed="true" data-testid="profile-textbook">
                {lang.t(k::TOP_TEXTBOOK)}
            </button>
            {for ["0.8", "2.x", "4.x"].into_iter().map(|name| html! {
                <button type="button" aria-pressed="false" aria-disabled="true"
                    title={later.clone()} aria-label={format!("{name}: {later}")}
                    data-testid={format!("profile-{name}")}>{name}</button>
            })}
        </div>
    }
}

#[derive(PartialEq, Properties)]
struct ScenariosProps {
    open: bool,
}

fn origin_name(lang: Lang, origin: Origin) -> String {
    let name = |key: Key| lang.t(key).to_string();
    match origin {
        Origin::Scenario(index) => {
            name(scenario::ALL.get(index).map_or(k::TOP_SHARED, |scenario| scenario.name))
        }
        Origin::Shared => name(k::TOP_SHARED),
        Origin::Lesson(index) => {
            let title = lessons::title(index, lang).unwrap_or_default();
            lang.fill(k::TOP_LESSON, &[("title", &title)])
        }
    }
}

#[component]
fn Scenarios(props: &ScenariosProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let engine = use_engine();
    let flow = use_flow();
    let action = use_action();
    let items = scenario::ALL.iter().enumerate().map(|(index, scenario)| {
        let engine = engine.clone();
        let choose = Callback::from(move |()| engine.open_scenario(index));
        Item {
            note: Some(lang.t(scenario.about)),
            checked: Some(flow.origin == Origin::Scenario(index)),
            ..Item::new(scenario.id, lang.t(scenario.name), choose)
        }
    });
    let lessons = lessons::entries(lang).enumerate().map(|(index, (id, title, about))| {
        let ctx = ctx.clone();
        let choose = Callback::from(move |()| lessons::open(&ctx, index));
        Item {
            icon: Some("book"),
            note: Some(about.into()),
            checked: Some(flow.origin == Origin::Lesson(index)),
            ..Item::new(format!("lesson-{id}"), title, choose)
        }
    });
    let items = items.chain(lessons);
    html! {
        <MenuButton testid="scenario" class="btn quiet scenario" open={props.open}
            toggle={action(UiAction::ToggleMenu(Menu::Scenario))}
            close={action(UiAction::CloseMenu)} items={items.collect::<Vec<_>>()}>
            <Icon name="book" small=true />
            <span class="word">{origin_name(lang, flow.origin)}</span>
            <Icon name="chevd" small=true />
        </MenuButton>
    }
}

/// How many properties hold, or how many don't.
#[component]
fn Laws() -> Html {
    let lang = use_lang();
    let engine = use_world();
    let action = use_action();
    let (count, violated, found) = engine.read(tally);
    let (key, n) = match (violated, found) {
        (0, 0) => (k::TOP_LAWS, count),
        (0, found) => (k::TOP_LAWS_FOUND, found),
        (violated, _) => (k::TOP_LAWS_BAD, violated),
    };
    let class = match (violated, found) {
        (0, 0) => None,
        (0, _) => Some("found"),
        _ => Some("bad"),
    };
    let words = lang.fill(key, &[("n", &n)]);
    let onclick = action(UiAction::ToggleDock(DockTab::Invariants)).reform(|_: MouseEvent| ());
    html! {
        <button type="button" class={classes!("laws", class)} data-testid="laws"
            aria-label={words.clone()} {onclick}>
            <Icon name={if class.is_some() { "warn" } else { "law" }} small=true />
            <span class="word">{words}</span><span class="short" aria-hidden="true">{n}</span>
        </button>
    }
}

/// Properties, those that broke, and those that were met though the real system has them too.
fn tally(lab: &Lab) -> (u32, u32, u32) {
    use kafkascope_core::invariant::{ALL, Kind};
    let mut counts = (u32::try_from(ALL.len()).unwrap_or(0), 0, 0);
    for (invariant, tally) in ALL.iter().zip(&lab.checks().tallies) {
        match invariant.kind {
            Kind::Always => counts.1 += tally.breaches,
            Kind::Found => counts.2 += tally.breaches,
        }
    }
    counts
}

#[component]
fn LangSwitch() -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let other = lang.other();
    let onclick = Callback::from(move |_: MouseEvent| {
        storage::keep_lang(other.tag());
        ctx.act(UiAction::SetLang(other));
    });
    let name = match other {
        Lang::En => "English",
        Lang::Zh => "中文",
    };
    html! {
        <button type="button" class="btn quiet lang-btn" lang={other.tag()}
            data-testid="lang-switch" {onclick}>
            <Icon name="globe" small=true />{name}
        </button>
    }
}

#[derive(PartialEq, Properties)]
struct ThemeSwitchProps {
    theme: Theme,
}

#[component]
fn ThemeSwitch(props: &ThemeSwitchProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let dark = match props.theme {
        Theme::System => media::dark(),
        theme => theme == Theme::Dark,
    };
    let onclick = Callback::from(move |_: MouseEvent| {
        let next = if dark { Theme::Light } else { Theme::Dark };
        storage::keep_theme(next.name());
        ctx.act(UiAction::SetTheme(next));
    });
    let label = lang.t(if dark { k::TOP_TO_LIGHT } else { k::TOP_TO_DARK });
    html! {
        <button type="button" class="btn quiet icon theme-btn" data-testid="theme-switch"
            aria-label={label.clone()} title={label} {onclick}>
            <Icon name={if dark { "sun" } else { "moon" }} small=true />
        </button>
    }
}
