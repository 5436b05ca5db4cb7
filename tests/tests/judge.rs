//! The judge in Rust and `compare.py` say the same: of every recording against itself, and of
//! damaged runs.

use kafkascope_tests::recordings::damage::{DAMAGES, Draw};
use kafkascope_tests::recordings::judge::rules::{self, Rule};
use kafkascope_tests::recordings::judge::{compare, count};
use kafkascope_tests::recordings::{collect, python};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many damages of each recording an ordinary run tries; `KAFKASCOPE_DAMAGES=99` tries all.
const DAMAGES_EACH: usize = 4;

fn folder() -> PathBuf {
    collect::default_folder()
}

/// True where there is no Python: skipped by name, but never in CI.
fn skipped(test: &str) -> bool {
    if python::is_here() {
        return false;
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{test}: needs python3");
    println!("skipped: {test} (no python3)");
    true
}

struct Case {
    name: String,
    recording: PathBuf,
    run: Value,
    line: String,
}

/// The line without its name, as both judges print it.
fn line(expected: &Value, run: &Value, name: &str, rules: &[Rule]) -> String {
    match compare(expected, run, name, rules) {
        Ok(outcome) => outcome.line()[name.len() + 1..].to_owned(),
        Err(_) => "error".to_owned(),
    }
}

/// Both judges' lines; an error is one in both, its wording is each one's own.
fn disagreements(cases: &[Case], rules: Option<&Path>) -> Vec<String> {
    // Two halves side by side: Python is the slow one.
    let half = cases.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        let halves = cases.chunks(half).enumerate().map(|(i, cases)| {
            scope.spawn(move || {
                let what = format!("judge-{i}-{}", rules.map_or(0, |_| 1));
                disagreements_of(cases, rules, &python::Folder::new(&what).unwrap())
            })
        });
        let halves: Vec<_> = halves.collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    })
}

fn disagreements_of(cases: &[Case], rules: Option<&Path>, temp: &python::Folder) -> Vec<String> {
    for case in cases {
        let (recording, run, name) = (case.recording.as_path(), &case.run, case.name.as_str());
        temp.add(&python::Pair { recording, run, name }).unwrap();
    }
    let lines = temp.lines(&folder().join("compare.py"), rules).unwrap();
    let mut found = Vec::new();
    for case in cases {
        let theirs = lines.get(&case.name).map_or("nothing", String::as_str);
        let theirs = if theirs.starts_with("error") { "error" } else { theirs };
        if theirs != case.line {
            found.push(format!("{}: compare.py {theirs}, here {}", case.name, case.line));
        }
    }
    found
}

fn recordings() -> Vec<(String, PathBuf, Value)> {
    let files = collect::files(&folder()).unwrap();
    assert!(files.len() > 200, "only {} recordings", files.len());
    let read = |f: collect::File| {
        let value = serde_json::from_slice(&std::fs::read(&f.path).unwrap()).unwrap();
        (f.name, f.path, value)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_recording_equals_itself() {
    for (name, _, recording) in recordings() {
        let outcome = compare(&recording, &recording, &name, &[]).unwrap();
        assert!(outcome.good(), "{} {:?}", outcome.line(), outcome.differences.first());
        assert_eq!((outcome.b, outcome.d), count::totals(&recording), "{name}");
    }
}

#[test]
fn both_judges_agree_on_identity_and_damages() {
    if skipped("both_judges_agree_on_identity_and_damages") {
        return;
    }
    let each = std::env::var("KAFKASCOPE_DAMAGES").ok().and_then(|n| n.parse().ok());
    let each = each.unwrap_or(DAMAGES_EACH);
    let (mut cases, mut faults) = (Vec::new(), 0);
    for (number, (name, path, recording)) in recordings().into_iter().enumerate() {
        let mut add = |what: &str, run: Value| {
            let name = format!("{name}~{what}");
            let line = line(&recording, &run, &name, &[]);
            faults += usize::from(what != "itself" && is_fault(&line));
            cases.push(Case { name, recording: path.clone(), run, line });
        };
        add("itself", recording.clone());
        // Every recording has a few, all together have each of them often.
        for k in 0..each.min(DAMAGES.len()) {
            let (what, damage) = DAMAGES[(number * each + k) % DAMAGES.len()];
            let mut draw = Draw::new(&format!("{name} {what}"));
            if let Some(run) = damage(&recording, &mut draw) {
                add(what, run);
            }
        }
    }
    let found = disagreements(&cases, None);
    println!("{} pairs, {faults} of them faults", cases.len());
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));
    assert!(faults * 2 > cases.len() - 214, "only {faults} faults among {} pairs", cases.len());
}

fn is_fault(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let whole = |x: &str| x.split_once('/').is_some_and(|(a, b)| a == b);
    line == "error" || !whole(words[1]) || !whole(words[3]) || !line.ends_with("extra 0")
}

#[test]
fn both_judges_agree_on_exclusions() {
    if skipped("both_judges_agree_on_exclusions") {
        return;
    }
    let rules_file = std::env::temp_dir().join(format!("excluded-{}.toml", std::process::id()));
    std::fs::write(
        &rules_file,
        "# Not those of the project.\n[[exclude]]\nfield = \"zk_txns\"\npath = \"/brokers/*\"\n\
         reason = \"a test\" # why\n[[exclude]]\nrelease = \"[34].*\"\nfield = \"wire\"\n\
         path = 'Heartbeat'\nreason = \"a test\"\n[[exclude]]\nfield = \"controller\"\n\
         reason = \"a test\"\n[[exclude]]\npath = \"/con*\"\nreason = \"a test\"\n",
    )
    .unwrap();
    let rules = rules::load(&rules_file).unwrap();
    assert_eq!(rules.len(), 4);
    let mut cases = Vec::new();
    for (name, recording, expected) in recordings() {
        let run = Draw::new(&name);
        let (_, damage) = DAMAGES[1];
        let run = damage(&expected, &mut { run }).unwrap_or_else(|| json!({"steps": []}));
        let line = line(&expected, &run, &name, &rules);
        cases.push(Case { name, recording, run, line });
    }
    let found = disagreements(&cases, Some(&rules_file));
    let _ = std::fs::remove_file(&rules_file);
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));
    assert!(cases.iter().any(|case| !case.line.contains(" excluded 0 ")));
}
