//! Who leads a partition: a pure function of assignment, ISR and live brokers.

use std::collections::BTreeSet;

/// What a partition should look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `None`: nobody of the ISR lives.
    pub leader: Option<u32>,
    pub isr: Vec<u32>,
}

/// A new partition: the first live replica leads, the live ones are the ISR. `None` while none
/// lives. [spec kafka-zk.md E1]
pub fn first(assignment: &[u32], live: &BTreeSet<u32>) -> Option<Choice> {
    let isr: Vec<u32> = assignment.iter().copied().filter(|id| live.contains(id)).collect();
    isr.first().copied().map(|leader| Choice { leader: Some(leader), isr })
}

/// A leader that lives stays; else the first replica of the assignment that lives and is in the
/// ISR takes over. The dead leave the ISR, but its last member stays even when it is dead: only it
/// may lead again. [spec kafka-zk.md E2]
pub fn elect(assignment: &[u32], isr: &[u32], leader: Option<u32>, live: &BTreeSet<u32>) -> Choice {
    let alive: Vec<u32> = isr.iter().copied().filter(|id| live.contains(id)).collect();
    let leader = leader
        .filter(|id| live.contains(id))
        .or_else(|| assignment.iter().copied().find(|id| alive.contains(id)));
    let isr = if alive.is_empty() { isr.to_vec() } else { alive };
    Choice { leader, isr }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(assignment: &[u32], isr: &[u32], leader: Option<u32>, live: &[u32]) -> Choice {
        elect(assignment, isr, leader, &live.iter().copied().collect())
    }

    #[test]
    fn a_live_leader_stays_and_the_dead_leave_the_isr() {
        let kept = choice(&[1, 2, 3], &[1, 2, 3], Some(2), &[2, 3]);
        assert_eq!(kept, Choice { leader: Some(2), isr: vec![2, 3] });
    }

    #[test]
    fn the_first_live_isr_member_of_the_assignment_takes_over() {
        let moved = choice(&[1, 2, 3], &[3, 1], Some(1), &[2, 3]);
        assert_eq!(moved, Choice { leader: Some(3), isr: vec![3] });
    }

    #[test]
    fn without_a_live_isr_member_there_is_no_leader_and_the_isr_stays() {
        let offline = choice(&[1, 2], &[1], Some(1), &[2]);
        assert_eq!(offline, Choice { leader: None, isr: vec![1] });
    }

    #[test]
    fn a_new_partition_waits_for_a_live_replica() {
        assert_eq!(first(&[1, 2], &BTreeSet::from([3])), None);
        let made = first(&[1, 2], &BTreeSet::from([2, 3]));
        assert_eq!(made, Some(Choice { leader: Some(2), isr: vec![2] }));
    }
}
