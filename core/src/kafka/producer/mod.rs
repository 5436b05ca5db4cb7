//! Producer processes: the textbook's, which registers in ZooKeeper, and the two of 0.8.2.
//! [spec producer.md, product.md T7, T8]

pub mod keys;
mod metadata;
mod registry;
mod send;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::broker::{self, Ctx, Effect, Input};
use super::data::{self, Code, Offset};
use super::event::Event as Note;
use super::msg::{Msg, TopicPartition};
use super::partitioner;
use crate::base::{Digest, Instant, Span, limits};
use crate::zk::client::Client;
use crate::zk::hold::{Session, ZkSettings};
use metadata::{Asking, Topic};
pub use registry::Pending;
use registry::Registry;
use send::Request;

/// Whose rules it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// [product.md T7, T8]
    Textbook,
    /// `kafka.producer` of 0.8. [spec producer.md §2]
    #[default]
    Scala,
    /// `org.apache.kafka.clients.producer`. [spec producer.md §1]
    Java,
}

/// What the producer's timers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The next record of its rate.
    Send,
    /// A request takes too long, or a wait before the next try is over.
    Retry,
    /// The textbook asks ZooKeeper again for what wasn't ready.
    Read,
}

/// How it picks a partition that nobody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioner {
    /// The one of its kind.
    Default,
    RoundRobin,
    /// Records with these keys go to the partition given, others by the default.
    Pinned(Vec<(Arc<str>, u32)>),
}

/// What it sends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub topic: Arc<str>,
    pub every: Span,
    /// Empty: no keys. One after the other; a key named twice comes twice as often.
    pub keys: Vec<Arc<str>>,
    /// `None`: until it is stopped.
    pub count: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerSpec {
    /// `None`: the profile's own.
    pub kind: Option<Kind>,
    pub acks: i16,
    pub partitioner: Partitioner,
    /// `topic.metadata.refresh.interval.ms`, `metadata.max.age.ms`
    pub refresh_ms: u32,
    pub tries: Tries,
    /// `metadata.broker.list`, `bootstrap.servers`; empty: all brokers.
    pub brokers: Arc<[u32]>,
    pub stream: Option<Stream>,
}

/// How often and how long it tries; `None`: the defaults of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// `message.send.max.retries`, `retries`
    pub retries: Option<u32>,
    /// `retry.backoff.ms`
    pub backoff_ms: Option<u32>,
    /// `request.timeout.ms` of the old producer, `timeout.ms` of the Java one: how long the broker
    /// waits for copies.
    pub timeout_ms: Option<u32>,
    /// `delivery.timeout.ms` of later Java producers: when it gives a record up by itself.
    pub delivery_ms: Option<u32>,
}

impl fmt::Display for Tries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.retries.map_or(Ok(()), |n| write!(f, " retries {n}"))?;
        self.backoff_ms.map_or(Ok(()), |ms| write!(f, " backoff {ms}ms"))?;
        self.timeout_ms.map_or(Ok(()), |ms| write!(f, " timeout {ms}ms"))?;
        self.delivery_ms.map_or(Ok(()), |ms| write!(f, " delivery {ms}ms"))
    }
}

/// Records that a person has a producer send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub topic: Arc<str>,
    pub partition: Option<u32>,
    pub key: Option<Arc<str>>,
    /// The values are `from`, `from + 1`, …
    pub from: u64,
    pub count: u32,
}

/// As a script writes it, after the name.
impl fmt::Display for ProducerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            None => {}
            Some(Kind::Textbook) => f.write_str(" kind textbook")?,
            Some(Kind::Scala) => f.write_str(" kind scala")?,
            Some(Kind::Java) => f.write_str(" kind java")?,
        }
        write!(f, " acks {}", self.acks)?;
        match &self.partitioner {
            Partitioner::Default => {}
            Partitioner::RoundRobin => f.write_str(" partitioner roundrobin")?,
            Partitioner::Pinned(pins) => {
                f.write_str(" partitioner pinned")?;
                pins.iter().try_for_each(|(key, partition)| write!(f, " {key}={partition}"))?;
            }
        }
        write!(f, " refresh {}ms{}", self.refresh_ms, self.tries)?;
        for (n, id) in self.brokers.iter().enumerate() {
            write!(f, "{}{id}", if n == 0 { " brokers " } else { "," })?;
        }
        let Some(stream) = &self.stream else { return Ok(()) };
        write!(f, " topic {} every {}", stream.topic, stream.every)?;
        if !stream.keys.is_empty() {
            write!(f, " keys {}", keys::list(&stream.keys))?;
        }
        stream.count.map_or(Ok(()), |count| write!(f, " count {count}"))
    }
}

/// As a script writes it, after the producer's name.
impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "topic {}", self.topic)?;
        self.partition.map_or(Ok(()), |partition| write!(f, " partition {partition}"))?;
        self.key.as_ref().map_or(Ok(()), |key| write!(f, " key {}", written(key)))?;
        write!(f, " from {} count {}", self.from, self.count)
    }
}

/// A key as a script writes it: in quotes where it isn't one plain word.
fn written(key: &str) -> Cow<'_, str> {
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if !key.is_empty() && !key.starts_with(['"', '#']) && !key.contains(odd) {
        return Cow::Borrowed(key);
    }
    // A `#` after a blank would begin a comment.
    Cow::Owned(serde_json::Value::from(key).to_string().replace('#', "\\u0023"))
}

/// What happens at a producer, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Registered,
    /// It knows brokers and partitions anew.
    MetadataRead {
        brokers: Vec<u32>,
        topic: Option<Arc<str>>,
        partitions: u32,
    },
    /// It chose a partition for records.
    Sent {
        tp: TopicPartition,
        key: Option<Arc<str>>,
        count: u32,
        by: Choice,
        by_hand: bool,
    },
    /// A broker took them.
    Acknowledged {
        tp: TopicPartition,
        from: Offset,
        count: u32,
        by_hand: bool,
    },
    Failed {
        tp: Option<TopicPartition>,
        why: Code,
        retries: u32,
    },
}

/// By which rule a partition was chosen, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Given,
    KeyHash { hash: i32, partitions: u32 },
    RoundRobin,
    Sticky,
    Pinned,
}

/// `metadata.fetch.timeout.ms` of the Java producer. [spec producer.md P1]
const FETCH_TIMEOUT: Span = Span::from_secs(60);

/// A record that is not with a broker yet, or not known to be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    topic: Arc<str>,
    given: Option<u32>,
    key: Option<Arc<str>>,
    value: Arc<str>,
    /// Where it goes, once that is decided for good.
    at: Option<partitioner::Choice>,
    /// How often it may still be sent.
    tries: u32,
    /// It is given up then: `delivery.timeout.ms`.
    until: Instant,
    /// It was sent before.
    sent: bool,
    by_hand: bool,
}

/// `message.send.max.retries` of the old producer; `retries` of the Java one, which has 0 unless
/// set. [spec producer.md O3]
const RETRIES: u32 = 3;
/// `retry.backoff.ms`
const BACKOFF: Span = Span::from_millis(100);
/// `request.timeout.ms` of the old producer, and how long a metadata answer is waited for.
const PATIENCE: Span = Span::from_secs(10);

fn millis(ms: u32) -> Span {
    Span::from_millis(ms.into())
}

#[derive(Clone)]
pub struct Producer {
    pub name: Arc<str>,
    pub kind: Kind,
    pub spec: Arc<ProducerSpec>,
    /// Records that were sent, of them those that were acknowledged, and those given up.
    pub sent: u64,
    pub acknowledged: u64,
    pub failed: u64,
    /// The textbook's session.
    pub zk: Option<Session<Pending>>,
    settings: ZkSettings,
    registry: Registry,
    /// `metadata.broker.list`
    bootstrap: Arc<[u32]>,
    brokers: Vec<u32>,
    topics: BTreeMap<Arc<str>, Topic>,
    partitioner: Box<dyn partitioner::Partitioner>,
    queue: VecDeque<Item>,
    requests: BTreeMap<u32, Request>,
    next_id: u32,
    asking: Option<Asking>,
    /// When metadata were last asked for.
    refreshed_at: Option<Instant>,
    /// They are asked for before anything else is sent.
    must_refresh: bool,
    backoff: Instant,
    timer_at: Instant,
    /// Since when a topic to be written to is not there.
    missing_since: Option<Instant>,
    /// Records made at its rate.
    made: u64,
    closing: bool,
}

impl Producer {
    /// `bootstrap`: the brokers that it is told of.
    pub fn new(
        name: Arc<str>,
        kind: Kind,
        spec: Arc<ProducerSpec>,
        settings: ZkSettings,
        bootstrap: Arc<[u32]>,
    ) -> Producer {
        Producer {
            name,
            kind,
            partitioner: partitioner::of(kind, &spec.partitioner),
            spec,
            sent: 0,
            acknowledged: 0,
            failed: 0,
            zk: (kind == Kind::Textbook).then(|| Session::new(settings.client())),
            settings,
            registry: Registry::default(),
            bootstrap,
            brokers: Vec::new(),
            topics: BTreeMap::new(),
            queue: VecDeque::new(),
            requests: BTreeMap::new(),
            next_id: 0,
            asking: None,
            refreshed_at: None,
            must_refresh: false,
            backoff: Instant::ZERO,
            timer_at: Instant::NEVER,
            missing_since: None,
            made: 0,
            closing: false,
        }
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => {
                if let Some(zk) = &mut self.zk {
                    zk.start(ctx.now, ctx.rng);
                }
                self.arm_stream(ctx, ctx.now);
            }
            Input::Stop => self.stop(ctx),
            Input::Zk(input) => {
                if let Some(zk) = &mut self.zk {
                    zk.input(ctx.now, ctx.rng, input);
                }
            }
            Input::Peer { from, msg: Msg::Closed } => self.hung_up(ctx, from),
            Input::Peer { msg: Msg::Data(msg), .. } => self.hear(ctx, *msg),
            Input::Peer { .. } => {}
            Input::Timer(broker::Timer::Producer(timer)) => self.timer(ctx, timer),
            Input::Timer(_) => {}
        }
        self.listen(ctx);
        self.pump(ctx);
        if self.closing && self.zk.is_none() && self.queue.is_empty() && self.requests.is_empty() {
            ctx.out.push(Effect::Exit);
        }
    }

    /// See [`partitioner::Partitioner::steer`].
    pub fn steer(&mut self, partition: u32) {
        self.partitioner.steer(partition);
    }

    /// Nothing that it took waits for a broker.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.requests.is_empty()
    }

    /// A person has it send these.
    pub fn produce(&mut self, ctx: &mut Ctx<'_>, batch: &Batch) {
        for n in 0..u64::from(batch.count) {
            let value = batch.from.saturating_add(n).to_string();
            let record = (batch.key.clone(), value.into());
            self.take(ctx.now, &batch.topic, batch.partition, record, true);
        }
        self.listen(ctx);
        self.pump(ctx);
    }

    fn take(
        &mut self,
        now: Instant,
        topic: &Arc<str>,
        given: Option<u32>,
        (key, value): (Option<Arc<str>>, Arc<str>),
        by_hand: bool,
    ) {
        let retries = self.spec.tries.retries.unwrap_or(RETRIES);
        let (topic, tries) = (topic.clone(), retries.saturating_add(1));
        let until = self.spec.tries.delivery_ms.map_or(Instant::NEVER, |ms| now + millis(ms));
        let item = Item { topic, given, key, value, at: None, tries, until, sent: false, by_hand };
        self.queue.push_back(item);
    }

    /// What it still has goes out first. [Producer#close]
    fn stop(&mut self, ctx: &mut Ctx<'_>) {
        self.closing = true;
        if let Some(zk) = &mut self.zk {
            zk.close(ctx.now, Pending::Close);
        } else if self.backoff > ctx.now || self.asking.is_some() {
            // Nobody can take it now.
            self.queue.clear();
        }
    }

    fn timer(&mut self, ctx: &mut Ctx<'_>, timer: Timer) {
        match timer {
            Timer::Send => self.stream(ctx),
            Timer::Retry => {
                if self.timer_at <= ctx.now {
                    self.timer_at = Instant::NEVER;
                }
                self.look_at_the_clock(ctx);
            }
            Timer::Read => self.read_again(ctx),
        }
    }

    fn arm_stream(&self, ctx: &mut Ctx<'_>, at: Instant) {
        let Some(stream) = self.spec.stream.as_ref().filter(|_| !self.closing) else { return };
        if stream.count.is_none_or(|count| self.made < u64::from(count)) {
            let timer = broker::Timer::Producer(Timer::Send);
            ctx.out.push(Effect::Arm { timer, at });
        }
    }

    /// The next record of its rate. Who waits for an answer, or has too many waiting, makes none.
    fn stream(&mut self, ctx: &mut Ctx<'_>) {
        let spec = self.spec.clone();
        let Some(stream) = spec.stream.as_ref().filter(|_| !self.closing) else { return };
        let busy = match self.kind {
            Kind::Scala => !self.queue.is_empty() || !self.requests.is_empty(),
            Kind::Java | Kind::Textbook => self.queue.len() >= limits::BATCH as usize,
        };
        if !busy {
            let turn = usize::try_from(self.made).unwrap_or(0).checked_rem(stream.keys.len());
            let key = turn.and_then(|turn| stream.keys.get(turn)).cloned();
            let record = (key, self.made.to_string().into());
            self.take(ctx.now, &stream.topic, None, record, false);
            self.made += 1;
        }
        self.arm_stream(ctx, ctx.now + stream.every);
    }

    fn note(ctx: &mut Ctx<'_>, event: Event) {
        ctx.out.push(Effect::Note(Note::Producer(event)));
    }

    fn tell(ctx: &mut Ctx<'_>, to: u32, msg: data::Msg) {
        ctx.out.push(Effect::Peer { to, msg: Msg::Data(Box::new(msg)) });
    }

    fn number(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(1);
        self.next_id
    }

    /// One entry of the queue stands for all that waits for a moment.
    fn arm(&mut self, ctx: &mut Ctx<'_>, at: Instant) {
        if at < self.timer_at {
            self.timer_at = at;
            let timer = broker::Timer::Producer(Timer::Retry);
            ctx.out.push(Effect::Arm { timer, at });
        }
    }

    fn hear(&mut self, ctx: &mut Ctx<'_>, msg: data::Msg) {
        match msg {
            data::Msg::MetadataAnswer { id, brokers, topics } => {
                self.metadata_read(ctx, id, brokers, topics);
            }
            data::Msg::Produced { id, results } => self.produced(ctx, id, &results),
            _ => {}
        }
    }

    /// A broker's process has ended, or there is none.
    fn hung_up(&mut self, ctx: &mut Ctx<'_>, broker: u32) {
        self.ask_another(ctx, broker);
        let lost = self.requests.iter().filter(|(_, request)| request.to == broker);
        let lost: Vec<u32> = lost.map(|(id, _)| *id).collect();
        for id in lost {
            self.request_failed(ctx, id, Code::LeaderNotAvailable);
        }
    }

    pub fn client(&self) -> Option<&Client> {
        self.zk.as_ref().map(Session::client)
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(self.sent);
        digest.u64(self.acknowledged);
        digest.u64(self.failed);
        digest.u64(self.made);
        digest.u64(self.queue.len() as u64);
        digest.u64(self.requests.len() as u64);
        if let Some(client) = self.client() {
            client.digest(digest);
        }
    }
}
