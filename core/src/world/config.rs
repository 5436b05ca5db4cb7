//! What a run can be set to, by the names that Kafka and ZooKeeper give their settings.

use crate::base::Span;
use crate::kafka::paths;
use crate::zk::hold::ZkSettings;
use crate::zk::op::Release;

/// A generation of coordination. The others follow with their slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    #[default]
    Textbook,
}

impl Profile {
    pub const ALL: [Profile; 1] = [Profile::Textbook];

    pub const fn name(self) -> &'static str {
        match self {
            Profile::Textbook => "textbook",
        }
    }

    pub fn parse(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// The release of ZooKeeper that the profile stands on.
    pub const fn zookeeper(self) -> Release {
        match self {
            Profile::Textbook => Release::V3_8_4,
        }
    }
}

/// The server's wall clock when a run starts: 2015-01-01 00:00:00 UTC.
pub const WALL_ZERO_MS: i64 = 1_420_070_400_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub profile: Profile,
    pub zookeeper: Release,
    /// Of brokers, in milliseconds.
    pub session_timeout_ms: i32,
    /// Of plain clients and tools, in milliseconds.
    pub client_timeout_ms: i32,
    pub tick_ms: u32,
    pub latency: Span,
    pub jitter: Span,
    /// A broker takes between `boot` and `boot + boot_spread` from its start to its first packet.
    pub boot: Span,
    pub boot_spread: Span,
    #[cfg(feature = "mutations")]
    pub mutation: Option<Mutation>,
}

/// A rule broken on purpose, to prove that the invariant that guards it is able to fail.
#[cfg(feature = "mutations")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    Zk(crate::zk::server::Mutation),
    Kafka(crate::kafka::broker::Mutation),
}

impl Default for Config {
    fn default() -> Self {
        Config::of(Profile::Textbook)
    }
}

/// A setting: its name, what it is measured in, and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub low: u64,
    pub high: u64,
}

pub const SETTINGS: [Setting; 7] = [
    Setting { name: "zookeeper.session.timeout.ms", low: 1, high: 600_000 },
    Setting { name: "client.session.timeout.ms", low: 1, high: 600_000 },
    Setting { name: "tickTime", low: 10, high: 60_000 },
    Setting { name: "link.latency.us", low: 1, high: 10_000_000 },
    Setting { name: "link.jitter.us", low: 0, high: 10_000_000 },
    Setting { name: "broker.boot.us", low: 0, high: 60_000_000 },
    Setting { name: "broker.boot.spread.us", low: 0, high: 60_000_000 },
];

impl Config {
    pub fn of(profile: Profile) -> Config {
        Config {
            profile,
            zookeeper: profile.zookeeper(),
            session_timeout_ms: 6_000,
            client_timeout_ms: 10_000,
            tick_ms: 2_000,
            latency: Span::from_micros(1_500),
            jitter: Span::from_micros(2_000),
            boot: Span::from_millis(60),
            boot_spread: Span::from_millis(240),
            #[cfg(feature = "mutations")]
            mutation: None,
        }
    }

    /// The value of a setting, in the order of [`SETTINGS`].
    pub fn get(&self, index: usize) -> u64 {
        match index {
            0 => u64::from(self.session_timeout_ms.unsigned_abs()),
            1 => u64::from(self.client_timeout_ms.unsigned_abs()),
            2 => u64::from(self.tick_ms),
            3 => self.latency.0,
            4 => self.jitter.0,
            5 => self.boot.0,
            _ => self.boot_spread.0,
        }
    }

    /// Sets what [`SETTINGS`] names at `index`; the caller has checked the bounds.
    pub fn set(&mut self, index: usize, value: u64) {
        match index {
            0 => self.session_timeout_ms = i32::try_from(value).unwrap_or(i32::MAX),
            1 => self.client_timeout_ms = i32::try_from(value).unwrap_or(i32::MAX),
            2 => self.tick_ms = u32::try_from(value).unwrap_or(u32::MAX),
            3 => self.latency = Span(value),
            4 => self.jitter = Span(value),
            5 => self.boot = Span(value),
            _ => self.boot_spread = Span(value),
        }
    }

    pub fn broker_zk(&self) -> ZkSettings {
        ZkSettings { release: self.zookeeper, session_timeout_ms: self.session_timeout_ms }
    }

    pub fn client_zk(&self, timeout_ms: Option<i32>) -> ZkSettings {
        let session_timeout_ms = timeout_ms.unwrap_or(self.client_timeout_ms);
        ZkSettings { release: self.zookeeper, session_timeout_ms }
    }
}

/// Every broker asks for these before it registers; all but the first are told that they exist.
pub fn is_common_path(path: &str) -> bool {
    paths::PERSISTENT.contains(&path)
}
