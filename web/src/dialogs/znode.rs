//! What can be done to a znode. All of it is a line typed at the console's client, so that it is
//! a real request with a story of its own.

use kafkascope_core::base::limits;
use kafkascope_core::lab::Lab;
use kafkascope_core::world::Command;
use kafkascope_core::world::command::CONSOLE;
use kafkascope_core::zk::{path, shell};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::form::{Field, Form, Text, problem, submit, touch};
use super::number;
use crate::app::use_ctx;
use crate::console::word;
use crate::engine::use_world;
use crate::i18n::{Key, Lang, k, use_lang};
use crate::words;

#[derive(PartialEq, Properties)]
pub struct ZnodeProps {
    pub path: AttrValue,
}

fn typed(line: &str) -> Command {
    Command::Zk { client: CONSOLE.into(), line: line.into() }
}

/// The line as a command, or why the console would not take it.
fn as_command(lab: &Lab, lang: Lang, line: &str) -> Result<Command, String> {
    if line.len() > limits::CONSOLE_LINE {
        let values: [(&str, &dyn std::fmt::Display); 2] =
            [("n", &line.len()), ("limit", &limits::CONSOLE_LINE)];
        return Err(lang.fill(k::CLI_TOO_LONG, &values));
    }
    shell::check(line)?;
    let command = typed(line);
    lab.check(&command).map_err(|refusal| words::refusal(lang, &refusal))?;
    Ok(command)
}

fn data_word(lang: Lang, data: &str) -> Result<String, String> {
    word(data).ok_or_else(|| lang.t(k::FORM_UNSAYABLE).to_string())
}

/// The line that the button will type.
fn shown_line(lang: Lang, line: &str) -> Html {
    let short: String = line.chars().take(160).collect();
    html! { <p class="about line">{lang.rich(k::FORM_TYPES, &[("line", &short)])}</p> }
}

// --- Delete --------------------------------------------------------------------------------------

struct Loss {
    line: String,
    below: i32,
    watches: u32,
}

fn loss(lab: &Lab, path: &str) -> Option<Loss> {
    let server = &lab.world().server;
    let node = server.tree().get(path)?;
    let name = if node.child_count() > 0 { "deleteall" } else { "delete" };
    let line = format!("{name} {}", word(path)?);
    Some(Loss { line, below: node.descendants(), watches: server.watch_count(path) })
}

#[component]
pub fn DeleteZnode(props: &ZnodeProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let refused = use_state(|| None::<String>);
    let loss = engine.read(|lab| loss(lab, &props.path));
    let line = loss.as_ref().map_or_else(String::new, |loss| loss.line.clone());
    let command = match &loss {
        Some(_) => engine.read(|lab| as_command(lab, lang, &line)),
        None => Err(lang.fill(k::FORM_NO_NODE, &[("path", &props.path)])),
    };
    let blocked = command.as_ref().err().cloned();
    let go = {
        let refused = refused.clone();
        Callback::from(move |()| {
            if let Ok(command) = &command {
                submit(&ctx, lang, command.clone(), &refused);
            }
        })
    };
    html! {
        <Form testid="dialog-delete-znode" icon="kill" danger=true {blocked} submit={go}
            title={lang.fill(k::FORM_DELETE, &[("path", &props.path)])}
            label={lang.t(k::NODE_DELETE)}>
            if let Some(loss) = &loss {
                <ul class="facts">
                    if loss.below > 0 {
                        <li>{lang.fill(k::FORM_BELOW, &[("n", &loss.below)])}</li>
                    }
                    <li>{lang.fill(k::FORM_WATCHES, &[("n", &loss.watches)])}</li>
                </ul>
            }
            {shown_line(lang, &line)}
            {problem(refused.as_ref())}
        </Form>
    }
}

// --- Set data ------------------------------------------------------------------------------------

fn data_of(lab: &Lab, path: &str) -> Option<String> {
    let node = lab.world().server.tree().get(path)?;
    let bytes = node.data.as_ref()?;
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[component]
pub fn SetData(props: &ZnodeProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let before = {
        let (engine, path) = (engine.clone(), props.path.clone());
        use_memo((), move |()| engine.read(|lab| data_of(lab, &path)).unwrap_or_default())
    };
    let text = {
        let before = before.clone();
        use_state(move || Text::new((*before).clone()))
    };
    let refused = use_state(|| None::<String>);
    let line = word(&props.path)
        .ok_or_else(|| lang.t(k::FORM_UNSAYABLE).to_string())
        .and_then(|path| Ok(format!("set {path} {}", data_word(lang, &text.value)?)));
    let command = line
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|line| engine.read(|lab| as_command(lab, lang, line)));
    let wrong = command.as_ref().err().cloned();
    let hint = match (is_json(&before), is_json(&text.value)) {
        (_, true) => k::FORM_JSON,
        (true, false) => k::FORM_NOT_JSON,
        (false, false) => k::FORM_PLAIN,
    };
    let go = {
        let refused = refused.clone();
        Callback::from(move |()| {
            if let Ok(command) = &command {
                submit(&ctx, lang, command.clone(), &refused);
            }
        })
    };
    html! {
        <Form testid="dialog-set-data" icon="check" blocked={wrong.clone()} submit={go}
            title={lang.fill(k::FORM_EDIT, &[("path", &props.path)])}
            label={lang.t(k::FORM_EDIT_GO)} pressed={touch(std::slice::from_ref(&text))}>
            <Field id="data" label={lang.t(k::NODE_DATA)} text={text.clone()} area=true first=true
                problem={wrong} hint={lang.t(hint)} />
            if let Ok(line) = &line { {shown_line(lang, line)} }
            {problem(refused.as_ref())}
        </Form>
    }
}

// --- Create --------------------------------------------------------------------------------------

/// What `create` can make, with its options.
const MODES: [(&str, Key, &str); 6] = [
    ("persistent", k::NODE_PERSISTENT, ""),
    ("ephemeral", k::NODE_EPHEMERAL, "-e "),
    ("sequential", k::FORM_SEQUENTIAL, "-s "),
    ("ephemeral-sequential", k::FORM_EPHEMERAL_SEQUENTIAL, "-e -s "),
    ("container", k::TREE_CONTAINER, "-c "),
    ("ttl", k::TREE_TTL, "-t "),
];
const TTL: usize = 5;
/// The longest time that ZooKeeper keeps in a TTL node, in milliseconds.
const TTL_MS: u64 = 0x00ff_ffff_ffff;

#[derive(Default)]
struct Verdict {
    path: Option<String>,
    data: Option<String>,
    ttl: Option<String>,
    line: String,
    /// What ZooKeeper will answer, as far as can be seen from here.
    note: Option<Key>,
    command: Option<Command>,
}

struct Wish<'a> {
    path: &'a str,
    data: &'a str,
    ttl: &'a str,
    mode: usize,
}

fn judge(lab: &Lab, lang: Lang, wish: &Wish<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut options = MODES[wish.mode].2.to_owned();
    if wish.mode == TTL {
        match number::within(lang, wish.ttl, 1, TTL_MS) {
            Ok(ms) => options = format!("-t {ms} "),
            Err(why) => verdict.ttl = Some(why),
        }
    }
    let sequential = options.contains("-s");
    let release = lab.world().config.zookeeper;
    let valid = path::is_valid_for_create(wish.path, sequential, release) && wish.path != "/";
    let at = word(wish.path).filter(|_| valid);
    if at.is_none() {
        verdict.path = Some(lang.t(k::FORM_PATH).to_string());
    }
    match data_word(lang, wish.data) {
        Ok(data) => {
            let data = if wish.data.is_empty() { String::new() } else { format!(" {data}") };
            verdict.line = format!("create {options}{}{data}", at.unwrap_or_default());
        }
        Err(why) => verdict.data = Some(why),
    }
    verdict.note = answer(lab, wish.path, sequential);
    if verdict.path.is_none() && verdict.data.is_none() && verdict.ttl.is_none() {
        match as_command(lab, lang, &verdict.line) {
            Ok(command) => verdict.command = Some(command),
            Err(why) => verdict.data = Some(why),
        }
    }
    verdict
}

fn answer(lab: &Lab, at: &str, sequential: bool) -> Option<Key> {
    let tree = lab.world().server.tree();
    if !sequential && tree.contains(at) {
        return Some(k::FORM_EXISTS);
    }
    let parent = tree.get(path::parent_name(at));
    match parent {
        None => Some(k::FORM_NO_PARENT),
        Some(parent) => {
            let kind = parent.kind;
            let leaf = matches!(kind, kafkascope_core::zk::tree::NodeKind::Ephemeral(_));
            leaf.then_some(k::FORM_LEAF)
        }
    }
}

#[component]
pub fn CreateZnode(props: &ZnodeProps) -> Html {
    let engine = use_world();
    let (ctx, lang) = (use_ctx(), use_lang());
    let at = {
        let path = props.path.to_string();
        use_state(move || Text::new(path))
    };
    let (data, ttl) = (use_state(Text::default), use_state(|| Text::new("5000")));
    let mode = use_state(|| 0_usize);
    let refused = use_state(|| None::<String>);
    let wish = Wish { path: at.value.trim(), data: &data.value, ttl: &ttl.value, mode: *mode };
    let verdict = engine.read(|lab| judge(lab, lang, &wish));
    let go = {
        let (command, refused) = (verdict.command.clone(), refused.clone());
        Callback::from(move |()| {
            if let Some(command) = command.clone() {
                submit(&ctx, lang, command, &refused);
            }
        })
    };
    let first = [&verdict.path, &verdict.ttl, &verdict.data].into_iter().flatten().next();
    let hint = verdict.note.map_or_else(|| lang.t(k::FORM_PATH_HINT), |note| lang.t(note));
    html! {
        <Form testid="dialog-create-znode" icon="plus" blocked={first.cloned()} submit={go}
            title={lang.t(k::FORM_CREATE)} label={lang.t(k::NODE_CREATE)}
            pressed={touch(&[at.clone(), data.clone(), ttl.clone()])}>
            <Field id="path" label={lang.t(k::FORM_PATH_LABEL)} text={at.clone()} first=true
                problem={verdict.path.clone()} {hint} />
            {modes(lang, &mode)}
            if *mode == TTL {
                <Field id="ttl" label={lang.t(k::FORM_TTL)} text={ttl.clone()} numeric=true
                    problem={verdict.ttl.clone()} hint={lang.t(k::FORM_TTL_HINT)} />
            }
            <Field id="data" label={lang.t(k::NODE_DATA)} text={data.clone()}
                problem={verdict.data.clone()} hint={lang.t(k::FORM_OPTIONAL)} />
            if first.is_none() { {shown_line(lang, &verdict.line)} }
            {problem(refused.as_ref())}
        </Form>
    }
}

fn modes(lang: Lang, mode: &UseStateHandle<usize>) -> Html {
    let onchange = {
        let mode = mode.clone();
        Callback::from(move |event: Event| {
            let select = event.target_dyn_into::<HtmlSelectElement>();
            if let Some(index) = select.and_then(|s| usize::try_from(s.selected_index()).ok()) {
                mode.set(index.min(MODES.len() - 1));
            }
        })
    };
    let option = |(index, (id, key, _)): (usize, &(&'static str, Key, &str))| {
        html! { <option value={*id} selected={index == **mode}>{lang.t(*key)}</option> }
    };
    html! {
        <div class="field">
            <label for="field-mode">{lang.t(k::FORM_MODE)}</label>
            <select id="field-mode" data-testid="field-mode" {onchange}>
                {for MODES.iter().enumerate().map(option)}
            </select>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> Lab {
        let text = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1\n";
        let script = kafkascope_core::script::parse(text).expect("a script");
        let mut lab = Lab::new(kafkascope_core::script::run_of(&script));
        lab.seek(kafkascope_core::base::Instant(2_000_000));
        lab
    }

    #[test]
    fn what_is_deleted_is_said_in_zkclis_words() {
        let lab = lab();
        assert_eq!(
            loss(&lab, "/controller").map(|l| l.line).as_deref(),
            Some("delete /controller")
        );
        let folder = loss(&lab, "/brokers").expect("there");
        assert_eq!(folder.line, "deleteall /brokers");
        assert!(folder.below >= 2);
        assert!(loss(&lab, "/nothing").is_none());
    }

    #[test]
    fn creating_names_what_is_wrong() {
        let lab = lab();
        let at = |path, data, mode| judge(&lab, Lang::En, &Wish { path, data, ttl: "5000", mode });
        assert_eq!(at("/a", "x y", 1).line, "create -e /a 'x y'");
        assert!(at("/a", "", 0).command.is_some());
        for bad in ["", "a", "/", "/a/", "/a//b", "/a\u{0}"] {
            assert!(at(bad, "", 0).path.is_some(), "{bad:?}");
        }
        assert!(at("/a", "it's \"both\"", 0).data.is_some());
        let large = "x".repeat(1 << 20);
        assert!(at("/a", &large, 0).data.is_some());
        assert_eq!(at("/controller", "", 0).note, Some(k::FORM_EXISTS));
        assert_eq!(at("/controller/x", "", 0).note, Some(k::FORM_LEAF));
        assert_eq!(at("/no/x", "", 0).note, Some(k::FORM_NO_PARENT));
        assert_eq!(at("/a", "", TTL).line, "create -t 5000 /a");
    }
}
