//! The timeline: how much happened when, and what stands out.

use crate::base::Instant;
use crate::kafka;
use crate::lab::Lab;
use crate::sim::RowId;
use crate::world::{Command, Event, Row, ZkEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineView {
    /// What was run of this branch.
    pub explored: Instant,
    pub now: Instant,
    pub density: Vec<Density>,
    pub marks: Vec<Mark>,
    pub dead: Vec<DeadSpan>,
}

/// One bar: rows within its stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Density {
    /// Pings, reads and the like.
    pub ordinary: u32,
    /// What changed something.
    pub coordination: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub at: Instant,
    pub row: RowId,
    pub proc: u16,
    pub kind: MarkKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A person started or added something.
    Added,
    /// A person stopped, killed, paused or cut something.
    Fault,
    /// A person did something else.
    Act,
    Election,
    Expiry,
    Breach,
}

impl MarkKind {
    /// A person did it.
    pub const fn is_yours(self) -> bool {
        matches!(self, MarkKind::Added | MarkKind::Fault | MarkKind::Act)
    }
}

/// A process is dead or cut off, and its session still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadSpan {
    pub proc: u16,
    pub from: Instant,
    /// None while it lasts.
    pub to: Option<Instant>,
}

/// The strip from 0 to `until` in `bars` bars.
pub fn timeline(lab: &Lab, until: Instant, bars: u32) -> TimelineView {
    let rows = lab.all_rows();
    let mut density = vec![Density::default(); bars as usize];
    let whole = u128::from(until.0.max(1));
    for row in rows {
        let bar = u128::from(row.at.0) * u128::from(bars) / whole;
        if let Some(bar) = usize::try_from(bar).ok().and_then(|bar| density.get_mut(bar)) {
            match row.detail {
                true => bar.ordinary += 1,
                false => bar.coordination += 1,
            }
        }
    }
    TimelineView {
        explored: lab.explored(),
        now: lab.now(),
        density,
        marks: marks(rows),
        dead: dead(rows),
    }
}

fn marks(rows: &[Row]) -> Vec<Mark> {
    (0..)
        .zip(rows)
        .filter_map(|(id, row)| {
            let kind = mark(&row.event)?;
            Some(Mark { at: row.at, row: RowId(id), proc: row.proc, kind })
        })
        .collect()
}

fn mark(event: &Event) -> Option<MarkKind> {
    Some(match event {
        Event::Commanded(command) => match &**command {
            Command::StartBroker { .. }
            | Command::OpenClient { .. }
            | Command::StartZooKeeper
            | Command::CreateTopic { .. }
            | Command::StartConsumer { .. }
            | Command::StartProducer { .. }
            | Command::Resume(_)
            | Command::HealPeers { .. }
            | Command::Heal(_) => MarkKind::Added,
            Command::Stop(_)
            | Command::Kill(_)
            | Command::Pause { .. }
            | Command::Restart(_)
            | Command::RollBrokers
            | Command::CutPeers { .. }
            | Command::HoldLink { .. }
            | Command::DelayLink { .. }
            | Command::Expire(_)
            | Command::Cut(_) => MarkKind::Fault,
            Command::Admin(_)
            | Command::DeleteTopic { .. }
            | Command::Produce { .. }
            | Command::Commit { .. }
            | Command::Tune { .. }
            | Command::Zk { .. } => MarkKind::Act,
        },
        Event::Kafka(event) => match &**event {
            kafka::Event::ControllerStarted { .. } => MarkKind::Election,
            _ => return None,
        },
        Event::Zk(ZkEvent::SessionExpired { .. }) => MarkKind::Expiry,
        Event::Breach(_) => MarkKind::Breach,
        _ => return None,
    })
}

fn dead(rows: &[Row]) -> Vec<DeadSpan> {
    let mut spans: Vec<DeadSpan> = Vec::new();
    for row in rows {
        let (begins, ends) = match &row.event {
            Event::Killed | Event::Paused { .. } | Event::LinkCut => (true, false),
            Event::Zk(
                ZkEvent::SessionExpired { .. }
                | ZkEvent::SessionClosed { .. }
                | ZkEvent::SessionResumed { .. },
            )
            | Event::Resumed
            | Event::LinkHealed => (false, true),
            _ => continue,
        };
        let open = spans.iter_mut().rev().find(|s| s.proc == row.proc && s.to.is_none());
        match open {
            Some(span) if ends => span.to = Some(row.at),
            None if begins && row.proc != crate::world::proc::ZOOKEEPER => {
                spans.push(DeadSpan { proc: row.proc, from: row.at, to: None });
            }
            _ => {}
        }
    }
    spans
}
