//! Consumers and producers, as a script writes them.

use std::sync::Arc;

use super::Problem;
use super::parse::{Parsed, Words, shorten};
use crate::base::limits;
use crate::kafka::consumer_zk::spec::{ConsumerSpec, Options, Wanted};
use crate::kafka::producer::{Batch, Kind, Partitioner, ProducerSpec, Stream, Tries, keys};
use crate::world::command::Command;

/// `start consumer c1 group g topic login [streams 2] … with NAME=VALUE …`; `c1..3` is three.
pub fn start_consumer(words: &mut Words<'_>) -> Parsed<Vec<Command>> {
    let names = names(words, "a consumer")?;
    words.expect("group")?;
    let group = words.name("a group", limits::CLIENT_NAME)?;
    let wanted = wanted(words)?;
    let mut set = Vec::new();
    while words.take("with") {
        set.push(option(words)?);
    }
    words.end()?;
    let spec = Arc::new(ConsumerSpec { group, wanted, set });
    let command = |name| Command::StartConsumer { name, spec: spec.clone() };
    Ok(names.into_iter().map(command).collect())
}

/// One name, or `c1..3` for c1, c2 and c3.
fn names(words: &mut Words<'_>, what: &'static str) -> Parsed<Vec<Arc<str>>> {
    let (at, word) = words.next(what)?;
    let bad = |name: &str| words.error(at, Problem::BadName(shorten(name)));
    let check = |name: String| match crate::world::check_name(&name, limits::CLIENT_NAME) {
        Ok(()) => Ok(Arc::from(name)),
        Err(_) => Err(bad(&name)),
    };
    let Some((first, last)) = word.split_once("..") else {
        return Ok(vec![check(word.to_owned())?]);
    };
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let low: u64 = first[stem.len()..].parse().map_err(|_| bad(word))?;
    let high = last.parse::<u64>().map_err(|_| bad(word))?;
    let most = limits::CONSUMERS as u64;
    if high < low || high - low >= most {
        let given = high.saturating_sub(low).saturating_add(1);
        return Err(words.error(at, Problem::OutOfRange { given, low: 1, high: most }));
    }
    (low..=high).map(|n| check(format!("{stem}{n}"))).collect()
}

fn streams(words: &mut Words<'_>) -> Parsed<u32> {
    match words.take("streams") {
        true => Ok(words.number("how many streams", 1, limits::STREAMS.into())? as u32),
        false => Ok(1),
    }
}

fn wanted(words: &mut Words<'_>) -> Parsed<Wanted> {
    const WHAT: &str = "topic, whitelist or blacklist";
    let (at, word) = words.next(WHAT)?;
    if word == "topic" {
        let mut topics = Vec::new();
        loop {
            let topic = words.name("a topic", limits::TOPIC_NAME)?;
            topics.push((topic, streams(words)?));
            if !words.take("topic") {
                return Ok(Wanted::Topics(topics));
            }
        }
    }
    if word != "whitelist" && word != "blacklist" {
        return Err(words.error(at, Problem::UnknownWord { given: shorten(word), expected: WHAT }));
    }
    let (column, regex) = words.next("a pattern")?;
    let regex: Arc<str> = regex.into();
    let listed = word == "whitelist";
    let streams = streams(words)?;
    let wanted = match listed {
        true => Wanted::WhiteList { regex: regex.clone(), streams },
        false => Wanted::BlackList { regex: regex.clone(), streams },
    };
    match wanted.subscription() {
        Ok(_) => Ok(wanted),
        Err(_) => Err(words.error(column, Problem::BadPattern(shorten(&regex)))),
    }
}

/// `NAME=VALUE` of a consumer.
fn option(words: &mut Words<'_>) -> Parsed<(Arc<str>, Arc<str>)> {
    let (at, word) = words.next("a consumer's setting such as auto.commit.interval.ms=5000")?;
    let set =
        word.split_once('=').filter(|(name, value)| Options::default().set(name, value).is_some());
    match set {
        Some((name, value)) => Ok((name.into(), value.into())),
        None => Err(words.error(at, Problem::BadOption(shorten(word)))),
    }
}

/// `tune c1 NAME=VALUE`
pub fn tune(words: &mut Words<'_>) -> Parsed<Command> {
    let consumer = words.name("a consumer", limits::CLIENT_NAME)?;
    let (name, value) = option(words)?;
    Ok(Command::Tune { consumer, name, value })
}

/// `start producer p1 [kind K] [acks N] [partitioner …] [refresh SPAN] [retries N]
/// [backoff SPAN] [timeout SPAN] [delivery SPAN] [brokers 1,2]
/// [topic T every SPAN [keys a*3,b] [count N]]`
pub fn start_producer(words: &mut Words<'_>) -> Parsed<Vec<Command>> {
    let name = words.name("a producer", limits::CLIENT_NAME)?;
    let mut spec = ProducerSpec {
        kind: None,
        acks: 1,
        partitioner: Partitioner::Default,
        refresh_ms: 600_000,
        tries: Tries::default(),
        brokers: Arc::default(),
        stream: None,
    };
    while let Some(word) = words.peek() {
        let at = words.at;
        words.take(word);
        match word {
            "kind" => spec.kind = Some(kind(words)?),
            "acks" => spec.acks = acks(words)?,
            "partitioner" => spec.partitioner = partitioner(words)?,
            "refresh" => {
                spec.refresh_ms = ms(words, "how often metadata are refreshed")?;
            }
            "retries" => {
                let n = words.number("how many retries", 0, limits::RETRIES.into())?;
                spec.tries.retries = u32::try_from(n).ok();
            }
            "backoff" => spec.tries.backoff_ms = Some(ms(words, "the wait before a retry")?),
            "timeout" => spec.tries.timeout_ms = Some(ms(words, "a request's timeout")?),
            "delivery" => spec.tries.delivery_ms = Some(ms(words, "when it gives up")?),
            "brokers" => spec.brokers = brokers(words)?,
            "topic" => spec.stream = Some(stream(words)?),
            _ => {
                let problem = Problem::UnknownWord { given: shorten(word), expected: OPTIONS };
                return Err(words.error(at, problem));
            }
        }
    }
    Ok(vec![Command::StartProducer { name, spec: Arc::new(spec) }])
}

const OPTIONS: &str = "kind, acks, partitioner, refresh, retries, backoff, timeout, delivery, \
    brokers or topic";

/// `1,2`: the brokers that a producer is told of.
fn brokers(words: &mut Words<'_>) -> Parsed<Arc<[u32]>> {
    const WHAT: &str = "brokers such as 1,2";
    let (at, word) = words.next(WHAT)?;
    let ids: Result<Arc<[u32]>, _> =
        word.split(',').take(limits::BROKERS).map(str::parse).collect();
    ids.map_err(|_| words.error(at, Problem::UnknownWord { given: shorten(word), expected: WHAT }))
}

/// Milliseconds, at least one.
fn ms(words: &mut Words<'_>, what: &'static str) -> Parsed<u32> {
    let ms = words.span(what)?.millis();
    Ok(u32::try_from(ms).unwrap_or(u32::MAX).max(1))
}

fn kind(words: &mut Words<'_>) -> Parsed<Kind> {
    const WHAT: &str = "textbook, scala or java";
    let (at, word) = words.next(WHAT)?;
    match word {
        "textbook" => Ok(Kind::Textbook),
        "scala" => Ok(Kind::Scala),
        "java" => Ok(Kind::Java),
        _ => Err(words.error(at, Problem::UnknownWord { given: shorten(word), expected: WHAT })),
    }
}

fn acks(words: &mut Words<'_>) -> Parsed<i16> {
    match words.take("-1") || words.take("all") {
        true => Ok(-1),
        false => Ok(words.number("how many acks", 0, 100)? as i16),
    }
}

fn partitioner(words: &mut Words<'_>) -> Parsed<Partitioner> {
    const WHAT: &str = "default, roundrobin or pinned";
    let (at, word) = words.next(WHAT)?;
    match word {
        "default" => Ok(Partitioner::Default),
        "roundrobin" => Ok(Partitioner::RoundRobin),
        "pinned" => {
            let mut pins = Vec::new();
            while let Some(pin) = words.peek().filter(|word| word.contains('=')) {
                let at = words.at;
                words.take(pin);
                let bad = || words.error(at, Problem::BadOption(shorten(pin)));
                let (key, partition) = pin.split_once('=').ok_or_else(bad)?;
                pins.push((Arc::from(key), partition.parse().map_err(|_| bad())?));
            }
            Ok(Partitioner::Pinned(pins))
        }
        _ => Err(words.error(at, Problem::UnknownWord { given: shorten(word), expected: WHAT })),
    }
}

fn stream(words: &mut Words<'_>) -> Parsed<Stream> {
    let topic = words.name("a topic", limits::TOPIC_NAME)?;
    words.expect("every")?;
    let at = words.at;
    let every = words.span("how often")?;
    if every.0 < 100 {
        let high = limits::WAIT_SECS * 1_000_000;
        return Err(words.error(at, Problem::OutOfRange { given: every.0, low: 100, high }));
    }
    let mut stream = Stream { topic, every, keys: Vec::new(), count: None };
    if words.take("keys") {
        let (at, list) = words.next("keys such as a*3,b,c")?;
        stream.keys = keys::turns(list.split(','))
            .map_err(|bad| words.error(at, Problem::BadOption(shorten(bad))))?;
    }
    if words.take("count") {
        stream.count = Some(words.number("how many", 1, limits::BATCH.into())? as u32);
    }
    Ok(stream)
}

/// One word, or any text as JSON writes it: `key "the quick brown fox"`.
fn key(words: &mut Words<'_>) -> Parsed<Arc<str>> {
    match words.quoted()? {
        Some(key) => Ok(key.into()),
        None => Ok(words.next("a key")?.1.into()),
    }
}

/// `produce p1 topic T [partition N] [key K] [from N] [count N]`
pub fn produce(words: &mut Words<'_>) -> Parsed<Command> {
    let producer = words.name("a producer", limits::CLIENT_NAME)?;
    words.expect("topic")?;
    let topic = words.name("a topic", limits::TOPIC_NAME)?;
    let mut batch = Batch { topic, partition: None, key: None, from: 0, count: 1 };
    if words.take("partition") {
        let high = u64::from(limits::PARTITIONS_PER_TOPIC);
        batch.partition = Some(words.number("a partition", 0, high)? as u32);
    }
    if words.take("key") {
        batch.key = Some(key(words)?);
    }
    if words.take("from") {
        batch.from = words.number("the first value", 0, 1 << 53)?;
    }
    if words.take("count") {
        batch.count = words.number("how many", 1, limits::BATCH.into())? as u32;
    }
    Ok(Command::Produce { producer, batch: Arc::new(batch) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_key_survives_a_script() {
        for key in
            ["k", "the quick brown fox", "", "#1 # 2", "\"q\" \\", "a\tb\u{7}", "键 值", "a\"b"]
        {
            let batch = Batch {
                topic: "T".into(),
                partition: None,
                key: Some(key.into()),
                from: 0,
                count: 1,
            };
            let wanted = Command::Produce { producer: "p1".into(), batch: Arc::new(batch) };
            let line = wanted.to_string();
            assert_eq!(super::super::parse_command(&line), Ok(wanted), "{line}");
        }
    }
}
