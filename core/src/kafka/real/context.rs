//! What a controller knows of its cluster, with indexes so that an event costs what it touches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::Digest;
use crate::kafka::msg::TopicPartition;
use crate::zk::op::Zxid;

/// What stands in a partition's state znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leadership {
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
    pub controller_epoch: i32,
    pub zk_version: i32,
    /// After an unclean election, until the leader changes its ISR. [spec kafka-zk.md L3]
    pub recovering: bool,
}

/// [spec kafka-zk.md §4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartitionState {
    #[default]
    NonExistent,
    New,
    Online,
    Offline,
}

/// [spec kafka-zk.md §4]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaState {
    New,
    Online,
    Offline,
    DeletionStarted,
    DeletionSuccessful,
    DeletionIneligible,
}

#[derive(Clone, Debug, Default)]
pub struct Part {
    pub assignment: Vec<u32>,
    pub state: PartitionState,
    pub leadership: Option<Leadership>,
    replicas: Vec<(u32, ReplicaState)>,
}

#[derive(Clone, Debug, Default)]
pub struct Topic {
    pub parts: BTreeMap<u32, Part>,
    /// What its znode says its id is.
    pub id: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Live brokers with the czxid of their registration.
    pub live: BTreeMap<u32, Zxid>,
    pub shutting_down: BTreeSet<u32>,
    pub topics: BTreeMap<Arc<str>, Topic>,
    /// Partitions that are not Online but should be.
    pub waiting: BTreeSet<TopicPartition>,
    by_broker: BTreeMap<u32, BTreeSet<TopicPartition>>,
    /// Topics whose deletion was asked for.
    pub to_delete: BTreeSet<Arc<str>>,
    /// Of these, the ones that have to wait.
    pub ineligible: BTreeSet<Arc<str>>,
    /// Of these, the ones whose deletion has begun.
    pub begun: BTreeSet<Arc<str>>,
}

impl Context {
    pub fn part(&self, tp: &TopicPartition) -> Option<&Part> {
        self.topics.get(&tp.topic)?.parts.get(&tp.partition)
    }

    pub fn part_mut(&mut self, tp: &TopicPartition) -> Option<&mut Part> {
        self.topics.get_mut(&tp.topic)?.parts.get_mut(&tp.partition)
    }

    /// Live and not shutting down.
    pub fn is_online(&self, id: u32) -> bool {
        self.live.contains_key(&id) && !self.shutting_down.contains(&id)
    }

    pub fn is_to_be_deleted(&self, topic: &str) -> bool {
        self.to_delete.contains(topic)
    }

    pub fn set_assignment(&mut self, tp: &TopicPartition, assignment: Vec<u32>) {
        for id in &assignment {
            self.by_broker.entry(*id).or_default().insert(tp.clone());
        }
        let topic = self.topics.entry(tp.topic.clone()).or_default();
        topic.parts.entry(tp.partition).or_default().assignment = assignment;
    }

    /// Partitions with a replica on a broker.
    pub fn on_broker(&self, id: u32) -> impl Iterator<Item = &TopicPartition> {
        self.by_broker.get(&id).into_iter().flatten()
    }

    pub fn of_topic(&self, topic: &Arc<str>) -> Vec<TopicPartition> {
        let parts = self.topics.get(topic).map(|topic| topic.parts.keys());
        let named =
            |partition: &u32| TopicPartition { topic: topic.clone(), partition: *partition };
        parts.into_iter().flatten().map(named).collect()
    }

    pub fn all(&self) -> Vec<TopicPartition> {
        self.topics.keys().flat_map(|topic| self.of_topic(topic)).collect()
    }

    pub fn set_state(&mut self, tp: &TopicPartition, state: PartitionState) {
        let Some(part) = self.part_mut(tp) else { return };
        part.state = state;
        match state {
            PartitionState::New | PartitionState::Offline => _ = self.waiting.insert(tp.clone()),
            PartitionState::Online | PartitionState::NonExistent => _ = self.waiting.remove(tp),
        }
    }

    pub fn replica(&self, tp: &TopicPartition, id: u32) -> Option<ReplicaState> {
        let replicas = &self.part(tp)?.replicas;
        replicas.iter().find(|(known, _)| *known == id).map(|(_, state)| *state)
    }

    pub fn set_replica(&mut self, tp: &TopicPartition, id: u32, state: ReplicaState) {
        let Some(part) = self.part_mut(tp) else { return };
        match part.replicas.iter_mut().find(|(known, _)| *known == id) {
            Some(entry) => entry.1 = state,
            None => part.replicas.push((id, state)),
        }
    }

    /// All replicas of a topic with their states.
    pub fn replicas_of(&self, topic: &Arc<str>) -> Vec<(TopicPartition, u32, ReplicaState)> {
        let mut all = Vec::new();
        for tp in self.of_topic(topic) {
            let Some(part) = self.part(&tp) else { continue };
            for id in &part.assignment {
                let state = self.replica(&tp, *id).unwrap_or(ReplicaState::New);
                all.push((tp.clone(), *id, state));
            }
        }
        all
    }

    pub fn remove_topic(&mut self, topic: &Arc<str>) {
        for tp in self.of_topic(topic) {
            self.waiting.remove(&tp);
            let assignment = self.part(&tp).map(|part| part.assignment.clone());
            for id in assignment.into_iter().flatten() {
                if let Some(held) = self.by_broker.get_mut(&id) {
                    held.remove(&tp);
                }
            }
        }
        self.topics.remove(topic);
        self.to_delete.remove(topic);
        self.ineligible.remove(topic);
        self.begun.remove(topic);
    }

    pub fn digest(&self, digest: &mut Digest) {
        for (id, czxid) in &self.live {
            digest.u64(u64::from(*id));
            digest.i64(*czxid);
        }
        for (name, topic) in &self.topics {
            digest.text(name);
            for (number, part) in &topic.parts {
                digest.u64(u64::from(*number));
                digest.u64(part.state as u64);
                if let Some(state) = &part.leadership {
                    digest.i64(state.leader.map_or(-1, i64::from));
                    digest.i64(i64::from(state.leader_epoch));
                    digest.i64(i64::from(state.zk_version));
                }
            }
        }
    }
}
