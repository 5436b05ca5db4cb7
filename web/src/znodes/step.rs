//! What changed in the step that is being looked at, as the rows and the zxids tell.

use std::collections::{BTreeMap, BTreeSet};

use kafkascope_core::lab::Lab;
use kafkascope_core::world::{Event, Row, ZkEvent};
use kafkascope_core::zk::op::{Path, Zxid};
use kafkascope_core::zk::tree::{Tree, Znode};

/// How far back a step is looked for: an idle cluster has little but pings.
const ROWS_BACK: usize = 20_000;
/// Larger worlds don't look at what was before while they play.
const FEW_PROCS: usize = 16;

/// The step: everything after the step before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The last event of the step before.
    pub after: u64,
    /// The first zxid that was used in it.
    pub first_zxid: Option<Zxid>,
    /// What was deleted in it, there again or not.
    pub deleted: BTreeSet<Path>,
    /// How many sessions were told of a watch at a path.
    pub fired: BTreeMap<Path, u32>,
    /// Some node got new data.
    pub data_set: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    New,
    /// Deleted and created anew.
    Again,
    Data,
    Gone,
}

pub fn of(lab: &Lab) -> Step {
    let rows = lab.rows();
    let mut steps = rows.iter().rev().take(ROWS_BACK).filter(|row| !row.detail);
    let Some(last) = steps.next() else { return Step::default() };
    let before = steps.find(|row| row.event_no < last.event_no);
    let after = before.map_or(0, |row| row.event_no);
    let first = rows.partition_point(|row| row.event_no <= after);
    let mut step = Step { after, ..Step::default() };
    for row in &rows[first..] {
        step.add(row);
    }
    step
}

impl Step {
    fn add(&mut self, row: &Row) {
        let Event::Zk(event) = &row.event else { return };
        match event {
            ZkEvent::Created { zxid, .. }
            | ZkEvent::AclSet { zxid, .. }
            | ZkEvent::Failed { zxid, .. } => self.used(*zxid),
            ZkEvent::DataSet { zxid, .. } | ZkEvent::Multi { zxid, .. } => {
                self.used(*zxid);
                self.data_set = true;
            }
            ZkEvent::Deleted { path, zxid } | ZkEvent::Swept { path, zxid } => {
                self.used(*zxid);
                self.deleted.insert(path.clone());
            }
            ZkEvent::SessionClosed { gone, .. } | ZkEvent::SessionExpired { gone, .. } => {
                self.deleted.extend(gone.iter().cloned());
            }
            ZkEvent::WatchesFired { path, whom, .. } => {
                let told = u32::try_from(whom.len()).unwrap_or(u32::MAX);
                *self.fired.entry(path.clone()).or_default() += told;
            }
            _ => {}
        }
    }

    fn used(&mut self, zxid: Zxid) {
        self.first_zxid = Some(self.first_zxid.map_or(zxid, |first| first.min(zxid)));
    }

    pub fn change(&self, path: &str, node: &Znode) -> Option<Change> {
        let first = self.first_zxid?;
        if node.czxid >= first {
            let again = self.deleted.contains(path);
            return Some(if again { Change::Again } else { Change::New });
        }
        (node.mzxid >= first).then_some(Change::Data)
    }

    /// What was deleted and is not there again.
    pub fn gone(&self, tree: &Tree) -> BTreeSet<Path> {
        self.deleted.iter().filter(|path| !tree.contains(path)).cloned().collect()
    }

    /// How many nodes below a closed folder changed.
    pub fn inside(&self, at: &str, node: &Znode) -> u32 {
        let Some(first) = self.first_zxid else { return self.deleted_below(at) };
        changed_below(node, first).saturating_add(self.deleted_below(at))
    }

    fn deleted_below(&self, at: &str) -> u32 {
        let below = |path: &&Path| path.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'));
        u32::try_from(self.deleted.iter().filter(below).count()).unwrap_or(u32::MAX)
    }

    /// The tree as it was before the step. Large worlds give none while they play.
    pub fn tree_before(&self, lab: &Lab, playing: bool) -> Option<Tree> {
        if playing && lab.world().procs.len() > FEW_PROCS {
            return None;
        }
        let after = self.after;
        let checkpoint = lab.branch().checkpoint(&|world| world.event_no <= after)?;
        let mut world = checkpoint.world.clone();
        let mut rows = Vec::new();
        while world.event_no < after && world.step(&lab.run().commands, &mut rows) {
            rows.clear();
        }
        Some(world.server.tree().clone())
    }
}

fn changed_below(node: &Znode, first: Zxid) -> u32 {
    node.children().fold(0, |sum: u32, (_, child)| {
        let own = u32::from(child.czxid >= first || child.mzxid >= first);
        sum.saturating_add(own).saturating_add(changed_below(child, first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafkascope_core::base::Instant;

    fn lab() -> Lab {
        let script = kafkascope_core::script::parse(
            "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..3\n\
             at 3s zk console set /controller_epoch 9\nat 4s zk console delete /controller\n",
        );
        Lab::new(kafkascope_core::script::run_of(&script.expect("a script")))
    }

    fn walk(lab: &mut Lab, from: u64, found: impl Fn(&Step, &Tree) -> bool) -> Option<Step> {
        lab.seek(Instant(from * 1_000_000));
        for _ in 0..40 {
            let step = of(lab);
            if found(&step, lab.world().server.tree()) {
                return Some(step);
            }
            let _ = lab.step();
        }
        None
    }

    #[test]
    fn new_data_is_found_with_what_was_before() {
        let mut lab = lab();
        let epoch = "/controller_epoch";
        let is_set = |step: &Step, tree: &Tree| {
            tree.get(epoch).is_some_and(|node| step.change(epoch, node) == Some(Change::Data))
        };
        let step = walk(&mut lab, 3, is_set).expect("the write");
        let before = step.tree_before(&lab, false).expect("a tree");
        assert_eq!(before.get(epoch).and_then(|node| node.data.as_deref()), Some(&b"1"[..]));
        let now = lab.world().server.tree().get(epoch).and_then(|node| node.data.as_deref());
        assert_eq!(now, Some(&b"9"[..]));
    }

    #[test]
    fn what_is_deleted_is_kept_for_one_step() {
        let mut lab = lab();
        let gone = |step: &Step, tree: &Tree| step.gone(tree).contains("/controller");
        assert!(walk(&mut lab, 4, gone).is_some());
        let _ = lab.step();
        let _ = lab.step();
        assert!(!of(&lab).deleted.contains("/controller"));
    }
}
