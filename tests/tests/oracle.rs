//! Our ZooKeeper server against real ones: see `kafkascope_tests::oracle`.
//!
//! `KAFKASCOPE_ORACLE_SEQUENCES` says how many sequences a release gets, `KAFKASCOPE_ORACLE_SEED`
//! where their seeds begin: a failing seed with one sequence plays it again.

use std::io::Write as _;
use std::path::Path;

use kafkascope_core::zk::op::Release;
use kafkascope_core::zk::server::Mutation;
use kafkascope_tests::oracle::{Plan, Report, run};

/// Past the test harness, which would keep it to itself, on a line of its own: a harness with one
/// thread has begun one already.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "\n{line}");
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.trim().parse().ok()
}

fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Runs a plan, or says by name why it can't be run here; CI has all that it takes.
fn checked(name: &str, plan: &Plan) -> Option<Report> {
    match run(plan, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle")) {
        Ok(report) => Some(report),
        Err(reason) => {
            say(&format!("skipped: {name}: {reason}"));
            assert!(!in_ci(), "{name} was skipped: {reason}");
            None
        }
    }
}

fn same_as(release: Release) {
    let plan = Plan {
        release,
        first_seed: setting("KAFKASCOPE_ORACLE_SEED").unwrap_or(1),
        sequences: setting("KAFKASCOPE_ORACLE_SEQUENCES").unwrap_or(if in_ci() { 200 } else { 60 }),
        mutation: None,
    };
    let Some(report) = checked(&format!("oracle {}", release.name()), &plan) else { return };
    say(&format!(
        "oracle {}: {} sequences, {} operations, seeds from {}, {} s, {} played again for timing",
        release.name(),
        report.sequences,
        report.operations,
        plan.first_seed,
        report.took.as_secs(),
        report.repeated,
    ));
    assert!(report.failures.is_empty(), "\n{}", report.failures.join("\n"));
}

#[test]
fn ours_is_as_3_8_4() {
    same_as(Release::V3_8_4);
}

#[test]
fn ours_is_as_3_9_5() {
    same_as(Release::V3_9_5);
}

/// The comparison itself is able to fail: a rule of ours that is broken on purpose is found.
#[test]
fn a_broken_rule_is_found() {
    for mutation in [
        Mutation::EphemeralOutlivesSession,
        Mutation::WatchFiresTwice,
        Mutation::ReplyBeforeEvent,
        Mutation::ZxidGoesBack,
    ] {
        let (release, mutation) = (Release::V3_9_5, Some(mutation));
        let plan = Plan { release, first_seed: 1, sequences: 20, mutation };
        let Some(report) = checked("oracle with a broken rule", &plan) else { return };
        assert!(!report.failures.is_empty(), "nobody noticed {mutation:?}");
    }
}
