//! A consumer process that coordinates with its group through ZooKeeper: it registers, watches,
//! rebalances, fetches and commits. [spec consumer-zk.md, product.md T9 to T14]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::spec::{ConsumerSpec, Options};
use crate::base::{Digest, Instant};
use crate::kafka::broker::{Ctx, Effect, Input};
use crate::kafka::data::Offset;
use crate::kafka::msg::TopicPartition;
use crate::zk::hold::{Session, ZkSettings};

/// Whose rules it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// [product.md T9 to T14]
    Textbook,
    /// [spec consumer-zk.md]
    V08,
}

/// What the consumer's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    Commit,
    /// Until the next try to rebalance or register.
    Backoff,
    /// The application is done with what it had.
    Processed,
    /// Look for leaders again.
    Leaders,
}

/// Where it is in its life and in a rebalance, for those who look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Connecting,
    Registering,
    /// Its old registration is still there.
    WaitingForOldSession,
    /// Between rebalances.
    Fetching,
    Releasing,
    Assigning,
    Claiming,
    /// A try failed; the next one follows.
    BackingOff,
    /// It gave up, but stays registered. [spec consumer-zk.md B2]
    GaveUp,
    Closing,
}

/// A partition that it owns, by its own belief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub stream: u32,
    /// The next offset to fetch.
    pub fetched: Offset,
    /// The next offset that the application gets.
    pub position: Offset,
    /// What it last committed.
    pub committed: Option<Offset>,
    pub leader: Option<u32>,
}

/// What a request to ZooKeeper was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Thread { batch: u32, slot: u32 },
    Close,
}

#[derive(Clone)]
pub struct Connector {
    pub name: Arc<str>,
    /// `<group>_<name>` [spec consumer-zk.md R1]
    pub id: Arc<str>,
    pub rules: Rules,
    pub spec: Arc<ConsumerSpec>,
    pub options: Options,
    pub phase: Phase,
    /// The try of the current rebalance, from 0.
    pub attempt: u32,
    pub owned: BTreeMap<TopicPartition, Owned>,
    /// When the next automatic commit is due.
    pub commit_at: Instant,
    pub zk: Session<Pending>,
}

impl Connector {
    pub fn new(
        name: Arc<str>,
        rules: Rules,
        spec: Arc<ConsumerSpec>,
        mut zk: ZkSettings,
    ) -> Connector {
        let options = spec.options();
        zk.session_timeout_ms = options.session_timeout_ms.unwrap_or(zk.session_timeout_ms);
        Connector {
            id: format!("{}_{name}", spec.group).into(),
            name,
            rules,
            spec,
            options,
            phase: Phase::Connecting,
            attempt: 0,
            owned: BTreeMap::new(),
            commit_at: Instant::NEVER,
            zk: Session::new(zk.client()),
        }
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => self.zk.start(ctx.now, ctx.rng),
            Input::Stop => ctx.out.push(Effect::Exit),
            Input::Zk(input) => self.zk.input(ctx.now, ctx.rng, input),
            Input::Peer { .. } | Input::Timer(_) => {}
        }
    }

    /// Changes one of its [`Options`] while it runs.
    pub fn tune(&mut self, name: &str, value: &str) {
        _ = self.options.set(name, value);
    }

    /// `commitOffsets()`, called by the application.
    pub fn commit(&mut self, _ctx: &mut Ctx<'_>) {}

    pub fn digest(&self, digest: &mut Digest) {
        digest.text(&self.id);
        digest.u64(self.phase as u64);
        digest.u64(u64::from(self.attempt));
        for (tp, owned) in &self.owned {
            digest.text(&tp.topic);
            digest.u64(u64::from(tp.partition));
            digest.u64(owned.position);
        }
        self.zk.client().digest(digest);
    }
}
