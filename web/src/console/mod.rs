//! The zkCli-like console (dock).

mod input;
mod line;
mod output;
mod state;

use std::sync::Arc;

use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::world::command::CONSOLE;
use kafkascope_core::world::proc::Kind;
use kafkascope_core::world::{Command, Refusal, Who};
use kafkascope_core::zk::shell::Line;
use yew::prelude::*;

pub use line::word;
pub use state::{ConsoleAction, ConsoleUi};

use crate::app::{Ctx, use_ctx};
use crate::engine::{Engine, use_flow, use_world};
use crate::i18n::{Lang, k, use_lang};
use crate::state::UiAction;
use crate::transport::branch_name;
use crate::widgets::Icon;
use input::Input;
use output::{Output, is_shown};

/// Lines that are shown before somebody asks for all.
const SHOWN: usize = 200;

/// Types a line at a client, as if by hand.
pub fn type_line(engine: &Engine, client: &Arc<str>, line: &str) -> Result<(), Refusal> {
    let command = Command::Zk { client: client.clone(), line: line.into() };
    engine.submit(command).map(|_| ())
}

/// The console sets a watch: on the data of a node, or on its coming.
pub fn watch(engine: &Engine, path: &str, there: bool) {
    if let Some(word) = word(path) {
        let name = if there { "get" } else { "stat" };
        // A refusal leaves a row in no story; the console shows what it says.
        let _ = type_line(engine, &CONSOLE.into(), &format!("{name} -w {word}"));
    }
}

#[derive(PartialEq, Properties)]
pub struct ConsoleProps {
    pub ui: ConsoleUi,
}

/// What the shell of the chosen client shows.
struct Screen {
    lines: Vec<Line>,
    earlier: usize,
    prompt: Option<String>,
    busy: bool,
    clients: Vec<Arc<str>>,
    /// The chosen client has no process: its lines went with it.
    ended: bool,
    past_of: Option<BranchId>,
}

fn screen(lab: &Lab, ui: &ConsoleUi) -> Screen {
    let world = lab.world();
    let who = Who::Client(ui.client.clone());
    let proc = world.procs.iter().find(|proc| proc.who().as_ref() == Some(&who));
    let shell = proc.and_then(|proc| proc.shell());
    let lines: Vec<&Line> =
        shell.map_or_else(Vec::new, |shell| shell.lines().iter().filter(|l| is_shown(l)).collect());
    let earlier = if ui.whole { 0 } else { lines.len().saturating_sub(SHOWN) };
    let mut clients: Vec<Arc<str>> = vec![CONSOLE.into()];
    clients.extend(world.procs.iter().filter_map(|proc| match &proc.kind {
        Kind::Client(name) if **name != *CONSOLE => Some(name.clone()),
        _ => None,
    }));
    Screen {
        lines: lines[earlier..].iter().map(|line| (*line).clone()).collect(),
        earlier,
        prompt: shell.map(|shell| shell.prompt()),
        busy: shell.is_some_and(|shell| shell.is_busy()),
        clients,
        ended: proc.is_some() && shell.is_none_or(|shell| shell.has_exited()),
        past_of: past_of(lab),
    }
}

/// The branch that a command given now would leave, if something of it lies ahead.
pub fn past_of(lab: &Lab) -> Option<BranchId> {
    let ahead = &lab.all_rows()[lab.rows().len()..];
    ahead.iter().any(|row| !row.detail).then(|| lab.current_branch())
}

#[component]
pub fn Console(props: &ConsoleProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let flow = use_flow();
    let ui = &props.ui;
    let screen = engine.read(|lab| screen(lab, ui));
    let show_all = {
        let ctx = ctx.clone();
        Callback::from(move |()| ctx.act(UiAction::Console(ConsoleAction::ShowWhole)))
    };
    let prompt = screen.prompt.clone().unwrap_or_else(|| format!("[zk: {}]", ui.client));
    let empty = screen.lines.is_empty();
    html! {
        <section class="console" data-testid="console" aria-label={lang.t(k::DOCK_CONSOLE)}>
            {head(&ctx, lang, ui, &screen)}
            if empty {
                <div class="cb hint" data-testid="console-output" role="log">
                    {lang.rich(empty_text(ui, &screen), &[("client", &ui.client)])}
                </div>
            } else {
                <Output lines={screen.lines} earlier={screen.earlier} {show_all} />
            }
            if let Some(branch) = screen.past_of {
                <p class="past" data-testid="console-past">
                    <Icon name="fork" small=true />
                    <span>
                        {lang.rich(
                            k::CLI_PAST,
                            &[("branch", &branch_name(lang, branch.0))],
                        )}
                    </span>
                </p>
            }
            <Input client={ui.client.to_string()} {prompt} history={ui.history.clone()}
                draft={ui.draft.to_string()} busy={screen.busy} stands={!flow.playing} />
        </section>
    }
}

fn empty_text(ui: &ConsoleUi, screen: &Screen) -> crate::i18n::Key {
    match (screen.ended, *ui.client == *CONSOLE) {
        (true, false) => k::CLI_ENDED,
        (false, false) => k::CLI_QUIET,
        (_, true) => k::CLI_HELLO,
    }
}

fn head(ctx: &Ctx, lang: Lang, ui: &ConsoleUi, screen: &Screen) -> Html {
    let one = |client: &Arc<str>| {
        let (ctx, name) = (ctx.clone(), client.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            ctx.act(UiAction::Console(ConsoleAction::Choose(name.clone())));
        });
        html! {
            <button type="button" {onclick} aria-pressed={(ui.client == *client).to_string()}
                data-testid={format!("console-client-{client}")}>{client.to_string()}</button>
        }
    };
    html! {
        <div class="chd">
            <Icon name="console" small=true />
            <span>{"zkCli"}</span>
            if screen.clients.len() > 1 {
                <div class="who" role="group" aria-label={lang.t(k::CLI_CLIENT)}>
                    {for screen.clients.iter().map(one)}
                </div>
            }
            <span class="grow" />
            <span class="names">{"ls · get · stat · create · set · delete · help"}</span>
        </div>
    }
}
