//! The whole shell against the model's server. What is expected here was compared with
//! recordings of the real zkCli 3.8.4 and 3.9.5.

use expect_test::{Expect, expect};

use super::*;
use crate::base::Span;
use crate::zk::op::{ConnId, SessionId, ToServer};
use crate::zk::server::{Config, Server, ServerOut};

const PEER: [u8; 4] = [127, 0, 0, 1];

/// A shell and a server with nothing between them.
struct Rig {
    shell: Shell,
    server: Server,
    rng: Rng,
    now: Instant,
    conn: Option<ConnId>,
    opened: u32,
    reachable: bool,
    said: Vec<ShellOut>,
}

impl Rig {
    fn new(release: Release) -> Rig {
        let wall_ms_at_zero = 1_420_070_400_000;
        let config =
            Config { release, wall_ms_at_zero, extended_types: true, ..Config::default() };
        let mut rig = Rig {
            shell: Shell::new(ZkSettings { release, session_timeout_ms: 30_000 }),
            server: Server::new(config),
            rng: Rng::new(1),
            now: Instant::ZERO,
            conn: None,
            opened: 0,
            reachable: true,
            said: Vec::new(),
        };
        let mut out = Vec::new();
        rig.shell.start(rig.now, &mut rig.rng, &mut out);
        rig.settle(out);
        rig.wait(Span::from_secs(2));
        rig
    }

    /// Carries out what the shell asks until both are quiet.
    fn settle(&mut self, out: Vec<ShellOut>) {
        let mut queue = VecDeque::from(out);
        while let Some(said) = queue.pop_front() {
            match &said {
                ShellOut::Io(Io::Open) if self.reachable => {
                    self.opened += 1;
                    self.conn = Some(ConnId(self.opened));
                    self.input(ZkInput::Opened, &mut queue);
                }
                ShellOut::Io(Io::Open) => self.input(ZkInput::Closed, &mut queue),
                ShellOut::Io(Io::Send(frame)) => self.serve(frame.clone(), &mut queue),
                ShellOut::Io(Io::Close) => self.conn = None,
                _ => {}
            }
            self.said.push(said);
        }
    }

    fn serve(&mut self, frame: ToServer, queue: &mut VecDeque<ShellOut>) {
        let Some(conn) = self.conn.filter(|_| self.reachable) else { return };
        let mut out = Vec::new();
        self.server.receive(self.now, conn, PEER, frame, &mut out);
        for said in out {
            match said {
                ServerOut::Send { frame, .. } => self.input(ZkInput::Frame(frame), queue),
                ServerOut::Close { .. } => self.input(ZkInput::Closed, queue),
                ServerOut::Txn(_) => {}
            }
        }
    }

    fn input(&mut self, input: ZkInput, queue: &mut VecDeque<ShellOut>) {
        let mut out = Vec::new();
        self.shell.input(self.now, &mut self.rng, input, &mut out);
        queue.extend(out);
    }

    /// Lets time pass for the shell; the server stands still.
    fn wait(&mut self, span: Span) {
        let until = self.now + span;
        while self.shell.next_deadline() <= until {
            self.now = self.shell.next_deadline().max(self.now);
            let mut queue = VecDeque::new();
            self.input(ZkInput::Due, &mut queue);
            self.settle(queue.into());
        }
        self.now = until;
    }

    fn run(&mut self, line: &str) {
        let mut out = Vec::new();
        self.shell.run(self.now, line, &mut out);
        self.settle(out);
    }

    /// The screen since the last look, with the kind of each line in front.
    fn screen(&mut self) -> String {
        let mut text = String::new();
        for said in std::mem::take(&mut self.said) {
            let ShellOut::Line(line) = said else { continue };
            let mark = match line.kind {
                LineKind::Command => "",
                LineKind::Output => "  ",
                LineKind::Error => "! ",
                LineKind::Watcher => "* ",
            };
            text += format!("{mark}{}", line.text).trim_end();
            text.push('\n');
        }
        text
    }
}

fn transcript(release: Release, lines: &[&str]) -> String {
    let mut rig = Rig::new(release);
    rig.screen();
    for line in lines {
        rig.run(line);
    }
    rig.screen()
}

fn shows(lines: &[&str], expected: &Expect) {
    expected.assert_eq(&transcript(Release::V3_8_4, lines));
}

#[test]
fn compare() {
    let Ok(file) = std::env::var("ZKCLI_SCRIPT") else { return };
    let text = std::fs::read_to_string(&file).unwrap();
    let release = Release::parse(&std::env::var("ZKCLI_RELEASE").unwrap()).unwrap();
    let mut rig = Rig::new(release);
    for line in text.lines() {
        let seen = rig.said.len();
        rig.run(line);
        println!(">>> {line}");
        for said in &rig.said[seen..] {
            if let ShellOut::Line(line) = said {
                if line.kind != LineKind::Command {
                    println!("| {}", line.text);
                }
            }
        }
    }
}
