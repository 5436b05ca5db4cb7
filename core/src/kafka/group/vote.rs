//! Which assignor a classic group takes. [spec group-protocol.md B7]

use std::collections::BTreeMap;

/// Each member votes for the first in its list that all members have; most votes win. All that
/// come first, by name: which of them a real coordinator takes is the order of a map. Empty if
/// members have nothing in common, or there is none.
pub fn select_protocol<'a>(lists: &[Vec<&'a str>]) -> Vec<&'a str> {
    let Some(first) = lists.first() else { return Vec::new() };
    let common: Vec<&str> = (first.iter().copied())
        .filter(|name| lists.iter().all(|list| list.contains(name)))
        .collect();
    let mut votes: BTreeMap<&str, u32> = BTreeMap::new();
    for list in lists {
        if let Some(name) = list.iter().find(|name| common.contains(name)) {
            *votes.entry(name).or_default() += 1;
        }
    }
    let most = votes.values().copied().max();
    votes.into_iter().filter(|(_, count)| Some(*count) == most).map(|(name, _)| name).collect()
}
