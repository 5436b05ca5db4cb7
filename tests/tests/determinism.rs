//! The same run gives the same rows and the same digest: twice, over seeks, over forks, and (as a
//! golden digest that the browser's test holds too) on every machine.

use kafkascope_core::base::{Instant, Rng, Span};
use kafkascope_core::lab::{Lab, Progress, Run};
use kafkascope_core::script;

const STORY: &str = include_str!("../script/kill-and-return.scn");

fn run() -> Run {
    script::run_of(&script::parse(STORY).expect("the script is well-formed"))
}

const END: Instant = Instant(60_000_000);

fn played() -> Lab {
    let mut lab = Lab::new(run());
    let _ = lab.advance(END, u32::MAX);
    lab
}

#[test]
fn twice_is_the_same() {
    let (a, b) = (played(), played());
    assert_eq!(a.rows(), b.rows());
    assert_eq!(a.digest(), b.digest());
}

#[test]
fn another_seed_is_another_run() {
    let mut other = run();
    other.seed += 1;
    let mut other = Lab::new(other);
    let _ = other.advance(END, u32::MAX);
    assert_ne!(other.digest(), played().digest());
}

/// Wherever one comes from, a moment looks the same.
#[test]
fn seeking_is_running() {
    let mut lab = played();
    let last = lab.world().event_no;
    let mut rng = Rng::new(11);
    for _ in 0..60 {
        let event = rng.below(last + 1);
        lab.seek_event(event);
        let mut fresh = Lab::new(run());
        fresh.seek_event(0);
        while fresh.world().event_no < event {
            let _ = fresh.fine_step();
            if fresh.world().event_no > event {
                fresh.seek_event(event);
            }
        }
        assert_eq!(lab.digest(), fresh.digest(), "event {event}");
    }
}

#[test]
fn steps_back_undo_steps() {
    let mut lab = Lab::new(run());
    let mut digests = vec![lab.digest()];
    while lab.step() == Progress::Reached {
        digests.push(lab.digest());
    }
    assert!(digests.len() > 60);
    while digests.len() > 1 {
        assert_eq!(Some(lab.digest()), digests.pop(), "at {}, {} left", lab.now(), digests.len());
        assert!(lab.step_back());
    }
}

/// Acting in the past keeps the branch that was, and both play on by themselves.
#[test]
fn a_fork_keeps_the_old_branch() {
    let mut lab = played();
    let (rows, digest) = (lab.rows().to_vec(), lab.digest());
    lab.seek(Instant(5_000_000));
    let command = script::parse_command("kill -9 broker 3").expect("a command");
    let forked = lab.submit(command).expect("broker 3 runs");
    assert!(forked.is_some());
    let _ = lab.advance(END, u32::MAX);
    assert_ne!(lab.rows(), rows);
    assert_eq!(lab.branches().len(), 2);
    lab.switch(kafkascope_core::lab::BranchId(0));
    let _ = lab.advance(END, u32::MAX);
    assert_eq!(lab.rows(), rows);
    assert_eq!(lab.digest(), digest);
}

/// A command in the stretch between two events is replayed at its place.
#[test]
fn a_link_of_an_acted_run_gives_the_same_run() {
    let mut lab = Lab::new(run());
    let _ = lab.advance(Instant(4_321_987), u32::MAX);
    for line in ["open client c9", "pause broker 2 for 3s", "zk c9 create -e /mine x"] {
        let command = script::parse_command(line).expect("a command");
        let _ = lab.submit(command);
        let until = lab.now() + Span(777_001);
        let _ = lab.advance(until, u32::MAX);
    }
    let _ = lab.advance(END, u32::MAX);
    let link = script::link::write(&script::link::script_of(lab.run()));
    let opened = script::link::read(&link).expect("the link can be read");
    let mut again = Lab::new(script::run_of(&opened));
    let _ = again.advance(END, u32::MAX);
    assert_eq!(again.rows(), lab.rows());
    assert_eq!(again.digest(), lab.digest());
}

fn told(text: &str) -> String {
    let script = script::parse(text).expect("the script is well-formed");
    let mut lab = Lab::new(script::run_of(&script));
    let _ = lab.advance(END, u32::MAX);
    format!("{:016x}", lab.digest())
}

/// The numbers that `web/tests/digest.rs` expects in the browser: of the textbook, of 0.8.2.2 and
/// of 2.8.2.
#[test]
fn golden_digest() {
    let wanted: Vec<&str> = include_str!("../golden-digest.txt").lines().collect();
    let old = include_str!("../script/release-0.8.2.2-deposed-controller.scn");
    let new = include_str!("../script/release-2.8.2-controller-dies.scn");
    assert_eq!(wanted, [told(STORY), told(old), told(new)]);
}
