//! How a group's lag grew and shrank: read from the rows, so that it goes back with the run.
//! It costs what was told in the time that is shown; a partition without news costs nothing.

use std::collections::BTreeMap;

use super::groups::{GroupView, note};
use crate::base::{Instant, Span};
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::data::Offset;
use crate::kafka::log::store::Event as LogNote;
use crate::kafka::{self, TopicPartition};
use crate::lab::Lab;
use crate::world::proc::Kind;
use crate::world::{Event, Row, World};

/// So much simulated time is shown.
pub const SHOWN: Span = Span::from_secs(30);
/// Rows further back than this are not looked at.
const FAR: usize = 100_000;
/// A line has at most so many steps; of more, each n-th is kept.
const STEPS: usize = 120;

/// Moments with the lag from then on, oldest first; the last holds until now.
pub type Steps = Vec<(Instant, Offset)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    pub from: Instant,
    pub until: Instant,
    /// Of all partitions together.
    pub whole: Steps,
    pub seats: BTreeMap<TopicPartition, Steps>,
}

/// Where a partition's log ends and how far the group is, going backwards.
struct Past {
    end: Offset,
    done: Option<Offset>,
}

impl Past {
    fn lag(&self) -> Offset {
        self.end.saturating_sub(self.done.unwrap_or(0))
    }
}

/// What a row says of a partition.
enum News {
    /// Its log ended here before.
    EndWas(Offset),
    /// The group was done up to here from then on.
    Done(Offset),
}

/// A line for each partition that is led, and one for all.
pub fn trend(lab: &Lab, group: &GroupView) -> Trend {
    let until = lab.now();
    let from = Instant(until.0.saturating_sub(SHOWN.0));
    let mut trend = Trend { from, until, ..Trend::default() };
    let mut past: BTreeMap<TopicPartition, Past> = BTreeMap::new();
    for seat in &group.seats {
        let Some(end) = seat.end else { continue };
        let done = seat.committed.or(seat.position);
        past.insert(seat.tp.clone(), Past { end, done });
        trend.seats.insert(seat.tp.clone(), vec![(until, seat.lag().unwrap_or(0))]);
    }
    let mut whole: Offset = past.values().map(Past::lag).sum();
    trend.whole.push((until, whole));
    let changes = changes(lab, group, from, &past);
    // Backwards: what lay before a change held up to it.
    for (at, tp, news) in changes {
        let Some(was) = past.get_mut(&tp) else { continue };
        let now = was.lag();
        match news {
            News::EndWas(end) => was.end = end,
            News::Done(done) => was.done = Some(done),
        }
        let before = was.lag();
        if before == now {
            continue;
        }
        whole = whole.saturating_sub(now).saturating_add(before);
        put(&mut trend.whole, at, whole);
        if let Some(steps) = trend.seats.get_mut(&tp) {
            put(steps, at, before);
        }
    }
    for steps in trend.seats.values_mut().chain([&mut trend.whole]) {
        close(steps, from);
    }
    trend
}

/// The newest entry so far began at `at`; before it there was `lag`.
fn put(steps: &mut Steps, at: Instant, lag: Offset) {
    if let Some(last) = steps.last_mut() {
        last.0 = at;
    }
    steps.push((at, lag));
}

/// Oldest first, from the left edge on, and no more than can be drawn.
fn close(steps: &mut Steps, from: Instant) {
    if let Some(last) = steps.last_mut() {
        last.0 = from;
    }
    steps.reverse();
    if steps.len() > STEPS {
        let every = steps.len().div_ceil(STEPS);
        let last = steps.len() - 1;
        let mut at = 0;
        steps.retain(|_| {
            at += 1;
            (at - 1) % every == 0 || at - 1 == last
        });
    }
}

/// What changed since `from`, newest first: each with what was true before it.
fn changes(
    lab: &Lab,
    group: &GroupView,
    from: Instant,
    known: &BTreeMap<TopicPartition, Past>,
) -> Vec<(Instant, TopicPartition, News)> {
    let (rows, world) = (lab.rows(), lab.world());
    let mut found = Vec::new();
    // Commits and first positions tell what came after them: each waits for the one before.
    let mut waits: BTreeMap<TopicPartition, Instant> = BTreeMap::new();
    for row in rows.iter().rev().take(FAR) {
        let old = row.at < from;
        if old && waits.is_empty() {
            break;
        }
        for (tp, news) in told(world, group, row) {
            if !known.contains_key(&tp) {
                continue;
            }
            match news {
                News::EndWas(_) if old => {}
                News::EndWas(end) => found.push((row.at, tp, News::EndWas(end))),
                News::Done(done) => {
                    if let Some(at) = waits.remove(&tp) {
                        found.push((at, tp.clone(), News::Done(done)));
                    }
                    if !old {
                        waits.insert(tp, row.at);
                    }
                }
            }
        }
    }
    // Before its first commit a group had read nothing.
    found.extend(waits.into_iter().map(|(tp, at)| (at, tp, News::Done(0))));
    found.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    found
}

fn told(world: &World, group: &GroupView, row: &Row) -> Vec<(TopicPartition, News)> {
    if let Event::Kafka(event) = &row.event
        && let kafka::Event::Log(LogNote::Appended { tp, from, .. }) = &**event
    {
        return vec![(tp.clone(), News::EndWas(*from))];
    }
    let Some(note) = note(row) else { return Vec::new() };
    let proc = world.procs.get(usize::from(row.proc));
    let ours = proc.is_some_and(|proc| {
        let spec = proc.consumer.as_ref();
        matches!(proc.kind, Kind::Consumer(_)) && spec.is_some_and(|spec| spec.group == group.name)
    });
    match note {
        Note::Committed { offsets } if ours => {
            offsets.iter().map(|(tp, done)| (tp.clone(), News::Done(*done))).collect()
        }
        // Where nothing is committed, the position counts.
        Note::Positioned { tp, at, reset: true } if ours => {
            vec![(tp.clone(), News::Done(*at))]
        }
        _ => Vec::new(),
    }
}
