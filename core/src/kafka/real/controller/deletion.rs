//! Deletion of topics: the replicas first, then the znodes, strictly one after the other. [spec
//! kafka-zk.md N5, W12]

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Controller, Io, Step};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::real::broker::watcher;
use crate::kafka::real::context::{PartitionState, ReplicaState};
use crate::kafka::real::registry;
use crate::zk::op::{Error, Op, Path, Reply};

impl Controller {
    pub(super) fn deletion_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::ListDeletions { first } => {
                self.list(io, paths::DELETE_TOPICS, watcher::DELETIONS);
                self.then([Step::DeletionsListed { first }]);
            }
            Step::DeletionsListed { first } => self.deletions_listed(io, first),
            Step::ResumeDeletions => self.resume_deletions(),
            Step::BeginDeletion { topics } => self.begin_deletion(&topics),
            Step::DeletionStarted { replicas } => {
                for (tp, id) in &replicas {
                    self.context.set_replica(tp, *id, ReplicaState::DeletionStarted);
                    self.stop_replica(*id, tp, true);
                }
                self.flush(io, false);
            }
            Step::Purge { topic, paths } => match paths.last().cloned() {
                Some(path) => {
                    self.fiber.ask(Op::GetChildren { path, watch: false });
                    self.then([Step::PurgeListed { topic, paths }]);
                }
                None => {
                    let path = registry::topic_config(&topic);
                    self.write(io, Op::Delete { path, version: -1 });
                    self.then([Step::Purged { topic }]);
                }
            },
            Step::PurgeListed { topic, paths } => self.purge_listed(io, topic, paths),
            Step::PurgeDeleted { topic, mut paths } => {
                let Some(results) = self.written(io) else { return };
                // Somebody made a child meanwhile: look again.
                if !matches!(results.first(), Some(Err(Error::NotEmpty))) {
                    paths.pop();
                }
                self.then([Step::Purge { topic, paths }]);
            }
            Step::Purged { topic } => {
                if self.written(io).is_none() {
                    return;
                }
                let path = paths::delete_topic(&topic);
                self.write(io, Op::Delete { path, version: -1 });
                self.context.remove_topic(&topic);
                io.note(Note::TopicDeleted { topic });
                self.then([Step::Ignore, Step::ListTopics { first: false }]);
            }
            _ => {}
        }
    }

    fn deletions_listed(&mut self, io: &mut Io<'_>, first: bool) {
        let Some(children) = self.listed() else { return };
        let enabled = io.settings.delete_topics;
        let mut refused = false;
        for name in children {
            if enabled && self.context.has_topic(&name) {
                // It waits for replicas that move. [N5]
                if self.context.reassigning.keys().any(|tp| tp.topic == name) {
                    self.context.ineligible.insert(name.clone());
                }
                self.context.to_delete.insert(name);
            } else {
                let path = paths::delete_topic(&name);
                self.write(io, Op::Delete { path, version: -1 });
                refused = true;
            }
        }
        let mut steps = Vec::new();
        if refused {
            steps.push(Step::Ignore);
        }
        if first {
            self.dead_replicas_wait();
        } else {
            steps.push(Step::ResumeDeletions);
        }
        self.then(steps);
    }

    /// At a failover: topics with a replica on a dead broker wait for it.
    fn dead_replicas_wait(&mut self) {
        for topic in self.context.to_delete.clone() {
            let replicas = self.context.replicas_of(&topic);
            if replicas.iter().any(|(_, id, _)| !self.context.live.contains_key(id)) {
                self.context.ineligible.insert(topic);
            }
        }
    }

    fn resume_deletions(&mut self) {
        let (mut begin, mut steps) = (Vec::new(), Vec::new());
        for topic in self.context.to_delete.clone() {
            let replicas = self.context.replicas_of(&topic);
            let is = |state: ReplicaState| move |(_, _, s): &(_, _, ReplicaState)| *s == state;
            if replicas.iter().all(is(ReplicaState::DeletionSuccessful)) {
                let paths = vec![paths::topic(&topic)];
                steps.push(Step::Purge { topic, paths });
            } else if !replicas.iter().any(is(ReplicaState::DeletionStarted))
                && !self.context.ineligible.contains(&topic)
            {
                begin.push(topic);
            }
        }
        if !begin.is_empty() {
            steps.push(Step::BeginDeletion { topics: begin });
        }
        self.then(steps);
    }

    /// Brokers hear that the topics go; live replicas leave the ISRs and are deleted, dead ones
    /// make the topic wait for them.
    fn begin_deletion(&mut self, topics: &[Arc<str>]) {
        let (mut live, mut waiting) = (Vec::new(), BTreeSet::new());
        for topic in topics {
            let fresh = self.context.begun.insert(topic.clone());
            for tp in self.context.of_topic(topic) {
                if fresh {
                    self.context.set_state(&tp, PartitionState::NonExistent);
                }
                self.publish(&tp);
            }
            for (tp, id, state) in self.context.replicas_of(topic) {
                if !self.context.is_online(id) {
                    if state != ReplicaState::DeletionSuccessful {
                        self.context.set_replica(&tp, id, ReplicaState::DeletionIneligible);
                    }
                    waiting.insert(topic.clone());
                } else if state != ReplicaState::DeletionSuccessful {
                    live.push((tp, id));
                }
            }
        }
        self.context.ineligible.extend(waiting);
        self.then([
            Step::Flush { all: false },
            Step::Offline { replicas: live.clone() },
            Step::DeletionStarted { replicas: live },
        ]);
    }

    fn purge_listed(&mut self, io: &mut Io<'_>, topic: Arc<str>, mut paths: Vec<Path>) {
        let Some(path) = paths.last().cloned() else { return };
        match self.fiber.one() {
            Some(Ok(Reply::Children { children, .. })) if !children.is_empty() => {
                let below = |child: &Arc<str>| Path::from(format!("{path}/{child}"));
                let mut children: Vec<Path> = children.iter().map(below).collect();
                children.sort_by_key(|path| std::cmp::Reverse(last_number(path)));
                paths.extend(children);
                self.then([Step::Purge { topic, paths }]);
            }
            Some(Ok(_)) => {
                self.write(io, Op::Delete { path, version: -1 });
                self.then([Step::PurgeDeleted { topic, paths }]);
            }
            _ => {
                paths.pop();
                self.then([Step::Purge { topic, paths }]);
            }
        }
    }

    /// A broker has deleted replicas.
    pub(super) fn replicas_deleted(&mut self, from: u32, partitions: &[TopicPartition]) {
        for tp in partitions {
            if self.context.replica(tp, from) == Some(ReplicaState::DeletionStarted) {
                self.context.set_replica(tp, from, ReplicaState::DeletionSuccessful);
            }
        }
        self.then([Step::ResumeDeletions]);
    }
}

/// Children of a folder of partitions go by number.
fn last_number(path: &str) -> u32 {
    path.rsplit('/').next().and_then(|name| name.parse().ok()).unwrap_or(0)
}
