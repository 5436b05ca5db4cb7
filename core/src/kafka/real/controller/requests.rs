//! Requests that a change makes necessary, kept until its writes are through, then one of a kind
//! for each broker. [spec kafka-zk.md T2, WG2]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Controller, Io};
use crate::kafka::msg::TopicPartition;
use crate::kafka::real::context::PartitionState;
use crate::kafka::real::msg::{From, Msg, Order, Published};

#[derive(Clone, Debug, Default)]
pub struct Requests {
    orders: BTreeMap<u32, BTreeMap<TopicPartition, Arc<Order>>>,
    metadata: BTreeMap<TopicPartition, Published>,
    stops: BTreeMap<(u32, bool), Vec<TopicPartition>>,
}

impl Controller {
    /// Tells these brokers, as far as they live, how a partition stands; all hear of it.
    pub(super) fn order(&mut self, tp: &TopicPartition, to: &[u32]) {
        let Some(order) = self.order_of(tp) else { return };
        for id in to.iter().filter(|id| self.context.live.contains_key(id)) {
            let orders = self.requests.orders.entry(*id).or_default();
            orders.insert(tp.clone(), order.clone());
        }
        self.requests.metadata.insert(tp.clone(), Some(order));
    }

    fn order_of(&self, tp: &TopicPartition) -> Published {
        let part = self.context.part(tp)?;
        let (state, replicas) = (part.leadership.clone()?, part.assignment.clone());
        Some(Arc::new(Order { tp: tp.clone(), state, replicas }))
    }

    /// All brokers hear how a partition stands.
    pub(super) fn publish(&mut self, tp: &TopicPartition) {
        let gone = self.context.part(tp).is_none_or(|part| {
            part.state == PartitionState::NonExistent || self.context.is_to_be_deleted(&tp.topic)
        });
        let order = if gone { None } else { self.order_of(tp) };
        self.requests.metadata.insert(tp.clone(), order);
    }

    pub(super) fn stop_replica(&mut self, id: u32, tp: &TopicPartition, delete: bool) {
        if self.context.live.contains_key(&id) {
            self.requests.stops.entry((id, delete)).or_default().push(tp.clone());
        }
    }

    fn from(&self, io: &Io<'_>, to: u32) -> From {
        let epoch = self.context.live.get(&to).copied();
        From {
            controller: io.me,
            controller_epoch: self.epoch,
            broker_epoch: epoch.filter(|_| io.settings.release.fences_broker_epochs()),
        }
    }

    /// What everybody was told stands together for those who come later.
    fn remember(&mut self, changed: &BTreeMap<TopicPartition, Published>, all: bool) {
        for (tp, order) in changed {
            match order {
                Some(order) => _ = self.published.insert(tp.clone(), Some(order.clone())),
                None => _ = self.published.remove(tp),
            }
        }
        if all && self.context.partition_count() > self.published.len() {
            for tp in self.context.all() {
                if !self.published.contains_key(&tp)
                    && let Some(order) = self.order_of(&tp)
                {
                    self.published.insert(tp, Some(order));
                }
            }
        }
    }

    /// `all`: every live broker hears who lives, even if nothing else is to be said.
    pub(super) fn flush(&mut self, io: &mut Io<'_>, all: bool) {
        let mut requests = std::mem::take(&mut self.requests);
        self.remember(&requests.metadata, all);
        let live = self.live_ids();
        for (to, orders) in requests.orders {
            let (from, live) = (self.from(io, to), live.clone());
            let orders = orders.into_values().collect();
            io.send(to, Msg::LeaderAndIsr { from, live, orders });
        }
        if all || !requests.metadata.is_empty() {
            if all {
                // A newcomer knows nothing yet.
                requests.metadata = self.published.clone();
            }
            let partitions: Arc<[_]> = requests.metadata.into_iter().collect();
            for to in live.iter() {
                let (from, live) = (self.from(io, *to), live.clone());
                let partitions = partitions.clone();
                io.send(*to, Msg::UpdateMetadata { from, live, partitions });
            }
        }
        for ((to, delete), partitions) in requests.stops {
            let from = self.from(io, to);
            io.send(to, Msg::StopReplica { from, delete, partitions });
        }
    }
}
