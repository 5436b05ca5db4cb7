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

// --- Properties ----------------------------------------------------------------------------------

/// Numbers that look drawn, the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as u32 % end.max(1)
    }

    fn racks(&mut self, count: u32) -> Racks {
        (0..count).map(|_| format!("r{}", self.below(3))).collect()
    }

    fn topics(&mut self, with_racks: bool) -> Topics {
        let topic = |at: u32| {
            let partitions = self.below(9);
            let racks = if with_racks { partitions } else { 0 };
            let racks = (0..racks).map(|_| self.racks(2)).collect();
            (format!("t{at}"), Topic { partitions, racks })
        };
        (0..4).map(topic).collect()
    }

    fn members(&mut self, alike: bool, with_racks: bool) -> Vec<Member> {
        let count = self.below(7) + 1;
        let member = |at: u32| Member {
            id: format!("m{}", at * 7 % 10),
            instance: (self.below(4) == 0).then(|| format!("i{}", at * 3 % 10)),
            rack: (with_racks && self.below(4) > 0).then(|| format!("r{}", self.below(3))),
            topics: (0..5)
                .filter(|_| alike || self.below(3) > 0)
                .map(|topic| format!("t{topic}"))
                .collect(),
            ..Member::default()
        };
        (0..count).map(member).collect()
    }
}

type Rule = fn(&Topics, &[Member]) -> Assignment;

const RULES: [Rule; 6] = [
    range,
    round_robin,
    |topics, members| sticky(topics, members, Protocol::Eager).target,
    |topics, members| sticky(topics, members, Protocol::Cooperative).target,
    |topics, members| uniform(&with_all(topics, members), members).unwrap(),
    |topics, members| server_range(&with_all(topics, members), members).unwrap(),
];
const STICKY: std::ops::Range<usize> = 2..5;

/// The server wants every topic to exist.
fn with_all(topics: &Topics, members: &[Member]) -> Topics {
    let mut topics = topics.clone();
    for topic in members.iter().flat_map(|member| &member.topics) {
        topics.entry(topic.clone()).or_default();
    }
    topics
}

fn size(partitions: &Partitions) -> usize {
    partitions.values().map(Vec::len).sum()
}

/// Every partition of a topic that somebody subscribes to is a subscriber's, once.
fn assert_valid(topics: &Topics, members: &[Member], given: &Assignment) {
    let mut seen = BTreeSet::new();
    for member in members {
        for (topic, list) in &given[&member.id] {
            assert!(member.topics.contains(topic), "{} has {topic}", member.id);
            for partition in list {
                assert!(*partition < topics[topic].partitions);
                assert!(seen.insert((topic.clone(), *partition)), "{topic}-{partition} twice");
            }
        }
    }
    let wanted = topics
        .iter()
        .filter(|(name, _)| members.iter().any(|member| member.topics.contains(name)))
        .map(|(_, topic)| topic.partitions as usize)
        .sum::<usize>();
    assert_eq!(seen.len(), wanted);
}

#[test]
fn what_is_given_is_whole_even_and_the_same_in_any_order() {
    let mut draw = Draw(1);
    for round in 0..600 {
        let (alike, with_racks) = (round % 2 == 0, round % 3 == 0);
        let (topics, mut members) = (draw.topics(with_racks), draw.members(alike, with_racks));
        for (at, rule) in RULES.iter().enumerate() {
            let given = rule(&topics, &members);
            assert_valid(&topics, &members, &given);
            members.reverse();
            assert_eq!(rule(&topics, &members), given);
            if alike && (at == 1 || STICKY.contains(&at)) {
                let sizes = || given.values().map(size);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            }
        }
    }
}

/// With equal subscriptions and no racks as many partitions stay as can.
#[test]
fn what_can_stay_stays() {
    let mut draw = Draw(2);
    for _ in 0..300 {
        let (topics, mut members) = (draw.topics(false), draw.members(true, false));
        for rule in &RULES[STICKY] {
            let before = rule(&topics, &members);
            for member in &mut members {
                member.owned = before[&member.id].clone();
                (member.generation, member.subscription_generation) = (Some(1), Some(1));
            }
            assert_eq!(rule(&topics, &members), before);
            let mut grown = members.clone();
            grown.push(Member { id: "new".into(), owned: Partitions::new(), ..grown[0].clone() });
            grown[members.len()].instance = None;
            let after = rule(&topics, &grown);
            let (all, count) = (after.values().map(size).sum::<usize>(), grown.len());
            let stayed = |member: &Member| {
                let own = after[&member.id].iter();
                let kept = own.map(|(topic, list)| {
                    let had = member.owned.get(topic);
                    list.iter().filter(|p| had.is_some_and(|had| had.contains(p))).count()
                });
                kept.sum::<usize>()
            };
            let over = members.iter().filter(|m| size(&m.owned) > all / count).count();
            let most = members.iter().map(|m| size(&m.owned).min(all / count)).sum::<usize>()
                + over.min(all % count);
            assert_eq!(members.iter().map(stayed).sum::<usize>(), most);
            members.iter_mut().for_each(|member| member.owned = Partitions::new());
        }
    }
}

/// `cargo test --release -p kafkascope-core --lib how_long -- --ignored --nocapture`
#[test]
#[ignore = "prints times"]
fn how_long_large_groups_take() {
    for (count, names) in [(100_000, 1), (1000, 100)] {
        let topic = |at| (format!("t{at:03}"), Topic { partitions: count, racks: Vec::new() });
        let topics: Topics = (0..names).map(topic).collect();
        let mut members: Vec<Member> = (0..1000)
            .map(|at| Member {
                id: format!("m{at:04}"),
                topics: topics.keys().cloned().collect(),
                generation: Some(1),
                subscription_generation: Some(1),
                ..Member::default()
            })
            .collect();
        let run = |name: &str, members: &[Member]| {
            for (at, rule) in RULES.iter().enumerate() {
                let begun = std::time::Instant::now();
                let given = rule(&topics, members);
                println!("{name} {names} topics, rule {at}: {:?}", begun.elapsed());
                assert_eq!(given.len(), members.len());
            }
        };
        run("new", &members);
        let given = RULES[2](&topics, &members);
        for member in &mut members {
            member.owned = given[&member.id].clone();
        }
        members.pop();
        run("left", &members);
        for (at, member) in members.iter_mut().enumerate() {
            if names > 1 {
                member.topics.retain(|topic| at % 2 == 0 || &topic[..] < "t050");
            }
            member.owned = Partitions::new();
        }
        run("different", &members);
    }
}
