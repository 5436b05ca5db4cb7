//! What all dialogs share: fields with what is wrong beside them, and a button that says why it
//! can't be pressed.

use kafkascope_core::world::Command;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use crate::app::{Ctx, use_action};
use crate::console::past_of;
use crate::engine::use_world;
use crate::i18n::{Lang, k, use_lang};
use crate::state::UiAction;
use crate::transport::branch_name;
use crate::widgets::{Icon, Modal};
use crate::words;

/// What a field holds and whether a person was there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    pub value: String,
    pub touched: bool,
}

impl Text {
    pub fn new(value: impl Into<String>) -> Text {
        Text { value: value.into(), touched: false }
    }

    /// Empty fields that may be.
    pub fn optional(&self) -> Option<std::sync::Arc<str>> {
        let text = self.value.trim();
        (!text.is_empty()).then(|| text.into())
    }
}

#[derive(PartialEq, Properties)]
pub struct FieldProps {
    /// Also the name that tests find it by: `field-…`.
    pub id: &'static str,
    pub label: AttrValue,
    pub text: UseStateHandle<Text>,
    /// Shown once the field was touched or the button was pressed.
    #[prop_or_default]
    pub problem: Option<String>,
    #[prop_or_default]
    pub hint: Option<AttrValue>,
    #[prop_or_default]
    pub numeric: bool,
    #[prop_or_default]
    pub area: bool,
    #[prop_or_default]
    pub placeholder: Option<AttrValue>,
    #[prop_or_default]
    pub first: bool,
}

#[component]
pub fn Field(props: &FieldProps) -> Html {
    let id = format!("field-{}", props.id);
    let problem = props.problem.clone().filter(|_| props.text.touched);
    let note = format!("{id}-note");
    let node = use_node_ref();
    let oninput = {
        let (text, node) = (props.text.clone(), node.clone());
        Callback::from(move |_: InputEvent| {
            let area = node.cast::<HtmlTextAreaElement>().map(|area| area.value());
            let value = node.cast::<HtmlInputElement>().map(|input| input.value()).or(area);
            text.set(Text { value: value.unwrap_or_default(), touched: true });
        })
    };
    let invalid = problem.is_some().then_some("true");
    let value = props.text.value.clone();
    html! {
        <div class="field">
            <label for={id.clone()}>{props.label.clone()}</label>
            if props.area {
                <textarea id={id.clone()} ref={node} data-testid={id.clone()} {oninput} {value}
                    rows="6"
                    spellcheck="false" aria-invalid={invalid} aria-describedby={note.clone()}
                    autofocus={props.first} />
            } else {
                <input id={id.clone()} ref={node} data-testid={id.clone()} type="text" {oninput}
                    {value}
                    inputmode={props.numeric.then_some("numeric")} autocomplete="off"
                    spellcheck="false" aria-invalid={invalid} aria-describedby={note.clone()}
                    placeholder={props.placeholder.clone()} autofocus={props.first} />
            }
            <div id={note}>
                if let Some(problem) = problem {
                    <p class="problem" role="alert" data-testid={format!("{id}-error")}>
                        {problem}
                    </p>
                } else if let Some(hint) = &props.hint {
                    <p class="hint">{hint.clone()}</p>
                }
            </div>
        </div>
    }
}

#[derive(PartialEq, Properties)]
pub struct FormProps {
    pub testid: AttrValue,
    pub title: AttrValue,
    /// What the button does.
    pub label: AttrValue,
    pub icon: &'static str,
    #[prop_or_default]
    pub danger: bool,
    /// Why it can't be done now: the button says it.
    #[prop_or_default]
    pub blocked: Option<String>,
    pub submit: Callback<()>,
    /// The button was pressed although it can't be done: what is wrong should show.
    #[prop_or_default]
    pub pressed: Callback<()>,
    pub children: Html,
}

#[component]
pub fn Form(props: &FormProps) -> Html {
    let engine = use_world();
    let lang = use_lang();
    let close = use_action()(UiAction::CloseDialog).reform(|_: MouseEvent| ());
    let root = use_node_ref();
    let past = engine.read(past_of);
    let onsubmit = {
        let (submit, pressed) = (props.submit.clone(), props.pressed.clone());
        let (blocked, root) = (props.blocked.is_some(), root.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            if blocked {
                pressed.emit(());
                focus_first(&root);
            } else {
                submit.emit(());
            }
        })
    };
    let kind = if props.danger { "danger" } else { "primary" };
    html! {
        <Modal testid={props.testid.clone()} title={props.title.clone()}>
            <form class="form" ref={root} {onsubmit} novalidate=true>
                {props.children.clone()}
                if let Some(branch) = past {
                    <p class="past" data-testid="dialog-past"><Icon name="fork" small=true />
                        <span>
                            {lang.rich(
                                k::CLI_PAST,
                                &[("branch", &branch_name(lang, branch.0))],
                            )}
                        </span>
                    </p>
                }
                <div class="mfoot">
                    <button type="button" class="btn" onclick={close}
                        data-testid="dialog-cancel">{lang.t(k::FORM_CANCEL)}</button>
                    <button type="submit" class={classes!("btn", kind)} data-testid="dialog-submit"
                        aria-disabled={props.blocked.is_some().then_some("true")}>
                        <Icon name={props.icon} small=true />
                        <span>{button_text(props)}</span>
                    </button>
                </div>
            </form>
        </Modal>
    }
}

/// Longer reasons stand beside their field only.
const REASON: usize = 40;

fn button_text(props: &FormProps) -> String {
    let reason = props.blocked.as_ref().filter(|reason| reason.chars().count() <= REASON);
    reason.cloned().unwrap_or_else(|| props.label.to_string())
}

fn focus_first(root: &NodeRef) {
    use wasm_bindgen::JsCast;
    let Some(root) = root.cast::<HtmlElement>() else { return };
    let wrong =
        root.query_selector("[aria-invalid='true'], input, select, textarea").ok().flatten();
    if let Some(field) = wrong.and_then(|field| field.dyn_into::<HtmlElement>().ok()) {
        let _ = field.focus();
    }
}

/// Does it and closes the dialog; what is refused after all is told to `refused`.
pub fn submit(ctx: &Ctx, lang: Lang, command: Command, refused: &UseStateHandle<Option<String>>) {
    match ctx.engine.submit(command) {
        Ok(_) => ctx.act(UiAction::CloseDialog),
        Err(refusal) => refused.set(Some(words::refusal(lang, &refusal))),
    }
}

/// A callback that does it, if there is something to do.
pub fn submits(
    ctx: &Ctx,
    lang: Lang,
    command: Option<Command>,
    refused: &UseStateHandle<Option<String>>,
) -> Callback<()> {
    let (ctx, refused) = (ctx.clone(), refused.clone());
    Callback::from(move |()| {
        if let Some(command) = command.clone() {
            submit(&ctx, lang, command, &refused);
        }
    })
}

/// What was refused although nothing was wrong when it was looked at.
pub fn problem(text: Option<&String>) -> Html {
    let Some(text) = text else { return Html::default() };
    html! { <p class="problem" role="alert" data-testid="dialog-error">{text.clone()}</p> }
}

/// The field that is wrong, none if it is the whole, and why.
pub type Wrong = (&'static str, String);

/// Why a field is wrong, if it is the one.
pub fn at(wrong: Option<&Wrong>, field: &str) -> Option<String> {
    wrong.filter(|(known, _)| *known == field).map(|(_, why)| why.clone())
}

/// A name by Kafka's rule, or what is wrong with it.
pub fn named(
    lang: Lang,
    field: &'static str,
    text: &Text,
    limit: usize,
) -> Result<std::sync::Arc<str>, Wrong> {
    let name = text.value.trim();
    match kafkascope_core::world::check_name(name, limit) {
        Ok(()) => Ok(name.into()),
        Err(refusal) => Err((field, words::refusal(lang, &refusal))),
    }
}

/// A whole number within its bounds.
pub fn number(
    lang: Lang,
    field: &'static str,
    text: &str,
    (low, high): (u64, u64),
) -> Result<u64, Wrong> {
    super::number::within(lang, text, low, high).map_err(|why| (field, why))
}

/// Every field counts as touched: what is wrong shows.
pub fn touch(fields: &[UseStateHandle<Text>]) -> Callback<()> {
    let fields = fields.to_vec();
    Callback::from(move |()| {
        for field in &fields {
            field.set(Text { touched: true, ..(**field).clone() });
        }
    })
}
