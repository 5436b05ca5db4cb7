//! The controller of a real release: one thread that handles one event after the other, each a
//! stack of steps. A step asks ZooKeeper, the next one takes the answers. Every broker has this
//! thread; only the elected one is `active`. [spec kafka-zk.md §3, C4]

mod deletion;
mod elect;
mod events;
mod failover;
mod members;
mod partitions;
mod reassign;
mod replicas;
mod requests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::choose::Strategy;
use super::context::{Context, Leadership};
use super::fiber::{Answer, Fiber};
use super::msg::{IsrAnswer, IsrChange, Msg, Published};
use super::registry;
use super::task::Task;
use crate::base::{Digest, Instant, Rng};
use crate::kafka::broker::{Effect, Timer};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};
use crate::kafka::release::Release;
use crate::kafka::settings::Settings;
use crate::zk::client::WatcherId;
use crate::zk::op::{Error, Op, Reply, SessionId, Stat, Zxid};
use requests::Requests;

/// What waits to be handled.
#[derive(Clone, Debug)]
pub enum Event {
    /// `/controller` changed, or it is time to try.
    Office,
    /// The session is gone, and the thread hears of it only now.
    SessionLost,
    Brokers,
    Topics,
    Deletions,
    TopicData(Arc<str>),
    PreferredByZnode,
    IsrNotices,
    Preferred {
        partitions: Option<Vec<TopicPartition>>,
        answer: Option<(u32, Arc<Task>)>,
    },
    Rebalance,
    /// `/admin/reassign_partitions` has something to say.
    Reassign,
    /// The state of a partition on the move changed.
    MovingState(TopicPartition),
    ReassignAsked {
        from: u32,
        task: Arc<Task>,
    },
    LogDirNotices,
    UncleanAllowed(Arc<str>),
    AlterIsr {
        from: u32,
        epoch: Zxid,
        changes: Vec<IsrChange>,
    },
    Shutdown {
        from: u32,
        epoch: Zxid,
    },
    Deleted {
        from: u32,
        partitions: Vec<TopicPartition>,
    },
}

/// A state that is being written.
#[derive(Clone, Debug)]
pub(super) struct Write {
    tp: TopicPartition,
    state: Leadership,
}

#[derive(Clone, Debug)]
enum Step {
    Elect,
    OfficeRead,
    EpochRead,
    EpochMade,
    Campaigned { epoch: i32, version: i32 },
    OfficeTaken,
    LostRead,
    OldEpochRead,
    OldEpochWritten { epoch: i32, version: i32 },
    OldEpochMade,
    OfficeChecked,
    Started,
    Feature,
    FeatureRead,
    Ignore,
    ClearNotices(&'static str),
    NoticesListed(&'static str),
    ListBrokers { first: bool },
    BrokersListed { first: bool },
    BrokersRead { ids: Vec<u32>, first: bool },
    ListTopics { first: bool },
    TopicsListed { first: bool },
    TopicsRead { names: Vec<Arc<str>>, first: bool },
    StatesRead { tps: Vec<TopicPartition> },
    NewPartitions { tps: Vec<TopicPartition> },
    TopicDataRead { topic: Arc<str> },
    ListDeletions { first: bool },
    DeletionsListed { first: bool },
    ReplicaStartup,
    PartitionStartup,
    PendingPreferred { failover: bool },
    PreferredRead { failover: bool },
    PreferredDone,
    Joined(BTreeMap<u32, Zxid>),
    Left(Vec<u32>),
    Trigger,
    Online { tps: Vec<TopicPartition>, strategy: Strategy },
    Init { tps: Vec<TopicPartition> },
    InitParents { writes: Vec<Write> },
    InitPartitions { writes: Vec<Write> },
    InitDone { writes: Vec<Write> },
    Make { write: Write, stage: u8 },
    Elected { tps: Vec<TopicPartition>, strategy: Strategy },
    ElectRead { tps: Vec<TopicPartition>, strategy: Strategy },
    ElectConfigs { cases: Vec<(TopicPartition, Leadership)>, topics: Vec<Arc<str>> },
    ElectWritten { writes: Vec<Write>, strategy: Strategy },
    Offline { replicas: Vec<(TopicPartition, u32)> },
    Remove { id: u32, tps: Vec<TopicPartition> },
    RemoveRead { id: u32, tps: Vec<TopicPartition> },
    RemoveConfigs { id: u32, cases: Vec<(TopicPartition, Leadership)>, topics: Vec<Arc<str>> },
    RemoveWritten { id: u32, writes: Vec<Write> },
    Flush { all: bool },
    Reassign(reassign::Step),
    ResumeDeletions,
    BeginDeletion { topics: Vec<Arc<str>> },
    DeletionStarted { replicas: Vec<(TopicPartition, u32)> },
    Purge { topic: Arc<str>, paths: Vec<crate::zk::op::Path> },
    PurgeListed { topic: Arc<str>, paths: Vec<crate::zk::op::Path> },
    PurgeDeleted { topic: Arc<str>, paths: Vec<crate::zk::op::Path> },
    Purged { topic: Arc<str> },
    NoticesRead { names: Vec<Arc<str>> },
    NoticesLoaded { tps: Vec<TopicPartition> },
    IsrAltered { from: u32, answers: Vec<(TopicPartition, IsrAnswer)>, writes: Vec<Write> },
    ShutdownAnswer { id: u32 },
    Send { to: u32, msg: Msg },
}

/// What the controller works with while it handles one input.
pub struct Io<'a> {
    pub now: Instant,
    pub wall_ms: i64,
    pub me: u32,
    pub session: SessionId,
    pub settings: &'a Settings,
    pub rng: &'a mut Rng,
    pub out: &'a mut Vec<Effect>,
}

impl Io<'_> {
    pub fn note(&mut self, note: Note) {
        self.out.push(Effect::Note(note));
    }

    pub fn send(&mut self, to: u32, msg: Msg) {
        self.out.push(Effect::Peer { to, msg: AnyMsg::Real(Box::new(msg)) });
    }

    pub fn arm(&mut self, timer: Timer, at: Instant) {
        self.out.push(Effect::Arm { timer, at });
    }
}

#[derive(Clone, Default)]
pub struct Controller {
    pub active: bool,
    pub epoch: i32,
    /// Version of `/controller_epoch` while in office.
    epoch_version: i32,
    /// Who holds `/controller`, as it last read.
    pub known: Option<u32>,
    pub context: Context,
    pub fiber: Fiber,
    stack: Vec<Step>,
    events: VecDeque<Event>,
    requests: Requests,
    /// What all brokers were told of partitions.
    published: BTreeMap<TopicPartition, Published>,
    /// The first look at the office is over: it is this broker's or another's, and if it is this
    /// one's, the failover is done.
    pub settled: bool,
    /// The office is decided, and if it is this broker's, its epoch and `/feature` are written.
    pub decided: bool,
    #[cfg(feature = "mutations")]
    pub mutation: Option<crate::kafka::broker::Mutation>,
}

/// What became of a guarded write.
enum Wrote {
    Done(Stat),
    /// The check of `/controller_epoch` failed.
    Fenced,
    Failed(Error),
}

impl Controller {
    pub fn event(&mut self, event: Event) {
        // Notices that say the same collapse into the one that is not yet handled. [C4]
        let same = |waiting: &Event| {
            let plain = matches!(
                event,
                Event::Office
                    | Event::Brokers
                    | Event::Topics
                    | Event::Deletions
                    | Event::IsrNotices
                    | Event::PreferredByZnode
                    | Event::Reassign
                    | Event::LogDirNotices
            );
            plain && std::mem::discriminant(waiting) == std::mem::discriminant(&event)
        };
        if !self.events.iter().any(same) {
            self.events.push_back(event);
        }
    }

    /// Goes on until it has to wait for ZooKeeper or has nothing to do.
    pub fn run(&mut self, io: &mut Io<'_>) {
        while !self.fiber.is_waiting() {
            if let Some(step) = self.stack.pop() {
                self.step(io, step);
            } else if let Some(event) = self.events.pop_front() {
                self.begin(io, event);
            } else {
                return;
            }
        }
    }

    /// The session is gone, and with it the office, every watch and every answer.
    ///
    /// Up to 0.11 the thread hears of it when it is through with what it does and with all that
    /// waited: requests go on in the new session, and nothing fences them. Since 1.1 the new
    /// session waits for the thread, whose request fails. [L4]
    pub fn expired(&mut self, io: &mut Io<'_>) {
        self.known = None;
        let release = io.settings.release;
        let busy = !self.stack.is_empty() || self.fiber.is_waiting();
        let goes_on = self.active && (busy || !self.events.is_empty());
        if !release.queues_session_loss() || !goes_on {
            self.events.clear();
            return self.resign(io);
        }
        self.fiber.resend();
        // 0.11 only looks again who is in office, as it does after any start of a session; an
        // office that it won meanwhile it keeps.
        if release < Release::V0_11_0_3 {
            self.events.push_back(Event::SessionLost);
        }
    }

    /// The broker leaves.
    pub fn stopped(&mut self, io: &mut Io<'_>) {
        self.events.clear();
        self.resign(io);
    }

    fn then(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        self.stack.extend(steps.into_iter().rev());
    }

    fn resign(&mut self, io: &mut Io<'_>) {
        self.stack.clear();
        self.fiber.take();
        self.requests = Requests::default();
        self.published = BTreeMap::new();
        self.context = Context::default();
        if std::mem::replace(&mut self.active, false) {
            io.note(Note::ControllerResigned { broker: io.me, epoch: self.epoch });
        }
    }

    /// A write of the controller, with the check of its epoch where the release has one. [C2]
    fn write(&mut self, io: &Io<'_>, op: Op) {
        if !io.settings.release.fences_controller_writes() {
            return self.fiber.ask(op);
        }
        #[cfg(feature = "mutations")]
        if self.mutation == Some(crate::kafka::broker::Mutation::WritesUnfenced) {
            return self.fiber.ask(op);
        }
        let path = crate::kafka::paths::CONTROLLER_EPOCH.into();
        let check = Op::Check { path, version: self.epoch_version };
        self.fiber.ask(Op::Multi(vec![check, op]));
    }

    /// Lists a folder and watches its children; up to 0.11 the client library watches the folder
    /// itself too.
    fn list(&mut self, io: &Io<'_>, path: &str, watcher: WatcherId) {
        if !io.settings.release.pipelines() {
            self.fiber.watch(Op::Exists { path: path.into(), watch: true }, watcher);
        }
        self.fiber.watch(Op::GetChildren { path: path.into(), watch: true }, watcher);
    }

    /// The answer to that.
    fn listed(&mut self) -> Option<Vec<Arc<str>>> {
        match self.fiber.take().pop() {
            Some(Ok(Reply::Children { children, .. })) => Some(children),
            _ => None,
        }
    }

    fn wrote(answer: Answer) -> Wrote {
        match answer {
            Ok(Reply::Multi(mut parts)) => match parts.pop() {
                Some(Reply::Create { stat, .. } | Reply::Stat(stat)) => Wrote::Done(stat),
                _ => Wrote::Done(Stat::default()),
            },
            Ok(Reply::Create { stat, .. } | Reply::Stat(stat)) => Wrote::Done(stat),
            Ok(_) => Wrote::Done(Stat::default()),
            Err(failure) => match failure.multi.as_ref().map(|parts| parts.first()) {
                Some(Some(Some(_))) => Wrote::Fenced,
                _ => Wrote::Failed(failure.error),
            },
        }
    }

    /// Takes the answers to a batch of writes. `None`: one of them was fenced, and the event is
    /// given up. [C2]
    fn written(&mut self, io: &mut Io<'_>) -> Option<Vec<Result<Stat, Error>>> {
        let answers: Vec<Wrote> = self.fiber.take().into_iter().map(Controller::wrote).collect();
        if answers.iter().any(|wrote| matches!(wrote, Wrote::Fenced)) {
            io.note(Note::Fenced { broker: io.me, epoch: self.epoch });
            self.stack.clear();
            self.requests = Requests::default();
            self.published = BTreeMap::new();
            self.fiber.get(crate::kafka::paths::CONTROLLER.into());
            self.then([Step::OfficeChecked]);
            return None;
        }
        let plain = |wrote| match wrote {
            Wrote::Done(stat) => Ok(stat),
            Wrote::Fenced => Err(Error::BadVersion),
            Wrote::Failed(error) => Err(error),
        };
        Some(answers.into_iter().map(plain).collect())
    }

    #[cfg(feature = "mutations")]
    pub fn keeps_office(&self) -> bool {
        use crate::kafka::broker::Mutation::{KeepsOffice, WritesUnfenced};
        self.active && matches!(self.mutation, Some(KeepsOffice | WritesUnfenced))
    }

    pub fn watch_fired(&mut self, watcher: WatcherId, path: &str) {
        use super::broker::watcher;
        let event = match watcher {
            watcher::CONTROLLER => Event::Office,
            watcher::BROKERS => Event::Brokers,
            watcher::TOPICS => Event::Topics,
            watcher::DELETIONS => Event::Deletions,
            watcher::PREFERRED => Event::PreferredByZnode,
            watcher::ISR_NOTICES => Event::IsrNotices,
            watcher::LOG_DIR_NOTICES => Event::LogDirNotices,
            watcher::REASSIGN => Event::Reassign,
            watcher::MOVING_STATE => match registry::partition_of_state(path) {
                // Who no longer moves is not looked after, though the watch was still there.
                Some(tp) if self.context.reassigning.contains_key(&tp) => Event::MovingState(tp),
                _ => return,
            },
            watcher::TOPIC_DATA => {
                let name = path.rsplit('/').next().unwrap_or_default();
                Event::TopicData(name.into())
            }
            _ => return,
        };
        self.event(event);
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.active));
        digest.i64(i64::from(self.epoch));
        digest.i64(self.known.map_or(-1, i64::from));
        digest.u64(self.stack.len() as u64);
        digest.u64(self.events.len() as u64);
        self.context.digest(digest);
    }

    fn live_ids(&self) -> Arc<[u32]> {
        self.context.live.keys().copied().collect()
    }

    /// The topics of partitions, each once.
    fn topics_of(tps: &[TopicPartition]) -> Vec<Arc<str>> {
        let topics: BTreeSet<&Arc<str>> = tps.iter().map(|tp| &tp.topic).collect();
        topics.into_iter().cloned().collect()
    }

    fn step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Elect
            | Step::OfficeRead
            | Step::EpochRead
            | Step::EpochMade
            | Step::Campaigned { .. }
            | Step::OfficeTaken
            | Step::LostRead
            | Step::OldEpochRead
            | Step::OldEpochWritten { .. }
            | Step::OldEpochMade
            | Step::OfficeChecked => self.elect_step(io, step),
            Step::Started
            | Step::Feature
            | Step::FeatureRead
            | Step::ClearNotices(_)
            | Step::NoticesListed(_)
            | Step::ReplicaStartup
            | Step::PartitionStartup
            | Step::PendingPreferred { .. }
            | Step::PreferredRead { .. }
            | Step::PreferredDone => self.failover_step(io, step),
            Step::ListBrokers { .. }
            | Step::BrokersListed { .. }
            | Step::BrokersRead { .. }
            | Step::Joined(_)
            | Step::Left(_)
            | Step::ListTopics { .. }
            | Step::TopicsListed { .. }
            | Step::TopicsRead { .. }
            | Step::StatesRead { .. }
            | Step::NewPartitions { .. }
            | Step::TopicDataRead { .. } => self.member_step(io, step),
            Step::Trigger
            | Step::Online { .. }
            | Step::Init { .. }
            | Step::InitParents { .. }
            | Step::InitPartitions { .. }
            | Step::InitDone { .. }
            | Step::Make { .. }
            | Step::Elected { .. }
            | Step::ElectRead { .. }
            | Step::ElectConfigs { .. }
            | Step::ElectWritten { .. } => self.partition_step(io, step),
            Step::Offline { .. }
            | Step::Remove { .. }
            | Step::RemoveRead { .. }
            | Step::RemoveConfigs { .. }
            | Step::RemoveWritten { .. } => self.replica_step(io, step),
            Step::ListDeletions { .. }
            | Step::DeletionsListed { .. }
            | Step::ResumeDeletions
            | Step::BeginDeletion { .. }
            | Step::DeletionStarted { .. }
            | Step::Purge { .. }
            | Step::PurgeListed { .. }
            | Step::PurgeDeleted { .. }
            | Step::Purged { .. } => self.deletion_step(io, step),
            Step::Reassign(step) => self.reassign_step(io, step),
            _ => self.other_step(io, step),
        }
    }
}
