//! Plays steps against one server, ours or a real one. What a client decides by itself (the zxid
//! that it names, the watches that it puts back) is decided here, once for both.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::zk::op::{ConnectRequest, Error, Op, Release, SessionId, Zxid};
use kafkascope_core::zk::watcher::{WatchTables, WatcherId};

use super::seen::{Answer, Names, Seen};
use super::{SHORT_MS, Trouble};

/// What a client that resumes its session says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Honest,
    WrongPassword,
    /// It has seen more than the server knows.
    FromTheFuture,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new session. What the slot had before is left to itself.
    Open { slot: usize, timeout_ms: i32 },
    /// Requests that are all sent before the first answer is read.
    Ask { slot: usize, ops: Vec<Op> },
    /// The connection goes without a word.
    Drop { slot: usize },
    /// A new connection for the session; an older one that still stands is taken over.
    Resume { slot: usize, claim: Claim, rearm: bool },
    /// The client comes back with the shortest timeout, then says nothing more until its session
    /// has expired. `away`: it has cut its connection too.
    Expire { slot: usize, away: bool },
}

/// What came of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    pub lines: Vec<String>,
    /// Whose connection the server has closed.
    pub closed: BTreeSet<usize>,
}

/// A server as its clients reach it.
pub trait Side {
    /// Opens the connection of a slot and sends `then` right behind the connect request. An older
    /// connection of the slot is expected to be closed by that; its frames come first.
    fn open(&mut self, slot: usize, hello: &Hello) -> Result<Vec<Seen>, Trouble>;
    /// Sends all, and reads until all is answered or the connection closed.
    fn ask(&mut self, slot: usize, requests: &[(i32, Op)]) -> Result<Vec<Seen>, Trouble>;
    /// A ping and what comes until its answer; `closing`: what comes until the end.
    fn settle(&mut self, slot: usize, closing: bool) -> Result<Vec<Seen>, Trouble>;
    fn hang_up(&mut self, slot: usize) -> Result<(), Trouble>;
    /// Waits until a silent session has expired.
    fn expire(&mut self, slot: usize, session: i64) -> Result<Vec<Seen>, Trouble>;
    /// Every node and every session, a line each.
    fn contents(&mut self, names: &Names) -> Result<Vec<String>, Trouble>;
}

/// How a connection begins.
pub struct Hello {
    pub request: ConnectRequest,
    pub right_password: bool,
    pub then: Vec<(i32, Op)>,
}

/// One client: a session and perhaps a connection.
pub struct Slot {
    pub open: bool,
    pub session: Option<i64>,
    last_zxid: Zxid,
    tables: WatchTables,
    next_xid: i32,
    sent: BTreeMap<i32, Op>,
}

pub struct Player<S> {
    pub side: S,
    pub slots: Vec<Slot>,
    release: Release,
    names: Names,
    now: Observed,
}

const XID_AUTH: i32 = -4;
const XID_SET_WATCHES: i32 = -8;

impl<S: Side> Player<S> {
    pub fn new(side: S, slots: usize, release: Release) -> Player<S> {
        let slot = || Slot {
            open: false,
            session: None,
            last_zxid: 0,
            tables: WatchTables::new(release),
            next_xid: 0,
            sent: BTreeMap::new(),
        };
        Player {
            side,
            slots: (0..slots).map(|_| slot()).collect(),
            release,
            names: Names::default(),
            now: Observed::default(),
        }
    }

    /// Plays one step and waits until every connection is quiet. `expected` is what our server did:
    /// it tells which connections end, so that the others can be asked for a pong.
    pub fn step(&mut self, step: &Step, expected: Option<&Observed>) -> Result<Observed, Trouble> {
        match step {
            Step::Open { slot, timeout_ms } => self.open(*slot, *timeout_ms)?,
            Step::Ask { slot, ops } if self.slots[*slot].open && !ops.is_empty() => {
                self.ask(*slot, ops)?;
            }
            Step::Drop { slot } if self.slots[*slot].open => self.hang_up(*slot)?,
            Step::Resume { slot, claim, rearm } => self.resume(*slot, *claim, *rearm)?,
            Step::Expire { slot, away } => self.expire(*slot, *away)?,
            Step::Ask { .. } | Step::Drop { .. } => {}
        }
        // Our server has no delay: what it closes is closed before anybody else is asked.
        for closing in [true, false] {
            for slot in 0..self.slots.len() {
                let ends = expected.is_some_and(|all| all.closed.contains(&slot));
                if self.slots[slot].open && ends == closing {
                    let seen = self.side.settle(slot, closing)?;
                    self.take(slot, seen);
                }
            }
        }
        Ok(std::mem::take(&mut self.now))
    }

    pub fn contents(&mut self) -> Result<Vec<String>, Trouble> {
        self.side.contents(&self.names)
    }

    fn open(&mut self, slot: usize, timeout_ms: i32) -> Result<(), Trouble> {
        if self.slots[slot].open {
            self.hang_up(slot)?;
        }
        let it = &mut self.slots[slot];
        (it.session, it.last_zxid) = (None, 0);
        it.tables = WatchTables::new(self.release);
        let request =
            ConnectRequest { session: SessionId(0), password: 0, timeout_ms, last_zxid_seen: 0 };
        self.greet(slot, &Hello { request, right_password: true, then: Vec::new() })?;
        Ok(())
    }

    /// True if the server accepts.
    fn greet(&mut self, slot: usize, hello: &Hello) -> Result<bool, Trouble> {
        let it = &mut self.slots[slot];
        it.open = true;
        it.sent = hello.then.iter().cloned().collect();
        let seen = self.side.open(slot, hello)?;
        let fresh = |seen: &Seen| match seen {
            Seen::Connected { session, .. } if *session != 0 => Some(*session),
            _ => None,
        };
        let session = seen.iter().find_map(fresh);
        if let Some(session) = session {
            self.names.add(session);
            self.slots[slot].session = Some(session);
        }
        // An older connection's end does not end the new one.
        let refused = session.is_none();
        self.take(slot, seen);
        self.slots[slot].open &= !refused;
        Ok(!refused)
    }

    fn ask(&mut self, slot: usize, ops: &[Op]) -> Result<(), Trouble> {
        let it = &mut self.slots[slot];
        let mut requests = Vec::with_capacity(ops.len());
        for op in ops {
            it.next_xid += 1;
            let xid = if matches!(op, Op::AddAuth { .. }) { XID_AUTH } else { it.next_xid };
            requests.push((xid, op.clone()));
        }
        it.sent = requests.iter().cloned().collect();
        let seen = self.side.ask(slot, &requests)?;
        self.take(slot, seen);
        if ops.contains(&Op::CloseSession) {
            self.slots[slot].session = None;
        }
        Ok(())
    }

    fn hang_up(&mut self, slot: usize) -> Result<(), Trouble> {
        self.slots[slot].open = false;
        self.side.hang_up(slot)
    }

    fn resume(&mut self, slot: usize, claim: Claim, rearm: bool) -> Result<(), Trouble> {
        let it = &self.slots[slot];
        let Some(session) = it.session else { return Ok(()) };
        // Such a claim is refused before the older connection is looked for.
        let ahead = claim == Claim::FromTheFuture;
        if ahead && it.open {
            return Ok(());
        }
        let hello = Hello {
            request: ConnectRequest {
                session: SessionId(session),
                password: 0,
                timeout_ms: 30_000,
                last_zxid_seen: it.last_zxid + if ahead { 1_000 } else { 0 },
            },
            right_password: claim != Claim::WrongPassword,
            then: self.put_back(slot, rearm && claim == Claim::Honest),
        };
        let accepted = self.greet(slot, &hello)?;
        if !accepted && claim == Claim::Honest {
            self.slots[slot].session = None;
        }
        Ok(())
    }

    /// The request that puts the watches of a client back in place, if there are any.
    fn put_back(&self, slot: usize, wanted: bool) -> Vec<(i32, Op)> {
        let it = &self.slots[slot];
        let set = it.tables.rearm(it.last_zxid).filter(|_| wanted);
        set.into_iter().map(|set| (XID_SET_WATCHES, Op::SetWatches(Box::new(set)))).collect()
    }

    fn expire(&mut self, slot: usize, away: bool) -> Result<(), Trouble> {
        let Some(session) = self.slots[slot].session else { return Ok(()) };
        if self.slots[slot].open {
            self.hang_up(slot)?;
        }
        let hello = Hello {
            request: ConnectRequest {
                session: SessionId(session),
                password: 0,
                timeout_ms: SHORT_MS,
                last_zxid_seen: self.slots[slot].last_zxid,
            },
            right_password: true,
            then: self.put_back(slot, true),
        };
        let before = self.now.lines.len();
        if !self.greet(slot, &hello)? {
            self.slots[slot].session = None;
            return Ok(());
        }
        let replies = self.now.lines[before..].iter().filter(|line| line.contains(" reply "));
        if replies.count() < hello.then.len() {
            return Err(Trouble::Timing);
        }
        if away {
            self.hang_up(slot)?;
        }
        let mut seen = self.side.expire(slot, session)?;
        // The server cuts the connection while another of its threads may still write the events
        // of the session's own end to it: nothing says whether they arrive.
        seen.retain(|seen| !matches!(seen, Seen::Event { .. }));
        self.take(slot, seen);
        Ok(())
    }

    /// Writes down what came, and does what a client does about it.
    fn take(&mut self, slot: usize, seen: Vec<Seen>) {
        let connects = seen.iter().any(|seen| matches!(seen, Seen::Connected { .. }));
        for seen in seen {
            self.now.lines.push(format!("{} {}", name(slot), self.names.line(&seen)));
            let it = &mut self.slots[slot];
            match seen {
                Seen::Reply { xid, zxid, answer } => {
                    it.last_zxid = if zxid > 0 { zxid } else { it.last_zxid };
                    if let Some(op) = it.sent.remove(&xid) {
                        it.answered(&op, &answer);
                    }
                }
                Seen::Event { kind, path, .. } => {
                    it.tables.materialize(kind, &path);
                }
                Seen::Closed if !connects => {
                    it.open = false;
                    self.now.closed.insert(slot);
                }
                _ => {}
            }
        }
    }
}

impl Slot {
    fn answered(&mut self, op: &Op, answer: &Answer) {
        let result = match answer {
            Answer::Good(_) => Ok(()),
            Answer::Failed { code, .. } => {
                let known = Error::ALL.into_iter().find(|error| error.code() == *code);
                Err(known.unwrap_or(Error::MarshallingError))
            }
        };
        match op {
            Op::Exists { watch: true, .. }
            | Op::GetData { watch: true, .. }
            | Op::GetChildren { watch: true, .. }
            | Op::AddWatch { .. } => self.tables.register(op, WatcherId(1), result),
            Op::RemoveWatches { path, kind } => {
                let _ = self.tables.remove(path, None, *kind, result);
            }
            _ => {}
        }
    }
}

pub fn name(slot: usize) -> char {
    char::from(b'A' + u8::try_from(slot % 26).unwrap_or(0))
}
