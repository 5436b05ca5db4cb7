//! One heartbeat of one member of a KIP-848 group: how it gets from what it has to its target.
//! [spec group-protocol.md G4]

use std::collections::BTreeSet;

/// A topic by whatever it is known, and a partition.
pub type Partition = (String, u32);
pub type Partitions = BTreeSet<Partition>;

/// [spec group-protocol.md G4]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Stable,
    /// It has to give something up first.
    UnrevokedPartitions,
    /// What it waits for is still another one's.
    UnreleasedPartitions,
    /// Written by a later release.
    Unknown,
}

impl State {
    pub const ALL: [State; 4] =
        [State::Stable, State::UnrevokedPartitions, State::UnreleasedPartitions, State::Unknown];

    pub fn name(self) -> &'static str {
        match self {
            State::Stable => "STABLE",
            State::UnrevokedPartitions => "UNREVOKED_PARTITIONS",
            State::UnreleasedPartitions => "UNRELEASED_PARTITIONS",
            State::Unknown => "UNKNOWN",
        }
    }
}

/// What the coordinator knows of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub state: State,
    pub epoch: i32,
    pub previous_epoch: i32,
    pub assigned: Partitions,
    pub pending_revocation: Partitions,
}

/// Which release's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// A confirmed revocation raises the epoch by one before what comes next is looked for, and
    /// nobody looks at the subscription.
    V3_9,
    /// Since 4.2.0 and 4.3.0. [spec group-protocol.md G4]
    V4_4,
}

/// What a heartbeat meets.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat<'a> {
    pub target_epoch: i32,
    pub target: &'a Partitions,
    /// What the member says it owns, if it says.
    pub owned: Option<&'a Partitions>,
    /// Topics it subscribes to that exist; None if that doesn't matter.
    pub subscribed: Option<&'a BTreeSet<String>>,
    /// This heartbeat changed them.
    pub subscription_changed: bool,
}

/// The member has to give up everything and to join anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced;

/// The member after the heartbeat. `is_busy` tells of a partition that another member, or this
/// one by an older epoch, still owns. [spec group-protocol.md G4]
pub fn reconcile(
    rules: Rules,
    member: &Member,
    heartbeat: Heartbeat<'_>,
    is_busy: impl Fn(&Partition) -> bool,
) -> Result<Member, Fenced> {
    let target = heartbeat.target_epoch;
    let step = Step { rules, member, heartbeat, is_busy };
    let epoch = member.epoch;
    match member.state {
        State::Stable if epoch != target => Ok(step.compute(epoch)),
        State::Stable => Ok(step.subscription()),
        State::UnrevokedPartitions if step.still_has(&member.pending_revocation) => {
            Ok(step.subscription())
        }
        State::UnrevokedPartitions => match rules {
            Rules::V3_9 => Ok(step.compute(epoch + 1)),
            Rules::V4_4 => Ok(step.compute(epoch)),
        },
        State::UnreleasedPartitions => Ok(step.compute(epoch)),
        State::Unknown => match heartbeat.owned {
            Some(owned) if owned.is_empty() => Ok(step.compute(target)),
            _ => Err(Fenced),
        },
    }
}

struct Step<'a, F> {
    rules: Rules,
    member: &'a Member,
    heartbeat: Heartbeat<'a>,
    is_busy: F,
}

impl<F: Fn(&Partition) -> bool> Step<'_, F> {
    /// A heartbeat that doesn't say what is owned confirms nothing.
    fn still_has(&self, revoked: &Partitions) -> bool {
        self.heartbeat.owned.is_none_or(|owned| !owned.is_disjoint(revoked))
    }

    fn is_subscribed(&self, partition: &Partition) -> bool {
        self.rules == Rules::V3_9
            || self.heartbeat.subscribed.is_none_or(|topics| topics.contains(&partition.0))
    }

    fn becomes(
        &self,
        state: State,
        epoch: i32,
        assigned: Partitions,
        pending_revocation: Partitions,
    ) -> Member {
        let previous_epoch = self.member.epoch;
        Member { state, epoch, previous_epoch, assigned, pending_revocation }
    }

    /// Gives up what its target lacks first; then takes what is free of it.
    fn compute(&self, epoch: i32) -> Member {
        let wanted = |partition: &&Partition| {
            self.is_subscribed(partition) && self.heartbeat.target.contains(*partition)
        };
        let (keep, revoke): (Vec<&Partition>, _) = self.member.assigned.iter().partition(wanted);
        let mut keep: Partitions = keep.into_iter().cloned().collect();
        let revoke: Partitions = revoke.into_iter().cloned().collect();
        if !revoke.is_empty() && self.still_has(&revoke) {
            return self.becomes(State::UnrevokedPartitions, epoch, keep, revoke);
        }
        let mut state = State::Stable;
        for partition in self.heartbeat.target {
            if keep.contains(partition) || !self.is_subscribed(partition) {
                continue;
            }
            // Since 4.2.0 its own, that it just gave up, is free.
            let own =
                self.rules == Rules::V4_4 && self.member.pending_revocation.contains(partition);
            if (self.is_busy)(partition) && !own {
                state = State::UnreleasedPartitions;
            } else {
                keep.insert(partition.clone());
            }
        }
        self.becomes(state, self.heartbeat.target_epoch, keep, Partitions::new())
    }

    /// Partitions of topics that it no longer subscribes to are to be given up at once.
    fn subscription(&self) -> Member {
        let gone = |partition: &&Partition| !self.is_subscribed(partition);
        let (gone, left): (Vec<&Partition>, Vec<&Partition>) =
            self.member.assigned.iter().partition(gone);
        if !self.heartbeat.subscription_changed || gone.is_empty() {
            return self.member.clone();
        }
        let left: Partitions = left.into_iter().cloned().collect();
        let pending = &self.member.pending_revocation;
        let revoke: Partitions = gone.into_iter().chain(pending).cloned().collect();
        let (epoch, state) = (self.member.epoch, self.member.state);
        if self.still_has(&revoke) {
            self.becomes(State::UnrevokedPartitions, epoch, left, revoke)
        } else {
            self.becomes(state, epoch, left, pending.clone())
        }
    }
}
