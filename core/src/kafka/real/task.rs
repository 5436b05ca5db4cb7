//! What an administrator asks of a cluster of a real release, whoever then writes it: the tool
//! itself or the broker that it asks.

use std::fmt;
use std::sync::Arc;

use crate::kafka::msg::TopicPartition;

/// A key and value of an entity's configuration.
pub type Setting = (Arc<str>, Arc<str>);

/// Where the replicas of new partitions go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The release places them, with its two random draws.
    Counts { partitions: u32, replication: u32 },
    /// The replicas of each partition, by id, from the first new one on.
    Assignment(Vec<Vec<u32>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    Create {
        topic: Arc<str>,
        layout: Layout,
        configs: Vec<Setting>,
    },
    /// `total`: how many there are afterwards. Without an assignment the release places them.
    AddPartitions {
        topic: Arc<str>,
        total: u32,
        assignment: Option<Vec<Vec<u32>>>,
    },
    Delete {
        topic: Arc<str>,
    },
    /// `entity`: `topics/T`, `brokers/N`, …; `asked`: the broker that does it where a tool asks
    /// brokers; `None`: the controller for lack of a draw, a broker itself for its own entity.
    AlterConfig {
        entity: Arc<str>,
        set: Vec<Setting>,
        delete: Vec<Arc<str>>,
        asked: Option<u32>,
    },
    /// `None`: of all partitions.
    ElectPreferred {
        partitions: Option<Vec<TopicPartition>>,
    },
    /// A metadata request to one broker, which may make the topic; `placed`: in this way instead
    /// of by a draw.
    Metadata {
        topic: Arc<str>,
        broker: u32,
        placed: Option<Vec<Vec<u32>>>,
    },
    /// `additional`: although other partitions are on the move. `throttle`: bytes a second, for
    /// which configs are set first. `asked`: the broker that does this for topics.
    Reassign {
        plan: Vec<(TopicPartition, Vec<u32>)>,
        additional: bool,
        throttle: Option<u64>,
        asked: Option<u32>,
    },
    /// `targets`: brokers that the plan names, whose limits are removed too.
    CancelReassign {
        partitions: Vec<TopicPartition>,
        targets: Vec<u32>,
        asked: Option<u32>,
    },
    VerifyReassign {
        plan: Vec<(TopicPartition, Vec<u32>)>,
        asked: Option<u32>,
    },
    /// Looks only: `--list`, `--describe`.
    List,
}

fn assignment(f: &mut fmt::Formatter<'_>, partitions: &[Vec<u32>]) -> fmt::Result {
    f.write_str(" assignment ")?;
    for (n, replicas) in partitions.iter().enumerate() {
        if n > 0 {
            f.write_str(",")?;
        }
        for (k, id) in replicas.iter().enumerate() {
            write!(f, "{}{id}", if k > 0 { ":" } else { "" })?;
        }
    }
    Ok(())
}

fn list(f: &mut fmt::Formatter<'_>, ids: &[u32]) -> fmt::Result {
    for (n, id) in ids.iter().enumerate() {
        write!(f, "{}{id}", if n > 0 { "," } else { "" })?;
    }
    Ok(())
}

fn plan(f: &mut fmt::Formatter<'_>, plan: &[(TopicPartition, Vec<u32>)]) -> fmt::Result {
    for (n, (tp, replicas)) in plan.iter().enumerate() {
        let and = if n > 0 { " and" } else { "" };
        write!(f, "{and} {}-{} to ", tp.topic, tp.partition)?;
        list(f, replicas)?;
    }
    Ok(())
}

/// As a script writes it.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Task::Create { topic, layout, configs } => {
                write!(f, "create topic {topic}")?;
                match layout {
                    Layout::Counts { partitions, replication } => {
                        write!(f, " partitions {partitions} replication {replication}")?;
                    }
                    Layout::Assignment(partitions) => assignment(f, partitions)?,
                }
                configs.iter().try_for_each(|(key, value)| write!(f, " config {key}={value}"))
            }
            Task::AddPartitions { topic, total, assignment: placed } => {
                write!(f, "add partitions {topic} total {total}")?;
                placed.as_ref().map_or(Ok(()), |placed| assignment(f, placed))
            }
            Task::Delete { topic } => write!(f, "delete topic {topic}"),
            Task::AlterConfig { entity, set, delete, asked } => {
                write!(f, "alter config {entity}")?;
                set.iter().try_for_each(|(key, value)| write!(f, " set {key}={value}"))?;
                delete.iter().try_for_each(|key| write!(f, " delete {key}"))?;
                asked.map_or(Ok(()), |id| write!(f, " by {id}"))
            }
            Task::ElectPreferred { partitions } => {
                f.write_str("elect preferred")?;
                let named = partitions.iter().flatten();
                named.into_iter().try_for_each(|tp| write!(f, " {}-{}", tp.topic, tp.partition))
            }
            Task::Metadata { topic, broker, placed } => {
                write!(f, "metadata {topic} broker {broker}")?;
                placed.as_ref().map_or(Ok(()), |placed| assignment(f, placed))
            }
            Task::Reassign { plan: moves, additional, throttle, asked } => {
                f.write_str("reassign")?;
                plan(f, moves)?;
                f.write_str(if *additional { " additional" } else { "" })?;
                throttle.map_or(Ok(()), |rate| write!(f, " throttle {rate}"))?;
                asked.map_or(Ok(()), |id| write!(f, " by {id}"))
            }
            Task::CancelReassign { partitions, targets, asked } => {
                f.write_str("cancel reassign")?;
                partitions.iter().try_for_each(|tp| write!(f, " {}-{}", tp.topic, tp.partition))?;
                if !targets.is_empty() {
                    f.write_str(" of ")?;
                    list(f, targets)?;
                }
                asked.map_or(Ok(()), |id| write!(f, " by {id}"))
            }
            Task::VerifyReassign { plan: moves, asked } => {
                f.write_str("verify reassign")?;
                plan(f, moves)?;
                asked.map_or(Ok(()), |id| write!(f, " by {id}"))
            }
            Task::List => f.write_str("list topics"),
        }
    }
}
