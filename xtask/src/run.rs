//! Child processes: found, started, listened to line by line, with a sign of life when they are
//! silent for long.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// After this long without a printed line a running child gets a line that says so.
const SILENCE: Duration = Duration::from_secs(20);
/// How much of a silent child's output is shown when it fails.
const KEPT: usize = 30;

/// The workspace root: the place of this package's parent, wherever xtask is called from.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(set.unwrap_or_else(|| PathBuf::from("target")))
}

/// The folder into which `cargo install` and we install programs.
pub fn cargo_home() -> PathBuf {
    let home = || std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(home().unwrap_or_default()).join(".cargo"))
}

pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// A command in the workspace root that also finds what set-up has installed.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let bin = cargo_home().join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if !places.contains(&bin) {
        places.push(bin);
    }
    if let Ok(path) = std::env::join_paths(places) {
        command.env("PATH", path);
    }
    command.current_dir(root());
    // Trunk refuses the usual NO_COLOR=1: it wants the word true.
    if program == "trunk" && std::env::var_os("NO_COLOR").is_some() {
        command.env("NO_COLOR", "true");
    }
    command
}

/// What the command prints on stdout, or nothing where it can't be run or fails.
pub fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = command(program).args(args).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether a program of this name is on the PATH (or among what set-up has installed).
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .chain([cargo_home().join("bin")])
        .map(|place| place.join(&name))
        .find(|file| file.is_file())
}

pub struct Outcome {
    pub ok: bool,
    /// The last lines, for the report of a child whose output wasn't shown.
    pub tail: VecDeque<String>,
}

/// Runs a command and hands each line of its output to `line`, which says whether to print it.
pub fn stream(what: &str, mut command: Command, mut line: impl FnMut(&str) -> bool) -> Outcome {
    let begun = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tail = VecDeque::new();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(why) => {
            let program = command.get_program().to_string_lossy().into_owned();
            tail.push_back(format!("can't run `{program}`: {why}"));
            return Outcome { ok: false, tail };
        }
    };
    let (sender, lines) = mpsc::channel();
    let out = child.stdout.take().map(|pipe| listen(pipe, sender.clone()));
    let err = child.stderr.take().map(|pipe| listen(pipe, sender));
    let mut spoken = Instant::now();
    loop {
        match lines.recv_timeout(SILENCE.saturating_sub(spoken.elapsed())) {
            Ok(text) => {
                if line(&text) {
                    println!("{text}");
                    spoken = Instant::now();
                }
                if tail.len() == KEPT {
                    tail.pop_front();
                }
                tail.push_back(text);
            }
            Err(RecvTimeoutError::Timeout) => {
                let last = tail.back().map_or("", |text| text.trim());
                println!("{what}: {} s, still running; last: {last}", begun.elapsed().as_secs());
                spoken = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // A pipe may block-buffer us: what is printed should be seen at once.
        let _ = std::io::stdout().flush();
    }
    for thread in [out, err].into_iter().flatten() {
        let _ = thread.join();
    }
    Outcome { ok: child.wait().is_ok_and(|status| status.success()), tail }
}

fn listen(pipe: impl Read + Send + 'static, sender: Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut bytes = Vec::new();
        // Bytes, not `lines()`: one malformed character must not end the listening.
        while pipe.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    })
}
