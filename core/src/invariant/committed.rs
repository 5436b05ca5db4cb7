//! What is committed is in the log of every replica that is in sync. It is found, not broken: a
//! follower that gets a new leader cuts its log off at a high watermark that may be behind its
//! leader's, as it does before 0.11. [spec kafka-zk.md I5, I9]

use super::{COMMITTED_IN_ISR, Findings};
use crate::kafka::TopicPartition;
use crate::kafka::event::Event as Kafka;
use crate::kafka::log::store::Event as Log;
use crate::world::event::Severity;
use crate::world::{Event, Row, World};

pub fn check(world: &World, rows: &[Row], findings: &mut Findings) {
    for row in rows {
        let Event::Kafka(event) = &row.event else { continue };
        match &**event {
            Kafka::Log(Log::HighWatermark { tp, .. }) => {
                check_leader(world, row.proc, tp, findings)
            }
            Kafka::Log(Log::Truncated { broker, tp, .. }) => {
                let leader = world.proc(row.proc).role(tp).and_then(|role| role.leader);
                let leader = leader.filter(|leader| leader != broker);
                if let Some(index) = leader.and_then(|leader| world.registered(leader)) {
                    check_leader(world, index, tp, findings);
                }
            }
            _ => {}
        }
    }
}

/// A leader's high watermark and the logs of those that it takes for in sync.
fn check_leader(world: &World, index: u16, tp: &TopicPartition, findings: &mut Findings) {
    let leader = world.proc(index);
    let (Some(role), Some(log)) = (leader.role(tp), leader.log(tp)) else { return };
    if role.leader != leader.broker_id() {
        return;
    }
    findings.checked(COMMITTED_IN_ISR);
    let lacks = |id: &&u32| {
        let member = world.broker(**id);
        member.is_some_and(|member| member.store().end(tp) < log.high_watermark)
    };
    if role.isr.iter().find(lacks).is_some() {
        let about = format!("{}-{}", tp.topic, tp.partition);
        findings.breach(COMMITTED_IN_ISR, Severity::Found, index, &about);
    }
}
