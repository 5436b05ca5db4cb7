//! What members say they own. [spec group-protocol.md F3, Owned claims]

use super::super::Numbered;
use super::Protocol;

const UNKNOWN: i32 = -1;

/// What remains of the claims.
pub struct Claims {
    /// Partitions that a member keeps a right to, in the order it named them.
    pub owned: Vec<Vec<u32>>,
    /// All that a member says it owns, as far as it exists.
    pub said: Vec<Vec<u32>>,
    /// Partitions that two members claimed in one generation: nobody's, by number.
    pub disputed: Vec<bool>,
    /// A former owner by the next older generation.
    pub previous: Vec<Option<u32>>,
}

impl Claims {
    /// The higher generation keeps a partition, the same one loses it for both. The generation of
    /// the claimant walked first is read from its subscription, that of the later one from where
    /// the protocol has it. [spec group-protocol.md F3, F5]
    pub fn new(group: &Numbered<'_>, protocol: Protocol) -> Claims {
        let partitions = group.partitions() as usize;
        let generations: Vec<Option<i32>> = (group.members.iter())
            .map(|member| match protocol {
                Protocol::Eager => member.generation,
                Protocol::Cooperative => member.subscription_generation.or(member.generation),
            })
            .collect();
        let said: Vec<Vec<u32>> = (group.members.iter())
            .map(|member| {
                let owned = member.owned.iter();
                let known = owned.filter_map(|(topic, list)| Some((group.topic(topic)?, list)));
                known.flat_map(|(topic, list)| group.existing(topic, list)).collect()
            })
            .collect();
        let mut disputed = vec![false; partitions];
        let mut claimant: Vec<Option<u32>> = vec![None; partitions];
        // A dispute's last claimant is remembered, though the partition is not its own.
        let mut is_own = vec![false; partitions];
        for (member, numbers) in (0u32..).zip(&said) {
            let generation = generations[member as usize].unwrap_or(UNKNOWN);
            for number in numbers.iter().map(|number| *number as usize) {
                let Some(other) = claimant[number] else {
                    (claimant[number], is_own[number]) = (Some(member), true);
                    continue;
                };
                let others = group.members[other as usize].subscription_generation;
                match generation.cmp(&others.unwrap_or(UNKNOWN)) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => {
                        disputed[number] = true;
                        (claimant[number], is_own[number]) = (Some(member), false);
                    }
                    std::cmp::Ordering::Greater => {
                        (claimant[number], is_own[number]) = (Some(member), true);
                    }
                }
            }
        }
        let keeps = |member: u32, number: &u32| {
            is_own[*number as usize] && claimant[*number as usize] == Some(member)
        };
        let owned = (0..).zip(&said).map(|(member, numbers)| {
            numbers.iter().copied().filter(|number| keeps(member, number)).collect()
        });
        let owned = owned.collect();
        let previous = previous(partitions, &generations, &said);
        Claims { owned, said, disputed, previous }
    }
}

/// Who says it owns a partition: nobody, one, or several.
#[derive(Clone, Copy, Default)]
pub struct Claimants {
    first: Option<u32>,
    more: bool,
}

impl Claimants {
    /// Whether somebody else than this member says so.
    pub fn has_but(self, member: u32) -> bool {
        self.more || self.first.is_some_and(|first| first != member)
    }
}

impl Claims {
    /// By the partition's number.
    pub fn claimants(&self) -> Vec<Claimants> {
        let mut all = vec![Claimants::default(); self.disputed.len()];
        for (member, numbers) in (0..).zip(&self.said) {
            for number in numbers {
                let claimants = &mut all[*number as usize];
                claimants.more |= claimants.has_but(member);
                claimants.first.get_or_insert(member);
            }
        }
        all
    }
}

/// Of claims older than the newest generation of all, the newest one for each partition.
fn previous(partitions: usize, generations: &[Option<i32>], said: &[Vec<u32>]) -> Vec<Option<u32>> {
    let newest = generations.iter().flatten().copied().max().unwrap_or(UNKNOWN);
    let mut found: Vec<Option<(i32, u32)>> = vec![None; partitions];
    for ((member, generation), numbers) in (0..).zip(generations).zip(said) {
        let generation = generation.unwrap_or(UNKNOWN);
        if generation >= newest {
            continue;
        }
        for number in numbers {
            let entry = &mut found[*number as usize];
            if entry.is_none_or(|(older, _)| older < generation) {
                *entry = Some((generation, member));
            }
        }
    }
    found.into_iter().map(|entry| entry.map(|(_, member)| member)).collect()
}
