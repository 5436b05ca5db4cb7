//! Each invariant is able to fail: the rule that it guards is broken on purpose, and it says so.
//! With the rule in place the same script breaks nothing.

use kafkascope_core::invariant;
use kafkascope_core::kafka::broker::Mutation as Kafka;
use kafkascope_core::lab::Lab;
use kafkascope_core::script;
use kafkascope_core::world::Event;
use kafkascope_core::world::config::Mutation;
use kafkascope_core::zk::server::Mutation as Zk;

/// Registers, watches, changes, dies: enough for every rule to matter.
const STORY: &str = "kafkascope 1
profile textbook seed 7
at 0s start broker 1..3
at 1s create topic orders partitions 4 replication 2
at 2s open client a
at 2100ms zk a create /n x
at 2200ms zk a get -w /n
at 2300ms zk a set /n y
at 2400ms zk a set /n z
at 2500ms zk a ls -w /
at 2600ms zk a create /m x
at 2700ms zk a ls /
at 2800ms zk console delete /controller
at 4s kill -9 broker 1
at 20s start broker 1
";

fn breaches(mutation: Option<Mutation>) -> Vec<&'static str> {
    breaches_of(STORY, mutation)
}

fn breaches_of(story: &str, mutation: Option<Mutation>) -> Vec<&'static str> {
    let mut script = script::parse(story).expect("the script is well-formed");
    script.config.mutation = mutation;
    let mut lab = Lab::new(script::run_of(&script));
    let _ = lab.advance(kafkascope_core::base::Instant(30_000_000), u32::MAX);
    let mut names: Vec<&'static str> = lab
        .rows()
        .iter()
        .filter_map(|row| match &row.event {
            Event::Breach(breach) => Some(breach.invariant),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[track_caller]
fn breaks(mutation: Mutation, name: &'static str) {
    let found = breaches(Some(mutation));
    assert!(found.contains(&name), "{mutation:?} should break {name}, found {found:?}");
}

#[test]
fn without_a_mutation_nothing_breaks() {
    // The controller learns of the hand-deleted office a message later: that is found, not broken.
    assert_eq!(breaches(None), [invariant::CONTROLLER_HOLDS_OFFICE]);
}

#[test]
fn an_ephemeral_that_stays_is_seen() {
    breaks(Mutation::Zk(Zk::EphemeralOutlivesSession), invariant::EPHEMERAL_WITH_SESSION);
}

#[test]
fn a_watch_that_fires_twice_is_seen() {
    breaks(Mutation::Zk(Zk::WatchFiresTwice), invariant::WATCH_ONCE);
}

#[test]
fn a_reply_before_its_event_is_seen() {
    breaks(Mutation::Zk(Zk::ReplyBeforeEvent), invariant::EVENT_BEFORE_STATE);
}

#[test]
fn a_zxid_that_goes_back_is_seen() {
    breaks(Mutation::Zk(Zk::ZxidGoesBack), invariant::ZXID_FORWARD);
}

#[test]
fn a_leader_outside_the_assignment_is_seen() {
    breaks(Mutation::Kafka(Kafka::LeaderOutsideAssignment), invariant::LEADER_IN_ASSIGNMENT);
}

/// The office is taken away by hand: whoever goes on acting is named. Where nobody takes it away,
/// nobody is, so the finding is able to be absent.
#[test]
fn a_controller_without_office_is_seen() {
    let quiet = STORY.replace("at 2800ms zk console delete /controller\n", "");
    assert_ne!(quiet, STORY);
    assert_eq!(breaches_of(&quiet, None), [""; 0]);
    breaks(Mutation::Kafka(Kafka::KeepsOffice), invariant::CONTROLLER_HOLDS_OFFICE);
}

/// Every invariant of the list is broken by one of the mutations above.
#[test]
fn every_invariant_has_a_mutation() {
    let mutations = [
        Mutation::Zk(Zk::EphemeralOutlivesSession),
        Mutation::Zk(Zk::WatchFiresTwice),
        Mutation::Zk(Zk::ReplyBeforeEvent),
        Mutation::Zk(Zk::ZxidGoesBack),
        Mutation::Kafka(Kafka::LeaderOutsideAssignment),
        Mutation::Kafka(Kafka::KeepsOffice),
    ];
    let broken: Vec<&str> = mutations.iter().flat_map(|m| breaches(Some(*m))).collect();
    for invariant in invariant::ALL {
        assert!(broken.contains(&invariant.name), "nothing breaks {}", invariant.name);
    }
}
