//! What a broker of a real release is asked about records, and about where they are.

use std::sync::Arc;

use super::broker::Broker;
use super::writer::Writer;
use crate::kafka::broker::{Ctx, Effect};
use crate::kafka::data::{Code, Msg, TopicMeta};
use crate::kafka::msg::Msg as AnyMsg;

impl Broker {
    pub(super) fn hear_of_records(&mut self, ctx: &mut Ctx<'_>, from: u32, msg: Msg) {
        match msg {
            Msg::Metadata { id, topics } => self.tell_metadata(ctx, from, id, topics),
            msg => {
                let fine = self.logs.serve(ctx, self.id, from, msg, &self.replicas);
                if !fine.is_empty() {
                    self.replicas.serve(ctx, (self.id, from), &self.settings, &fine);
                }
            }
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
            let mut answer = self.metadata.topic(&topic);
            if answer.partitions.is_err() && self.settings.auto_create_topics {
                answer = self.create_asked(ctx, &topic);
            }
            answers.push(answer);
        }
        let brokers = self.metadata.brokers();
        let msg = Msg::MetadataAnswer { id, brokers, topics: answers };
        ctx.out.push(Effect::Peer { to: from, msg: AnyMsg::Data(Box::new(msg)) });
    }

    fn create_asked(&mut self, ctx: &mut Ctx<'_>, topic: &Arc<str>) -> TopicMeta {
        if self.writers.iter().all(|writer| writer.topic() != Some(topic)) {
            let task = self.auto_create(topic, None);
            let asks = self.settings.release.tools_ask_brokers() && !self.controller.active;
            match (asks, self.controller.known) {
                (true, Some(to)) => super::broker::send(ctx, to, super::msg::Msg::Ask { task }),
                _ => self.writers.push_back(Writer::new(task, None)),
            }
        }
        TopicMeta { topic: topic.clone(), partitions: Err(Code::LeaderNotAvailable) }
    }
}
