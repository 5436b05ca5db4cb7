//! What a run can be set to, by the names that Kafka and ZooKeeper give their settings.

use crate::base::Span;
use crate::kafka::log::epoch_cache::Agreement;
use crate::kafka::log::manager::Rules;
use crate::kafka::paths;
use crate::kafka::real::registry;
use crate::kafka::release;
use crate::kafka::settings::Settings;
use crate::zk::hold::ZkSettings;
use crate::zk::op::Release;

/// A generation of coordination. The others follow with their slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    #[default]
    Textbook,
    /// Kafka 0.8.2.2.
    V08,
    /// Kafka 0.11 to 3.9 with ZooKeeper.
    V2,
}

impl Profile {
    pub const ALL: [Profile; 3] = [Profile::Textbook, Profile::V08, Profile::V2];

    pub const fn name(self) -> &'static str {
        match self {
            Profile::Textbook => "textbook",
            Profile::V08 => "0.8",
            Profile::V2 => "2.x",
        }
    }

    /// The release that the profile means unless another is named.
    pub const fn release(self) -> release::Release {
        match self {
            Profile::V08 => release::Release::V0_8_2_2,
            Profile::Textbook | Profile::V2 => release::Release::V2_8_2,
        }
    }

    /// The profile that a release belongs to.
    pub const fn of_release(release: release::Release) -> Profile {
        match release {
            release::Release::V0_8_2_2 => Profile::V08,
            _ => Profile::V2,
        }
    }

    pub fn parse(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// The release of ZooKeeper that the profile stands on.
    pub const fn zookeeper(self) -> Release {
        match self {
            Profile::Textbook => Release::V3_8_4,
            Profile::V08 | Profile::V2 => self.release().zookeeper(),
        }
    }
}

/// The server's wall clock when a run starts: 2015-01-01 00:00:00 UTC.
pub const WALL_ZERO_MS: i64 = 1_420_070_400_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub profile: Profile,
    /// Of Kafka; the textbook has none and does not look at it.
    pub release: release::Release,
    /// What brokers of a real release are set to; its `release` is the one above.
    pub kafka: Settings,
    pub zookeeper: Release,
    /// Of brokers, in milliseconds.
    pub session_timeout_ms: i32,
    /// `maxSessionTimeout` of the server; `None`: twenty ticks.
    pub max_session_timeout_ms: Option<i32>,
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

pub const SETTINGS: [Setting; 26] = [
    Setting { name: "zookeeper.session.timeout.ms", low: 1, high: 600_000 },
    Setting { name: "client.session.timeout.ms", low: 1, high: 600_000 },
    Setting { name: "tickTime", low: 10, high: 60_000 },
    Setting { name: "link.latency.us", low: 1, high: 10_000_000 },
    Setting { name: "link.jitter.us", low: 0, high: 10_000_000 },
    Setting { name: "broker.boot.us", low: 0, high: 60_000_000 },
    Setting { name: "broker.boot.spread.us", low: 0, high: 60_000_000 },
    Setting { name: "auto.leader.rebalance.enable", low: 0, high: 1 },
    Setting { name: "leader.imbalance.check.interval.seconds", low: 1, high: 86_400 },
    Setting { name: "leader.imbalance.per.broker.percentage", low: 0, high: 100 },
    Setting { name: "controlled.shutdown.enable", low: 0, high: 1 },
    Setting { name: "controlled.shutdown.max.retries", low: 0, high: 100 },
    Setting { name: "controlled.shutdown.retry.backoff.ms", low: 1, high: 600_000 },
    Setting { name: "auto.create.topics.enable", low: 0, high: 1 },
    Setting { name: "num.partitions", low: 1, high: 10_000 },
    Setting { name: "default.replication.factor", low: 1, high: 200 },
    Setting { name: "replica.lag.time.max.ms", low: 1, high: 600_000 },
    Setting { name: "delete.topic.enable", low: 0, high: 1 },
    Setting { name: "unclean.leader.election.enable", low: 0, high: 1 },
    Setting { name: "advertised.port.base", low: 0, high: 65_535 },
    Setting { name: "min.insync.replicas", low: 1, high: 200 },
    // 0: no limit.
    Setting { name: "log.retention.bytes", low: 0, high: 1 << 40 },
    Setting { name: "offsets.topic.num.partitions", low: 1, high: 10_000 },
    Setting { name: "offsets.topic.replication.factor", low: 1, high: 200 },
    Setting { name: "replica.lag.max.messages", low: 1, high: 1 << 31 },
    Setting { name: "replica.high.watermark.checkpoint.interval.ms", low: 1, high: 600_000 },
];

impl Config {
    /// A real release with its own defaults.
    pub fn release(release: release::Release) -> Config {
        let mut config = Config::of(Profile::of_release(release));
        config.release = release;
        config.kafka = Settings::of(release);
        config.zookeeper = release.zookeeper();
        config.session_timeout_ms = release.session_timeout_ms();
        config
    }

    pub fn of(profile: Profile) -> Config {
        let release = profile.release();
        Config {
            profile,
            release,
            kafka: Settings::of(release),
            zookeeper: profile.zookeeper(),
            max_session_timeout_ms: None,
            session_timeout_ms: match profile {
                Profile::Textbook => 6_000,
                Profile::V08 | Profile::V2 => release.session_timeout_ms(),
            },
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
            6 => self.boot_spread.0,
            7 => u64::from(self.kafka.auto_leader_rebalance),
            8 => u64::from(self.kafka.imbalance_check_s),
            9 => u64::from(self.kafka.imbalance_percent),
            10 => u64::from(self.kafka.controlled_shutdown),
            11 => u64::from(self.kafka.shutdown_retries),
            12 => u64::from(self.kafka.shutdown_backoff_ms),
            13 => u64::from(self.kafka.auto_create_topics),
            14 => u64::from(self.kafka.num_partitions),
            15 => u64::from(self.kafka.default_replication),
            16 => u64::from(self.kafka.replica_lag_ms),
            17 => u64::from(self.kafka.delete_topics),
            18 => u64::from(self.kafka.unclean_election),
            19 => self.kafka.advertised.as_ref().map_or(0, |(_, port)| u64::from(*port)),
            20 => u64::from(self.kafka.min_insync),
            21 => self.kafka.retention_bytes.unwrap_or(0),
            22 => u64::from(self.kafka.offsets_partitions),
            23 => u64::from(self.kafka.offsets_replication),
            24 => u64::from(self.kafka.replica_lag_messages),
            _ => u64::from(self.kafka.checkpoint_ms),
        }
    }

    /// Sets what [`SETTINGS`] names at `index`; the caller has checked the bounds.
    pub fn set(&mut self, index: usize, value: u64) {
        let number = u32::try_from(value).unwrap_or(u32::MAX);
        let kafka = &mut self.kafka;
        match index {
            0 => self.session_timeout_ms = i32::try_from(value).unwrap_or(i32::MAX),
            1 => self.client_timeout_ms = i32::try_from(value).unwrap_or(i32::MAX),
            2 => self.tick_ms = number,
            3 => self.latency = Span(value),
            4 => self.jitter = Span(value),
            5 => self.boot = Span(value),
            6 => self.boot_spread = Span(value),
            7 => kafka.auto_leader_rebalance = value != 0,
            8 => kafka.imbalance_check_s = number,
            9 => kafka.imbalance_percent = number,
            10 => kafka.controlled_shutdown = value != 0,
            11 => kafka.shutdown_retries = number,
            12 => kafka.shutdown_backoff_ms = number,
            13 => kafka.auto_create_topics = value != 0,
            14 => kafka.num_partitions = number,
            15 => kafka.default_replication = number,
            16 => kafka.replica_lag_ms = number,
            17 => kafka.delete_topics = value != 0,
            18 => kafka.unclean_election = value != 0,
            19 => kafka.advertised = (value != 0).then(|| ("localhost".into(), number)),
            20 => kafka.min_insync = number,
            21 => kafka.retention_bytes = (value != 0).then_some(value),
            22 => kafka.offsets_partitions = number,
            23 => kafka.offsets_replication = number,
            24 => kafka.replica_lag_messages = number,
            _ => kafka.checkpoint_ms = number,
        }
    }

    /// Takes over what stands in `other` in place of the defaults of its own release.
    pub fn keep_changes_of(&mut self, other: &Config) {
        let plain = match other.profile {
            Profile::Textbook => Config::of(Profile::Textbook),
            Profile::V08 | Profile::V2 => Config::release(other.release),
        };
        for index in 0..SETTINGS.len() {
            let value = other.get(index);
            if value != plain.get(index) {
                self.set(index, value);
            }
        }
    }

    /// What brokers are told about their logs.
    pub fn logs(&self) -> Rules {
        let real = self.profile == Profile::V2;
        Rules {
            min_insync: self.kafka.min_insync,
            retention: self.kafka.retention_bytes,
            counts_acks: self.profile == Profile::V08,
            checkpoints: (self.profile != Profile::Textbook)
                .then(|| Span::from_millis(self.kafka.checkpoint_ms.into())),
            keeps_epochs: real && self.release.keeps_leader_epochs(),
            agreement: if real { self.release.agreement() } else { Agreement::default() },
            isr: self.release.isr_rules().filter(|_| real),
            bounds_min: real && self.release.bounds_min_insync(),
            lag_ms: self.kafka.replica_lag_ms.into(),
            #[cfg(feature = "mutations")]
            commits_alone: self.mutation
                == Some(Mutation::Kafka(crate::kafka::broker::Mutation::CommitsAlone)),
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
    let real = registry::persistent(release::Release::V2_8_2);
    paths::PERSISTENT.contains(&path) || real.contains(&path)
}
