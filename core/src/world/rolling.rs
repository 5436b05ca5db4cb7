//! A rolling restart: broker after broker is stopped in good order and started again, the next
//! one once the one before is in every ISR that it belongs to, as an administrator does it.

use super::command::Who;
use super::event::Event;
use super::item::What;
use super::proc::{Kind, State};
use super::{Emit, World};
use crate::base::{Digest, Instant, Span};
use crate::kafka::broker::Phase;
use crate::kafka::paths;
use crate::kafka::payload::{self, PartitionState, TopicInfo};
use crate::sim::{Class, RowId};

/// How often it looks whether it can go on.
const LOOK_EVERY: Span = Span::from_millis(500);
/// A broker that isn't back in its ISRs by then isn't waited for longer.
const PATIENCE: Span = Span::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Stopping,
    /// Started; not waited for beyond this moment.
    Returning {
        until: Instant,
    },
}

/// What is left of a rolling restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rolling {
    id: u32,
    stage: Stage,
    left: Vec<u32>,
    cause: RowId,
}

impl Rolling {
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.id));
        digest.u64(self.left.len() as u64);
        digest.u64(match self.stage {
            Stage::Stopping => 0,
            Stage::Returning { until } => until.0,
        });
    }
}

impl World {
    /// The brokers that run, by id: the order of a rolling restart.
    pub(super) fn to_roll(&self) -> Vec<u32> {
        let running = self.procs.iter().filter(|proc| proc.state == State::Up);
        let mut ids: Vec<u32> = running
            .filter_map(|proc| match proc.kind {
                Kind::Broker(id) => Some(id),
                _ => None,
            })
            .collect();
        ids.sort_unstable();
        ids
    }

    pub(super) fn is_rolling(&self) -> bool {
        self.rolling.is_some()
    }

    pub(super) fn roll(&mut self, emit: &mut Emit<'_>) {
        let mut left = self.to_roll();
        left.reverse();
        let Some(id) = left.pop() else { return };
        let cause = emit.cause;
        self.rolling = Some(Rolling { id, stage: Stage::Stopping, left, cause });
        self.stop(emit, &Who::Broker(id));
        self.look_again(cause);
    }

    fn look_again(&mut self, cause: RowId) {
        self.schedule(self.now + LOOK_EVERY, Class::Timer, cause, What::Roll);
    }

    pub(super) fn roll_on(&mut self, emit: &mut Emit<'_>) {
        let Some(mut rolling) = self.rolling.take() else { return };
        let who = Who::Broker(rolling.id);
        let state = self.find(&who).map(|index| self.proc(index).state);
        match (rolling.stage, state) {
            (Stage::Stopping, Some(State::Down)) => {
                self.start_broker(emit, rolling.id, None, None);
                rolling.stage = Stage::Returning { until: self.now + PATIENCE };
            }
            (Stage::Returning { until }, _) if self.now >= until || self.is_back(rolling.id) => {
                let Some(next) = rolling.left.pop() else {
                    self.changed();
                    self.emit(emit, super::ZOOKEEPER, false, Event::RollingDone);
                    return;
                };
                rolling.id = next;
                rolling.stage = Stage::Stopping;
                self.stop(emit, &Who::Broker(next));
            }
            _ => {}
        }
        let cause = rolling.cause;
        self.rolling = Some(rolling);
        self.look_again(cause);
    }

    /// It runs, and is in the ISR of everything that was assigned to it.
    fn is_back(&self, id: u32) -> bool {
        let proc = self.find(&Who::Broker(id)).map(|index| self.proc(index));
        if proc.and_then(|proc| proc.phase()) != Some(Phase::Running) {
            return false;
        }
        let tree = self.server.tree();
        if tree.get(&paths::broker(id)).is_none() {
            return false;
        }
        let Some(topics) = tree.get(paths::TOPICS) else { return true };
        topics.children().all(|(_, topic)| {
            let Some(info) = payload::read::<TopicInfo>(&topic.data) else { return true };
            let states = topic.child("partitions");
            info.partitions.iter().filter(|(_, replicas)| replicas.contains(&id)).all(
                |(number, _)| {
                    let state = states
                        .and_then(|states| states.child(&number.to_string()))
                        .and_then(|partition| partition.child("state"))
                        .and_then(|state| payload::read::<PartitionState>(&state.data));
                    state.is_none_or(|state| state.isr.contains(&id))
                },
            )
        })
    }
}
