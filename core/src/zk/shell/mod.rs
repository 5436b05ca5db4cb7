//! A plain ZooKeeper client with a command line: zkCli 3.8.4 and 3.9.5, whatever the release of
//! its library. Commands run one after the other, as a person types them.

mod help;
mod parse;
mod print;
mod run;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::base::{Digest, Instant, Rng, limits};
use crate::zk::client::{Client, KeeperState, Phase, WatcherId};
use crate::zk::hold::{Heard, Io, Session, ZkInput, ZkSettings};
use crate::zk::op::{Error, EventType, Op, Path, Release, ToClient, Zxid};

pub use help::{COMMANDS, CommandInfo, NOT_MODELLED, complete};
pub use parse::{Command, Format};

use parse::Note;
use run::{Running, What};

/// Lines that the scrollback keeps.
pub const SCROLLBACK_LINES: usize = 2_000;
/// Bytes that the scrollback keeps; the newest line stays whatever its length.
pub const SCROLLBACK_BYTES: usize = 4 << 20;
/// Lines that may wait for the command before them.
pub const WAITING_LINES: usize = 1_000;
/// Lines that `redo` can still reach.
pub const HISTORY_LINES: u64 = 1_000;
/// Lines that `history` shows before its own.
const HISTORY_SHOWN: u64 = 10;
/// The server that the prompt names.
const HOST: &str = "localhost:2181";
/// The watcher given when the client was made: zkCli has only this one.
const WATCHER: WatcherId = WatcherId(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// The prompt and what was typed.
    Command,
    Output,
    Error,
    Watcher,
}

/// One line of the screen. It never contains a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: LineKind,
    pub text: Arc<str>,
}

/// What the shell asks of the world and tells it, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellOut {
    Io(Io),
    Line(Line),
    State(KeeperState),
    Event {
        kind: EventType,
        path: Path,
    },
    /// A request was given to the client.
    Sent(Op),
    /// A whole line has been dealt with. What never reached a server counts as BadArguments, and
    /// what came too late for the session as SessionExpired.
    Done {
        error: Option<Error>,
    },
    /// The session is over and the shell with it.
    Exit,
}

/// What follows once the session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Exit,
    Connect,
}

#[derive(Clone)]
pub struct Shell {
    settings: ZkSettings,
    session: Session<What>,
    running: Option<Running>,
    waiting: VecDeque<Arc<str>>,
    lines: VecDeque<Line>,
    bytes: usize,
    /// Lines that were run: the number in the prompt.
    count: u64,
    history: BTreeMap<u64, Arc<str>>,
    print_watches: bool,
    after: Option<After>,
    exited: bool,
    /// The zxid of the event that is being handed on.
    event_zxid: Zxid,
}

type Out = Vec<ShellOut>;

impl Shell {
    pub fn new(settings: ZkSettings) -> Shell {
        Shell {
            session: Session::new(settings.client()),
            settings,
            running: None,
            waiting: VecDeque::new(),
            lines: VecDeque::new(),
            bytes: 0,
            count: 0,
            history: BTreeMap::new(),
            print_watches: true,
            after: None,
            exited: false,
            event_zxid: -1,
        }
    }

    pub fn client(&self) -> &Client {
        self.session.client()
    }

    /// The bounded scrollback, oldest first.
    pub fn lines(&self) -> &VecDeque<Line> {
        &self.lines
    }

    /// Whether a command is running or waits.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || !self.waiting.is_empty()
    }

    pub fn has_exited(&self) -> bool {
        self.exited
    }

    /// `[zk: localhost:2181(CONNECTED) 3]`.
    pub fn prompt(&self) -> String {
        let client = self.client();
        let state = match (client.phase(), client.state()) {
            (Phase::Connected, _) => "CONNECTED",
            (_, KeeperState::AuthFailed) => "AUTH_FAILED",
            (Phase::Over, _) => "CLOSED",
            _ => "CONNECTING",
        };
        format!("[zk: {HOST}({state}) {}]", self.count)
    }

    pub fn next_deadline(&self) -> Instant {
        let own = self.running.as_ref().map_or(Instant::NEVER, |running| running.deadline);
        self.session.next_deadline().min(own)
    }

    fn release(&self) -> Release {
        self.settings.release
    }

    fn is_alive(&self) -> bool {
        self.client().phase() != Phase::Over
    }

    pub fn start(&mut self, now: Instant, rng: &mut Rng, out: &mut Out) {
        self.session.start(now, rng);
        self.go_on(now, out);
    }

    pub fn input(&mut self, now: Instant, rng: &mut Rng, input: ZkInput, out: &mut Out) {
        if let ZkInput::Frame(ToClient::Event { zxid, .. }) = &input {
            self.event_zxid = *zxid;
        }
        let due = input == ZkInput::Due;
        self.session.input(now, rng, input);
        self.go_on(now, out);
        if due && self.running.as_ref().is_some_and(|running| running.deadline <= now) {
            self.give_up_sync(out);
            self.go_on(now, out);
        }
        self.event_zxid = -1;
    }

    /// Takes a line. It waits for the one before it.
    pub fn run(&mut self, now: Instant, line: &str, out: &mut Out) {
        let refusal = if self.exited || self.after == Some(After::Exit) {
            Some("This shell has ended".to_owned())
        } else if self.waiting.len() >= WAITING_LINES {
            Some(format!("{WAITING_LINES} lines are waiting already; this one was dropped"))
        } else {
            too_long(line)
        };
        if let Some(refusal) = refusal {
            self.print(LineKind::Error, &refusal, out);
            out.push(ShellOut::Done { error: Some(Error::BadArguments) });
            return;
        }
        self.waiting.push_back(line.into());
        self.go_on(now, out);
    }

    /// Ends the session in good order. What waits is given up.
    pub fn close(&mut self, now: Instant, out: &mut Out) {
        if self.exited {
            return;
        }
        self.waiting.clear();
        self.end(now, After::Exit);
        self.go_on(now, out);
    }

    fn end(&mut self, now: Instant, after: After) {
        self.after = Some(after);
        self.session.close(now, What::Close);
    }

    /// Hands on what the client says, and starts whatever can start, until nothing moves.
    fn go_on(&mut self, now: Instant, out: &mut Out) {
        loop {
            while let Some(heard) = self.session.next_heard() {
                self.hear(now, heard, out);
            }
            if let Some(after) = self.after.filter(|_| !self.is_alive()) {
                self.after = None;
                self.session_is_over(now, after, out);
            } else if self.running.is_none() && self.after.is_none() && !self.exited {
                let Some(line) = self.waiting.pop_front() else { return };
                self.begin(now, &line, out);
            } else {
                return;
            }
        }
    }

    fn session_is_over(&mut self, now: Instant, after: After, out: &mut Out) {
        self.finish(None, out);
        match after {
            After::Exit => {
                self.exited = true;
                self.waiting.clear();
                out.push(ShellOut::Exit);
            }
            After::Connect => {
                self.session = Session::new(self.settings.client());
                // A first connection draws nothing, so this stream of chance stays untouched.
                self.session.start(now, &mut Rng::new(0));
            }
        }
    }

    fn hear(&mut self, now: Instant, heard: Heard<What>, out: &mut Out) {
        match heard {
            Heard::Io(io) => out.push(ShellOut::Io(io)),
            Heard::State(state) => {
                out.push(ShellOut::State(state));
                // Older clients end without a word to their watchers.
                let silent = state == KeeperState::Closed && self.release() < Release::V3_8_4;
                if !silent {
                    self.watcher(&print::state(state, self.release()), out);
                }
            }
            Heard::Event { path, kind, .. } => {
                let text = print::event(kind, &path, self.event_zxid, self.release());
                out.push(ShellOut::Event { kind, path });
                self.watcher(&text, out);
            }
            Heard::Done { what, result } => self.answered(now, what, result, out),
        }
    }

    fn watcher(&mut self, text: &str, out: &mut Out) {
        if self.print_watches {
            for line in ["", "WATCHER::", "", text] {
                self.print(LineKind::Watcher, line, out);
            }
        }
    }

    /// Prints text, which may have several lines.
    fn print(&mut self, kind: LineKind, text: &str, out: &mut Out) {
        for text in text.split('\n') {
            let line = Line { kind, text: text.into() };
            self.bytes += text.len();
            self.lines.push_back(line.clone());
            out.push(ShellOut::Line(line));
        }
        while self.lines.len() > SCROLLBACK_LINES
            || (self.bytes > SCROLLBACK_BYTES && self.lines.len() > 1)
        {
            let gone = self.lines.pop_front();
            self.bytes -= gone.map_or(0, |line| line.text.len());
        }
    }

    fn print_all(&mut self, kind: LineKind, lines: &[String], out: &mut Out) {
        for line in lines {
            self.print(kind, line, out);
        }
    }

    // --- One line --------------------------------------------------------------------------------

    fn begin(&mut self, now: Instant, line: &str, out: &mut Out) {
        let echo = format!("{} {line}", self.prompt());
        self.print(LineKind::Command, &echo, out);
        if line.is_empty() {
            out.push(ShellOut::Done { error: None });
            return;
        }
        self.history.insert(self.count, line.into());
        self.history.retain(|&number, _| number + HISTORY_LINES > self.count);
        let done = match resolve(line, self.release()) {
            Ok((info, words)) if info.name == "redo" => self.redo(now, &words, out),
            resolved => self.execute(now, resolved, out),
        };
        // The number in the prompt rises when the command is through, and `finish` does that.
        if let Some(error) = done {
            self.running = Some(Running::idle());
            self.finish(error, out);
        }
    }

    /// The running command is through.
    fn finish(&mut self, error: Option<Error>, out: &mut Out) {
        if self.running.take().is_some() {
            self.count += 1;
            out.push(ShellOut::Done { error });
        }
    }

    fn refuse(&mut self, text: &str, out: &mut Out) -> Ended {
        self.print(LineKind::Error, text, out);
        Some(Some(Error::BadArguments))
    }

    fn redo(&mut self, now: Instant, words: &[String], out: &mut Out) -> Ended {
        let Some(number) = words.get(1) else {
            return if self.is_alive() { DONE } else { self.not_connected(out) };
        };
        let Ok(number) = number.parse::<i64>() else {
            let text = format!("java.lang.NumberFormatException: For input string: \"{number}\"");
            return self.refuse(&text, out);
        };
        let line = u64::try_from(number).ok().filter(|&number| number < self.count);
        let Some(line) = line.and_then(|number| self.history.get(&number).cloned()) else {
            return self.refuse("Command index out of range", out);
        };
        let resolved = resolve(&line, self.release());
        if resolved.as_ref().is_ok_and(|(info, _)| info.name == "redo") {
            return self.refuse("No redoing redos", out);
        }
        self.history.insert(self.count, line);
        self.execute(now, resolved, out)
    }

    fn execute(&mut self, now: Instant, resolved: Resolved, out: &mut Out) -> Ended {
        let (info, words) = match resolved {
            Ok(found) => found,
            Err(unknown) => {
                if unknown.with_list {
                    self.print_all(LineKind::Error, &help::list(self.release()), out);
                }
                return self.refuse(&unknown.text, out);
            }
        };
        match info.name {
            "help" => self.print_all(LineKind::Output, &help::list(self.release()), out),
            "history" => self.show_history(out),
            "printwatches" => match words.get(1) {
                None => {
                    let state = if self.print_watches { "on" } else { "off" };
                    self.print(LineKind::Output, &format!("printwatches is {state}"), out);
                }
                Some(word) => self.print_watches = word == "on",
            },
            "quit" => {
                self.running = Some(Running::idle());
                self.end(now, After::Exit);
                return None;
            }
            "connect" => return self.connect(now, &words, out),
            _ if !self.is_alive() => return self.not_connected(out),
            _ => {
                let parsed = parse::command(info, words, self.release());
                for note in parsed.notes {
                    match note {
                        Note::Output(text) => self.print(LineKind::Output, &text, out),
                        Note::Error(text) => self.print(LineKind::Error, &text, out),
                    }
                }
                return match parsed.command {
                    Ok(command) => self.carry_out(now, command, out),
                    Err(text) => self.refuse(&text, out),
                };
            }
        }
        DONE
    }

    fn not_connected(&mut self, out: &mut Out) -> Ended {
        self.print(LineKind::Output, "Not connected", out);
        let failed = self.client().state() == KeeperState::AuthFailed;
        Some(Some(if failed { Error::AuthFailed } else { Error::SessionExpired }))
    }

    /// A new session. The old one is closed first if it still lives.
    fn connect(&mut self, now: Instant, words: &[String], out: &mut Out) -> Ended {
        if let Some(host) = words.get(1).filter(|host| *host != HOST) {
            let text = format!("The model has no server {host}: it has {HOST} alone");
            return self.refuse(&text, out);
        }
        self.running = Some(Running::idle());
        self.end(now, After::Connect);
        None
    }

    fn show_history(&mut self, out: &mut Out) {
        for number in self.count.saturating_sub(HISTORY_SHOWN)..=self.count {
            let line = self.history.get(&number).cloned().unwrap_or_else(|| "null".into());
            self.print(LineKind::Output, &format!("{number} - {line}"), out);
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        self.client().digest(digest);
        digest.u64(self.count);
        digest.u64(self.waiting.len() as u64);
        for line in &self.waiting {
            digest.text(line);
        }
        digest.u64(self.lines.len() as u64);
        digest.u64(self.bytes as u64);
        if let Some(line) = self.lines.back() {
            digest.u64(line.kind as u64);
            digest.text(&line.text);
        }
        digest.u64(u64::from(self.print_watches));
        digest.u64(u64::from(self.exited));
        digest.u64(self.after.map_or(0, |after| after as u64 + 1));
        match &self.running {
            None => digest.u64(0),
            Some(running) => running.digest(digest),
        }
    }
}

/// How a line ended at once; `None` if an answer is awaited.
type Ended = Option<Option<Error>>;
const DONE: Ended = Some(None);

/// The command's entry and all its words, or why there is none.
type Resolved = Result<(&'static CommandInfo, Vec<String>), Unknown>;

struct Unknown {
    text: String,
    /// zkCli lists what it knows first.
    with_list: bool,
}

fn resolve(line: &str, release: Release) -> Resolved {
    let words = words::split(line);
    let Some(name) = words.first() else {
        // The real shell runs the line before once more, as it forgets to look.
        return Err(Unknown { text: "No command entered".to_owned(), with_list: true });
    };
    match help::find(name, release) {
        Some(info) => Ok((info, words)),
        None if NOT_MODELLED.contains(&name.as_str()) => {
            let text = format!("The model has neither quotas nor configurations: {name}");
            Err(Unknown { text, with_list: false })
        }
        None => {
            let text = format!("Command not found: Command not found {name}");
            Err(Unknown { text, with_list: true })
        }
    }
}

fn too_long(line: &str) -> Option<String> {
    (line.len() > limits::CONSOLE_LINE).then(|| {
        format!(
            "The line has {} bytes; the console takes {} at most",
            line.len(),
            limits::CONSOLE_LINE
        )
    })
}

/// What the shell would say against a line before anything is sent, for the default release.
pub fn check(line: &str) -> Result<(), String> {
    check_for(line, Release::default())
}

/// [`check`] for a client of this release.
pub fn check_for(line: &str, release: Release) -> Result<(), String> {
    if let Some(text) = too_long(line) {
        return Err(text);
    }
    if line.is_empty() {
        return Ok(());
    }
    let (info, words) = resolve(line, release).map_err(|unknown| unknown.text)?;
    if matches!(info.name, "help" | "history" | "printwatches" | "quit" | "connect" | "redo") {
        return Ok(());
    }
    parse::command(info, words, release).command.map(|_| ())
}

#[cfg(test)]
mod tests;
