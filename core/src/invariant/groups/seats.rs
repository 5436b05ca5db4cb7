//! When a group is at rest for longer than its sessions live on, every subscribed partition has
//! somebody who reads it; where not, the reason is found and named: members that don't agree
//! under round robin [spec consumer-zk.md B5], a node that a person took away or left [S5, S6],
//! a member that gave up [B2]. More consumers than partitions leave no partition unread.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::readers::Readers;
use super::{Findings, consumer, disturbs, in_group, is_healthy, name, note};
use crate::base::{Instant, Span};
use crate::invariant::{ALL_OWNED, GAVE_UP, GROUP_BY_HAND, UNEQUAL_MEMBERS};
use crate::kafka::consumer_zk::assign::{Group, Member, Strategy};
use crate::kafka::consumer_zk::connector::{Connector, Phase};
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::consumer_zk::nodes;
use crate::kafka::payload::{self, TopicInfo};
use crate::kafka::{TopicPartition, paths};
use crate::world::event::Severity;
use crate::world::proc::Kind;
use crate::world::{Event, Row, World, ZkEvent};
use crate::zk::tree::{NodeKind, Znode};

#[derive(Clone, Debug)]
struct Quiet {
    /// Processes that were members.
    members: BTreeSet<u16>,
    /// The longest session of its members, and two ticks in which it may end.
    patience: Span,
    due: Instant,
}

#[derive(Clone, Debug, Default)]
pub struct Seats {
    groups: BTreeMap<Arc<str>, Quiet>,
    due: Option<Instant>,
}

/// A group at rest, as it is judged.
struct Rest<'a> {
    world: &'a World,
    group: &'a Arc<str>,
    members: Vec<(u16, &'a Connector)>,
    registered: Vec<Member>,
    topics: BTreeMap<String, u32>,
}

/// What a look at a group ends with.
enum Verdict {
    Fine,
    /// Something is still under way.
    Later,
    Unread(TopicPartition),
}

impl Seats {
    pub fn due(&self) -> Instant {
        self.due.unwrap_or(Instant::NEVER)
    }

    pub fn read_row(&mut self, world: &World, row: &Row) {
        if disturbs(&row.event) {
            return self.groups.keys().cloned().collect::<Vec<_>>().iter().for_each(|group| {
                self.disturb(world.now, group);
            });
        }
        match &row.event {
            Event::Zk(event) => self.read_zk(world, event),
            Event::Keeper(_) | Event::Killed | Event::Exited => self.stirs(world, row.proc),
            _ => match note(row) {
                None
                | Some(Note::Consumed { .. } | Note::Committed { .. } | Note::Positioned { .. }) => {
                }
                Some(Note::Registered { .. }) => self.joins(world, row.proc),
                Some(_) => self.stirs(world, row.proc),
            },
        }
    }

    fn read_zk(&mut self, world: &World, event: &ZkEvent) {
        let mut group = |path: &str| {
            if let Some((group, kind, _)) = in_group(path)
                && kind != "offsets"
            {
                self.disturb(world.now, group);
            }
        };
        match event {
            ZkEvent::Created { path, .. }
            | ZkEvent::DataSet { path, .. }
            | ZkEvent::Deleted { path, .. } => {
                group(path);
                let topic = path.strip_prefix(paths::TOPICS).and_then(|rest| rest.get(1..));
                let about_topic = topic.is_some_and(|topic| !topic.contains('/'));
                if about_topic || path.starts_with(paths::BROKER_IDS) {
                    self.disturb_all(world.now);
                }
            }
            ZkEvent::SessionExpired { gone, .. } | ZkEvent::SessionClosed { gone, .. } => {
                gone.iter().for_each(|path| group(path));
                if gone.iter().any(|path| path.starts_with(paths::BROKER_IDS)) {
                    self.disturb_all(world.now);
                }
            }
            ZkEvent::ServerStarted => self.disturb_all(world.now),
            _ => {}
        }
    }

    fn disturb_all(&mut self, now: Instant) {
        for quiet in self.groups.values_mut() {
            quiet.due = now + quiet.patience;
        }
        self.due = self.groups.values().map(|quiet| quiet.due).min();
    }

    fn disturb(&mut self, now: Instant, group: &str) {
        let Some(quiet) = self.groups.get_mut(group) else { return };
        quiet.due = now + quiet.patience;
        // Where the group was the first to come, this one moment is one too early.
        let due = quiet.due;
        self.due = Some(self.due().min(due));
    }

    fn stirs(&mut self, world: &World, proc: u16) {
        if let Some(spec) = world.proc(proc).consumer.clone() {
            self.disturb(world.now, &spec.group);
        }
    }

    fn joins(&mut self, world: &World, proc: u16) {
        let Some(consumer) = consumer(world.proc(proc)) else { return };
        let group = &consumer.spec.group;
        let timeout = consumer.zk.client().negotiated_timeout_ms().unsigned_abs();
        let ticks = u64::from(world.config.tick_ms) * 2;
        let patience = Span::from_millis(u64::from(timeout) + ticks);
        let quiet = self.groups.entry(group.clone()).or_insert(Quiet {
            members: BTreeSet::new(),
            patience,
            due: Instant::NEVER,
        });
        quiet.members.insert(proc);
        quiet.patience = quiet.patience.max(patience);
        self.disturb(world.now, &group.clone());
    }

    /// Looks at the groups whose time has come; they rest until something happens again.
    pub fn judge(&mut self, world: &World, readers: &Readers, findings: &mut Findings) {
        for (group, quiet) in &mut self.groups {
            if quiet.due > world.now {
                continue;
            }
            quiet.due = Instant::NEVER;
            let Some(rest) = Rest::of(world, group, &quiet.members) else { continue };
            match rest.verdict() {
                Verdict::Fine => findings.checked(ALL_OWNED),
                Verdict::Later => quiet.due = world.now + quiet.patience,
                Verdict::Unread(tp) => rest.explain(&tp, readers, findings),
            }
        }
        let due = self.groups.values().map(|quiet| quiet.due).min();
        self.due = due.filter(|due| *due != Instant::NEVER);
    }
}

impl<'a> Rest<'a> {
    /// `None`: nobody is in the group, or something is under way of which a row will tell.
    fn of(world: &'a World, group: &'a Arc<str>, members: &BTreeSet<u16>) -> Option<Rest<'a>> {
        let mut found = Vec::new();
        for index in members {
            let Some(consumer) = consumer(world.proc(*index)) else { continue };
            if consumer.spec.group != *group {
                continue;
            }
            let rests = consumer.is_at_rest() || consumer.phase == Phase::GaveUp;
            if !rests || !is_healthy(world, *index) {
                return None;
            }
            found.push((*index, consumer));
        }
        let tree = world.server.tree();
        // Without a broker nothing is shared out. [spec consumer-zk.md B4]
        let brokers = tree.get(paths::BROKER_IDS).map_or(0, |node| node.children().count());
        if found.is_empty() || brokers == 0 {
            return None;
        }
        let children = |path: &str| tree.get(path).into_iter().flat_map(Znode::children);
        let no_internal = found.iter().any(|(_, consumer)| consumer.options.no_internal);
        let registered = children(&nodes::ids(group))
            .filter_map(|(id, node)| nodes::member(id, &node.data, no_internal))
            .collect();
        let partitions = |node: &Znode| {
            payload::read::<TopicInfo>(&node.data).map_or(0, |info| info.partitions.len() as u32)
        };
        let topics = children(paths::TOPICS)
            .map(|(topic, node)| (topic.to_string(), partitions(node)))
            .collect();
        Some(Rest { world, group, members: found, registered, topics })
    }

    fn verdict(&self) -> Verdict {
        let tree = self.world.server.tree();
        // A session without its process ends first.
        let ghost = |path: &str| {
            let Some(NodeKind::Ephemeral(session)) = tree.get(path).map(|node| node.kind) else {
                return false;
            };
            let owner = self.world.owners.get(&session).map(|index| self.world.proc(*index));
            owner.is_some_and(|proc| {
                matches!(proc.kind, Kind::Consumer(_))
                    && proc.client().is_none_or(|client| client.session() != session)
            })
        };
        if self.registered.iter().any(|member| ghost(&nodes::id(self.group, &member.id))) {
            return Verdict::Later;
        }
        let read: BTreeSet<&TopicPartition> = self
            .members
            .iter()
            .filter(|(_, consumer)| consumer.reading)
            .flat_map(|(_, consumer)| consumer.owned.keys().filter(|tp| consumer.fetches(tp)))
            .filter(|tp| self.owner(tp).is_some())
            .collect();
        let subscribed: BTreeSet<&str> = self
            .registered
            .iter()
            .flat_map(|member| member.topics(self.topics.keys().map(String::as_str)).into_keys())
            .collect();
        for topic in subscribed {
            for partition in 0..self.topics.get(topic).copied().unwrap_or(0) {
                let tp = TopicPartition { topic: topic.into(), partition };
                if !read.contains(&tp) {
                    return Verdict::Unread(tp);
                }
            }
        }
        Verdict::Fine
    }

    /// The owner node of a partition.
    fn owner(&self, tp: &TopicPartition) -> Option<&Znode> {
        let folder = format!("/consumers/{}/owners/{}", self.group, tp.topic);
        let mut below = self.world.server.tree().get(&folder)?.children();
        let number = |name: &str| name.rsplit('-').next().and_then(|n| n.parse::<u32>().ok());
        below.find(|(name, _)| number(name) == Some(tp.partition)).map(|(_, node)| node)
    }

    fn explain(&self, tp: &TopicPartition, readers: &Readers, findings: &mut Findings) {
        let partition = format!("{}-{}", tp.topic, tp.partition);
        let first = self.members.first().map_or(0, |(index, _)| *index);
        let mut found = |name: &'static str, index: u16, about: &str| {
            findings.checked(name);
            findings.breach(name, Severity::Found, index, about);
        };
        if let Some((index, who)) = self.by_hand(tp) {
            return found(GROUP_BY_HAND, index, &format!("{partition}, {who}"));
        }
        if self.disagree() {
            return found(UNEQUAL_MEMBERS, first, &format!("{}, {partition}", self.group));
        }
        let idle = |(_, consumer): &&(u16, &Connector)| {
            consumer.phase == Phase::GaveUp || !consumer.reading
        };
        if let Some((index, consumer)) = self.members.iter().find(idle) {
            let (tries, backoff) = (consumer.options.retries, consumer.options.backoff_ms);
            let timeout = consumer.zk.client().negotiated_timeout_ms();
            let who = name(self.world.proc(*index));
            let about = format!("{partition}, {who}, {tries} x {backoff} ms / {timeout} ms");
            return found(GAVE_UP, *index, &about);
        }
        // That its owner node was touched is named already.
        if !readers.is_by_hand(self.group, tp) {
            findings.breach(ALL_OWNED, Severity::Violation, first, &partition);
        }
    }

    /// A member whose registration is gone, a registration of nobody, an owner node of nobody.
    fn by_hand(&self, tp: &TopicPartition) -> Option<(u16, String)> {
        let tree = self.world.server.tree();
        let lost = |(_, consumer): &&(u16, &Connector)| {
            tree.get(&nodes::id(self.group, &consumer.id)).is_none()
        };
        if let Some((index, _)) = self.members.iter().find(lost) {
            return Some((*index, name(self.world.proc(*index)).to_owned()));
        }
        let first = self.members.first()?.0;
        let known = |id: &str| self.members.iter().any(|(_, consumer)| *consumer.id == *id);
        let foreign = self.registered.iter().find(|member| !known(&member.id));
        if let Some(foreign) = foreign {
            return Some((first, foreign.id.clone()));
        }
        let sessions: BTreeSet<_> =
            self.members.iter().map(|(_, consumer)| consumer.zk.client().session()).collect();
        let strange = self.owner(tp).filter(|node| match node.kind {
            NodeKind::Ephemeral(session) => !sessions.contains(&session),
            _ => true,
        });
        strange.map(|_| (first, nodes_text(tp)))
    }

    /// Round robin wants equal threads of every topic, and all members the same rule.
    fn disagree(&self) -> bool {
        let robin = |consumer: &Connector| consumer.options.strategy == Strategy::RoundRobin;
        let robins = self.members.iter().filter(|(_, consumer)| robin(consumer)).count();
        if robins == 0 {
            return false;
        }
        let group = Group::new(&self.topics, &self.registered);
        let fails =
            |(_, consumer): &(u16, &Connector)| group.plan(Strategy::RoundRobin, &consumer.id);
        robins < self.members.len() || self.members.iter().any(|member| fails(member).is_err())
    }
}

fn nodes_text(tp: &TopicPartition) -> String {
    format!("owners/{}/{}", tp.topic, tp.partition)
}
