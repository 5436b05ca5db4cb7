//! The line of a lag is read from the rows: it ends at the lag that there is, goes back with the
//! run, and tells what the states said at the time.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::Lab;
use kafkascope_core::script::{self, Player};
use kafkascope_core::view::{self, Trend};

const RUN: &str = "kafkascope 1
profile textbook seed 7
at 0s start broker 1..2
at 1s create topic T partitions 2 replication 2
at 2s start producer p1 topic T every 300ms keys a*3,b count 60
at 2s start consumer c1 group g topic T with auto.commit.interval.ms=2000
at 9s kill -9 consumer c1
at 25s start consumer c2 group g topic T with auto.commit.interval.ms=1000
wait 12s
";

fn lab() -> Lab {
    let script = script::parse(RUN).expect("a script");
    let mut lab = Player::lab(&script);
    Player::new(&script).advance(&mut lab);
    lab
}

fn look(lab: &Lab) -> (Trend, u64) {
    let groups = view::groups(lab).groups;
    let group = groups.iter().find(|group| &*group.name == "g").expect("the group is there");
    (view::trend(lab, group), group.lag())
}

fn at(trend: &Trend, moment: Instant) -> Option<u64> {
    trend.whole.iter().rev().find(|(begin, _)| *begin <= moment).map(|(_, lag)| *lag)
}

#[test]
fn the_line_says_what_was_true_at_the_time() {
    let mut lab = lab();
    let end = lab.now();
    let (trend, lag) = look(&lab);
    assert_eq!(trend.whole.last().map(|step| step.1), Some(lag));
    assert_eq!(trend.until, end);
    let most = trend.whole.iter().map(|step| step.1).max();
    assert!(most > Some(20), "nobody read for 16 s: {most:?}");
    for secs in (12..end.millis() / 1_000).step_by(2) {
        // Between two whole seconds, where nothing is under way.
        let moment = Instant(0) + Span::from_millis(secs * 1_000 + 150);
        lab.seek(moment);
        let (then, lag) = look(&lab);
        assert_eq!(then.whole.last().map(|step| step.1), Some(lag), "at {secs} s");
        assert_eq!(at(&trend, moment), Some(lag), "at {secs} s, seen from the end");
    }
    lab.seek(end);
    assert_eq!(look(&lab).0, trend, "there and back");
}
