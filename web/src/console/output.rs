//! The scrollback of a shell.

use kafkascope_core::zk::shell::{Line, LineKind};
use web_sys::HtmlElement;
use yew::prelude::*;

use super::line::visible;
use crate::i18n::{k, use_lang};

/// Letters of a line that are shown.
const LETTERS: usize = 4_000;

#[derive(PartialEq, Properties)]
pub struct OutputProps {
    pub lines: Vec<Line>,
    /// Lines before the first that is shown.
    pub earlier: usize,
    pub show_all: Callback<()>,
}

#[component]
pub fn Output(props: &OutputProps) -> Html {
    let lang = use_lang();
    let body = use_node_ref();
    {
        let body = body.clone();
        let newest = props.lines.last().map(|line| line.text.clone());
        use_effect_with((props.lines.len(), newest), move |_| {
            if let Some(body) = body.cast::<HtmlElement>() {
                body.set_scroll_top(body.scroll_height());
            }
        });
    }
    let show_all = props.show_all.reform(|_: MouseEvent| ());
    html! {
        <div class="cb" ref={body} role="log" aria-live="polite" tabindex="0"
            aria-label={lang.t(k::CLI_OUTPUT)} data-testid="console-output">
            if props.earlier > 0 {
                <button type="button" class="more" onclick={show_all}
                    data-testid="console-earlier">
                    {lang.fill(k::CLI_EARLIER, &[("n", &props.earlier)])}
                </button>
            }
            {for props.lines.iter().map(line)}
        </div>
    }
}

/// zkCli puts blank lines around what a watcher says; here the colour sets it off.
pub fn is_shown(line: &Line) -> bool {
    line.kind != LineKind::Watcher || !line.text.is_empty()
}

fn line(line: &Line) -> Html {
    let kind = match line.kind {
        LineKind::Command => "cmd",
        LineKind::Output => "out",
        LineKind::Error => "err",
        LineKind::Watcher => "wt",
    };
    let text = &*line.text;
    let end = text.char_indices().nth(LETTERS).map_or(text.len(), |(at, _)| at);
    let (shown, rest) = text.split_at(end);
    let prompt = shown.find("] ").filter(|_| line.kind == LineKind::Command);
    html! {
        <div class={classes!("ln", kind)} data-kind={kind}>
            if let Some(at) = prompt {
                <span class="pr">{visible(&shown[..at + 2])}</span>{visible(&shown[at + 2..])}
            } else {
                {visible(shown)}
            }
            if !rest.is_empty() { <i>{format!(" … +{}", rest.chars().count())}</i> }
        </div>
    }
}
