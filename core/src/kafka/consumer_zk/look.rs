//! What a consumer says of itself to those who look on.

use super::connector::{Connector, Phase, Rules};
use super::nodes;
use super::task::Thread;
use crate::base::Span;
use crate::kafka::msg::TopicPartition;
use crate::zk::client::KeeperState;
use crate::zk::op::Path;

impl Connector {
    /// It owns the partition by its own belief, and its fetchers run.
    pub fn fetches(&self, tp: &TopicPartition) -> bool {
        self.fetcher.running && self.owned.contains_key(tp)
    }

    /// The owner node of a partition that it owns, and what it wrote there.
    pub fn owner_node(&self, tp: &TopicPartition) -> Option<(Path, String)> {
        let owned = self.owned.get(tp)?;
        let path = nodes::owner(self.rules, &self.spec.group, tp, owned.home);
        let id = match self.rules {
            Rules::Textbook => self.id.to_string(),
            Rules::V08 => super::assign::thread_id(&self.id, owned.stream),
        };
        Some((path, id))
    }

    /// Requests of its session reach the server, as far as it knows.
    pub fn is_connected(&self) -> bool {
        self.zk.client().state() == KeeperState::SyncConnected
    }

    /// Between rebalances, with none under way or asked for.
    pub fn is_at_rest(&self) -> bool {
        let idle = |thread: &Thread| self.tasks[*thread as usize].is_idle();
        let threads = [Thread::App, Thread::Events, Thread::Watcher, Thread::Stop];
        self.phase == Phase::Fetching
            && !self.stopping
            && self.flag.is_none()
            && threads.iter().all(idle)
    }

    /// Its offsets are kept by a broker that it doesn't know yet. [spec consumer-zk.md O3]
    pub fn lacks_channel(&self) -> bool {
        self.options.offsets_in_kafka && self.channel.is_none()
    }

    pub fn commit_interval(&self) -> Span {
        self.commit_every()
    }
}
