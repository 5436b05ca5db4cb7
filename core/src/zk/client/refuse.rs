//! What the library refuses before anything is sent: IllegalArgumentException (told as
//! BadArguments) and an empty list of permissions. [spec zookeeper.md §3]

use super::super::op::{Error, Op, Release};
use super::super::path::is_valid_for_create;

pub(super) fn refusal(op: &Op, release: Release) -> Option<Error> {
    let (path, sequential) = match op {
        Op::Create { path, mode, .. } => (path, mode.is_sequential()),
        Op::Delete { path, .. }
        | Op::Exists { path, .. }
        | Op::GetData { path, .. }
        | Op::SetData { path, .. }
        | Op::GetChildren { path, .. }
        | Op::GetAcl { path }
        | Op::SetAcl { path, .. }
        | Op::Check { path, .. }
        | Op::Sync { path }
        | Op::AddWatch { path, .. }
        | Op::RemoveWatches { path, .. }
        | Op::CheckWatches { path, .. }
        | Op::GetAllChildrenNumber { path } => (path, false),
        Op::GetEphemerals { prefix } => (prefix, false),
        // Parts of a multi are checked for their paths only.
        Op::Multi(parts) | Op::MultiRead(parts) => {
            let refused = |part: &Op| refusal(part, release) == Some(Error::BadArguments);
            return parts.iter().any(refused).then_some(Error::BadArguments);
        }
        _ => return None,
    };
    if !is_valid_for_create(path, sequential, release) {
        return Some(Error::BadArguments);
    }
    match op {
        Op::Create { mode, ttl_ms, .. } if mode.has_ttl() && *ttl_ms <= 0 => {
            Some(Error::BadArguments)
        }
        Op::Create { acl, .. } | Op::SetAcl { acl, .. } if acl.is_empty() => {
            Some(Error::InvalidAcl)
        }
        _ => None,
    }
}
