//! What the recorder's producers print after a `produce`: the old one how many were taken, the Java
//! one the offset or the error of each record.

use kafkascope_core::kafka::Event as KafkaEvent;
use kafkascope_core::kafka::data::Code;
use kafkascope_core::kafka::producer::Event;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Records that were sent one after the other.
pub struct Sent {
    old: bool,
    retries: Value,
    words: Vec<String>,
    ok: u64,
    failed: u64,
    last: String,
}

impl Sent {
    pub fn new(producer: &str, settings: Value) -> Sent {
        let (old, retries) = (producer == "old", settings["message.send.max.retries"].clone());
        Sent { old, retries, words: Vec::new(), ok: 0, failed: 0, last: String::new() }
    }

    /// What became of one record, as its producer told.
    pub fn one(&mut self, value: u64, at: Option<u32>, acks: i16, told: &[Arc<KafkaEvent>]) {
        let told = told.iter().filter_map(|event| match &**event {
            KafkaEvent::Producer(event) => Some(event),
            _ => None,
        });
        let mut outcome = if acks == 0 { Some(Ok(-1)) } else { None };
        for event in told {
            match event {
                Event::Acknowledged { from, .. } => outcome = i64::try_from(*from).ok().map(Ok),
                Event::Failed { why, retries: 0, .. } => outcome = Some(Err(*why)),
                _ => {}
            }
        }
        let at = at.map_or_else(String::new, |at| at.to_string());
        match outcome {
            Some(Ok(offset)) => {
                self.ok += 1;
                self.words.push(format!("{value}:{at}@{offset}"));
            }
            Some(Err(why)) => {
                self.failed += 1;
                let tries = &self.retries;
                self.last = format!(
                    "{value}:FailedToSendMessageException: Failed to send messages after {tries} \
                     tries."
                );
                self.words.push(format!("{value}:{}", exception(why)));
            }
            None => self.words.push(format!("{value}:no answer in 20 s")),
        }
    }

    pub fn text(&self) -> String {
        if !self.old {
            return self.words.join(" ");
        }
        let counts = format!("ok={} failed={}", self.ok, self.failed);
        match self.failed {
            0 => counts,
            _ => format!("{counts} last failure {}", self.last),
        }
    }
}

/// The class that the Java producer throws.
fn exception(why: Code) -> &'static str {
    match why {
        Code::RequestTimedOut => "TimeoutException",
        Code::NotEnoughReplicas => "NotEnoughReplicasException",
        Code::NotEnoughReplicasAfterAppend => "NotEnoughReplicasAfterAppendException",
        Code::NotLeaderForPartition => "NotLeaderForPartitionException",
        Code::UnknownTopicOrPartition => "UnknownTopicOrPartitionException",
        Code::InvalidTopic => "InvalidTopicException",
        Code::InvalidRequiredAcks => "InvalidRequiredAcksException",
        Code::OffsetOutOfRange => "OffsetOutOfRangeException",
        // Its connection ended.
        Code::LeaderNotAvailable => "NetworkException",
        Code::ConsumerCoordinatorNotAvailable | Code::NotCoordinatorForConsumer => {
            "UnknownServerException"
        }
    }
}

/// The results of a step's `produce` ops under the names that the recording gives them: a name
/// that tells topic, partition or acks goes to the op that fits it best, the others in order.
pub fn named(shape: &Value, produced: &[(Value, String)], seconds: &Value) -> Value {
    let mut left: Vec<&(Value, String)> = produced.iter().collect();
    fill(shape, "", &mut left, seconds)
}

fn fill(shape: &Value, path: &str, left: &mut Vec<&(Value, String)>, seconds: &Value) -> Value {
    match shape {
        Value::Object(entries) => {
            let mut filled = Map::new();
            for (name, inner) in entries {
                let path = format!("{path} {name}");
                filled.insert(name.clone(), fill(inner, &path, left, seconds));
            }
            filled.into()
        }
        Value::Number(_) if path.ends_with(" seconds") => seconds.clone(),
        _ => {
            let best = (0..left.len()).max_by_key(|n| (fits(path, &left[*n].0), left.len() - n));
            best.map_or(Value::Null, |n| left.remove(n).1.clone().into())
        }
    }
}

/// How many words of a name fit an op.
fn fits(path: &str, op: &Value) -> usize {
    let topic = op["topic"].as_str().unwrap_or_default();
    let acks = op["acks"].as_i64().unwrap_or_default();
    let fit = |word: &str| {
        let of_acks = word.strip_prefix("acks=").or_else(|| word.strip_prefix("acks-"));
        word == topic
            || word == format!("{topic}-{}", op["partition"])
            || of_acks.is_some_and(|n| n == acks.to_string() || n == "all" && acks == -1)
    };
    path.split(' ').filter(|word| fit(word)).count()
}
