//! Does in ZooKeeper what an administrator asked for: the tool itself in its own session, or a
//! broker in its. [spec kafka-zk.md N1 to N5, W3, W7, W12, W13]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fiber::{Answer, Fiber};
use super::registry;
use super::scala;
use super::task::{Layout, Setting, Task};
use crate::base::Rng;
use crate::base::limits;
use crate::kafka::event::TopicRefusal;
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::payload::{self, BrokerInfo, TopicInfo};
use crate::kafka::placement::{self, Rack, Unplaced, Wanted};
use crate::kafka::release::Release;
use crate::kafka::settings::Settings;
use crate::zk::op::{CreateMode, Data, Error, Op, Path, Reply, open_acl};

#[derive(Clone, Debug)]
enum Step {
    Begin,
    /// Brokers and topics are listed.
    Listed,
    BrokersRead {
        ids: Vec<u32>,
    },
    /// The topic to grow is read: its brokers come next.
    TopicRead,
    EntityRead,
    /// A setting of an entity, then what follows it.
    Config {
        path: Path,
        data: Data,
    },
    ConfigSet {
        path: Path,
        data: Data,
    },
    ConfigParent {
        path: Path,
        data: Data,
    },
    ConfigMade,
    Topic {
        data: Data,
        create: bool,
    },
    Notice,
    NoticeFolder,
    Exists,
    /// The topics of a plan are read.
    PlanRead {
        topics: Vec<Arc<str>>,
    },
    TopicsListed,
    TopicsRead {
        names: Vec<Arc<str>>,
    },
    /// The last write: its answer is the task's.
    Last,
}

#[derive(Clone)]
pub struct Writer {
    pub task: Arc<Task>,
    pub answer_to: Option<u32>,
    pub fiber: Fiber,
    stack: Vec<Step>,
    result: Option<Result<(), TopicRefusal>>,
    /// The topic that grows, as it is.
    before: Option<(TopicInfo, Option<String>, Vec<Setting>)>,
}

fn node(path: Path, data: Data, mode: CreateMode) -> Op {
    Op::Create { path, data, acl: open_acl(), mode, ttl_ms: 0 }
}

fn error(answer: Option<Answer>) -> Option<Error> {
    answer?.err().map(|failure| failure.error)
}

impl Writer {
    pub fn new(task: Arc<Task>, answer_to: Option<u32>) -> Writer {
        let stack = vec![Step::Begin];
        Writer { task, answer_to, fiber: Fiber::default(), stack, result: None, before: None }
    }

    pub fn finished(&mut self) -> Option<Result<(), TopicRefusal>> {
        self.result.take()
    }

    pub fn run(&mut self, rng: &mut Rng, settings: &Settings) {
        while self.result.is_none() && !self.fiber.is_waiting() {
            match self.stack.pop() {
                Some(step) => self.step(rng, settings, step),
                None => self.result = Some(Ok(())),
            }
        }
    }

    fn then(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        self.stack.extend(steps.into_iter().rev());
    }

    fn refuse(&mut self, why: TopicRefusal) {
        self.fiber.take();
        self.result = Some(Err(why));
    }

    fn step(&mut self, rng: &mut Rng, settings: &Settings, step: Step) {
        let release = settings.release;
        match step {
            Step::Begin => self.begin(release),
            Step::Listed => self.listed(release),
            Step::BrokersRead { ids } => self.brokers_read(rng, settings, &ids),
            Step::TopicRead => self.topic_read(),
            Step::EntityRead => self.entity_read(release),
            Step::Config { .. }
            | Step::ConfigSet { .. }
            | Step::ConfigParent { .. }
            | Step::ConfigMade => self.config_step(release, step),
            Step::Topic { data, create } => {
                let Some(topic) = self.topic().cloned() else { return };
                let path = paths::topic(&topic);
                match create {
                    true => self.fiber.ask(node(path, data, CreateMode::Persistent)),
                    false => self.fiber.ask(Op::SetData { path, data, version: -1 }),
                }
                self.then([Step::Last]);
            }
            Step::Notice => {
                // Since 1.1 it makes sure of the folder first. [W13]
                if release >= Release::V1_1_1 {
                    let path = registry::CONFIG_CHANGES.into();
                    self.fiber.ask(node(path, None, CreateMode::Persistent));
                }
                self.then([Step::NoticeFolder]);
            }
            Step::NoticeFolder => {
                self.fiber.take();
                let Task::AlterConfig { entity, .. } = &*self.task else { return };
                let data = registry::config_change(release, entity);
                let mode = CreateMode::PersistentSequential;
                self.fiber.ask(node(registry::CONFIG_CHANGE.into(), data, mode));
                self.then([Step::Last]);
            }
            Step::Exists => self.exists_answered(release),
            Step::PlanRead { topics } => self.plan_read(release, &topics),
            Step::TopicsListed => self.topics_listed(),
            Step::TopicsRead { names } => self.topics_read(&names),
            Step::Last => match error(self.fiber.one()) {
                None => self.result = Some(Ok(())),
                Some(Error::NodeExists) => self.refuse(match &*self.task {
                    Task::Create { .. } => TopicRefusal::Exists,
                    Task::Reassign { .. } => TopicRefusal::Invalid("AdminCommandFailedException"),
                    _ => TopicRefusal::AlreadyBeingDeleted,
                }),
                Some(error) => self.refuse(TopicRefusal::Zk(error)),
            },
        }
    }

    pub fn topic(&self) -> Option<&Arc<str>> {
        match &*self.task {
            Task::Create { topic, .. }
            | Task::AddPartitions { topic, .. }
            | Task::Delete { topic } => Some(topic),
            _ => None,
        }
    }

    fn list(&mut self, path: &str) {
        self.fiber.ask(Op::GetChildren { path: path.into(), watch: false });
    }

    fn begin(&mut self, release: Release) {
        let task = self.task.clone();
        match &*task {
            Task::Create { topic, .. } => {
                if !is_valid_name(topic, release) {
                    return self.refuse(TopicRefusal::Invalid("InvalidTopicException"));
                }
                self.list(paths::BROKER_IDS);
                self.list(paths::TOPICS);
                self.then([Step::Listed]);
            }
            Task::AddPartitions { topic, .. } => {
                self.fiber.get(paths::topic(topic));
                self.fiber.get(registry::topic_config(topic));
                self.then([Step::TopicRead]);
            }
            Task::Delete { topic } => {
                self.fiber.ask(Op::Exists { path: paths::topic(topic), watch: false });
                self.then([Step::Exists]);
            }
            Task::AlterConfig { entity, .. } => {
                self.fiber.get(registry::config(entity));
                self.fiber.get(paths::CONTROLLER.into());
                self.then([Step::EntityRead]);
            }
            Task::ElectPreferred { partitions: Some(tps) } => self.elect(tps),
            Task::ElectPreferred { partitions: None } => {
                self.list(paths::TOPICS);
                self.then([Step::TopicsListed]);
            }
            Task::Reassign { plan, .. } => {
                let topics: std::collections::BTreeSet<&Arc<str>> =
                    plan.iter().map(|(tp, _)| &tp.topic).collect();
                let topics: Vec<Arc<str>> = topics.into_iter().cloned().collect();
                for topic in &topics {
                    self.fiber.get(paths::topic(topic));
                }
                self.list(paths::BROKER_IDS);
                self.then([Step::PlanRead { topics }]);
            }
            // Before 2.4 a move can't be called off.
            Task::CancelReassign { .. } => {
                self.refuse(TopicRefusal::Invalid("UnsupportedVersionException"));
            }
            Task::VerifyReassign { .. } => self.fiber.get(registry::REASSIGN.into()),
            Task::Metadata { .. } | Task::List => self.list(paths::TOPICS),
        }
    }

    fn listed(&mut self, release: Release) {
        let mut answers = self.fiber.take().into_iter();
        let mut children = || match answers.next() {
            Some(Ok(Reply::Children { children, .. })) => children,
            _ => Vec::new(),
        };
        let (brokers, topics) = (children(), children());
        let Some(topic) = self.topic().cloned() else { return };
        if topics.contains(&topic) {
            return self.refuse(TopicRefusal::Exists);
        }
        let plain = |name: &str| name.replace('.', "_");
        let collides = |other: &Arc<str>| plain(other) == plain(&topic);
        if release.refuses_colliding_names() && topics.iter().any(collides) {
            return self.refuse(TopicRefusal::Invalid("InvalidTopicException"));
        }
        self.read_brokers(&brokers);
    }

    fn read_brokers(&mut self, names: &[Arc<str>]) {
        let mut ids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        for id in &ids {
            self.fiber.get(paths::broker(*id));
        }
        self.then([Step::BrokersRead { ids }]);
    }

    fn brokers_read(&mut self, rng: &mut Rng, settings: &Settings, ids: &[u32]) {
        let rack = |answer| match answer {
            Ok(Reply::Data { data, .. }) => {
                payload::read::<BrokerInfo>(&data).and_then(|info| info.rack).map(Arc::from)
            }
            _ => None,
        };
        let answers = self.fiber.take().into_iter().map(rack);
        let brokers: Vec<(u32, Rack)> = ids.iter().copied().zip(answers).collect();
        let task = self.task.clone();
        match &*task {
            Task::Create { topic, layout, configs } => {
                self.create(rng, settings, &brokers, (topic, layout, configs));
            }
            Task::AddPartitions { topic, total, assignment } => {
                self.grow(settings.release, &brokers, (topic, *total, assignment.as_deref()));
            }
            _ => {}
        }
    }

    fn create(
        &mut self,
        rng: &mut Rng,
        settings: &Settings,
        brokers: &[(u32, Rack)],
        (topic, layout, configs): (&Arc<str>, &Layout, &[Setting]),
    ) {
        let release = settings.release;
        let placed = match layout {
            Layout::Assignment(placed) if is_consistent(placed) => Ok(placed.clone()),
            Layout::Assignment(_) => {
                let why = TopicRefusal::Invalid("InvalidReplicaAssignmentException");
                return self.refuse(why);
            }
            Layout::Counts { partitions, replication } => {
                let n = brokers.len() as u64;
                let (start, shift) = (rng.below(n) as u32, rng.below(n) as u32);
                let (partitions, replication) = (*partitions, *replication);
                let wanted = Wanted { partitions, replication, start, shift, first: 0 };
                placement::place_by_rack(brokers, &wanted)
            }
        };
        let placed: Vec<Vec<u32>> = match placed {
            Ok(placed) => placed,
            Err(why) => return self.refuse(unplaced(why)),
        };
        let parts: BTreeMap<u32, Vec<u32>> = (0..).zip(placed).collect();
        let id = release.has_topic_ids().then(|| super::uuid(rng));
        let data = registry::topic(release, &parts, id.as_deref());
        let config = registry::settings(configs);
        self.config(release, registry::topic_config(topic), config);
        self.stack.insert(0, Step::Topic { data, create: true });
    }

    /// Sets an entity's configuration, making its znode where there is none.
    fn config(&mut self, release: Release, path: Path, data: Data) {
        if release.checks_controller_on_config() {
            // The check needs the version of `/controller`.
            self.fiber.get(paths::CONTROLLER.into());
        }
        self.then([Step::Config { path, data }]);
    }

    fn config_step(&mut self, release: Release, step: Step) {
        match step {
            Step::Config { path, data } => {
                let answer = self.fiber.one();
                let set = Op::SetData { path: path.clone(), data: data.clone(), version: -1 };
                self.fiber.ask(match answer {
                    Some(Ok(Reply::Data { stat, .. })) => {
                        let path = paths::CONTROLLER.into();
                        Op::Multi(vec![Op::Check { path, version: stat.version }, set])
                    }
                    _ => set,
                });
                self.then([Step::ConfigSet { path, data }]);
            }
            Step::ConfigSet { path, data } => match error(self.fiber.one()) {
                None => {}
                Some(Error::NoNode) => {
                    // Before 1.1 it makes sure of the parent first. [W3]
                    if release < Release::V1_1_1 {
                        let parent = path.rsplit_once('/').map_or("/", |(above, _)| above);
                        self.fiber.ask(node(parent.into(), None, CreateMode::Persistent));
                    }
                    self.then([Step::ConfigParent { path, data }]);
                }
                Some(error) => self.refuse(TopicRefusal::Zk(error)),
            },
            Step::ConfigParent { path, data } => {
                self.fiber.take();
                self.fiber.ask(node(path, data, CreateMode::Persistent));
                self.then([Step::ConfigMade]);
            }
            _ => _ = self.fiber.take(),
        }
    }

    fn topic_read(&mut self) {
        let mut answers = self.fiber.take().into_iter();
        let Some(Ok(Reply::Data { data, .. })) = answers.next() else {
            return self.refuse(TopicRefusal::Unknown);
        };
        let Some(info) = payload::read::<TopicInfo>(&data) else {
            return self.refuse(TopicRefusal::Unknown);
        };
        if !registry::read_moving(&data).is_empty() {
            return self.refuse(TopicRefusal::Invalid("ReassignmentInProgressException"));
        }
        let settings = match answers.next() {
            Some(Ok(Reply::Data { data, .. })) => registry::read_settings(&data),
            _ => Vec::new(),
        };
        self.before = Some((info, registry::topic_id(&data), settings));
        self.list(paths::BROKER_IDS);
        self.then([Step::Listed]);
    }

    /// [N4, §7 adding partitions]
    fn grow(
        &mut self,
        release: Release,
        brokers: &[(u32, Rack)],
        (topic, total, assignment): (&Arc<str>, u32, Option<&[Vec<u32>]>),
    ) {
        let Some((info, id, settings)) = self.before.take() else { return };
        let have = info.partitions.len() as u32;
        if total <= have {
            return self.refuse(TopicRefusal::Invalid("InvalidPartitionsException"));
        }
        let by_id = release == Release::V0_8_2_2;
        let mut base = 0;
        if by_id {
            let mut order: Vec<u32> = info.partitions.keys().copied().collect();
            scala::order_names(&mut order);
            base = scala::first_of(topic, &order).unwrap_or(0);
        }
        let placed = match assignment {
            Some(_) if by_id => {
                return self.refuse(TopicRefusal::Invalid("InvalidReplicaAssignmentException"));
            }
            Some(placed) => {
                let mut parts = info.partitions;
                parts.extend((have..total).zip(placed.iter().cloned()));
                Ok(parts)
            }
            None => placement::add(brokers, &info.partitions, total, base, by_id),
        };
        let parts = match placed {
            Ok(parts) => parts,
            Err(why) => return self.refuse(unplaced(why)),
        };
        let data = registry::topic(release, &parts, id.as_deref());
        if release == Release::V0_8_2_2 {
            let settings = registry::settings(&settings);
            self.config(release, registry::topic_config(topic), settings);
        }
        self.stack.insert(0, Step::Topic { data, create: false });
    }

    fn exists_answered(&mut self, release: Release) {
        let known = matches!(self.fiber.one(), Some(Ok(_)));
        let Some(topic) = self.topic().cloned() else { return };
        if !known {
            return self.refuse(TopicRefusal::Unknown);
        }
        let empty = release < Release::V1_1_1;
        let data: Data = empty.then(|| Arc::from([].as_slice()));
        self.fiber.ask(node(paths::delete_topic(&topic), data, CreateMode::Persistent));
        self.then([Step::Last]);
    }

    fn entity_read(&mut self, release: Release) {
        let mut answers = self.fiber.take().into_iter();
        let mut settings = match answers.next() {
            Some(Ok(Reply::Data { data, .. })) => registry::read_settings(&data),
            _ => Vec::new(),
        };
        let task = self.task.clone();
        let Task::AlterConfig { entity, set, delete, .. } = &*task else { return };
        settings.retain(|(key, _)| !delete.contains(key) && !set.iter().any(|(k, _)| k == key));
        settings.extend(set.iter().cloned());
        settings.sort();
        let data = registry::settings(&settings);
        self.stack.insert(0, Step::Notice);
        self.config(release, registry::config(entity), data);
    }

    fn topics_listed(&mut self) {
        let Some(Ok(Reply::Children { children, .. })) = self.fiber.one() else { return };
        for name in &children {
            self.fiber.get(paths::topic(name));
        }
        self.then([Step::TopicsRead { names: children }]);
    }

    fn topics_read(&mut self, names: &[Arc<str>]) {
        let mut tps = Vec::new();
        for (topic, answer) in names.iter().zip(self.fiber.take()) {
            if let Ok(Reply::Data { data, .. }) = answer
                && let Some(info) = payload::read::<TopicInfo>(&data)
            {
                let of = |n: &u32| TopicPartition { topic: topic.clone(), partition: *n };
                tps.extend(info.partitions.keys().map(of));
            }
        }
        self.elect(&tps);
    }

    /// Who isn't known stays out of the plan or, later, spoils it; later tools also want brokers
    /// that live. [§8, R2]
    fn plan_read(&mut self, release: Release, topics: &[Arc<str>]) {
        let mut answers = self.fiber.take();
        let live = match answers.pop() {
            Some(Ok(Reply::Children { children, .. })) => children,
            _ => Vec::new(),
        };
        let mut known = std::collections::BTreeSet::new();
        for (topic, answer) in topics.iter().zip(answers) {
            if let Ok(Reply::Data { data, .. }) = answer
                && let Some(info) = payload::read::<TopicInfo>(&data)
            {
                known.extend(info.partitions.keys().map(|n| (topic.clone(), *n)));
            }
        }
        let task = self.task.clone();
        let Task::Reassign { plan, throttle, .. } = &*task else { return };
        let distinct =
            |ids: &[u32]| ids.iter().collect::<std::collections::BTreeSet<_>>().len() == ids.len();
        let is_known = |tp: &TopicPartition| known.contains(&(tp.topic.clone(), tp.partition));
        let lives = |id: &u32| live.iter().any(|name| **name == *id.to_string());
        let mut wanted = plan.clone();
        wanted.retain(|(tp, _)| is_known(tp));
        let lacks = release.tool_checks_plan() && wanted.len() < plan.len()
            || release >= Release::V1_1_1 && !plan.iter().all(|(_, ids)| ids.iter().all(lives));
        let failed = TopicRefusal::Invalid("AdminCommandFailedException");
        if wanted.is_empty() || lacks || !plan.iter().all(|(_, ids)| distinct(ids)) {
            return self.refuse(failed);
        }
        if throttle.is_some() {
            return self.refuse(TopicRefusal::Invalid("UnsupportedVersionException"));
        }
        let data = registry::plan(&wanted);
        self.fiber.ask(node(registry::REASSIGN.into(), data, CreateMode::Persistent));
        self.then([Step::Last]);
    }

    fn elect(&mut self, tps: &[TopicPartition]) {
        let data = registry::partitions(tps);
        self.fiber.ask(node(registry::PREFERRED.into(), data, CreateMode::Persistent));
        self.then([Step::Last]);
    }
}

fn unplaced(why: Unplaced) -> TopicRefusal {
    match why {
        Unplaced::Refused(why) => TopicRefusal::Placement(why),
        Unplaced::SomeWithoutRack => TopicRefusal::Invalid("AdminOperationException"),
        Unplaced::NotMore | Unplaced::NoBase => TopicRefusal::Invalid("InvalidPartitionsException"),
    }
}

/// [N1]
fn is_valid_name(name: &str, release: Release) -> bool {
    let longest = limits::TOPIC_NAME + usize::from(release == Release::V0_8_2_2) * 6;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty()
        && name != "."
        && name != ".."
        && name.len() <= longest
        && name.chars().all(fits)
}

/// All partitions have as many replicas, and none has a broker twice. [N1]
fn is_consistent(placed: &[Vec<u32>]) -> bool {
    let count = placed.first().map_or(0, Vec::len);
    let distinct = |replicas: &Vec<u32>| {
        let set: std::collections::BTreeSet<&u32> = replicas.iter().collect();
        set.len() == replicas.len()
    };
    count > 0 && placed.iter().all(|replicas| replicas.len() == count && distinct(replicas))
}
