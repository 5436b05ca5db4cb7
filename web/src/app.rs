//! The page as a whole: one reducer, one engine, and where the regions stand.

use kafkascope_core::script;
use yew::prelude::*;

use crate::caption::Caption;
use crate::compare::Compare;
use crate::console::Console;
use crate::dialogs::Dialogs;
use crate::engine::{Engine, scenario};
use crate::help::Help;
use crate::i18n::{Lang, k, use_lang};
use crate::invariants::Invariants;
use crate::keys::use_keys;
use crate::lessons::Lesson;
use crate::logs::Logs;
use crate::ownership::Ownership;
use crate::platform::{media, storage};
use crate::share::{self, Share};
use crate::stage::Stage;
use crate::state::{Dialog, DockTab, NarrowTab, Theme, UiAction, UiState};
use crate::story::Story;
use crate::topbar::Topbar;
use crate::topics::Topics;
use crate::transport::Transport;
use crate::widgets::Icon;
use crate::znodes::{Inspector, Tree};

/// What every region can reach. It never changes, so nobody renders again for it.
#[derive(Clone, PartialEq)]
pub struct Ctx {
    pub engine: Engine,
    pub dispatch: UseReducerDispatcher<UiState>,
}

impl Ctx {
    pub fn act(&self, action: UiAction) {
        self.dispatch.dispatch(action);
    }
}

#[hook]
pub fn use_ctx() -> Ctx {
    use_context::<Ctx>().expect("within the app")
}

/// Gives a callback that does `action`.
#[hook]
pub fn use_action() -> impl Fn(UiAction) -> Callback<()> {
    let ctx = use_ctx();
    move |action: UiAction| {
        let ctx = ctx.clone();
        Callback::from(move |()| ctx.act(action.clone()))
    }
}

fn first_state() -> UiState {
    let tag = storage::lang().unwrap_or_else(media::language);
    let theme = storage::theme().map(|name| Theme::parse(&name)).unwrap_or_default();
    UiState { lang: Lang::parse(&tag), theme, ..UiState::default() }
}

/// The run in the address, or the opening. A broken link opens the dialog that says where.
fn first_engine() -> (Engine, Option<Result<script::Script, script::ScriptError>>) {
    let first = share::initial();
    let (lab, origin) = match &first {
        Some(Ok(script)) => {
            let lab = kafkascope_core::lab::Lab::new(script::run_of(script));
            (lab, scenario::Origin::Shared)
        }
        _ => (scenario::ALL[0].lab(), scenario::Origin::Scenario(0)),
    };
    (Engine::new(lab, origin), first)
}

#[component]
pub fn App() -> Html {
    let ui = use_reducer(first_state);
    let first = use_memo((), |()| first_engine());
    let ctx = Ctx { engine: first.0.clone(), dispatch: ui.dispatcher() };
    {
        let (ctx, first) = (ctx.clone(), first.1.clone());
        use_effect_with((), move |()| {
            let still = media::reduced_motion();
            ctx.engine.set_still(still);
            ctx.engine.set_playing(!still);
            if let Some(first) = &first {
                share::remark(&ctx, first);
            }
        });
    }
    use_effect_with((ui.lang, ui.theme), |(lang, theme)| apply(*lang, *theme));
    use_keys(&ctx, &ui);
    share::use_opening(&ctx);
    html! {
        <ContextProvider<Ctx> context={ctx}>
            <ContextProvider<Lang> context={ui.lang}>
                {page(&ui)}
            </ContextProvider<Lang>>
        </ContextProvider<Ctx>>
    }
}

/// Language and theme as the document carries them.
fn apply(lang: Lang, theme: Theme) {
    let Some(root) = gloo::utils::document().document_element() else { return };
    let _ = root.set_attribute("lang", lang.tag());
    let _ = match theme {
        Theme::System => root.remove_attribute("data-theme"),
        theme => root.set_attribute("data-theme", theme.name()),
    };
}

fn page(ui: &UiState) -> Html {
    let lesson = ui.lesson.is_open();
    html! {
        <div class={classes!("app", format!("show-{}", tab_name(ui.narrow, lesson)))}
            data-testid="app">
            <Topbar theme={ui.theme} menu={ui.menu.clone()} />
            <main class="main">
                <Stage selected={ui.selected.clone()} menu={ui.menu.clone()} />
                <Caption {lesson} />
                <Dock tab={ui.dock} ui={ui.clone()} />
            </main>
            <NarrowTabs tab={ui.narrow} {lesson} compares={ui.comparison.is_some()} />
            <aside class={classes!("side", lesson.then_some("one"))} data-testid="side">
                if lesson {
                    <Lesson ui={ui.lesson.clone()} />
                } else {
                    <Tree ui={ui.znodes.clone()} selected={ui.selected.clone()} />
                    <Story filter={ui.story} selected={ui.selected.clone()}
                        menu={ui.menu.clone()} />
                }
            </aside>
            <Transport menu={ui.menu.clone()} />
            {dialog(ui)}
        </div>
    }
}

fn dialog(ui: &UiState) -> Html {
    match &ui.dialog {
        None => Html::default(),
        Some(Dialog::Share) => html! { <Share ui={ui.share.clone()} /> },
        Some(Dialog::Help) => html! { <Help /> },
        Some(dialog) => html! { <Dialogs dialog={dialog.clone()} /> },
    }
}

/// What a narrow screen shows under the caption.
fn tab_name(tab: NarrowTab, lesson: bool) -> &'static str {
    match tab {
        NarrowTab::Story | NarrowTab::Znodes if lesson => "lesson",
        NarrowTab::Story => "story",
        NarrowTab::Znodes => "znodes",
        NarrowTab::Lesson => "lesson",
        NarrowTab::Dock(DockTab::Logs) => "logs",
        NarrowTab::Dock(DockTab::Znode) => "znode",
        NarrowTab::Dock(DockTab::Ownership) => "ownership",
        NarrowTab::Dock(DockTab::Console) => "console",
        NarrowTab::Dock(DockTab::Topics) => "topics",
        NarrowTab::Dock(DockTab::Invariants) => "invariants",
        NarrowTab::Dock(DockTab::Compare) => "compare",
    }
}

const DOCK: [(DockTab, &str, &str, crate::i18n::Key); 7] = [
    (DockTab::Logs, "logs", "logs", k::DOCK_LOGS),
    (DockTab::Ownership, "owner", "ownership", k::DOCK_OWNERSHIP),
    (DockTab::Znode, "znode", "znode", k::DOCK_ZNODE),
    (DockTab::Console, "console", "console", k::DOCK_CONSOLE),
    (DockTab::Topics, "folder", "topics", k::DOCK_TOPICS),
    (DockTab::Invariants, "law", "invariants", k::DOCK_INVARIANTS),
    (DockTab::Compare, "compare", "compare", k::DOCK_COMPARE),
];

/// The last one only where there is something to compare.
fn dock_tabs(compares: bool) -> &'static [(DockTab, &'static str, &'static str, crate::i18n::Key)] {
    &DOCK[..DOCK.len() - usize::from(!compares)]
}

#[derive(PartialEq, Properties)]
struct DockProps {
    tab: Option<DockTab>,
    ui: UiState,
}

/// The strip of tabs under the caption, and what the open one shows.
#[component]
fn Dock(props: &DockProps) -> Html {
    let lang = use_lang();
    let action = use_action();
    let ui = &props.ui;
    let tabs = dock_tabs(ui.comparison.is_some()).iter().map(|(tab, icon, id, name)| {
        let open = props.tab == Some(*tab);
        let onclick = action(UiAction::ToggleDock(*tab)).reform(|_: MouseEvent| ());
        html! {
            <button type="button" role="tab" class="tab" aria-selected={open.to_string()}
                data-testid={format!("dock-tab-{id}")} {onclick}>
                <Icon name={*icon} small=true />{lang.t(*name)}
            </button>
        }
    });
    html! {
        <section class={classes!("dock", props.tab.is_some().then_some("open"))}
            data-testid="dock">
            <div class="tabs" role="tablist">
                {for tabs}
            </div>
            if let Some(tab) = props.tab {
                <div class="dock-body" role="tabpanel">
                    {dock_body(tab, ui)}
                </div>
            }
        </section>
    }
}

fn dock_body(tab: DockTab, ui: &UiState) -> Html {
    match tab {
        DockTab::Znode => html! { <Inspector selected={ui.selected.clone()} /> },
        DockTab::Logs => {
            html! { <Logs ui={ui.logs.clone()} selected={ui.selected.clone()} /> }
        }
        DockTab::Ownership => html! { <Ownership ui={ui.ownership.clone()} /> },
        DockTab::Console => html! { <Console ui={ui.console.clone()} /> },
        DockTab::Topics => html! { <Topics /> },
        DockTab::Invariants => html! { <Invariants /> },
        DockTab::Compare => html! { <Compare comparison={ui.comparison.clone()} /> },
    }
}

#[derive(PartialEq, Properties)]
struct NarrowTabsProps {
    tab: NarrowTab,
    lesson: bool,
    compares: bool,
}

/// What a narrow screen shows under the caption, one at a time.
#[component]
fn NarrowTabs(props: &NarrowTabsProps) -> Html {
    let lang = use_lang();
    let action = use_action();
    let mut tabs = match props.lesson {
        true => vec![(NarrowTab::Lesson, "book", "lesson", k::DOCK_LESSON)],
        false => vec![
            (NarrowTab::Story, "why", "story", k::STORY_TITLE),
            (NarrowTab::Znodes, "znode", "znodes", k::ZNODES_TITLE),
        ],
    };
    let dock = dock_tabs(props.compares).iter();
    tabs.extend(dock.map(|(tab, icon, id, name)| (NarrowTab::Dock(*tab), *icon, *id, *name)));
    let shown = tab_name(props.tab, props.lesson);
    html! {
        <div class="narrow-tabs" role="tablist" data-testid="narrow-tabs">
            {for tabs.into_iter().map(|(tab, icon, id, name)| {
                let open = tab_name(tab, false) == shown;
                let onclick = action(UiAction::ShowNarrow(tab)).reform(|_: MouseEvent| ());
                html! {
                    <button type="button" role="tab" class="tab" {onclick}
                        aria-selected={open.to_string()}
                        data-testid={format!("narrow-tab-{id}")}>
                        <Icon name={icon} small=true />{lang.t(name)}
                    </button>
                }
            })}
        </div>
    }
}
