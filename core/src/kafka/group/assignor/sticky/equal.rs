//! All members subscribe to the same topics. [spec group-protocol.md F3, constrained]

use std::collections::VecDeque;

use super::super::Numbered;
use super::{Claims, Dealt};

struct Deal<'a, 'b> {
    group: &'a Numbered<'b>,
    given: Vec<Vec<u32>>,
    moving: Vec<(u32, u32)>,
    /// Partitions that go to another one's hands: given up, or disputed.
    let_go: Vec<bool>,
    disputed: Vec<bool>,
    least: u32,
    most: u32,
    /// How many members may have one more than the least, and how many have.
    may_have_more: u32,
    have_more: u32,
    /// Members below the least.
    under: Vec<u32>,
    /// Members at the least that may get one more.
    at_least: VecDeque<u32>,
    by_rack: bool,
}

/// [spec group-protocol.md F3]
pub fn deal(group: &Numbered<'_>, claims: Claims) -> Dealt {
    let (partitions, members) = (group.partitions(), group.members.len() as u32);
    let Some(least) = partitions.checked_div(members) else {
        return Dealt { given: Vec::new(), moving: Vec::new() };
    };
    let mut deal = Deal {
        group,
        given: vec![Vec::new(); members as usize],
        moving: Vec::new(),
        let_go: claims.disputed.clone(),
        disputed: claims.disputed,
        least,
        most: partitions.div_ceil(members),
        may_have_more: partitions % members,
        have_more: 0,
        under: Vec::new(),
        at_least: VecDeque::new(),
        by_rack: group.racks.matter(0..members, 0..partitions),
    };
    deal.keep(claims.owned);
    let mut taken = vec![false; partitions as usize];
    for number in deal.given.iter().flatten() {
        taken[*number as usize] = true;
    }
    let mut free: Vec<u32> = (0..partitions).filter(|number| !taken[*number as usize]).collect();
    if deal.by_rack {
        deal.fewest_homes_first(&mut free);
        let mut turn = Turn { next: 0 };
        free.retain(|number| !deal.give_by_rack(*number, &mut turn));
    }
    deal.give_in_turn(&free);
    Dealt { given: deal.given, moving: deal.moving }
}

impl Deal<'_, '_> {
    /// Walks the members: each keeps what it owned as far as its share goes.
    /// [spec group-protocol.md F3]
    fn keep(&mut self, owned: Vec<Vec<u32>>) {
        let topic_of = self.group.topic_of_each();
        for (member, mut own) in (0u32..).zip(owned) {
            // A dispute outlives even a newer claim that is walked later. [F5]
            own.retain(|number| !self.disputed[*number as usize]);
            if self.by_rack {
                let racks = &self.group.racks;
                let (fit, stray) = own.into_iter().partition(|number| racks.fit(member, *number));
                own = fit;
                self.let_go(stray);
            }
            own.sort_unstable_by_key(|number| {
                let topic = topic_of[*number as usize];
                (number - self.group.bases[topic as usize], topic)
            });
            let may = self.have_more < self.may_have_more;
            let keeps = match own.len() as u32 {
                count if count < self.least => {
                    self.under.push(member);
                    count
                }
                count if count >= self.most && may => {
                    self.have_more += 1;
                    if self.have_more == self.may_have_more {
                        self.at_least.clear();
                    }
                    self.most
                }
                _ => {
                    if may {
                        self.at_least.push_back(member);
                    }
                    self.least
                }
            };
            self.let_go(own.split_off(keeps as usize));
            self.given[member as usize] = own;
        }
    }

    fn let_go(&mut self, numbers: Vec<u32>) {
        for number in numbers {
            self.let_go[number as usize] = true;
        }
    }

    fn give(&mut self, number: u32, member: u32) -> u32 {
        if self.let_go[number as usize] {
            self.moving.push((member, number));
        }
        let given = &mut self.given[member as usize];
        given.push(number);
        given.len() as u32
    }

    /// Partitions that fit few members come first. [spec group-protocol.md F3, racks]
    fn fewest_homes_first(&self, free: &mut [u32]) {
        let racks = &self.group.racks;
        let mut members = vec![0u32; racks.count as usize];
        for rack in racks.of_member.iter().flatten() {
            members[*rack as usize] += 1;
        }
        free.sort_by_cached_key(|number| {
            let homes = racks.of_partition[*number as usize].iter();
            homes.map(|rack| members[*rack as usize]).sum::<u32>()
        });
    }
}

/// Members waiting for partitions while racks count.
struct Turn {
    next: usize,
}

impl Deal<'_, '_> {
    fn is_home(&self, number: u32, member: u32) -> bool {
        let racks = &self.group.racks;
        let rack = racks.of_member[member as usize];
        rack.is_some_and(|rack| racks.of_partition[number as usize].binary_search(&rack).is_ok())
    }

    /// To the next member below the least whose rack it fits, else to the first that may have one
    /// more. Whether somebody took it. [spec group-protocol.md F3, racks]
    fn give_by_rack(&mut self, number: u32, turn: &mut Turn) -> bool {
        let count = self.under.len();
        let places = (0..count).map(|at| (turn.next + at) % count);
        let found = places.into_iter().find(|at| self.is_home(number, self.under[*at]));
        if let Some(at) = found {
            let member = self.under[at];
            let has = self.give(number, member);
            turn.next = at + 1;
            if has >= self.least {
                self.under.remove(at);
                turn.next = at;
                if has < self.most {
                    self.at_least.push_back(member);
                }
            }
            turn.next = turn.next.checked_rem(self.under.len()).unwrap_or(0);
            return true;
        }
        if self.have_more >= self.may_have_more {
            return false;
        }
        let found = self.at_least.iter().position(|member| self.is_home(number, *member));
        let Some(member) = found.and_then(|at| self.at_least.remove(at)) else { return false };
        self.give(number, member);
        self.have_more += 1;
        true
    }

    /// Round and round those below the least, then one more each for those at it.
    /// [spec group-protocol.md F3]
    fn give_in_turn(&mut self, free: &[u32]) {
        let mut free = free.iter().copied();
        let mut under = std::mem::take(&mut self.under);
        while !under.is_empty() {
            let mut still = Vec::with_capacity(under.len());
            for member in under {
                let Some(number) = free.next() else { return };
                if self.give(number, member) < self.least {
                    still.push(member);
                } else {
                    self.at_least.push_back(member);
                }
            }
            under = still;
        }
        for number in free {
            let Some(member) = self.at_least.pop_front() else { return };
            self.give(number, member);
        }
    }
}
