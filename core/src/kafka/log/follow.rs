//! How logs are copied. A follower's request waits at its leader until there is data, so nothing
//! is sent while nothing is produced: an append answers the requests that wait.
//!
//! A log in which nothing ever was needs no bookkeeping: at its first append all replicas are
//! taken to wait at offset 0. One that is no follower yet drops the data and asks later.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::high_watermark;
use super::manager::{ReplicaManager, Roles, TELL, note, send};
use super::store::{Event, Timer};
use crate::kafka::broker::{Ctx, Effect, Timer as AnyTimer};
use crate::kafka::data::{Fetched, Msg, Offset, WHERE};
use crate::kafka::msg::TopicPartition;

/// What a leader knows of a follower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Follower {
    /// Where its log ends; None until it has said so to this leader.
    pub leo: Option<Offset>,
    /// From where on it waits for data.
    waits: Option<Offset>,
    /// The high watermark it was told last.
    told: Offset,
    /// It was not caught up when it came, and nobody has told it yet that it is.
    behind: bool,
}

type Brought = BTreeMap<u32, Vec<(TopicPartition, Fetched)>>;

impl ReplicaManager {
    /// Bookkeeping of a led partition begins.
    pub(super) fn lead(&mut self, tp: &TopicPartition, me: u32, roles: &impl Roles) {
        if self.led.contains_key(tp) {
            return;
        }
        let waits = (self.store.end(tp) == 0).then_some(0);
        let follower = Follower { waits, ..Follower::default() };
        let replicas = roles.role(tp).map_or(&[][..], |role| role.replicas);
        let others = replicas.iter().filter(|id| **id != me).map(|id| (*id, follower)).collect();
        self.led.insert(tp.clone(), others);
    }

    /// A follower comes to these partitions. Where there is something in the log it is asked where
    /// its own ends; the other partitions come back, in which it lacks nothing.
    pub fn follower_comes(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        from: u32,
        tps: &[TopicPartition],
        roles: &impl Roles,
    ) -> Vec<TopicPartition> {
        let (mut fine, mut unknown) = (Vec::new(), Vec::new());
        for tp in tps {
            let end = self.store.end(tp);
            if end == 0 || ReplicaManager::leads(me, tp, roles).is_err() {
                fine.push(tp.clone());
                continue;
            }
            self.lead(tp, me, roles);
            let followers = self.led.entry(tp.clone()).or_default();
            followers.insert(from, Follower { behind: true, ..Follower::default() });
            unknown.push(tp.clone());
        }
        self.ask_where(ctx, from, &unknown);
        fine
    }

    /// Leads from now on, with something in the logs: the followers are asked where theirs end.
    pub(super) fn begin(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        tps: &[TopicPartition],
        roles: &impl Roles,
    ) {
        let mut whom: BTreeMap<u32, Vec<TopicPartition>> = BTreeMap::new();
        for tp in tps {
            self.lead(tp, me, roles);
            self.unsettled.insert(tp.clone());
            for id in self.led.get(tp).into_iter().flat_map(BTreeMap::keys) {
                whom.entry(*id).or_default().push(tp.clone());
            }
        }
        for (id, tps) in whom {
            self.ask_where(ctx, id, &tps);
        }
    }

    fn ask_where(&self, ctx: &mut Ctx<'_>, follower: u32, tps: &[TopicPartition]) {
        let one = |tp: &TopicPartition| {
            let log = self.store.get(tp)?;
            let (high_watermark, log) = (log.high_watermark, (log.start(), log.end()));
            Some((tp.clone(), Fetched { from: WHERE, records: [].into(), high_watermark, log }))
        };
        let partitions: Vec<_> = tps.iter().filter_map(one).collect();
        if !partitions.is_empty() {
            send(ctx, follower, Msg::Followed { partitions });
        }
    }

    /// A follower has all below these offsets and waits for more. Back come the partitions in
    /// which it is no longer behind the high watermark. [spec kafka-zk.md I1, I3]
    pub(super) fn follower_asks(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        partitions: &[(TopicPartition, Offset)],
        roles: &impl Roles,
    ) -> Vec<TopicPartition> {
        let (mut caught_up, mut tps) = (Vec::new(), Vec::new());
        for (tp, offset) in partitions {
            let Some(known) = self.led.get_mut(tp).and_then(|led| led.get_mut(&from)) else {
                continue;
            };
            let Some(log) = self.store.get(tp) else { continue };
            known.leo = Some((*offset).min(log.end()));
            known.waits = Some(*offset);
            if known.behind && *offset >= log.high_watermark && *offset <= log.end() {
                known.behind = false;
                caught_up.push(tp.clone());
            }
            tps.push(tp.clone());
        }
        for tp in &tps {
            self.settle_one(ctx, me, tp, roles);
        }
        self.push(ctx, me, &tps, roles);
        caught_up
    }

    /// Answers the requests of followers that wait at these partitions and lack something, one
    /// answer to each follower.
    pub(super) fn push(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        tps: &[TopicPartition],
        roles: &impl Roles,
    ) {
        let mut brought = Brought::new();
        for tp in tps {
            if ReplicaManager::leads(me, tp, roles).is_err() {
                continue;
            }
            let waiting: Vec<(u32, Offset)> = self.led.get(tp).map_or_else(Vec::new, |led| {
                led.iter().filter_map(|(id, known)| Some((*id, known.waits?))).collect()
            });
            for (id, at) in waiting {
                let Some(fetched) = self.for_follower(tp, at) else { continue };
                if let Some(known) = self.led.get_mut(tp).and_then(|led| led.get_mut(&id)) {
                    known.waits = None;
                    known.told = fetched.high_watermark;
                }
                brought.entry(id).or_default().push((tp.clone(), fetched));
            }
        }
        for (id, partitions) in brought {
            send(ctx, id, Msg::Followed { partitions });
        }
    }

    /// What a follower gets that asks from an offset on: data, or where the log starts and ends
    /// if it is outside, or nothing yet.
    fn for_follower(&self, tp: &TopicPartition, at: Offset) -> Option<Fetched> {
        if let Ok(fetched) = self.read(tp, at, false) {
            return fetched;
        }
        let log = self.store.get(tp)?;
        let from = at.max(log.start()).min(log.end());
        let (high_watermark, log) = (log.high_watermark, (log.start(), log.end()));
        Some(Fetched { from, records: [].into(), high_watermark, log })
    }

    /// A follower's leader answers.
    pub(super) fn leader_says(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        partitions: Vec<(TopicPartition, Fetched)>,
        roles: &impl Roles,
    ) {
        let mut asks = Vec::new();
        for (tp, fetched) in partitions {
            let follows = roles.role(&tp).is_some_and(|role| role.leader == Some(from));
            if follows && self.copy(ctx, me, &tp, &fetched) {
                let end = self.store.end(&tp);
                asks.push((tp, end));
            }
        }
        if !asks.is_empty() {
            send(ctx, from, Msg::Follow { partitions: asks });
        }
    }

    /// Takes over what its leader brought. True if the leader has to hear of it.
    fn copy(
        &mut self,
        ctx: &mut Ctx<'_>,
        broker: u32,
        tp: &TopicPartition,
        fetched: &Fetched,
    ) -> bool {
        let (start, leader_end) = fetched.log;
        let shorter = leader_end < self.store.end(tp);
        if shorter {
            self.truncate(ctx, broker, tp, leader_end);
        }
        let end = self.store.end(tp);
        if fetched.from == WHERE || fetched.from > end && fetched.from != start {
            return true;
        }
        let logs = Arc::make_mut(&mut self.store);
        let log = logs.log(tp);
        let behind_start = fetched.from > end;
        if behind_start {
            log.restart(fetched.from);
        }
        let from = log.end();
        let known = usize::try_from(from.saturating_sub(fetched.from)).unwrap_or(usize::MAX);
        log.append(fetched.records.iter().skip(known).cloned());
        let count = log.end() - from;
        let told = high_watermark::of_follower(log.end(), fetched.high_watermark);
        log.high_watermark = log.high_watermark.max(told);
        if count > 0 {
            let (tp, count) = (tp.clone(), u32::try_from(count).unwrap_or(u32::MAX));
            note(ctx, Event::Copied { broker, tp, from, count });
        }
        self.retain(ctx, broker, tp);
        count > 0 || shorter || behind_start
    }

    pub(super) fn arm_tell(&mut self, ctx: &mut Ctx<'_>) {
        if !self.tell_armed {
            self.tell_armed = true;
            let timer = AnyTimer::Log(Timer::Tell);
            ctx.out.push(Effect::Arm { timer, at: ctx.now + TELL });
        }
    }

    /// Followers that wait hear of the high watermark, as the answer to a request that got no
    /// data in time would tell them. They go on waiting.
    pub(super) fn tell(&mut self, ctx: &mut Ctx<'_>, me: u32, roles: &impl Roles) {
        self.tell_armed = false;
        let mut brought = Brought::new();
        for tp in std::mem::take(&mut self.untold) {
            let Some(log) = self.store.get(&tp) else { continue };
            if ReplicaManager::leads(me, &tp, roles).is_err() {
                continue;
            }
            let high_watermark = log.high_watermark;
            let ends = (log.start(), log.end());
            for (id, known) in self.led.entry(tp.clone()).or_default() {
                let Some(from) = known.waits.filter(|_| known.told < high_watermark) else {
                    continue;
                };
                known.told = high_watermark;
                let fetched = Fetched { from, records: [].into(), high_watermark, log: ends };
                brought.entry(*id).or_default().push((tp.clone(), fetched));
            }
        }
        for (id, partitions) in brought {
            send(ctx, id, Msg::Followed { partitions });
        }
    }
}
