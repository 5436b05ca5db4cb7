//! Round robin.

use super::{Assignment, Member, Numbered, Topics, static_first};

/// All partitions, topics by name, dealt to the members in turn; who does not subscribe to a
/// topic is passed over. [spec group-protocol.md F2]
pub fn round_robin(topics: &Topics, members: &[Member]) -> Assignment {
    let group = Numbered::new(topics, static_first(members));
    let mut given = vec![Vec::new(); members.len()];
    let mut next = 0;
    for (topic, subscribers) in (0..).zip(&group.subscribers) {
        if subscribers.is_empty() {
            continue;
        }
        let mut at = subscribers.partition_point(|member| *member < next) % subscribers.len();
        for partition in group.of_topic(topic) {
            let member = subscribers[at];
            given[member as usize].push(partition);
            next = member + 1;
            at = (at + 1) % subscribers.len();
        }
    }
    group.named(given)
}
