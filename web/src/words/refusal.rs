//! Why something can't be done.

use kafkascope_core::world::Refusal;
use kafkascope_core::world::command::{Counted, NameFault};

use super::who;
use crate::i18n::{Key, Lang, k};

pub fn refusal(lang: Lang, refusal: &Refusal) -> String {
    let named = |key: Key, target| lang.fill(key, &[("who", &who(lang, target))]);
    match refusal {
        Refusal::UnknownProcess(target) => named(k::REFUSAL_UNKNOWN, target),
        Refusal::AlreadyRunning(target) => named(k::REFUSAL_RUNNING, target),
        Refusal::NotRunning(target) => named(k::REFUSAL_NOT_RUNNING, target),
        Refusal::AlreadyPaused(target) => named(k::REFUSAL_PAUSED, target),
        Refusal::AlreadyCut(target) => named(k::REFUSAL_CUT, target),
        Refusal::NotCut(target) => named(k::REFUSAL_NOT_CUT, target),
        Refusal::AlreadyRolling => lang.t(k::REFUSAL_ROLLING).to_string(),
        Refusal::NoBrokers => lang.t(k::REFUSAL_NO_BROKERS).to_string(),
        Refusal::NotPaused(target) => named(k::REFUSAL_NOT_PAUSED, target),
        Refusal::NoSession(target) => named(k::REFUSAL_NO_SESSION, target),
        Refusal::NotInTextbook => lang.t(k::REFUSAL_NOT_IN_TEXTBOOK).to_string(),
        Refusal::NotInThisProfile => lang.t(k::REFUSAL_NOT_IN_THIS_PROFILE).to_string(),
        Refusal::BadPattern { regex, at } => {
            lang.fill(k::REFUSAL_BAD_PATTERN, &[("regex", regex), ("at", at)])
        }
        Refusal::BadOption { name, value } => {
            lang.fill(k::REFUSAL_BAD_OPTION, &[("name", name), ("value", value)])
        }
        Refusal::NotForThis(target) => named(k::REFUSAL_NOT_FOR_THIS, target),
        Refusal::TooMany { what, limit } => {
            lang.fill(k::REFUSAL_TOO_MANY, &[("what", &lang.t(counted(*what))), ("limit", limit)])
        }
        Refusal::BadName { name, why } => bad_name(lang, name, *why),
        Refusal::OutOfRange { what, given, low, high } => lang.fill(
            k::REFUSAL_RANGE,
            &[("what", &lang.t(counted(*what))), ("given", given), ("low", low), ("high", high)],
        ),
        Refusal::ReplicationAboveBrokers { replication, brokers } => {
            lang.fill(k::REFUSAL_FEW_BROKERS, &[("rf", replication), ("n", brokers)])
        }
        Refusal::TopicExists(topic) => lang.fill(k::REFUSAL_TOPIC_EXISTS, &[("topic", topic)]),
        Refusal::UnknownTopic(topic) => lang.fill(k::REFUSAL_TOPIC_UNKNOWN, &[("topic", topic)]),
        Refusal::UnknownPartition(tp) => {
            lang.fill(k::REFUSAL_PARTITION_UNKNOWN, &[("topic", &tp.topic), ("n", &tp.partition)])
        }
        Refusal::ReplicaTwice(id) => lang.fill(k::REFUSAL_REPLICA_TWICE, &[("id", id)]),
        Refusal::ZooKeeperDown => lang.t(k::REFUSAL_ZOOKEEPER_DOWN).to_string(),
    }
}

fn bad_name(lang: Lang, name: &str, why: NameFault) -> String {
    match why {
        NameFault::Empty => lang.t(k::REFUSAL_NAME_EMPTY).to_string(),
        NameFault::TooLong { limit } => lang.fill(k::REFUSAL_NAME_LONG, &[("limit", &limit)]),
        NameFault::Character(letter) => {
            lang.fill(k::REFUSAL_NAME_LETTER, &[("letter", &letter.escape_debug())])
        }
        NameFault::NotAWord(letter) => {
            lang.fill(k::REFUSAL_NOT_A_WORD, &[("letter", &letter.escape_debug())])
        }
        NameFault::Dots => lang.fill(k::REFUSAL_NAME_DOTS, &[("name", &name)]),
    }
}

fn counted(what: Counted) -> Key {
    match what {
        Counted::Brokers => k::COUNTED_BROKERS,
        Counted::BrokerId => k::COUNTED_BROKER_ID,
        Counted::Clients => k::COUNTED_CLIENTS,
        Counted::Consumers => k::COUNTED_CONSUMERS,
        Counted::Producers => k::COUNTED_PRODUCERS,
        Counted::Streams => k::COUNTED_STREAMS,
        Counted::Records => k::COUNTED_RECORDS,
        Counted::Partitions => k::COUNTED_PARTITIONS,
        Counted::Replication => k::COUNTED_REPLICATION,
        Counted::Topics => k::COUNTED_TOPICS,
        Counted::PauseSeconds => k::COUNTED_PAUSE,
        Counted::SessionTimeoutMs => k::COUNTED_TIMEOUT,
        Counted::LineBytes => k::COUNTED_LINE,
        Counted::Commands => k::COUNTED_COMMANDS,
        Counted::Events => k::COUNTED_EVENTS,
    }
}
