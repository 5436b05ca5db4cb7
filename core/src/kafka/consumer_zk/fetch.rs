//! Records: who leads, from where to read, what goes to the application. [spec consumer-zk.md O4,
//! O5, S3, S7]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::connector::{Connector, Timer, send};
use super::event::Event;
use super::task::{Step, Thread};
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::Ctx;
use crate::kafka::data::{Code, Fetched, Msg, NO_LIMIT, Offset};
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;

/// `refresh.leader.backoff.ms`
const BACKOFF: Span = Span::from_millis(200);
/// From the claims to the first question who leads: threads and connections begin. A rebalance
/// that follows at once finds no positions to commit. [seen: recordings/0.8.2.2/consumer-conflicts]
const FIRST: Span = Span::from_millis(90);
/// So long a broker may take to tell who leads.
const PATIENCE: Span = Span::from_secs(10);
/// `queued.max.message.chunks`
const CHUNKS: usize = 2;

/// Records that wait for the application.
#[derive(Clone, Debug)]
struct Chunk {
    tp: TopicPartition,
    from: Offset,
    count: u32,
    /// A person had one of them sent.
    by_hand: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fetcher {
    pub running: bool,
    /// The fetch that each leader has from it.
    fetches: BTreeMap<u32, u32>,
    /// Who was asked where a partition's log begins or ends.
    resets: BTreeMap<u32, (u32, TopicPartition)>,
    /// By stream.
    queues: BTreeMap<u32, VecDeque<Chunk>>,
    busy: BTreeMap<u32, Instant>,
    /// Leaders of partitions whose stream had enough.
    starved: BTreeSet<u32>,
    /// Counts whom it asked.
    pub tries: u32,
}

impl Fetcher {
    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.running) << 32 | u64::from(self.tries));
        digest.u64(self.fetches.len() as u64);
        digest.u64(self.resets.len() as u64);
        for (stream, queue) in &self.queues {
            digest.u64(u64::from(*stream) << 32 | queue.len() as u64);
        }
    }

    fn is_full(&self, stream: u32) -> bool {
        self.queues.get(&stream).is_some_and(|queue| queue.len() >= CHUNKS)
    }
}

impl Connector {
    /// Fetchers stop and their queues are cleared; what the application has is its own. [spec
    /// consumer-zk.md, rebalance step 2]
    pub(super) fn stop_fetching(&mut self) {
        let fetcher = &mut self.fetcher;
        fetcher.running = false;
        fetcher.fetches.clear();
        fetcher.resets.clear();
        fetcher.queues.clear();
        fetcher.starved.clear();
        for owned in self.owned.values_mut() {
            owned.fetched = owned.position;
            owned.leader = None;
        }
        self.task(Thread::Leaders).clear();
    }

    pub(super) fn start_fetching(&mut self, ctx: &mut Ctx<'_>) {
        self.fetcher.running = true;
        self.task(Thread::Leaders).clear();
        self.then(Thread::Leaders, [Step::Look]);
        self.sleep(ctx, Thread::Leaders, FIRST);
        // What the application still works on goes on.
        self.process(ctx);
    }

    // --- Leaders ---------------------------------------------------------------------------------

    pub(super) fn leaders_step(&mut self, ctx: &mut Ctx<'_>, step: Step) {
        let thread = Thread::Leaders;
        match step {
            Step::Look if !self.without_leader().is_empty() => {
                self.ask_children(thread, paths::BROKER_IDS);
                self.then(thread, [Step::BrokersListed]);
            }
            Step::BrokersListed => {
                self.brokers = self.answered_brokers(thread);
                self.then(thread, [Step::AskLeaders]);
            }
            Step::AskLeaders => self.ask_leaders(ctx),
            Step::Leaders => self.leaders_answered(ctx),
            _ => {}
        }
    }

    /// The topics of which it does not know all leaders.
    fn without_leader(&self) -> BTreeSet<Arc<str>> {
        let lacking = self.owned.iter().filter(|(_, owned)| owned.leader.is_none());
        lacking.map(|(tp, _)| tp.topic.clone()).collect()
    }

    fn ask_leaders(&mut self, ctx: &mut Ctx<'_>) {
        let thread = Thread::Leaders;
        let topics = self.without_leader().into_iter().collect();
        match self.some_broker() {
            Some(to) => {
                self.ask_peer(ctx, thread, to, PATIENCE, |id| Msg::Metadata { id, topics });
                self.then(thread, [Step::Leaders]);
            }
            None => self.look_again(ctx),
        }
    }

    fn look_again(&mut self, ctx: &mut Ctx<'_>) {
        self.then(Thread::Leaders, [Step::Look]);
        self.sleep(ctx, Thread::Leaders, BACKOFF);
    }

    fn leaders_answered(&mut self, ctx: &mut Ctx<'_>) {
        let mut found = BTreeSet::new();
        if let Some(Msg::MetadataAnswer { topics, .. }) = self.task(Thread::Leaders).heard.take() {
            for meta in topics {
                for partition in meta.partitions.into_iter().flatten() {
                    let (topic, number) = (meta.topic.clone(), partition.partition);
                    let tp = TopicPartition { topic, partition: number };
                    if let Some(leader) = partition.leader
                        && self.is_led(ctx, &tp, leader)
                    {
                        found.insert(leader);
                    }
                }
            }
        }
        for leader in found {
            self.fetch_if_known(ctx, leader);
        }
        self.look_again(ctx);
    }

    /// It reads from where it was committed, or asks for the log's begin or end. [O4]
    fn is_led(&mut self, ctx: &mut Ctx<'_>, tp: &TopicPartition, leader: u32) -> bool {
        let Some(owned) = self.owned.get_mut(tp).filter(|owned| owned.leader.is_none()) else {
            return false;
        };
        owned.leader = Some(leader);
        if owned.positioned {
            let at = owned.fetched;
            self.note(ctx, Event::Positioned { tp: tp.clone(), at, reset: false });
        } else {
            self.reset(ctx, tp, leader);
        }
        true
    }

    fn reset(&mut self, ctx: &mut Ctx<'_>, tp: &TopicPartition, leader: u32) {
        let id = self.number();
        self.fetcher.resets.insert(id, (leader, tp.clone()));
        send(ctx, leader, Msg::ListOffsets { id, tp: tp.clone(), at: self.options.reset });
    }

    fn lose_leader(&mut self, ctx: &mut Ctx<'_>, tp: &TopicPartition) {
        if let Some(owned) = self.owned.get_mut(tp) {
            owned.leader = None;
        }
        if self.fetcher.running && self.tasks[Thread::Leaders as usize].is_idle() {
            self.look_again(ctx);
        }
    }

    /// A broker's process has ended.
    pub(super) fn hung_up(&mut self, ctx: &mut Ctx<'_>, broker: u32) {
        if self.channel == Some(broker) {
            self.channel = None;
        }
        for task in &mut self.tasks {
            if task.peer.is_some_and(|(_, to)| to == broker) {
                task.peer = None;
            }
        }
        self.fetcher.fetches.remove(&broker);
        self.fetcher.resets.retain(|_, (to, _)| *to != broker);
        let led = self.owned.iter().filter(|(_, owned)| owned.leader == Some(broker));
        let led: Vec<TopicPartition> = led.map(|(tp, _)| tp.clone()).collect();
        for tp in led {
            self.lose_leader(ctx, &tp);
        }
    }

    // --- Fetch -----------------------------------------------------------------------------------

    /// Not before it knows where to read all of a leader's partitions.
    fn fetch_if_known(&mut self, ctx: &mut Ctx<'_>, leader: u32) {
        if !self.fetcher.resets.values().any(|(to, _)| *to == leader) {
            self.fetch(ctx, leader);
        }
    }

    fn fetch(&mut self, ctx: &mut Ctx<'_>, leader: u32) {
        self.fetcher.fetches.remove(&leader);
        self.fetcher.starved.remove(&leader);
        if !self.fetcher.running {
            return;
        }
        let mut partitions = Vec::new();
        for (tp, owned) in &self.owned {
            if owned.leader != Some(leader) || !owned.positioned {
                continue;
            }
            if self.fetcher.is_full(owned.stream) {
                self.fetcher.starved.insert(leader);
            } else {
                partitions.push((tp.clone(), owned.fetched));
            }
        }
        if !partitions.is_empty() {
            let id = self.number();
            self.fetcher.fetches.insert(leader, id);
            let partitions = partitions.into();
            send(ctx, leader, Msg::Fetch { id, wait_ms: NO_LIMIT, partitions });
        }
    }

    pub(super) fn fetch_answered(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: Msg) {
        match msg {
            Msg::FetchAnswer { id, results } if self.fetcher.fetches.get(&from) == Some(&id) => {
                for (tp, result) in results {
                    self.fetched(ctx, from, tp, result);
                }
                self.process(ctx);
                self.fetch_if_known(ctx, from);
            }
            Msg::ListOffsetsAnswer { id, tp, result } => {
                let Some((leader, _)) = self.fetcher.resets.remove(&id) else { return };
                match (result, self.owned.get_mut(&tp)) {
                    (Ok(at), Some(owned)) => {
                        (owned.fetched, owned.position, owned.positioned) = (at, at, true);
                        self.note(ctx, Event::Positioned { tp, at, reset: true });
                    }
                    (Err(_), _) => self.lose_leader(ctx, &tp),
                    (Ok(_), None) => {}
                }
                self.fetch_if_known(ctx, leader);
            }
            _ => {}
        }
    }

    fn fetched(
        &mut self,
        ctx: &mut Ctx<'_>,
        from: u32,
        tp: TopicPartition,
        result: Result<Fetched, Code>,
    ) {
        let Some(owned) = self.owned.get_mut(&tp).filter(|owned| owned.leader == Some(from)) else {
            return;
        };
        match result {
            Ok(fetched) if fetched.from == owned.fetched && !fetched.records.is_empty() => {
                let count = u32::try_from(fetched.records.len()).unwrap_or(u32::MAX);
                owned.fetched += u64::from(count);
                let by_hand = fetched.records.iter().any(|record| record.by_hand);
                let chunk = Chunk { tp, from: fetched.from, count, by_hand };
                self.fetcher.queues.entry(owned.stream).or_default().push_back(chunk);
            }
            Ok(_) => {}
            Err(Code::OffsetOutOfRange) => {
                owned.positioned = false;
                self.reset(ctx, &tp, from);
            }
            Err(_) => self.lose_leader(ctx, &tp),
        }
    }

    // --- The application -------------------------------------------------------------------------

    /// Hands out what waits, record by record where the application takes its time.
    pub(super) fn process(&mut self, ctx: &mut Ctx<'_>) {
        if !self.reading {
            return;
        }
        let streams: Vec<u32> = self.fetcher.queues.keys().copied().collect();
        let mut handed = false;
        for stream in streams {
            while self.fetcher.busy.get(&stream).is_none_or(|until| *until <= ctx.now) {
                let Some((tp, from, count, by_hand)) = self.next_of(stream) else { break };
                handed = true;
                if let Some(owned) = self.owned.get_mut(&tp) {
                    owned.position = from + u64::from(count);
                }
                self.note(ctx, Event::Consumed { tp, from, count, by_hand });
                if self.options.processing_us > 0 {
                    let until = ctx.now + Span::from_micros(u64::from(self.options.processing_us));
                    self.fetcher.busy.insert(stream, until);
                    self.arm(ctx, Timer::Processed, until);
                }
            }
        }
        if handed {
            for leader in self.fetcher.starved.clone() {
                self.fetch_if_known(ctx, leader);
            }
        }
    }

    /// A chunk, or one record of it.
    fn next_of(&mut self, stream: u32) -> Option<(TopicPartition, Offset, u32, bool)> {
        let queue = self.fetcher.queues.get_mut(&stream)?;
        let chunk = queue.front_mut()?;
        if self.options.processing_us == 0 || chunk.count == 1 {
            let chunk = queue.pop_front()?;
            return Some((chunk.tp, chunk.from, chunk.count, chunk.by_hand));
        }
        let one = (chunk.tp.clone(), chunk.from, 1, chunk.by_hand);
        chunk.from += 1;
        chunk.count -= 1;
        Some(one)
    }
}
