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

/// The vectors of the real classes ask more (`tests/vectors`); this is what tells releases apart.
#[test]
fn a_clean_stop_goes_by_isr_in_0_8_and_by_assignment_later() {
    let (live, leaving) = (BTreeSet::from([1, 2, 3]), BTreeSet::from([1]));
    let brokers = Brokers { live: &live, leaving: &leaving };
    let partition = Partition { assignment: &[1, 2, 3], isr: &[3, 1, 2], leader: Some(1) };
    let leader = |rules| {
        let elected = choose(rules, Strategy::ControlledShutdown, partition, brokers);
        elected.map(|elected| (elected.leader, elected.isr))
    };
    assert_eq!(leader(Rules::V0_8), Ok((3, vec![3, 2])));
    assert_eq!(leader(Rules::V2), Ok((2, vec![3, 2])));
}

#[test]
fn the_last_member_stays_unless_it_may_go() {
    let partition = Partition { assignment: &[1, 2], isr: &[1], leader: Some(1) };
    assert_eq!(without(2, partition, false), None);
    assert_eq!(without(1, partition, false), Some(Choice { leader: None, isr: vec![1] }));
    assert_eq!(without(1, partition, true), Some(Choice { leader: None, isr: vec![] }));
    let two = Partition { isr: &[2, 1], ..partition };
    assert_eq!(without(2, two, false), Some(Choice { leader: Some(1), isr: vec![1] }));
}
