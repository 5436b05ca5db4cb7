//! What ever happened to a path, collected from the rows as they come.

use kafkascope_core::base::Instant;
use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::world::{Event, Row, ZkEvent};
use kafkascope_core::zk::op::{Path, Zxid};

use crate::i18n::{Key, Lang, k};
use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Created,
    Set,
    AclSet,
    Deleted,
    Swept,
    /// It went with its session.
    Expired,
    Closed,
    Fired,
}

/// One row that touched the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub row: u32,
    pub at: Instant,
    pub deed: Deed,
    pub proc: u16,
    pub zxid: Option<Zxid>,
    /// Who was told, if it is a watch that fired.
    pub whom: Vec<u16>,
}

/// Looks at every row once, as long as the path and the branch stay the same.
#[derive(Default)]
pub struct History {
    about: Option<(u32, BranchId, Path)>,
    looked: usize,
    entries: Vec<Entry>,
}

impl History {
    pub fn follow(&mut self, lab: &Lab, run: u32, path: &Path) -> &[Entry] {
        let about = (run, lab.current_branch(), path.clone());
        let rows = lab.rows();
        if self.about.as_ref() != Some(&about) {
            *self = History { about: Some(about), ..History::default() };
        }
        if rows.len() < self.looked {
            self.looked = rows.len();
            self.entries.retain(|entry| (entry.row as usize) < rows.len());
        }
        for (index, row) in rows.iter().enumerate().skip(self.looked) {
            if let Some(entry) = entry(index, row, path) {
                self.entries.push(entry);
            }
        }
        self.looked = rows.len();
        &self.entries
    }
}

fn entry(index: usize, row: &Row, wanted: &str) -> Option<Entry> {
    let Event::Zk(event) = &row.event else { return None };
    let mut told = Vec::new();
    let (deed, zxid) = match event {
        ZkEvent::Created { path, zxid, .. } if **path == *wanted => (Deed::Created, Some(*zxid)),
        ZkEvent::DataSet { path, zxid } if **path == *wanted => (Deed::Set, Some(*zxid)),
        ZkEvent::AclSet { path, zxid } if **path == *wanted => (Deed::AclSet, Some(*zxid)),
        ZkEvent::Deleted { path, zxid } if **path == *wanted => (Deed::Deleted, Some(*zxid)),
        ZkEvent::Swept { path, zxid } if **path == *wanted => (Deed::Swept, Some(*zxid)),
        ZkEvent::SessionExpired { gone, .. } if has(gone, wanted) => (Deed::Expired, None),
        ZkEvent::SessionClosed { gone, .. } if has(gone, wanted) => (Deed::Closed, None),
        ZkEvent::WatchesFired { path, whom, .. } if **path == *wanted => {
            told = whom.to_vec();
            (Deed::Fired, None)
        }
        _ => return None,
    };
    let row_no = u32::try_from(index).ok()?;
    Some(Entry { row: row_no, at: row.at, deed, proc: row.proc, zxid, whom: told })
}

fn has(gone: &[Path], wanted: &str) -> bool {
    gone.iter().any(|path| **path == *wanted)
}

/// `created by broker 2`.
pub fn text(lang: Lang, lab: &Lab, entry: &Entry) -> String {
    let procs = &lab.world().procs;
    let who = words::proc_at(lang, procs, entry.proc);
    let key: Key = match entry.deed {
        Deed::Created => k::NODE_CREATED,
        Deed::Set => k::NODE_SET,
        Deed::AclSet => k::NODE_ACL_SET,
        Deed::Deleted => k::NODE_DELETED,
        Deed::Swept => return lang.t(k::NODE_SWEPT).to_string(),
        Deed::Expired => k::NODE_EXPIRED,
        Deed::Closed => k::NODE_CLOSED,
        Deed::Fired => {
            let whom: Vec<String> =
                entry.whom.iter().map(|proc| words::proc_at(lang, procs, *proc)).collect();
            return lang.fill(k::NODE_FIRED, &[("whom", &words::list(lang, &whom))]);
        }
    };
    lang.fill(key, &[("who", &who)])
}
