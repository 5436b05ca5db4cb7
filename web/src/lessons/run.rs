//! A lesson at work: its script is played through the engine, from one text to the next.

use kafkascope_core::base::Instant;
use kafkascope_core::lab::Lab;
use kafkascope_core::script::texts::{self, Beat, Block};
use kafkascope_core::script::{self, Ask, Pause, Player, Script, Statement};

use super::catalog::{self, Entry};
use super::state::{LessonAction, LessonUi, Phase, Place, Revealed, Value};
use crate::app::Ctx;
use crate::engine::Goal;
use crate::engine::scenario::Origin;
use crate::i18n::Lang;
use crate::state::{NarrowTab, UiAction};

fn entry(lesson: usize) -> Option<(&'static Entry, Script)> {
    let entry = catalog::ALL.get(lesson)?;
    Some((entry, entry.script()?))
}

/// Opens a lesson, on a run of its own.
pub fn open(ctx: &Ctx, lesson: usize) {
    let Some((_, script)) = entry(lesson) else { return };
    ctx.engine.set_playing(false);
    ctx.engine.load(Player::lab(&script), Origin::Lesson(lesson));
    ctx.act(UiAction::Lesson(LessonAction::Open(lesson)));
    ctx.act(UiAction::ShowNarrow(NarrowTab::Lesson));
    run_on(ctx, lesson, 0);
}

/// Plays the script's statements until something has to be read, or the run has to move.
pub fn run_on(ctx: &Ctx, lesson: usize, from: usize) {
    let Some((_, script)) = entry(lesson) else { return };
    let now = || ctx.engine.read(Lab::now);
    let play = |next: usize, goal: Goal| {
        // Told first: where nothing may move, the run is there at once.
        ctx.act(UiAction::Lesson(LessonAction::Play(next)));
        ctx.engine.play_to(goal);
    };
    for (index, line) in script.lines.iter().enumerate().skip(from) {
        match &line.statement {
            Statement::Say(_) | Statement::Ask(_) => return arrive(ctx, lesson, &script, index),
            // A person may have done it already, or made it impossible; the lesson goes on.
            Statement::Do(command) => _ = ctx.engine.submit(command.clone()),
            Statement::At(at, command) => {
                if *at > now() {
                    return play(index, Goal::At(*at));
                }
                let _ = ctx.engine.submit(command.clone());
            }
            Statement::Wait(span) => return play(index + 1, Goal::At(now() + *span)),
            Statement::Settle(span) => {
                return play(index + 1, Goal::Quiet { begun: now(), span: *span });
            }
            Statement::Expect(_) => {}
        }
    }
    leave(ctx);
}

fn arrive(ctx: &Ctx, lesson: usize, script: &Script, at: usize) {
    ctx.engine.set_playing(false);
    let Some(line) = script.lines.get(at) else { return };
    let (key, ask) = match &line.statement {
        Statement::Say(key) => (key.clone(), None),
        Statement::Ask(ask) => (ask.key.clone(), Some(ask)),
        _ => return,
    };
    let (stand, values, options) = ctx.engine.read(|lab| {
        let options = ask.map(|ask| {
            let answer = ask.query.ask(&script::foresee(lab, ask));
            script::options(lab, ask, &answer)
        });
        (lab.now(), values(lesson, &key, lab, false), options.unwrap_or_default())
    });
    ctx.act(UiAction::Lesson(LessonAction::Arrive { at, stand, values, options }));
}

/// The values of a text, as the run has them. Both languages use the same.
fn values(lesson: usize, key: &str, lab: &Lab, explanation: bool) -> Vec<Value> {
    let Some(entry) = catalog::ALL.get(lesson) else { return Vec::new() };
    let texts = entry.texts(Lang::En);
    let Some(beat) = texts.beat(key) else { return Vec::new() };
    let all: Vec<&String> = match explanation {
        true => beat.explanation.iter().collect(),
        false => shown(beat).collect(),
    };
    all.into_iter()
        .flat_map(|text| texts::values(text))
        .filter_map(|name| Some((name.to_owned(), script::parse_query(name).ok()?.ask(lab))))
        .collect()
}

fn shown(beat: &Beat) -> impl Iterator<Item = &String> {
    let body = beat.body.iter().map(|block| match block {
        Block::Paragraph(text) | Block::Code(text) => text,
    });
    body.chain(&beat.hints)
}

fn ask_at(place: &Place) -> Option<Ask> {
    let (_, script) = entry(place.lesson)?;
    match &script.lines.get(place.at?)?.statement {
        Statement::Ask(ask) => Some(ask.clone()),
        _ => None,
    }
}

/// Back to the moment that the text speaks of, if somebody moved the run meanwhile.
fn return_to(ctx: &Ctx, stand: Instant) {
    ctx.engine.set_playing(false);
    if ctx.engine.read(Lab::now) != stand {
        ctx.engine.with_lab(|lab| lab.seek(stand));
    }
}

/// Computes the answer from the run as it is now.
pub fn reveal(ctx: &Ctx, place: &Place) {
    let Some(ask) = ask_at(place) else { return };
    return_to(ctx, place.stand);
    let (options, revealed) = ctx.engine.read(|lab| {
        let ahead = script::foresee(lab, &ask);
        let answer = ask.query.ask(&ahead);
        // What was to choose from stays as it was, unless a person changed the run meanwhile.
        let mut options = place.question.as_ref().map(|q| q.options.clone()).unwrap_or_default();
        let index = options.iter().position(|option| *option == answer).unwrap_or_else(|| {
            options.push(answer);
            options.len() - 1
        });
        let values = values(place.lesson, &ask.key, &ahead, true);
        (options, Revealed { answer: index, values })
    });
    ctx.act(UiAction::Lesson(LessonAction::Reveal { options, revealed }));
}

/// Whatever comes next at this place.
pub fn go_on(ctx: &Ctx, place: &Place) {
    match place.phase {
        Phase::Playing(_) if !ctx.engine.flow().playing => ctx.engine.set_playing(true),
        Phase::Playing(_) => ctx.engine.skip(),
        Phase::Reading if place.is_asking() => reveal(ctx, place),
        Phase::Reading => {
            let Some(at) = place.at else { return };
            return_to(ctx, place.stand);
            if let Some(command) = ask_at(place).and_then(|ask| ask.after) {
                let _ = ctx.engine.submit(command);
            }
            run_on(ctx, place.lesson, at + 1);
        }
    }
}

/// The text before, on a run that stands there again.
pub fn go_back(ctx: &Ctx, place: &Place) {
    let Some((_, script)) = entry(place.lesson) else { return };
    let pauses = catalog::pauses(&script);
    let number = pauses.iter().position(|pause| Some(*pause) == place.at).unwrap_or(0);
    let Some(wanted) = number.checked_sub(1) else { return };
    let mut lab = Player::lab(&script);
    let mut player = Player::new(&script);
    let mut reached = 0;
    loop {
        match player.advance(&mut lab) {
            Pause::End => return,
            Pause::Failed { .. } => {}
            _ if reached == wanted => break,
            pause => {
                reached += 1;
                if let Pause::Ask(Ask { after: Some(command), .. }) = pause {
                    let _ = lab.submit(command);
                }
            }
        }
    }
    ctx.engine.load(lab, Origin::Lesson(place.lesson));
    if let Some(at) = pauses.get(wanted) {
        arrive(ctx, place.lesson, &script, *at);
    }
}

/// Story and sandbox are one run: it goes on from where it is.
pub fn leave(ctx: &Ctx) {
    ctx.act(UiAction::Lesson(LessonAction::Leave));
    ctx.act(UiAction::ShowNarrow(NarrowTab::Story));
}

/// A slide remote's "next". False if no lesson is open, so that the page steps instead.
pub fn next(ui: &LessonUi, ctx: &Ctx) -> bool {
    match &ui.open {
        Some(place) => go_on(ctx, place),
        None => return false,
    }
    true
}

/// Keys that a lesson takes: Enter goes on, digits and letters choose.
pub fn on_key(ui: &LessonUi, ctx: &Ctx, key: &str) -> bool {
    let Some(place) = &ui.open else { return false };
    let digit = match key.as_bytes() {
        [letter @ b'1'..=b'9'] => Some(letter - b'1'),
        [letter @ b'a'..=b'f'] => Some(letter - b'a'),
        [letter @ b'A'..=b'F'] => Some(letter - b'A'),
        _ => None,
    };
    match digit {
        Some(index) if place.is_asking() => {
            ctx.act(UiAction::Lesson(LessonAction::Pick(usize::from(index))));
            true
        }
        _ if key == "Enter" => next(ui, ctx),
        _ => false,
    }
}
