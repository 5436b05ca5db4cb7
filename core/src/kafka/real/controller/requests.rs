//! Requests that a change makes necessary, kept until its writes are through, then one of a kind
//! for each broker. [spec kafka-zk.md T2, WG2]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Controller, Io};
use crate::kafka::msg::TopicPartition;
use crate::kafka::real::msg::{From, Msg, Order};

#[derive(Clone, Debug, Default)]
pub struct Requests {
    orders: BTreeMap<u32, BTreeMap<TopicPartition, Arc<Order>>>,
    metadata: BTreeSet<TopicPartition>,
    stops: BTreeMap<(u32, bool), Vec<TopicPartition>>,
}

impl Controller {
    /// Tells these brokers, as far as they live, how a partition stands; all hear of it.
    pub(super) fn order(&mut self, tp: &TopicPartition, to: &[u32]) {
        let Some(part) = self.context.part(tp) else { return };
        let Some(state) = part.leadership.clone() else { return };
        let order = Order { tp: tp.clone(), state, replicas: part.assignment.clone() };
        let order = Arc::new(order);
        for id in to.iter().filter(|id| self.context.live.contains_key(id)) {
            let orders = self.requests.orders.entry(*id).or_default();
            orders.insert(tp.clone(), order.clone());
        }
        self.requests.metadata.insert(tp.clone());
    }

    /// All brokers hear how a partition stands.
    pub(super) fn publish(&mut self, tp: &TopicPartition) {
        self.requests.metadata.insert(tp.clone());
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

    /// `all`: every live broker hears who lives, even if nothing else is to be said.
    pub(super) fn flush(&mut self, io: &mut Io<'_>, all: bool) {
        let requests = std::mem::take(&mut self.requests);
        let live = self.live_ids();
        for (to, orders) in requests.orders {
            let (from, live) = (self.from(io, to), live.clone());
            let orders = orders.into_values().collect();
            io.send(to, Msg::LeaderAndIsr { from, live, orders });
        }
        if all || !requests.metadata.is_empty() {
            let partitions: Arc<[TopicPartition]> = requests.metadata.into_iter().collect();
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
