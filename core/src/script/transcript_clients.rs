//! Rows of consumers, producers and logs as plain lines.

use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::event::{Event as Consumer, Note};
use crate::kafka::log::store::Event as Log;
use crate::kafka::producer::Event as Producer;

fn tp(tp: &TopicPartition) -> String {
    format!("{}-{}", tp.topic, tp.partition)
}

fn tps(tps: &[TopicPartition]) -> String {
    let names: Vec<String> = tps.iter().map(tp).collect();
    names.join(" ")
}

pub fn consumer(event: &Consumer) -> String {
    match event {
        Consumer::Registered { id } => format!("registered as {id}"),
        Consumer::OldRegistrationHolds { id } => format!("waits: {id} is still registered"),
        Consumer::Attempt { attempt, trigger } => format!("rebalance, try {attempt} ({trigger:?})"),
        Consumer::NoBrokers => "no broker lives: nothing to rebalance".to_owned(),
        Consumer::Released { partitions } => format!("releases [{}]", tps(partitions)),
        Consumer::Assigned { topic, partitions, takers, mine } => {
            let mine: Vec<String> =
                mine.iter().map(|(at, got)| format!("{at} gets {got:?}")).collect();
            format!("{topic}: {partitions} partitions, {takers} takers; {}", mine.join(", "))
        }
        Consumer::NotAssigned(why) => format!("can't assign: {why:?}"),
        Consumer::Claimed { tp: at } => format!("claims {}", tp(at)),
        Consumer::ClaimRefused { tp: at, holder } => {
            format!("{} is held by {}", tp(at), holder.as_deref().unwrap_or("somebody"))
        }
        Consumer::AttemptFailed { attempt } => format!("try {attempt} failed"),
        Consumer::AttemptEnded { attempt, owned } => format!("try {attempt} done, owns {owned}"),
        Consumer::GaveUp { attempts } => format!("gave up after {attempts} tries"),
        Consumer::Committed { offsets } => {
            let each: Vec<String> =
                offsets.iter().map(|(at, to)| format!("{}={to}", tp(at))).collect();
            format!("commits {}", each.join(" "))
        }
        Consumer::Positioned { tp: at, at: offset, reset } => {
            format!("reads {} from {offset}{}", tp(at), if *reset { " (reset)" } else { "" })
        }
        Consumer::Consumed { tp: at, from, count, .. } => {
            format!("consumed {} {from}+{count}", tp(at))
        }
        Consumer::Note(note) => note_of(note),
    }
}

fn note_of(note: &Note) -> String {
    match note {
        Note::Registering => "registers".to_owned(),
        Note::SessionIsNew => "its session was gone; it has a new one".to_owned(),
        Note::TopicChanged(topic) => format!("topic {topic} changed"),
        Note::TopicGone(topic) => format!("topic {topic} is gone"),
        Note::TopicsAdded(topics) => format!("more topics: {}", topics.join(" ")),
        Note::TopicsLost(topics) => format!("fewer topics: {}", topics.join(" ")),
        Note::TopicsChosen(topics) => format!("its pattern chooses: {}", topics.join(" ")),
        Note::FetchersStopped { .. } => "stops fetching".to_owned(),
        Note::IdleThread { thread, topic } => format!("{thread} gets nothing of {topic}"),
        Note::Broken => "breaks off: a node that it needs is gone".to_owned(),
        Note::GaveUpUnheard => "nobody hears that it gave up".to_owned(),
        Note::ShuttingDown => "shuts down".to_owned(),
        Note::ShutDown => "is shut down".to_owned(),
    }
}

pub fn producer(event: &Producer) -> String {
    match event {
        Producer::Registered => "registered".to_owned(),
        Producer::MetadataRead { brokers, topic, partitions } => {
            let topic = topic.as_deref().unwrap_or("-");
            format!("metadata: brokers {brokers:?}, {topic} has {partitions}")
        }
        Producer::Sent { tp: at, key, count, by, .. } => {
            format!(
                "sends {count} to {} (key {}, {by:?})",
                tp(at),
                key.as_deref().unwrap_or("none")
            )
        }
        Producer::Acknowledged { tp: at, from, count, .. } => {
            format!("acknowledged {} {from}+{count}", tp(at))
        }
        Producer::Failed { tp: at, why, retries } => {
            let at = at.as_ref().map_or_else(|| "-".to_owned(), tp);
            format!("failed {at}: {why:?}, {retries} tries left")
        }
    }
}

pub fn log(event: &Log) -> String {
    match event {
        Log::Appended { tp: at, from, count, .. } => format!("appends {} {from}+{count}", tp(at)),
        Log::Copied { tp: at, from, count, .. } => format!("copies {} {from}+{count}", tp(at)),
        Log::HighWatermark { tp: at, to, .. } => format!("{}: high watermark {to}", tp(at)),
        Log::StartMoved { tp: at, to, .. } => format!("{}: log starts at {to}", tp(at)),
        Log::Truncated { tp: at, to, .. } => format!("{}: cuts its log off at {to}", tp(at)),
    }
}
