//! What came out differently in two runs at the same moment: the same commands played by two
//! profiles or releases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::stage::{self, PartitionView, StageView};
use crate::lab::Lab;
use crate::world::{Event, Row, ZkEvent};
use crate::zk::op::Path;
use crate::zk::tree::Tree;

/// What one run has where the other has something else; `None`: it has nothing there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair<T> {
    pub before: Option<T>,
    pub after: Option<T>,
}

/// Who acts as controller, and in which epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Office {
    pub broker: u32,
    pub epoch: i32,
}

/// A partition as its state znode has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub replicas: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Controller(Pair<Office>),
    /// Registered in `/brokers/ids`.
    Brokers(Pair<Vec<u32>>),
    Partition {
        topic: Arc<str>,
        number: u32,
        pair: Pair<Partition>,
    },
    /// Names under a path that only one of them has: `before` and `after` list their own.
    Znodes {
        parent: Path,
        pair: Pair<Vec<Arc<str>>>,
    },
    /// Writes that ZooKeeper did.
    Writes(Pair<u64>),
    /// Writes that it refused; each used up a zxid all the same.
    Refused(Pair<u64>),
}

/// At most so many are listed.
pub const MOST: usize = 200;

/// `before` and `after` stand at the moment that is to be compared. What is most important first.
pub fn differences(before: &Lab, after: &Lab) -> Vec<Difference> {
    let (a, b) = (stage::stage(before), stage::stage(after));
    let mut found = Vec::new();
    push(&mut found, office(&a), office(&b), Difference::Controller);
    push(&mut found, registered(&a), registered(&b), Difference::Brokers);
    partitions(&a, &b, &mut found);
    znodes(before.world().server.tree(), after.world().server.tree(), &mut found);
    let (done, undone) = (writes(before), writes(after));
    push(&mut found, Some(done.0), Some(undone.0), Difference::Writes);
    push(&mut found, Some(done.1), Some(undone.1), Difference::Refused);
    found.truncate(MOST);
    found
}

fn push<T: PartialEq>(
    found: &mut Vec<Difference>,
    before: Option<T>,
    after: Option<T>,
    make: impl FnOnce(Pair<T>) -> Difference,
) {
    if before != after {
        found.push(make(Pair { before, after }));
    }
}

fn office(view: &StageView) -> Option<Office> {
    view.brokers.iter().find_map(|broker| {
        let controller = broker.controller.filter(|controller| controller.holds_office)?;
        Some(Office { broker: broker.id, epoch: controller.epoch })
    })
}

fn registered(view: &StageView) -> Option<Vec<u32>> {
    Some(view.brokers.iter().filter(|broker| broker.registered).map(|broker| broker.id).collect())
}

fn partitions(a: &StageView, b: &StageView, found: &mut Vec<Difference>) {
    type Key = (Arc<str>, u32);
    fn all(view: &StageView) -> BTreeMap<Key, Partition> {
        let topics = view.topics.iter();
        topics
            .flat_map(|topic| {
                let own = topic.partitions.iter();
                own.map(|partition| ((topic.name.clone(), partition.number), short(partition)))
            })
            .collect()
    }
    let (mut a, b) = (all(a), all(b));
    for (key, after) in b {
        let before = a.remove(&key);
        let make = |pair| Difference::Partition { topic: key.0.clone(), number: key.1, pair };
        push(found, before, Some(after), make);
    }
    for ((topic, number), before) in a {
        let pair = Pair { before: Some(before), after: None };
        found.push(Difference::Partition { topic, number, pair });
    }
}

fn short(partition: &PartitionView) -> Partition {
    Partition {
        leader: partition.leader,
        leader_epoch: partition.leader_epoch,
        isr: partition.isr.clone(),
        replicas: partition.replicas.iter().map(|replica| replica.broker).collect(),
    }
}

/// Below a parent that both have. Numbers of sequential nodes and of producers are their own
/// business; what stands below a topic is compared by partition.
fn znodes(a: &Tree, b: &Tree, found: &mut Vec<Difference>) {
    let mut parents: Vec<Path> = vec!["/".into()];
    while let Some(parent) = parents.pop() {
        let (Some(before), Some(after)) = (a.get(&parent), b.get(&parent)) else { continue };
        let names = |node: &crate::zk::tree::Znode| -> BTreeSet<Arc<str>> {
            node.children().map(|(name, _)| name.clone()).collect()
        };
        let (before, after) = (names(before), names(after));
        let only = |one: &BTreeSet<Arc<str>>, other: &BTreeSet<Arc<str>>| {
            let own: Vec<Arc<str>> = one.difference(other).cloned().collect();
            (!own.is_empty()).then_some(own)
        };
        let make = |pair| Difference::Znodes { parent: parent.clone(), pair };
        push(found, only(&before, &after), only(&after, &before), make);
        if &*parent == "/brokers/topics" {
            continue;
        }
        let shared = before.iter().rev().filter(|name| after.contains(*name));
        parents.extend(shared.map(|name| -> Path {
            match &*parent {
                "/" => format!("/{name}").into(),
                parent => format!("{parent}/{name}").into(),
            }
        }));
    }
}

/// Transactions done and refused.
fn writes(lab: &Lab) -> (u64, u64) {
    let refused = |row: &&Row| matches!(row.event, Event::Zk(ZkEvent::Failed { .. }));
    let refused = lab.rows().iter().filter(refused).count() as u64;
    let all = u64::from(lab.world().last_zxid().unsigned_abs() as u32);
    (all.saturating_sub(refused), refused)
}
