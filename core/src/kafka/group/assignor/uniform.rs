//! The assignors of the server, KIP-848: uniform as in 4.4.0, and range. What a member has at
//! present stands in `owned`. [spec group-protocol.md G10, G11]

use super::{Assignment, Member, Numbered, Topics, by_id, range, static_first};

/// A member subscribes to a topic that does not exist: there is no assignment at all.
/// [spec group-protocol.md G11]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchTopic;

fn all_exist(topics: &Topics, members: &[Member]) -> Result<(), NoSuchTopic> {
    let mut wanted = members.iter().flat_map(|member| &member.topics);
    if wanted.all(|topic| topics.contains_key(topic)) { Ok(()) } else { Err(NoSuchTopic) }
}

/// Range of the server: as that of the clients, without racks. [spec group-protocol.md G11]
pub fn server_range(topics: &Topics, members: &[Member]) -> Result<Assignment, NoSuchTopic> {
    all_exist(topics, members)?;
    let group = Numbered::new(topics, static_first(members));
    Ok(group.named(range::plain(&group)))
}

/// Uniform: by the same topics or by different ones. [spec group-protocol.md G10]
pub fn uniform(topics: &Topics, members: &[Member]) -> Result<Assignment, NoSuchTopic> {
    let group = Numbered::new(topics, by_id(members));
    let mut subscriptions = group.subscriptions.iter();
    let first = subscriptions.next();
    if subscriptions.all(|topics| Some(topics) == first) {
        uniform_by_same_topics(topics, members)
    } else {
        uniform_by_different_topics(topics, members)
    }
}

/// What each member has at present, as far as it subscribes to it still: ascending.
fn present(group: &Numbered<'_>) -> Vec<Vec<u32>> {
    let of = |(who, subscription): (&&Member, &Vec<u32>)| {
        let known = who.owned.iter().filter_map(|(name, list)| Some((group.topic(name)?, list)));
        let kept = known.filter(|(topic, _)| subscription.binary_search(topic).is_ok());
        let mut numbers: Vec<u32> =
            kept.flat_map(|(topic, list)| group.existing(topic, list)).collect();
        numbers.sort_unstable();
        numbers
    };
    group.members.iter().zip(&group.subscriptions).map(of).collect()
}

/// Everybody keeps what it has up to its quota; one more than the floor goes to who has enough
/// for it already, and to the last ones walked. The rest fills those with room, first what nobody
/// had, then what was given up. [spec group-protocol.md G10]
pub fn uniform_by_same_topics(
    topics: &Topics,
    members: &[Member],
) -> Result<Assignment, NoSuchTopic> {
    all_exist(topics, members)?;
    let group = Numbered::new(topics, by_id(members));
    let (partitions, count) = (group.partitions(), members.len() as u32);
    let mut given = present(&group);
    let mut is_held = vec![false; partitions as usize];
    for number in given.iter().flatten() {
        is_held[*number as usize] = true;
    }
    let mut pool: Vec<u32> = (0..partitions).filter(|number| !is_held[*number as usize]).collect();
    let floor = partitions.checked_div(count).unwrap_or(0);
    let mut extras = partitions.checked_rem(count).unwrap_or(0);
    let mut room = Vec::new();
    for (member, own) in (0u32..).zip(&mut given) {
        let may = floor + u32::from(extras > 0);
        let has = own.len() as u32;
        let left = if has >= may {
            pool.extend(own.drain(may as usize..));
            extras = extras.saturating_sub(1);
            0
        } else if extras > 0 && count - member > extras {
            // Enough members are to come for the extras.
            may - 1 - has
        } else {
            extras = extras.saturating_sub(1);
            may - has
        };
        room.push(left as usize);
    }
    let mut pool = pool.into_iter();
    for (own, left) in given.iter_mut().zip(room) {
        own.extend(pool.by_ref().take(left));
    }
    Ok(group.named(given))
}

/// How often all topics are levelled at most. [spec group-protocol.md G10]
const SWEEPS: u32 = 16;

/// Everybody keeps what it has. Topics with the most partitions for a subscriber first, what
/// nobody has goes to the subscribers with the least; then topics are levelled in the same order
/// until nothing moves. [spec group-protocol.md G10]
pub fn uniform_by_different_topics(
    topics: &Topics,
    members: &[Member],
) -> Result<Assignment, NoSuchTopic> {
    all_exist(topics, members)?;
    let group = Numbered::new(topics, by_id(members));
    let mut owner: Vec<Option<u32>> = vec![None; group.partitions() as usize];
    for (member, numbers) in (0..).zip(present(&group)) {
        for number in numbers {
            owner[number as usize] = Some(member);
        }
    }
    let mut count = vec![0; members.len()];
    for member in owner.iter().flatten() {
        count[*member as usize] += 1;
    }
    let order = most_for_each_first(&group);
    for topic in &order {
        let mut level = Level::new(&group.subscribers[*topic as usize], &count);
        for number in group.of_topic(*topic) {
            if owner[number as usize].is_none() {
                let Some(member) = level.next_least(&count) else { break };
                owner[number as usize] = Some(member);
                count[member as usize] += 1;
            }
        }
    }
    level_all(&group, &order, &mut owner, &mut count);
    let mut given = vec![Vec::new(); members.len()];
    for (number, member) in (0u32..).zip(owner) {
        if let Some(member) = member {
            given[member as usize].push(number);
        }
    }
    Ok(group.named(given))
}

/// Topics by partitions for each subscriber, the most first; then by subscribers, then by name.
fn most_for_each_first(group: &Numbered<'_>) -> Vec<u32> {
    let sizes = |topic: &u32| {
        let subscribers = group.subscribers[*topic as usize].len() as u64;
        (u64::from(group.topics[*topic as usize].1), subscribers)
    };
    let mut topics: Vec<u32> = (0..group.topics.len() as u32).collect();
    topics.sort_by(|a, b| {
        let (a, b) = (sizes(a), sizes(b));
        (b.0 * a.1).cmp(&(a.0 * b.1)).then(a.1.cmp(&b.1))
    });
    topics
}

/// Sweeps over the topics that have two subscribers or more, until a whole round of them moved
/// nothing.
fn level_all(group: &Numbered<'_>, order: &[u32], owner: &mut [Option<u32>], count: &mut [i64]) {
    let shared = |topic: &&u32| group.subscribers[**topic as usize].len() >= 2;
    let shared: Vec<u32> = order.iter().filter(shared).copied().collect();
    let mut last_moved = None;
    for _ in 0..SWEEPS {
        for topic in &shared {
            if last_moved == Some(topic) {
                return;
            }
            if level_topic(group, *topic, owner, count) || last_moved.is_none() {
                last_moved = Some(topic);
            }
        }
    }
}

/// Moves partitions of a topic, the highest number first, from the subscriber with the most to
/// the one with the least, until they are at most 1 apart. Whether anything moved.
fn level_topic(
    group: &Numbered<'_>,
    topic: u32,
    owner: &mut [Option<u32>],
    count: &mut [i64],
) -> bool {
    let subscribers = &group.subscribers[topic as usize];
    let counts = || subscribers.iter().map(|member| count[*member as usize]);
    if counts().max().unwrap_or(0) - counts().min().unwrap_or(0) <= 1 {
        return false;
    }
    let mut level = Level::new(subscribers, count);
    let mut owned: Vec<Vec<u32>> = vec![Vec::new(); count.len()];
    for number in group.of_topic(topic) {
        if let Some(member) = owner[number as usize] {
            owned[member as usize].push(number);
        }
    }
    let mut moved = false;
    loop {
        let number = loop {
            let Some(member) = level.next_most(count) else { return moved };
            match owned[member as usize].pop() {
                Some(number) => break number,
                None => level.exclude_most(),
            }
        };
        let Some(to) = level.next_least(count) else { return moved };
        if level.is_even() {
            return moved;
        }
        if let Some(from) = owner[number as usize].replace(to) {
            count[from as usize] -= 1;
        }
        count[to as usize] += 1;
        moved = true;
    }
}

/// Subscribers by how much they have. From the left a range with the least fills up and grows,
/// from the right one with the most empties and grows.
struct Level {
    sorted: Vec<u32>,
    least_end: usize,
    least_level: i64,
    least_next: usize,
    most_start: usize,
    most_end: usize,
    most_level: i64,
    /// One behind the next one that gives.
    most_next: usize,
}

impl Level {
    fn new(subscribers: &[u32], count: &[i64]) -> Level {
        let mut sorted = subscribers.to_vec();
        sorted.sort_by_key(|member| (count[*member as usize], *member));
        let of = |member: Option<&u32>| member.map_or(0, |member| count[*member as usize]);
        let (least, most) = (of(sorted.first()), of(sorted.last()));
        Level {
            least_end: 0,
            least_level: least - 1,
            least_next: 0,
            most_start: sorted.len(),
            most_end: sorted.len(),
            most_level: most + 1,
            most_next: sorted.len(),
            sorted,
        }
    }

    fn count_at(&self, at: usize, count: &[i64]) -> Option<i64> {
        self.sorted.get(at).map(|member| count[*member as usize])
    }

    fn next_least(&mut self, count: &[i64]) -> Option<u32> {
        if self.least_next >= self.least_end {
            self.least_level += 1;
            while self.count_at(self.least_end, count) == Some(self.least_level) {
                self.least_end += 1;
            }
            self.least_next = 0;
        }
        self.least_next += 1;
        self.sorted.get(self.least_next - 1).copied()
    }

    fn next_most(&mut self, count: &[i64]) -> Option<u32> {
        if self.most_next <= self.most_start {
            match self.most_start.checked_sub(1) {
                // Who was there had nothing to give.
                Some(at) if self.most_end <= self.most_start => {
                    self.most_level = self.count_at(at, count)?;
                }
                _ => self.most_level -= 1,
            }
            while let Some(at) = self.most_start.checked_sub(1)
                && self.count_at(at, count) == Some(self.most_level)
            {
                self.most_start = at;
            }
            self.most_next = self.most_end;
        }
        self.most_next = self.most_next.checked_sub(1)?;
        self.sorted.get(self.most_next).copied()
    }

    /// The one that came last has nothing to give.
    fn exclude_most(&mut self) {
        if let Some(end) = self.most_end.checked_sub(1) {
            self.sorted.swap(self.most_next, end);
            self.most_end = end;
        }
    }

    fn is_even(&self) -> bool {
        self.most_level - self.least_level <= 1
    }
}
