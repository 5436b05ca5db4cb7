//! Lessons: text bound to the run, in the side panel in place of tree and story.

mod catalog;
mod run;
mod state;

use kafkascope_core::script::texts::{Beat, Block, Texts};
use kafkascope_core::script::{Answer, Statement};
use kafkascope_core::world::Command;
use yew::prelude::*;

pub use run::{leave, next, on_key, open};
pub use state::{LessonAction, LessonUi};

use crate::app::{Ctx, use_ctx};
use crate::engine::use_flow;
use crate::i18n::{Lang, k, rich, use_lang};
use crate::platform::media;
use crate::state::UiAction;
use crate::widgets::Icon;
use state::{Phase, Place, Question, Value};

/// What a menu lists: id, title, what it is about.
pub fn entries(lang: Lang) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    catalog::ALL.iter().map(move |entry| {
        let (title, about) = entry.heading(lang);
        (entry.id, title, about)
    })
}

/// Whether a command is one of those that the lesson gives.
pub fn gives(lesson: usize, command: &Command) -> bool {
    catalog::gives(lesson, command)
}

/// A lesson's title, by its number.
pub fn title(lesson: usize, lang: Lang) -> Option<&'static str> {
    catalog::ALL.get(lesson).map(|entry| entry.heading(lang).0)
}

#[derive(PartialEq, Properties)]
pub struct LessonProps {
    pub ui: LessonUi,
}

#[component]
pub fn Lesson(props: &LessonProps) -> Html {
    match &props.ui.open {
        Some(place) => html! { <Open place={place.clone()} /> },
        None => Html::default(),
    }
}

#[derive(PartialEq, Properties)]
struct OpenProps {
    place: Place,
}

#[component]
fn Open(props: &OpenProps) -> Html {
    let ctx = use_ctx();
    let lang = use_lang();
    let flow = use_flow();
    let place = &props.place;
    let texts = use_memo((place.lesson, lang), |(lesson, lang)| {
        catalog::ALL.get(*lesson).map(|entry| entry.texts(*lang)).unwrap_or_default()
    });
    {
        // The run got to where it was played to: the script goes on.
        let (ctx, place) = (ctx.clone(), place.clone());
        use_effect_with((flow.arrived, place.phase), move |_| {
            if let (Phase::Playing(next), None) = (place.phase, ctx.engine.goal()) {
                run::run_on(&ctx, place.lesson, next);
            }
        });
    }
    {
        // Where stage and text don't fit on one screen, the page goes to what is next.
        // The first text is about what ZooKeeper holds: its band is to be seen with it.
        let playing = place.is_playing();
        let first = progress(place).0 <= 1;
        use_effect_with((playing, place.at), move |_| {
            media::show_if_narrow(if playing || first { ".stage" } else { ".lesson" });
        });
    }
    let key = beat_key(place);
    let beat = key.as_deref().and_then(|key| texts.beat(key));
    html! {
        <section class="panel lesson" data-testid="lesson" aria-label={texts.title.clone()}
            data-step={key.unwrap_or_default()} data-playing={place.is_playing().to_string()}>
            {crumbs(&ctx, lang, place, &texts)}
            <div class="ltext" data-testid="lesson-text" aria-live="polite">
                if let Some(beat) = beat {
                    <h2>{rich_text(lang, &beat.title, &place.values)}</h2>
                    {for beat.body.iter().map(|block| block_html(lang, block, &place.values))}
                    if let Some(question) = &place.question {
                        {quiz(&ctx, lang, place, beat, question)}
                    }
                } else {
                    <h2>{texts.title.clone()}</h2>
                    <p>{texts.about.clone()}</p>
                }
            </div>
            <Foot place={place.clone()} hints={beat.map_or(0, |beat| beat.hints.len())}
                playing={flow.playing} />
        </section>
    }
}

fn beat_key(place: &Place) -> Option<String> {
    let script = catalog::ALL.get(place.lesson)?.script()?;
    match &script.lines.get(place.at?)?.statement {
        Statement::Say(key) => Some(key.to_string()),
        Statement::Ask(ask) => Some(ask.key.to_string()),
        _ => None,
    }
}

/// Which of the lesson's pauses this is, from 1, and how many there are.
fn progress(place: &Place) -> (usize, usize) {
    let script = catalog::ALL.get(place.lesson).and_then(catalog::Entry::script);
    let pauses = script.map(|script| catalog::pauses(&script)).unwrap_or_default();
    let number = pauses.iter().position(|pause| Some(*pause) == place.at);
    (number.map_or(0, |number| number + 1), pauses.len())
}

fn crumbs(ctx: &Ctx, lang: Lang, place: &Place, texts: &Texts) -> Html {
    let (number, count) = progress(place);
    let back = {
        let (ctx, place) = (ctx.clone(), place.clone());
        Callback::from(move |_: MouseEvent| run::go_back(&ctx, &place))
    };
    let label = lang.fill(k::LESSONS_STEP, &[("n", &number), ("count", &count)]);
    html! {
        <div class="crumbs">
            <Icon name="book" small=true />
            <span>{texts.title.clone()}</span>
            <span class="dots" role="img" aria-label={label.clone()} title={label}>
                {for (1..=count).map(|step| html! {
                    <i class={classes!((step < number).then_some("d2"),
                        (step == number).then_some("d1"))} />
                })}
            </span>
            if number > 1 && !place.is_playing() {
                <button type="button" class="btn quiet icon" data-testid="lesson-back"
                    aria-label={lang.t(k::LESSONS_BACK)} title={lang.t(k::LESSONS_BACK)}
                    onclick={back}>
                    <Icon name="back" small=true />
                </button>
            }
        </div>
    }
}

fn block_html(lang: Lang, block: &Block, values: &[Value]) -> Html {
    match block {
        Block::Paragraph(text) => html! { <p>{rich_text(lang, text, values)}</p> },
        Block::Code(text) => html! { <pre class="lists">{rich_text(lang, text, values)}</pre> },
    }
}

/// A text with what the run answered in place of its questions.
fn rich_text(lang: Lang, text: &str, values: &[Value]) -> Html {
    let shown: Vec<(&str, String)> =
        values.iter().map(|(name, answer)| (name.as_str(), read_out(lang, name, answer))).collect();
    let shown: Vec<(&str, &dyn std::fmt::Display)> =
        shown.iter().map(|(name, value)| (*name, value as &dyn std::fmt::Display)).collect();
    rich(text, &shown)
}

fn read_out(lang: Lang, query: &str, answer: &Answer) -> String {
    match answer {
        Answer::None => lang.t(k::LESSONS_NONE).to_string(),
        Answer::Present => lang.t(k::LESSONS_PRESENT).to_string(),
        Answer::Absent => lang.t(k::LESSONS_ABSENT).to_string(),
        Answer::Text(text) => match &**text {
            "down" => lang.t(k::LESSONS_DOWN).to_string(),
            "up" => lang.t(k::LESSONS_UP).to_string(),
            "paused" => lang.t(k::LESSONS_PAUSED).to_string(),
            text if query.starts_with("data ") => text.to_owned(),
            text => {
                let clients = ["client ", "consumer ", "producer "];
                let names =
                    clients.iter().fold(text.to_owned(), |text, kind| text.replace(kind, ""));
                names.replace(',', ", ")
            }
        },
    }
}

fn quiz(ctx: &Ctx, lang: Lang, place: &Place, beat: &Beat, question: &Question) -> Html {
    let options = question
        .options
        .iter()
        .enumerate()
        .map(|(index, answer)| option(ctx, lang, beat, question, index, answer));
    let onkeydown = {
        let (ctx, place) = (ctx.clone(), place.clone());
        Callback::from(move |event: KeyboardEvent| {
            let ui = LessonUi { open: Some(place.clone()) };
            // The page's own keys don't reach a radio button.
            let ours = match event.key().as_str() {
                "." | "PageDown" => next(&ui, &ctx),
                key => on_key(&ui, &ctx, key),
            };
            if ours {
                event.prevent_default();
                event.stop_propagation();
            }
        })
    };
    html! {
        <>
            <fieldset class="quiz" {onkeydown}>
                <legend>{rich_text(lang, &beat.question, &place.values)}</legend>
                {for options}
            </fieldset>
            if let Some(revealed) = &question.revealed {
                <div class="answer" data-testid="lesson-answer">
                    {verdict(lang, question.picked, revealed.answer)}
                    {for beat.explanation.iter().map(|text| html! {
                        <p>{rich_text(lang, text, &revealed.values)}</p>
                    })}
                </div>
            } else {
                {for beat.hints.iter().take(question.hints).map(|hint| html! {
                    <p class="hint-said" data-testid="lesson-hint-text">
                        <Icon name="bulb" small=true />
                        <span>{rich_text(lang, hint, &place.values)}</span>
                    </p>
                })}
            }
            <p class="hints">
                <Icon name="law" small=true />{lang.t(k::LESSONS_COMPUTED)}
            </p>
        </>
    }
}

fn verdict(lang: Lang, picked: Option<usize>, answer: usize) -> Html {
    let key = match picked {
        None => return Html::default(),
        Some(picked) if picked == answer => k::LESSONS_RIGHT,
        Some(_) => k::LESSONS_WRONG,
    };
    html! { <p><b data-testid="lesson-verdict">{lang.t(key)}</b></p> }
}

fn option(
    ctx: &Ctx,
    lang: Lang,
    beat: &Beat,
    question: &Question,
    index: usize,
    answer: &Answer,
) -> Html {
    let picked = question.picked == Some(index);
    let revealed = question.revealed.as_ref().map(|revealed| revealed.answer);
    let (class, tag) = match (revealed, picked) {
        (Some(right), true) if right == index => (Some("right"), Some(k::LESSONS_YOURS_RIGHT)),
        (Some(right), _) if right == index => (Some("right"), Some(k::LESSONS_THIS_RUN)),
        (Some(_), true) => (Some("wrong"), Some(k::LESSONS_YOURS)),
        (None, true) => (Some("sel"), None),
        _ => (None, None),
    };
    let ctx = ctx.clone();
    let onchange = Callback::from(move |_: Event| {
        ctx.act(UiAction::Lesson(LessonAction::Pick(index)));
    });
    let it = [("it".to_owned(), answer.clone())];
    let choice = beat.choice(&answer.to_string(), index + 1);
    let letter = char::from(b'A' + u8::try_from(index).unwrap_or(25).min(25));
    html! {
        <label class={classes!("opt", class)} data-testid={format!("lesson-option-{index}")}>
            <input class="vh" type="radio" name="predict" checked={picked} {onchange}
                disabled={revealed.is_some()} />
            <span class="k" aria-hidden="true">{letter}</span>
            <span>
                if let Some(choice) = choice {
                    {rich_text(lang, &choice.label, &it)}
                    if !choice.note.is_empty() {
                        <small>{rich_text(lang, &choice.note, &it)}</small>
                    }
                } else {
                    <code>{read_out(lang, "", answer)}</code>
                }
            </span>
            <span class="tag">{tag.map(|tag| lang.t(tag))}</span>
        </label>
    }
}

#[derive(PartialEq, Properties)]
struct FootProps {
    place: Place,
    /// How many there are.
    hints: usize,
    playing: bool,
}

#[component]
fn Foot(props: &FootProps) -> Html {
    let ctx = use_ctx();
    let lang = use_lang();
    let place = &props.place;
    let click = |act: fn(&Ctx, &Place)| {
        let (ctx, place) = (ctx.clone(), place.clone());
        Callback::from(move |_: MouseEvent| act(&ctx, &place))
    };
    let (number, count) = progress(place);
    let leave = click(|ctx, _| leave(ctx));
    html! {
        <div class="lfoot">
            {go_on_button(lang, props, number == count, click(run::go_on))}
            if place.is_asking() {
                {hint_button(&ctx, lang, props)}
            }
            <span class="grow" />
            if number != count || place.is_playing() {
                <button type="button" class="btn quiet" data-testid="lesson-leave"
                    onclick={leave}>{lang.t(k::LESSONS_LEAVE)}</button>
            }
        </div>
    }
}

/// The one button that goes on, by what "on" means here.
fn go_on_button(lang: Lang, props: &FootProps, last: bool, click: Callback<MouseEvent>) -> Html {
    let place = &props.place;
    let question = place.question.as_ref();
    let picked = question.is_some_and(|question| question.picked.is_some());
    let (id, key, icon) = match (place.phase, props.playing) {
        (Phase::Playing(_), true) => ("lesson-skip", k::LESSONS_SKIP, Some("step")),
        (Phase::Playing(_), false) => ("lesson-next", k::LESSONS_GO_ON, Some("play")),
        _ if place.is_asking() && picked => ("lesson-reveal", k::LESSONS_REVEAL, None),
        _ if place.is_asking() => ("lesson-reveal", k::LESSONS_SHOW_ME, None),
        _ if question.is_some() => ("lesson-next", k::LESSONS_SEE, Some("play")),
        _ if last => ("lesson-next", k::LESSONS_DONE, None),
        _ => ("lesson-next", k::LESSONS_NEXT, None),
    };
    let quiet = props.playing || (place.is_asking() && !picked);
    html! {
        <button type="button" class={classes!("btn", (!quiet).then_some("primary"))}
            data-testid={id} onclick={click}>
            {lang.t(key)}
            if let Some(icon) = icon {
                <Icon name={icon} small=true />
            } else {
                <span class="kbd" aria-hidden="true">{"↵"}</span>
            }
        </button>
    }
}

/// One hint after the other, until there are no more.
fn hint_button(ctx: &Ctx, lang: Lang, props: &FootProps) -> Html {
    let given = props.place.question.as_ref().map_or(0, |question| question.hints);
    if given >= props.hints {
        return Html::default();
    }
    let ctx = ctx.clone();
    let onclick =
        Callback::from(move |_: MouseEvent| ctx.act(UiAction::Lesson(LessonAction::Hint)));
    let label = lang.fill(k::LESSONS_HINT, &[("n", &(given + 1)), ("count", &props.hints)]);
    html! {
        <button type="button" class="btn quiet" data-testid="lesson-hint" {onclick}>
            <Icon name="bulb" small=true />{label}
        </button>
    }
}
