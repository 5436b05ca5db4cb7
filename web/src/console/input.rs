//! The line that is typed: history by arrows, completion by tab, several lines by paste.

use std::sync::Arc;

use kafkascope_core::base::limits;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, HtmlInputElement};
use yew::prelude::*;

use super::line::{self, Completion};
use super::{ConsoleAction, type_line};
use crate::app::{Ctx, use_ctx};
use crate::i18n::{Lang, k, use_lang};
use crate::state::UiAction;
use crate::widgets::Icon;
use crate::words;

/// Lines that one paste may run.
const PASTED_LINES: usize = 100;

#[derive(PartialEq, Properties)]
pub struct InputProps {
    pub client: AttrValue,
    pub prompt: AttrValue,
    pub history: Vec<Arc<str>>,
    pub draft: AttrValue,
    pub busy: bool,
    /// Nothing is answered while time stands still.
    pub stands: bool,
}

/// What stands beside the field.
#[derive(Clone, Debug, Default, PartialEq)]
struct Aside {
    problem: Option<String>,
    found: Option<Completion>,
    usage: Option<String>,
}

/// Everything that a key press works with.
#[derive(Clone)]
struct Hands {
    ctx: Ctx,
    lang: Lang,
    client: Arc<str>,
    history: Vec<Arc<str>>,
    field: NodeRef,
    aside: UseStateHandle<Aside>,
    /// How far back in the history the field is, and what stood in it before.
    back: std::rc::Rc<std::cell::RefCell<(usize, String)>>,
}

impl Hands {
    fn field(&self) -> Option<HtmlInputElement> {
        self.field.cast()
    }

    fn put(&self, text: &str) {
        if let Some(field) = self.field() {
            field.set_value(text);
            let end = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
            let _ = field.set_selection_range(end, end);
            field.set_scroll_left(field.scroll_width());
        }
        let usage = line::usage(text);
        self.say(Aside { usage, ..Aside::default() });
    }

    fn say(&self, aside: Aside) {
        if *self.aside != aside {
            self.aside.set(aside);
        }
    }

    fn complain(&self, problem: String) {
        self.say(Aside { problem: Some(problem), ..Aside::default() });
    }

    fn too_long(&self, bytes: usize) -> String {
        let limit = limits::CONSOLE_LINE;
        self.lang.fill(k::CLI_TOO_LONG, &[("n", &bytes), ("limit", &limit)])
    }

    /// Gives a line to the client; false if it was refused.
    fn run(&self, line: &str) -> bool {
        if line.is_empty() {
            return true;
        }
        if line.len() > limits::CONSOLE_LINE {
            self.complain(self.too_long(line.len()));
            return false;
        }
        match type_line(&self.ctx.engine, &self.client, line) {
            Ok(()) => {
                self.ctx.act(UiAction::Console(ConsoleAction::Typed(line.into())));
                true
            }
            Err(refusal) => {
                self.complain(words::refusal(self.lang, &refusal));
                false
            }
        }
    }

    fn enter(&self) {
        let Some(field) = self.field() else { return };
        let text = field.value();
        if self.run(&text) {
            self.back.replace((0, String::new()));
            self.put("");
        }
    }

    fn walk(&self, older: bool) {
        let Some(field) = self.field() else { return };
        let mut back = self.back.borrow_mut();
        if back.0 == 0 {
            back.1 = field.value();
        }
        let at =
            if older { (back.0 + 1).min(self.history.len()) } else { back.0.saturating_sub(1) };
        back.0 = at;
        let text = match at {
            0 => back.1.clone(),
            at => self.history[self.history.len() - at].to_string(),
        };
        drop(back);
        self.put(&text);
    }

    /// True if the key was of use.
    fn tab(&self) -> bool {
        let Some(field) = self.field() else { return false };
        let text = field.value();
        let found = self.ctx.engine.read(|lab| line::complete(&text, lab.world().server.tree()));
        let Some(found) = found else { return false };
        if found.line != text {
            self.put(&found.line);
        }
        let usage = line::usage(&found.line);
        self.say(Aside { problem: None, found: Some(found), usage });
        true
    }

    fn key(&self, event: &KeyboardEvent) {
        // An input method is composing: the key is its own.
        if event.is_composing() || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "Enter" => self.enter(),
            "ArrowUp" => self.walk(true),
            "ArrowDown" => self.walk(false),
            "Tab" if !event.shift_key() && self.tab() => {}
            _ => return,
        }
        event.prevent_default();
    }

    fn typed(&self) {
        let Some(field) = self.field() else { return };
        let text = field.value();
        if text.len() > limits::CONSOLE_LINE {
            self.complain(self.too_long(text.len()));
        } else {
            self.say(Aside { usage: line::usage(&text), ..Aside::default() });
        }
    }

    /// One line goes into the field; of several, each is run.
    fn paste(&self, event: &ClipboardEvent) {
        let data = event.clipboard_data().and_then(|data| data.get_data("text/plain").ok());
        let Some(text) = data else { return };
        if !text.trim_end().contains(['\n', '\r']) && text.len() <= limits::CONSOLE_LINE {
            return;
        }
        event.prevent_default();
        let lines = line::pasted(&text);
        if let Some(long) = lines.iter().find(|line| line.len() > limits::CONSOLE_LINE) {
            return self.complain(self.too_long(long.len()));
        }
        if lines.len() > PASTED_LINES {
            let (n, limit) = (lines.len(), PASTED_LINES);
            let text = self.lang.fill(k::CLI_TOO_MANY, &[("n", &n), ("limit", &limit)]);
            return self.complain(text);
        }
        let _ = lines.iter().all(|line| self.run(line));
    }

    fn keep(&self) {
        let Some(text) = self.field().map(|field| field.value()) else { return };
        if text.len() <= limits::CONSOLE_LINE {
            self.ctx.act(UiAction::Console(ConsoleAction::Draft(text.into())));
        }
    }
}

#[component]
pub fn Input(props: &InputProps) -> Html {
    let lang = use_lang();
    let hands = Hands {
        ctx: use_ctx(),
        lang,
        client: props.client.as_str().into(),
        history: props.history.clone(),
        field: use_node_ref(),
        aside: use_state(Aside::default),
        back: use_mut_ref(|| (0, String::new())),
    };
    {
        let (hands, draft) = (hands.clone(), props.draft.clone());
        use_effect_with((), move |()| hands.put(&draft));
    }
    let on = |act: fn(&Hands)| {
        let hands = hands.clone();
        Callback::from(move |()| act(&hands))
    };
    let oninput = on(Hands::typed).reform(|_: InputEvent| ());
    let onblur = on(Hands::keep).reform(|_: FocusEvent| ());
    let onkeydown = {
        let hands = hands.clone();
        Callback::from(move |event: KeyboardEvent| hands.key(&event))
    };
    let onpaste = {
        let hands = hands.clone();
        Callback::from(move |event: Event| {
            if let Some(event) = event.dyn_ref::<ClipboardEvent>() {
                hands.paste(event);
            }
        })
    };
    let aside = (*hands.aside).clone();
    let wrong = aside.problem.is_some();
    html! {
        <div class="entry">
            {said(lang, &aside)}
            if props.busy && props.stands {
                {stands(lang, &hands.ctx)}
            }
            <label class="in">
                <span class="pr">{props.prompt.clone()}</span>
                <input ref={hands.field.clone()} type="text" spellcheck="false"
                    autocomplete="off" autocapitalize="off" data-testid="console-input"
                    aria-label={lang.t(k::CLI_LINE)} aria-invalid={wrong.then_some("true")}
                    aria-describedby={wrong.then_some("console-problem")}
                    {onkeydown} {oninput} {onblur} {onpaste} />
                <span class="sugg">
                    if props.busy {
                        {lang.t(k::CLI_BUSY)}
                    } else if let Some(usage) = &aside.usage {
                        <code>{usage.clone()}</code>
                    } else {
                        {lang.t(k::CLI_KEYS)}
                    }
                </span>
            </label>
        </div>
    }
}

/// The answer takes time, and there is none: the way on is at hand.
fn stands(lang: Lang, ctx: &Ctx) -> Html {
    let ctx = ctx.clone();
    let onclick = Callback::from(move |_: MouseEvent| ctx.engine.set_playing(true));
    html! {
        <p class="stands" role="status" data-testid="console-stands">
            <span>{lang.t(k::CLI_STANDS)}</span>
            <button type="button" {onclick} data-testid="console-play">
                <Icon name="play" small=true />{lang.t(k::TRANSPORT_PLAY)}
            </button>
        </p>
    }
}

fn said(lang: Lang, aside: &Aside) -> Html {
    if let Some(problem) = &aside.problem {
        return html! {
            <p class="problem" id="console-problem" role="alert" data-testid="console-error">
                {problem.clone()}
            </p>
        };
    }
    let Some(found) = aside.found.as_ref().filter(|found| !found.choices.is_empty()) else {
        return Html::default();
    };
    html! {
        <p class="choices" data-testid="console-choices">
            {for found.choices.iter().map(|name| html! { <span>{line::visible(name)}</span> })}
            if found.more > 0 { <i>{lang.fill(k::NODE_MORE, &[("n", &found.more)])}</i> }
        </p>
    }
}
