//! The file `replication-offset-checkpoint`: high watermarks are written down at intervals and at
//! a clean stop, and a broker begins with what stands there. [spec kafka-zk.md I6]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::manager::ReplicaManager;
use super::store::{Store, Timer};
use crate::base::{Instant, Span};
use crate::kafka::broker::{Ctx, Effect, Timer as AnyTimer};
use crate::kafka::data::Offset;
use crate::kafka::msg::TopicPartition;

/// What the file holds.
pub type File = BTreeMap<TopicPartition, Offset>;

/// When it is written next. Nothing is armed while no high watermark moves.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// `replica.high.watermark.checkpoint.interval.ms`; `None`: always written at once.
    every: Option<Span>,
    /// When the broker got its first orders.
    began: Option<Instant>,
    /// What has moved since.
    moved: BTreeSet<TopicPartition>,
    armed: bool,
}

impl Schedule {
    pub fn new(every: Option<Span>) -> Schedule {
        Schedule { every, ..Schedule::default() }
    }

    /// The first orders start the timer. [ReplicaManager#startHighWaterMarksCheckPointThread]
    pub fn begin(&mut self, now: Instant) {
        self.began.get_or_insert(now);
    }

    /// The next moment of the grid, if somebody has to arm a timer for it.
    fn next(&mut self, now: Instant) -> Option<Instant> {
        let every = self.every.filter(|_| !self.armed && !self.moved.is_empty())?;
        let began = *self.began.get_or_insert(now);
        self.armed = true;
        Some(began + Span((now.since(began).0 / every.0.max(1) + 1) * every.0.max(1)))
    }
}

/// A process starts with the logs that it finds: their high watermarks are those of the file.
pub fn recover(store: &mut Arc<Store>) {
    let stale = |(tp, log): &(&TopicPartition, &Arc<super::store::Log>)| {
        log.high_watermark != recovered(store.checkpoint.get(tp), log)
    };
    let stale: Vec<TopicPartition> =
        store.logs.iter().filter(stale).map(|(tp, _)| tp.clone()).collect();
    for tp in stale {
        let store = Arc::make_mut(store);
        let kept = store.checkpoint.get(&tp).copied();
        let log = store.log(&tp);
        log.high_watermark = recovered(kept.as_ref(), log);
    }
}

fn recovered(kept: Option<&Offset>, log: &super::store::Log) -> Offset {
    kept.copied().unwrap_or(0).min(log.end()).max(log.start())
}

impl ReplicaManager {
    /// A high watermark is another one now.
    pub(super) fn moved(&mut self, ctx: &mut Ctx<'_>, tp: &TopicPartition) {
        if self.rules.checkpoints.is_none() {
            return;
        }
        self.schedule.moved.insert(tp.clone());
        if let Some(at) = self.schedule.next(ctx.now) {
            ctx.out.push(Effect::Arm { timer: AnyTimer::Log(Timer::Checkpoint), at });
        }
    }

    pub(super) fn checkpoint_timer(&mut self) {
        self.schedule.armed = false;
        self.checkpoint();
    }

    /// Writes down what has moved: at its time, and at a clean stop.
    pub fn checkpoint(&mut self) {
        let moved = std::mem::take(&mut self.schedule.moved);
        if moved.is_empty() {
            return;
        }
        let store = Arc::make_mut(&mut self.store);
        for tp in moved {
            let kept = store.get(&tp).map(|log| log.high_watermark);
            let file = Arc::make_mut(&mut store.checkpoint);
            match kept {
                Some(high_watermark) => _ = file.insert(tp, high_watermark),
                None => _ = file.remove(&tp),
            }
        }
    }
}
