//! How logs are copied. A follower's request waits at its leader until there is data, so nothing
//! is sent while nothing is produced: an append answers the requests that wait.
//!
//! A log in which nothing ever was needs no bookkeeping: at its first append all replicas are
//! taken to wait at offset 0. One that is no follower yet drops the data and asks later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::epoch_cache::{self, Agreement, EpochCache, EpochOffset};
use super::high_watermark;
use super::isr;
use super::manager::{ReplicaManager, Role, Roles, TELL, note, send, wall};
use super::store::{Event, Log, Timer};
use crate::kafka::broker::{Ctx, Effect, Timer as AnyTimer};
use crate::kafka::data::{Fetched, Follow, Msg, Offset, WHERE};
use crate::kafka::msg::TopicPartition;

/// What a leader knows of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follower {
    /// Where its log ends, and when it had all there was. Times are of the wall clock.
    pub seen: isr::Follower,
    /// From where on it waits for data.
    waits: Option<Offset>,
    /// The high watermark it was told last.
    told: Offset,
    /// It was not caught up when it came, and nobody has told it yet that it is.
    behind: bool,
}

impl Follower {
    fn new(in_isr: bool, now: u64) -> Follower {
        let seen = isr::Follower::new(in_isr, now);
        Follower { seen, waits: None, told: 0, behind: false }
    }
}

type Brought = BTreeMap<u32, Vec<(TopicPartition, Fetched)>>;

impl ReplicaManager {
    /// Bookkeeping of a led partition begins.
    pub(super) fn lead(&mut self, ctx: &Ctx<'_>, tp: &TopicPartition, me: u32, roles: &impl Roles) {
        if self.led.contains_key(tp) {
            return;
        }
        let waits = (self.store.end(tp) == 0).then_some(0);
        let follower = |role: &Role<'_>, id: u32| {
            let now = self.silent.get(&id).copied().unwrap_or(u64::MAX).min(wall(ctx));
            (id, Follower { waits, ..Follower::new(role.isr.contains(&id), now) })
        };
        let others = roles.role(tp).map_or_else(BTreeMap::new, |role| {
            let others = role.replicas.iter().filter(|id| **id != me);
            others.map(|id| follower(&role, *id)).collect()
        });
        self.led.insert(tp.clone(), others);
    }

    /// A broker's fetches stop coming, or come again. Nobody repeats them here, so nobody else
    /// would see that. True if something waits for the next one.
    pub fn falls_silent(&mut self, broker: u32, since: Option<u64>) -> bool {
        match since {
            Some(since) => _ = self.silent.entry(broker).or_insert(since),
            None => _ = self.silent.remove(&broker),
        }
        since.is_none() && self.lapsed.remove(&broker)
    }

    /// The last request of a silent follower was answered without data when its time was over; no
    /// other one came since.
    fn is_silent(&mut self, ctx: &Ctx<'_>, follower: u32) -> bool {
        let since = self.silent.get(&follower).filter(|_| self.rules.isr.is_some());
        let lapsed = since.is_some_and(|since| wall(ctx).saturating_sub(*since) >= TELL.millis());
        if lapsed {
            self.lapsed.insert(follower);
        }
        lapsed
    }

    /// A follower fetches again after it was silent: it gets what came meanwhile.
    pub fn follower_wakes(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        roles: &impl Roles,
    ) {
        let waits = |led: &BTreeMap<u32, Follower>| led.get(&from)?.waits;
        let tps: Vec<TopicPartition> = self
            .led
            .iter()
            .filter(|(_, led)| waits(led).is_some())
            .map(|(tp, _)| tp.clone())
            .collect();
        self.push(ctx, me, &tps, roles);
        self.untold.extend(tps);
        self.tell(ctx, me, roles);
    }

    /// Followers that wait here have asked again and again until now, or until they fell silent.
    /// [spec kafka-zk.md I1]
    pub(super) fn still_ask(&mut self, ctx: &Ctx<'_>, tp: &TopicPartition) {
        if self.rules.isr.is_none() {
            return;
        }
        let (now, end) = (wall(ctx), self.store.end(tp));
        for (id, follower) in self.led.get_mut(tp).into_iter().flatten() {
            let then = self.silent.get(id).copied().unwrap_or(u64::MAX).min(now);
            let began = follower.seen.leo.is_some() || follower.seen.last_caught_up > 0;
            if let Some(at) = follower.waits.filter(|_| began) {
                follower.seen.fetched(at, then, end);
            }
        }
    }

    /// ISRs of led partitions with members that have to leave, without them.
    /// [spec kafka-zk.md I2]
    pub fn out_of_sync(
        &mut self,
        ctx: &Ctx<'_>,
        me: u32,
        roles: &impl Roles,
    ) -> Vec<(TopicPartition, Vec<u32>)> {
        let Some(rules) = self.rules.isr else { return Vec::new() };
        let mut found = Vec::new();
        for tp in self.unsettled.clone() {
            self.still_ask(ctx, &tp);
            let (Some(led), Some(role)) = (self.led.get(&tp), roles.role(&tp)) else { continue };
            let (end, now, lag) = (self.store.end(&tp), wall(ctx), self.rules.lag_ms);
            let stays = |id: &u32| {
                *id == me || led.get(id).is_none_or(|f| !f.seen.is_out(rules.shrink, end, now, lag))
            };
            let left: Vec<u32> = role.isr.iter().copied().filter(stays).collect();
            if role.leader == Some(me) && left.len() < role.isr.len() {
                found.push((tp, left));
            }
        }
        found
    }

    /// Whether a member of an ISR lacks anything, so that somebody has to look at the clock.
    pub fn anybody_lacks(&self, me: u32, roles: &impl Roles) -> bool {
        self.rules.isr.is_some()
            && self.unsettled.iter().any(|tp| {
                let (end, led) = (self.store.end(tp), self.led.get(tp));
                let leo = |id: &u32| led?.get(id)?.seen.leo;
                let lacks = |role: Role<'_>| {
                    role.leader == Some(me)
                        && role.isr.iter().any(|id| *id != me && leo(id) != Some(end))
                };
                roles.role(tp).is_some_and(lacks)
            })
    }

    /// Followers outside the ISR that would ask now, and may join. [spec kafka-zk.md I3]
    pub fn may_rejoin(&self, tp: &TopicPartition, roles: &impl Roles) -> Vec<u32> {
        let (Some(led), Some(role)) = (self.led.get(tp), roles.role(tp)) else { return Vec::new() };
        if self.rules.isr.is_none() {
            return Vec::new();
        }
        let asks = |(id, follower): &(&u32, &Follower)| {
            let at = follower.waits.filter(|_| !self.silent.contains_key(id));
            !role.isr.contains(id) && at.is_some_and(|at| self.reached(tp, role, at))
        };
        led.iter().filter(asks).map(|(id, _)| *id).collect()
    }

    /// Whether who asks from this offset on is in sync: at the high watermark, and in the leader's
    /// own epoch. [spec kafka-zk.md I3]
    fn reached(&self, tp: &TopicPartition, role: Role<'_>, at: Offset) -> bool {
        let Some(log) = self.store.get(tp) else { return at == 0 };
        let own = log.epochs().entries().last().filter(|entry| entry.epoch == role.epoch);
        let begins = own.map_or(0, |entry| entry.offset);
        let rules = self.rules.isr.filter(|rules| rules.reach_epoch);
        at >= log.high_watermark && at <= log.end() && (rules.is_none() || at >= begins)
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
                if let Some(led) = self.led.get_mut(tp) {
                    // A new replica waits with the others.
                    let fresh = Follower { waits: Some(0), ..Follower::new(false, wall(ctx)) };
                    led.entry(from).or_insert(fresh);
                }
                fine.push(tp.clone());
                continue;
            }
            self.lead(ctx, tp, me, roles);
            let in_isr = roles.role(tp).is_some_and(|role| role.isr.contains(&from));
            let fresh = Follower::new(in_isr, wall(ctx));
            let followers = self.led.entry(tp.clone()).or_default();
            let follower = followers.entry(from).or_insert(fresh);
            *follower = Follower { waits: None, told: 0, behind: true, ..*follower };
            follower.seen.leo = None;
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
            self.lead(ctx, tp, me, roles);
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
        partitions: &[Follow],
        roles: &impl Roles,
    ) -> Vec<TopicPartition> {
        let (mut caught_up, mut tps, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        let mut differ = Vec::new();
        for asked in partitions {
            let (tp, offset) = (&asked.tp, asked.from);
            if asked.new && ReplicaManager::leads(me, tp, roles).is_ok() {
                self.lead(ctx, tp, me, roles);
            }
            let Some(role) = roles.role(tp).filter(|_| self.led.contains_key(tp)) else { continue };
            if let Some(answer) = self.differs(asked, role) {
                differ.push((tp.clone(), answer));
                continue;
            }
            let reached = self.reached(tp, role, offset);
            let end = self.store.end(tp);
            let Some(known) = self.led.get_mut(tp).and_then(|led| led.get_mut(&from)) else {
                continue;
            };
            let before = known.seen.leo;
            known.seen.fetched(offset.min(end), wall(ctx), end);
            known.waits = Some(offset);
            known.behind |= asked.new;
            // Whoever was taken out joins again, unless another change is under way.
            if reached && (known.behind || !role.isr.contains(&from)) {
                known.behind = false;
                caught_up.push(tp.clone());
            }
            if self.rules.isr.is_none() || before != known.seen.leo {
                moved.push(tp.clone());
            }
            tps.push(tp.clone());
        }
        for tp in &moved {
            self.settle_one(ctx, me, tp, roles);
        }
        if !differ.is_empty() {
            send(ctx, from, Msg::Diverged { partitions: differ });
        }
        self.push(ctx, me, &tps, roles);
        caught_up
    }

    /// Where the follower's log leaves the leader's; `None`: it doesn't, or nobody asked.
    /// [spec kafka-zk.md I8, I9]
    fn differs(&self, asked: &Follow, role: Role<'_>) -> Option<Option<EpochOffset>> {
        let epoch = asked.epoch?;
        let none = Log::default();
        let log = self.store.get(&asked.tp).unwrap_or(&none);
        let mut epochs = log.epochs().clone();
        // An empty log isn't kept: its leader's epoch begins at its end all the same. [I7]
        if log.end() == 0 {
            epochs = EpochCache::default();
            epochs.assign(role.epoch, 0);
        }
        match epochs.end_offset(epoch, log.end()) {
            Some(answer) if answer.epoch == epoch && answer.offset >= asked.from => None,
            Some(answer) => Some(Some(answer)),
            // A fetch from there is out of range; a question has no answer.
            None if self.rules.agreement == Agreement::OnFetch => None,
            None => Some(None),
        }
    }

    /// The leader says where the logs part: what comes after goes. [spec kafka-zk.md I9]
    pub(super) fn leader_differs(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        partitions: &[(TopicPartition, Option<EpochOffset>)],
        roles: &impl Roles,
    ) {
        let mut asks = Vec::new();
        for (tp, answer) in partitions {
            if roles.role(tp).is_none_or(|role| role.leader != Some(from)) {
                continue;
            }
            let none = Log::default();
            let log = self.store.get(tp).unwrap_or(&none);
            let (end, high_watermark) = (log.end(), log.high_watermark);
            let cut = match self.rules.agreement {
                Agreement::AskOnce => {
                    let end_of = answer.map(|answer| answer.offset);
                    epoch_cache::truncation_of_0_11(end, high_watermark, end_of)
                }
                _ => epoch_cache::truncation(log.epochs(), end, high_watermark, *answer),
            };
            self.truncate(ctx, me, tp, cut.to);
            if cut.done {
                self.asking.remove(tp);
            }
            asks.push(self.question(tp, true));
        }
        if !asks.is_empty() {
            send(ctx, from, Msg::Follow { partitions: asks });
        }
    }

    /// What a follower asks for next.
    pub fn question(&self, tp: &TopicPartition, new: bool) -> Follow {
        let latest = self.store.get(tp).and_then(|log| log.epochs().latest());
        let epoch = match self.rules.agreement {
            Agreement::ToHighWatermark => None,
            Agreement::OnFetch => latest,
            _ => latest.filter(|_| self.asking.contains(tp)),
        };
        Follow { tp: tp.clone(), from: self.store.end(tp), epoch, new }
    }

    /// Whether who begins to follow has to say where its log ends.
    pub fn has_to_agree(&self, tp: &TopicPartition) -> bool {
        self.rules.keeps_epochs && self.store.end(tp) > 0
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
        let mut lapsed = BTreeMap::<u32, Vec<TopicPartition>>::new();
        for tp in tps {
            if ReplicaManager::leads(me, tp, roles).is_err() {
                continue;
            }
            let waiting: Vec<(u32, Offset)> = self.led.get(tp).map_or_else(Vec::new, |led| {
                led.iter().filter_map(|(id, known)| Some((*id, known.waits?))).collect()
            });
            for (id, at) in waiting {
                if self.is_silent(ctx, id) {
                    continue;
                }
                if self.has_lapsed(ctx, tp, id) {
                    lapsed.entry(id).or_default().push(tp.clone());
                    continue;
                }
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
        for (id, tps) in lapsed {
            self.ask_where(ctx, id, &tps);
        }
    }

    /// The request of a follower that stands still was answered without data when its time was
    /// over, and no other came until the process goes on. On average it had waited for half of
    /// that time before.
    fn has_lapsed(&mut self, ctx: &Ctx<'_>, tp: &TopicPartition, id: u32) -> bool {
        let since = ctx.frozen.get(&id).filter(|_| self.rules.isr.is_none()).copied();
        let lapsed = since.is_some_and(|since| ctx.now.since(since).0 >= TELL.0 / 2);
        if lapsed && let Some(known) = self.led.get_mut(tp).and_then(|led| led.get_mut(&id)) {
            known.waits = None;
        }
        lapsed
    }

    /// Of these partitions, those in which a follower has all that is committed.
    pub fn has_all(&self, follower: u32, tps: BTreeSet<TopicPartition>) -> Vec<TopicPartition> {
        let fine = |tp: &TopicPartition| {
            let high_watermark = self.store.get(tp).map_or(0, |log| log.high_watermark);
            let known = self.led.get(tp).and_then(|led| led.get(&follower));
            let leo = known.filter(|known| known.waits.is_some());
            let leo = leo.and_then(|known| known.seen.leo);
            self.store.end(tp) == 0 || leo.is_some_and(|leo| leo >= high_watermark)
        };
        tps.into_iter().filter(fine).collect()
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
                asks.push(self.question(&tp, false));
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
        // Who has to agree first says where its own log ends.
        if fetched.from == WHERE && self.has_to_agree(tp) {
            return true;
        }
        self.asking.remove(tp);
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
        let moved = told > log.high_watermark || behind_start;
        log.high_watermark = log.high_watermark.max(told);
        if moved {
            self.moved(ctx, tp);
        }
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
        let silent: Vec<u32> = self.silent.keys().copied().collect();
        let lapsed: Vec<u32> = silent.into_iter().filter(|id| self.is_silent(ctx, *id)).collect();
        for tp in std::mem::take(&mut self.untold) {
            let Some(log) = self.store.get(&tp) else { continue };
            if ReplicaManager::leads(me, &tp, roles).is_err() {
                continue;
            }
            let high_watermark = log.high_watermark;
            let ends = (log.start(), log.end());
            for (id, known) in self.led.entry(tp.clone()).or_default() {
                let waits = known.waits.filter(|_| !lapsed.contains(id));
                let Some(from) = waits.filter(|_| known.told < high_watermark) else {
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
