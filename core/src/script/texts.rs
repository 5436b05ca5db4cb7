//! The texts of a lesson, in one language: what a person reads where the script pauses.
//!
//! ```text
//! # Title
//! What it is about, one line.
//!
//! ## KEY: Title of the step
//! A line is a paragraph, with `code`, **bold** and %{QUERY}, which the run answers.
//!     a line of code, set in by four blanks
//! ? The question
//! - ANSWER = how it reads | a small note
//! > What is said once the answer is shown
//! ! a hint; up to three
//! ```

use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub title: String,
    pub about: String,
    pub beats: Vec<Beat>,
}

/// What is read at one pause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    pub key: Arc<str>,
    pub title: String,
    pub body: Vec<Block>,
    pub question: String,
    pub options: Vec<Choice>,
    pub explanation: Vec<String>,
    pub hints: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph(String),
    Code(String),
}

/// How an answer reads. An answer `#2` is the second of those that the state makes plausible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub answer: String,
    pub label: String,
    pub note: String,
}

impl Texts {
    pub fn beat(&self, key: &str) -> Option<&Beat> {
        self.beats.iter().find(|beat| *beat.key == *key)
    }
}

impl Beat {
    /// How the answer that is the `number`th of all (from 1) reads.
    pub fn choice(&self, answer: &str, number: usize) -> Option<&Choice> {
        let place = format!("#{number}");
        let named = self.options.iter().find(|choice| choice.answer == answer);
        named.or_else(|| self.options.iter().find(|choice| choice.answer == place))
    }
}

/// The number of the line that can't be understood.
pub fn parse(text: &str) -> Result<Texts, u32> {
    let mut texts = Texts::default();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let Some(beat) = texts.beats.last_mut() else {
            head(&mut texts, line).ok_or(number)?;
            continue;
        };
        if let Some(heading) = line.strip_prefix("## ") {
            texts.beats.push(start(heading).ok_or(number)?);
        } else if let Some(code) = line.strip_prefix("    ") {
            match beat.body.last_mut() {
                Some(Block::Code(last)) => {
                    last.push('\n');
                    last.push_str(code);
                }
                _ => beat.body.push(Block::Code(code.to_owned())),
            }
        } else if let Some(question) = line.strip_prefix("? ") {
            question.clone_into(&mut beat.question);
        } else if let Some(choice) = line.strip_prefix("- ") {
            beat.options.push(self::choice(choice).ok_or(number)?);
        } else if let Some(line) = line.strip_prefix("> ") {
            beat.explanation.push(line.to_owned());
        } else if let Some(hint) = line.strip_prefix("! ") {
            beat.hints.push(hint.to_owned());
        } else if !line.trim().is_empty() {
            beat.body.push(Block::Paragraph(line.trim().to_owned()));
        }
    }
    Ok(texts)
}

fn head(texts: &mut Texts, line: &str) -> Option<()> {
    if let Some(heading) = line.strip_prefix("## ") {
        texts.beats.push(start(heading)?);
    } else if let Some(title) = line.strip_prefix("# ") {
        title.clone_into(&mut texts.title);
    } else if !line.trim().is_empty() {
        line.trim().clone_into(&mut texts.about);
    }
    Some(())
}

fn start(heading: &str) -> Option<Beat> {
    let (key, title) = heading.split_once(": ")?;
    Some(Beat { key: key.into(), title: title.to_owned(), ..Beat::default() })
}

fn choice(text: &str) -> Option<Choice> {
    let (answer, rest) = text.split_once(" = ")?;
    let (label, note) = rest.split_once(" | ").unwrap_or((rest, ""));
    Some(Choice { answer: answer.to_owned(), label: label.to_owned(), note: note.to_owned() })
}

/// The questions that stand in a text as `%{…}`.
pub fn values(text: &str) -> impl Iterator<Item = &str> {
    text.split("%{").skip(1).filter_map(|rest| rest.split_once('}').map(|(inner, _)| inner))
}
