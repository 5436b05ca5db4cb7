//! The administrator's tool (`kafka-topics`): a process of its own that opens a session, writes
//! what was asked for, and goes. What it says is all a person gets to hear.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::broker::{Ctx, Effect};
use super::event::{Event, TopicRefusal};
use super::paths;
use super::payload::{self, TopicInfo};
use super::placement;
use crate::zk::client::KeeperState;
use crate::zk::hold::{Heard, Session, ZkInput, ZkSettings};
use crate::zk::op::{CreateMode, Data, Error, Failure, Op, Reply, open_acl};

/// What the tool was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    Create {
        topic: Arc<str>,
        partitions: u32,
        replication: u32,
    },
    Delete {
        topic: Arc<str>,
    },
    /// `total`: how many there are afterwards.
    AddPartitions {
        topic: Arc<str>,
        total: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    ListBrokers,
    WriteTopic,
    LookForTopic,
    AskDeletion,
    ReadTopic { brokers: Vec<u32> },
    GrowTopic { partitions: u32, replication: u32 },
    Close,
}

#[derive(Clone)]
pub struct Admin {
    pub task: Task,
    pub zk: Session<Pending>,
    begun: bool,
}

impl Admin {
    pub fn new(task: Task, settings: ZkSettings) -> Admin {
        Admin { task, zk: Session::new(settings.client()), begun: false }
    }

    pub fn start(&mut self, ctx: &mut Ctx<'_>) {
        self.zk.start(ctx.now, ctx.rng);
        self.drain(ctx);
    }

    pub fn input(&mut self, ctx: &mut Ctx<'_>, input: ZkInput) {
        self.zk.input(ctx.now, ctx.rng, input);
        self.drain(ctx);
    }

    fn drain(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(heard) = self.zk.next_heard() {
            match heard {
                Heard::Io(io) => ctx.out.push(Effect::Zk(io)),
                Heard::State(KeeperState::SyncConnected) if !self.begun => {
                    self.begun = true;
                    self.begin(ctx);
                }
                Heard::State(KeeperState::Expired) => ctx.out.push(Effect::Exit),
                Heard::Done { what, result } => self.done(ctx, what, result),
                Heard::State(_) | Heard::Event { .. } => {}
            }
        }
    }

    fn begin(&mut self, ctx: &Ctx<'_>) {
        match &self.task {
            Task::Create { .. } | Task::AddPartitions { .. } => {
                let op = Op::GetChildren { path: paths::BROKER_IDS.into(), watch: false };
                self.zk.submit(ctx.now, op, None, Pending::ListBrokers);
            }
            Task::Delete { topic } => {
                let op = Op::Exists { path: paths::topic(topic), watch: false };
                self.zk.submit(ctx.now, op, None, Pending::LookForTopic);
            }
        }
    }

    fn done(&mut self, ctx: &mut Ctx<'_>, what: Pending, result: Result<Reply, Failure>) {
        match (what, result) {
            (Pending::Close, _) => ctx.out.push(Effect::Exit),
            (Pending::ListBrokers, Ok(Reply::Children { children, .. })) => {
                let mut brokers: Vec<u32> =
                    children.iter().filter_map(|name| name.parse().ok()).collect();
                brokers.sort_unstable();
                self.write_topic(ctx, brokers);
            }
            // Without brokers there is not even the folder of their ids.
            (Pending::ListBrokers, Err(Failure { error: Error::NoNode, .. })) => {
                self.write_topic(ctx, Vec::new());
            }
            (Pending::WriteTopic, Ok(_)) => self.topic_written(ctx),
            (Pending::WriteTopic, Err(Failure { error: Error::NodeExists, .. })) => {
                self.refuse(ctx, TopicRefusal::Exists);
            }
            (Pending::ReadTopic { brokers }, Ok(Reply::Data { data, stat })) => {
                self.grow(ctx, &brokers, &data, stat.version);
            }
            (Pending::ReadTopic { .. }, Err(Failure { error: Error::NoNode, .. })) => {
                self.refuse(ctx, TopicRefusal::Unknown);
            }
            (Pending::GrowTopic { partitions, replication }, Ok(_)) => {
                let topic = self.topic().clone();
                ctx.out.push(Effect::Note(Event::TopicWritten { topic, partitions, replication }));
                self.zk.close(ctx.now, Pending::Close);
            }
            (Pending::LookForTopic, Ok(_)) => self.ask_deletion(ctx),
            (Pending::LookForTopic, Err(Failure { error: Error::NoNode, .. })) => {
                self.refuse(ctx, TopicRefusal::Unknown);
            }
            (Pending::AskDeletion, Ok(_)) => {
                let topic = self.topic().clone();
                ctx.out.push(Effect::Note(Event::DeletionAsked { topic }));
                self.zk.close(ctx.now, Pending::Close);
            }
            (Pending::AskDeletion, Err(Failure { error: Error::NodeExists, .. })) => {
                self.refuse(ctx, TopicRefusal::AlreadyBeingDeleted);
            }
            (_, Err(failure)) => self.refuse(ctx, TopicRefusal::Zk(failure.error)),
            (_, Ok(_)) => self.zk.close(ctx.now, Pending::Close),
        }
    }

    fn topic(&self) -> &Arc<str> {
        match &self.task {
            Task::Create { topic, .. }
            | Task::Delete { topic }
            | Task::AddPartitions { topic, .. } => topic,
        }
    }

    fn refuse(&mut self, ctx: &mut Ctx<'_>, why: TopicRefusal) {
        let topic = self.topic().clone();
        ctx.out.push(Effect::Note(Event::TopicRefused { topic, why }));
        self.zk.close(ctx.now, Pending::Close);
    }

    fn write_topic(&mut self, ctx: &mut Ctx<'_>, brokers: Vec<u32>) {
        let Task::Create { topic, partitions, replication } = self.task.clone() else {
            let op = Op::GetData { path: paths::topic(self.topic()), watch: false };
            return self.zk.submit(ctx.now, op, None, Pending::ReadTopic { brokers });
        };
        let placed = placement::assign(&brokers, partitions, replication, 0, 0);
        let assignment = match placed {
            Ok(assignment) => assignment,
            Err(why) => return self.refuse(ctx, TopicRefusal::Placement(why)),
        };
        let partitions: BTreeMap<u32, Vec<u32>> = (0..).zip(assignment).collect();
        let op = Op::Create {
            path: paths::topic(&topic),
            data: payload::write(&TopicInfo { version: 1, partitions }),
            acl: open_acl(),
            mode: CreateMode::Persistent,
            ttl_ms: 0,
        };
        self.zk.submit(ctx.now, op, None, Pending::WriteTopic);
    }

    /// The new partitions go on behind partition 0. [spec kafka-zk.md §7, adding partitions]
    fn grow(&mut self, ctx: &mut Ctx<'_>, brokers: &[u32], data: &Data, version: i32) {
        let Task::AddPartitions { topic, total } = self.task.clone() else { return };
        let Some(info) = payload::read::<TopicInfo>(data) else {
            return self.refuse(ctx, TopicRefusal::Unknown);
        };
        let brokers: Vec<(u32, placement::Rack)> = brokers.iter().map(|id| (*id, None)).collect();
        let partitions = match placement::add(&brokers, &info.partitions, total, 0, false) {
            Ok(partitions) => partitions,
            Err(placement::Unplaced::Refused(why)) => {
                return self.refuse(ctx, TopicRefusal::Placement(why));
            }
            Err(_) => {
                return self.refuse(ctx, TopicRefusal::Invalid("InvalidPartitionsException"));
            }
        };
        let replication = partitions.get(&0).map_or(0, Vec::len) as u32;
        let what = Pending::GrowTopic { partitions: partitions.len() as u32, replication };
        let data = payload::write(&TopicInfo { version: 1, partitions });
        self.zk.submit(
            ctx.now,
            Op::SetData { path: paths::topic(&topic), data, version },
            None,
            what,
        );
    }

    fn topic_written(&mut self, ctx: &mut Ctx<'_>) {
        if let Task::Create { topic, partitions, replication } = self.task.clone() {
            ctx.out.push(Effect::Note(Event::TopicWritten { topic, partitions, replication }));
        }
        self.zk.close(ctx.now, Pending::Close);
    }

    fn ask_deletion(&mut self, ctx: &Ctx<'_>) {
        let op = Op::Create {
            path: paths::delete_topic(self.topic()),
            data: None,
            acl: open_acl(),
            mode: CreateMode::Persistent,
            ttl_ms: 0,
        };
        self.zk.submit(ctx.now, op, None, Pending::AskDeletion);
    }
}
