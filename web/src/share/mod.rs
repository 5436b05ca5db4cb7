//! Link, file save and file open.

mod open;
pub mod problem;
mod state;

use gloo::file::callbacks::FileReader;
use kafkascope_core::base::limits;
use kafkascope_core::lab::{Lab, MODEL};
use kafkascope_core::script::{self, link, transcript};
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

pub use open::{initial, remark, use_opening};
pub use problem::problem;
pub use state::{ShareAction, ShareUi};

use crate::app::use_ctx;
use crate::engine::use_world;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::platform::{address, files};
use crate::widgets::{Icon, Modal};
use state::Broken;

/// The current branch, from its start to its last command.
struct Shared {
    fragment: String,
    commands: usize,
    seed: u64,
    model: u32,
}

fn shared(lab: &Lab) -> Shared {
    let run = lab.run();
    let fragment = link::write(&link::script_of(run));
    Shared { fragment, commands: run.commands.len(), seed: run.seed, model: run.model }
}

#[derive(PartialEq, Properties)]
pub struct ShareProps {
    pub ui: ShareUi,
}

#[component]
pub fn Share(props: &ShareProps) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let shared = engine.read(shared);
    html! {
        <Modal testid="share" title={lang.t(title(&props.ui))} wide=true>
            if let Some(broken) = &props.ui.broken {
                <div class="share-broken" role="alert" data-testid="share-error">
                    <b>{match &broken.file {
                        Some(file) => lang.fill(k::SHARE_BROKEN_FILE, &[("file", file)]),
                        None => lang.t(k::SHARE_BROKEN_LINK).to_string(),
                    }}</b>
                    <p class="problem">{problem::located(lang, &broken.error)}</p>
                    <p>{lang.t(k::SHARE_STAYED)}</p>
                </div>
            }
            if shared.model != MODEL {
                <p class="share-note" data-testid="share-note">
                    <Icon name="warn" small=true />
                    {lang.fill(if shared.model < MODEL { k::SHARE_OLDER } else { k::SHARE_NEWER },
                        &[("then", &shared.model), ("now", &MODEL)])}
                </p>
            }
            <Link fragment={shared.fragment.clone()} commands={shared.commands}
                seed={shared.seed} />
            <Paste />
            <Files />
        </Modal>
    }
}

/// What did not open is not "this run".
fn title(ui: &ShareUi) -> Key {
    match &ui.broken {
        None => k::SHARE_TITLE,
        Some(Broken { file: None, .. }) => k::SHARE_BROKEN_TITLE,
        Some(_) => k::SHARE_BROKEN_FILE_TITLE,
    }
}

/// Says for a while what became of a button.
fn said(lang: Lang, said: Option<Key>) -> Html {
    html! {
        <span class="said" role="status" data-testid="share-said">
            {said.map(|key| lang.t(key))}
        </span>
    }
}

#[derive(PartialEq, Properties)]
struct LinkProps {
    fragment: String,
    commands: usize,
    seed: u64,
}

#[component]
fn Link(props: &LinkProps) -> Html {
    let lang = use_lang();
    let told = use_state(|| None::<Key>);
    let field = use_node_ref();
    let url = address::with_fragment(&props.fragment);
    let copy = {
        let (url, told, field) = (url.clone(), told.clone(), field.clone());
        Callback::from(move |_: MouseEvent| {
            let (told, field) = (told.clone(), field.clone());
            let done = Callback::from(move |well: bool| {
                if !well && let Some(field) = field.cast::<HtmlTextAreaElement>() {
                    let _ = field.focus();
                    field.select();
                }
                told.set(Some(if well { k::SHARE_COPIED } else { k::SHARE_SELECTED }));
            });
            files::copy(&url, done);
        })
    };
    let put = {
        let (fragment, told) = (props.fragment.clone(), told.clone());
        Callback::from(move |_: MouseEvent| {
            if address::put_fragment(&fragment) {
                told.set(Some(k::SHARE_PUT_DONE));
            }
        })
    };
    let about = lang.fill(
        if props.fragment.starts_with("#s=") { k::SHARE_READABLE } else { k::SHARE_PACKED },
        &[("n", &props.commands), ("seed", &props.seed)],
    );
    html! {
        <section class="field">
            <label for="share-link">{lang.t(k::SHARE_LINK)}</label>
            <textarea id="share-link" ref={field} readonly=true rows="3" value={url}
                data-testid="share-link" spellcheck="false" />
            <p class="hint">{about}</p>
            <div class="share-row">
                <button type="button" class="btn primary" data-testid="share-copy" onclick={copy}>
                    <Icon name="copy" small=true />{lang.t(k::SHARE_COPY)}
                </button>
                <button type="button" class="btn" data-testid="share-address" onclick={put}>
                    {lang.t(k::SHARE_PUT)}
                </button>
                {said(lang, *told)}
            </div>
        </section>
    }
}

/// A link or a script that somebody sent.
#[component]
fn Paste() -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let field = use_node_ref();
    let wrong = use_state(|| None::<script::ScriptError>);
    let onsubmit = {
        let (field, wrong) = (field.clone(), wrong.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let Some(input) = field.cast::<HtmlInputElement>() else { return };
            match open::read_text(&input.value()) {
                Ok(script) => open::open(&ctx, None, Ok(script)),
                Err(error) => wrong.set(Some(error)),
            }
        })
    };
    let oninput = {
        let wrong = wrong.clone();
        Callback::from(move |_: InputEvent| wrong.set(None))
    };
    html! {
        <form class="field" {onsubmit}>
            <label for="share-paste">{lang.t(k::SHARE_PASTE)}</label>
            <div class="share-row">
                <input id="share-paste" ref={field} type="text" data-testid="share-paste"
                    autocomplete="off" spellcheck="false" placeholder="https://…#s=kafkascope+1;…"
                    aria-invalid={wrong.is_some().to_string()} {oninput} />
                <button type="submit" class="btn" data-testid="share-paste-open">
                    {lang.t(k::SHARE_OPEN)}
                </button>
            </div>
            if let Some(error) = &*wrong {
                <p class="problem" role="alert" data-testid="share-paste-error">
                    {problem::located(lang, error)}
                </p>
            }
        </form>
    }
}

#[component]
fn Files() -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let told = use_state(|| None::<Key>);
    let reader = use_mut_ref(|| None::<FileReader>);
    let save = {
        let ctx = ctx.clone();
        Callback::from(move |_: MouseEvent| {
            let text = ctx.engine.read(|lab| script::print(&link::script_of(lab.run())));
            files::save("kafkascope.scn", &text);
        })
    };
    let lines = {
        let ctx = ctx.clone();
        move || ctx.engine.read(|lab| transcript::lines(lab, false)).join("\n") + "\n"
    };
    let save_lines = {
        let lines = lines.clone();
        Callback::from(move |_: MouseEvent| _ = files::save("kafkascope.txt", &lines()))
    };
    let copy_lines = {
        let told = told.clone();
        Callback::from(move |_: MouseEvent| {
            let told = told.clone();
            files::copy(
                &lines(),
                Callback::from(move |well| {
                    told.set(Some(if well { k::SHARE_COPIED } else { k::SHARE_NO_CLIPBOARD }));
                }),
            );
        })
    };
    let onchange = Callback::from(move |event: Event| {
        let Some(input) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) else {
            return;
        };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            *reader.borrow_mut() = open::open_file(&ctx, file);
        }
        // The same file can be chosen again.
        input.set_value("");
    });
    let limit = limits::SCRIPT_BYTES >> 20;
    html! {
        <section class="field">
            <span class="label">{lang.t(k::SHARE_FILE)}</span>
            <div class="share-row">
                <button type="button" class="btn" data-testid="share-save-file" onclick={save}>
                    {lang.t(k::SHARE_SAVE)}
                </button>
                <label class="btn share-file">
                    <input class="vh" type="file" accept=".scn,.txt,text/plain"
                        data-testid="share-open-file" {onchange} />
                    {lang.t(k::SHARE_OPEN_FILE)}
                </label>
                <button type="button" class="btn" data-testid="share-save-transcript"
                    onclick={save_lines}>{lang.t(k::SHARE_SAVE_TRANSCRIPT)}</button>
                <button type="button" class="btn" data-testid="share-copy-transcript"
                    onclick={copy_lines}>{lang.t(k::SHARE_COPY_TRANSCRIPT)}</button>
                {said(lang, *told)}
            </div>
            <p class="hint">{lang.fill(k::SHARE_LIMIT, &[("limit", &limit)])}</p>
        </section>
    }
}
