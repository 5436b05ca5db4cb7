//! Every script under `tests/script` and `lessons` is played; its expectations hold, and where it
//! has a transcript, what happened reads the same. `BLESS=1` writes transcripts anew.

use std::path::{Path, PathBuf};

use kafkascope_cli::commands;
use kafkascope_core::script;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let mut found = Vec::new();
    scripts_below(&folder, &mut found);
    found.sort();
    assert!(!found.is_empty(), "{} holds no scripts", folder.display());
    found
}

fn scripts_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder of scripts is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            scripts_below(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "scn") {
            into.push(path);
        }
    }
}

/// What is wrong with one script, if anything.
fn fault(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("the script can be read");
    let script = match script::parse(&text) {
        Ok(script) => script,
        Err(error) => return Some(error.to_string()),
    };
    let outcome = script::check(&script, false);
    if let Some((line, what)) = outcome.failures.first() {
        return Some(format!("line {line}: {what}"));
    }
    let wanted = script.expected.as_ref()?;
    if std::env::var_os("BLESS").is_some() {
        let file = path.display().to_string();
        return commands::check(&[&file, "--bless"]).err();
    }
    commands::diff(wanted, &outcome.transcript)
}

fn all_hold(folder: &str) {
    let faults: Vec<String> = scripts(folder)
        .iter()
        .filter_map(|path| fault(path).map(|fault| format!("{}:\n{fault}", path.display())))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn scripts_do_what_they_say() {
    all_hold("tests/script");
}

/// The cases of real life are among them, each with its number.
#[test]
fn cases_are_found() {
    let mut cases: Vec<String> = scripts("tests/script")
        .iter()
        .filter(|path| path.parent().is_some_and(|folder| folder.ends_with("cases")))
        .filter_map(|path| path.file_name()?.to_str()?.get(..6).map(str::to_owned))
        .collect();
    cases.dedup();
    assert!(cases.len() >= 18, "only {cases:?}");
    assert!(cases.iter().all(|case| case.starts_with("RW-")), "{cases:?}");
}

#[test]
fn lessons_do_what_they_say() {
    all_hold("lessons");
}

/// Printing and reading a script gives the same script; so does a link, readable or packed.
#[test]
fn scripts_survive_print_and_link() {
    for path in scripts("tests/script").into_iter().chain(scripts("lessons")) {
        let text = std::fs::read_to_string(&path).expect("the script can be read");
        let read = script::parse(&text).expect("the script is well-formed");
        let again = script::parse(&script::print(&read)).expect("what is printed can be read");
        let statements = |script: &script::Script| -> Vec<script::Statement> {
            script.lines.iter().map(|line| line.statement.clone()).collect()
        };
        assert_eq!(statements(&again), statements(&read), "{}", path.display());
        let run = script::run_of(&read);
        let link = script::link::write(&script::link::script_of(&run));
        let opened = script::link::read(&link).expect("the link can be read");
        assert_eq!(script::run_of(&opened), run, "{}", path.display());
    }
}
