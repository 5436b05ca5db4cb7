//! How many bytes a request takes on the wire: the limit of a packet counts all of it. [spec
//! zookeeper.md Z7]

use super::op::{AclList, Data, Op, Path, ToServer};

/// Bytes of a frame behind its length.
pub fn packet(frame: &ToServer) -> usize {
    match frame {
        ToServer::Connect(_) => 44,
        ToServer::Ping => 8,
        ToServer::Request { op, .. } => 8 + body(op),
    }
}

fn text(value: &str) -> usize {
    4 + value.len()
}

fn data(value: &Data) -> usize {
    4 + value.as_ref().map_or(0, |bytes| bytes.len())
}

fn acl(list: &AclList) -> usize {
    4 + list.iter().map(|entry| 4 + text(&entry.scheme) + text(&entry.id)).sum::<usize>()
}

fn paths(list: &[Path]) -> usize {
    4 + list.iter().map(|path| text(path)).sum::<usize>()
}

fn body(op: &Op) -> usize {
    match op {
        Op::Create { path, data: bytes, acl: list, mode, .. } => {
            let ttl = if mode.has_ttl() { 8 } else { 0 };
            text(path) + data(bytes) + acl(list) + 4 + ttl
        }
        Op::Exists { path, .. } | Op::GetData { path, .. } | Op::GetChildren { path, .. } => {
            text(path) + 1
        }
        Op::SetData { path, data: bytes, .. } => text(path) + data(bytes) + 4,
        Op::SetAcl { path, acl: list, .. } => text(path) + acl(list) + 4,
        Op::Delete { path, .. }
        | Op::Check { path, .. }
        | Op::AddWatch { path, .. }
        | Op::RemoveWatches { path, .. }
        | Op::CheckWatches { path, .. } => text(path) + 4,
        Op::GetAcl { path } | Op::Sync { path } | Op::GetAllChildrenNumber { path } => text(path),
        Op::GetEphemerals { prefix } => text(prefix),
        // Each op has a header of 9 bytes, and one stands at the end.
        Op::Multi(ops) | Op::MultiRead(ops) => 9 + ops.iter().map(|op| 9 + body(op)).sum::<usize>(),
        Op::AddAuth { scheme, auth } => 4 + text(scheme) + 4 + auth.len(),
        Op::SetWatches(set) => {
            let more = !set.persistent.is_empty() || !set.persistent_recursive.is_empty();
            let lists = [&set.data, &set.exist, &set.child];
            let one_shot = lists.iter().map(|list| paths(list)).sum::<usize>();
            let rest = paths(&set.persistent) + paths(&set.persistent_recursive);
            8 + one_shot + if more { rest } else { 0 }
        }
        Op::WhoAmI | Op::CloseSession => 0,
        Op::Unreadable { .. } => 4,
    }
}
