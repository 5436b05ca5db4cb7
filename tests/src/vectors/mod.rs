//! Runs files of vectors: answers of the real systems, put to ours. What a file is about is told by
//! its content, never by its name.

mod assignor;
mod consumer_zk;
mod group;
pub mod json;
mod kafka;
mod kinds;
mod log;
mod producer;
mod zk_client;
mod zk_misc;
mod zk_rig;
mod zk_scenario;
mod zk_shape;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One thing that was expected otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Where in the vector: release, view, step.
    pub at: String,
    pub field: String,
    pub expected: Value,
    pub got: Value,
}

impl Failure {
    pub fn new(at: &str, field: &str, expected: Value, got: Value) -> Failure {
        Failure { at: at.into(), field: field.into(), expected, got }
    }
}

/// What became of one vector.
#[derive(Clone, Debug)]
pub enum Outcome {
    Passed,
    Failed(Vec<Failure>),
    Skipped(&'static str),
}

/// What became of a file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub name: String,
    pub total: usize,
    pub passed: usize,
    pub skipped: BTreeMap<&'static str, usize>,
    pub failed: Vec<(String, Vec<Failure>)>,
    /// The file could not be read.
    pub broken: Option<String>,
}

impl Report {
    pub fn is_good(&self) -> bool {
        self.failed.is_empty() && self.broken.is_none()
    }

    /// `NAME passed/total skipped n (reason)`, then what failed.
    pub fn print(&self) {
        let skipped: usize = self.skipped.values().sum();
        let reasons: Vec<&str> = self.skipped.keys().copied().collect();
        let skipped = match skipped {
            0 => String::new(),
            n => format!(" skipped {n} ({})", reasons.join("; ")),
        };
        println!("{} {}/{}{skipped}", self.name, self.passed, self.total);
        if let Some(why) = &self.broken {
            println!("  BROKEN {why}");
        }
        for (id, failures) in &self.failed {
            println!("  FAILED {id}");
            for failure in failures.iter().take(4) {
                println!("    {}: {}", failure.at, failure.field);
                println!("      expected {}", failure.expected);
                println!("      got      {}", failure.got);
            }
        }
    }
}

/// The vectors that belong to this workspace.
pub fn default_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// Every `*.json` of a folder, by name.
pub fn run_dir(dir: &Path) -> Vec<Report> {
    let mut files: Vec<PathBuf> = match fs::read_dir(dir) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => {
            let (name, broken) = (dir.display().to_string(), Some(error.to_string()));
            return vec![Report { name, broken, ..Report::default() }];
        }
    };
    files.retain(|file| file.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    files.iter().map(|file| run_file(file)).collect()
}

/// A vector of an assignor with the class that answered, which only the head of its file names:
/// the first `consumer.SomeAssignor`.
fn with_class<'a>(vector: &'a Value, document: &Value) -> Cow<'a, Value> {
    let about = json::text(&document["about"]);
    let word = |c: char| c.is_ascii_alphanumeric();
    let mut names = about.split("consumer.").skip(1).map(|rest| {
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        &rest[..end]
    });
    let (Some(class), true) =
        (names.find(|name| name.ends_with("Assignor")), vector["members"].is_array())
    else {
        return Cow::Borrowed(vector);
    };
    let mut vector = vector.clone();
    vector["class"] = class.into();
    Cow::Owned(vector)
}

/// One file of vectors.
pub fn run_file(file: &Path) -> Report {
    let name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut report = Report { name, ..Report::default() };
    let document = match json::load(file) {
        Ok(document) => document,
        Err(why) => {
            report.broken = Some(why);
            return report;
        }
    };
    let Some(vectors) = document["vectors"].as_array() else {
        report.broken = Some("no list named vectors".into());
        return report;
    };
    report.total = vectors.len();
    for (at, vector) in vectors.iter().enumerate() {
        match kinds::run(&with_class(vector, &document)) {
            Outcome::Passed => report.passed += 1,
            Outcome::Skipped(why) => *report.skipped.entry(why).or_default() += 1,
            Outcome::Failed(failures) => {
                let id = vector["id"].as_str().or(vector["name"].as_str());
                let id = id.map_or_else(|| format!("#{at}"), str::to_owned);
                report.failed.push((id, failures));
            }
        }
    }
    report
}
