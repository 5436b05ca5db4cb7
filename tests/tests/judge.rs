//! The judge in Rust and `compare.py` say the same: of every recording against itself, and of
//! damaged runs.

use kafkascope_cli::replay::{Replay, replay};
use kafkascope_tests::recordings::command::{self, Player, Verdict, examine};
use kafkascope_tests::recordings::damage::{DAMAGES, Draw};
use kafkascope_tests::recordings::judge::rules::{self, Rule};
use kafkascope_tests::recordings::judge::{compare, count};
use kafkascope_tests::recordings::{collect, python};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many damages of each recording an ordinary run tries; `KAFKASCOPE_DAMAGES=99` tries all.
const DAMAGES_EACH: usize = 3;

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
fn both_judges_agree_on_damages() {
    if skipped("both_judges_agree_on_damages") {
        return;
    }
    let each = std::env::var("KAFKASCOPE_DAMAGES").ok().and_then(|n| n.parse().ok());
    let each = each.unwrap_or(DAMAGES_EACH);
    let (mut cases, mut faults) = (Vec::new(), 0);
    for (number, (name, path, recording)) in recordings().into_iter().enumerate() {
        let mut add = |what: &str, run: Value| {
            let name = format!("{name}~{what}");
            let line = line(&recording, &run, &name, &[]);
            faults += usize::from(is_fault(&line));
            cases.push(Case { name, recording: path.clone(), run, line });
        };
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
    assert!(faults * 2 > cases.len(), "only {faults} faults among {} pairs", cases.len());
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

/// What the command says of a file has to be what `compare.py` says of what `replay` printed; and
/// of the recording itself, which every file has.
#[test]
fn the_commands_figures_are_those_of_compare_py() {
    if skipped("the_commands_figures_are_those_of_compare_py") {
        return;
    }
    let rules_file = folder().join("excluded.toml");
    let rules = rules::load(&rules_file).unwrap();
    let (mut cases, mut waiting) = (Vec::new(), 0);
    let itself: Player = |recording| Replay::Done(recording.clone());
    for file in collect::files(&folder()).unwrap() {
        for (player, what) in [(replay as Player, ""), (itself, "~itself")] {
            let examined = examine(&file, &rules, player);
            let Verdict::Compared { outcome, run, .. } = examined.verdict else {
                waiting += 1;
                continue;
            };
            let line = outcome.line()[file.name.len() + 1..].to_owned();
            let (name, recording) = (format!("{}{what}", file.name), file.path.clone());
            cases.push(Case { name, recording, run, line });
        }
    }
    println!("{} compared, {waiting} waiting or failed", cases.len());
    let found = disagreements(&cases, Some(&rules_file));
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));
}

/// A folder of recordings of its own, deleted at the end.
struct Made(PathBuf);

impl Made {
    fn new(name: &str, files: &[(&str, &str)]) -> Made {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Made(folder)
    }

    /// Exit status and what was printed.
    fn run(&self, args: &[&str], player: Player) -> (i32, String) {
        let folder = self.0.to_string_lossy().into_owned();
        let args = std::iter::once(folder).chain(args.iter().map(|arg| (*arg).to_owned()));
        let mut out = Vec::new();
        let status = command::run(&args.collect::<Vec<_>>(), player, &mut out).unwrap();
        (status, String::from_utf8(out).unwrap())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const TWO_STEPS: &str = r#"{"software": "Kafka 7.0.0, ZooKeeper 9", "config": {}, "steps": [
    {"do": "starts", "op": {"op": "start-broker", "id": 1},
     "znodes": {"/a": {"version": 0}, "/b": {"version": 1}}, "controller": {"id": 1},
     "zk_txns": [{"type": "create", "path": "/a", "zxid_order": 1, "session": "s"}]},
    {"do": "dies", "op": {"op": "kill-broker", "id": 1}, "controller": {"id": -1}}]}"#;

#[test]
fn the_command_on_a_folder_never_seen() {
    let made = Made::new(
        "kafkascope-never-seen",
        &[
            ("7.0.0/two.json", TWO_STEPS),
            (
                "7.0.0/dance.json",
                r#"{"config": {}, "steps": [{"do": "x", "op": {"op": "dance"}}]}"#,
            ),
            ("8.0.0/broken.json", "{\"steps\": [\n  {\"do\": }]}"),
            ("8.0.0/none.json", "[]"),
        ],
    );
    let itself: Player = |recording| Replay::Done(recording.clone());
    let (status, printed) = made.run(&["two"], itself);
    assert_eq!(status, 0, "{printed}");
    assert!(printed.starts_with("7.0.0/two settled 4/4 order 1/1 steered 0 excluded 0\n"));
    assert!(printed.contains("\ntotal: 1 recordings, compared 1, waiting 0"), "{printed}");

    let (status, printed) = made.run(&["7.0.0/two"], |_| Replay::Waiting("rain".into()));
    assert!(status == 0 && printed.starts_with("7.0.0/two waiting (rain)\n"), "{printed}");

    let (status, printed) = made.run(&[], replay);
    assert_eq!(status, 1);
    assert!(printed.contains("7.0.0/dance failed: unknown: step 0: op dance is unknown\n"));
    assert!(printed.contains("broken.json:2:10: no JSON: expected value\n"), "{printed}");
    assert!(printed.contains("none.json: no recording: it has no list `steps`\n"), "{printed}");
    assert!(printed.contains("\n7.0.0: 2 recordings") && printed.contains("\n8.0.0: 2 recordings"));

    assert_eq!(made.run(&["three"], replay).0, 2);
    assert_eq!(made.run(&["--loud"], replay).0, 2);
    let (status, printed) = made.run(&["two"], |_| panic!("a player's mistake"));
    assert!(status == 1 && printed.contains("two failed: the replay panicked\n"), "{printed}");
}

#[test]
fn differences_and_exclusions_fail_the_command() {
    let made = Made::new(
        "kafkascope-differences",
        &[
            ("7.0.0/two.json", TWO_STEPS),
            ("rules.toml", "[[exclude]]\nfield = \"znodes\"\npath = \"/b\"\nreason = \"a test\"\n"),
        ],
    );
    let other: Player = |recording| {
        let mut run = recording.clone();
        run["steps"][0]["znodes"]["/a"]["version"] = json!(5);
        run["steps"][0]["zk_txns"] = json!([]);
        run["steered"] = json!([{"step": 1, "what": "death-tick"}]);
        Replay::Done(run)
    };
    let (status, printed) = made.run(&["--diff", "two"], other);
    assert_eq!(status, 1);
    for line in [
        "7.0.0/two settled 3/4 order 0/1 steered 1 excluded 0",
        "step 0: starts",
        "  ≠ znodes /a",
        "      expected {\"version\":0}",
        "      got      {\"version\":5}",
        "      got      (not in order)",
        "  = controller",
        "  ~ steered: death-tick",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}");
    }
    let rules = made.0.join("rules.toml");
    let itself: Player = |recording| Replay::Done(recording.clone());
    let (status, printed) = made.run(&["--exclude", rules.to_str().unwrap()], itself);
    assert!(printed.contains("settled 3/3 order 1/1 steered 0 excluded 1\n"), "{printed}");
    assert!(status == 1 && printed.contains("7.0.0: 1 of 4 excluded, more than 2 %\n"));
}

#[test]
fn every_recording_has_a_slice() {
    for (name, _, recording) in recordings() {
        let class = kafkascope_cli::replay::classify::classify(&recording);
        let class = class.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(class.unknown_facts.is_empty(), "{name}: {:?}", class.unknown_facts);
    }
}
