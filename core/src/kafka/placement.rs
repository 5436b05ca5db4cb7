//! Which broker gets which replica of a new topic. [spec kafka-zk.md §6]

/// Why a topic can't be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoPartitions,
    NoReplicas,
    TooFewBrokers { replication: u32, brokers: u32 },
}

/// Kafka's placement without racks: the first replicas go round the brokers from `start`, the
/// others follow at a distance that grows by one each time the round is full.
pub fn assign(
    brokers: &[u32],
    partitions: u32,
    replication: u32,
    start: u32,
    shift: u32,
) -> Result<Vec<Vec<u32>>, Refusal> {
    let n = brokers.len() as u32;
    if partitions == 0 {
        return Err(Refusal::NoPartitions);
    }
    if replication == 0 {
        return Err(Refusal::NoReplicas);
    }
    if replication > n {
        return Err(Refusal::TooFewBrokers { replication, brokers: n });
    }
    let mut shift = shift;
    let mut assignment = Vec::new();
    for partition in 0..partitions {
        if partition > 0 && partition % n == 0 {
            shift += 1;
        }
        let first = (partition + start) % n;
        let at = |index: u32| brokers[index as usize];
        let others = (0..replication - 1).map(|replica| {
            let distance = 1 + (shift + replica) % (n - 1);
            at((first + distance) % n)
        });
        assignment.push(std::iter::once(at(first)).chain(others).collect());
    }
    Ok(assignment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_partitions_on_three_brokers() {
        let placed = assign(&[1, 2, 3], 4, 2, 0, 0);
        assert_eq!(placed, Ok(vec![vec![1, 2], vec![2, 3], vec![3, 1], vec![1, 3]]));
    }

    #[test]
    fn every_copy_is_on_another_broker() {
        for n in 1..8_u32 {
            let brokers: Vec<u32> = (0..n).map(|i| i * 10).collect();
            for replication in 1..=n {
                for replicas in assign(&brokers, 30, replication, 1, 2).unwrap() {
                    let mut distinct = replicas.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), replication as usize, "{replicas:?}");
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
    }
}
