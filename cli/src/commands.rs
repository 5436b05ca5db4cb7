//! run, check, link, open.

use std::io::Read;
use std::path::Path;

use kafkascope_core::lab::Lab;
use kafkascope_core::script::{self, Script, link, transcript};
use serde_json::json;

use crate::replay::{self, Replay};

type Result<T> = std::result::Result<T, String>;

fn read(file: &str) -> Result<String> {
    if file == "-" {
        let mut text = String::new();
        return match std::io::stdin().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!("standard input: {error}")),
        };
    }
    std::fs::read_to_string(Path::new(file)).map_err(|error| format!("{file}: {error}"))
}

fn parse(file: &str, text: &str) -> Result<Script> {
    script::parse(text).map_err(|error| format!("{file}: {error}"))
}

pub fn run(args: &[&str]) -> Result<()> {
    let (mut json, mut digest, mut detail, mut seed, mut file) = (false, false, false, None, None);
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--json" => json = true,
            "--digest" => digest = true,
            "--detail" => detail = true,
            "--seed" => {
                let given = rest.next().ok_or("--seed takes a whole number")?;
                seed = Some(
                    given
                        .parse()
                        .map_err(|_| format!("--seed takes a whole number, `{given}` is none"))?,
                );
            }
            word if word.starts_with("--") => {
                return Err(format!("run does not know `{word}`"));
            }
            word if file.is_none() => file = Some(word),
            word => return Err(format!("run takes one file; `{word}` is one more")),
        }
    }
    let file = file.ok_or("run takes a file")?;
    let mut script = parse(file, &read(file)?)?;
    if let Some(seed) = seed {
        script.seed = seed;
    }
    let outcome = script::check(&script, detail);
    if json {
        for row in rows(&outcome.lab, detail) {
            println!("{row}");
        }
    } else if !digest {
        for line in &outcome.transcript {
            println!("{line}");
        }
    }
    if digest {
        println!("{:016x}", outcome.lab.digest());
    }
    failures(file, &outcome.failures)
}

fn rows(lab: &Lab, detail: bool) -> impl Iterator<Item = serde_json::Value> {
    let procs = &lab.world().procs;
    (0_u32..).zip(lab.rows()).filter(move |(_, row)| detail || !row.detail).map(move |(id, row)| {
        json!({
            "row": id,
            "at_us": row.at.0,
            "event_no": row.event_no,
            "cause": (!row.cause.is_none()).then_some(row.cause.0),
            "process": procs.get(usize::from(row.proc)).map(transcript::name),
            "detail": row.detail,
            "text": transcript::line(row, procs),
        })
    })
}

fn failures(file: &str, failures: &[(u32, String)]) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        failures.iter().map(|(line, what)| format!("{file}: line {line}: {what}")).collect();
    Err(lines.join("\n"))
}

pub fn check(args: &[&str]) -> Result<()> {
    let (bless, files): (Vec<&str>, Vec<&str>) =
        args.iter().copied().partition(|word| *word == "--bless");
    let [file] = files[..] else {
        return Err("check takes one file, and perhaps --bless".to_owned());
    };
    let text = read(file)?;
    let script = parse(file, &text)?;
    let outcome = script::check(&script, false);
    failures(file, &outcome.failures)?;
    if !bless.is_empty() {
        return self::bless(file, &text, &outcome.transcript);
    }
    let Some(expected) = &script.expected else {
        return Err(format!("{file}: no transcript below `----`; --bless writes one"));
    };
    match diff(expected, &outcome.transcript) {
        Some(diff) => Err(format!("{file}: the transcript differs\n{diff}")),
        None => Ok(()),
    }
}

fn bless(file: &str, text: &str, transcript: &[String]) -> Result<()> {
    let commands: Vec<&str> = text.lines().take_while(|line| line.trim_end() != "----").collect();
    let whole = format!("{}\n----\n{}\n", commands.join("\n"), transcript.join("\n"));
    if file == "-" {
        print!("{whole}");
        return Ok(());
    }
    std::fs::write(file, whole).map_err(|error| format!("{file}: {error}"))
}

/// Lines that are missing (`-`) and that are too many (`+`), with what is around them.
pub fn diff(expected: &[std::sync::Arc<str>], got: &[String]) -> Option<String> {
    let wanted: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
    let found: Vec<&str> = got.iter().map(|line| line.trim_end()).collect();
    if wanted == found {
        return None;
    }
    let text = similar::TextDiff::from_slices(&wanted, &found);
    let shown: Vec<String> = text
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .take(40)
        .map(|change| format!("{} {}", change.tag(), change.value()))
        .collect();
    Some(shown.join("\n"))
}

pub fn link(file: &str) -> Result<()> {
    let script = parse(file, &read(file)?)?;
    println!("{}", link::write(&link::script_of(&script::run_of(&script))));
    Ok(())
}

pub fn open(given: &str) -> Result<()> {
    let script = link::read(given).map_err(|error| format!("the link: {error}"))?;
    print!("{}", script::print(&script));
    Ok(())
}

pub fn replay(file: &str) -> Result<()> {
    let text = read(file)?;
    let recording: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| format!("{file}: line {}: {error}", error.line()))?;
    match replay::replay(&recording) {
        Replay::Done(got) => {
            println!("{got:#}");
            Ok(())
        }
        Replay::Waiting(what) => Err(format!("{file}: waiting ({what})")),
        Replay::Unknown(what) => Err(format!("{file}: unknown: {what}")),
    }
}
