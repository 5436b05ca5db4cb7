//! A member comes, registers and hears what changes. [spec consumer-zk.md, Registration, Start
//! order, What triggers a rebalance]

use std::sync::Arc;

use super::connector::{Connector, Phase, Timer};
use super::event::{Event, Note, Trigger};
use super::nodes;
use super::spec::Wanted;
use super::task::{Step, Thread};
use crate::base::Span;
use crate::kafka::broker::Ctx;
use crate::kafka::paths;
use crate::kafka::real::scala;
use crate::zk::op::{Data, Error, Reply};

impl Connector {
    pub(super) fn member_step(&mut self, ctx: &mut Ctx<'_>, thread: Thread, step: Step) {
        match step {
            Step::StartTimer if self.options.auto_commit => {
                self.commit_at = ctx.now + self.commit_every();
                self.arm(ctx, Timer::Commit, self.commit_at);
            }
            Step::ListTopics => self.ask_children(thread, paths::TOPICS),
            Step::TopicsListed => self.chosen = self.answered_topics(thread),
            Step::Register => self.register(ctx, thread),
            Step::TryRegister(data) => {
                let path = nodes::id(&self.spec.group, &self.id);
                let create =
                    Step::Create { path, data: data.clone(), ephemeral: true, again: false };
                self.then(thread, [create, Step::Registered(data)]);
            }
            Step::Registered(data) => self.registered(ctx, thread, data),
            Step::OldRead(data) => self.old_read(ctx, thread, data),
            Step::Subscribe => self.subscribe(thread),
            Step::Subscribed => self.subscribed(thread),
            Step::WatchTopics => {
                self.listens.topics = true;
                self.ask_children_again(thread, paths::TOPICS.into());
                self.then(thread, [Step::ReadTopics, Step::TopicsSeen]);
            }
            Step::ReadTopics => {
                self.task(thread).fiber.take();
                self.ask_children(thread, paths::TOPICS);
            }
            Step::TopicsSeen => self.topics_seen(ctx, thread),
            Step::Streams => {
                self.reading = true;
                self.process(ctx);
            }
            Step::SessionIsNew => {
                self.note(ctx, Event::Note(Note::SessionIsNew));
                // Its owner nodes went with the old session. [spec consumer-zk.md G3]
                self.owned.clear();
            }
            Step::Flag(trigger) => {
                self.task(thread).fiber.take();
                self.raise(trigger);
            }
            Step::TopicSeen(topic) => self.topic_seen(ctx, thread, topic),
            _ => {}
        }
    }

    fn raise(&mut self, trigger: Trigger) {
        self.flag.get_or_insert(trigger);
    }

    fn register(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.note(ctx, Event::Note(Note::Registering));
        self.phase = Phase::Registering;
        let data = nodes::registration(&self.spec.wanted, ctx.wall_ms);
        self.then(thread, [Step::TryRegister(data)]);
    }

    fn registered(&mut self, ctx: &mut Ctx<'_>, thread: Thread, data: Data) {
        match self.task(thread).made {
            Err(Error::NodeExists) => {
                let path = nodes::id(&self.spec.group, &self.id);
                self.task(thread).fiber.get(path);
                self.then(thread, [Step::OldRead(data)]);
            }
            _ => self.is_registered(ctx),
        }
    }

    fn is_registered(&mut self, ctx: &mut Ctx<'_>) {
        self.watcher_runs = true;
        self.note(ctx, Event::Registered { id: self.id.clone() });
    }

    /// Its own lost answer, or the registration of a session before: that is waited for, blindly.
    /// [spec consumer-zk.md R4]
    fn old_read(&mut self, ctx: &mut Ctx<'_>, thread: Thread, data: Data) {
        let held = match self.task(thread).fiber.one() {
            Some(Ok(Reply::Data { data, .. })) => data,
            _ => return self.then(thread, [Step::TryRegister(data)]),
        };
        if held == data {
            return self.is_registered(ctx);
        }
        self.phase = Phase::WaitingForOldSession;
        self.note(ctx, Event::OldRegistrationHolds { id: self.id.clone() });
        let timeout = self.zk.client().negotiated_timeout_ms().unsigned_abs();
        self.then(thread, [Step::TryRegister(data)]);
        self.sleep(ctx, thread, Span::from_millis(u64::from(timeout)));
    }

    /// Says what it wants to hear of; a filter first looks which topics there are.
    fn subscribe(&mut self, thread: Thread) {
        self.listens.ids = true;
        self.ask_children_again(thread, nodes::ids(&self.spec.group));
        if self.rules.watches_brokers() && !self.listens.brokers {
            self.listens.brokers = true;
            self.ask_children_again(thread, paths::BROKER_IDS.into());
        }
        if self.is_filter() {
            self.ask_children(thread, paths::TOPICS);
        }
        self.then(thread, [Step::Subscribed]);
    }

    fn subscribed(&mut self, thread: Thread) {
        let topics = match &self.spec.wanted {
            Wanted::Topics(topics) => {
                self.tasks[thread as usize].fiber.take();
                topics.iter().map(|(topic, _)| topic.clone()).collect()
            }
            _ => self.answered_topics(thread),
        };
        for topic in topics {
            self.ask_exists(thread, paths::topic(&topic));
            self.listens.topic.insert(topic);
        }
        self.then(thread, [Step::Ignore]);
    }

    /// The topics of the last answer that its pattern chooses, in the server's order.
    fn answered_topics(&mut self, thread: Thread) -> Vec<Arc<str>> {
        let Some(Ok(Reply::Children { mut children, .. })) = self.task(thread).fiber.one() else {
            return Vec::new();
        };
        scala::order_java(&mut children, |name| scala::text_hash(name));
        let Ok(subscription) = self.spec.wanted.subscription() else { return Vec::new() };
        let no_internal = self.options.no_internal;
        children.retain(|topic| subscription.streams(topic, no_internal).is_some());
        children
    }

    /// Only a filter whose own list changed begins anew. [spec consumer-zk.md G4]
    fn topics_seen(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let chosen = self.answered_topics(thread);
        let without = |from: &[Arc<str>], others: &[Arc<str>]| -> Vec<Arc<str>> {
            from.iter().filter(|topic| !others.contains(topic)).cloned().collect()
        };
        let added = without(&chosen, &self.chosen);
        let lost = without(&self.chosen, &chosen);
        if !added.is_empty() {
            self.note(ctx, Event::Note(Note::TopicsAdded(added.clone())));
        }
        if !lost.is_empty() {
            self.note(ctx, Event::Note(Note::TopicsLost(lost.clone())));
        }
        self.chosen.clone_from(&chosen);
        self.note(ctx, Event::Note(Note::TopicsChosen(chosen)));
        if !added.is_empty() || !lost.is_empty() {
            let sync = Step::Sync(Trigger::TopicsChanged);
            self.then(thread, [Step::Subscribe, Step::Lock, sync, Step::Unlock]);
        }
    }

    /// Partitions were added, or a reassignment went a step on; a deletion is only logged. [spec
    /// consumer-zk.md G2, G6]
    fn topic_seen(&mut self, ctx: &mut Ctx<'_>, thread: Thread, topic: Arc<str>) {
        match self.task(thread).fiber.one() {
            Some(Ok(_)) => {
                self.note(ctx, Event::Note(Note::TopicChanged(topic)));
                self.raise(Trigger::TopicChanged);
            }
            _ => self.note(ctx, Event::Note(Note::TopicGone(topic))),
        }
    }
}
