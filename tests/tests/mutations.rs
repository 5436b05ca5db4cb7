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

/// The same for a real release: creation, a failover, a controller that lost its office by hand and
/// doesn't hear of it (it stands still, so that another one wins whatever the packets' jitter), a
/// message that comes late, a death.
const REAL: &str = "kafkascope 1
profile 2.x release 2.8.2 seed 7
set zookeeper.session.timeout.ms 6000
at 0s start broker 1
at 1s start broker 2..4
at 3s create topic orders partitions 4 replication 2
at 4s cut broker 1 from broker 4
at 4100ms create topic more partitions 4 replication 3
at 5s pause broker 1 200ms
at 5s zk console delete /controller
at 6s create topic one partitions 2 replication 2
at 6500ms create topic two partitions 2 replication 2
at 7s heal broker 1 from broker 4
at 7500ms create topic three partitions 2 replication 2
at 8s kill -9 broker 2
";

/// [`REAL`] in a release: while a topic is made, whoever took office from broker 1 stands still. So
/// broker 1, if it doesn't know of its end, is the first to write the new states, whatever the
/// packets' jitter.
fn alone_with_its_belief(release: &str) -> String {
    let create = "at 6s create topic one";
    let pauses: String = (2..=4).map(|id| format!("at 5950ms pause broker {id} 300ms\n")).collect();
    let story = REAL.replace("2.8.2", release).replace(create, &format!("{pauses}{create}"));
    assert!(story.contains(&pauses));
    story
}

/// The one that holds the only copy is controller, and dies.
const ALONE: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 1s start broker 2..3
at 3s create topic alone assignment 1
at 3100ms create topic both assignment 2:3
at 5s kill -9 broker 1
";

/// The controller died and is still in an ISR, which only its leader may shrink: a controlled
/// shutdown of 0.8 takes the first of the ISR, dead or not.
const DEAD: &str = "kafkascope 1
profile 0.8 seed 7
set zookeeper.session.timeout.ms 6000
at 0s start broker 1
at 1s start broker 2..3
at 3s create topic t assignment 2:1:3
at 5s kill -9 broker 1
at 13s stop broker 2
";

/// A controller of 0.8 stands still while it asks who lives. Another one is elected; what the
/// first was about to do it does in its new session. [cases/lessons.md L4]
const ZOMBIE: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 1s start broker 2..4
at 3s create topic t assignment 2:3,4:3
at 5s kill -9 broker 3
at 10012ms pause broker 1 8s
";

fn breaches(mutation: Option<Mutation>) -> Vec<&'static str> {
    breaches_of(STORY, mutation)
}

fn breaches_of(story: &str, mutation: Option<Mutation>) -> Vec<&'static str> {
    breaches_for(story, mutation, 30)
}

fn breaches_for(story: &str, mutation: Option<Mutation>, seconds: u64) -> Vec<&'static str> {
    let mut script = script::parse(story).expect("the script is well-formed");
    script.config.mutation = mutation;
    let mut lab = Lab::new(script::run_of(&script));
    let _ = lab.advance(kafkascope_core::base::Instant(seconds * 1_000_000), u32::MAX);
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

#[track_caller]
fn breaks_real(mutation: Kafka, name: &'static str) {
    let found = breaches_of(REAL, Some(Mutation::Kafka(mutation)));
    assert!(found.contains(&name), "{mutation:?} should break {name}, found {found:?}");
}

#[test]
fn without_a_mutation_a_real_release_breaks_nothing() {
    let always = |name: &&str| {
        let found = |i: &&invariant::Invariant| i.name == *name;
        invariant::ALL.iter().find(found).map(|i| i.kind) == Some(invariant::Kind::Always)
    };
    for release in ["0.11.0.3", "1.1.1", "2.8.2", "3.9.2"] {
        let story = REAL.replace("2.8.2", release);
        let found = breaches_of(&story, None);
        assert!(!found.iter().any(&always), "{release}: {found:?}");
    }
    let old = REAL.replace("2.x release 2.8.2", "0.8");
    let found = breaches_of(&old, None);
    assert!(!found.iter().any(always), "0.8: {found:?}");
}

/// The same with somebody who writes.
const WRITING: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1..3
at 3s create topic t partitions 2 replication 2
at 5s start producer p topic t every 100ms keys a,b,c count 20
";

#[test]
fn what_only_the_leader_has_is_seen() {
    for profile in ["textbook", "0.8"] {
        let story = WRITING.replace("0.8", profile);
        assert_eq!(breaches_of(&story, None), [""; 0], "{profile}");
        let found = breaches_of(&story, Some(Mutation::Kafka(Kafka::CommitsAlone)));
        assert_eq!(found, [invariant::COMMITTED_IN_ISR], "{profile}");
    }
}

/// A group that is joined, left, and that reads what is written.
const GROUP: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 6 replication 1
at 4s start producer p topic t every 200ms keys a,b,c,d,e,f count 50
at 5s start consumer c1..2 group g topic t with auto.commit.interval.ms=2000
at 9s start consumer c3 group g topic t with auto.commit.interval.ms=2000
";

/// A member that stands still for longer than its session.
const ZOMBIE_MEMBER: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 4 replication 1
at 4s start producer p topic t every 200ms keys a,b,c,d,e,f count 80
at 5s start consumer c1..2 group g topic t
at 10s pause consumer c2 12s
";

/// Four tries of 2 s against a session of 30 s. [cases/lessons.md L6 B]
const GHOST: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 4 replication 1
at 5s start consumer c1..2 group g topic t with zookeeper.session.timeout.ms=30000
at 11s kill -9 consumer c2
at 12s start consumer c4 group g topic t with zookeeper.session.timeout.ms=30000
";

/// A member stands still between two claims; in its next session it takes the first one back,
/// which is another member's by then. (Met by `model_groups`.)
const TAKEN_BACK: &str = "kafkascope 1
profile textbook seed 7
at 0s start broker 1
at 2s create topic t partitions 2 replication 1
at 3s start producer p kind java
at 4s start consumer c1 group g topic t with auto.commit.interval.ms=2000
at 8s start consumer c2 group g topic t with auto.commit.interval.ms=2000
at 15000001us stop consumer c1
at 15000001us produce p topic t partition 0
at 15000001us produce p topic t partition 1
at 15008002us start consumer c1 group g topic t with auto.commit.interval.ms=2000
at 15008002us produce p topic t partition 0
at 15008002us produce p topic t partition 1
at 15068003us pause consumer c2 9s
";

/// What is found where the member stands still at one moment or another of its rebalance.
fn taken_back() -> Vec<&'static str> {
    let pauses = (15_050..15_080).map(|ms| TAKEN_BACK.replace("15068003us", &format!("{ms}003us")));
    pauses.flat_map(|story| group_breaches(&story, None)).collect()
}

/// A member stands still before it is registered, for longer than its session.
const TWICE_REGISTERED: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 2 replication 1
at 4s start consumer c1 group g topic t
at 4072ms pause consumer c1 9s
";

/// Round robin with unequal subscriptions. [spec consumer-zk.md B5]
const UNEQUAL: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 4 replication 1
at 2s create topic u partitions 2 replication 1
at 5s start consumer c1 group g topic t topic u with partition.assignment.strategy=roundrobin
at 9s start consumer c2 group g topic t with partition.assignment.strategy=roundrobin
";

const QUIET_GROUP: &str = "kafkascope 1
profile 0.8 seed 7
at 0s start broker 1
at 2s create topic t partitions 4 replication 1
at 5s start consumer c1..2 group g topic t
";

fn group_breaches(story: &str, mutation: Option<Kafka>) -> Vec<&'static str> {
    breaches_for(story, mutation.map(Mutation::Kafka), 90)
}

#[test]
fn a_group_by_its_rules_breaks_nothing() {
    for story in [GROUP, QUIET_GROUP] {
        assert_eq!(group_breaches(story, None), [""; 0]);
        let textbook = story.replace("profile 0.8", "profile textbook");
        assert_eq!(group_breaches(&textbook, None), [""; 0]);
    }
}

#[test]
fn a_member_that_reads_on_is_seen() {
    let wanted = [invariant::READ_ONCE, invariant::READS_ITS_OWN];
    for profile in ["textbook", "0.8"] {
        let story = GROUP.replace("0.8", profile);
        assert_eq!(group_breaches(&story, Some(Kafka::ReadsOn)), wanted, "{profile}");
    }
}

#[test]
fn a_partition_that_nobody_reads_is_seen() {
    let found = group_breaches(GROUP, Some(Kafka::LeavesLast));
    assert_eq!(found, [invariant::ALL_OWNED]);
}

#[test]
fn a_member_that_never_commits_is_seen() {
    for profile in ["textbook", "0.8"] {
        let story = GROUP.replace("0.8", profile);
        let found = group_breaches(&story, Some(Kafka::NeverCommits));
        assert_eq!(found, [invariant::OFFSETS_ADVANCE], "{profile}");
        // Whoever is told not to commit owes nothing.
        let told = "auto.commit.interval.ms=2000 with auto.commit.enable=false";
        let told = story.replace("auto.commit.interval.ms=2000", told);
        assert_eq!(group_breaches(&told, Some(Kafka::NeverCommits)), [""; 0], "{profile}");
    }
}

/// What old groups do is found where it is known to happen, and not where it can't.
#[test]
fn what_groups_do_is_found() {
    let found = |story: &str| group_breaches(story, None);
    assert_eq!(found(ZOMBIE_MEMBER), [invariant::EXPIRED_READS]);
    let short = ZOMBIE_MEMBER.replace("c2 12s", "c2 3s");
    assert_eq!(found(&short), [""; 0], "shorter than its session");
    let textbook = ZOMBIE_MEMBER.replace("profile 0.8", "profile textbook");
    assert_eq!(found(&textbook), [invariant::EXPIRED_READS]);

    assert!(taken_back().contains(&invariant::OWNER_BY_OTHER));
    assert_eq!(found(TWICE_REGISTERED), [invariant::WAITS_FOR_ITSELF]);

    assert_eq!(found(GHOST), [invariant::GAVE_UP]);
    let longer = GHOST.replace("=30000", "=30000 with rebalance.max.retries=20");
    assert_eq!(found(&longer), [""; 0], "its tries outlive the session");

    assert_eq!(found(UNEQUAL), [invariant::UNEQUAL_MEMBERS]);
    let range = UNEQUAL.replace("=roundrobin", "=range");
    assert_eq!(found(&range), [""; 0], "range takes any subscription");

    let owner = format!("{QUIET_GROUP}at 9s zk console delete /consumers/g/owners/t/1\n");
    assert_eq!(found(&owner), [invariant::OWNER_BY_HAND]);
    let id = format!("{QUIET_GROUP}at 9s zk console delete /consumers/g/ids/g_c1\n");
    assert_eq!(found(&id), [invariant::GROUP_BY_HAND]);
    let left = format!("{QUIET_GROUP}at 9s zk console create /consumers/g/owners/t/9 x\n");
    assert_eq!(found(&left), [""; 0], "no partition of the topic");
}

/// More consumers than partitions: the textbook's last ones get nothing, and nothing is wrong.
#[test]
fn idle_members_are_no_breach() {
    for profile in ["textbook", "0.8"] {
        let story = QUIET_GROUP.replace("0.8", profile).replace("c1..2", "c1..7");
        assert_eq!(group_breaches(&story, None), [""; 0], "{profile}");
    }
}

#[test]
fn an_isr_outside_the_assignment_is_seen() {
    breaks_real(Kafka::IsrOutsideAssignment, invariant::ISR_IN_ASSIGNMENT);
}

#[test]
fn a_leader_epoch_that_falls_is_seen() {
    breaks_real(Kafka::LeaderEpochFalls, invariant::LEADER_EPOCH_FORWARD);
}

#[test]
fn an_epoch_with_two_controllers_is_seen() {
    breaks_real(Kafka::KeepsEpoch, invariant::ONE_CONTROLLER_AN_EPOCH);
}

#[test]
fn a_broker_that_obeys_any_epoch_is_seen() {
    breaks_real(Kafka::ObeysAnyEpoch, invariant::CONTROLLER_EPOCH_FORWARD);
}

#[test]
fn a_deposed_controller_that_is_not_fenced_is_seen() {
    breaks_real(Kafka::WritesUnfenced, invariant::DEPOSED_FENCED);
}

/// The findings are there where the release is known to do so, and not elsewhere.
#[test]
fn what_old_releases_do_is_found() {
    let alone = breaches_of(ALONE, None);
    assert!(alone.contains(&invariant::UNOWNED), "{alone:?}");
    let quiet = ALONE.replace("at 5s kill -9 broker 1\n", "");
    assert!(!breaches_of(&quiet, None).contains(&invariant::UNOWNED));
    let dead = breaches_of(DEAD, None);
    assert!(dead.contains(&invariant::DEAD_LEADER), "{dead:?}");
    let later = DEAD.replace("profile 0.8", "profile 2.x release 1.1.1");
    assert!(!breaches_of(&later, None).contains(&invariant::DEAD_LEADER));
    let zombie = breaches_of(ZOMBIE, None);
    assert!(zombie.contains(&invariant::DEPOSED_WROTE), "{zombie:?}");
    let later = ZOMBIE.replace("profile 0.8", "profile 2.x release 2.8.2");
    let later = breaches_of(&later, None);
    assert!(!later.contains(&invariant::DEPOSED_FENCED), "{later:?}");
}

/// A controller before 2.1 that doesn't hear of its end writes on.
#[test]
fn a_deposed_controller_of_an_old_release_writes() {
    for release in ["0.11.0.3", "1.1.1"] {
        let old = alone_with_its_belief(release);
        let found = breaches_of(&old, Some(Mutation::Kafka(Kafka::KeepsOffice)));
        assert!(found.contains(&invariant::DEPOSED_WROTE), "{release}: {found:?}");
        let found = breaches_of(&old, None);
        assert!(!found.contains(&invariant::DEPOSED_WROTE), "{release}: {found:?}");
    }
    let fenced = alone_with_its_belief("2.8.2");
    let fenced = breaches_of(&fenced, Some(Mutation::Kafka(Kafka::KeepsOffice)));
    assert!(!fenced.contains(&invariant::DEPOSED_FENCED), "{fenced:?}");
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
    let mut broken: Vec<&str> = mutations.iter().flat_map(|m| breaches(Some(*m))).collect();
    let real = [
        Kafka::IsrOutsideAssignment,
        Kafka::LeaderEpochFalls,
        Kafka::KeepsEpoch,
        Kafka::ObeysAnyEpoch,
        Kafka::WritesUnfenced,
    ];
    let real = real.iter().flat_map(|m| breaches_of(REAL, Some(Mutation::Kafka(*m))));
    broken.extend(real);
    broken.extend(breaches_of(ALONE, None));
    broken.extend(breaches_of(DEAD, None));
    broken.extend(breaches_of(WRITING, Some(Mutation::Kafka(Kafka::CommitsAlone))));
    let old = alone_with_its_belief("1.1.1");
    broken.extend(breaches_of(&old, Some(Mutation::Kafka(Kafka::KeepsOffice))));
    for mutation in [Kafka::ReadsOn, Kafka::LeavesLast, Kafka::NeverCommits] {
        broken.extend(group_breaches(GROUP, Some(mutation)));
    }
    broken.extend(taken_back());
    for story in [ZOMBIE_MEMBER, TWICE_REGISTERED, GHOST, UNEQUAL] {
        broken.extend(group_breaches(story, None));
    }
    for path in ["owners/t/1", "ids/g_c1"] {
        let story = format!("{QUIET_GROUP}at 9s zk console delete /consumers/g/{path}\n");
        broken.extend(group_breaches(&story, None));
    }
    for invariant in invariant::ALL {
        assert!(broken.contains(&invariant.name), "nothing breaks {}", invariant.name);
    }
}
