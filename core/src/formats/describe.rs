//! `kafka-topics --describe`, letter by letter as the tool of each release prints it.

use std::fmt::Write;

use crate::view::{KafkaRelease, PartitionView, StageView, TopicView};

/// How the tool of a release writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// To 2.3: no space after the header's colons; `-1` where nobody leads.
    Tight,
    /// From 2.8: spaces, the topic's id, `none` where nobody leads.
    Identified,
}

fn style(release: KafkaRelease) -> Style {
    match release {
        KafkaRelease::V0_8_2_2 | KafkaRelease::V0_11_0_3 | KafkaRelease::V1_1_1 => Style::Tight,
        KafkaRelease::V2_8_2 | KafkaRelease::V3_9_2 => Style::Identified,
    }
}

/// All topics, by name. The textbook has no tool; it reads like 0.8's.
pub fn describe(view: &StageView) -> String {
    let style = view.release.map_or(Style::Tight, style);
    let mut text = String::new();
    for topic in &view.topics {
        header(&mut text, topic, style);
        for partition in &topic.partitions {
            row(&mut text, topic, partition, style);
        }
    }
    text
}

fn header(text: &mut String, topic: &TopicView, style: Style) {
    let (name, count) = (&topic.name, topic.partitions.len());
    let replication = topic.partitions.first().map_or(0, |first| first.replicas.len());
    let pairs = topic.configs.iter().map(|(key, value)| format!("{key}={value}"));
    let configs = pairs.collect::<Vec<_>>().join(",");
    let _ = match style {
        Style::Tight => writeln!(
            text,
            "Topic:{name}\tPartitionCount:{count}\tReplicationFactor:{replication}\t\
             Configs:{configs}"
        ),
        Style::Identified => {
            let id = topic.id.as_deref().unwrap_or_default();
            let marked = if topic.deleting { "\tMarkedForDeletion: true" } else { "" };
            writeln!(
                text,
                "Topic: {name}\tTopicId: {id}\tPartitionCount: {count}\t\
                 ReplicationFactor: {replication}\tConfigs: {configs}{marked}"
            )
        }
    };
}

fn row(text: &mut String, topic: &TopicView, partition: &PartitionView, style: Style) {
    let leader = match (partition.leader, style) {
        (Some(leader), _) => leader.to_string(),
        (None, Style::Tight) => "-1".to_owned(),
        (None, Style::Identified) => "none".to_owned(),
    };
    let replicas: Vec<u32> = partition.replicas.iter().map(|replica| replica.broker).collect();
    let (name, number) = (&topic.name, partition.number);
    let (replicas, isr) = (ids(&replicas), ids(&partition.isr));
    let _ = writeln!(
        text,
        "\tTopic: {name}\tPartition: {number}\tLeader: {leader}\tReplicas: {replicas}\tIsr: {isr}"
    );
}

fn ids(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{ReplicaView, Role, ZkView};
    use crate::zk::op::Release;

    fn partition(number: u32, leader: Option<u32>, replicas: &[u32], isr: &[u32]) -> PartitionView {
        let replica = |broker: &u32| ReplicaView {
            broker: *broker,
            role: Role::InSync,
            preferred: false,
            offline: false,
            knows: true,
            log: None,
        };
        let replicas = replicas.iter().map(replica).collect();
        PartitionView { number, leader, leader_epoch: 0, isr: isr.into(), replicas, placed: true }
    }

    fn topic(
        name: &str,
        id: &str,
        configs: &[(&str, &str)],
        partitions: Vec<PartitionView>,
    ) -> TopicView {
        TopicView {
            name: name.into(),
            replication: 3,
            deleting: false,
            id: Some(id.into()),
            configs: configs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            partitions,
        }
    }

    /// The cluster of the samples.
    fn view(release: KafkaRelease) -> StageView {
        let own: &[_] = match release {
            KafkaRelease::V2_8_2 => &[("segment.bytes", "1073741824")],
            _ => &[],
        };
        let orders = [&[("min.insync.replicas", "2")], own].concat();
        let zookeeper = ZkView {
            up: true,
            release: Release::V3_5_9,
            sessions: 3,
            last_zxid: 1,
            groups: Vec::new(),
        };
        let topics = vec![
            topic(
                "orders",
                "Wm3vQkZ1S0i7u6yR2pXy9g",
                &orders,
                vec![
                    partition(0, Some(1), &[1, 2, 3], &[1, 2, 3]),
                    partition(1, Some(2), &[2, 3, 1], &[2, 3]),
                    partition(2, Some(3), &[3, 1, 2], &[3]),
                ],
            ),
            topic(
                "payments",
                "Zk1cT0eVQ5O2mJ7dLx3b8A",
                own,
                vec![partition(0, Some(2), &[2, 1], &[2, 1]), partition(1, None, &[3, 2], &[3])],
            ),
        ];
        StageView {
            release: Some(release),
            zookeeper,
            brokers: Vec::new(),
            topics,
            clients: Vec::new(),
        }
    }

    #[test]
    fn it_reads_as_the_samples_of_the_tools_do() {
        let old = include_str!("../../../tests/samples/kafka-topics-describe-0.8_to_2.3.txt");
        assert_eq!(describe(&view(KafkaRelease::V0_8_2_2)), old);
        let new = include_str!(
            "../../../tests/samples/kafka-topics-describe-2.8_to_3.x-with-reassignment.txt"
        );
        // Moving replicas come with reassignment.
        let new = new.replace("\tAdding Replicas: 2\tRemoving Replicas: 1", "");
        assert_eq!(describe(&view(KafkaRelease::V2_8_2)), new);
    }
}
