//! What a person asks of consumers and producers.

use std::sync::Arc;

use super::command::{Command, Counted, NameFault, Refusal, Who};
use super::commands::{at_most, check_name, within};
use super::proc::{Kind, Node, Proc};
use super::{Emit, Profile, World, wall_ms};
use crate::base::{Span, limits};
use crate::kafka::broker::Ctx;
use crate::kafka::consumer_zk::Connector;
use crate::kafka::consumer_zk::connector::Rules;
use crate::kafka::consumer_zk::spec::{ConsumerSpec, Options, Wanted};
use crate::kafka::producer::{self, Batch, Producer, ProducerSpec};

/// A producer is up as soon as a broker, but never takes longer than this.
pub const PRODUCER_BOOT: Span = Span::from_millis(300);

impl World {
    pub(super) fn client_command(&mut self, emit: &mut Emit<'_>, command: &Command) {
        match command {
            Command::StartConsumer { name, spec } => self.start_consumer(emit, name, spec.clone()),
            Command::StartProducer { name, spec } => self.start_producer(emit, name, spec.clone()),
            Command::Produce { producer, batch } => {
                self.client_acts(emit, &Who::Producer(producer.clone()), |node, ctx| {
                    if let Node::Producer(producer) = node {
                        Arc::make_mut(producer).produce(ctx, batch);
                    }
                });
            }
            Command::Commit { consumer } => {
                self.client_acts(emit, &Who::Consumer(consumer.clone()), |node, ctx| {
                    if let Node::Consumer(consumer) = node {
                        Arc::make_mut(consumer).commit(ctx);
                    }
                });
            }
            Command::Tune { consumer, name, value } => {
                self.client_acts(emit, &Who::Consumer(consumer.clone()), |node, _| {
                    if let Node::Consumer(consumer) = node {
                        Arc::make_mut(consumer).tune(name, value);
                    }
                });
            }
            _ => {}
        }
    }

    pub(super) fn check_client_command(&self, command: &Command) -> Result<(), Refusal> {
        match command {
            Command::StartConsumer { name, spec } => self.check_consumer(name, spec),
            Command::StartProducer { name, spec } => self.check_producer(name, spec),
            Command::Produce { producer, batch } => {
                check_batch(batch)?;
                self.running(&Who::Producer(producer.clone())).map(|_| ())
            }
            Command::Commit { consumer } => {
                self.running(&Who::Consumer(consumer.clone())).map(|_| ())
            }
            Command::Tune { consumer, name, value } => {
                check_option(name, value)?;
                self.running(&Who::Consumer(consumer.clone())).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// A new process, or one that is down, may be started.
    fn check_free(&self, who: Who, what: Counted, limit: usize) -> Result<(), Refusal> {
        match self.find(&who) {
            Some(index) if self.proc(index).is_running() => Err(Refusal::AlreadyRunning(who)),
            Some(_) => Ok(()),
            None => {
                let same = |proc: &&Proc| {
                    matches!(
                        (&proc.kind, what),
                        (Kind::Consumer(_), Counted::Consumers)
                            | (Kind::Producer(_), Counted::Producers)
                    )
                };
                at_most(what, self.procs.iter().filter(same).count(), limit)
            }
        }
    }

    fn check_consumer(&self, name: &Arc<str>, spec: &ConsumerSpec) -> Result<(), Refusal> {
        if self.config.profile == Profile::V2 {
            return Err(Refusal::NotInThisProfile);
        }
        check_name(name, limits::CLIENT_NAME)?;
        check_name(&spec.group, limits::CLIENT_NAME)?;
        let streams = |n: u32| within(Counted::Streams, n.into(), 1, limits::STREAMS.into());
        match &spec.wanted {
            Wanted::Topics(topics) => topics.iter().try_for_each(|(topic, n)| {
                check_name(topic, limits::TOPIC_NAME)?;
                streams(*n)
            })?,
            Wanted::WhiteList { regex, streams: n } | Wanted::BlackList { regex, streams: n } => {
                let bad = |no: crate::kafka::consumer_zk::pattern::NoPattern| Refusal::BadPattern {
                    regex: regex.clone(),
                    at: no.at,
                };
                check_word(regex)?;
                spec.wanted.subscription().map_err(bad)?;
                streams(*n)?;
            }
        }
        spec.set.iter().try_for_each(|(name, value)| check_option(name, value))?;
        self.check_free(Who::Consumer(name.clone()), Counted::Consumers, limits::CONSUMERS)
    }

    fn check_producer(&self, name: &Arc<str>, spec: &ProducerSpec) -> Result<(), Refusal> {
        check_name(name, limits::CLIENT_NAME)?;
        if let Some(stream) = &spec.stream {
            check_name(&stream.topic, limits::TOPIC_NAME)?;
            stream.keys.iter().try_for_each(|key| check_listed(key))?;
        }
        self.check_free(Who::Producer(name.clone()), Counted::Producers, limits::PRODUCERS)
    }

    fn start_consumer(&mut self, emit: &Emit<'_>, name: &Arc<str>, spec: Arc<ConsumerSpec>) {
        let found = self.find(&Who::Consumer(name.clone()));
        let index = found.unwrap_or_else(|| self.add(Kind::Consumer(name.clone())));
        self.procs[usize::from(index)].consumer = Some(spec.clone());
        let rules = match self.config.profile {
            Profile::Textbook => Rules::Textbook,
            Profile::V08 | Profile::V2 => Rules::V08,
        };
        let mut consumer = Connector::new(name.clone(), rules, spec, self.config.broker_zk());
        if rules == Rules::Textbook {
            consumer = consumer.with_random_id(self.rng.next_u32());
        }
        #[cfg(feature = "mutations")]
        if let Some(super::config::Mutation::Kafka(mutation)) = self.config.mutation {
            consumer.mutation = Some(mutation);
        }
        self.procs[usize::from(index)].client_id = Some(consumer.id.clone());
        self.launch(emit, index, Node::Consumer(Arc::new(consumer)), self.config.boot);
    }

    pub(super) fn restart_consumer(&mut self, emit: &Emit<'_>, name: &Arc<str>) {
        let found = self.find(&Who::Consumer(name.clone()));
        let spec = found.and_then(|index| self.proc(index).consumer.clone());
        if let Some(spec) = spec {
            self.start_consumer(emit, name, spec);
        }
    }

    fn start_producer(&mut self, emit: &Emit<'_>, name: &Arc<str>, spec: Arc<ProducerSpec>) {
        let found = self.find(&Who::Producer(name.clone()));
        let index = found.unwrap_or_else(|| self.add(Kind::Producer(name.clone())));
        self.procs[usize::from(index)].producer = Some(spec.clone());
        let kind = match self.config.profile {
            Profile::Textbook => producer::Kind::Textbook,
            Profile::V08 => spec.kind.unwrap_or_default(),
            Profile::V2 => producer::Kind::Java,
        };
        let zk = self.config.broker_zk();
        let brokers = match spec.brokers.is_empty() {
            true => self.bootstrap(),
            false => spec.brokers.clone(),
        };
        let producer = Producer::new(name.clone(), kind, spec, zk, brokers);
        let boot = self.config.boot.min(PRODUCER_BOOT);
        self.launch(emit, index, Node::Producer(Arc::new(producer)), boot);
    }

    /// The brokers that there are, as somebody would write them into a client's settings.
    fn bootstrap(&self) -> Arc<[u32]> {
        let ids = self.procs.iter().filter_map(|proc| match proc.kind {
            Kind::Broker(id) => Some(id),
            _ => None,
        });
        let ids: std::collections::BTreeSet<u32> = ids.collect();
        ids.into_iter().collect()
    }

    pub(super) fn restart_producer(&mut self, emit: &Emit<'_>, name: &Arc<str>) {
        let found = self.find(&Who::Producer(name.clone()));
        let spec = found.and_then(|index| self.proc(index).producer.clone());
        if let Some(spec) = spec {
            self.start_producer(emit, name, spec);
        }
    }

    /// Has a client do something besides handling what reaches it.
    fn client_acts(
        &mut self,
        emit: &mut Emit<'_>,
        who: &Who,
        act: impl FnOnce(&mut Node, &mut Ctx<'_>),
    ) {
        let Some(index) = self.find(who) else { return };
        let mut out = Vec::new();
        let mut ctx = Ctx {
            now: self.now,
            wall_ms: wall_ms(self.now),
            rng: &mut self.rng,
            frozen: &self.frozen,
            out: &mut out,
        };
        act(&mut self.procs[usize::from(index)].node, &mut ctx);
        self.effects(emit, index, out);
    }
}

fn check_batch(batch: &Batch) -> Result<(), Refusal> {
    check_name(&batch.topic, limits::TOPIC_NAME)?;
    // Any text may be a key: a script writes it in quotes where it isn't one word.
    if let Some(key) = batch.key.as_ref().filter(|key| key.len() > limits::KEY) {
        let why = NameFault::TooLong { limit: limits::KEY as u64 };
        return Err(Refusal::BadName { name: head(key), why });
    }
    within(Counted::Records, batch.count.into(), 1, limits::BATCH.into())
}

/// As much of a long text as a message shows.
fn head(text: &str) -> Arc<str> {
    text.chars().take(limits::CLIENT_NAME).collect::<String>().into()
}

/// One of a stream's keys stands in a list with commas.
fn check_listed(key: &str) -> Result<(), Refusal> {
    check_word(key)?;
    let letter = match key.contains(',') {
        true => Some(','),
        // Read as a weight.
        false => producer::keys::is_weighed(key).then_some('*'),
    };
    match letter {
        None => Ok(()),
        Some(letter) => Err(Refusal::BadName { name: head(key), why: NameFault::NotAWord(letter) }),
    }
}

/// A pattern, or one of a stream's keys, is one word: a script and a link have to hold it.
fn check_word(word: &str) -> Result<(), Refusal> {
    let why = match word.chars().next() {
        None => Some(NameFault::Empty),
        // There a comment begins.
        Some('#') => Some(NameFault::NotAWord('#')),
        Some(_) if word.len() > limits::KEY => {
            Some(NameFault::TooLong { limit: limits::KEY as u64 })
        }
        Some(_) => word
            .chars()
            .find(|letter| letter.is_whitespace() || letter.is_control())
            .map(NameFault::NotAWord),
    };
    match why {
        None => Ok(()),
        Some(why) => Err(Refusal::BadName { name: head(word), why }),
    }
}

fn check_option(name: &Arc<str>, value: &Arc<str>) -> Result<(), Refusal> {
    match Options::default().set(name, value) {
        Some(()) => Ok(()),
        None => Err(Refusal::BadOption { name: name.clone(), value: value.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_no_script_could_hold_is_refused() {
        for key in ["", "a b", "a\tb", "#a", "a\u{7}"] {
            assert!(matches!(check_word(key), Err(Refusal::BadName { .. })), "{key:?}");
        }
        for key in ["a", "order-7", "键", "a#b", "x=y,z"] {
            assert_eq!(check_word(key), Ok(()), "{key}");
        }
        assert!(check_listed("x=y,z").is_err());
    }
}
