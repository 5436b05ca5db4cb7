use super::*;

#[test]
fn four_partitions_on_three_brokers() {
    let placed = assign(&[1, 2, 3], 4, 2, 0, 0);
    assert_eq!(placed, Ok(vec![vec![1, 2], vec![2, 3], vec![3, 1], vec![1, 3]]));
}

fn are_distinct(replicas: &[u32], wanted: u32) -> bool {
    let mut distinct = replicas.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() == wanted as usize && distinct.len() == replicas.len()
}

#[test]
fn every_copy_is_on_another_broker() {
    for n in 1..8_u32 {
        let brokers: Vec<u32> = (0..n).map(|i| i * 10).collect();
        for replication in 1..=n {
            for replicas in assign(&brokers, 30, replication, 1, 2).unwrap() {
                assert!(are_distinct(&replicas, replication), "{replicas:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_placed_says_why() {
    assert_eq!(assign(&[1], 0, 1, 0, 0), Err(Refusal::NoPartitions));
    assert_eq!(assign(&[1], 1, 0, 0, 0), Err(Refusal::NoReplicas));
    let few = Refusal::TooFewBrokers { replication: 3, brokers: 2 };
    assert_eq!(assign(&[1, 2], 1, 3, 0, 0), Err(few));
    assert!(assign(&[], 1, 1, 0, 0).is_err());
}

fn in_racks(racks: &[&str]) -> Vec<(u32, Rack)> {
    (1..).zip(racks).map(|(id, rack)| (id, (!rack.is_empty()).then(|| (*rack).into()))).collect()
}

#[test]
fn replicas_stand_in_as_many_racks_as_there_are() {
    for racks in [&["a", "b"][..], &["a", "a", "b", "c"], &["a", "b", "c", "c", "c", "b", "d"]] {
        let brokers = in_racks(racks);
        let many = racks.iter().collect::<std::collections::BTreeSet<_>>().len();
        for replication in 1..=brokers.len() as u32 {
            for start in 0..9 {
                let wanted =
                    Wanted { partitions: 20, replication, start, shift: 9 - start, first: 3 };
                for replicas in place_by_rack(&brokers, &wanted).unwrap() {
                    let rack = |id: &u32| racks[*id as usize - 1];
                    let met: std::collections::BTreeSet<_> = replicas.iter().map(rack).collect();
                    assert!(are_distinct(&replicas, replication), "{replicas:?}");
                    assert_eq!(met.len(), many.min(replication as usize), "{replicas:?}");
                }
            }
        }
    }
}

#[test]
fn all_brokers_have_a_rack_or_none() {
    let wanted = Wanted::fixed(2, 2, 0, 0);
    let bare = place_by_rack(&in_racks(&["", "", ""]), &wanted);
    assert_eq!(bare, Ok(vec![vec![1, 2], vec![2, 3]]));
    assert_eq!(place_by_rack(&in_racks(&["a", ""]), &wanted), Err(Unplaced::SomeWithoutRack));
}

#[test]
fn added_partitions_begin_where_the_first_one_does_or_by_its_id() {
    let brokers = in_racks(&["", "", ""]);
    let existing = BTreeMap::from([(0, vec![2, 3]), (1, vec![3, 1])]);
    let added = |count, base, by_id| {
        add(&brokers, &existing, count, base, by_id).map(|all| all[&(count - 1)].clone())
    };
    // By index of broker 2, which is 1: (2 + 1) mod 3.
    assert_eq!(added(3, 0, false), Ok(vec![1, 3]));
    // By its id: (2 + 2) mod 3; by that of partition 1: (2 + 3) mod 3.
    assert_eq!(added(3, 0, true), Ok(vec![2, 3]));
    assert_eq!(added(3, 1, true), Ok(vec![3, 2]));
    assert_eq!(added(2, 0, false), Err(Unplaced::NotMore));
    assert_eq!(added(3, 7, false), Err(Unplaced::NoBase));
}
