//! What a producer of 0.8 knows of brokers and partitions: it asks one broker of its list after
//! the other. [spec producer.md O2, O3, O5, U5]

use std::sync::Arc;

use super::{Event, Kind, PATIENCE, Producer};
use crate::base::{Instant, Span};
use crate::kafka::broker::Ctx;
use crate::kafka::data::{Code, Msg, TopicMeta};

/// A topic as the producer knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    /// Partitions with their leaders, in the producer's own order.
    pub partitions: Vec<(u32, Option<u32>)>,
    pub error: Option<Code>,
}

impl Topic {
    pub fn leader(&self, partition: u32) -> Option<u32> {
        self.partitions.iter().find(|(number, _)| *number == partition)?.1
    }

    pub fn count(&self) -> u32 {
        u32::try_from(self.partitions.len()).unwrap_or(u32::MAX)
    }

    pub fn available(&self) -> Vec<u32> {
        let led = self.partitions.iter().filter(|(_, leader)| leader.is_some());
        led.map(|(partition, _)| *partition).collect()
    }
}

/// A question for metadata is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    id: u32,
    topics: Vec<Arc<str>>,
    to: u32,
    /// Whom it asks if that one has no answer.
    others: Vec<u32>,
    pub until: Instant,
}

impl Producer {
    /// Metadata are older than they may get.
    pub(super) fn is_stale(&self, now: Instant) -> bool {
        let most = Span::from_millis(u64::from(self.spec.refresh_ms));
        self.refreshed_at.is_none_or(|then| now.since(then).0 > most.0)
    }

    /// Asks for the topics of all that waits to be sent.
    pub(super) fn refresh(&mut self, ctx: &mut Ctx<'_>) {
        let mut topics: Vec<Arc<str>> = self.queue.iter().map(|item| item.topic.clone()).collect();
        // The old producer refreshes what it sends, the Java one all it ever sent to.
        if self.kind == Kind::Java {
            topics.extend(self.topics.keys().cloned());
        }
        topics.sort();
        topics.dedup();
        let mut list: Vec<u32> = self.bootstrap.to_vec();
        if self.kind == Kind::Java && !self.brokers.is_empty() {
            list.clone_from(&self.brokers);
        }
        for last in (1..list.len()).rev() {
            let other = ctx.rng.below(last as u64 + 1);
            list.swap(last, usize::try_from(other).unwrap_or(0));
        }
        self.refreshed_at = Some(ctx.now);
        self.must_refresh = false;
        self.partitioner.refreshed();
        self.ask_one(ctx, topics, list);
    }

    fn ask_one(&mut self, ctx: &mut Ctx<'_>, topics: Vec<Arc<str>>, mut others: Vec<u32>) {
        let Some(to) = others.pop() else { return self.nobody_answers(ctx) };
        let (id, until) = (self.number(), ctx.now + PATIENCE);
        Producer::tell(ctx, to, Msg::Metadata { id, topics: topics.clone() });
        self.asking = Some(Asking { id, topics, to, others, until });
        self.arm(ctx, until);
    }

    /// Whoever was asked is gone.
    pub(super) fn ask_another(&mut self, ctx: &mut Ctx<'_>, gone: u32) {
        if let Some(asking) = self.asking.take_if(|asking| asking.to == gone) {
            self.ask_one(ctx, asking.topics, asking.others);
        }
    }

    pub(super) fn asked_too_long(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(asking) = self.asking.take_if(|asking| asking.until <= ctx.now) {
            self.ask_one(ctx, asking.topics, asking.others);
        }
    }

    /// The old producer goes on with what it knew, which fails if it knew nothing.
    fn nobody_answers(&mut self, ctx: &mut Ctx<'_>) {
        self.brokers.clear();
        if self.kind == Kind::Scala {
            return self.pump(ctx);
        }
        self.must_refresh = true;
        self.back_off(ctx);
    }

    pub(super) fn metadata_read(
        &mut self,
        ctx: &mut Ctx<'_>,
        id: u32,
        brokers: Vec<u32>,
        topics: Vec<TopicMeta>,
    ) {
        if self.asking.take_if(|asking| asking.id == id).is_none() {
            return;
        }
        self.brokers = brokers;
        for topic in topics {
            let error = topic.partitions.as_ref().err().copied();
            let known = topic.partitions.unwrap_or_default();
            let mut partitions: Vec<(u32, Option<u32>)> =
                known.into_iter().map(|one| (one.partition, one.leader)).collect();
            if self.kind == Kind::Scala {
                partitions.sort_unstable();
            }
            let count = u32::try_from(partitions.len()).unwrap_or(u32::MAX);
            let known = Topic { partitions, error };
            if self.topics.get(&topic.topic) != Some(&known) {
                let (brokers, topic) = (self.brokers.clone(), Some(topic.topic.clone()));
                Producer::note(ctx, Event::MetadataRead { brokers, topic, partitions: count });
            }
            self.topics.insert(topic.topic, known);
        }
    }
}
