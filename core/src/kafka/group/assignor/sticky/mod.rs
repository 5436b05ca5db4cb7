//! Sticky and cooperative-sticky: as even as can be first, then as few moves as can be.
//! [spec group-protocol.md F3-F5]

mod claims;
mod equal;
mod unequal;

use super::{Assignment, Member, Numbered, Topics, by_id};
use claims::Claims;

/// Where members say what they own, and what becomes of what moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Sticky: owned partitions and generation travel in the assignor's own data.
    Eager,
    /// Cooperative-sticky: both travel in the subscription.
    Cooperative,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sticky {
    /// Who has what in the end.
    pub target: Assignment,
    /// What is handed out in this round: for cooperative members without what another live
    /// member has to give up first. [spec group-protocol.md F4]
    pub handed_out: Assignment,
}

/// Partitions by member, and who newly gets what another live member gives up.
struct Dealt {
    given: Vec<Vec<u32>>,
    moving: Vec<(u32, u32)>,
}

/// [spec group-protocol.md F3, F4]
pub fn sticky(topics: &Topics, members: &[Member], protocol: Protocol) -> Sticky {
    let group = Numbered::new(topics, by_id(members));
    let claims = Claims::new(&group, protocol);
    let others = match protocol {
        Protocol::Eager => Vec::new(),
        Protocol::Cooperative => claims.claimants(),
    };
    let dealt = if all_subscribe_alike(&group.members) {
        equal::deal(&group, claims)
    } else {
        unequal::deal(&group, claims)
    };
    let handed_out = match protocol {
        Protocol::Eager => None,
        Protocol::Cooperative => {
            let mut given = dealt.given.clone();
            let mut moving = dealt.moving;
            moving.retain(|(member, number)| others[*number as usize].has_but(*member));
            moving.sort_unstable();
            for member in moving.chunk_by(|a, b| a.0 == b.0) {
                let is_held = |number: &u32| {
                    member.binary_search_by_key(number, |(_, moving)| *moving).is_ok()
                };
                given[member[0].0 as usize].retain(|number| !is_held(number));
            }
            Some(group.named(given))
        }
    };
    let target = group.named(dealt.given);
    Sticky { handed_out: handed_out.unwrap_or_else(|| target.clone()), target }
}

/// Whether all name the same topics, existing or not. [spec group-protocol.md F3]
fn all_subscribe_alike(members: &[&Member]) -> bool {
    let sorted = |member: &&Member| {
        let mut topics = member.topics.clone();
        topics.sort_unstable();
        topics.dedup();
        topics
    };
    let mut all = members.iter().map(sorted);
    let first = all.next().unwrap_or_default();
    all.all(|topics| topics == first)
}
