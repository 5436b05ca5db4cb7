//! Rules of paths. [spec zookeeper.md §3]

use super::op::Release;

/// The node that every server keeps for itself.
pub const SYSTEM: &str = "/zookeeper";
pub const QUOTA: &str = "/zookeeper/quota";
pub const CONFIG: &str = "/zookeeper/config";

/// Whether `PathUtils.validatePath` of this release lets the path pass. Java looks at UTF-16 code
/// units, so a character outside the basic plane counts as its two surrogates. [spec zookeeper.md
/// P1 to P8]
pub fn is_valid(path: &str, release: Release) -> bool {
    if path == "/" {
        return true;
    }
    let Some(rest) = path.strip_prefix('/') else { return false };
    // An empty component is a doubled or a trailing slash. [P4, P5, P6]
    if rest.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return false;
    }
    !path.encode_utf16().any(|unit| is_forbidden(unit, release))
}

/// The client checks a sequential create with a digit at its end, so that the prefix may be empty.
/// [spec zookeeper.md P9]
pub fn is_valid_for_create(path: &str, sequential: bool, release: Release) -> bool {
    if sequential { is_valid(&format!("{path}1"), release) } else { is_valid(path, release) }
}

/// Code units that no path may have. 3.4.6 compared without the ends of the ranges. [spec
/// zookeeper.md P7, P8]
pub fn is_forbidden(unit: u16, release: Release) -> bool {
    let ranges: [(u16, u16); 4] = match release {
        Release::V3_4_6 => [(0x0001, 0x001e), (0x0080, 0x009e), (0xd801, 0xf8fe), (0xfff1, 0xfffe)],
        _ => [(0x0001, 0x001f), (0x007f, 0x009f), (0xd800, 0xf8ff), (0xfff0, 0xffff)],
    };
    unit == 0 || ranges.iter().any(|&(low, high)| (low..=high).contains(&unit))
}

/// What the server cuts off to find the parent: everything before the last slash, `""` for a child
/// of the root. `None` if there is no slash.
pub fn parent(path: &str) -> Option<&str> {
    path.rfind('/').map(|at| &path[..at])
}

/// The parent as watches and people name it.
pub fn parent_name(path: &str) -> &str {
    match parent(path) {
        None | Some("") => "/",
        Some(parent) => parent,
    }
}

/// The last component.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `child` below `parent`.
pub fn join(parent: &str, child: &str) -> String {
    if parent == "/" { format!("/{child}") } else { format!("{parent}/{child}") }
}

/// Nodes that no client may delete. [spec zookeeper.md P10]
pub fn is_special(path: &str, release: Release) -> bool {
    matches!(path, "/" | SYSTEM | QUOTA) || (path == CONFIG && release != Release::V3_4_6)
}

/// The path itself and every path above it, nearest first, the root last.
pub fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |&at| {
        if at == "/" || at.is_empty() || !at.starts_with('/') {
            None
        } else {
            Some(parent_name(at))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_up_to_the_root() {
        assert_eq!(with_parents("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(with_parents("/").collect::<Vec<_>>(), ["/"]);
        assert_eq!(with_parents("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn only_a_sequential_create_may_end_in_a_slash() {
        assert!(is_valid_for_create("/p/", true, Release::V3_9_5));
        assert!(!is_valid_for_create("/p/", false, Release::V3_9_5));
        assert!(!is_valid_for_create("/p//", true, Release::V3_9_5));
    }
}
