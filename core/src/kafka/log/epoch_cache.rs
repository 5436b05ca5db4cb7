//! Which leader epoch begins at which offset of a log, and how a follower uses it to cut off what
//! its leader never had. [spec kafka-zk.md I8, I9]

/// A leader epoch and an offset: where it begins, or where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochOffset {
    pub epoch: i32,
    pub offset: u64,
}

/// Start offsets of the leader epochs of a log, increasing in both. [spec kafka-zk.md I8]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpochCache {
    entries: Vec<EpochOffset>,
}

impl EpochCache {
    pub fn entries(&self) -> &[EpochOffset] {
        &self.entries
    }

    pub fn latest(&self) -> Option<i32> {
        self.entries.last().map(|entry| entry.epoch)
    }

    /// From `offset` on the records are of this epoch. The latest epoch again, at the same offset
    /// or a later one, is nothing new. [spec kafka-zk.md I8]
    pub fn assign(&mut self, epoch: i32, offset: u64) {
        if epoch < 0 {
            return;
        }
        if self.entries.last().is_some_and(|last| last.epoch == epoch && last.offset <= offset) {
            return;
        }
        self.entries.retain(|entry| entry.offset < offset && entry.epoch < epoch);
        self.entries.push(EpochOffset { epoch, offset });
    }

    /// Where the largest known epoch up to this one ends, in a log that ends at `leo`. None if
    /// the cache can't tell. An epoch below the first ends where that begins.
    /// [spec kafka-zk.md I8]
    pub fn end_offset(&self, epoch: i32, leo: u64) -> Option<EpochOffset> {
        let last = self.entries.last()?;
        if epoch < 0 || epoch > last.epoch {
            return None;
        }
        if epoch == last.epoch {
            return Some(EpochOffset { epoch, offset: leo });
        }
        let next = self.entries.partition_point(|entry| entry.epoch <= epoch);
        let offset = self.entries.get(next)?.offset;
        let known = next.checked_sub(1).and_then(|at| self.entries.get(at));
        Some(EpochOffset { epoch: known.map_or(epoch, |known| known.epoch), offset })
    }

    /// The log now ends at `offset`. [spec kafka-zk.md I8]
    pub fn truncate_end(&mut self, offset: u64) {
        self.entries.retain(|entry| entry.offset < offset);
    }

    /// The log now starts at `offset`. [spec kafka-zk.md I8]
    pub fn truncate_start(&mut self, offset: u64) {
        let begun = self.entries.partition_point(|entry| entry.offset <= offset);
        if let Some(last) = begun.checked_sub(1) {
            self.entries.drain(..last);
            self.entries[0].offset = offset;
        }
    }
}

/// How a new follower comes to agree with its leader. [spec kafka-zk.md I9]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// Before 0.11 it cuts its log off at its own high watermark.
    #[default]
    ToHighWatermark,
    /// 0.11 to 1.1: it asks once where its latest epoch ends at the leader. [KIP-101]
    AskOnce,
    /// 2.0 to 2.6: again with a smaller epoch until both know it. [KIP-279]
    AskAgain,
    /// 2.7 and later: each fetch tells the latest epoch, and the answer where the logs part.
    OnFetch,
}

/// What a follower does after its leader said where an epoch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    pub to: u64,
    /// Else the follower asks again, for its latest epoch that is left.
    pub done: bool,
}

/// How a follower whose log ends at `leo` takes the answer to a question about its latest epoch.
/// [spec kafka-zk.md I9, KIP-279]
pub fn truncation(
    own: &EpochCache,
    leo: u64,
    high_watermark: u64,
    answer: Option<EpochOffset>,
) -> Truncation {
    let Some(answer) = answer else {
        return Truncation { to: high_watermark.min(leo), done: true };
    };
    let (known, to) = match own.end_offset(answer.epoch, leo) {
        Some(own) if own.epoch != answer.epoch => (false, own.offset),
        Some(own) => (true, own.offset.min(answer.offset)),
        None => (true, answer.offset),
    };
    Truncation { to: to.min(leo), done: known }
}

/// The same in 0.11 to 1.1, where the follower does not look at the epoch of the answer.
/// [spec kafka-zk.md I9, KIP-101]
pub fn truncation_of_0_11(leo: u64, high_watermark: u64, end: Option<u64>) -> Truncation {
    Truncation { to: end.unwrap_or(high_watermark).min(leo), done: true }
}
