//! How a producer sends: the old one a record after the other, each until it is done; the others
//! all they have, one request at a time to each broker. [spec producer.md O1 to O4, P1, U1]

use std::collections::BTreeMap;

use super::{BACKOFF, Choice, Event, FETCH_TIMEOUT, Item, Kind, PATIENCE, Producer, millis};
use crate::base::{Instant, Span};
use crate::kafka::broker::Ctx;
use crate::kafka::data::{Code, Msg, Offset, Record};
use crate::kafka::msg::TopicPartition;
use crate::kafka::partitioner;

/// Records of one request.
const REQUEST: usize = 1_000;

/// What a broker has not answered yet.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub to: u32,
    /// The old producer waits so long.
    until: Instant,
    batches: Vec<(TopicPartition, Vec<Item>)>,
}

impl Producer {
    /// Sends what can be sent now.
    pub(super) fn pump(&mut self, ctx: &mut Ctx<'_>) {
        match self.kind {
            Kind::Scala => self.pump_one(ctx),
            Kind::Java => {
                self.give_up_old(ctx);
                if self.asking.is_none() && self.backoff <= ctx.now && !self.queue.is_empty() {
                    self.pump_known(ctx);
                }
            }
            Kind::Textbook => self.pump_all(ctx),
        }
    }

    /// What waits too long for a leader is given up. [`delivery.timeout.ms`]
    fn give_up_old(&mut self, ctx: &mut Ctx<'_>) {
        let Some(soonest) = self.queue.iter().map(|item| item.until).min() else { return };
        if soonest > ctx.now {
            return self.arm(ctx, soonest);
        }
        let late = |item: &Item| item.until <= ctx.now;
        let (mut gone, kept): (Vec<Item>, Vec<Item>) =
            std::mem::take(&mut self.queue).into_iter().partition(late);
        self.queue = kept.into();
        gone.iter_mut().for_each(|item| item.tries = 1);
        self.failed(ctx, None, gone, Code::RequestTimedOut);
    }

    /// A topic that isn't there is asked for again and again, for a time; meanwhile whoever sends
    /// is held up. [KafkaProducer#waitOnMetadata]
    fn pump_known(&mut self, ctx: &mut Ctx<'_>) {
        let never_asked = |item: &Item| !self.topics.contains_key(&item.topic);
        if self.must_refresh || self.is_stale(ctx.now) || self.queue.iter().any(never_asked) {
            return self.refresh(ctx);
        }
        let missing = |item: &Item| self.topics.get(&item.topic)?.error;
        let Some(why) = self.queue.iter().find_map(missing) else {
            self.missing_since = None;
            return self.pump_all(ctx);
        };
        let since = *self.missing_since.get_or_insert(ctx.now);
        if ctx.now.since(since).0 < FETCH_TIMEOUT.0 {
            self.must_refresh = true;
            return self.back_off(ctx);
        }
        self.missing_since = None;
        let (mut gone, kept): (Vec<Item>, Vec<Item>) =
            std::mem::take(&mut self.queue).into_iter().partition(|item| missing(item).is_some());
        self.queue = kept.into();
        gone.iter_mut().for_each(|item| item.tries = 1);
        self.failed(ctx, None, gone, why);
    }

    /// [DefaultEventHandler#handle]
    fn pump_one(&mut self, ctx: &mut Ctx<'_>) {
        while self.requests.is_empty() && self.asking.is_none() && self.backoff <= ctx.now {
            if self.queue.is_empty() {
                return;
            }
            if self.must_refresh || self.is_stale(ctx.now) {
                return self.refresh(ctx);
            }
            let Some(mut item) = self.queue.pop_front() else { return };
            let chosen = self.choose(ctx, &item);
            let topic = self.topics.get(&item.topic);
            let leader = |at: &partitioner::Choice| topic.and_then(|t| t.leader(at.partition));
            let tp = chosen.as_ref().ok().map(|at| tp(&item, at.partition));
            match chosen.map(|at| (at, leader(&at))) {
                Ok((at, Some(leader))) => {
                    item.at = Some(at);
                    self.send(ctx, leader, vec![item]);
                }
                Ok((_, None)) => self.failed(ctx, tp, vec![item], Code::LeaderNotAvailable),
                Err(why) => self.failed(ctx, None, vec![item], why),
            }
        }
    }

    fn pump_all(&mut self, ctx: &mut Ctx<'_>) {
        let (mut sending, mut kept) = (BTreeMap::<u32, Vec<Item>>::new(), Vec::new());
        let busy: Vec<u32> = self.requests.values().map(|request| request.to).collect();
        let mut leaderless = false;
        for mut item in std::mem::take(&mut self.queue) {
            if item.at.is_none() {
                match self.choose(ctx, &item) {
                    Ok(at) => item.at = Some(at),
                    Err(Code::UnknownTopicOrPartition) if self.topics.contains_key(&item.topic) => {
                        item.tries = 1;
                        self.failed(ctx, None, vec![item], Code::UnknownTopicOrPartition);
                        continue;
                    }
                    Err(_) => {
                        kept.push(item);
                        continue;
                    }
                }
            }
            let known = self.topics.get(&item.topic);
            let leader = item.at.and_then(|at| known?.leader(at.partition));
            leaderless |= leader.is_none();
            match leader.filter(|leader| !busy.contains(leader)) {
                Some(leader) if sending.get(&leader).is_none_or(|s| s.len() < REQUEST) => {
                    sending.entry(leader).or_default().push(item);
                }
                _ => kept.push(item),
            }
        }
        self.queue.extend(kept);
        for (leader, items) in sending {
            self.send(ctx, leader, items);
        }
        if leaderless && self.kind == Kind::Java {
            self.must_refresh = true;
            self.back_off(ctx);
        }
    }

    fn choose(&mut self, ctx: &mut Ctx<'_>, item: &Item) -> Result<partitioner::Choice, Code> {
        let topic = self.topics.get(&item.topic).ok_or(Code::UnknownTopicOrPartition)?;
        if let Some(why) = topic.error {
            return Err(why);
        }
        let partitions = topic.count();
        match item.given {
            Some(partition) if partition < partitions => {
                Ok(partitioner::Choice { partition, by: Choice::Given })
            }
            Some(_) => Err(Code::UnknownTopicOrPartition),
            None => {
                let available = topic.available();
                let topic =
                    partitioner::Topic { name: &item.topic, partitions, available: &available };
                let chosen = self.partitioner.choose(ctx.rng, topic, item.key.as_deref());
                chosen.ok_or(Code::LeaderNotAvailable)
            }
        }
    }

    /// One request to a leader.
    fn send(&mut self, ctx: &mut Ctx<'_>, to: u32, items: Vec<Item>) {
        let mut batches: BTreeMap<TopicPartition, Vec<Item>> = BTreeMap::new();
        for item in items {
            let Some(at) = item.at else { continue };
            batches.entry(tp(&item, at.partition)).or_default().push(item);
        }
        let record = |item: &Item| Record {
            key: item.key.clone(),
            value: item.value.clone(),
            epoch: crate::kafka::data::NO_EPOCH,
            sent: crate::sim::RowId::NONE,
            by_hand: item.by_hand,
        };
        let mut asked = Vec::new();
        for (tp, items) in &mut batches {
            asked.push((tp.clone(), items.iter().map(record).collect()));
            note_sent(ctx, tp, items);
            self.sent += items.iter().filter(|item| !item.sent).count() as u64;
            items.iter_mut().for_each(|item| item.sent = true);
        }
        let (id, acks) = (self.number(), self.spec.acks);
        let timeout = self.timeout();
        let timeout_ms = u32::try_from(timeout.millis()).unwrap_or(u32::MAX);
        Producer::tell(ctx, to, Msg::Produce { id, acks, timeout_ms, batches: asked });
        if acks == 0 {
            return;
        }
        let patience = self.spec.tries.delivery_ms.map(millis);
        let until = match self.kind {
            Kind::Scala => ctx.now + timeout,
            Kind::Java => patience.map_or(Instant::NEVER, |patience| ctx.now + patience),
            Kind::Textbook => Instant::NEVER,
        };
        self.requests.insert(id, Request { to, until, batches: batches.into_iter().collect() });
        self.arm(ctx, until);
    }

    pub(super) fn produced(
        &mut self,
        ctx: &mut Ctx<'_>,
        id: u32,
        results: &[(TopicPartition, Result<Offset, Code>)],
    ) {
        let Some(request) = self.requests.remove(&id) else {
            // Nobody waits for it, but it says that what is known is wrong.
            if results.iter().any(|(_, result)| result.is_err()) {
                self.must_refresh = self.kind != Kind::Textbook;
            }
            return;
        };
        for (tp, items) in request.batches {
            let result = results.iter().find(|(at, _)| *at == tp).map(|(_, result)| *result);
            match result.unwrap_or(Err(Code::UnknownTopicOrPartition)) {
                Ok(from) => {
                    self.acknowledged += items.len() as u64;
                    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                    let by_hand = items.iter().any(|item| item.by_hand);
                    Producer::note(ctx, Event::Acknowledged { tp, from, count, by_hand });
                }
                Err(why) => self.failed(ctx, Some(tp), items, why),
            }
        }
    }

    pub(super) fn request_failed(&mut self, ctx: &mut Ctx<'_>, id: u32, why: Code) {
        let Some(request) = self.requests.remove(&id) else { return };
        for (tp, items) in request.batches {
            self.failed(ctx, Some(tp), items, why);
        }
    }

    /// These come back to the head of the queue, or are given up.
    fn failed(
        &mut self,
        ctx: &mut Ctx<'_>,
        tp: Option<TopicPartition>,
        mut items: Vec<Item>,
        why: Code,
    ) {
        // The textbook waits until ZooKeeper names another leader.
        let patient = self.kind == Kind::Textbook && tp.is_some();
        for item in &mut items {
            item.tries = if patient { item.tries } else { item.tries.saturating_sub(1) };
            if self.kind == Kind::Scala {
                item.at = None;
            }
        }
        let retries = items.iter().map(|item| item.tries).max().unwrap_or(0);
        Producer::note(ctx, Event::Failed { tp: tp.clone(), why, retries });
        let before = items.len();
        items.retain(|item| item.tries > 0);
        self.failed += (before - items.len()) as u64;
        for item in items.into_iter().rev() {
            self.queue.push_front(item);
        }
        match (self.kind, tp) {
            (Kind::Textbook, Some(tp)) => self.leader_lost(ctx, &tp, why),
            (Kind::Textbook, None) => {}
            _ => {
                self.must_refresh = true;
                self.back_off(ctx);
            }
        }
    }

    /// How long a broker may take.
    fn timeout(&self) -> Span {
        let own = self.spec.tries.timeout_ms.map(|ms| Span::from_millis(ms.into()));
        own.unwrap_or(PATIENCE)
    }

    pub(super) fn back_off(&mut self, ctx: &mut Ctx<'_>) {
        let own = self.spec.tries.backoff_ms.map(|ms| Span::from_millis(ms.into()));
        self.backoff = ctx.now + own.unwrap_or(BACKOFF);
        self.arm(ctx, self.backoff);
    }

    /// Something may have taken too long.
    pub(super) fn look_at_the_clock(&mut self, ctx: &mut Ctx<'_>) {
        self.asked_too_long(ctx);
        let late = self.requests.iter().filter(|(_, request)| request.until <= ctx.now);
        let late: Vec<u32> = late.map(|(id, _)| *id).collect();
        for id in late {
            self.request_failed(ctx, id, Code::RequestTimedOut);
        }
        let waits = self.requests.values().map(|request| request.until);
        let waits = waits.chain(self.asking.as_ref().map(|asking| asking.until));
        let waits = waits.chain(self.queue.iter().map(|item| item.until));
        let next = waits.chain((self.backoff > ctx.now).then_some(self.backoff)).min();
        if let Some(next) = next.filter(|next| *next < Instant::NEVER) {
            self.arm(ctx, next);
        }
    }
}

fn tp(item: &Item, partition: u32) -> TopicPartition {
    TopicPartition { topic: item.topic.clone(), partition }
}

/// A row for neighbours with the same key that were placed by the same rule.
fn note_sent(ctx: &mut Ctx<'_>, tp: &TopicPartition, items: &[Item]) {
    let by = |item: &Item| item.at.map(|at| at.by);
    let same = |a: &Item, b: &Item| a.key == b.key && by(a) == by(b);
    for run in items.chunk_by(same) {
        if let Some(by) = run.first().and_then(by) {
            let (tp, key) = (tp.clone(), run[0].key.clone());
            let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
            let by_hand = run[0].by_hand;
            Producer::note(ctx, Event::Sent { tp, key, count, by, by_hand });
        }
    }
}
