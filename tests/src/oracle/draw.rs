//! Draws a sequence of steps. Our own server plays along, so that what is drawn meets nodes,
//! versions and watches that are there, most of the time.

use std::sync::Arc;

use kafkascope_core::base::Rng;
use kafkascope_core::zk::op::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Op, Path, Release, WatcherType, open_acl,
};
use kafkascope_core::zk::server::Mutation;
use kafkascope_core::zk::tree::Znode;

use super::model::Model;
use super::player::{Claim, Player, Step};
use super::{OPERATIONS, Trouble};

pub struct Drawn {
    pub slots: usize,
    pub steps: Vec<Step>,
}

/// The sequence of one seed.
pub fn draw(seed: u64, release: Release, mutation: Option<Mutation>) -> Result<Drawn, Trouble> {
    let mut rng = Rng::new(seed);
    let slots = 3 + pick(&mut rng, 3);
    let mut player = Player::new(Model::new(release, mutation), slots, release);
    let mut steps = Vec::new();
    for at in 0..slots + OPERATIONS {
        let step = match at < slots {
            true => Step::Open { slot: at, timeout_ms: 30_000 },
            false => Draw { rng: &mut rng, player: &player }.step(),
        };
        player.step(&step, None)?;
        steps.push(step);
    }
    Ok(Drawn { slots, steps })
}

fn pick(rng: &mut Rng, bound: usize) -> usize {
    usize::try_from(rng.below(bound as u64)).unwrap_or(0)
}

/// What gives no sure answer with others right behind it. A real server finds changes that are
/// still in flight by their path, and the root has two: as a node it is `/`, as a parent it is
/// empty. So whether a create below the root already meets the root's new list is a matter of luck.
fn races(op: &Op) -> bool {
    matches!(op, Op::SetAcl { path, .. } if &**path == "/")
}

struct Draw<'a> {
    rng: &'a mut Rng,
    player: &'a Player<Model>,
}

impl Draw<'_> {
    fn one<T: Clone>(&mut self, from: &[T]) -> T {
        from[pick(self.rng, from.len())].clone()
    }

    fn step(&mut self) -> Step {
        let slot = pick(self.rng, self.player.slots.len());
        let it = &self.player.slots[slot];
        if it.session.is_none() {
            return Step::Open { slot, timeout_ms: self.one(&[30_000, 45_000, 100_000]) };
        }
        let claim = match self.rng.below(12) {
            0 => Claim::WrongPassword,
            1 if !it.open => Claim::FromTheFuture,
            _ => Claim::Honest,
        };
        let rearm = self.rng.chance(5, 6);
        let away = self.rng.chance(1, 2);
        let resume = Step::Resume { slot, claim, rearm };
        match (it.open, self.rng.below(100)) {
            (false, 0..15) => Step::Expire { slot, away },
            (false, _) => resume,
            (true, 0..4) => Step::Drop { slot },
            (true, 4..6) => resume,
            (true, 6..8) => Step::Expire { slot, away },
            (true, 8..10) => Step::Ask { slot, ops: vec![Op::CloseSession] },
            (true, 10..20) => {
                let count = 2 + pick(self.rng, 4);
                let mut ops: Vec<Op> = (0..count).map(|_| self.op()).collect();
                ops.retain(|op| !races(op));
                if ops.is_empty() {
                    ops.push(self.op());
                }
                Step::Ask { slot, ops }
            }
            (true, 20..23) => Step::Ask { slot, ops: vec![self.auth()] },
            (true, 23) => Step::Ask { slot, ops: vec![self.large()] },
            (true, 24..27) => Step::Ask { slot, ops: vec![self.herd()] },
            (true, _) => Step::Ask { slot, ops: vec![self.op()] },
        }
    }

    /// Just as much as fits into a packet, or a little more. It goes alone: the connection may be
    /// cut before answers to what went before are out.
    fn large(&mut self) -> Op {
        let path = self.path();
        let data = vec![b'x'; 1_048_540 - path.len() + pick(self.rng, 40)];
        Op::SetData { path, data: Some(data.into()), version: -1 }
    }

    /// Many at once below one node, so that Java's hash sets grow.
    fn herd(&mut self) -> Op {
        let parent = self.existing();
        let mode = self.one(&[CreateMode::EphemeralSequential, CreateMode::PersistentSequential]);
        let count = 3 + pick(self.rng, 14);
        let one = |draw: &mut Self| Op::Create {
            path: draw.below(&parent, &PREFIXES),
            data: None,
            acl: open_acl(),
            mode,
            ttl_ms: 0,
        };
        Op::Multi((0..count).map(|_| one(self)).collect())
    }

    fn auth(&mut self) -> Op {
        let pairs = [
            ("digest", "u:pw"),
            ("digest", "u:pw"),
            ("digest", "v:pw"),
            ("digest", "w:pw"),
            ("digest", "odd"),
            ("ip", "127.0.0.1"),
            ("nobody", "x"),
        ];
        let (scheme, auth) = self.one(&pairs);
        Op::AddAuth { scheme: scheme.into(), auth: auth.as_bytes().into() }
    }

    fn op(&mut self) -> Op {
        let watch = self.rng.chance(1, 2);
        match self.rng.below(100) {
            0..24 => self.create(),
            24..33 => self.delete(),
            33..43 => self.set_data(),
            43..51 => Op::Exists { path: self.path(), watch },
            51..58 => Op::GetData { path: self.path(), watch },
            58..66 => Op::GetChildren { path: self.path(), watch },
            66..70 => self.set_acl(),
            70..73 => Op::GetAcl { path: self.path() },
            73..79 => Op::Multi(self.parts()),
            79..82 => self.multi_read(),
            82..88 => {
                let modes = [AddWatchMode::Persistent, AddWatchMode::PersistentRecursive];
                Op::AddWatch { path: self.path(), mode: self.one(&modes) }
            }
            88..92 => Op::RemoveWatches { path: self.path(), kind: self.kind() },
            92..94 => Op::CheckWatches { path: self.path(), kind: self.kind() },
            94..95 => Op::Sync { path: self.path() },
            95..97 => Op::GetEphemerals { prefix: self.path() },
            97..98 => Op::GetAllChildrenNumber { path: self.path() },
            98..99 => Op::Unreadable { write: watch },
            _ => Op::WhoAmI,
        }
    }

    /// The numbers of the last two kinds came with 3.9.
    fn kind(&mut self) -> WatcherType {
        use WatcherType::{Any, Children, Data, Persistent, PersistentRecursive};
        self.one(&[Any, Any, Children, Data, Persistent, PersistentRecursive])
    }

    /// Every path but those of the server itself.
    fn paths(&self) -> Vec<String> {
        let mut found = vec![("/".to_owned(), self.player.side.server.tree().root())];
        let mut at = 0;
        while let Some((path, node)) = found.get(at).cloned() {
            let above = if path == "/" { String::new() } else { path };
            let below = node.children().map(|(name, node)| (format!("{above}/{name}"), node));
            found.extend(below.filter(|(path, _)| path != "/zookeeper"));
            at += 1;
        }
        found.into_iter().map(|(path, _)| path).collect()
    }

    fn existing(&mut self) -> String {
        let paths = self.paths();
        self.one(&paths)
    }

    fn below(&mut self, parent: &str, names: &[&str]) -> Path {
        let above = if parent == "/" { "" } else { parent };
        format!("{above}/{}", self.one(names)).into()
    }

    /// A path to read: mostly one that is there, or one that may come.
    fn path(&mut self) -> Path {
        match self.rng.below(20) {
            0..14 => self.existing().into(),
            14..18 => {
                let parent = self.existing();
                self.below(&parent, &NAMES)
            }
            18 => self.one(&SPECIAL).into(),
            _ => self.one(&BAD).into(),
        }
    }

    fn create(&mut self) -> Op {
        use CreateMode::{PersistentSequentialWithTtl, PersistentWithTtl};
        let mode = match self.rng.chance(1, 40) {
            // Off unless asked for.
            true => self.one(&[PersistentWithTtl, PersistentSequentialWithTtl]),
            false => self.usual_mode(),
        };

        let path = match self.rng.below(20) {
            0..2 => self.path(),
            2 => self.one(&BAD).into(),
            _ => {
                // A deep tree needs parents that last.
                let parent = self.existing();
                self.below(&parent, if mode.is_sequential() { &PREFIXES } else { &NAMES })
            }
        };
        let ttl_ms = if mode.has_ttl() { self.one(&[1_000, 0, -1, 1 << 40]) } else { 0 };
        Op::Create { path, data: self.data(), acl: self.acl(), mode, ttl_ms }
    }

    fn usual_mode(&mut self) -> CreateMode {
        use CreateMode::{
            Container, Ephemeral, EphemeralSequential, Persistent, PersistentSequential,
        };
        self.one(&[
            Persistent,
            Persistent,
            Persistent,
            Ephemeral,
            Ephemeral,
            PersistentSequential,
            EphemeralSequential,
            Container,
        ])
    }

    fn data(&mut self) -> Data {
        match self.rng.below(60) {
            0..6 => None,
            6..12 => Some(Arc::from([])),
            n => Some(format!("d{n}").into_bytes().into()),
        }
    }

    fn acl(&mut self) -> AclList {
        if self.rng.chance(4, 5) {
            return open_acl();
        }
        let mut entries = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let (scheme, id) = self.one(&SCHEMES);
            let perms = self.one(&[31, 31, 1, 3, 16, 17, 30, 14, 0]);
            entries.push(Acl { perms, scheme: scheme.into(), id: id.into() });
        }
        if self.rng.chance(1, 12) {
            entries.clear();
        }
        entries.into()
    }

    /// Any, the right one, or a wrong one.
    fn version(&mut self, path: &str, of: impl Fn(&Znode) -> i32) -> i32 {
        let is = self.player.side.server.tree().get(path).map_or(0, of);
        match self.rng.below(10) {
            0..5 => -1,
            5..8 => is,
            8 => is + 1,
            _ => -2,
        }
    }

    fn delete(&mut self) -> Op {
        let path = match self.rng.below(12) {
            0 => self.one(&SPECIAL).into(),
            _ => self.path(),
        };
        let version = self.version(&path, |node| node.version);
        Op::Delete { path, version }
    }

    fn set_data(&mut self) -> Op {
        let path = self.path();
        let version = self.version(&path, |node| node.version);
        Op::SetData { path, data: self.data(), version }
    }

    fn set_acl(&mut self) -> Op {
        let path = self.path();
        let version = self.version(&path, |node| node.aversion);
        Op::SetAcl { path, acl: self.acl(), version }
    }

    /// What a multi may hold, and rarely what it may not.
    fn parts(&mut self) -> Vec<Op> {
        let count = pick(self.rng, 6);
        let mut parts = Vec::new();
        for _ in 0..count {
            parts.push(match self.rng.below(40) {
                0..16 => self.create(),
                16..24 => self.delete(),
                24..32 => self.set_data(),
                32..39 => {
                    let path = self.path();
                    let version = self.version(&path, |node| node.version);
                    Op::Check { path, version }
                }
                _ => match self.rng.below(3) {
                    0 => self.set_acl(),
                    1 => Op::GetData { path: self.path(), watch: false },
                    _ => Op::GetChildren { path: self.path(), watch: false },
                },
            });
        }
        // A later part that builds on an earlier one.
        if let (Some(Op::Create { path, .. }), true) = (parts.first(), self.rng.chance(1, 2)) {
            let parent = path.to_string();
            let path = self.below(&parent, &NAMES);
            let (data, acl, mode) = (self.data(), self.acl(), CreateMode::Persistent);
            parts.push(Op::Create { path, data, acl, mode, ttl_ms: 0 });
        }
        parts
    }

    fn multi_read(&mut self) -> Op {
        let mut parts = Vec::new();
        for _ in 0..self.rng.below(5) {
            let path = self.path();
            parts.push(match self.rng.chance(1, 2) {
                true => Op::GetData { path, watch: false },
                false => Op::GetChildren { path, watch: false },
            });
        }
        Op::MultiRead(parts)
    }
}

/// Few names, so that clients meet. Some collide in Java's hash sets.
const NAMES: [&str; 8] = ["a", "b", "c", "Aa", "BB", "x y", "\u{e9}", "\u{65e5}"];
const PREFIXES: [&str; 4] = ["q-", "a", "", "n_"];
const SPECIAL: [&str; 5] =
    ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/zookeeper/a"];
const BAD: [&str; 12] = [
    "",
    "a",
    "//",
    "/a/",
    "/a//b",
    "/a/.",
    "/../a",
    "/a\u{0}b",
    "/a\u{1}",
    "/\u{7f}",
    "/\u{f000}",
    "/missing/",
];
const SCHEMES: [(&str, &str); 12] = [
    ("world", "anyone"),
    ("world", "anyone"),
    ("world", "nobody"),
    ("auth", ""),
    ("auth", "ignored"),
    ("digest", "u:rU59d6Co0T1yLlZ1Y4y5LzmJ2tE="),
    ("digest", "odd"),
    ("ip", "127.0.0.1"),
    ("ip", "127.0.0.0/8"),
    ("ip", "10.1.2.3"),
    ("ip", "1.2.3"),
    ("nobody", "x"),
];
