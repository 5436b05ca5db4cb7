//! Text to script. Whatever is typed gets an answer that says what is wrong and where.

use std::sync::Arc;

use super::query::{Answer, Query};
use super::{
    Ask, Expectation, Line, Problem, Script, ScriptError, Statement, VERSION, query_groups,
};
use crate::base::{Instant, Span, limits};
use crate::kafka::TopicPartition;
use crate::kafka::real::task::{Layout, Task};
use crate::kafka::release::Release as KafkaRelease;
use crate::lab::MODEL;
use crate::world::command::{Command, Who};
use crate::world::config::{Config, Profile, SETTINGS};
use crate::zk::op::Release;

/// The words of one line, each with its column.
pub(super) struct Words<'a> {
    number: u32,
    text: &'a str,
    /// Byte offset of what is not yet read.
    pub(super) at: usize,
}

pub(super) type Parsed<T> = Result<T, ScriptError>;

impl<'a> Words<'a> {
    pub(super) fn new(number: u32, text: &'a str) -> Words<'a> {
        Words { number, text, at: 0 }
    }

    pub(super) fn error(&self, at: usize, problem: Problem) -> ScriptError {
        let column = self.text[..at].chars().count() as u32 + 1;
        ScriptError { line: self.number, column, problem }
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    pub(super) fn peek(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let word = rest.split([' ', '\t']).next().unwrap_or_default();
        (!word.is_empty()).then_some(word)
    }

    pub(super) fn next(&mut self, what: &'static str) -> Parsed<(usize, &'a str)> {
        match self.peek() {
            Some(word) => {
                let start = self.at;
                self.at += word.len();
                Ok((start, word))
            }
            None => Err(self.error(self.text.len(), Problem::Missing(what))),
        }
    }

    /// Takes `word` if it comes next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn expect(&mut self, word: &'static str) -> Parsed<()> {
        let (at, given) = self.next(word)?;
        if given == word { Ok(()) } else { Err(self.unknown(at, given, word)) }
    }

    fn unknown(&self, at: usize, given: &str, expected: &'static str) -> ScriptError {
        self.error(at, Problem::UnknownWord { given: shorten(given), expected })
    }

    pub(super) fn number(&mut self, what: &'static str, low: u64, high: u64) -> Parsed<u64> {
        let (at, word) = self.next(what)?;
        self.parse_number(at, word, low, high)
    }

    fn parse_number(&self, at: usize, word: &str, low: u64, high: u64) -> Parsed<u64> {
        if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.error(at, Problem::NotANumber(shorten(word))));
        }
        // Digits only, so what doesn't fit is too large.
        let given = word.parse().unwrap_or(u64::MAX);
        if (low..=high).contains(&given) {
            Ok(given)
        } else {
            Err(self.error(at, Problem::OutOfRange { given, low, high }))
        }
    }

    pub(super) fn span(&mut self, what: &'static str) -> Parsed<Span> {
        let (at, word) = self.next(what)?;
        let span =
            parse_span(word).ok_or_else(|| self.error(at, Problem::NotATime(shorten(word))))?;
        let high = limits::WAIT_SECS * 1_000_000;
        if span.0 > high {
            let problem = Problem::OutOfRange { given: span.0, low: 0, high };
            return Err(self.error(at, problem));
        }
        Ok(span)
    }

    pub(super) fn name(&mut self, what: &'static str, limit: usize) -> Parsed<Arc<str>> {
        let (at, word) = self.next(what)?;
        match crate::world::check_name(word, limit) {
            Ok(()) => Ok(word.into()),
            Err(_) => Err(self.error(at, Problem::BadName(shorten(word)))),
        }
    }

    /// A text in quotes with JSON's escapes, if that comes next.
    pub(super) fn quoted(&mut self) -> Parsed<Option<String>> {
        if !self.peek().is_some_and(|word| word.starts_with('"')) {
            return Ok(None);
        }
        let rest = &self.text[self.at..];
        let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let Some(Ok(text)) = texts.next() else {
            return Err(self.error(self.at, Problem::BadName(shorten(rest))));
        };
        self.at += texts.byte_offset();
        Ok(Some(text))
    }

    /// `orders-0`
    pub(super) fn partition(&mut self) -> Parsed<TopicPartition> {
        const WHAT: &str = "a partition such as orders-0";
        let (at, tp) = self.next(WHAT)?;
        let (topic, partition) = tp.rsplit_once('-').ok_or_else(|| self.unknown(at, tp, WHAT))?;
        let column = at + topic.len() + 1;
        let high = u64::from(limits::PARTITIONS_PER_TOPIC);
        let partition = self.parse_number(column, partition, 0, high)? as u32;
        Ok(TopicPartition { topic: topic.into(), partition })
    }

    /// All that is left, but for the blanks around it.
    fn rest(&mut self) -> &'a str {
        self.skip_blanks();
        let rest = self.text[self.at..].trim_end();
        self.at = self.text.len();
        rest
    }

    pub(super) fn end(&mut self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(self.error(self.at, Problem::Superfluous(shorten(word)))),
        }
    }
}

pub(super) fn shorten(word: &str) -> Arc<str> {
    word.chars().take(40).collect::<String>().into()
}

/// `2s`, `1500ms`, `17us`, with up to six digits behind a point.
pub fn parse_span(word: &str) -> Option<Span> {
    let (digits, unit) = word.split_at(word.find(|c: char| c.is_ascii_alphabetic())?);
    let scale: u64 = match unit {
        "s" => 1_000_000,
        "ms" => 1_000,
        "us" => 1,
        _ => return None,
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let mut micros = whole.checked_mul(scale)?;
    if !part.is_empty() {
        let part_scale = 10_u64.pow(part.len() as u32);
        let part: u64 = part.parse().ok()?;
        let scaled = part.checked_mul(scale)?;
        if scaled % part_scale != 0 {
            return None;
        }
        micros = micros.checked_add(scaled / part_scale)?;
    }
    Some(Span(micros))
}

pub fn parse(text: &str) -> Parsed<Script> {
    let whole = ScriptError { line: 1, column: 1, problem: Problem::NotAScript };
    if text.len() > limits::SCRIPT_BYTES {
        let limit = limits::SCRIPT_BYTES as u64;
        return Err(ScriptError { problem: Problem::TooLarge { limit }, ..whole });
    }
    let mut parser = Parser::default();
    let mut lines = (1..).zip(text.lines());
    let mut seen_first = false;
    while let Some((number, line)) = lines.next() {
        let line = line.trim_end_matches('\r');
        if line.trim_end() == "----" && seen_first {
            let rest = lines.map(|(_, line)| Arc::from(line.trim_end_matches('\r')));
            parser.script.expected = Some(rest.collect());
            break;
        }
        if let Some((at, c)) = line.char_indices().find(|(_, c)| c.is_control() && *c != '\t') {
            let problem = Problem::ControlCharacter(u32::from(c));
            return Err(Words::new(number, line).error(at, problem));
        }
        let mut words = Words::new(number, uncommented(line));
        if words.peek().is_none() {
            continue;
        }
        if seen_first {
            parser.line(&mut words)?;
        } else {
            first_line(&mut words)?;
            seen_first = true;
        }
    }
    if seen_first { Ok(parser.script) } else { Err(whole) }
}

/// A comment begins with `#` at the start or after a blank; a shell's line may hold one.
fn uncommented(line: &str) -> &str {
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') {
        return "";
    }
    match line.find(" #") {
        Some(at) if !line.contains("zk ") => &line[..at],
        _ => line,
    }
}

fn first_line(words: &mut Words<'_>) -> Parsed<()> {
    let (at, word) = words.next("kafkascope")?;
    if word != "kafkascope" {
        return Err(words.error(at, Problem::NotAScript));
    }
    let (at, version) = words.next("the version")?;
    if version != VERSION.to_string() {
        return Err(words.error(at, Problem::NewerVersion(shorten(version))));
    }
    words.end()
}

struct Parser {
    script: Script,
    /// The moment of the last `at` line.
    latest: Instant,
    commands: usize,
}

impl Default for Parser {
    fn default() -> Self {
        let config = Config::default();
        let script = Script { model: MODEL, seed: 7, config, lines: Vec::new(), expected: None };
        Parser { script, latest: Instant::ZERO, commands: 0 }
    }
}

const STATEMENTS: &str =
    "at, do, wait, settle, expect, say, ask, set, profile, model, or a command";

impl Parser {
    fn line(&mut self, words: &mut Words<'_>) -> Parsed<()> {
        let start = words.at;
        let (at, word) = words.next("a statement")?;
        match word {
            "profile" | "set" | "model" if !self.script.lines.is_empty() => {
                Err(words.error(at, Problem::SettingAfterCommand))
            }
            "model" => {
                self.script.model = words.number("the model", 1, 1_000_000)? as u32;
                words.end()
            }
            "profile" => self.profile(words),
            "set" => self.setting(words),
            "at" => self.at(words),
            "do" => {
                for command in commands(words)? {
                    self.push(words, Statement::Do(command))?;
                }
                Ok(())
            }
            "wait" | "settle" => {
                let span = words.span("how long")?;
                words.end()?;
                let wait = word == "wait";
                self.push(words, if wait { Statement::Wait(span) } else { Statement::Settle(span) })
            }
            "say" => {
                let key = words.name("the key of a text", 80)?;
                words.end()?;
                self.push(words, Statement::Say(key))
            }
            "expect" => {
                let expectation = expectation(words)?;
                self.push(words, Statement::Expect(expectation))
            }
            "ask" => self.ask(words),
            _ => {
                words.at = start;
                for command in commands(words)? {
                    self.push(words, Statement::Do(command))?;
                }
                Ok(())
            }
        }
    }

    fn push(&mut self, words: &Words<'_>, statement: Statement) -> Parsed<()> {
        self.commands += 1;
        if self.commands > limits::COMMANDS {
            let limit = limits::COMMANDS as u64;
            return Err(words.error(0, Problem::TooManyCommands { limit }));
        }
        self.script.lines.push(Line { number: words.number, statement });
        Ok(())
    }

    fn profile(&mut self, words: &mut Words<'_>) -> Parsed<()> {
        let (at, name) = words.next("a profile")?;
        let profile =
            Profile::parse(name).ok_or_else(|| words.unknown(at, name, "textbook, 0.8 or 2.x"))?;
        let config = Config::of(profile);
        if profile == Profile::Textbook {
            self.script.config.zookeeper = config.zookeeper;
        } else {
            self.script.config = config;
        }
        while let Some(word) = words.peek() {
            let at = words.at;
            words.at += word.len();
            match word {
                "release" if profile == Profile::Textbook => {
                    let (at, name) = words.next("a release of ZooKeeper")?;
                    self.script.config.zookeeper = Release::parse(name)
                        .ok_or_else(|| words.unknown(at, name, "3.4.6, 3.5.9, 3.8.4 or 3.9.5"))?;
                }
                "release" => {
                    let (at, name) = words.next("a release of Kafka")?;
                    let known = "0.8.2.2 in 0.8, or 0.11.0.3, 1.1.1, 2.8.2, 3.9.2 in 2.x";
                    let release = KafkaRelease::parse(name)
                        .filter(|release| Profile::of_release(*release) == profile)
                        .ok_or_else(|| words.unknown(at, name, known))?;
                    self.script.config = Config::release(release);
                }
                "seed" => self.script.seed = words.number("a seed", 0, u64::MAX)?,
                _ => return Err(words.unknown(at, word, "release or seed")),
            }
        }
        Ok(())
    }

    fn setting(&mut self, words: &mut Words<'_>) -> Parsed<()> {
        let (at, name) = words.next("a setting")?;
        let index = SETTINGS
            .iter()
            .position(|setting| setting.name == name)
            .ok_or_else(|| words.unknown(at, name, "the name of a setting"))?;
        let setting = SETTINGS[index];
        let value = words.number("a value", setting.low, setting.high)?;
        words.end()?;
        self.script.config.set(index, value);
        Ok(())
    }

    fn at(&mut self, words: &mut Words<'_>) -> Parsed<()> {
        words.skip_blanks();
        let column = words.at;
        let span = words.span("a moment")?;
        let given = Instant::ZERO + span;
        if given < self.latest {
            let problem = Problem::TimeGoesBack { given, before: self.latest };
            return Err(words.error(column, problem));
        }
        self.latest = given;
        words.take("do");
        for command in commands(words)? {
            self.push(words, Statement::At(given, command))?;
        }
        Ok(())
    }

    /// `ask KEY QUERY [in SPAN] [among ANSWER | ANSWER…] [after COMMAND]`
    fn ask(&mut self, words: &mut Words<'_>) -> Parsed<()> {
        let key = words.name("the key of a text", 80)?;
        let query = query(words)?;
        let within = match words.take("in") {
            true => Some(words.span("how long")?),
            false => None,
        };
        let among = if words.take("among") { answers(words)? } else { Vec::new() };
        let mut after = None;
        if words.peek().is_some() {
            words.expect("after")?;
            let at = words.at;
            let mut commands = commands(words)?;
            after = commands.pop();
            if !commands.is_empty() {
                return Err(words.error(at, Problem::Missing("exactly one command")));
            }
        }
        self.push(words, Statement::Ask(Ask { key, query, within, among, after }))
    }
}

/// Up to `after` or the end, with `|` between them.
fn answers(words: &mut Words<'_>) -> Parsed<Vec<Answer>> {
    let mut answers = vec![String::new()];
    while let Some(word) = words.peek().filter(|word| *word != "after") {
        words.take(word);
        match answers.last_mut() {
            Some(last) if word != "|" => {
                last.push_str(if last.is_empty() { "" } else { " " });
                last.push_str(word);
            }
            _ => answers.push(String::new()),
        }
    }
    let missing = words.error(words.at, Problem::Missing("an answer"));
    answers.iter().map(|text| Answer::parse(text).ok_or(missing.clone())).collect()
}

/// One question, as it stands in a lesson's text.
pub fn parse_query(text: &str) -> Parsed<Query> {
    let mut words = Words::new(1, text);
    let query = query(&mut words)?;
    words.end()?;
    Ok(query)
}

fn query(words: &mut Words<'_>) -> Parsed<Query> {
    let (at, word) = words.next("a question")?;
    Ok(match word {
        "leader" | "isr" => {
            let TopicPartition { topic, partition } = words.partition()?;
            match word {
                "leader" => Query::Leader(topic, partition),
                _ => Query::Isr(topic, partition),
            }
        }
        "controller" => Query::Controller,
        "brokers" => Query::Brokers,
        "znode" => Query::Znode(words.next("a path")?.1.into()),
        "data" => Query::Data(words.next("a path")?.1.into()),
        "children" => Query::Children(words.next("a path")?.1.into()),
        "owner" if words.peek().is_some_and(|word| word.starts_with('/')) => {
            Query::Owner(words.next("a path")?.1.into())
        }
        "session" => Query::Session(who(words)?),
        "process" => Query::Process(who(words)?),
        "client" => Query::Client(who(words)?),
        "timeout" => Query::Timeout(who(words)?),
        "heard" => Query::Heard(who(words)?),
        "killed" => Query::Killed(who(words)?),
        "expired" => Query::Expired(who(words)?),
        "told" => Query::Told(words.next("a path")?.1.into()),
        "events" => Query::Events(who(words)?),
        "watchers" => Query::Watchers(words.next("a path")?.1.into()),
        // Not of itself: a line of a megabyte would be that deep.
        "count" if words.peek() != Some("count") => Query::Count(Box::new(query(words)?)),
        "now" => Query::Now,
        _ => match query_groups::parse(words, word)? {
            Some(query) => Query::Group(query),
            None => {
                let expected = "leader, isr, controller, brokers, znode, data, children, owner, \
                                session, process, client, timeout, heard, killed, expired, told, \
                                events, watchers, count, now, members, idle, shares, would, \
                                owned-by, read-by, committed, position, lag, end, tries, refusals \
                                or repeated";
                return Err(words.unknown(at, word, expected));
            }
        },
    })
}

fn expectation(words: &mut Words<'_>) -> Parsed<Expectation> {
    match words.peek() {
        Some("refused") => {
            words.take("refused");
            words.end()?;
            return Ok(Expectation::Refused);
        }
        Some("breach") => {
            words.take("breach");
            let name = words.name("none, or the name of an invariant", 80)?;
            words.end()?;
            return Ok(Expectation::Breach((&*name != "none").then_some(name)));
        }
        Some("printed") => {
            words.take("printed");
            return Ok(Expectation::Printed(words.rest().into()));
        }
        _ => {}
    }
    let query = query(words)?;
    words.take("=");
    let answer = Answer::parse(words.rest());
    match answer {
        Some(answer) => Ok(Expectation::Is(query, answer)),
        None => Err(words.error(words.text.len(), Problem::Missing("what is expected"))),
    }
}

/// One line that is a command.
pub fn parse_command(text: &str) -> Parsed<Command> {
    let mut words = Words::new(1, text);
    if text.len() > limits::CONSOLE_LINE + 100 {
        let limit = limits::CONSOLE_LINE as u64;
        return Err(words.error(0, Problem::TooLarge { limit }));
    }
    let mut commands = commands(&mut words)?;
    match (commands.pop(), commands.is_empty()) {
        (Some(command), true) => Ok(command),
        _ => Err(words.error(0, Problem::Missing("exactly one command"))),
    }
}

const COMMANDS: &str = "start, open, stop, kill, pause, resume, restart, roll, cut, heal, hold, \
                        delay, expire, create, add, alter, elect, metadata, list, delete, \
                        produce, commit, tune or zk";

/// A command; `start broker 1..3` is three.
fn commands(words: &mut Words<'_>) -> Parsed<Vec<Command>> {
    let (at, verb) = words.next("a command")?;
    let command = match verb {
        "start" => return start(words),
        "open" => open(words)?,
        "stop" => Command::Stop(who(words)?),
        "kill" => {
            words.take("-9");
            Command::Kill(who(words)?)
        }
        "pause" => {
            let who = who(words)?;
            words.take("for");
            Command::Pause { who, span: words.span("how long")? }
        }
        "restart" => Command::Restart(who(words)?),
        "roll" => {
            words.expect("brokers")?;
            Command::RollBrokers
        }
        "resume" => Command::Resume(who(words)?),
        "expire" => Command::Expire(who(words)?),
        "cut" | "heal" => link(words, verb == "cut")?,
        "hold" | "delay" => bent(words, verb == "hold")?,
        "create" => create_topic(words)?,
        "add" | "alter" | "elect" | "metadata" | "list" | "reassign" | "cancel" | "verify" => {
            Command::Admin(Arc::new(super::task::task(words, verb)?))
        }
        "delete" => {
            words.expect("topic")?;
            Command::DeleteTopic { topic: words.name("a topic", limits::TOPIC_NAME)? }
        }
        "produce" => super::clients::produce(words)?,
        "commit" => Command::Commit { consumer: words.name("a consumer", limits::CLIENT_NAME)? },
        "tune" => super::clients::tune(words)?,
        "zk" => {
            let client = words.name("a client", limits::CLIENT_NAME)?;
            let line: Arc<str> = words.rest().into();
            if line.is_empty() {
                return Err(words.error(words.text.len(), Problem::Missing("a shell command")));
            }
            Command::Zk { client, line }
        }
        _ if STATEMENTS.contains(verb) => return Err(words.unknown(at, verb, COMMANDS)),
        _ => return Err(words.unknown(at, verb, STATEMENTS)),
    };
    words.end()?;
    Ok(vec![command])
}

/// `cut X` is the link to ZooKeeper, `cut X from Y` the one between the two.
/// `hold X from Y 2s` and `delay X from Y 200ms`; without `from` the link to ZooKeeper.
fn bent(words: &mut Words<'_>, hold: bool) -> Parsed<Command> {
    let a = who(words)?;
    let b = if words.take("from") { who(words)? } else { Who::ZooKeeper };
    words.take(if hold { "for" } else { "by" });
    let span = words.span("how long")?;
    Ok(match hold {
        true => Command::HoldLink { a, b, span },
        false => Command::DelayLink { a, b, by: span },
    })
}

fn link(words: &mut Words<'_>, cut: bool) -> Parsed<Command> {
    let a = who(words)?;
    if !words.take("from") {
        return Ok(if cut { Command::Cut(a) } else { Command::Heal(a) });
    }
    let b = who(words)?;
    Ok(if cut { Command::CutPeers { a, b } } else { Command::HealPeers { a, b } })
}

const PROCESSES: &str = "broker, client, consumer, producer or zookeeper";

fn who(words: &mut Words<'_>) -> Parsed<Who> {
    let (at, word) = words.next(PROCESSES)?;
    match word {
        "broker" => {
            let high = u64::from(limits::BROKER_ID);
            let (at, word) = words.next("a broker id")?;
            let Some((id, host)) = word.split_once('@') else {
                return Ok(Who::Broker(words.parse_number(at, word, 0, high)? as u32));
            };
            let id = words.parse_number(at, id, 0, high)? as u32;
            match crate::world::check_name(host, limits::CLIENT_NAME) {
                Ok(()) => Ok(Who::Machine(id, host.into())),
                Err(_) => Err(words.error(at, Problem::BadName(shorten(word)))),
            }
        }
        "client" => Ok(Who::Client(words.name("a client", limits::CLIENT_NAME)?)),
        "zookeeper" => Ok(Who::ZooKeeper),
        "consumer" => Ok(Who::Consumer(words.name("a consumer", limits::CLIENT_NAME)?)),
        "producer" => Ok(Who::Producer(words.name("a producer", limits::CLIENT_NAME)?)),
        _ => Err(words.unknown(at, word, PROCESSES)),
    }
}

fn start(words: &mut Words<'_>) -> Parsed<Vec<Command>> {
    let (at, word) = words.next("broker, consumer, producer or zookeeper")?;
    match word {
        "zookeeper" => {
            words.end()?;
            return Ok(vec![Command::StartZooKeeper]);
        }
        "broker" => {}
        "consumer" => return super::clients::start_consumer(words),
        "producer" => return super::clients::start_producer(words),
        _ => return Err(words.unknown(at, word, "broker, consumer, producer or zookeeper")),
    }
    let (at, ids) = words.next("a broker id")?;
    let high = u64::from(limits::BROKER_ID);
    let (first, last) = match ids.split_once("..") {
        Some((first, last)) => {
            let column = at + first.len() + 2;
            let first = words.parse_number(at, first, 0, high)?;
            (first, words.parse_number(column, last, first, high)?)
        }
        None => {
            let id = words.parse_number(at, ids, 0, high)?;
            (id, id)
        }
    };
    if last - first >= limits::BROKERS as u64 {
        let high = limits::BROKERS as u64;
        let problem = Problem::OutOfRange { given: last - first + 1, low: 1, high };
        return Err(words.error(at, problem));
    }
    let (mut host, mut rack) = (None, None);
    while let Some(word) = words.peek() {
        let at = words.at;
        words.at += word.len();
        match word {
            "host" => host = Some(words.name("a host", limits::CLIENT_NAME)?),
            "rack" => rack = Some(words.name("a rack", limits::CLIENT_NAME)?),
            _ => return Err(words.unknown(at, word, "host or rack")),
        }
    }
    let command =
        |id| Command::StartBroker { id: id as u32, host: host.clone(), rack: rack.clone() };
    Ok((first..=last).map(command).collect())
}

fn open(words: &mut Words<'_>) -> Parsed<Command> {
    words.expect("client")?;
    let name = words.name("a name", limits::CLIENT_NAME)?;
    let mut timeout_ms = None;
    if words.take("timeout") {
        words.skip_blanks();
        let at = words.at;
        let ms = words.span("a session timeout")?.millis();
        let problem = Problem::OutOfRange { given: ms, low: 1, high: 600_000 };
        if !(1..=600_000).contains(&ms) {
            return Err(words.error(at, problem));
        }
        timeout_ms = i32::try_from(ms).ok();
    }
    Ok(Command::OpenClient { name, timeout_ms })
}

fn create_topic(words: &mut Words<'_>) -> Parsed<Command> {
    words.expect("topic")?;
    let topic = words.name("a topic", limits::TOPIC_NAME)?;
    let layout = super::task::layout(words)?;
    let configs = super::task::pairs(words, "config")?;
    Ok(match layout {
        Layout::Counts { partitions, replication } if configs.is_empty() => {
            Command::CreateTopic { topic, partitions, replication }
        }
        layout => Command::Admin(Arc::new(Task::Create { topic, layout, configs })),
    })
}
