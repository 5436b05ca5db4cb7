//! Offsets: where they stand, how they are written and read. [spec consumer-zk.md O1 to O8,
//! product.md T14]

use super::connector::{Connector, Rules};
use super::event::Event;
use super::nodes;
use super::task::{Step, Thread};
use crate::base::Span;
use crate::kafka::broker::Ctx;
use crate::kafka::data::{Msg, Offset};
use crate::kafka::msg::TopicPartition;
use crate::kafka::paths;
use crate::kafka::payload;
use crate::kafka::real::scala;
use crate::zk::op::{Data, Error, Op, Reply};

/// `offsets.channel.backoff.ms`
const CHANNEL_BACKOFF: Span = Span::from_secs(1);
/// `offsets.channel.socket.timeout.ms`
const PATIENCE: Span = Span::from_secs(10);

fn text(offset: Offset) -> Data {
    payload::number_data(i64::try_from(offset).unwrap_or(i64::MAX))
}

impl Connector {
    pub(super) fn offsets_step(&mut self, ctx: &mut Ctx<'_>, thread: Thread, step: Step) {
        match step {
            Step::Commit => self.begin_commit(ctx, thread),
            Step::CommitNext => self.commit_next(ctx, thread),
            Step::CommitSet => self.commit_set(thread),
            Step::CommitMade => self.commit_made(thread),
            Step::CommitAnswered => self.commit_answered(ctx, thread),
            Step::FindChannel => {
                self.ask_children(thread, paths::BROKER_IDS);
                self.then(thread, [Step::ChannelListed]);
            }
            Step::ChannelListed => self.channel_listed(ctx, thread),
            Step::ChannelFound => self.channel_found(ctx, thread),
            Step::FetchOffsets => self.fetch_offsets(ctx, thread),
            _ => {}
        }
    }

    fn dual_commit(&self) -> bool {
        self.options.dual_commit.unwrap_or(self.options.offsets_in_kafka)
    }

    // --- Commit ----------------------------------------------------------------------------------

    /// All that it owns and where it knows its position, in the order in which it is written.
    fn to_commit(&self) -> Vec<(TopicPartition, Offset)> {
        let mut tps = self.registry();
        match self.rules {
            Rules::V08 => scala::order_partitions(&mut tps),
            Rules::Textbook => tps.sort(),
        }
        let known = |tp: TopicPartition| {
            let owned = self.owned.get(&tp).filter(|owned| owned.positioned)?;
            Some((tp, owned.position))
        };
        tps.into_iter().filter_map(known).collect()
    }

    /// Skipped where nothing changed since it was last written. [spec consumer-zk.md O1, O6]
    fn is_new(&self, (tp, offset): &(TopicPartition, Offset)) -> bool {
        self.owned.get(tp).is_some_and(|owned| owned.committed != Some(*offset))
    }

    fn begin_commit(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let mut all = self.to_commit();
        #[cfg(feature = "mutations")]
        if self.mutation == Some(crate::kafka::broker::Mutation::NeverCommits) {
            all.clear();
        }
        if all.is_empty() {
            return;
        }
        if !self.options.offsets_in_kafka {
            all.retain(|one| self.is_new(one));
            self.task(thread).left = all.into();
            return self.then(thread, [Step::CommitNext]);
        }
        let Some(to) = self.channel else {
            return self.then(thread, [Step::FindChannel, Step::Commit]);
        };
        let group = self.spec.group.clone();
        self.task(thread).left = all.clone().into();
        self.ask_peer(ctx, thread, to, PATIENCE, |id| Msg::OffsetCommit {
            id,
            group,
            offsets: all,
        });
        self.then(thread, [Step::CommitAnswered]);
    }

    fn commit_answered(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let heard = self.task(thread).heard.take();
        let mut all = std::mem::take(&mut self.task(thread).left);
        let Some(Msg::OffsetCommitAnswer { result: Ok(()), .. }) = heard else {
            self.channel = None;
            return;
        };
        all.retain(|one| self.is_new(one));
        if self.dual_commit() {
            self.task(thread).left = all;
            return self.then(thread, [Step::CommitNext]);
        }
        self.task(thread).done = all.into();
        self.commit_next(ctx, thread);
    }

    fn commit_next(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let task = &mut self.tasks[thread as usize];
        if let Some((tp, offset)) = task.left.front() {
            let home = self.owned.get(tp).map_or(0, |owned| owned.home);
            let path = nodes::offset(self.rules, &self.spec.group, tp, home);
            task.fiber.ask(Op::SetData { path, data: text(*offset), version: -1 });
            return task.then([Step::CommitSet]);
        }
        let offsets = std::mem::take(&mut task.done);
        if offsets.is_empty() {
            return;
        }
        for (tp, offset) in &offsets {
            if let Some(owned) = self.owned.get_mut(tp) {
                owned.committed = Some(*offset);
            }
        }
        self.note(ctx, Event::Committed { offsets });
    }

    /// Written, or the node is not there yet: its parents first.
    fn commit_set(&mut self, thread: Thread) {
        let task = &mut self.tasks[thread as usize];
        let failed = task.fiber.one().and_then(Result::err);
        let Some((tp, offset)) = task.left.front().cloned() else { return };
        if failed.is_some_and(|failure| failure.error == Error::NoNode) {
            let home = self.owned.get(&tp).map_or(0, |owned| owned.home);
            let path = nodes::offset(self.rules, &self.spec.group, &tp, home);
            let parents = Step::Parents(nodes::parent(&path));
            let data = text(offset);
            let create = Step::Create { path, data, ephemeral: false, again: true };
            return task.then([parents, create, Step::CommitMade]);
        }
        task.left.pop_front();
        task.done.push((tp, offset));
        task.then([Step::CommitNext]);
    }

    fn commit_made(&mut self, thread: Thread) {
        let task = self.task(thread);
        if task.made == Ok(())
            && let Some(one) = task.left.pop_front()
        {
            task.done.push(one);
        }
        // Somebody else made it meanwhile: it is written over.
        task.then([Step::CommitNext]);
    }

    // --- The offset manager ----------------------------------------------------------------------

    fn channel_listed(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        self.brokers = self.answered_brokers(thread);
        self.then(thread, [Step::ChannelFound]);
        let Some(to) = self.some_broker() else { return };
        let group = self.spec.group.clone();
        self.ask_peer(ctx, thread, to, PATIENCE, |id| Msg::FindCoordinator { id, group });
    }

    /// One after the other.
    pub(super) fn some_broker(&mut self) -> Option<u32> {
        let count = self.brokers.len().max(1);
        let at = self.fetcher.tries as usize % count;
        self.fetcher.tries = self.fetcher.tries.wrapping_add(1);
        self.brokers.get(at).copied()
    }

    /// Asked again until there is one: at first its topic has to be made. [seen:
    /// recordings/0.8.2.2/consumer-offsets]
    fn channel_found(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        if let Some(Msg::Coordinator { result: Ok(broker), .. }) = self.task(thread).heard.take() {
            self.channel = Some(broker);
        } else if self.stopping {
            // Nobody waits for a commit that can't be done.
            let task = self.task(thread);
            task.stack.pop_if(|step| matches!(step, Step::Commit));
        } else {
            self.then(thread, [Step::FindChannel]);
            self.sleep(ctx, thread, CHANNEL_BACKOFF);
        }
    }

    // --- Read ------------------------------------------------------------------------------------

    /// Step 6. [spec consumer-zk.md, rebalance()]
    fn fetch_offsets(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        if self.rebalance.claims.is_empty() {
            return self.then(thread, [Step::Claim(0)]);
        }
        if !self.options.offsets_in_kafka {
            return self.read_offsets(thread);
        }
        let Some(to) = self.channel else {
            return self.then(thread, [Step::FindChannel, Step::FetchOffsets]);
        };
        let group = self.spec.group.clone();
        let claims = &self.rebalance.claims;
        let partitions = claims.iter().map(|claim| claim.tp.clone()).collect();
        self.ask_peer(ctx, thread, to, PATIENCE, |id| Msg::OffsetFetch { id, group, partitions });
        self.then(thread, [Step::OffsetsFetched]);
    }

    fn read_offsets(&mut self, thread: Thread) {
        for at in 0..self.rebalance.claims.len() {
            let claim = &self.rebalance.claims[at];
            let path = nodes::offset(self.rules, &self.spec.group, &claim.tp, claim.home);
            self.task(thread).fiber.get(path);
        }
        self.then(thread, [Step::OffsetsRead]);
    }

    pub(super) fn offsets_fetched(&mut self, ctx: &mut Ctx<'_>, thread: Thread) {
        let heard = self.task(thread).heard.take();
        let Some(Msg::OffsetFetchAnswer { result: Ok(offsets), .. }) = heard else {
            self.channel = None;
            if !self.stopping {
                self.then(thread, [Step::FetchOffsets]);
                self.sleep(ctx, thread, CHANNEL_BACKOFF);
            }
            return;
        };
        for claim in &mut self.rebalance.claims {
            let found = offsets.iter().find(|(tp, _)| *tp == claim.tp);
            claim.offset = found.map(|(_, offset)| *offset);
        }
        match self.dual_commit() {
            true => self.read_offsets(thread),
            false => self.then(thread, [Step::Claim(0)]),
        }
    }

    /// With both places the larger one counts. [spec consumer-zk.md, rebalance step 6]
    pub(super) fn offsets_read(&mut self, thread: Thread) {
        let answers = self.task(thread).fiber.take();
        for (claim, answer) in self.rebalance.claims.iter_mut().zip(answers) {
            if let Ok(Reply::Data { data, .. }) = answer {
                claim.offset = claim.offset.max(nodes::stored(&data));
            }
        }
        self.then(thread, [Step::Claim(0)]);
    }
}
