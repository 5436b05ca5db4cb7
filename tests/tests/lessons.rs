//! Every lesson has its texts in both languages: each pause of the script reads, each text is
//! read, each value in it is answered by the run, and each answer can be chosen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kafkascope_core::lab::Lab;
use kafkascope_core::script::texts::{self, Beat, Block, Texts};
use kafkascope_core::script::{self, Answer, Ask, Pause, Player, Script};

const LANGS: [&str; 2] = ["en", "zh-CN"];
/// Scenarios, not lessons.
const WITHOUT_TEXTS: [&str; 1] = ["startup"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lessons")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

struct Lesson {
    name: String,
    script: Script,
    texts: Vec<Texts>,
}

fn lessons() -> Vec<Lesson> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder of lessons is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".scn").map(str::to_owned))
        .filter(|name| !WITHOUT_TEXTS.contains(&name.as_str()))
        .collect();
    names.sort();
    let lesson = |name: String| {
        let text = |lang| {
            let file = format!("{name}.{lang}.md");
            texts::parse(&read(&file)).unwrap_or_else(|line| panic!("{file}: line {line}"))
        };
        Lesson {
            script: script::parse(&read(&format!("{name}.scn"))).expect("a script"),
            texts: LANGS.into_iter().map(text).collect(),
            name,
        }
    };
    names.into_iter().map(lesson).collect()
}

/// The pauses of a lesson, each with the run as it stands there, and as it stands once answered.
fn pauses(script: &Script) -> Vec<(Pause, Lab, Option<Lab>)> {
    let mut lab = Player::lab(script);
    let mut player = Player::new(script);
    let mut found = Vec::new();
    loop {
        let pause = player.advance(&mut lab);
        let ahead = match &pause {
            Pause::End => return found,
            Pause::Failed { line, expected, got } => {
                panic!("line {line}: expected {expected}, got {got}")
            }
            Pause::Ask(ask) => Some(script::foresee(&lab, ask)),
            Pause::Say(_) => None,
        };
        let copy = |lab: &Lab| {
            let mut copy = Lab::new(lab.run().clone());
            copy.seek_event(lab.world().event_no);
            copy.seek(lab.now());
            copy
        };
        found.push((pause.clone(), copy(&lab), ahead));
        if let Pause::Ask(Ask { after: Some(command), .. }) = pause {
            lab.submit(command).expect("the command of a question can be done");
        }
    }
}

fn check_values(place: &str, text: &str, lab: &Lab) {
    for value in texts::values(text).filter(|value| *value != "it") {
        let query = script::parse_query(value).unwrap_or_else(|why| panic!("{place}: {why}"));
        let answer = query.ask(lab);
        assert_ne!(answer, Answer::None, "{place}: %{{{value}}} has no answer here");
    }
    let marks = (text.matches('`').count(), text.matches("**").count());
    assert!(
        marks.0.is_multiple_of(2) && marks.1.is_multiple_of(2),
        "{place}: a mark stays open in: {text}"
    );
}

fn check_beat(place: &str, beat: &Beat, pause: &Pause, now: &Lab, ahead: Option<&Lab>) {
    assert!(!beat.title.is_empty() && !beat.body.is_empty(), "{place} is empty");
    for block in &beat.body {
        let (Block::Paragraph(text) | Block::Code(text)) = block;
        check_values(place, text, now);
    }
    let (Pause::Ask(ask), Some(ahead)) = (pause, ahead) else {
        assert!(beat.question.is_empty() && beat.options.is_empty(), "{place} asks nothing");
        return;
    };
    assert!(!beat.question.is_empty(), "{place} has no question");
    assert!(!beat.explanation.is_empty(), "{place} explains nothing");
    assert!((1..=3).contains(&beat.hints.len()), "{place} has {} hints", beat.hints.len());
    beat.hints.iter().for_each(|hint| check_values(place, hint, now));
    beat.explanation.iter().for_each(|text| check_values(place, text, ahead));
    let answer = ask.query.ask(ahead);
    let options = script::options(now, ask, &answer);
    assert!(options.len() >= 2, "{place}: nothing to choose from");
    if !ask.among.is_empty() {
        assert!(ask.among.contains(&answer), "{place}: {answer} can't be chosen");
    }
    for (number, option) in (1..).zip(&options) {
        let choice = beat.choice(&option.to_string(), number);
        let choice = choice.unwrap_or_else(|| panic!("{place}: {option} has no text"));
        check_values(place, &choice.label, now);
    }
    assert_eq!(beat.options.len(), options.len(), "{place}: texts for what can't be chosen");
}

#[test]
fn every_lesson_reads_in_both_languages() {
    let lessons = lessons();
    assert!(lessons.len() >= 3, "only {} lessons", lessons.len());
    for lesson in &lessons {
        let pauses = pauses(&lesson.script);
        let asked = pauses.iter().filter(|(pause, ..)| matches!(pause, Pause::Ask(_))).count();
        assert!(asked >= 2, "{} asks {asked} questions", lesson.name);
        for (texts, lang) in lesson.texts.iter().zip(LANGS) {
            assert!(!texts.title.is_empty() && !texts.about.is_empty(), "{}", lesson.name);
            let mut used = BTreeSet::new();
            for (pause, now, ahead) in &pauses {
                let (Pause::Say(key) | Pause::Ask(Ask { key, .. })) = pause else { continue };
                let place = format!("{}.{lang} {key}", lesson.name);
                let beat = texts.beat(key).unwrap_or_else(|| panic!("{place} is missing"));
                check_beat(&place, beat, pause, now, ahead.as_ref());
                assert!(used.insert(key.clone()), "{place} is read twice");
            }
            let all: BTreeSet<_> = texts.beats.iter().map(|beat| beat.key.clone()).collect();
            assert_eq!(all, used, "{}.{lang}: texts that nobody reads", lesson.name);
        }
    }
}

/// What both languages say has the same shape: values, answers, hints.
#[test]
fn both_languages_say_the_same() {
    for lesson in lessons() {
        let [en, zh] = &lesson.texts[..] else { panic!("two languages") };
        for (one, other) in en.beats.iter().zip(&zh.beats) {
            let place = format!("{} {}", lesson.name, one.key);
            assert_eq!(one.key, other.key, "{place}: another order");
            assert_eq!(one.body.len(), other.body.len(), "{place}: paragraphs");
            assert_eq!(one.hints.len(), other.hints.len(), "{place}: hints");
            let answers =
                |beat: &Beat| beat.options.iter().map(|o| o.answer.clone()).collect::<Vec<_>>();
            assert_eq!(answers(one), answers(other), "{place}: answers");
            let values = |beat: &Beat| -> BTreeSet<String> {
                let all = beat.body.iter().map(|block| match block {
                    Block::Paragraph(text) | Block::Code(text) => text,
                });
                all.chain(&beat.explanation)
                    .flat_map(|text| texts::values(text))
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(values(one), values(other), "{place}: values");
        }
    }
}
