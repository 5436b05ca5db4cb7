//! The steps of a branch, found once and kept: rows are only ever added.

use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::world::Row;

use crate::engine::scenario::Origin;
use crate::words::{self, Giver};

#[derive(Debug, Default)]
pub struct Index {
    run: u32,
    branch: Option<BranchId>,
    seen: usize,
    /// Rows that are steps.
    pub steps: Vec<u32>,
    /// Rows that are commands, rising, and who gave them.
    given: Vec<(u32, Giver)>,
}

impl Index {
    /// Looks at the rows that are new.
    pub fn update(&mut self, lab: &Lab, run: u32, origin: Origin) {
        let rows = lab.all_rows();
        if self.run != run || self.branch != Some(lab.current_branch()) || self.seen > rows.len() {
            *self = Index { run, branch: Some(lab.current_branch()), ..Index::default() };
        }
        for (index, row) in rows.iter().enumerate().skip(self.seen) {
            let number = u32::try_from(index).unwrap_or(u32::MAX);
            if !row.detail {
                self.steps.push(number);
            }
            if words::is_command(row) {
                self.given.push((number, words::giver_of(lab.branch(), self.given.len(), origin)));
            }
        }
        self.seen = rows.len();
    }

    pub fn giver(&self, row: u32) -> Giver {
        let place = self.given.binary_search_by_key(&row, |(row, _)| *row);
        place.ok().and_then(|place| self.given.get(place)).map_or(Giver::default(), |one| one.1)
    }

    /// The place of the last step at or before `row`.
    pub fn place(&self, row: u32) -> usize {
        self.steps.partition_point(|step| *step <= row).saturating_sub(1)
    }
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Row(u32),
    /// Details from one row to another.
    Fold(u32, u32),
}

/// The lines of some steps, with what lies between them folded or not.
pub fn entries(
    index: &Index,
    rows: &[Row],
    from: usize,
    to: usize,
    unfolded: &dyn Fn(u32) -> bool,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for place in from..to.min(index.steps.len()) {
        let step = index.steps[place];
        let after = place.checked_sub(1).map_or(0, |before| index.steps[before] + 1);
        fold(&mut entries, after, step, unfolded);
        entries.push(Entry::Row(step));
    }
    // What came after the last step.
    if to >= index.steps.len() {
        let after = index.steps.last().map_or(0, |last| last + 1);
        let end = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        fold(&mut entries, after, end, unfolded);
    }
    entries
}

fn fold(entries: &mut Vec<Entry>, after: u32, before: u32, unfolded: &dyn Fn(u32) -> bool) {
    if after >= before {
        return;
    }
    entries.push(Entry::Fold(after, before));
    if unfolded(after) {
        entries.extend((after..before).take(MOST).map(Entry::Row));
    }
}

/// Details that one fold shows at most.
const MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scenario;

    #[test]
    fn every_row_is_a_step_or_lies_in_a_fold() {
        let mut lab = scenario::ALL[0].lab();
        let _ = lab.advance(kafkascope_core::base::Instant(3_000_000), 1_000_000);
        let mut index = Index::default();
        index.update(&lab, 0, Origin::Scenario(0));
        let all = entries(&index, lab.all_rows(), 0, usize::MAX, &|_| false);
        let mut next = 0;
        for entry in all {
            match entry {
                Entry::Row(row) => {
                    assert_eq!(row, next);
                    next += 1;
                }
                Entry::Fold(from, to) => {
                    assert_eq!(from, next);
                    next = to;
                }
            }
        }
        assert_eq!(next as usize, lab.all_rows().len());
    }

    #[test]
    fn found_bit_by_bit_is_found_at_once() {
        let mut lab = scenario::ALL[0].lab();
        let mut bits = Index::default();
        for at in 1..30 {
            let _ = lab.advance(kafkascope_core::base::Instant(at * 100_000), 1_000_000);
            bits.update(&lab, 0, Origin::Scenario(0));
        }
        let mut once = Index::default();
        once.update(&lab, 0, Origin::Scenario(0));
        assert_eq!(bits.steps, once.steps);
    }
}
