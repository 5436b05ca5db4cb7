//! The replicas of a broker, with empty logs: whom it follows, what it leads, and who of its
//! followers is in sync. [spec kafka-zk.md §9, C6]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::broker::{Pending, send};
use super::context::Leadership;
use super::fiber::Answer;
use super::msg::{IsrAnswer, IsrChange, Msg, Order};
use super::registry;
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::{Ctx, Effect, Timer};
use crate::kafka::data;
use crate::kafka::event::Event as Note;
use crate::kafka::log::manager::{ReplicaManager, Role, Roles};
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};
use crate::kafka::paths;
use crate::kafka::settings::Settings;
use crate::zk::op::{CreateMode, Op, Reply, Zxid, open_acl};

/// How long it takes until a new follower asks its leader for the first time.
const FETCH_START: Span = Span::from_millis(100);
/// How long a follower waits before it asks again a leader that isn't one yet.
const FETCH_AGAIN: Span = Span::from_millis(500);
/// Changes of ISRs are gathered so long before they go to the controller. [I4]
const GATHER: Span = Span::from_millis(50);
/// Without an answer they are sent again.
const ISR_RETRY: Span = Span::from_secs(2);
/// Notices of changed ISRs: how often is looked, how long must be quiet. [I4]
const NOTICE_CHECK: Span = Span::from_millis(2_500);
const NOTICE_QUIET: Span = Span::from_secs(5);
const NOTICE_LATEST: Span = Span::from_secs(60);

/// What a broker believes about one of its replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    pub state: Leadership,
    pub replicas: Vec<u32>,
    /// As a follower: it has what its leader has.
    pub caught_up: bool,
    /// As a follower: the controller told it to stop.
    stopped: bool,
    /// As a leader: since when.
    since: Instant,
    /// As a leader: who has asked for data since.
    fetchers: BTreeSet<u32>,
    /// The broker whose log it copies or copied last; itself as a leader.
    source: Option<u32>,
    /// The last orders changed that.
    begins: bool,
    /// As a leader: a change of the ISR is under way.
    busy: bool,
    /// The ISR that was asked for last.
    wanted: Vec<u32>,
    /// As a leader: who wants to join once that is over.
    waiting: BTreeSet<u32>,
}

impl Replica {
    /// The ISR once what is under way is done.
    fn isr_to_be(&self) -> &[u32] {
        if self.busy { &self.wanted } else { &self.state.isr }
    }
}

/// Followers that lack too many records.
type Slow = BTreeMap<TopicPartition, Vec<u32>>;

pub type Map = BTreeMap<TopicPartition, Arc<Replica>>;

/// A replica that is about to change.
fn of<'a>(map: &'a mut Arc<Map>, tp: &TopicPartition) -> Option<&'a mut Replica> {
    // Look first: what isn't there must not cost a copy.
    map.contains_key(tp).then_some(())?;
    Arc::make_mut(map).get_mut(tp).map(Arc::make_mut)
}

#[derive(Clone, Default)]
pub struct Replicas {
    /// Shared between copies of the world until it changes.
    pub map: Arc<Map>,
    /// Of these the broker, told to stop following, still has a fetch under way: chance, for those
    /// who replay a recording. [spec kafka-zk.md F8]
    pub late: BTreeSet<TopicPartition>,
    /// The broker is shutting down: it follows nobody any more.
    pub stopping: bool,
    /// When each follower was last heard from.
    heard: BTreeMap<u32, Instant>,
    /// Silent followers that are in no ISR here any more, so that nobody looks for them again.
    left: BTreeSet<u32>,
    /// Led partitions of whose ISR silent followers were taken out: they may come back.
    lost: BTreeMap<u32, BTreeSet<TopicPartition>>,
    /// Led partitions with a member of the ISR that has not asked yet.
    unheard: BTreeSet<TopicPartition>,
    started_at: Instant,
    fetch_at: Instant,
    /// Followed partitions that are not caught up, so that a fetch looks at no others.
    missing: BTreeSet<TopicPartition>,
    /// Who lives, as the controller last said.
    live: BTreeSet<u32>,
    lag_armed: bool,
    by_controller: bool,
    /// Changes that wait to be sent to the controller, and those that were.
    changes: BTreeMap<TopicPartition, Vec<u32>>,
    in_flight: BTreeMap<TopicPartition, Vec<u32>>,
    send_at: Instant,
    /// Changes that no notice tells of yet.
    untold: BTreeSet<TopicPartition>,
    last_change: Instant,
    last_notice: Instant,
    asked: Vec<(Op, Pending)>,
}

impl Replicas {
    pub fn started(&mut self, ctx: &Ctx<'_>, settings: &Settings) {
        self.started_at = ctx.now;
        self.last_notice = ctx.now;
        self.send_at = Instant::NEVER;
        self.fetch_at = Instant::NEVER;
        self.by_controller = settings.release.alters_isr_by_controller();
    }

    pub fn take_asked(&mut self) -> Vec<(Op, Pending)> {
        std::mem::take(&mut self.asked)
    }

    pub fn heard(&mut self, from: u32, now: Instant) {
        self.heard.insert(from, now);
        self.left.remove(&from);
    }

    fn leads(replica: &Replica, me: u32) -> bool {
        replica.state.leader == Some(me)
    }

    /// Back comes what was obeyed. [C6]
    pub fn take_orders(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        live: &[u32],
        orders: &[Arc<Order>],
    ) -> Vec<TopicPartition> {
        self.live = live.iter().copied().collect();
        let mut taken = Vec::new();
        for order in orders {
            let known = self.map.get(&order.tp);
            let newer = known.is_none_or(|r| order.state.leader_epoch > r.state.leader_epoch);
            if !newer || !order.replicas.contains(&me) {
                continue;
            }
            self.take_order(ctx, me, order);
            taken.push(order.tp.clone());
        }
        self.arm_fetch(ctx, FETCH_START);
        self.arm_lag(ctx);
        taken
    }

    /// Who lives has changed.
    pub fn hear_who_lives(&mut self, ctx: &mut Ctx<'_>, live: &[u32]) {
        self.live = live.iter().copied().collect();
        if !self.missing.is_empty() {
            self.arm_fetch(ctx, FETCH_START);
        }
    }

    fn take_order(&mut self, ctx: &mut Ctx<'_>, me: u32, order: &Order) {
        let (tp, state) = (order.tp.clone(), order.state.clone());
        let (leader, leader_epoch) = (state.leader, state.leader_epoch);
        let leads = leader == Some(me);
        // Whoever led before goes on hearing its followers.
        if leads {
            self.left.clear();
            self.expect_back(ctx, order);
        }
        let led = self.map.get(&tp).filter(|known| leads && Replicas::leads(known, me));
        let (since, fetchers) = match led {
            Some(known) => (known.since, known.fetchers.clone()),
            None => (ctx.now, BTreeSet::new()),
        };
        let source = self.map.get(&tp).and_then(|known| known.source);
        // A leader that nobody knows to live is not followed, so nothing is cut off for it. [I7]
        let followed = leader.filter(|id| leads || self.live.contains(id));
        let begins = followed.is_some() && source != followed;
        self.changes.remove(&tp);
        self.in_flight.remove(&tp);
        let quiet = |id: &&u32| **id != me && !fetchers.contains(id);
        if leads && state.isr.iter().find(quiet).is_some() {
            self.unheard.insert(tp.clone());
        } else {
            self.unheard.remove(&tp);
        }
        let replica = Replica {
            state,
            replicas: order.replicas.clone(),
            caught_up: leads,
            stopped: false,
            since,
            fetchers,
            source: followed.or(source),
            begins,
            busy: false,
            wanted: Vec::new(),
            waiting: BTreeSet::new(),
        };
        match leads {
            true => _ = self.missing.remove(&tp),
            false => _ = self.missing.insert(tp.clone()),
        }
        Arc::make_mut(&mut self.map).insert(tp.clone(), Arc::new(replica));
        let broker = me;
        ctx.out.push(Effect::Note(match leads {
            true => Note::BecameLeader { broker, tp, leader_epoch },
            false => Note::BecameFollower { broker, tp, leader, leader_epoch },
        }));
    }

    /// Followers outside the ISR that stand still, but believe that they follow: they go on when
    /// their process does. [F5]
    fn expect_back(&mut self, ctx: &mut Ctx<'_>, order: &Order) {
        for id in order.replicas.iter().filter(|id| !order.state.isr.contains(id)) {
            if ctx.frozen.contains_key(id) {
                let lost = self.lost.entry(*id).or_default();
                if lost.is_empty() {
                    send(ctx, *id, Msg::Probe);
                }
                lost.insert(order.tp.clone());
            }
        }
    }

    /// A follower is lively: what it was taken out of comes back.
    pub fn back(&mut self, from: u32, now: Instant) -> BTreeSet<TopicPartition> {
        self.heard(from, now);
        let mut lost = self.lost.remove(&from).unwrap_or_default();
        lost.retain(|tp| self.map.get(tp).is_some_and(|r| !r.isr_to_be().contains(&from)));
        lost
    }

    /// A follower asked for records of these.
    pub fn asked_for(&mut self, from: u32, now: Instant, asked: &[data::Follow]) {
        self.heard(from, now);
        for data::Follow { tp, .. } in asked {
            let new = self.map.get(tp).is_some_and(|r| !r.fetchers.contains(&from));
            if let Some(replica) = of(&mut self.map, tp).filter(|_| new) {
                replica.fetchers.insert(from);
            }
        }
    }

    /// From whom anything is copied.
    pub fn sources(&self, me: u32) -> BTreeSet<u32> {
        let follows = |replica: &&Arc<Replica>| !replica.stopped;
        let sources = self.map.values().filter(follows).filter_map(|replica| replica.state.leader);
        sources.filter(|id| *id != me).collect()
    }

    pub fn stop(&mut self, ctx: &mut Ctx<'_>, me: u32, tps: &[TopicPartition], delete: bool) {
        for tp in tps {
            self.missing.remove(tp);
            if !delete {
                let Some(replica) = of(&mut self.map, tp) else { continue };
                replica.stopped = true;
                replica.caught_up = false;
                if let (true, Some(leader)) = (self.late.remove(tp), replica.state.leader) {
                    let partitions = Arc::from([tp.clone()]);
                    send(ctx, leader, Msg::Fetch { partitions });
                }
            } else if self.map.contains_key(tp) {
                Arc::make_mut(&mut self.map).remove(tp);
                self.unheard.remove(tp);
                self.changes.remove(tp);
                self.untold.remove(tp);
                let (broker, tp) = (me, tp.clone());
                ctx.out.push(Effect::Note(Note::ReplicaDeleted { broker, tp }));
            }
        }
    }

    fn fetch(&mut self, ctx: &mut Ctx<'_>, wanted: BTreeMap<u32, Vec<TopicPartition>>) {
        if self.stopping || wanted.is_empty() {
            return;
        }
        for (leader, partitions) in wanted {
            send(ctx, leader, Msg::Fetch { partitions: partitions.into() });
        }
        self.fetch_later(ctx);
    }

    fn fetch_later(&mut self, ctx: &mut Ctx<'_>) {
        self.arm_fetch(ctx, FETCH_AGAIN);
    }

    /// What this broker fetches from another one, as far as it was told.
    pub fn followed(&self, leader: u32) -> Vec<TopicPartition> {
        let follows = |replica: &Replica| replica.state.leader == Some(leader) && !replica.stopped;
        let found = self.map.iter().filter(|(_, replica)| follows(replica));
        found.map(|(tp, _)| tp.clone()).collect()
    }

    /// The leader doesn't know yet that it is one: it is asked again.
    pub fn not_leader(&mut self, ctx: &mut Ctx<'_>, leader: u32, tps: &[TopicPartition]) {
        for tp in tps {
            let Some(replica) = self.map.get(tp) else { continue };
            if replica.state.leader == Some(leader) && !replica.stopped {
                self.missing.insert(tp.clone());
                if replica.caught_up
                    && let Some(replica) = of(&mut self.map, tp)
                {
                    replica.caught_up = false;
                }
            }
        }
        self.fetch_later(ctx);
    }

    fn arm_fetch(&mut self, ctx: &mut Ctx<'_>, after: Span) {
        let at = ctx.now + after;
        if at < self.fetch_at && !self.stopping {
            self.fetch_at = at;
            ctx.out.push(Effect::Arm { timer: Timer::Refetch, at });
        }
    }

    /// Who has nothing in its log just asks; else the leader has to say whether they agree.
    fn fetch_missing(&mut self, ctx: &mut Ctx<'_>, me: u32, logs: &ReplicaManager) {
        let mut wanted = BTreeMap::<u32, Vec<TopicPartition>>::new();
        let mut questions = BTreeMap::<u32, Vec<data::Follow>>::new();
        for tp in &self.missing {
            let leader = self.map.get(tp).and_then(|replica| replica.state.leader);
            let leader = leader.filter(|id| *id != me && self.live.contains(id));
            match leader {
                None => {}
                Some(leader) if logs.has_to_agree(tp) => {
                    questions.entry(leader).or_default().push(logs.question(tp, true));
                }
                Some(leader) => wanted.entry(leader).or_default().push(tp.clone()),
            }
        }
        if !self.stopping && !questions.is_empty() {
            for (to, partitions) in questions {
                let msg = AnyMsg::Data(Box::new(data::Msg::Follow { partitions }));
                ctx.out.push(Effect::Peer { to, msg });
            }
            self.fetch_later(ctx);
        }
        self.fetch(ctx, wanted);
    }

    /// By their logs these ISRs have members that have to leave. [I2]
    pub fn shrink(
        &mut self,
        ctx: &mut Ctx<'_>,
        settings: &Settings,
        late: Vec<(TopicPartition, Vec<u32>)>,
    ) {
        for (tp, isr) in late {
            if self.map.get(&tp).is_some_and(|replica| !replica.busy) {
                self.change(ctx, settings, &tp, isr);
            }
        }
    }

    /// Somebody lacks something: there will be a look at who is late. Before AlterIsr there is
    /// always one.
    pub fn watch_for_lag(&mut self, ctx: &mut Ctx<'_>, settings: &Settings) {
        if self.by_controller && !self.lag_armed {
            self.lag_armed = true;
            let at = self.grid(ctx.now, Replicas::lag_every(settings));
            ctx.out.push(Effect::Arm { timer: Timer::Lag, at });
        }
    }

    /// A follower asks: it lacks nothing, for there is nothing; it may join the ISR. [I3]
    pub fn serve(
        &mut self,
        ctx: &mut Ctx<'_>,
        (me, from): (u32, u32),
        settings: &Settings,
        tps: &[TopicPartition],
    ) {
        self.heard(from, ctx.now);
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        for tp in tps {
            // Whom it was not told of yet has to ask again.
            let fits = |r: &&mut Replica| Replicas::leads(r, me) && r.replicas.contains(&from);
            let Some(replica) = of(&mut self.map, tp).filter(fits) else {
                others.push(tp.clone());
                continue;
            };
            replica.fetchers.insert(from);
            let all = replica.state.isr.iter().all(|id| *id == me || replica.fetchers.contains(id));
            if all {
                self.unheard.remove(tp);
            }
            mine.push(tp.clone());
        }
        for tp in &mine {
            self.grow(ctx, me, settings, tp, from);
        }
        if !mine.is_empty() {
            send(ctx, from, Msg::Fetched { partitions: mine.into() });
        }
        if !others.is_empty() {
            send(ctx, from, Msg::NotLeader { partitions: others.into() });
        }
        self.arm_lag_if(ctx, settings);
    }

    pub fn fetched(&mut self, ctx: &mut Ctx<'_>, me: u32, leader: u32, tps: &[TopicPartition]) {
        for tp in tps {
            if let Some(replica) = of(&mut self.map, tp)
                && replica.state.leader == Some(leader)
                && !replica.stopped
                && !replica.caught_up
            {
                replica.caught_up = true;
                self.missing.remove(tp);
                let (broker, tp) = (me, tp.clone());
                ctx.out.push(Effect::Note(Note::CaughtUp { broker, leader, tp }));
            }
        }
    }

    fn grow(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        settings: &Settings,
        tp: &TopicPartition,
        joined: u32,
    ) {
        let Some(replica) = of(&mut self.map, tp).filter(|r| Replicas::leads(r, me)) else {
            return;
        };
        if replica.isr_to_be().contains(&joined) || !replica.replicas.contains(&joined) {
            return;
        }
        if replica.busy {
            replica.waiting.insert(joined);
            return;
        }
        let mut isr = replica.state.isr.clone();
        isr.push(joined);
        self.change(ctx, settings, tp, isr);
    }

    /// Writes a new ISR or asks the controller to. [I4]
    fn change(
        &mut self,
        ctx: &mut Ctx<'_>,
        settings: &Settings,
        tp: &TopicPartition,
        isr: Vec<u32>,
    ) {
        let Some(replica) = of(&mut self.map, tp) else { return };
        replica.busy = true;
        replica.wanted.clone_from(&isr);
        if settings.release.alters_isr_by_controller() {
            self.changes.insert(tp.clone(), isr);
            if self.send_at == Instant::NEVER && self.in_flight.is_empty() {
                self.send_at = ctx.now + GATHER;
                ctx.out.push(Effect::Arm { timer: Timer::AlterIsr, at: self.send_at });
            }
            return;
        }
        self.write(tp, isr);
    }

    fn write(&mut self, tp: &TopicPartition, isr: Vec<u32>) {
        let Some(replica) = self.map.get(tp) else { return };
        let state = Leadership { isr: isr.clone(), ..replica.state.clone() };
        let op = Op::SetData {
            path: paths::state(&tp.topic, tp.partition),
            data: registry::state(&state),
            version: replica.state.zk_version,
        };
        self.asked.push((op, Pending::Isr { tp: tp.clone(), isr }));
    }

    /// The same write once more, in the next connection.
    pub fn write_again(&mut self, tp: &TopicPartition) {
        let busy = self.map.get(tp).filter(|replica| replica.busy);
        if let Some(isr) = busy.map(|replica| replica.wanted.clone()) {
            self.write(tp, isr);
        }
    }

    /// Sends what was gathered, one request at a time.
    pub fn send_changes(&mut self, ctx: &mut Ctx<'_>, epoch: Zxid, controller: Option<u32>) {
        if ctx.now < self.send_at || self.stopping {
            return;
        }
        self.send_at = Instant::NEVER;
        let waiting = std::mem::take(&mut self.changes);
        self.in_flight.extend(waiting);
        let mut changes = Vec::new();
        for (tp, isr) in &self.in_flight {
            let Some(replica) = self.map.get(tp) else { continue };
            changes.push(IsrChange {
                tp: tp.clone(),
                leader_epoch: replica.state.leader_epoch,
                isr: isr.clone(),
                zk_version: replica.state.zk_version,
            });
        }
        if changes.is_empty() {
            self.in_flight.clear();
            return;
        }
        if let Some(to) = controller {
            send(ctx, to, Msg::AlterIsr { epoch, changes });
        }
        self.send_at = ctx.now + ISR_RETRY;
        ctx.out.push(Effect::Arm { timer: Timer::AlterIsr, at: self.send_at });
    }

    /// What was asked of a former controller is asked of the new one.
    pub fn new_controller(&mut self) {
        if !self.in_flight.is_empty() || !self.changes.is_empty() {
            self.send_at = Instant::ZERO;
        }
    }

    pub fn altered(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        answers: Vec<(TopicPartition, IsrAnswer)>,
    ) -> Vec<TopicPartition> {
        self.send_at = Instant::NEVER;
        let (mut again, mut changed) = (Vec::new(), Vec::new());
        for (tp, answer) in answers {
            let Some(asked) = self.in_flight.remove(&tp) else { continue };
            let Some(replica) = of(&mut self.map, &tp) else { continue };
            replica.busy = false;
            let waiting = std::mem::take(&mut replica.waiting);
            if let Ok(state) = answer
                && state.leader_epoch == replica.state.leader_epoch
            {
                let before = std::mem::replace(&mut replica.state, state);
                note_change(ctx, me, &tp, &before.isr, &asked);
                changed.push(tp.clone());
                again.extend(waiting.into_iter().map(|id| (tp.clone(), id)));
            }
        }
        for (tp, id) in again {
            if let Some(replica) = of(&mut self.map, &tp)
                && Replicas::leads(replica, me)
                && !replica.state.isr.contains(&id)
                && !replica.busy
            {
                let mut isr = replica.state.isr.clone();
                isr.push(id);
                replica.busy = true;
                replica.wanted.clone_from(&isr);
                self.changes.insert(tp, isr);
            }
        }
        if !self.changes.is_empty() {
            self.send_at = ctx.now + GATHER;
            ctx.out.push(Effect::Arm { timer: Timer::AlterIsr, at: self.send_at });
        }
        changed
    }

    /// Followers that fetch all the time may join at once.
    pub fn rejoin(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        settings: &Settings,
        tp: &TopicPartition,
        who: &[u32],
    ) {
        for id in who {
            self.grow(ctx, me, settings, tp, *id);
        }
    }

    pub fn isr_written(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        settings: &Settings,
        tp: &TopicPartition,
        isr: Vec<u32>,
        result: Answer,
    ) {
        let Some(replica) = of(&mut self.map, tp) else { return };
        replica.busy = false;
        let waiting = std::mem::take(&mut replica.waiting);
        // A mismatch is skipped: the controller's order is on its way. [I4]
        let Ok(Reply::Stat(stat)) = result else { return };
        let before = std::mem::replace(&mut replica.state.isr, isr.clone());
        replica.state.zk_version = stat.version;
        note_change(ctx, me, tp, &before, &isr);
        if settings.release.notifies_isr_changes() {
            self.untold.insert(tp.clone());
            self.last_change = ctx.now;
            self.arm_notice(ctx);
        }
        for id in waiting {
            self.grow(ctx, me, settings, tp, id);
        }
    }

    /// Nobody knows whether the write was done: the next fetch or look asks anew.
    pub fn isr_lost(&mut self, tp: &TopicPartition) {
        if let Some(replica) = of(&mut self.map, tp) {
            replica.busy = false;
        }
    }

    pub fn session_lost(&mut self, settings: &Settings) {
        let busy = self.map.iter().filter(|(_, replica)| replica.busy);
        let busy: Vec<TopicPartition> = busy.map(|(tp, _)| tp.clone()).collect();
        self.asked.clear();
        for tp in busy {
            match settings.release.retries_until_connected() {
                true => self.write_again(&tp),
                false => self.isr_lost(&tp),
            }
        }
        self.in_flight.clear();
        self.changes.clear();
        self.send_at = Instant::NEVER;
    }

    /// The next moment on this broker's grid of looks.
    fn grid(&self, now: Instant, every: Span) -> Instant {
        let past = now.since(self.started_at).0;
        self.started_at + Span((past / every.0 + 1) * every.0)
    }

    fn lag_every(settings: &Settings) -> Span {
        let ms = u64::from(settings.replica_lag_ms) / settings.release.lag_checks_per_limit();
        Span::from_millis(ms.max(1))
    }

    fn arm_lag(&mut self, ctx: &mut Ctx<'_>) {
        if !self.by_controller && !self.lag_armed && !self.map.is_empty() {
            self.lag_armed = true;
            // The timer itself knows the interval: this one only starts it.
            ctx.out.push(Effect::Arm { timer: Timer::LagStart, at: ctx.now });
        }
    }

    fn arm_lag_if(&mut self, ctx: &mut Ctx<'_>, settings: &Settings) {
        if settings.release.shrinks_by_time_alone() {
            self.arm_lag(ctx);
        }
    }

    fn arm_notice(&mut self, ctx: &mut Ctx<'_>) {
        let at = self.grid(ctx.now, NOTICE_CHECK);
        ctx.out.push(Effect::Arm { timer: Timer::Notice, at });
    }

    pub fn timer(
        &mut self,
        ctx: &mut Ctx<'_>,
        me: u32,
        (settings, logs): (&Settings, &ReplicaManager),
        timer: Timer,
        slow: &Slow,
    ) {
        match timer {
            Timer::Refetch if ctx.now >= self.fetch_at => {
                self.fetch_at = Instant::NEVER;
                self.fetch_missing(ctx, me, logs);
            }
            Timer::Lag if self.by_controller => self.lag_armed = false,
            Timer::LagStart => {
                let at = self.grid(ctx.now, Replicas::lag_every(settings));
                ctx.out.push(Effect::Arm { timer: Timer::Lag, at });
            }
            Timer::Lag => {
                self.look_for_lag(ctx, me, settings, slow);
                let at = self.grid(ctx.now, Replicas::lag_every(settings));
                ctx.out.push(Effect::Arm { timer: Timer::Lag, at });
            }
            Timer::Notice => self.leave_notice(ctx),
            _ => {}
        }
    }

    /// Followers that were silent too long leave the ISR. The others are asked for a sign of
    /// life, which stands for the fetch requests that the model does not repeat. [I2]
    fn look_for_lag(&mut self, ctx: &mut Ctx<'_>, me: u32, settings: &Settings, slow: &Slow) {
        let limit = Span::from_millis(u64::from(settings.replica_lag_ms));
        let silent = |id: &u32, since: Instant| {
            let heard = self.heard.get(id).copied().unwrap_or(Instant::ZERO).max(since);
            ctx.now.since(heard).0 > limit.0
        };
        let stale: Vec<u32> = self
            .heard
            .keys()
            .copied()
            .filter(|id| silent(id, Instant::ZERO) && !self.left.contains(id))
            .collect();
        let looked: BTreeSet<TopicPartition> = match stale.is_empty() {
            false => self.map.keys().cloned().collect(),
            true => self.unheard.iter().chain(slow.keys()).cloned().collect(),
        };
        let (mut shrunk, mut found) = (Vec::new(), BTreeSet::<u32>::new());
        for tp in looked {
            let Some(replica) = self.map.get(&tp).filter(|r| Replicas::leads(r, me)) else {
                continue;
            };
            let gone = |id: &u32| {
                let unheard = !replica.fetchers.contains(id);
                let slow = slow.get(&tp).is_some_and(|ids| ids.contains(id));
                slow || *id != me
                    && match unheard {
                        true => ctx.now.since(replica.since).0 > limit.0,
                        false => silent(id, replica.since),
                    }
            };
            found.extend(stale.iter().filter(|id| replica.state.isr.contains(id)));
            let isr: Vec<u32> = replica.state.isr.iter().copied().filter(|id| !gone(id)).collect();
            if isr.len() < replica.state.isr.len() && !replica.busy {
                for id in replica.state.isr.iter().filter(|id| gone(id)) {
                    self.lost.entry(*id).or_default().insert(tp.clone());
                }
                shrunk.push((tp, isr));
            }
        }
        self.left.extend(stale.iter().filter(|id| !found.contains(id)));
        let ask: Vec<u32> = self.heard.keys().copied().filter(|id| *id != me).collect();
        for (tp, isr) in shrunk {
            self.change(ctx, settings, &tp, isr);
        }
        for id in ask {
            send(ctx, id, Msg::Probe);
        }
    }

    fn leave_notice(&mut self, ctx: &mut Ctx<'_>) {
        if self.untold.is_empty() {
            return;
        }
        let quiet = ctx.now.since(self.last_change).0 > NOTICE_QUIET.0;
        if !quiet && ctx.now.since(self.last_notice).0 <= NOTICE_LATEST.0 {
            return self.arm_notice(ctx);
        }
        self.last_notice = ctx.now;
        let tps: Vec<TopicPartition> = std::mem::take(&mut self.untold).into_iter().collect();
        let op = Op::Create {
            path: registry::ISR_NOTICE.into(),
            data: registry::partitions(&tps),
            acl: open_acl(),
            mode: CreateMode::PersistentSequential,
            ttl_ms: 0,
        };
        self.asked.push((op, Pending::IsrNotice));
    }

    pub fn digest(&self, digest: &mut Digest) {
        for (tp, replica) in &*self.map {
            digest.text(&tp.topic);
            digest.u64(u64::from(tp.partition));
            digest.i64(replica.state.leader.map_or(-1, i64::from));
            digest.i64(i64::from(replica.state.leader_epoch));
            for id in &replica.state.isr {
                digest.u64(u64::from(*id));
            }
            digest.u64(u64::from(replica.caught_up));
        }
    }
}

impl Roles for Replicas {
    fn role(&self, tp: &TopicPartition) -> Option<Role<'_>> {
        let replica = self.map.get(tp)?;
        let leader = replica.state.leader.filter(|_| !replica.stopped);
        let (epoch, isr) = (replica.state.leader_epoch, &replica.state.isr);
        let asked = self.changes.get(tp).or_else(|| self.in_flight.get(tp));
        let maximal = asked.filter(|asked| asked.len() > isr.len()).unwrap_or(isr);
        let (replicas, begins) = (&replica.replicas, replica.begins);
        Some(Role { leader, epoch, isr, maximal, replicas, begins })
    }
}

fn note_change(ctx: &mut Ctx<'_>, me: u32, tp: &TopicPartition, before: &[u32], after: &[u32]) {
    let (tp, isr) = (tp.clone(), after.to_vec());
    let joined = after.iter().copied().find(|id| !before.contains(id));
    ctx.out.push(Effect::Note(match joined {
        Some(joined) => Note::IsrGrown { tp, leader: me, isr, joined },
        None => {
            let left = before.iter().copied().filter(|id| !after.contains(id)).collect();
            Note::IsrShrunk { tp, leader: Some(me), isr, left }
        }
    }));
}
