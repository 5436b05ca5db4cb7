//! One rebalance after the other: commit, release, read the group, assign, claim. [spec
//! consumer-zk.md, syncedRebalance, rebalance(); product.md T11, T12]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assign::{self, Group, Member, Subscription};
use super::connector::{Connector, Owned, Phase, Rules};
use super::event::{Event, Note, Trigger};
use super::nodes;
use super::task::{Step, Thread};
use crate::base::Span;
use crate::kafka::broker::Ctx;
use crate::kafka::data::Offset;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::payload::{self, TopicInfo};
use crate::kafka::real::scala;
use crate::zk::op::{Error, Op, Path, Reply};

/// What a partition shall go to.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub tp: TopicPartition,
    /// What is written into the owner node.
    pub owner: String,
    pub stream: u32,
    pub home: u32,
    pub offset: Option<Offset>,
}

/// What an attempt has read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Rebalance {
    trigger: Option<Trigger>,
    done: bool,
    own: Option<Member>,
    existing: Vec<Arc<str>>,
    /// The own topics, in the order in which they are read, and the homes of their partitions.
    topics: Vec<Arc<str>>,
    homes: BTreeMap<Arc<str>, Vec<u32>>,
    ids: Vec<Arc<str>>,
    pub claims: Vec<Claim>,
    claimed: Vec<Path>,
    refused: bool,
    /// What it had before, for one that goes on with it.
    #[cfg(feature = "mutations")]
    old: BTreeMap<TopicPartition, Owned>,
}

impl Connector {
    pub(super) fn rebalance_step(&mut self, ctx: &mut Ctx<'_>, thread: Thread, step: Step) {
        match step {
            Step::Sync(trigger) if !self.stopping => {
                self.attempt = 0;
                self.rebalance.trigger = Some(trigger);
                self.then(thread, [Step::Attempt]);
            }
            Step::Attempt => self.begin_attempt(ctx, thread),
            Step::ClusterListed => self.cluster_listed(thread),
            Step::ClusterRead => self.cluster_read(thread),
            Step::OwnRead => self.own_read(ctx, thread),
            Step::BrokersAwaited => {
                self.task(thread).fiber.take();
                self.note(ctx, Event::NoBrokers);
                self.rebalance.done = true;
            }
            Step::CloseFetchers => self.close_fetchers(ctx, thread),
            Step::Release => self.release(thread),
            Step::Released => self.released(ctx, thread),
            Step::PartitionsRead => self.partitions_read(thread),
            Step::MembersListed => self.members_listed(ctx, thread),
            Step::MembersRead => self.members_read(ctx, thread),
            Step::OffsetsFetched => self.offsets_fetched(ctx, thread),
            Step::OffsetsRead => self.offsets_read(thread),
            Step::Claim(at) => self.claim(ctx, thread, at),
            Step::Claimed(at) => self.claimed(ctx, thread, at),
            Step::HolderRead(at) => self.holder_read(ctx, thread, at),
            Step::BackOff => self.back_off(ctx, thread),
            Step::Undone => _ = self.task(thread).fiber.take(),
            Step::AttemptOver => self.attempt_over(ctx, thread),
            _ => {}
        }
    }

    fn begin_attempt(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        if self.rules.gives_up() && self.attempt >= self.options.retries {
            return self.give_up(ctx, thread);
        }
        let trigger = self.rebalance.trigger;
        self.rebalance = Rebalance { trigger, ..Rebalance::default() };
        let trigger = trigger.unwrap_or(Trigger::Members);
        self.note(ctx, Event::Attempt { attempt: self.attempt, trigger });
        self.ask_children(thread, paths::BROKER_IDS);
        self.then(thread, [Step::ClusterListed, Step::AttemptOver]);
    }

    /// Giving up is not leaving: it stays registered, and rebalances again when it is told to,
    /// but the application never gets its streams. [spec consumer-zk.md B2]
    fn give_up(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.phase = Phase::GaveUp;
        self.note(ctx, Event::GaveUp { attempts: self.attempt });
        if thread == Thread::App {
            self.task(thread).clear();
            self.then(thread, [Step::Unlock]);
        } else {
            self.note(ctx, Event::Note(Note::GaveUpUnheard));
        }
    }

    /// The attempt breaks off where it is.
    fn fail(&mut self, ctx: &mut Ctx<'_>, thread: Thread, why: Event) {
        self.note(ctx, why);
        let task = self.task(thread);
        while task.stack.pop_if(|step| !matches!(step, Step::AttemptOver)).is_some() {}
    }

    fn attempt_over(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let attempt = self.attempt;
        if self.rebalance.done {
            let owned = self.owned.len() as u32;
            self.phase = Phase::Fetching;
            self.note(ctx, Event::AttemptEnded { attempt, owned });
            return;
        }
        self.note(ctx, Event::AttemptFailed { attempt });
        self.phase = Phase::BackingOff;
        self.attempt += 1;
        self.then(thread, [Step::CloseFetchers, Step::BackOff, Step::Attempt]);
    }

    fn back_off(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.phase = Phase::BackingOff;
        self.sleep(ctx, thread, Span::from_millis(u64::from(self.options.backoff_ms)));
    }

    // --- Who is there ----------------------------------------------------------------------------

    fn cluster_listed(&mut self, thread: Thread) {
        self.brokers = self.answered_brokers(thread);
        for id in self.brokers.clone() {
            self.task(thread).fiber.get(paths::broker(id));
        }
        self.then(thread, [Step::ClusterRead]);
    }

    pub(super) fn answered_brokers(&mut self, thread: Thread) -> Vec<u32> {
        let answer = self.task(thread).fiber.one();
        let Some(Ok(Reply::Children { children, .. })) = answer else { return Vec::new() };
        let mut ids: Vec<u32> = children.iter().filter_map(|id| id.parse().ok()).collect();
        ids.sort_unstable();
        ids
    }

    fn cluster_read(&mut self, thread: Thread) {
        self.task(thread).fiber.take();
        let own = nodes::id(&self.spec.group, &self.id);
        self.task(thread).fiber.get(own);
        self.ask_children(thread, paths::TOPICS);
        self.then(thread, [Step::OwnRead]);
    }

    /// Step 1: the own registration; nothing is done without a broker. [spec consumer-zk.md S5,
    /// G7, B4]
    fn own_read(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let mut answers = self.task(thread).fiber.take().into_iter();
        let own = match answers.next() {
            Some(Ok(Reply::Data { data, .. })) => {
                nodes::member(&self.id, &data, self.options.no_internal)
            }
            _ => None,
        };
        let Some(own) = own else { return self.fail(ctx, thread, Event::Note(Note::Broken)) };
        if let Some(Ok(Reply::Children { children, .. })) = answers.next() {
            self.rebalance.existing = children;
        }
        self.rebalance.own = Some(own);
        if !self.brokers.is_empty() {
            return self.then(thread, [Step::CloseFetchers, Step::Release]);
        }
        // From now on it hears of every broker that comes or goes. [spec consumer-zk.md G7]
        self.listens.brokers = true;
        self.ask_children_again(thread, paths::BROKER_IDS.into());
        self.then(thread, [Step::BrokersAwaited]);
    }

    // --- Release ---------------------------------------------------------------------------------

    /// Step 2: what the application has got is committed by the owner that it still is.
    fn close_fetchers(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.stop_fetching();
        let commits = self.options.auto_commit;
        self.note(ctx, Event::Note(Note::FetchersStopped { commits }));
        if commits {
            self.then(thread, [Step::Commit]);
        }
    }

    /// What it owns, as the pools of its registry walk it.
    pub(super) fn registry(&self) -> Vec<TopicPartition> {
        let mut tps: Vec<TopicPartition> = self.owned.keys().cloned().collect();
        let mut topics: Vec<Arc<str>> = tps.iter().map(|tp| tp.topic.clone()).collect();
        topics.dedup();
        scala::order_java(&mut topics, |topic| scala::text_hash(topic));
        let place = |topic: &Arc<str>| topics.iter().position(|known| known == topic);
        tps.sort_by_key(|tp| place(&tp.topic));
        for of_topic in tps.chunk_by_mut(|a, b| a.topic == b.topic) {
            scala::order_java(of_topic, |tp| tp.partition as i32);
        }
        tps
    }

    /// Step 3: all of them, even those that it will get back.
    fn release(&mut self, thread: Thread) {
        self.phase = Phase::Releasing;
        for tp in self.registry() {
            let home = self.owned.get(&tp).map_or(0, |owned| owned.home);
            let path = nodes::owner(self.rules, &self.spec.group, &tp, home);
            self.task(thread).fiber.ask(Op::Delete { path, version: -1 });
        }
        self.then(thread, [Step::Released]);
    }

    fn released(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.task(thread).fiber.take();
        #[cfg(feature = "mutations")]
        self.keep_old();
        let partitions = std::mem::take(&mut self.owned).into_keys().collect();
        self.note(ctx, Event::Released { partitions });
        self.phase = Phase::Assigning;
        let existing = self.rebalance.existing.iter().map(|topic| &**topic);
        let topics: Vec<Arc<str>> = match &self.rebalance.own {
            Some(own) => own.topics(existing).into_keys().map(Arc::from).collect(),
            None => Vec::new(),
        };
        for topic in &topics {
            self.ask_topic(thread, topic);
        }
        self.rebalance.topics = topics;
        self.then(thread, [Step::PartitionsRead]);
    }

    // --- Assign ----------------------------------------------------------------------------------

    /// Step 4: partitions first, then who is there.
    fn partitions_read(&mut self, thread: Thread) {
        let answers = self.task(thread).fiber.take();
        for (topic, answer) in self.rebalance.topics.clone().into_iter().zip(answers) {
            let Ok(Reply::Data { data, .. }) = answer else { continue };
            let info = payload::read::<TopicInfo>(&data);
            let homes = info.into_iter().flat_map(|info| info.partitions);
            let homes = homes.map(|(_, replicas)| replicas.first().copied().unwrap_or(0));
            self.rebalance.homes.insert(topic, homes.collect());
        }
        self.ask_children(thread, &nodes::ids(&self.spec.group));
        self.then(thread, [Step::MembersListed]);
    }

    fn members_listed(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let Some(Ok(Reply::Children { children, .. })) = self.task(thread).fiber.one() else {
            return self.fail(ctx, thread, Event::Note(Note::Broken));
        };
        for id in &children {
            let path = nodes::id(&self.spec.group, id);
            self.task(thread).fiber.get(path);
        }
        self.rebalance.ids = children;
        self.then(thread, [Step::MembersRead]);
    }

    /// Steps 4 and 5. A member that vanishes meanwhile fails the attempt.
    fn members_read(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let answers = self.task(thread).fiber.take();
        let ids = std::mem::take(&mut self.rebalance.ids);
        let mut members = Vec::new();
        for (id, answer) in ids.iter().zip(answers) {
            let Ok(Reply::Data { data, .. }) = answer else {
                return self.fail(ctx, thread, Event::Note(Note::Broken));
            };
            // Somebody may have written by hand what nobody can read. [spec consumer-zk.md R3]
            members.extend(nodes::member(id, &data, self.options.no_internal));
        }
        let result = match self.rules {
            Rules::Textbook => {
                self.assign_by_textbook(ctx, &members);
                Ok(())
            }
            Rules::V08 => self.assign(ctx, &members),
        };
        match result {
            Ok(()) => self.then(thread, [Step::FetchOffsets]),
            Err(why) => self.fail(ctx, thread, Event::NotAssigned(why)),
        }
    }

    fn partitions_of(&self, topic: &str) -> u32 {
        self.rebalance.homes.get(topic).map_or(0, |homes| homes.len() as u32)
    }

    fn home(&self, tp: &TopicPartition) -> u32 {
        let homes = self.rebalance.homes.get(&tp.topic);
        homes.and_then(|homes| homes.get(tp.partition as usize)).copied().unwrap_or(0)
    }

    /// [spec consumer-zk.md, Assignment]
    fn assign(&mut self, ctx: &mut Ctx<'_>, members: &[Member]) -> Result<(), assign::Failed> {
        let known = self.rebalance.existing.iter().chain(&self.rebalance.topics);
        let counts: BTreeMap<String, u32> =
            known.map(|topic| (topic.to_string(), self.partitions_of(topic))).collect();
        let group = Group::new(&counts, members);
        let plan = group.plan(self.options.strategy, &self.id)?;
        let streams: BTreeMap<Arc<str>, u32> = match &self.rebalance.own {
            Some(own) => {
                let topics = own.topics(counts.keys().map(String::as_str));
                topics.into_iter().map(|(topic, n)| (Arc::from(topic), n)).collect()
            }
            None => BTreeMap::new(),
        };
        for (topic, n) in streams {
            let threads = threads_of(&topic, members, &counts);
            let mut numbers: Vec<u32> = (0..n).collect();
            scala::order_threads(&self.id, &mut numbers);
            let mut mine = Vec::new();
            for number in numbers {
                let thread = assign::thread_id(&self.id, number);
                let got = plan.get(&thread).and_then(|topics| topics.get(&*topic)).cloned();
                let at = threads.iter().position(|known| *known == thread).unwrap_or(0) as u32;
                if got.is_none() && self.options.strategy == assign::Strategy::Range {
                    let (thread, topic) = (thread.as_str().into(), topic.clone());
                    self.note(ctx, Event::Note(Note::IdleThread { thread, topic }));
                }
                let got = got.unwrap_or_default();
                let owner = thread;
                self.plan_claims(&topic, &got, &owner, number);
                mine.push((at, got));
            }
            mine.sort_unstable();
            let (partitions, takers) = (self.partitions_of(&topic), threads.len() as u32);
            self.note(ctx, Event::Assigned { topic, partitions, takers, mine });
        }
        self.order_claims();
        Ok(())
    }

    /// [product.md T11]
    fn assign_by_textbook(&mut self, ctx: &mut Ctx<'_>, members: &[Member]) {
        let existing = self.rebalance.existing.clone();
        for topic in self.rebalance.topics.clone() {
            let takes = |member: &&Member| {
                let topics = member.topics(existing.iter().map(|topic| &**topic));
                topics.contains_key(&*topic)
            };
            let mut takers: Vec<&str> =
                members.iter().filter(takes).map(|member| &*member.id).collect();
            takers.sort_unstable();
            let place = takers.iter().position(|id| **id == *self.id);
            let (partitions, count) = (self.partitions_of(&topic), takers.len() as u32);
            let mut mine = Vec::new();
            if let Some(at) = place.and_then(|at| u32::try_from(at).ok()) {
                let got: Vec<u32> = assign::ceil_share(partitions, count, at).collect();
                let owner = self.id.to_string();
                self.plan_claims(&topic, &got, &owner, 0);
                mine.push((at, got));
            }
            self.note(ctx, Event::Assigned { topic, partitions, takers: count, mine });
        }
    }

    fn plan_claims(&mut self, topic: &Arc<str>, partitions: &[u32], owner: &str, stream: u32) {
        for partition in partitions {
            let tp = TopicPartition { topic: topic.clone(), partition: *partition };
            let (home, owner) = (self.home(&tp), owner.to_owned());
            self.rebalance.claims.push(Claim { tp, owner, stream, home, offset: None });
        }
    }

    /// They go out as the map walks that the assignment put them into. [spec consumer-zk.md B3]
    fn order_claims(&mut self) {
        let claims = &mut self.rebalance.claims;
        #[cfg(feature = "mutations")]
        if self.mutation == Some(crate::kafka::broker::Mutation::LeavesLast) {
            claims.pop();
        }
        let mut tps: Vec<TopicPartition> = claims.iter().map(|claim| claim.tp.clone()).collect();
        scala::order_claims(&mut tps);
        let places: BTreeMap<TopicPartition, usize> = tps.into_iter().zip(0..).collect();
        claims.sort_by_key(|claim| places.get(&claim.tp).copied());
    }

    // --- Claim -----------------------------------------------------------------------------------

    /// Step 7: a refused claim does not stop the others of the attempt.
    fn claim(&mut self, ctx: &mut Ctx<'_>, thread: Thread, at: usize) {
        self.phase = Phase::Claiming;
        if self.stopping && at == 0 {
            return;
        }
        let Some(claim) = self.rebalance.claims.get(at) else {
            return self.claims_over(ctx, thread);
        };
        let path = nodes::owner(self.rules, &self.spec.group, &claim.tp, claim.home);
        let data = Some(claim.owner.as_bytes().into());
        let create = Step::Create { path, data, ephemeral: true, again: false };
        self.then(thread, [create, Step::Claimed(at)]);
    }

    fn claimed(&mut self, ctx: &mut Ctx<'_>, thread: Thread, at: usize) {
        let Some(claim) = self.rebalance.claims.get(at) else { return };
        let (tp, home) = (claim.tp.clone(), claim.home);
        let path = nodes::owner(self.rules, &self.spec.group, &tp, home);
        match self.task(thread).made {
            Ok(()) => self.is_claimed(ctx, thread, at, path),
            Err(Error::NodeExists) => {
                self.task(thread).fiber.get(path);
                self.then(thread, [Step::HolderRead(at)]);
            }
            Err(_) => self.fail(ctx, thread, Event::Note(Note::Broken)),
        }
    }

    fn is_claimed(&mut self, ctx: &mut Ctx<'_>, thread: Thread, at: usize, path: Path) {
        self.rebalance.claimed.push(path);
        if let Some(claim) = self.rebalance.claims.get(at) {
            self.note(ctx, Event::Claimed { tp: claim.tp.clone() });
        }
        self.then(thread, [Step::Claim(at + 1)]);
    }

    /// It stands there already: by the answer that was lost, or it is somebody's.
    fn holder_read(&mut self, ctx: &mut Ctx<'_>, thread: Thread, at: usize) {
        let Some(claim) = self.rebalance.claims.get(at).cloned() else { return };
        let holder = match self.task(thread).fiber.one() {
            Some(Ok(Reply::Data { data, .. })) => data,
            _ => None,
        };
        if holder.as_deref() == Some(claim.owner.as_bytes()) {
            let path = nodes::owner(self.rules, &self.spec.group, &claim.tp, claim.home);
            return self.is_claimed(ctx, thread, at, path);
        }
        self.rebalance.refused = true;
        let holder = holder.map(|data| String::from_utf8_lossy(&data).as_ref().into());
        self.note(ctx, Event::ClaimRefused { tp: claim.tp, holder });
        self.then(thread, [Step::Claim(at + 1)]);
    }

    fn claims_over(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        if !self.rebalance.refused {
            return self.all_claimed(ctx);
        }
        for path in std::mem::take(&mut self.rebalance.claimed).into_iter().rev() {
            self.task(thread).fiber.ask(Op::Delete { path, version: -1 });
        }
        self.then(thread, [Step::Undone]);
    }

    #[cfg(feature = "mutations")]
    fn keep_old(&mut self) {
        if self.mutation == Some(crate::kafka::broker::Mutation::ReadsOn) {
            self.rebalance.old = self.owned.clone();
        }
    }

    /// Step 8.
    fn all_claimed(&mut self, ctx: &mut Ctx<'_>) {
        self.rebalance.done = true;
        #[cfg(feature = "mutations")]
        self.owned.append(&mut self.rebalance.old);
        for claim in std::mem::take(&mut self.rebalance.claims) {
            let at = claim.offset.unwrap_or(0);
            let owned = Owned {
                stream: claim.stream,
                fetched: at,
                position: at,
                committed: claim.offset,
                leader: None,
                positioned: claim.offset.is_some(),
                home: claim.home,
            };
            self.owned.insert(claim.tp, owned);
        }
        self.start_fetching(ctx);
    }
}

/// All threads of a topic, sorted.
fn threads_of(topic: &str, members: &[Member], counts: &BTreeMap<String, u32>) -> Vec<String> {
    let mut threads = BTreeSet::new();
    for member in members {
        let topics = match &member.subscription {
            Subscription::Topics(topics) => topics.get(topic).copied(),
            _ => member.topics(counts.keys().map(String::as_str)).get(topic).copied(),
        };
        for stream in 0..topics.unwrap_or(0) {
            threads.insert(assign::thread_id(&member.id, stream));
        }
    }
    threads.into_iter().collect()
}
