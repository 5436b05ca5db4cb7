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

/// Where a partition's replicas are, and which of them are on their way. [spec kafka-zk.md §8]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub replicas: Vec<u32>,
    pub adding: Vec<u32>,
    pub removing: Vec<u32>,
}

fn without(list: &[u32], other: &[u32]) -> Vec<u32> {
    list.iter().copied().filter(|id| !other.contains(id)).collect()
}

impl Assignment {
    pub fn at_rest(replicas: Vec<u32>) -> Assignment {
        Assignment { replicas, ..Assignment::default() }
    }

    pub fn origin(&self) -> Vec<u32> {
        without(&self.replicas, &self.adding)
    }

    pub fn target(&self) -> Vec<u32> {
        without(&self.replicas, &self.removing)
    }

    /// On the way to these: first they, then those that were there before.
    #[must_use]
    pub fn towards(&self, target: &[u32]) -> Assignment {
        let origin = self.origin();
        let mut replicas = target.to_vec();
        replicas.extend(without(&origin, target));
        let (adding, removing) = (without(target, &origin), without(&origin, target));
        Assignment { replicas, adding, removing }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Part {
    pub assignment: Vec<u32>,
    /// Of these, the ones that come, and the ones that will go.
    pub adding: Vec<u32>,
    pub removing: Vec<u32>,
    pub state: PartitionState,
    pub leadership: Option<Leadership>,
    replicas: Vec<(u32, ReplicaState)>,
}

impl Part {
    /// Whose turn it is to lead, and whether it does, once somebody does.
    fn preferred(&self) -> Option<(u32, bool)> {
        let (first, state) = (*self.assignment.first()?, self.leadership.as_ref()?);
        Some((first, state.leader == Some(first)))
    }
}

/// Partitions that a broker is the preferred leader of.
#[derive(Clone, Debug, Default)]
struct Preferred {
    count: u64,
    /// Of these, the ones that another broker leads, or nobody.
    elsewhere: Arc<BTreeSet<TopicPartition>>,
}

#[derive(Clone, Debug, Default)]
pub struct Topic {
    pub parts: BTreeMap<u32, Part>,
    /// What its znode says its id is.
    pub id: Option<String>,
}

/// What grows with the partitions lies behind shared pointers: a copy of the world that is not
/// followed by a change costs nothing for them.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Live brokers with the czxid of their registration.
    pub live: BTreeMap<u32, Zxid>,
    pub shutting_down: BTreeSet<u32>,
    topics: Arc<BTreeMap<Arc<str>, Arc<Topic>>>,
    /// Partitions that are not Online but should be.
    pub waiting: BTreeSet<TopicPartition>,
    by_broker: BTreeMap<u32, Arc<BTreeSet<TopicPartition>>>,
    preferred: BTreeMap<u32, Preferred>,
    /// Partitions on the move, and where to.
    pub reassigning: BTreeMap<TopicPartition, Vec<u32>>,
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

    pub fn partition_count(&self) -> usize {
        self.topics.values().map(|topic| topic.parts.len()).sum()
    }

    pub fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.keys()
    }

    pub fn has_topic(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    pub fn set_topic_id(&mut self, topic: &Arc<str>, id: Option<String>) {
        self.topic_mut(topic).id = id;
    }

    pub fn topic_id(&self, topic: &str) -> Option<&str> {
        self.topics.get(topic)?.id.as_deref()
    }

    pub fn assignment(&self, tp: &TopicPartition) -> Option<Assignment> {
        let part = self.part(tp)?;
        let (replicas, adding) = (part.assignment.clone(), part.adding.clone());
        Some(Assignment { replicas, adding, removing: part.removing.clone() })
    }

    /// Its replicas are elsewhere from now on.
    pub fn assign(&mut self, tp: &TopicPartition, to: Assignment) {
        let before = self.part(tp).map(|part| part.assignment.clone()).unwrap_or_default();
        for id in without(&before, &to.replicas) {
            if let Some(held) = self.by_broker.get_mut(&id) {
                Arc::make_mut(held).remove(tp);
            }
        }
        self.set_assignment(tp, to.replicas);
        if let Some(part) = self.part_mut(tp) {
            (part.adding, part.removing) = (to.adding, to.removing);
        }
    }

    /// There is no such replica any more.
    pub fn forget_replica(&mut self, tp: &TopicPartition, id: u32) {
        if let Some(part) = self.part_mut(tp) {
            part.replicas.retain(|(known, _)| *known != id);
        }
    }

    fn topic_mut(&mut self, topic: &Arc<str>) -> &mut Topic {
        let topics = Arc::make_mut(&mut self.topics);
        Arc::make_mut(topics.entry(topic.clone()).or_default())
    }

    fn part_mut(&mut self, tp: &TopicPartition) -> Option<&mut Part> {
        self.part(tp)?;
        self.topic_mut(&tp.topic).parts.get_mut(&tp.partition)
    }

    /// What is known to stand in a partition's state znode.
    pub fn set_leadership(&mut self, tp: &TopicPartition, leadership: Option<Leadership>) {
        self.change(tp, |part| part.leadership = leadership);
    }

    /// Changes who should lead a partition or who does.
    fn change(&mut self, tp: &TopicPartition, change: impl FnOnce(&mut Part)) {
        let Some(part) = self.part_mut(tp) else { return };
        let before = part.preferred();
        change(part);
        let after = part.preferred();
        if before != after {
            self.count_preferred(tp, before, after);
        }
    }

    fn count_preferred(
        &mut self,
        tp: &TopicPartition,
        before: Option<(u32, bool)>,
        after: Option<(u32, bool)>,
    ) {
        if let Some((id, _)) = before {
            let known = self.preferred.entry(id).or_default();
            known.count = known.count.saturating_sub(1);
            if known.elsewhere.contains(tp) {
                Arc::make_mut(&mut known.elsewhere).remove(tp);
            }
        }
        if let Some((id, leads)) = after {
            let known = self.preferred.entry(id).or_default();
            known.count += 1;
            if !leads {
                Arc::make_mut(&mut known.elsewhere).insert(tp.clone());
            }
        }
    }

    /// Partitions whose preferred leader is up but does not lead them, where these are more than
    /// `percent` of all that it should lead. Those being deleted don't count. [§5]
    pub fn imbalanced(&self, percent: u64) -> Vec<TopicPartition> {
        let doomed = self.to_delete.iter().filter_map(|topic| self.topics.get(topic));
        let mut excluded = BTreeMap::<u32, u64>::new();
        for (id, _) in doomed.flat_map(|topic| topic.parts.values()).filter_map(Part::preferred) {
            *excluded.entry(id).or_default() += 1;
        }
        let mut found = Vec::new();
        for (id, known) in &self.preferred {
            if known.elsewhere.is_empty() || !self.is_online(*id) {
                continue;
            }
            let stays = |tp: &&TopicPartition| !self.is_to_be_deleted(&tp.topic);
            let elsewhere = known.elsewhere.iter().filter(stays);
            let total = known.count - excluded.get(id).copied().unwrap_or(0);
            if elsewhere.clone().count() as u64 * 100 > percent * total {
                found.extend(elsewhere.cloned());
            }
        }
        found
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
            let held = self.by_broker.entry(*id).or_default();
            Arc::make_mut(held).insert(tp.clone());
        }
        self.topic_mut(&tp.topic).parts.entry(tp.partition).or_default();
        self.change(tp, |part| part.assignment = assignment);
    }

    /// Partitions with a replica on a broker.
    pub fn on_broker(&self, id: u32) -> impl Iterator<Item = &TopicPartition> {
        self.by_broker.get(&id).into_iter().flat_map(|held| held.iter())
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
            self.reassigning.remove(&tp);
            let Some(part) = self.part(&tp) else { continue };
            let (assignment, preferred) = (part.assignment.clone(), part.preferred());
            self.count_preferred(&tp, preferred, None);
            for id in assignment {
                if let Some(held) = self.by_broker.get_mut(&id) {
                    Arc::make_mut(held).remove(&tp);
                }
            }
        }
        Arc::make_mut(&mut self.topics).remove(topic);
        self.to_delete.remove(topic);
        self.ineligible.remove(topic);
        self.begun.remove(topic);
    }

    pub fn digest(&self, digest: &mut Digest) {
        for (id, czxid) in &self.live {
            digest.u64(u64::from(*id));
            digest.i64(*czxid);
        }
        for (name, topic) in &*self.topics {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tp(topic: &str, partition: u32) -> TopicPartition {
        TopicPartition { topic: topic.into(), partition }
    }

    fn led_by(leader: Option<u32>) -> Option<Leadership> {
        let (leader_epoch, controller_epoch, zk_version) = (0, 1, 0);
        let isr = leader.into_iter().collect();
        let recovering = false;
        Some(Leadership { leader, leader_epoch, isr, controller_epoch, zk_version, recovering })
    }

    /// Two of broker 1's four partitions and the one of broker 2 are led by others.
    fn context() -> Context {
        let mut context = Context::default();
        context.live.extend([(1, 0), (2, 0), (3, 0)]);
        for partition in 0..4 {
            context.set_assignment(&tp("a", partition), vec![1, 2]);
            let leader = if partition < 2 { 2 } else { 1 };
            context.set_leadership(&tp("a", partition), led_by(Some(leader)));
        }
        context.set_assignment(&tp("b", 0), vec![2, 3]);
        context.set_leadership(&tp("b", 0), led_by(None));
        context
    }

    #[test]
    fn who_leads_for_another_is_counted() {
        let mut context = context();
        let elsewhere = [tp("a", 0), tp("a", 1), tp("b", 0)];
        assert_eq!(context.imbalanced(10), elsewhere);
        assert_eq!(context.imbalanced(50), elsewhere[2..]);
        context.shutting_down.insert(2);
        assert_eq!(context.imbalanced(10), elsewhere[..2]);
        context.set_leadership(&tp("a", 0), led_by(Some(1)));
        assert_eq!(context.imbalanced(24), elsewhere[1..2]);
        assert_eq!(context.imbalanced(25), []);
    }

    #[test]
    fn what_is_deleted_does_not_count() {
        let mut context = context();
        context.set_assignment(&tp("c", 0), vec![1]);
        context.set_leadership(&tp("c", 0), led_by(Some(1)));
        context.to_delete.insert("a".into());
        assert_eq!(context.imbalanced(0), [tp("b", 0)]);
        context.remove_topic(&"a".into());
        assert_eq!(context.imbalanced(0), [tp("b", 0)]);
        context.set_leadership(&tp("c", 0), led_by(Some(2)));
        assert_eq!(context.imbalanced(99), [tp("c", 0), tp("b", 0)]);
    }
}
