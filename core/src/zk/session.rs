//! Sessions: their timeouts, when they expire, and the ephemerals that they hold.

use std::collections::{BTreeMap, BTreeSet};

use super::java;
use super::op::{ConnId, Path, Release, SessionId};
use crate::base::{Digest, Instant, Span};

/// One session of a server.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: SessionId,
    pub password: u64,
    pub timeout_ms: i32,
    /// The connection that speaks for it now.
    pub conn: Option<ConnId>,
    /// When it ends unless its client is heard from.
    pub deadline: Instant,
    pub ephemerals: Ephemerals,
}

/// The paths of a session's ephemerals as `java.util.HashSet` keeps them: the order in which they
/// go is its order, and its table never shrinks. [spec zookeeper.md S3]
#[derive(Clone, Debug)]
pub struct Ephemerals {
    order_of: BTreeMap<Path, u64>,
    next: u64,
    buckets: u32,
}

impl Default for Ephemerals {
    fn default() -> Self {
        Ephemerals { order_of: BTreeMap::new(), next: 0, buckets: java::FRESH }
    }
}

impl Ephemerals {
    pub fn insert(&mut self, path: &Path) {
        if !self.order_of.contains_key(path) {
            self.order_of.insert(path.clone(), self.next);
            self.next += 1;
            self.buckets = java::grown(self.buckets, self.order_of.len());
        }
    }

    pub fn remove(&mut self, path: &str) {
        self.order_of.remove(path);
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.order_of.keys()
    }

    /// The order in which they go with their session. Old releases walk the set itself, newer ones
    /// a clone that is made to fit and filled in the order of the walk. [spec zookeeper.md S3]
    pub fn in_order_of_removal(&self, release: Release) -> Vec<Path> {
        let mut entries: Vec<(u64, &Path)> = self.order_of.iter().map(|(p, n)| (*n, p)).collect();
        entries.sort_unstable();
        let mut paths: Vec<Path> = entries.into_iter().map(|(_, path)| path.clone()).collect();
        java::walk(&mut paths, self.buckets, |path| path);
        if release >= Release::V3_8_4 {
            let buckets = java::fitted(paths.len());
            java::walk(&mut paths, buckets, |path| path);
        }
        paths
    }

    fn digest(&self, digest: &mut Digest) {
        digest.u64(self.next);
        digest.u64(u64::from(self.buckets));
        for (path, order) in &self.order_of {
            digest.text(path);
            digest.u64(*order);
        }
    }
}

impl Session {
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.i64(self.id.0);
        digest.u64(self.password);
        digest.i64(i64::from(self.timeout_ms));
        digest.i64(self.conn.map_or(-1, |conn| i64::from(conn.0)));
        digest.u64(self.deadline.micros());
        self.ephemerals.digest(digest);
    }
}

/// What the server makes of a proposed timeout. [spec zookeeper.md S1]
pub fn negotiate(proposed_ms: i32, min_ms: i32, max_ms: i32) -> i32 {
    proposed_ms.max(min_ms).min(max_ms)
}

/// The moment, in whole ticks, at which a session that was heard from at `now_ms` expires. [spec
/// zookeeper.md S2]
pub fn expiry_ms(now_ms: u64, timeout_ms: u64, tick_ms: u64) -> u64 {
    let tick_ms = tick_ms.max(1);
    (now_ms.saturating_add(timeout_ms) / tick_ms).saturating_add(1).saturating_mul(tick_ms)
}

/// [`expiry_ms`] in virtual time.
pub(super) fn deadline(now: Instant, timeout_ms: i32, tick_ms: u32) -> Instant {
    let timeout_ms = u64::try_from(timeout_ms).unwrap_or(0);
    Instant::ZERO + Span::from_millis(expiry_ms(now.millis(), timeout_ms, u64::from(tick_ms)))
}

/// The first id that a server gives out: the moment of its start and its own number. [spec
/// zookeeper.md S8]
pub fn first_id(start_ms: i64, server_id: u8) -> i64 {
    let time = ((start_ms as u64) << 24) >> 8;
    (time | u64::from(server_id) << 56) as i64
}

/// Only who opened a session knows its password. Java draws it from the id and a constant.
pub(super) fn password(id: SessionId) -> u64 {
    let mut mixed = (id.0 as u64 ^ 0xb341_5c00).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Sessions by the moment at which they expire: all of one bucket go together. [spec zookeeper.md
/// S2]
#[derive(Clone, Debug, Default)]
pub struct Buckets(BTreeMap<Instant, BTreeSet<SessionId>>);

impl Buckets {
    pub fn insert(&mut self, at: Instant, id: SessionId) {
        self.0.entry(at).or_default().insert(id);
    }

    pub fn remove(&mut self, at: Instant, id: SessionId) {
        if let Some(bucket) = self.0.get_mut(&at) {
            bucket.remove(&id);
            if bucket.is_empty() {
                self.0.remove(&at);
            }
        }
    }

    pub fn next(&self) -> Instant {
        self.0.first_key_value().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Takes the first bucket out, if its time has come.
    pub fn take_due(&mut self, now: Instant) -> BTreeSet<SessionId> {
        match self.0.first_entry() {
            Some(first) if *first.key() <= now => first.remove(),
            _ => BTreeSet::new(),
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
