//! Commands in progress: what they send, and what they make of the answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::parse::{Command, Format};
use super::{DONE, Ended, LineKind, Out, Shell, ShellOut, WATCHER, help, print};
use crate::base::{Digest, Instant, Span};
use crate::zk::op::{Data, Error, Failure, Op, Path, Reply, Stat};
use crate::zk::path;

/// zkCli waits so long for `sync`.
const SYNC_TIMEOUT: Span = Span::from_secs(30);
/// Multis of `deleteall` without an answer.
const BATCHES_IN_FLIGHT: usize = 10;

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The command of this number.
    Command(u64),
    Close,
}

/// The command that runs.
#[derive(Clone, Debug)]
pub struct Running {
    command: Option<Command>,
    work: Work,
    /// When `sync` is given up.
    pub deadline: Instant,
}

/// Where a command of several requests stands.
#[derive(Clone, Debug)]
enum Work {
    One,
    /// `ls -R` and `setAcl -R`: what is left to do, the next one last.
    Walk {
        left: Vec<Visit>,
        current: Visit,
    },
    /// `deleteall` looks for all nodes below, level by level.
    List {
        tree: Vec<Path>,
        at: usize,
    },
    /// `deleteall` deletes from the end.
    Delete {
        left: Vec<Path>,
        in_flight: usize,
        failed: bool,
        last: Option<Path>,
    },
}

#[derive(Clone, Debug)]
enum Visit {
    Data(Path),
    Children(Path),
    SetAcl(Path),
}

impl Running {
    pub fn idle() -> Running {
        Running { command: None, work: Work::One, deadline: Instant::NEVER }
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.deadline.micros());
        let (step, sizes) = match &self.work {
            Work::One => (1, [0, 0]),
            Work::Walk { left, .. } => (2, [left.len(), 0]),
            Work::List { tree, at } => (3, [tree.len(), *at]),
            Work::Delete { left, in_flight, .. } => (4, [left.len(), *in_flight]),
        };
        digest.u64(step);
        for size in sizes {
            digest.u64(size as u64);
        }
    }
}

/// The path that an exception of the library names; some calls give it none.
fn path_of(command: &Command) -> Option<&str> {
    match command {
        Command::Ls { path, .. }
        | Command::Get { path, .. }
        | Command::Stat { path, .. }
        | Command::Create { path, .. }
        | Command::Set { path, .. }
        | Command::Delete { path, .. }
        | Command::DeleteAll { path, .. }
        | Command::Sync { path }
        | Command::AddWatch { path, .. }
        | Command::RemoveWatches { path, .. }
        | Command::GetAllChildrenNumber { path }
        | Command::GetAcl { path, .. }
        | Command::SetAcl { path, .. } => Some(path),
        Command::GetEphemerals { .. }
        | Command::AddAuth { .. }
        | Command::WhoAmI
        | Command::Version
        | Command::Close => None,
    }
}

/// The first request of a command; `None` for what needs no server.
fn first_op(command: &Command) -> Option<Op> {
    Some(match command {
        Command::Ls { path: p, recursive: true, watch, .. } => {
            Op::GetData { path: p.clone(), watch: *watch }
        }
        Command::Ls { path: p, watch, .. } => Op::GetChildren { path: p.clone(), watch: *watch },
        Command::Get { path: p, watch, .. } => Op::GetData { path: p.clone(), watch: *watch },
        Command::Stat { path: p, watch } => Op::Exists { path: p.clone(), watch: *watch },
        Command::Create { path: p, data, acl, mode, ttl_ms } => Op::Create {
            path: p.clone(),
            data: data.clone(),
            acl: acl.clone(),
            mode: *mode,
            ttl_ms: *ttl_ms,
        },
        Command::Set { path: p, data, version, .. } => {
            Op::SetData { path: p.clone(), data: data.clone(), version: *version }
        }
        Command::Delete { path: p, version } => Op::Delete { path: p.clone(), version: *version },
        Command::DeleteAll { path: p, .. } => Op::GetChildren { path: p.clone(), watch: false },
        Command::Sync { path: p } => Op::Sync { path: p.clone() },
        Command::AddWatch { path: p, mode } => Op::AddWatch { path: p.clone(), mode: *mode },
        Command::RemoveWatches { path: p, kind } => {
            Op::RemoveWatches { path: p.clone(), kind: *kind }
        }
        Command::GetEphemerals { prefix } => Op::GetEphemerals { prefix: prefix.clone() },
        Command::GetAllChildrenNumber { path: p } => Op::GetAllChildrenNumber { path: p.clone() },
        Command::GetAcl { path: p, .. } => Op::GetAcl { path: p.clone() },
        Command::SetAcl { path: p, recursive: true, .. } => {
            Op::GetData { path: p.clone(), watch: false }
        }
        Command::SetAcl { path: p, acl, version, .. } => {
            Op::SetAcl { path: p.clone(), acl: acl.clone(), version: *version }
        }
        Command::AddAuth { scheme, auth } => {
            Op::AddAuth { scheme: scheme.clone(), auth: auth.clone() }
        }
        Command::WhoAmI => Op::WhoAmI,
        Command::Version | Command::Close => return None,
    })
}

fn first_work(command: &Command) -> Work {
    match command {
        Command::Ls { path, recursive: true, .. }
        | Command::SetAcl { path, recursive: true, .. } => {
            Work::Walk { left: Vec::new(), current: Visit::Data(path.clone()) }
        }
        Command::DeleteAll { path, .. } => Work::List { tree: vec![path.clone()], at: 0 },
        _ => Work::One,
    }
}

impl Shell {
    pub(super) fn carry_out(&mut self, now: Instant, command: Command, out: &mut Out) -> Ended {
        match first_op(&command) {
            Some(op) => {
                let sync = matches!(command, Command::Sync { .. });
                self.running = Some(Running {
                    work: first_work(&command),
                    command: Some(command),
                    deadline: if sync { now + SYNC_TIMEOUT } else { Instant::NEVER },
                });
                self.send(now, op, out);
                None
            }
            None if command == Command::Close => {
                self.running = Some(Running::idle());
                self.session.close(now, What::Command(self.count));
                None
            }
            None => {
                let text = format!("ZooKeeper CLI version: {}", help::version(self.release()));
                self.print(LineKind::Output, &text, out);
                DONE
            }
        }
    }

    fn send(&mut self, now: Instant, op: Op, out: &mut Out) {
        let watcher = match &op {
            Op::Exists { watch: true, .. }
            | Op::GetData { watch: true, .. }
            | Op::GetChildren { watch: true, .. }
            | Op::AddWatch { .. } => Some(WATCHER),
            _ => None,
        };
        out.push(ShellOut::Sent(op.clone()));
        self.session.submit(now, op, watcher, What::Command(self.count));
    }

    pub(super) fn give_up_sync(&mut self, out: &mut Out) {
        // The exception of a timeout has no message, and zkCli prints just that.
        self.print(LineKind::Error, "null", out);
        self.finish(Some(Error::OperationTimeout), out);
    }

    pub(super) fn answered(
        &mut self,
        now: Instant,
        what: What,
        result: Result<Reply, Failure>,
        out: &mut Out,
    ) {
        // An answer to a command that was given up interests nobody.
        if what != What::Command(self.count) {
            return;
        }
        let Some(mut running) = self.running.take() else { return };
        let Some(command) = running.command.take() else {
            self.running = Some(running);
            self.finish(result.err().map(|failure| failure.error), out);
            return;
        };
        let result = result.map_err(|failure| failure.error);
        let ended = match &mut running.work {
            Work::One => Some(self.show(&command, result, out)),
            Work::Walk { left, current } => self.walk(now, &command, (left, current), result, out),
            work @ Work::List { .. } => self.list(now, &command, work, result, out),
            work @ Work::Delete { .. } => self.delete(now, &command, work, result.err(), out),
        };
        running.command = Some(command);
        self.running = Some(running);
        if let Some(error) = ended {
            self.finish(error, out);
        }
    }

    /// Prints why a command failed.
    fn failed(&mut self, error: Error, path: Option<&str>, out: &mut Out) -> Option<Error> {
        self.print(LineKind::Error, &print::failure(error, path), out);
        Some(error)
    }

    /// The answer to a command of one request.
    fn show(
        &mut self,
        command: &Command,
        result: Result<Reply, Error>,
        out: &mut Out,
    ) -> Option<Error> {
        let reply = match result {
            Ok(reply) => reply,
            Err(error) => {
                if let Command::Sync { .. } = command {
                    let text = format!("Sync has failed. rc={}", error.code());
                    self.print(LineKind::Output, &text, out);
                    return Some(error);
                }
                let path = path_of(command);
                if error == Error::InvalidAcl && matches!(command, Command::Create { .. }) {
                    self.print(LineKind::Error, &print::keeper_exception(error, path), out);
                }
                return self.failed(error, path, out);
            }
        };
        match (command, reply) {
            (Command::Ls { stat, .. }, Reply::Children { mut children, stat: given }) => {
                children.sort();
                self.print(LineKind::Output, &print::list(&children), out);
                self.show_stat(*stat, &given, out);
            }
            (Command::Get { stat, format, .. }, Reply::Data { data, stat: given }) => {
                self.show_data(&data, *format, out);
                self.show_stat(*stat, &given, out);
            }
            (Command::Stat { .. }, Reply::Stat(given)) => self.show_stat(true, &given, out),
            (Command::Create { .. }, Reply::Create { path, .. }) => {
                // zkCli says this on its error stream, yet it is no error.
                self.print(LineKind::Output, &format!("Created {path}"), out);
            }
            (Command::Set { stat, .. } | Command::SetAcl { stat, .. }, Reply::Stat(given)) => {
                self.show_stat(*stat, &given, out);
            }
            (Command::GetAcl { stat, .. }, Reply::Acl { acl, stat: given }) => {
                self.print_all(LineKind::Output, &print::acl(&acl), out);
                self.show_stat(*stat, &given, out);
            }
            (Command::GetEphemerals { .. }, Reply::Ephemerals(paths)) => {
                self.print(LineKind::Output, &print::list(&paths), out);
            }
            (Command::GetAllChildrenNumber { .. }, Reply::ChildrenNumber(number)) => {
                self.print(LineKind::Output, &number.to_string(), out);
            }
            (Command::WhoAmI, Reply::WhoAmI(who)) => {
                self.print(LineKind::Output, "Auth scheme: User", out);
                for (scheme, id) in who {
                    self.print(LineKind::Output, &format!("{scheme}: {id}"), out);
                }
            }
            (Command::Sync { .. }, _) => self.print(LineKind::Output, "Sync is OK", out),
            _ => {}
        }
        None
    }

    fn show_stat(&mut self, wanted: bool, stat: &Stat, out: &mut Out) {
        if wanted {
            self.print_all(LineKind::Output, &print::stat(stat), out);
        }
    }

    /// Null is shown as the word, in every format.
    fn show_data(&mut self, data: &Data, format: Format, out: &mut Out) {
        let data = data.as_deref().unwrap_or(b"null");
        match format {
            Format::Plain => {
                self.print(LineKind::Output, &String::from_utf8_lossy(data), out);
            }
            Format::Base64 => self.print(LineKind::Output, &STANDARD.encode(data), out),
            Format::HexDump => self.print_all(LineKind::Output, &print::hex_dump(data), out),
        }
    }

    /// `visitSubTreeDFS`: a node, then its children, then what is below each of them.
    fn walk(
        &mut self,
        now: Instant,
        command: &Command,
        (left, current): (&mut Vec<Visit>, &mut Visit),
        result: Result<Reply, Error>,
        out: &mut Out,
    ) -> Ended {
        let printing = matches!(command, Command::Ls { .. });
        match (&*current, result) {
            (Visit::Data(path), Ok(_)) => {
                left.push(Visit::Children(path.clone()));
                if printing {
                    self.print(LineKind::Output, path, out);
                } else {
                    left.push(Visit::SetAcl(path.clone()));
                }
            }
            (Visit::Children(path), Ok(Reply::Children { mut children, .. })) => {
                children.sort();
                let children: Vec<Path> =
                    children.iter().map(|name| path::join(path, name).into()).collect();
                left.extend(children.iter().rev().cloned().map(Visit::Children));
                if printing {
                    children.iter().for_each(|child| self.print(LineKind::Output, child, out));
                } else {
                    left.extend(children.iter().rev().cloned().map(Visit::SetAcl));
                }
            }
            // A node that was listed may be gone by now.
            (Visit::Children(_), Err(Error::NoNode)) | (_, Ok(_)) => {}
            (Visit::SetAcl(path), Err(error)) => {
                let text = print::keeper_exception(error, Some(path));
                self.print(LineKind::Output, &text, out);
            }
            (Visit::Data(path) | Visit::Children(path), Err(error)) => {
                return Some(self.failed(error, Some(path), out));
            }
        }
        let Some(next) = left.pop() else { return DONE };
        let watch = matches!(command, Command::Ls { watch: true, .. });
        let op = match (&next, command) {
            (Visit::SetAcl(path), Command::SetAcl { acl, version, .. }) => {
                Op::SetAcl { path: path.clone(), acl: acl.clone(), version: *version }
            }
            (Visit::Data(path) | Visit::Children(path) | Visit::SetAcl(path), _) => {
                Op::GetChildren { path: path.clone(), watch }
            }
        };
        *current = next;
        self.send(now, op, out);
        None
    }

    /// `listSubTreeBFS`.
    fn list(
        &mut self,
        now: Instant,
        command: &Command,
        work: &mut Work,
        result: Result<Reply, Error>,
        out: &mut Out,
    ) -> Ended {
        let Work::List { tree, at } = work else { return DONE };
        match result {
            Err(error) => {
                let path = tree.get(*at).cloned();
                return Some(self.failed(error, path.as_deref(), out));
            }
            Ok(Reply::Children { children, .. }) => {
                let parent = tree[*at].clone();
                tree.extend(children.iter().map(|child| path::join(&parent, child).into()));
            }
            Ok(_) => {}
        }
        *at += 1;
        if let Some(next) = tree.get(*at) {
            let op = Op::GetChildren { path: next.clone(), watch: false };
            self.send(now, op, out);
            return None;
        }
        let left = std::mem::take(tree);
        *work = Work::Delete { left, in_flight: 0, failed: false, last: None };
        self.delete_more(now, command, work, out)
    }

    fn delete(
        &mut self,
        now: Instant,
        command: &Command,
        work: &mut Work,
        error: Option<Error>,
        out: &mut Out,
    ) -> Ended {
        let Work::Delete { in_flight, failed, last, .. } = work else { return DONE };
        *in_flight -= 1;
        if let (Some(error), Command::DeleteAll { batch: ..=0, .. }) = (error, command) {
            let last = last.clone();
            return Some(self.failed(error, last.as_deref(), out));
        }
        *failed |= error.is_some();
        if *failed && *in_flight == 0 {
            let text = "Failed to delete some node(s) in the subtree!";
            self.print(LineKind::Error, text, out);
            return Some(error);
        }
        self.delete_more(now, command, work, out)
    }

    /// Leaves come first, the root last.
    fn delete_more(
        &mut self,
        now: Instant,
        command: &Command,
        work: &mut Work,
        out: &mut Out,
    ) -> Ended {
        let (Work::Delete { left, in_flight, failed, last }, Command::DeleteAll { batch, .. }) =
            (work, command)
        else {
            return DONE;
        };
        let batch = usize::try_from(*batch).unwrap_or(0);
        let at_once = if batch == 0 { 1 } else { BATCHES_IN_FLIGHT };
        while *in_flight < at_once && !*failed && !left.is_empty() {
            let op = if batch == 0 {
                *last = left.pop();
                let Some(path) = last.clone() else { break };
                Op::Delete { path, version: -1 }
            } else {
                let some = left.drain(left.len().saturating_sub(batch)..).rev();
                Op::Multi(some.map(|path| Op::Delete { path, version: -1 }).collect())
            };
            *in_flight += 1;
            self.send(now, op, out);
        }
        if *in_flight == 0 { DONE } else { None }
    }
}
