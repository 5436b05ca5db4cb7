//! What a broker of a real release is asked about records, and about where they are.

use std::sync::Arc;

use super::broker::{Broker, Pending};
use super::controller::Event;
use super::registry;
use super::task::{Layout, Task};
use super::writer::Writer;
use crate::kafka::broker::{Ctx, Effect};
use crate::kafka::data::{Code, Msg, Record, TopicMeta};
use crate::kafka::log::offsets;
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};
use crate::kafka::release::Release;
use crate::zk::op::{Failure, Op, Reply};

impl Broker {
    pub(super) fn hear_of_records(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: Msg) {
        match msg {
            Msg::Metadata { id, topics } => self.tell_metadata(ctx, from, id, topics),
            Msg::FindCoordinator { id, group } => {
                let result = self.coordinator(ctx, &group);
                answer(ctx, from, Msg::Coordinator { id, result });
            }
            Msg::OffsetCommit { ref group, .. } | Msg::OffsetFetch { ref group, .. } => {
                let at = offsets::partition_of(group, self.offsets_partitions());
                self.logs.serve_offsets(ctx, (self.id, from), at, msg, &self.replicas);
            }
            Msg::Produce { acks: -1, ref batches, .. } if self.must_read(ctx, batches) => {
                self.unread.push((from, msg));
            }
            msg => {
                if let Msg::Follow { partitions } = &msg {
                    self.replicas.asked_for(from, ctx.now, partitions);
                }
                let fine = self.logs.serve(ctx, self.id, from, msg, &self.replicas);
                if !fine.is_empty() {
                    self.replicas.serve(ctx, (self.id, from), &self.settings, &fine);
                }
            }
        }
    }

    /// Whether settings of topics have to be looked up first, which the real broker did when it
    /// made their logs.
    fn must_read(&mut self, ctx: &Ctx<'_>, batches: &[(TopicPartition, Arc<[Record]>)]) -> bool {
        let mut unread = false;
        for (tp, _) in batches {
            if !self.logs.topic_min_insync.contains_key(&tp.topic) {
                unread = true;
                self.read_config(ctx, tp.topic.clone());
            }
        }
        unread
    }

    pub(super) fn read_topic(&mut self, ctx: &Ctx<'_>, topic: Arc<str>) {
        let op = Op::GetData { path: registry::topic_config(&topic), watch: false };
        self.zk.submit(ctx.now, op, None, Pending::TopicConfig { topic });
    }

    /// A topic's settings: what they say of its ISR, and what waited for them.
    pub(super) fn topic_read(
        &mut self,
        ctx: &mut Ctx<'_>,
        topic: Arc<str>,
        result: Result<Reply, Failure>,
    ) {
        let data = match result {
            Ok(Reply::Data { data, .. }) => data,
            _ => None,
        };
        self.logs.topic_min_insync.insert(topic.clone(), registry::min_insync(&data));
        if self.settings.release.elects_on_unclean_config() && registry::unclean(&data, false) {
            self.controller.event(Event::UncleanAllowed(topic));
        }
        self.hear_unread(ctx);
    }

    pub(super) fn hear_unread(&mut self, ctx: &mut Ctx<'_>) {
        for (from, msg) in std::mem::take(&mut self.unread) {
            self.hear_of_records(ctx, from, msg);
        }
    }

    /// A topic that nobody knows is made, if that is allowed; only the next request has it.
    /// [spec producer.md O5, U5]
    fn tell_metadata(&mut self, ctx: &mut Ctx<'_>, from: u32, id: u32, topics: Vec<Arc<str>>) {
        let named = match topics.is_empty() {
            true => self.metadata.topics(),
            false => topics,
        };
        let mut answers = Vec::new();
        for topic in named {
            let hashed = self.settings.release == Release::V0_8_2_2;
            let mut answer = self.metadata.topic(&topic, hashed);
            if answer.partitions.is_err() && self.settings.auto_create_topics {
                answer = self.create_asked(ctx, &topic);
            }
            answers.push(answer);
        }
        let brokers = self.metadata.brokers();
        answer(ctx, from, Msg::MetadataAnswer { id, brokers, topics: answers });
    }

    /// Who keeps a group's offsets: the topic for them is made when somebody first asks.
    /// [spec consumer-zk.md O3]
    fn coordinator(&mut self, ctx: &mut Ctx<'_>, group: &str) -> Result<u32, Code> {
        let none = Code::ConsumerCoordinatorNotAvailable;
        if self.metadata.partitions(offsets::TOPIC) == 0 {
            let task = self.offsets_topic();
            self.create(ctx, task);
            return Err(none);
        }
        let at = offsets::partition_of(group, self.offsets_partitions()).ok_or(none)?;
        self.metadata.leader(&at.topic, at.partition).ok_or(none)
    }

    /// As many as there are, else as many as there will be.
    fn offsets_partitions(&mut self) -> u32 {
        match self.metadata.partitions(offsets::TOPIC) {
            0 => self.settings.offsets_partitions,
            n => u32::try_from(n).unwrap_or(u32::MAX),
        }
    }

    fn offsets_topic(&self) -> Arc<Task> {
        let live = u32::try_from(self.metadata.brokers().len()).unwrap_or(u32::MAX).max(1);
        let partitions = self.settings.offsets_partitions;
        let replication = self.settings.offsets_replication.min(live);
        let layout = Layout::Counts { partitions, replication };
        let config = |(name, value): (&str, &str)| (name.into(), value.into());
        let configs = [("cleanup.policy", "compact"), ("segment.bytes", "104857600")];
        let configs = configs.map(config).to_vec();
        Arc::new(Task::Create { topic: offsets::TOPIC.into(), layout, configs })
    }

    fn create_asked(&mut self, ctx: &mut Ctx<'_>, topic: &Arc<str>) -> TopicMeta {
        let task = match **topic == *offsets::TOPIC {
            true => self.offsets_topic(),
            false => self.auto_create(topic, None),
        };
        self.create(ctx, task);
        TopicMeta { topic: topic.clone(), partitions: Err(Code::LeaderNotAvailable) }
    }

    /// Itself, or the controller where releases do that; once at a time.
    fn create(&mut self, ctx: &mut Ctx<'_>, task: Arc<Task>) {
        let Task::Create { topic, .. } = &*task else { return };
        if self.writers.iter().all(|writer| writer.topic() != Some(topic)) {
            let asks = self.settings.release.tools_ask_brokers() && !self.controller.active;
            match (asks, self.controller.known) {
                (true, Some(to)) => super::broker::send(ctx, to, super::msg::Msg::Ask { task }),
                _ => self.writers.push_back(Writer::new(task, None)),
            }
        }
    }
}

fn answer(ctx: &mut Ctx<'_>, to: u32, msg: Msg) {
    ctx.out.push(Effect::Peer { to, msg: AnyMsg::Data(Box::new(msg)) });
}
