//! What a controller believes beside what stands in ZooKeeper, where the two differ.

use std::sync::Arc;

use super::stage::{PartitionView, stage};
use crate::kafka::TopicPartition;
use crate::kafka::real::context::Context;
use crate::lab::Lab;

/// Leader, leader epoch and ISR, as one side has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub leader: Option<u32>,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belief {
    pub topic: Arc<str>,
    pub partition: u32,
    pub believed: Option<Known>,
    pub written: Option<Known>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beliefs {
    /// Partitions that it knows.
    pub known: u32,
    /// Brokers that it takes for alive.
    pub live: Vec<u32>,
    pub differ: Vec<Belief>,
}

/// Of a process that acts as controller of a real release; `None`: it doesn't.
pub fn beliefs(lab: &Lab, proc: u16) -> Option<Beliefs> {
    let broker = lab.world().procs.get(usize::from(proc))?.real_broker()?;
    if !broker.controller.active {
        return None;
    }
    let context = &broker.controller.context;
    let mut beliefs =
        Beliefs { live: context.live.keys().copied().collect(), ..Beliefs::default() };
    for topic in stage(lab).topics {
        for partition in &topic.partitions {
            let tp = TopicPartition { topic: topic.name.clone(), partition: partition.number };
            let (believed, written) = (believed(context, &tp), written(partition));
            beliefs.known += u32::from(believed.is_some());
            if believed != written {
                let (topic, partition) = (tp.topic, tp.partition);
                beliefs.differ.push(Belief { topic, partition, believed, written });
            }
        }
    }
    Some(beliefs)
}

fn believed(context: &Context, tp: &TopicPartition) -> Option<Known> {
    let leadership = context.part(tp)?.leadership.as_ref()?;
    Some(Known {
        leader: leadership.leader,
        leader_epoch: leadership.leader_epoch,
        isr: leadership.isr.clone(),
    })
}

fn written(partition: &PartitionView) -> Option<Known> {
    partition.placed.then(|| Known {
        leader: partition.leader,
        leader_epoch: partition.leader_epoch,
        isr: partition.isr.clone(),
    })
}
