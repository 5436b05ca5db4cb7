//! The elections of the real controllers. Each success is written with the leader epoch counted up
//! by one. [spec kafka-zk.md §5]

use std::collections::BTreeSet;

use super::Choice;

/// Whose selectors decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// 0.8.2.
    V0_8,
    /// 0.11 to 3.9.
    V2,
}

/// Why a partition needs a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy<'a> {
    /// It has none that lives; `unclean`: one outside the ISR is allowed to lead.
    Offline { unclean: bool },
    /// Its replicas move to these, all in sync now.
    Reassign { targets: &'a [u32] },
    /// The first of the assignment shall lead.
    Preferred,
    /// Its leader is about to stop.
    ControlledShutdown,
}

/// A partition as its state says.
#[derive(Clone, Copy, Debug)]
pub struct Partition<'a> {
    pub assignment: &'a [u32],
    pub isr: &'a [u32],
    pub leader: Option<u32>,
}

/// Brokers as the controller knows them.
#[derive(Clone, Copy, Debug)]
pub struct Brokers<'a> {
    /// Registered, those that are shutting down too.
    pub live: &'a BTreeSet<u32>,
    /// In a controlled shutdown.
    pub leaving: &'a BTreeSet<u32>,
}

impl Brokers<'_> {
    pub fn is_online(&self, id: u32) -> bool {
        self.live.contains(&id) && !self.leaving.contains(&id)
    }
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elected {
    pub leader: u32,
    pub isr: Vec<u32>,
    /// The leader was not in the ISR. [spec kafka-zk.md L3]
    pub unclean: bool,
}

/// Nothing is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotElected {
    /// Nobody may lead.
    NoReplicaOnline,
    /// The preferred replica leads already (0.8.2). [spec kafka-zk.md L1]
    NotNeeded,
    /// Who was wanted is not online or not in the ISR; or nobody remains in it.
    NotEligible,
}

/// Who leads from now on.
pub fn choose(
    rules: Rules,
    strategy: Strategy<'_>,
    partition: Partition<'_>,
    brokers: Brokers<'_>,
) -> Result<Elected, NotElected> {
    match strategy {
        Strategy::Offline { unclean } => offline(partition, brokers, unclean),
        Strategy::Reassign { targets } => {
            let leader = first_in_sync(targets, partition.isr, |id| brokers.is_online(id));
            kept(leader.ok_or(NotElected::NoReplicaOnline)?, partition)
        }
        Strategy::Preferred => preferred(rules, partition, brokers),
        Strategy::ControlledShutdown => controlled_shutdown(rules, partition, brokers),
    }
}

fn first_in_sync(order: &[u32], isr: &[u32], alive: impl Fn(u32) -> bool) -> Option<u32> {
    order.iter().copied().find(|id| isr.contains(id) && alive(*id))
}

fn kept(leader: u32, partition: Partition<'_>) -> Result<Elected, NotElected> {
    Ok(Elected { leader, isr: partition.isr.to_vec(), unclean: false })
}

/// By assignment order, in all releases. Uncleanly only if no member of the ISR is online: then
/// the leader is the whole ISR. [spec kafka-zk.md §5, L4]
fn offline(
    partition: Partition<'_>,
    brokers: Brokers<'_>,
    unclean: bool,
) -> Result<Elected, NotElected> {
    let online = |id: &u32| brokers.is_online(*id);
    let isr: Vec<u32> = partition.isr.iter().copied().filter(online).collect();
    if let Some(leader) = first_in_sync(partition.assignment, &isr, |_| true) {
        return Ok(Elected { leader, isr, unclean: false });
    }
    let outside = partition.assignment.iter().copied().find(online);
    match outside.filter(|_| unclean && isr.is_empty()) {
        Some(leader) => Ok(Elected { leader, isr: vec![leader], unclean: true }),
        None => Err(NotElected::NoReplicaOnline),
    }
}

/// 0.8.2 looks whether it leads already before it looks whether it lives; later releases leave
/// that to the caller. [spec kafka-zk.md L1]
fn preferred(
    rules: Rules,
    partition: Partition<'_>,
    brokers: Brokers<'_>,
) -> Result<Elected, NotElected> {
    let preferred = partition.assignment.first().copied().ok_or(NotElected::NotEligible)?;
    if rules == Rules::V0_8 && partition.leader == Some(preferred) {
        return Err(NotElected::NotNeeded);
    }
    if !brokers.is_online(preferred) || !partition.isr.contains(&preferred) {
        return Err(NotElected::NotEligible);
    }
    kept(preferred, partition)
}

/// 0.8.2 takes the first that remains in the ISR, dead or not; later releases the first of the
/// assignment among those that remain and live. [spec kafka-zk.md §5, L4]
fn controlled_shutdown(
    rules: Rules,
    partition: Partition<'_>,
    brokers: Brokers<'_>,
) -> Result<Elected, NotElected> {
    let stays = |id: &u32| !brokers.leaving.contains(id);
    let isr: Vec<u32> = partition.isr.iter().copied().filter(stays).collect();
    let leader = match rules {
        Rules::V0_8 => isr.first().copied(),
        Rules::V2 => first_in_sync(partition.assignment, &isr, |id| brokers.live.contains(&id)),
    };
    let leader = leader.ok_or(NotElected::NotEligible)?;
    Ok(Elected { leader, isr, unclean: false })
}

/// Which replicas hear of it: of a leader that was missing, the ones online; of one that stops,
/// also those that are about to; else all. [spec kafka-zk.md T2]
pub fn told(strategy: Strategy<'_>, partition: Partition<'_>, brokers: Brokers<'_>) -> Vec<u32> {
    let of = |ids: &[u32], hears: &dyn Fn(&u32) -> bool| -> Vec<u32> {
        ids.iter().copied().filter(hears).collect()
    };
    match strategy {
        Strategy::Offline { .. } => of(partition.assignment, &|id| brokers.is_online(*id)),
        Strategy::ControlledShutdown => of(partition.assignment, &|id| brokers.live.contains(id)),
        Strategy::Reassign { targets } => targets.to_vec(),
        Strategy::Preferred => partition.assignment.to_vec(),
    }
}

/// A partition without a replica that went offline; `None`: it is not in the ISR, nothing is
/// written. The last member stays, except with `empties`: 0.8.2, where an unclean leader is
/// allowed. [spec kafka-zk.md T3]
pub fn without(replica: u32, partition: Partition<'_>, empties: bool) -> Option<Choice> {
    if !partition.isr.contains(&replica) {
        return None;
    }
    let leader = partition.leader.filter(|leader| *leader != replica);
    let last = partition.isr.len() == 1 && !empties;
    let stays = |id: &u32| last || *id != replica;
    Some(Choice { leader, isr: partition.isr.iter().copied().filter(stays).collect() })
}
