//! The tree as a list of rows: what is open, what is joined, what is just gone.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kafkascope_core::zk::op::Path;
use kafkascope_core::zk::path;
use kafkascope_core::zk::tree::{NodeKind, Tree, Znode};

/// Folders of more children start closed.
pub const MANY: i32 = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flat {
    pub path: Path,
    /// Folders that are joined with this one, as in `brokers/`.
    pub prefix: Arc<str>,
    pub name: Arc<str>,
    pub depth: u8,
    pub children: u32,
    /// `None`: a leaf.
    pub open: Option<bool>,
    /// Deleted in this step.
    pub gone: bool,
}

/// What a list is made from.
pub struct Shape<'a> {
    pub tree: &'a Tree,
    pub folds: &'a BTreeMap<Arc<str>, bool>,
    /// Paths that were deleted in this step and are not there again.
    pub gone: &'a BTreeSet<Path>,
    /// Whether somebody watches a path: such folders are never joined, their eye would be lost.
    pub watched: &'a dyn Fn(&str) -> bool,
}

enum Entry<'a> {
    There { path: Path, prefix: String, name: &'a Arc<str>, node: &'a Znode },
    Gone { path: Path, name: Arc<str> },
}

impl Entry<'_> {
    fn is_folder(&self) -> bool {
        matches!(self, Entry::There { node, .. } if node.child_count() > 0)
    }

    fn name(&self) -> &str {
        match self {
            Entry::There { name, .. } => name,
            Entry::Gone { name, .. } => name,
        }
    }

    fn prefix(&self) -> &str {
        match self {
            Entry::There { prefix, .. } => prefix,
            Entry::Gone { .. } => "",
        }
    }

    /// What lies in one dissolved folder stays together.
    fn group(&self) -> &str {
        self.prefix().split('/').next().filter(|top| !top.is_empty()).unwrap_or(self.name())
    }
}

/// Leaves come before folders.
fn order(a: &Entry<'_>, b: &Entry<'_>) -> Ordering {
    let grouped = |entry: &Entry<'_>| entry.is_folder() || !entry.prefix().is_empty();
    match (grouped(a), grouped(b)) {
        (false, false) => by_number(a.name(), b.name()),
        (true, true) => by_number(a.group(), b.group())
            .then_with(|| a.is_folder().cmp(&b.is_folder()))
            .then_with(|| by_number(a.name(), b.name())),
        (a, b) => a.cmp(&b),
    }
}

pub fn flatten(shape: &Shape<'_>) -> Vec<Flat> {
    let mut rows = Vec::new();
    list(shape, "", shape.tree.root(), 0, &mut rows);
    rows
}

/// Whether a folder is open where nobody said so: not if it is long, nor if it lies deep and
/// holds folders again.
pub fn opens_by_itself(at: &str, node: &Znode) -> bool {
    let deep = at.matches('/').count() > 3;
    let nests = node.children().next().is_some_and(|(_, child)| child.child_count() > 0);
    node.child_count() <= MANY && !(deep && nests) && !at.starts_with("/zookeeper")
}

fn list(shape: &Shape<'_>, at: &str, node: &Znode, depth: u8, rows: &mut Vec<Flat>) {
    let mut entries = Vec::new();
    collect(shape, at, node, "", &mut entries);
    entries.sort_by(order);
    for entry in entries {
        push(shape, entry, depth, rows);
    }
}

fn push(shape: &Shape<'_>, entry: Entry<'_>, depth: u8, rows: &mut Vec<Flat>) {
    match entry {
        Entry::Gone { path, name } => rows.push(Flat {
            path,
            prefix: "".into(),
            name,
            depth,
            children: 0,
            open: None,
            gone: true,
        }),
        Entry::There { path, prefix, name, node } => {
            let children = node.child_count();
            let has = children > 0 || lost_one(shape, &path);
            let open = shape.folds.get(&path).copied();
            let open = has.then(|| open.unwrap_or_else(|| opens_by_itself(&path, node)));
            rows.push(Flat {
                path: path.clone(),
                prefix: prefix.into(),
                name: name.clone(),
                depth,
                children: u32::try_from(children).unwrap_or(0),
                open,
                gone: false,
            });
            if open == Some(true) {
                list(shape, &path, node, depth.saturating_add(1), rows);
            }
        }
    }
}

/// The children of a node, with mere folders dissolved into the paths of what is in them.
fn collect<'a>(
    shape: &Shape<'_>,
    at: &str,
    node: &'a Znode,
    prefix: &str,
    entries: &mut Vec<Entry<'a>>,
) {
    for (name, child) in node.children() {
        let path: Path = format!("{at}/{name}").into();
        if is_mere(shape, &path, child, at.is_empty()) {
            collect(shape, &path, child, &format!("{prefix}{name}/"), entries);
        } else {
            entries.push(Entry::There { path, prefix: prefix.to_owned(), name, node: child });
        }
    }
    for gone in shape.gone.iter().filter(|gone| path::parent_name(gone) == slash(at)) {
        entries.push(Entry::Gone { path: gone.clone(), name: path::name(gone).into() });
    }
}

fn slash(at: &str) -> &str {
    if at.is_empty() { "/" } else { at }
}

/// A folder and nothing else: no data, no watch. Those at the top are dissolved always, the
/// others if there is only one thing in them.
fn is_mere(shape: &Shape<'_>, at: &str, node: &Znode, top: bool) -> bool {
    let count = node.child_count();
    let plain = node.kind == NodeKind::Persistent
        && node.data.as_ref().is_none_or(|data| data.is_empty())
        && !(shape.watched)(at);
    plain
        && (count == 1 || count > 1 && top && count <= MANY)
        && !lost_one(shape, at)
        && shape.folds.get(at) != Some(&false)
        && at != "/zookeeper"
}

fn lost_one(shape: &Shape<'_>, at: &str) -> bool {
    shape.gone.iter().any(|gone| path::parent(gone) == Some(at))
}

/// `2` comes before `10`; what isn't a number is compared as text.
pub fn by_number(a: &str, b: &str) -> Ordering {
    let number = |text: &str| text.parse::<u64>().ok();
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafkascope_core::base::Instant;
    use kafkascope_core::lab::Lab;

    fn lab(script: &str, seconds: u64) -> Lab {
        let script = kafkascope_core::script::parse(script).expect("a script");
        let mut lab = Lab::new(kafkascope_core::script::run_of(&script));
        lab.seek(Instant(seconds * 1_000_000));
        lab
    }

    fn shown(lab: &Lab, folds: &BTreeMap<Arc<str>, bool>) -> Vec<String> {
        let server = &lab.world().server;
        let watched = |at: &str| server.watch_count(at) > 0;
        let gone = BTreeSet::new();
        let shape = Shape { tree: server.tree(), folds, gone: &gone, watched: &watched };
        let line = |row: &Flat| {
            let dots = ". ".repeat(usize::from(row.depth));
            let open = row.open.map_or("", |open| if open { " v" } else { " >" });
            format!("{dots}{}{}{open}", row.prefix, row.name)
        };
        flatten(&shape).iter().map(line).collect()
    }

    const START: &str = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..3\n\
                         at 1.2s create topic orders partitions 4 replication 2\n";

    #[test]
    fn a_cluster_reads_well() {
        let rows = shown(&lab(START, 3), &BTreeMap::new());
        println!("{}", rows.join("\n"));
        assert_eq!(rows[0], "controller");
        assert_eq!(rows[1], "controller_epoch");
        assert!(rows.contains(&"brokers/ids v".to_owned()), "{rows:?}");
        assert!(rows.contains(&". . partitions >".to_owned()), "{rows:?}");
        assert!(!rows.iter().any(|row| row.contains("state")), "deep folders start closed");
    }

    #[test]
    fn numbers_are_in_their_order_and_long_folders_start_closed() {
        let script = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..60\n";
        let lab = lab(script, 3);
        let rows = shown(&lab, &BTreeMap::new());
        assert!(rows.contains(&"brokers/ids >".to_owned()), "{rows:?}");
        let folds = BTreeMap::from([(Arc::from("/brokers/ids"), true)]);
        let rows = shown(&lab, &folds);
        let at = rows.iter().position(|row| row == "brokers/ids v").expect("the folder");
        assert_eq!(rows[at + 2..at + 4], [". 2", ". 3"]);
        assert_eq!(rows[at + 10], ". 10");
    }
}
