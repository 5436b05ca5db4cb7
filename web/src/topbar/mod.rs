//! The bar on top: what is shown, how it stands, and how it is shown.

use kafkascope_core::kafka::release::Release;
use kafkascope_core::lab::Lab;
use kafkascope_core::world::Profile;
use yew::prelude::*;

use crate::app::{use_action, use_ctx};
use crate::compare::{self, Choice};
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
            <Profiles open={props.menu == Some(Menu::Profile)} />
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

#[derive(PartialEq, Properties)]
struct ProfilesProps {
    open: bool,
}

/// The generations of coordination, and within one its releases. A choice tells the same commands
/// to the other one.
#[component]
fn Profiles(props: &ProfilesProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let engine = use_world();
    let action = use_action();
    let now = engine.read(Choice::of);
    let later = lang.t(k::TOP_PROFILE_LATER);
    let choose = |choice: Choice| {
        let ctx = ctx.clone();
        Callback::from(move |()| compare::choose(&ctx, lang, choice))
    };
    let families = [
        ("textbook", lang.t(k::TOP_TEXTBOOK), Choice::Textbook),
        ("0.8", "0.8".into(), Choice::Release(Profile::V08.release())),
        ("2.x", "2.x".into(), Choice::Release(Profile::V2.release())),
    ];
    let family = family(now);
    let items = Choice::ALL.into_iter().map(|choice| Item {
        checked: Some(now == choice),
        note: Some(lang.t(about(choice))),
        ..Item::new(id(choice), choice.name(lang), choose(choice))
    });
    html! {
        <>
            <div class="seg" role="group" data-testid="profile" aria-label={lang.t(k::TOP_PROFILE)}>
                {for families.into_iter().map(|(id, name, choice)| {
                    let pressed = family == id;
                    let onclick = choose(choice).reform(|_: MouseEvent| ());
                    let onclick = if pressed { Callback::noop() } else { onclick };
                    html! {
                        <button type="button" aria-pressed={pressed.to_string()} {onclick}
                            data-testid={format!("profile-{id}")}>{name}</button>
                    }
                })}
                <button type="button" aria-pressed="false" aria-disabled="true"
                    title={later.clone()} aria-label={format!("4.x: {later}")}
                    data-testid="profile-4.x">{"4.x"}</button>
            </div>
            <MenuButton testid="release" class="btn quiet release" open={props.open}
                label={lang.t(k::TOP_RELEASE)} toggle={action(UiAction::ToggleMenu(Menu::Profile))}
                close={action(UiAction::CloseMenu)} items={items.collect::<Vec<_>>()}>
                <span class="word">{now.name(lang)}</span><Icon name="chevd" small=true />
            </MenuButton>
        </>
    }
}

fn id(choice: Choice) -> &'static str {
    match choice {
        Choice::Textbook => "textbook",
        Choice::Release(release) => release.as_str(),
    }
}

fn family(choice: Choice) -> &'static str {
    match choice {
        Choice::Textbook => Profile::Textbook.name(),
        Choice::Release(release) => Profile::of_release(release).name(),
    }
}

fn about(choice: Choice) -> Key {
    match choice {
        Choice::Textbook => k::TOP_ABOUT_TEXTBOOK,
        Choice::Release(release) => match release {
            Release::V0_8_2_2 => k::TOP_ABOUT_0_8_2_2,
            Release::V0_11_0_3 => k::TOP_ABOUT_0_11_0_3,
            Release::V1_1_1 => k::TOP_ABOUT_1_1_1,
            Release::V2_8_2 => k::TOP_ABOUT_2_8_2,
            Release::V3_9_2 => k::TOP_ABOUT_3_9_2,
        },
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
            heading: (index == 0).then(|| lang.t(k::SCENARIO_SCENARIOS)),
            note: Some(lang.t(scenario.about)),
            checked: Some(flow.origin == Origin::Scenario(index)),
            ..Item::new(scenario.id, lang.t(scenario.name), choose)
        }
    });
    let lessons = lessons::entries(lang).enumerate().map(|(index, (id, title, about))| {
        let ctx = ctx.clone();
        let choose = Callback::from(move |()| lessons::open(&ctx, index));
        Item {
            heading: (index == 0).then(|| lang.t(k::SCENARIO_LESSONS)),
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
