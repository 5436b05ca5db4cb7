//! Requests that a broker keeps until they can be answered. Kafka's name for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::acks::Waits;
use super::manager::send;
use super::store::Timer;
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::{Ctx, Effect, Timer as AnyTimer};
use crate::kafka::data::{Code, Msg, NO_LIMIT, Offset};
use crate::kafka::msg::TopicPartition;

/// A consumer's fetch.
#[derive(Clone, Debug)]
pub struct Want {
    pub id: u32,
    pub partitions: Arc<[(TopicPartition, Offset)]>,
}

/// How a producer's request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Produce,
    /// Offsets of a group, which are records too. [spec consumer-zk.md O3]
    OffsetCommit,
}

impl Kind {
    pub fn answer(self, id: u32, results: Vec<(TopicPartition, Result<Offset, Code>)>) -> Msg {
        let failed = results.iter().find_map(|(_, result)| result.err());
        let result = match failed {
            _ if self == Kind::Produce => return Msg::Produced { id, results },
            None => Ok(()),
            Some(Code::NotLeaderForPartition) => Err(Code::NotCoordinatorForConsumer),
            Some(Code::UnknownTopicOrPartition) => Err(Code::ConsumerCoordinatorNotAvailable),
            Some(why) => Err(why),
        };
        Msg::OffsetCommitAnswer { id, result }
    }
}

/// A producer waits for its records to be copied.
#[derive(Clone, Debug)]
struct Produce {
    from: u32,
    id: u32,
    kind: Kind,
    results: Vec<(TopicPartition, Result<Offset, Code>)>,
    waits: Vec<(TopicPartition, Waits, Offset)>,
    until: Instant,
}

#[derive(Clone, Debug)]
struct Fetch {
    want: Want,
    until: Instant,
}

#[derive(Clone, Default)]
pub struct Purgatory {
    produces: BTreeMap<u64, Produce>,
    /// By partition: which of them.
    produces_at: BTreeMap<TopicPartition, BTreeSet<u64>>,
    next: u64,
    /// By who asked: one each.
    fetches: BTreeMap<u32, Fetch>,
    fetches_at: BTreeMap<TopicPartition, BTreeSet<u32>>,
    /// When the timer looks next.
    timer_at: Option<Instant>,
}

impl Purgatory {
    pub fn keep_produce(
        &mut self,
        ctx: &mut Ctx<'_>,
        (from, id, kind): (u32, u32, Kind),
        results: Vec<(TopicPartition, Result<Offset, Code>)>,
        waits: Vec<(TopicPartition, Waits, Offset)>,
        until: Instant,
    ) {
        let number = self.next;
        self.next += 1;
        for (tp, ..) in &waits {
            self.produces_at.entry(tp.clone()).or_default().insert(number);
        }
        self.produces.insert(number, Produce { from, id, kind, results, waits, until });
        self.arm(ctx, until);
    }

    /// Whether a producer waits for this partition.
    pub fn counts(&self, tp: &TopicPartition) -> bool {
        self.produces_at.contains_key(tp)
    }

    /// Asks of all that wait for this partition whether it is over, and how.
    pub fn produced(
        &mut self,
        ctx: &mut Ctx<'_>,
        tp: &TopicPartition,
        done: impl Fn(Waits, Offset) -> Option<Result<(), Code>>,
    ) {
        for number in self.produces_at.get(tp).cloned().unwrap_or_default() {
            let Some(produce) = self.produces.get_mut(&number) else { continue };
            let results = &mut produce.results;
            produce.waits.retain(|(at, waits, to)| {
                let over = if at == tp { done(*waits, *to) } else { None };
                if let Some(Err(why)) = over {
                    results.iter_mut().filter(|(of, _)| of == at).for_each(|(_, r)| *r = Err(why));
                }
                over.is_none()
            });
            if !produce.waits.iter().any(|(at, ..)| at == tp) {
                self.unlist(tp, number);
            }
            self.answer_if_over(ctx, number);
        }
    }

    fn unlist(&mut self, tp: &TopicPartition, number: u64) {
        if let Some(numbers) = self.produces_at.get_mut(tp) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.produces_at.remove(tp);
            }
        }
    }

    fn answer_if_over(&mut self, ctx: &mut Ctx<'_>, number: u64) {
        if self.produces.get(&number).is_some_and(|produce| produce.waits.is_empty())
            && let Some(Produce { from, id, kind, results, .. }) = self.produces.remove(&number)
        {
            send(ctx, from, kind.answer(id, results));
        }
    }

    pub fn keep_fetch(&mut self, ctx: &mut Ctx<'_>, from: u32, want: Want, wait_ms: u32) {
        for (tp, _) in want.partitions.iter() {
            self.fetches_at.entry(tp.clone()).or_default().insert(from);
        }
        let until = match wait_ms {
            NO_LIMIT => Instant::NEVER,
            ms => ctx.now + Span::from_millis(ms.into()),
        };
        self.fetches.insert(from, Fetch { want, until });
        self.arm(ctx, until);
    }

    pub fn forget_fetch(&mut self, from: u32) {
        let Some(fetch) = self.fetches.remove(&from) else { return };
        for (tp, _) in fetch.want.partitions.iter() {
            if let Some(who) = self.fetches_at.get_mut(tp) {
                who.remove(&from);
                if who.is_empty() {
                    self.fetches_at.remove(tp);
                }
            }
        }
    }

    pub fn fetchers(&self, tp: &TopicPartition) -> Vec<u32> {
        self.fetches_at.get(tp).into_iter().flatten().copied().collect()
    }

    pub fn fetch_of(&self, from: u32) -> Option<Want> {
        self.fetches.get(&from).map(|fetch| fetch.want.clone())
    }

    /// One entry of the queue stands for all.
    fn arm(&mut self, ctx: &mut Ctx<'_>, until: Instant) {
        if until < self.timer_at.unwrap_or(Instant::NEVER) {
            self.timer_at = Some(until);
            ctx.out.push(Effect::Arm { timer: AnyTimer::Log(Timer::Waited), at: until });
        }
    }

    pub fn time_is_over(&mut self, ctx: &mut Ctx<'_>) {
        if self.timer_at.is_some_and(|at| at > ctx.now) {
            return;
        }
        self.timer_at = None;
        let late = |until: &Instant| *until <= ctx.now;
        let fetches: Vec<u32> =
            self.fetches.iter().filter(|(_, f)| late(&f.until)).map(|(from, _)| *from).collect();
        let produces: Vec<u64> =
            self.produces.iter().filter(|(_, p)| late(&p.until)).map(|(n, _)| *n).collect();
        for from in fetches {
            let Some(want) = self.fetch_of(from) else { continue };
            self.forget_fetch(from);
            send(ctx, from, Msg::FetchAnswer { id: want.id, results: Vec::new() });
        }
        for number in produces {
            let Some(produce) = self.produces.get_mut(&number) else { continue };
            let waits = std::mem::take(&mut produce.waits);
            for (tp, result) in &mut produce.results {
                if waits.iter().any(|(at, ..)| at == tp) {
                    *result = Err(Code::RequestTimedOut);
                }
            }
            for (tp, ..) in waits {
                self.unlist(&tp, number);
            }
            self.answer_if_over(ctx, number);
        }
        let next = self.fetches.values().map(|fetch| fetch.until);
        let next = next.chain(self.produces.values().map(|produce| produce.until)).min();
        if let Some(next) = next {
            self.arm(ctx, next);
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.produces.len() as u64);
        digest.u64(self.fetches.len() as u64);
    }
}
