//! What a consumer is started with.

use std::fmt;
use std::sync::Arc;

use super::assign::{Strategy, Subscription};
use super::connector::Rules;
use super::pattern::{NoPattern, Pattern};
use crate::kafka::data::Reset;

/// What it subscribes to. [spec consumer-zk.md R2, R3]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Topics with streams, in the order they were named.
    Topics(Vec<(Arc<str>, u32)>),
    WhiteList {
        regex: Arc<str>,
        streams: u32,
    },
    BlackList {
        regex: Arc<str>,
        streams: u32,
    },
}

impl Wanted {
    /// With its pattern read, if it is one.
    pub fn subscription(&self) -> Result<Subscription, NoPattern> {
        Ok(match self {
            Wanted::Topics(topics) => Subscription::Topics(
                topics.iter().map(|(topic, streams)| (topic.to_string(), *streams)).collect(),
            ),
            Wanted::WhiteList { regex, streams } => {
                Subscription::WhiteList(Pattern::filter(regex)?, *streams)
            }
            Wanted::BlackList { regex, streams } => {
                Subscription::BlackList(Pattern::filter(regex)?, *streams)
            }
        })
    }
}

/// A consumer's own settings, by the names of the 0.8 consumer. Times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `zookeeper.session.timeout.ms`; `None`: the consumer's own default of 6 s.
    pub session_timeout_ms: Option<i32>,
    pub strategy: Strategy,
    /// `rebalance.max.retries`
    pub retries: u32,
    /// `rebalance.backoff.ms`
    pub backoff_ms: u32,
    /// `auto.commit.enable`
    pub auto_commit: bool,
    /// `auto.commit.interval.ms`
    pub commit_interval_ms: u32,
    /// `auto.offset.reset`
    pub reset: Reset,
    /// `offsets.storage=kafka`
    pub offsets_in_kafka: bool,
    /// `dual.commit.enabled`; `None`: as `offsets.storage`.
    pub dual_commit: Option<bool>,
    /// `exclude.internal.topics`
    pub no_internal: bool,
    /// How long the application works on a record. Not a setting of Kafka's.
    pub processing_us: u32,
}

impl Default for Options {
    /// The defaults of 0.8.2.2. [spec consumer-zk.md O2 to O5]
    fn default() -> Options {
        Options {
            session_timeout_ms: None,
            strategy: Strategy::Range,
            retries: 4,
            backoff_ms: 2_000,
            auto_commit: true,
            commit_interval_ms: 60_000,
            reset: Reset::Latest,
            offsets_in_kafka: false,
            dual_commit: None,
            no_internal: true,
            processing_us: 0,
        }
    }
}

impl Options {
    /// The textbook commits every 5 s and begins with the oldest record. [product.md T14]
    pub fn of(rules: Rules) -> Options {
        match rules {
            Rules::V08 => Options::default(),
            Rules::Textbook => {
                Options { commit_interval_ms: 5_000, reset: Reset::Earliest, ..Options::default() }
            }
        }
    }
}

/// The names of what [`Options::set`] takes, each with what it accepts.
pub const OPTIONS: [(&str, &str); 11] = [
    ("zookeeper.session.timeout.ms", "1 to 600000"),
    ("partition.assignment.strategy", "range or roundrobin"),
    ("rebalance.max.retries", "0 to 1000"),
    ("rebalance.backoff.ms", "0 to 600000"),
    ("auto.commit.enable", "true or false"),
    ("auto.commit.interval.ms", "1 to 86400000"),
    ("auto.offset.reset", "smallest or largest"),
    ("offsets.storage", "zookeeper or kafka"),
    ("dual.commit.enabled", "true or false"),
    ("exclude.internal.topics", "true or false"),
    ("processing.us", "0 to 60000000"),
];

fn number(value: &str, low: u32, high: u32) -> Option<u32> {
    value.parse().ok().filter(|given| (low..=high).contains(given))
}

fn truth(value: &str) -> Option<bool> {
    value.parse().ok()
}

impl Options {
    /// Sets what `name` says; `None`: no such setting, or not such a value.
    #[must_use]
    pub fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "zookeeper.session.timeout.ms" => {
                self.session_timeout_ms = Some(number(value, 1, 600_000)?.cast_signed());
            }
            // Any other name means range. [spec consumer-zk.md, Assignment]
            "partition.assignment.strategy" => self.strategy = Strategy::named(value),
            "rebalance.max.retries" => self.retries = number(value, 0, 1_000)?,
            "rebalance.backoff.ms" => self.backoff_ms = number(value, 0, 600_000)?,
            "auto.commit.enable" => self.auto_commit = truth(value)?,
            "auto.commit.interval.ms" => {
                self.commit_interval_ms = number(value, 1, 86_400_000)?;
            }
            "auto.offset.reset" => {
                self.reset = match value {
                    "smallest" => Reset::Earliest,
                    "largest" => Reset::Latest,
                    _ => return None,
                };
            }
            "offsets.storage" => {
                self.offsets_in_kafka = match value {
                    "kafka" => true,
                    "zookeeper" => false,
                    _ => return None,
                };
            }
            "dual.commit.enabled" => self.dual_commit = Some(truth(value)?),
            "exclude.internal.topics" => self.no_internal = truth(value)?,
            "processing.us" => self.processing_us = number(value, 0, 60_000_000)?,
            _ => return None,
        }
        Some(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSpec {
    pub group: Arc<str>,
    pub wanted: Wanted,
    /// What was set, as it was written.
    pub set: Vec<(Arc<str>, Arc<str>)>,
}

impl ConsumerSpec {
    pub fn options(&self) -> Options {
        self.over(Options::default())
    }

    /// By the rules' own defaults.
    pub fn options_by(&self, rules: Rules) -> Options {
        self.over(Options::of(rules))
    }

    fn over(&self, mut options: Options) -> Options {
        for (name, value) in &self.set {
            // Checked when it was read.
            _ = options.set(name, value);
        }
        options
    }
}

/// As a script writes it, after the name.
impl fmt::Display for ConsumerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group {}", self.group)?;
        let streams = |f: &mut fmt::Formatter<'_>, n: u32| match n {
            1 => Ok(()),
            n => write!(f, " streams {n}"),
        };
        match &self.wanted {
            Wanted::Topics(topics) => topics.iter().try_for_each(|(topic, n)| {
                write!(f, " topic {topic}")?;
                streams(f, *n)
            })?,
            Wanted::WhiteList { regex, streams: n } => {
                write!(f, " whitelist {regex}")?;
                streams(f, *n)?;
            }
            Wanted::BlackList { regex, streams: n } => {
                write!(f, " blacklist {regex}")?;
                streams(f, *n)?;
            }
        }
        self.set.iter().try_for_each(|(name, value)| write!(f, " with {name}={value}"))
    }
}
