//! What a broker of a real release answers about topics: what the controller told it with
//! UpdateMetadata. [spec kafka-zk.md T2, producer.md O5]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::msg::{Order, Published};
use super::scala;
use crate::kafka::data::{Code, PartitionMeta, TopicMeta};
use crate::kafka::msg::TopicPartition;

type Update = Arc<[(TopicPartition, Published)]>;
type Parts = BTreeMap<u32, Arc<Order>>;

/// Updates are only kept until somebody asks: most brokers of most runs never are.
#[derive(Clone, Debug, Default)]
pub struct MetadataCache {
    live: Arc<[u32]>,
    unread: Vec<Update>,
    /// Read so far; shared between checkpoints.
    topics: Arc<BTreeMap<Arc<str>, Parts>>,
}

/// So many unread updates are read before anybody asks, so that they don't pile up.
const UNREAD: usize = 1_024;

impl MetadataCache {
    pub fn update(&mut self, live: Arc<[u32]>, partitions: Update) {
        self.live = live;
        if !partitions.is_empty() {
            self.unread.push(partitions);
        }
        if self.unread.len() > UNREAD {
            self.read();
        }
    }

    fn read(&mut self) {
        if self.unread.is_empty() {
            return;
        }
        let topics = Arc::make_mut(&mut self.topics);
        for (tp, order) in std::mem::take(&mut self.unread).iter().flat_map(|update| update.iter())
        {
            if let Some(order) = order {
                topics.entry(tp.topic.clone()).or_default().insert(tp.partition, order.clone());
            } else if let Some(parts) = topics.get_mut(&tp.topic) {
                parts.remove(&tp.partition);
                if parts.is_empty() {
                    topics.remove(&tp.topic);
                }
            }
        }
    }

    pub fn brokers(&self) -> Vec<u32> {
        self.live.to_vec()
    }

    pub fn topics(&mut self) -> Vec<Arc<str>> {
        self.read();
        self.topics.keys().cloned().collect()
    }

    pub fn partitions(&mut self, topic: &str) -> usize {
        self.read();
        self.topics.get(topic).map_or(0, BTreeMap::len)
    }

    /// Who leads a partition, if that broker lives.
    pub fn leader(&mut self, topic: &str, partition: u32) -> Option<u32> {
        self.read();
        let leader = self.topics.get(topic)?.get(&partition)?.state.leader?;
        self.live.contains(&leader).then_some(leader)
    }

    /// Dead brokers are left out. `hashed`: partitions stand as in 0.8. [spec producer.md O5, U1]
    pub fn topic(&mut self, topic: &Arc<str>, hashed: bool) -> TopicMeta {
        self.read();
        let lives = |id: &u32| self.live.contains(id);
        let one = |(partition, order): (&u32, &Arc<Order>)| PartitionMeta {
            partition: *partition,
            leader: order.state.leader.filter(lives),
            replicas: order.replicas.iter().copied().filter(lives).collect(),
            isr: order.state.isr.iter().copied().filter(lives).collect(),
        };
        let mut known: Option<Vec<PartitionMeta>> =
            self.topics.get(topic).map(|parts| parts.iter().map(one).collect());
        if let Some(known) = known.as_mut().filter(|_| hashed) {
            scala::order_numbers(known, |partition| partition.partition);
        }
        TopicMeta { topic: topic.clone(), partitions: known.ok_or(Code::UnknownTopicOrPartition) }
    }
}
