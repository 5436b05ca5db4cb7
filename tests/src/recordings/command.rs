//! The command `recordings`: replays every recording of a folder through the simulator and prints a
//! line a file, then totals.

use super::collect::{self, File};
use super::diff;
use super::judge::rules::{self, Rule};
use super::judge::{Outcome, compare, count};
use kafkascope_cli::replay::Replay;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// How to call it.
pub const USAGE: &str = "\
recordings [DIR] [NAME…] [--diff NAME] [--exclude FILE]

Replays recordings through the simulator and compares what happened, as DIR/README.md lays down.
DIR      folder of recordings by software version (tests/recordings)
NAME     only these: VERSION/NAME, NAME, or a VERSION
--diff   shows expected against got of this one, step by step
--exclude  rules of what is left out (tests/recordings/excluded.toml)
Exit status: 0 all equal or waiting, 1 something differs or fails, 2 wrongly called.";

/// What plays a recording.
pub type Player = fn(&Value) -> Replay;

/// What came of one file.
pub enum Verdict {
    /// Compared; the totals B and D that the line has to account for.
    Compared {
        outcome: Outcome,
        run: Value,
        totals: (usize, usize),
    },
    Waiting(String),
    Failed(String),
}

/// One file, read and replayed.
pub struct Examined {
    pub file: File,
    pub recording: Value,
    pub verdict: Verdict,
}

impl Examined {
    /// Does the file not fail the command?
    pub fn good(&self) -> bool {
        match &self.verdict {
            Verdict::Compared { outcome, totals, .. } => {
                outcome.good() && accounts(outcome, totals)
            }
            Verdict::Waiting(_) => true,
            Verdict::Failed(_) => false,
        }
    }

    /// The line of the file.
    pub fn line(&self) -> String {
        let name = &self.file.name;
        match &self.verdict {
            Verdict::Compared { outcome, totals, .. } => {
                let wrong = if accounts(outcome, totals) {
                    String::new()
                } else {
                    format!(" WRONG TOTALS: settled {} order {} in the file", totals.0, totals.1)
                };
                format!("{name} {}{wrong}", figures(outcome))
            }
            Verdict::Waiting(what) => format!("{name} waiting ({what})"),
            Verdict::Failed(why) => format!("{name} failed: {why}"),
        }
    }
}

/// Everything that the file holds is in the line.
fn accounts(outcome: &Outcome, (settled, order): &(usize, usize)) -> bool {
    outcome.b + outcome.d + outcome.excluded == settled + order
}

/// The figures; `extra` is only told where there is any.
fn figures(o: &Outcome) -> String {
    let extra = if o.extra > 0 { format!(" extra {}", o.extra) } else { String::new() };
    format!(
        "settled {}/{} order {}/{} steered {} excluded {}{extra}",
        o.a, o.b, o.c, o.d, o.steered, o.excluded
    )
}

/// Reads, replays and compares one file. A player's panic is its failure, the rest still runs.
pub fn examine(file: &File, rules: &[Rule], player: Player) -> Examined {
    let recording = match read(file) {
        Ok(recording) => recording,
        Err(why) => {
            let verdict = Verdict::Failed(why);
            return Examined { file: file.clone(), recording: Value::Null, verdict };
        }
    };
    let verdict = match catch_unwind(AssertUnwindSafe(|| player(&recording))) {
        Err(_) => Verdict::Failed("the replay panicked".into()),
        Ok(Replay::Unknown(what)) => Verdict::Failed(format!("unknown: {what}")),
        Ok(Replay::Waiting(what)) => Verdict::Waiting(what),
        Ok(Replay::Done(run)) => match compare(&recording, &run, &file.name, rules) {
            Err(why) => Verdict::Failed(format!("cannot be compared: {why}")),
            Ok(outcome) => Verdict::Compared { outcome, run, totals: count::totals(&recording) },
        },
    };
    Examined { file: file.clone(), recording, verdict }
}

fn read(file: &File) -> Result<Value, String> {
    let path = file.path.display();
    let raw = std::fs::read(&file.path).map_err(|e| format!("{path}: {e}"))?;
    let recording: Value = serde_json::from_slice(&raw).map_err(|e| {
        let why = e.to_string();
        let why = why.split(" at line ").next().unwrap_or("");
        format!("{path}:{}:{}: no JSON: {why}", e.line(), e.column())
    })?;
    let steps = recording.get("steps").and_then(Value::as_array);
    let steps = steps.ok_or_else(|| format!("{path}: no recording: it has no list `steps`"))?;
    match steps.iter().position(|step| !step.is_object()) {
        Some(i) => Err(format!("{path}: no recording: step {i} is no object")),
        None => Ok(recording),
    }
}

/// What the command was asked for.
struct Options {
    folder: PathBuf,
    names: Vec<String>,
    diffs: Vec<String>,
    rules: PathBuf,
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut folder = None;
    let mut rules = collect::default_folder().join("excluded.toml");
    let (mut names, mut diffs) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--diff" => diffs.push(value()?),
            "--exclude" => rules = value()?.into(),
            flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            // A folder comes first; after it, or where there is none of that name, it is a name.
            name if folder.is_none() && names.is_empty() && PathBuf::from(name).is_dir() => {
                folder = Some(PathBuf::from(name));
            }
            name => names.push(name.to_owned()),
        }
    }
    let folder = folder.unwrap_or_else(collect::default_folder);
    Ok(Options { folder, names, diffs, rules })
}

/// The files that are asked for; every name has to mean one.
fn chosen(options: &Options) -> Result<Vec<File>, String> {
    let folder = options.folder.display();
    let all = collect::files(&options.folder).map_err(|e| format!("{folder}: {e}"))?;
    if all.is_empty() {
        return Err(format!("no recordings below {folder}"));
    }
    let names: Vec<&String> = options.names.iter().chain(&options.diffs).collect();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|file| file.is_called(name))) {
        let also = if name.contains('/') { ", and no folder either" } else { "" };
        return Err(format!("no recording {name} below {folder}{also}"));
    }
    let wanted = |file: &File| names.is_empty() || names.iter().any(|name| file.is_called(name));
    Ok(all.into_iter().filter(wanted).collect())
}

/// The command. Returns its exit status.
pub fn run(args: &[String], player: Player, out: &mut dyn Write) -> io::Result<i32> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        writeln!(out, "{USAGE}")?;
        return Ok(0);
    }
    let asked = parse(args).and_then(|options| {
        let rules = rules::load(&options.rules)?;
        let files = chosen(&options)?;
        Ok((options, rules, files))
    });
    let (options, rules, files) = match asked {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("recordings: {why}");
            return Ok(2);
        }
    };
    let mut totals = Totals::default();
    in_order(
        &files,
        |file| examine(file, &rules, player),
        |examined| {
            writeln!(out, "{}", examined.line())?;
            if options.diffs.iter().any(|name| examined.file.is_called(name)) {
                diff::show(&examined, out)?;
            }
            totals.add(&examined);
            Ok(())
        },
    )?;
    Ok(i32::from(!totals.print(out)?))
}

/// Works on all files at once, as many as there are processors, and takes the results in order.
fn in_order(
    files: &[File],
    work: impl Fn(&File) -> Examined + Sync,
    mut take: impl FnMut(Examined) -> io::Result<()>,
) -> io::Result<()> {
    // Replays may nest deeper than a thread's usual stack allows.
    const STACK: usize = 64 << 20;
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next, work) = (send.clone(), &next, &work);
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(i) else { break };
                    if send.send((i, work(file))).is_err() {
                        break;
                    }
                }
            })?;
        }
        drop(send);
        let (mut done, mut early) = (0, BTreeMap::new());
        for (i, examined) in receive {
            early.insert(i, examined);
            while let Some(examined) = early.remove(&done) {
                take(examined)?;
                done += 1;
            }
        }
        Ok(())
    })
}

/// Sums of a release, or of all.
#[derive(Default)]
struct Sum {
    files: usize,
    compared: usize,
    waiting: usize,
    bad: usize,
    outcome: Outcome,
}

impl Sum {
    fn add(&mut self, examined: &Examined) {
        self.files += 1;
        self.bad += usize::from(!examined.good());
        match &examined.verdict {
            Verdict::Compared { outcome, .. } => {
                self.compared += 1;
                let (sum, o) = (&mut self.outcome, outcome);
                for (total, n) in [
                    (&mut sum.a, o.a),
                    (&mut sum.b, o.b),
                    (&mut sum.c, o.c),
                    (&mut sum.d, o.d),
                    (&mut sum.steered, o.steered),
                    (&mut sum.excluded, o.excluded),
                    (&mut sum.extra, o.extra),
                ] {
                    *total += n;
                }
            }
            Verdict::Waiting(_) => self.waiting += 1,
            Verdict::Failed(_) => {}
        }
    }

    /// More than 2 % of the release's b + d.
    fn excludes_too_much(&self) -> bool {
        self.outcome.excluded * 50 > self.outcome.b + self.outcome.d
    }

    fn line(&self) -> String {
        format!(
            "{} recordings, compared {}, waiting {}, differing or failed {}, {}",
            self.files,
            self.compared,
            self.waiting,
            self.bad,
            figures(&self.outcome)
        )
    }
}

#[derive(Default)]
struct Totals {
    releases: BTreeMap<String, Sum>,
    all: Sum,
}

impl Totals {
    fn add(&mut self, examined: &Examined) {
        let release = examined.file.version().to_owned();
        self.releases.entry(release).or_default().add(examined);
        self.all.add(examined);
    }

    /// Prints the totals; false where something fails.
    fn print(&self, out: &mut dyn Write) -> io::Result<bool> {
        let mut good = self.all.bad == 0;
        for (release, sum) in &self.releases {
            writeln!(out, "{release}: {}", sum.line())?;
            if sum.excludes_too_much() {
                let (e, of) = (sum.outcome.excluded, sum.outcome.b + sum.outcome.d);
                writeln!(out, "{release}: {e} of {of} excluded, more than 2 %")?;
                good = false;
            }
        }
        writeln!(out, "total: {}", self.all.line())?;
        Ok(good)
    }
}
