//! A broker's part of the data plane: records are appended at the leader, copied by followers,
//! read by consumers up to the high watermark. Nothing here happens while nothing is produced.
//! [product.md T6, spec kafka-zk.md I5, I11]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::acks::{self, Asked, Waits};
use super::checkpoint::{self, Schedule};
use super::epoch_cache::Agreement;
use super::follow::Follower;
use super::high_watermark;
use super::isr;
use super::offsets::{self, Offsets};
use super::purgatory::{Kind, Purgatory, Want};
use super::store::{Event, Store, Timer};
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::{Ctx, Effect, Timer as AnyTimer};
use crate::kafka::data::{Code, Fetched, Msg, NO_EPOCH, Offset, Record, Reset};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};

/// Records of one partition in one answer: `fetch.message.max.bytes`, by number.
const READ: Offset = 4_096;

/// `replica.fetch.wait.max.ms`: by then a follower would have asked again.
pub(super) const TELL: Span = Span::from_millis(500);

/// What a broker believes about a replica of its own.
#[derive(Clone, Copy, Debug)]
pub struct Role<'a> {
    pub leader: Option<u32>,
    pub epoch: i32,
    pub isr: &'a [u32],
    /// With those that asked to join it and have no answer yet. [spec kafka-zk.md I4]
    pub maximal: &'a [u32],
    pub replicas: &'a [u32],
    /// As a follower: the last orders named another leader than it followed.
    pub begins: bool,
}

/// Whoever knows what replicas this broker has.
pub trait Roles {
    fn role(&self, tp: &TopicPartition) -> Option<Role<'_>>;
}

/// What the settings say about logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// `min.insync.replicas`
    pub min_insync: u32,
    /// `log.retention.bytes`
    pub retention: Option<u64>,
    /// `acks` may be any number of replicas, as in 0.8.
    pub counts_acks: bool,
    /// How often high watermarks are written down; `None`: at once.
    pub checkpoints: Option<Span>,
    /// Records carry their leader epochs (0.11 and later).
    pub keeps_epochs: bool,
    pub agreement: Agreement,
    /// Who is in sync; `None`: as the textbook and 0.8 have it.
    pub isr: Option<isr::Rules>,
    /// `min.insync.replicas` is at most the number of replicas.
    pub bounds_min: bool,
    /// `replica.lag.time.max.ms`
    pub lag_ms: u64,
    /// A mutation: the high watermark doesn't wait for followers.
    #[cfg(feature = "mutations")]
    pub commits_alone: bool,
}

/// The log files and what goes on around them. The files survive the process, the rest does not.
#[derive(Clone, Default)]
pub struct ReplicaManager {
    pub store: Arc<Store>,
    pub(super) rules: Rules,
    /// What the leader knows of its followers, of partitions with anything in their log.
    pub(super) led: BTreeMap<TopicPartition, BTreeMap<u32, Follower>>,
    /// Led partitions whose high watermark is not at their end.
    pub(super) unsettled: BTreeSet<TopicPartition>,
    /// Led partitions with a follower that does not know the high watermark.
    pub(super) untold: BTreeSet<TopicPartition>,
    pub(super) tell_armed: bool,
    waiting: Purgatory,
    /// Followed partitions in which the leader has not said yet that it agrees.
    pub(super) asking: BTreeSet<TopicPartition>,
    /// Since when brokers fetch nothing, on the wall clock.
    pub(super) silent: BTreeMap<u32, u64>,
    /// Of these, those whose answers wait until they fetch again.
    pub(super) lapsed: BTreeSet<u32>,
    pub(super) offsets: BTreeMap<TopicPartition, Offsets>,
    pub(super) schedule: Schedule,
    /// `min.insync.replicas` of topics that have their own, as far as it was looked up.
    pub topic_min_insync: BTreeMap<Arc<str>, Option<u32>>,
}

pub(super) fn send(ctx: &mut Ctx<'_>, to: u32, msg: Msg) {
    ctx.out.push(Effect::Peer { to, msg: AnyMsg::Data(Box::new(msg)) });
}

pub(super) fn note(ctx: &mut Ctx<'_>, event: Event) {
    ctx.out.push(Effect::Note(Note::Log(event)));
}

impl ReplicaManager {
    /// With the logs that a former life left.
    pub fn new(store: Arc<Store>, rules: Rules) -> ReplicaManager {
        let mut store = store;
        if rules.checkpoints.is_some() {
            checkpoint::recover(&mut store);
        }
        let schedule = Schedule::new(rules.checkpoints);
        ReplicaManager { store, rules, schedule, ..ReplicaManager::default() }
    }

    /// Why this broker can't serve a partition as its leader.
    pub(super) fn leads(me: u32, tp: &TopicPartition, roles: &impl Roles) -> Result<(), Code> {
        match roles.role(tp) {
            Some(role) if role.leader == Some(me) => Ok(()),
            Some(_) => Err(Code::NotLeaderForPartition),
            None => Err(Code::UnknownTopicOrPartition),
        }
    }

    /// A request or an answer about records. What comes back are partitions whose follower has
    /// now caught up.
    pub fn serve(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        from: u32,
        msg: Msg,
        roles: &impl Roles,
    ) -> Vec<TopicPartition> {
        match msg {
            Msg::Produce { id, acks, timeout_ms, batches } => {
                let who = (from, id, Kind::Produce);
                let until = ctx.now + Span::from_millis(timeout_ms.into());
                self.produce(ctx, me, (who, acks, until), &batches, roles);
            }
            Msg::Fetch { id, wait_ms, partitions } => {
                let want = Want { id, partitions };
                self.fetch(ctx, (me, from), want, wait_ms, roles);
            }
            Msg::ListOffsets { id, tp, at } => {
                let log = self.store.get(&tp);
                let offset = match at {
                    Reset::Earliest => log.map_or(0, |log| log.start()),
                    Reset::Latest => log.map_or(0, |log| log.high_watermark),
                };
                let result = ReplicaManager::leads(me, &tp, roles).map(|()| offset);
                send(ctx, from, Msg::ListOffsetsAnswer { id, tp, result });
            }
            Msg::Follow { partitions } => {
                return self.follower_asks(ctx, (me, from), &partitions, roles);
            }
            Msg::Followed { partitions } => {
                self.leader_says(ctx, (me, from), partitions, roles);
            }
            Msg::Diverged { partitions } => {
                self.leader_differs(ctx, (me, from), &partitions, roles);
            }
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn produce(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        (who, acks, until): ((u32, u32, Kind), i16, Instant),
        batches: &[(TopicPartition, Arc<[Record]>)],
        roles: &impl Roles,
    ) {
        let (mut results, mut waits, mut grown) = (Vec::new(), Vec::new(), Vec::new());
        for (tp, records) in batches {
            let result = self.take(ctx, me, (tp, acks), records, roles);
            if let Ok((offset, wait)) = result {
                grown.push(tp.clone());
                if !matches!(wait, Waits::Never | Waits::ForAppend) {
                    waits.push((tp.clone(), wait, offset + records.len() as Offset));
                }
            }
            results.push((tp.clone(), result.map(|(offset, _)| offset)));
        }
        let failed = results.iter().any(|(_, result)| result.is_err());
        if !waits.is_empty() {
            self.waiting.keep_produce(ctx, who, results, waits, until);
        } else if acks != 0 || failed {
            // Who wants no answer learns of an error by its closed connection.
            let (from, id, kind) = who;
            send(ctx, from, kind.answer(id, results));
        }
        self.push(ctx, me, &grown, roles);
        for tp in &grown {
            self.settle_one(ctx, me, tp, roles);
        }
    }

    /// Appends at the leader. [spec kafka-zk.md I11, I12]
    fn take(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        (tp, acks): (&TopicPartition, i16),
        records: &[Record],
        roles: &impl Roles,
    ) -> Result<(Offset, Waits), Code> {
        ReplicaManager::leads(me, tp, roles)?;
        let isr = roles.role(tp).map_or(0, |role| role.isr.len());
        let asked = Asked {
            acks: acks.into(),
            is_leader: true,
            isr: u32::try_from(isr).unwrap_or(u32::MAX),
            min_insync: self.min_insync(tp, roles),
        };
        let waits = acks::on_append(asked, self.rules.counts_acks).map_err(code)?;
        self.lead(ctx, tp, me, roles);
        self.still_ask(ctx, tp);
        let log = Arc::make_mut(&mut self.store).log(tp);
        let from = log.end();
        let epoch = roles.role(tp).filter(|_| self.rules.keeps_epochs).map(|role| role.epoch);
        log.lead(epoch.unwrap_or(NO_EPOCH), records.iter().cloned());
        let count = records.len() as u32;
        let by_hand = records.iter().any(|record| record.by_hand);
        note(ctx, Event::Appended { broker: me, tp: tp.clone(), from, count, by_hand });
        self.unsettled.insert(tp.clone());
        Ok((from, waits))
    }

    /// A consumer asks for what comes at these offsets.
    fn fetch(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        want: Want,
        wait_ms: u32,
        roles: &impl Roles,
    ) {
        self.waiting.forget_fetch(from);
        let results = self.read_all(me, &want, roles);
        if results.is_empty() && wait_ms > 0 {
            self.waiting.keep_fetch(ctx, from, want, wait_ms);
        } else {
            send(ctx, from, Msg::FetchAnswer { id: want.id, results });
        }
    }

    /// What there is for a fetch, and why not.
    fn read_all(
        &self,
        me: u32,
        want: &Want,
        roles: &impl Roles,
    ) -> Vec<(TopicPartition, Result<Fetched, Code>)> {
        let one = |(tp, offset): &(TopicPartition, Offset)| {
            let result = match ReplicaManager::leads(me, tp, roles) {
                Ok(()) => self.read(tp, *offset, true).transpose()?,
                Err(why) => Err(why),
            };
            Some((tp.clone(), result))
        };
        want.partitions.iter().filter_map(one).collect()
    }

    /// Records from an offset on, up to the high watermark or all of them.
    pub(super) fn read(
        &self,
        tp: &TopicPartition,
        from: Offset,
        committed: bool,
    ) -> Result<Option<Fetched>, Code> {
        let none = super::store::Log::default();
        let log = self.store.get(tp).unwrap_or(&none);
        if from < log.start() || from > log.end() {
            return Err(Code::OffsetOutOfRange);
        }
        let end = if committed { log.high_watermark } else { log.end() };
        if from >= end {
            return Ok(None);
        }
        let records = log.records(from, end.min(from.saturating_add(READ))).cloned().collect();
        let (high_watermark, log) = (log.high_watermark, (log.start(), log.end()));
        Ok(Some(Fetched { from, records, high_watermark, log }))
    }

    /// `min.insync.replicas` as it counts for a partition. [spec kafka-zk.md I11]
    pub(super) fn min_insync(&self, tp: &TopicPartition, roles: &impl Roles) -> u32 {
        let own = self.topic_min_insync.get(&tp.topic).copied().flatten();
        let set = own.unwrap_or(self.rules.min_insync);
        let replicas = roles.role(tp).map_or(0, |role| role.replicas.len());
        match self.rules.bounds_min {
            true => set.min(u32::try_from(replicas).unwrap_or(u32::MAX)),
            false => set,
        }
    }

    /// New orders for these partitions: whoever waits for a leader that is none any more is told.
    /// How a follower comes to agree with its leader depends on the release.
    /// [spec kafka-zk.md I7, I9]
    pub fn ordered(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        tps: &[TopicPartition],
        roles: &impl Roles,
    ) {
        self.schedule.begin(ctx.now);
        let (mut begun, mut led) = (Vec::new(), Vec::new());
        for tp in tps {
            let role = roles.role(tp);
            if let Some(role) = role.filter(|role| role.leader == Some(me)) {
                if let Some(led) = self.led.get_mut(tp) {
                    led.retain(|id, _| role.replicas.contains(id));
                }
                if self.store.end(tp) > 0 && !self.led.contains_key(tp) {
                    begun.push(tp.clone());
                }
                self.led_anew(ctx, tp, roles);
                led.push(tp);
                continue;
            }
            self.led.remove(tp);
            self.asking.remove(tp);
            self.offsets.remove(tp);
            self.untold.remove(tp);
            let known = self.store.get(tp);
            let to = known.map(|log| (log.high_watermark, log.epochs().latest()));
            match to {
                None => {}
                Some(_) if role.is_none() => {
                    Arc::make_mut(&mut self.store).logs.remove(tp);
                    self.topic_min_insync.remove(&tp.topic);
                    self.moved(ctx, tp);
                }
                Some((_, Some(_))) if self.rules.agreement != Agreement::ToHighWatermark => {
                    self.asking.insert(tp.clone());
                }
                Some(_) if role.is_some_and(|role| !role.begins) => {}
                Some((high_watermark, _)) => self.truncate(ctx, me, tp, high_watermark),
            }
            self.wake(ctx, me, tp, roles);
        }
        self.begin(ctx, me, &begun, roles);
        if self.rules.isr.is_some() {
            led.into_iter().for_each(|tp| self.settle_one(ctx, me, tp, roles));
        }
    }

    /// Its epoch begins here, and with it the time that followers have. [spec kafka-zk.md I1, I7]
    fn led_anew(&mut self, ctx: &Ctx<'_>, tp: &TopicPartition, roles: &impl Roles) {
        let Some(role) = roles.role(tp).filter(|_| self.rules.keeps_epochs) else { return };
        if self.store.get(tp).is_none() {
            return;
        }
        let log = Arc::make_mut(&mut self.store).log(tp);
        log.begin_epoch(role.epoch);
        let (now, end) = (wall(ctx), log.end());
        for (id, follower) in self.led.get_mut(tp).into_iter().flatten() {
            follower.seen.led_anew(role.isr.contains(id), now, end);
        }
    }

    pub(super) fn truncate(
        &mut self,
        ctx: &mut Ctx<'_>,
        broker: u32,
        tp: &TopicPartition,
        to: Offset,
    ) {
        if to < self.store.end(tp) && Arc::make_mut(&mut self.store).log(tp).truncate(to) {
            note(ctx, Event::Truncated { broker, tp: tp.clone(), to });
            self.moved(ctx, tp);
        }
    }

    /// After a step: where nothing says when, the high watermark may move at any time.
    pub fn settle_all(&mut self, ctx: &mut Ctx<'_>, me: u32, roles: &impl Roles) {
        if self.rules.isr.is_none() {
            self.settle(ctx, me, roles);
        }
    }

    /// An ISR has changed; whether the high watermark may move then depends on the release.
    /// [spec kafka-zk.md I5]
    pub fn isr_changed(&mut self, ctx: &mut Ctx<'_>, me: u32, roles: &impl Roles) {
        if self.rules.isr.is_some_and(|rules| rules.move_on_shrink) {
            self.settle(ctx, me, roles);
        }
    }

    /// Looks again at what is not committed yet, after anything that may have changed an ISR.
    pub fn settle(&mut self, ctx: &mut Ctx<'_>, me: u32, roles: &impl Roles) {
        if self.unsettled.is_empty() {
            return;
        }
        for tp in self.unsettled.clone() {
            self.settle_one(ctx, me, &tp, roles);
        }
    }

    /// The leader's high watermark, and who waited for it. [spec kafka-zk.md I5]
    pub(super) fn settle_one(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        tp: &TopicPartition,
        roles: &impl Roles,
    ) {
        let Some(role) = roles.role(tp).filter(|role| role.leader == Some(me)) else {
            self.unsettled.remove(tp);
            return self.wake(ctx, me, tp, roles);
        };
        let Some(log) = self.store.get(tp) else { return };
        let (before, end) = (log.high_watermark, log.end());
        let held = self.rules.isr.is_some_and(|rules| rules.hold_below_min)
            && role.isr.len() < self.min_insync(tp, roles) as usize;
        let counted = self.counted(ctx, me, tp, role);
        #[cfg_attr(not(feature = "mutations"), expect(unused_mut))]
        let mut to = match held {
            true => before,
            false => high_watermark::of_leader(before, end, counted).min(end),
        };
        #[cfg(feature = "mutations")]
        if self.rules.commits_alone {
            to = end;
        }
        if to > before {
            let log = Arc::make_mut(&mut self.store).log(tp);
            log.high_watermark = to;
            self.moved(ctx, tp);
            note(ctx, Event::HighWatermark { broker: me, tp: tp.clone(), to });
            self.retain(ctx, me, tp);
            self.untold.insert(tp.clone());
            self.arm_tell(ctx);
        }
        if to == end {
            self.unsettled.remove(tp);
        }
        if to > before || self.waiting.counts(tp) {
            self.wake(ctx, me, tp, roles);
        }
    }

    /// The followers that the high watermark waits for. [spec kafka-zk.md I5]
    fn counted(
        &self,
        ctx: &Ctx<'_>,
        me: u32,
        tp: &TopicPartition,
        role: Role<'_>,
    ) -> Vec<high_watermark::Follower> {
        let none = BTreeMap::new();
        let known = self.led.get(tp).unwrap_or(&none);
        let in_sync = role.maximal.iter().filter(|id| **id != me).map(|id| {
            let leo = known.get(id).and_then(|follower| follower.seen.leo);
            high_watermark::Follower { leo, in_sync: true, recent: false }
        });
        let mut counted: Vec<_> = in_sync.collect();
        if self.rules.isr.is_some_and(|rules| rules.wait_for_recent) {
            let others = known.iter().filter(|(id, _)| !role.maximal.contains(id));
            counted.extend(others.map(|(_, follower)| high_watermark::Follower {
                leo: follower.seen.leo,
                in_sync: false,
                recent: follower.seen.is_recent(wall(ctx), self.rules.lag_ms),
            }));
        }
        counted
    }

    pub(super) fn retain(&mut self, ctx: &mut Ctx<'_>, broker: u32, tp: &TopicPartition) {
        // The offsets' topic is compacted, not cut off.
        let bytes = self.rules.retention.filter(|_| *tp.topic != *offsets::TOPIC);
        let Some(bytes) = bytes else { return };
        if self.store.get(tp).is_none_or(|log| log.bytes() <= bytes) {
            return;
        }
        let log = Arc::make_mut(&mut self.store).log(tp);
        if log.retain(bytes) {
            let to = log.start();
            note(ctx, Event::StartMoved { broker, tp: tp.clone(), to });
        }
    }

    /// Answers those whose wait for a partition is over.
    fn wake(&mut self, ctx: &mut Ctx<'_>, me: u32, tp: &TopicPartition, roles: &impl Roles) {
        let leads = ReplicaManager::leads(me, tp, roles);
        let high_watermark = self.store.get(tp).map_or(0, |log| log.high_watermark);
        let in_sync = roles.role(tp).map_or(&[][..], |role| role.isr);
        let leo = |id: &u32| self.led.get(tp)?.get(id)?.seen.leo;
        let leos: Vec<Offset> = in_sync.iter().filter_map(leo).collect();
        let isr = in_sync.len() as u32;
        let min_insync = self.min_insync(tp, roles);
        let done = |waits: Waits, to: Offset| match (leads, waits) {
            (Err(why), _) => Some(Err(why)),
            (Ok(()), Waits::ForReplicas(n)) => {
                let have = 1 + leos.iter().filter(|leo| **leo >= to).count() as u32;
                (have >= n).then_some(Ok(()))
            }
            (Ok(()), _) => {
                (high_watermark >= to).then(|| acks::on_committed(isr, min_insync).map_err(code))
            }
        };
        self.waiting.produced(ctx, tp, done);
        for from in self.waiting.fetchers(tp) {
            let Some(want) = self.waiting.fetch_of(from) else { continue };
            let results = self.read_all(me, &want, roles);
            if !results.is_empty() {
                self.waiting.forget_fetch(from);
                send(ctx, from, Msg::FetchAnswer { id: want.id, results });
            }
        }
    }

    /// Followers that lack more than so many records, where that is known. [spec kafka-zk.md I2]
    pub fn slow(&self, most: u32) -> BTreeMap<TopicPartition, Vec<u32>> {
        let mut slow = BTreeMap::new();
        for tp in &self.unsettled {
            let end = self.store.end(tp);
            let lacks = |known: &Follower| {
                known.seen.leo.is_some_and(|leo| end.saturating_sub(leo) > most.into())
            };
            let known = self.led.get(tp).into_iter().flatten();
            let ids: Vec<u32> = known.filter(|(_, it)| lacks(it)).map(|(id, _)| *id).collect();
            if !ids.is_empty() {
                slow.insert(tp.clone(), ids);
            }
        }
        slow
    }

    pub fn timer(&mut self, ctx: &mut Ctx<'_>, me: u32, timer: AnyTimer, roles: &impl Roles) {
        match timer {
            AnyTimer::Log(Timer::Waited) => self.waiting.time_is_over(ctx),
            AnyTimer::Log(Timer::Tell) => self.tell(ctx, me, roles),
            AnyTimer::Log(Timer::Checkpoint) => self.checkpoint_timer(),
            _ => {}
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        if self.store.logs.is_empty() {
            return;
        }
        self.store.digest(digest);
        for (tp, followers) in &self.led {
            digest.text(&tp.topic);
            for (id, follower) in followers {
                digest.u64(u64::from(*id));
                digest.u64(follower.seen.leo.unwrap_or(Offset::MAX));
            }
        }
        self.waiting.digest(digest);
    }
}

/// Milliseconds on the wall clock.
pub(super) fn wall(ctx: &Ctx<'_>) -> u64 {
    u64::try_from(ctx.wall_ms).unwrap_or(0)
}

fn code(error: acks::Error) -> Code {
    match error {
        acks::Error::NotLeaderOrFollower => Code::NotLeaderForPartition,
        acks::Error::InvalidRequiredAcks => Code::InvalidRequiredAcks,
        acks::Error::NotEnoughReplicas => Code::NotEnoughReplicas,
        acks::Error::NotEnoughReplicasAfterAppend => Code::NotEnoughReplicasAfterAppend,
        acks::Error::RequestTimedOut => Code::RequestTimedOut,
    }
}
