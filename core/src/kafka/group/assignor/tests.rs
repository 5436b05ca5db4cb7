use super::*;

fn topics(counts: &[(&str, u32)]) -> Topics {
    let topic = |(name, partitions): &(&str, u32)| {
        ((*name).to_owned(), Topic { partitions: *partitions, racks: Vec::new() })
    };
    counts.iter().map(topic).collect()
}

fn member(id: &str, topics: &[&str]) -> Member {
    let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
    Member { id: id.to_owned(), topics, ..Member::default() }
}

fn lists(assignment: &Assignment, topic: &str) -> Vec<Vec<u32>> {
    let of = |own: &Partitions| own.get(topic).cloned().unwrap_or_default();
    assignment.values().map(of).collect()
}

#[test]
fn range_piles_the_extras_on_the_first() {
    let (topics, both) = (topics(&[("a", 3), ("b", 3)]), ["a", "b", "none"]);
    let given = range(&topics, &[member("2", &both), member("1", &both)]);
    assert_eq!(lists(&given, "a"), [vec![0, 1], vec![2]]);
    assert_eq!(lists(&given, "b"), [vec![0, 1], vec![2]]);
}

#[test]
fn round_robin_goes_on_past_the_receiver() {
    let topics = topics(&[("a", 1), ("b", 2)]);
    let given = round_robin(&topics, &[member("1", &["a", "b"]), member("2", &["b"])]);
    assert_eq!(lists(&given, "b"), [vec![1], vec![0]]);
    assert_eq!(round_robin(&topics, &[]), Assignment::new());
}

#[test]
fn cooperative_members_give_up_before_another_gets() {
    let topics = topics(&[("t", 4)]);
    let owner = Member {
        owned: Partitions::from([("t".to_owned(), vec![0, 1, 2, 3])]),
        subscription_generation: Some(1),
        ..member("1", &["t"])
    };
    let given = sticky(&topics, &[owner, member("2", &["t"])], Protocol::Cooperative);
    assert_eq!(lists(&given.target, "t"), [vec![0, 1], vec![2, 3]]);
    assert_eq!(lists(&given.handed_out, "t"), [vec![0, 1], vec![]]);
}

#[test]
fn nobody_to_give_to_is_no_trouble() {
    let topics = topics(&[("t", 4)]);
    for protocol in [Protocol::Eager, Protocol::Cooperative] {
        assert_eq!(sticky(&topics, &[], protocol).target, Assignment::new());
        let given = sticky(&topics, &[member("1", &[]), member("2", &["t"])], protocol);
        assert_eq!(lists(&given.target, "t"), [vec![], vec![0, 1, 2, 3]]);
    }
}
