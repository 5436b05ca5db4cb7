//! A process's hold on ZooKeeper: the Java client plus what each outstanding request was
//! for.

use std::collections::{BTreeMap, VecDeque};

use crate::base::{Instant, Rng, Span};
use crate::zk::client::{Client, ClientConfig, ClientOut, KeeperState, Tag, WatcherId};
use crate::zk::op::{Failure, Op, Path, Reply, ToClient, ToServer};

/// What the network brings to a ZooKeeper client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZkInput {
    Opened,
    Closed,
    Frame(ToClient),
    /// The client's own timer.
    Due,
}

/// What a ZooKeeper client asks of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Io {
    Open,
    Send(ToServer),
    Close,
}

/// What a ZooKeeper client tells its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard<P> {
    Done { what: P, result: Result<Reply, Failure> },
    Event { watchers: Vec<WatcherId>, path: Path, kind: crate::zk::op::EventType },
    State(KeeperState),
    Io(Io),
}

/// `P` says what a request was for.
#[derive(Clone)]
pub struct Session<P> {
    client: Client,
    pending: BTreeMap<Tag, P>,
    next_tag: Tag,
    said: Vec<ClientOut>,
    waiting: VecDeque<ClientOut>,
}

impl<P> Session<P> {
    pub fn new(config: ClientConfig) -> Session<P> {
        Session {
            client: Client::new(config),
            pending: BTreeMap::new(),
            next_tag: 1,
            said: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn start(&mut self, now: Instant, rng: &mut Rng) {
        self.client.start(now, rng, &mut self.said);
    }

    pub fn submit(&mut self, now: Instant, op: Op, watcher: Option<WatcherId>, what: P) {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.pending.insert(tag, what);
        self.client.submit(now, tag, op, watcher, &mut self.said);
    }

    pub fn close(&mut self, now: Instant, what: P) {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.pending.insert(tag, what);
        self.client.close(now, tag, &mut self.said);
    }

    pub fn input(&mut self, now: Instant, rng: &mut Rng, input: ZkInput) {
        match input {
            ZkInput::Opened => self.client.opened(now, &mut self.said),
            ZkInput::Closed => self.client.closed(now, rng, &mut self.said),
            ZkInput::Frame(frame) => self.client.receive(now, rng, frame, &mut self.said),
            ZkInput::Due => self.client.due(now, rng, &mut self.said),
        }
    }

    /// The next thing the client said, oldest first.
    pub fn next_heard(&mut self) -> Option<Heard<P>> {
        loop {
            self.waiting.extend(self.said.drain(..));
            let heard = match self.waiting.pop_front()? {
                ClientOut::Open => Heard::Io(Io::Open),
                ClientOut::Close => Heard::Io(Io::Close),
                ClientOut::Send(frame) => Heard::Io(Io::Send(frame)),
                ClientOut::State { state, .. } => Heard::State(state),
                ClientOut::Event { watchers, kind, path, .. } => {
                    Heard::Event { watchers, path, kind }
                }
                ClientOut::Done { tag, result } => match self.pending.remove(&tag) {
                    Some(what) => Heard::Done { what, result },
                    None => continue,
                },
            };
            return Some(heard);
        }
    }

    pub fn next_deadline(&self) -> Instant {
        self.client.next_deadline()
    }

    /// Requests without an answer yet.
    pub fn outstanding(&self) -> usize {
        self.pending.len()
    }
}

/// How a process is set up towards ZooKeeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZkSettings {
    pub release: crate::zk::op::Release,
    pub session_timeout_ms: i32,
}

impl ZkSettings {
    pub fn client(self) -> ClientConfig {
        ClientConfig {
            release: self.release,
            session_timeout_ms: self.session_timeout_ms,
            servers: 1,
        }
    }
}

/// How long a process waits before it asks again for what wasn't ready.
pub const RETRY: Span = Span::from_millis(500);
