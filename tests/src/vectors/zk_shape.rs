//! Between the recorder's JSON and the words of the protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use kafkascope_core::zk::op::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Error, EventType, Failure, Op, Path, Reply,
    SetWatches, Stat, WatcherType, open_acl, perms,
};
use serde_json::{Map, Value, json};

use super::json::{int, text};

/// Which session is whose, to write owners down.
pub type Owners = BTreeMap<i64, String>;

const PERMS: [(char, u32); 5] = [
    ('c', perms::CREATE),
    ('d', perms::DELETE),
    ('r', perms::READ),
    ('w', perms::WRITE),
    ('a', perms::ADMIN),
];

fn path(op: &Value) -> Path {
    text(&op["path"]).into()
}

fn version(op: &Value, field: &str) -> i32 {
    i32::try_from(int(&op[field])).unwrap_or_default()
}

/// `#fill:N` is N bytes of x.
fn data(op: &Value) -> Data {
    let value = op["data"].as_str()?;
    match value.strip_prefix("#fill:").and_then(|n| n.parse::<usize>().ok()) {
        Some(n) => Some(vec![b'x'; n].into()),
        None => Some(value.as_bytes().into()),
    }
}

/// `scheme:id:perms`, separated by commas; nothing given is the open list, an empty text an empty
/// one.
fn acl(value: &Value) -> AclList {
    let Some(list) = value.as_str() else { return open_acl() };
    list.split(',').filter(|entry| !entry.is_empty()).filter_map(one_acl).collect()
}

fn one_acl(entry: &str) -> Option<Acl> {
    let (scheme, rest) = entry.split_once(':')?;
    let (id, letters) = rest.rsplit_once(':')?;
    let bit = |letter| PERMS.iter().find(|(l, _)| *l == letter).map_or(0, |(_, bit)| *bit);
    Some(Acl { perms: letters.chars().map(bit).sum(), scheme: scheme.into(), id: id.into() })
}

fn acl_text(list: &AclList) -> String {
    let one = |acl: &Acl| {
        let letters: String = PERMS
            .iter()
            .filter(|(_, bit)| acl.perms & bit != 0)
            .map(|(letter, _)| letter)
            .collect();
        format!("{}:{}:{letters}", acl.scheme, acl.id)
    };
    list.iter().map(one).collect::<Vec<_>>().join(",")
}

fn mode(name: &str) -> Option<CreateMode> {
    Some(match name {
        "PERSISTENT" => CreateMode::Persistent,
        "EPHEMERAL" => CreateMode::Ephemeral,
        "PERSISTENT_SEQUENTIAL" => CreateMode::PersistentSequential,
        "EPHEMERAL_SEQUENTIAL" => CreateMode::EphemeralSequential,
        "CONTAINER" => CreateMode::Container,
        "PERSISTENT_WITH_TTL" => CreateMode::PersistentWithTtl,
        "PERSISTENT_SEQUENTIAL_WITH_TTL" => CreateMode::PersistentSequentialWithTtl,
        _ => return None,
    })
}

fn watcher_type(name: &str) -> Option<WatcherType> {
    Some(match name {
        "Children" => WatcherType::Children,
        "Data" => WatcherType::Data,
        "Any" => WatcherType::Any,
        "Persistent" => WatcherType::Persistent,
        "PersistentRecursive" => WatcherType::PersistentRecursive,
        _ => return None,
    })
}

fn paths(value: &Value) -> Vec<Path> {
    value.as_array().into_iter().flatten().map(|path| text(path).into()).collect()
}

/// The request of a step; `None` for a name that is not a request.
pub fn op(step: &Value) -> Option<Op> {
    let name = text(&step["name"]);
    let write = matches!(name, "create" | "setData" | "delete" | "setACL");
    if step.get("path").is_some_and(Value::is_null) {
        return Some(Op::Unreadable { write });
    }
    let (path, watch) = (path(step), !step["watch"].is_null());
    let ops = || step["ops"].as_array()?.iter().map(op).collect::<Option<Vec<_>>>();
    Some(match name {
        "create" => Op::Create {
            path,
            data: data(step),
            acl: acl(&step["acl"]),
            mode: mode(text(&step["mode"]))?,
            ttl_ms: step["ttl_ms"].as_i64().unwrap_or(-1),
        },
        "getData" => Op::GetData { path, watch },
        "exists" => Op::Exists { path, watch },
        "getChildren" => Op::GetChildren { path, watch },
        "setData" => Op::SetData { path, data: data(step), version: version(step, "version") },
        "delete" => Op::Delete { path, version: version(step, "version") },
        "check" => Op::Check { path, version: version(step, "version") },
        "setACL" => Op::SetAcl { path, acl: acl(&step["acl"]), version: version(step, "aversion") },
        "getACL" => Op::GetAcl { path },
        "addAuth" => Op::AddAuth {
            scheme: text(&step["scheme"]).into(),
            auth: text(&step["auth"]).as_bytes().into(),
        },
        "sync" => Op::Sync { path },
        "getEphemerals" => {
            Op::GetEphemerals { prefix: step["prefix"].as_str().unwrap_or("/").into() }
        }
        "getAllChildrenNumber" => Op::GetAllChildrenNumber { path },
        "addWatch" => Op::AddWatch {
            path,
            mode: match text(&step["mode"]) {
                "PERSISTENT" => AddWatchMode::Persistent,
                _ => AddWatchMode::PersistentRecursive,
            },
        },
        "removeWatches" => Op::RemoveWatches { path, kind: watcher_type(text(&step["type"]))? },
        "checkWatches" => Op::CheckWatches { path, kind: watcher_type(text(&step["type"]))? },
        "setWatches" => Op::SetWatches(Box::new(SetWatches {
            relative_zxid: int(&step["relative_zxid"]),
            data: paths(&step["data"]),
            exist: paths(&step["exist"]),
            child: paths(&step["child"]),
            persistent: paths(&step["persistent"]),
            persistent_recursive: paths(&step["persistent_recursive"]),
        })),
        "whoAmI" => Op::WhoAmI,
        "multi" => Op::Multi(ops()?),
        "multiRead" => Op::MultiRead(ops()?),
        _ => return None,
    })
}

fn stat(stat: &Stat, owners: &Owners) -> Value {
    let owner = match (stat.ephemeral_owner, owners.get(&stat.ephemeral_owner)) {
        (0, _) => json!(0),
        (_, Some(client)) => json!(format!("session:{client}")),
        (id, None) => json!(id),
    };
    json!({
        "czxid": stat.czxid, "mzxid": stat.mzxid, "pzxid": stat.pzxid, "version": stat.version,
        "cversion": stat.cversion, "aversion": stat.aversion, "ephemeralOwner": owner,
        "dataLength": stat.data_length, "numChildren": stat.num_children,
    })
}

fn data_text(data: &Data) -> Value {
    data.as_ref().map_or(Value::Null, |bytes| String::from_utf8_lossy(bytes).into())
}

pub fn error(error: Error) -> Value {
    json!({"error": error.name(), "code": error.code()})
}

/// A result as the recorder writes it down.
pub fn result(op: &Op, result: &Result<Reply, Failure>, owners: &Owners) -> Value {
    match result {
        Err(failure) if matches!(op, Op::Exists { .. }) && failure.error == Error::NoNode => {
            json!({"stat": null})
        }
        Err(failure) => {
            let mut value = error(failure.error);
            if let Some(results) = &failure.multi {
                let name = |error: &Option<Error>| error.map_or("OK", Error::name);
                let results: Vec<Value> =
                    results.iter().map(|error| json!({"error": name(error)})).collect();
                value["multi_results"] = results.into();
            }
            value
        }
        Ok(reply) => good(op, reply, owners),
    }
}

fn good(op: &Op, reply: &Reply, owners: &Owners) -> Value {
    let part = |op: &Op, result: Result<Reply, Error>| in_multi(op, &result, owners);
    match (op, reply) {
        (_, Reply::Create { path, stat: s }) => json!({"path": **path, "stat": stat(s, owners)}),
        (_, Reply::Stat(s)) => json!({"stat": stat(s, owners)}),
        (_, Reply::Data { data, stat: s }) => {
            json!({"data": data_text(data), "stat": stat(s, owners)})
        }
        (_, Reply::Children { children, stat: s }) => {
            let mut children = children.clone();
            children.sort();
            json!({"children": names(&children), "stat": stat(s, owners)})
        }
        (_, Reply::Acl { acl, stat: s }) => json!({"acl": acl_text(acl), "stat": stat(s, owners)}),
        (Op::Multi(ops), Reply::Multi(replies)) => {
            let results = ops.iter().zip(replies).map(|(op, reply)| part(op, Ok(reply.clone())));
            json!({"results": results.collect::<Vec<_>>()})
        }
        (Op::MultiRead(ops), Reply::MultiRead(results)) => {
            let results = ops.iter().zip(results).map(|(op, result)| part(op, result.clone()));
            json!({"results": results.collect::<Vec<_>>()})
        }
        (_, Reply::Ephemerals(paths)) => {
            let mut paths = paths.clone();
            paths.sort();
            json!({"ephemerals": names(&paths)})
        }
        (_, Reply::ChildrenNumber(total)) => json!({"total": total}),
        (_, Reply::WhoAmI(ids)) => {
            let ids: Vec<Value> = ids.iter().map(|(scheme, id)| json!([**scheme, **id])).collect();
            json!({"ids": ids})
        }
        _ => json!({"ok": true}),
    }
}

fn names(list: &[Arc<str>]) -> Value {
    list.iter().map(|name| Value::from(&**name)).collect::<Vec<_>>().into()
}

/// One op of a multi. A plain create is sent there in its old form, which has no stat in its
/// answer; children come without a stat, in the server's own order.
fn in_multi(op: &Op, result: &Result<Reply, Error>, owners: &Owners) -> Value {
    let mut value = Map::new();
    match (op, result) {
        (_, Err(error)) => {
            value.insert("error".into(), error.name().into());
        }
        (Op::Create { mode, .. }, Ok(Reply::Create { path, stat: s })) => {
            value.insert("created".into(), (&**path).into());
            if *mode == CreateMode::Container || mode.has_ttl() {
                value.insert("stat".into(), stat(s, owners));
            }
        }
        (Op::Delete { .. }, _) => {
            value.insert("deleted".into(), true.into());
        }
        (Op::Check { .. }, _) => {
            value.insert("checked".into(), true.into());
        }
        (_, Ok(Reply::Data { data, stat: s })) => {
            value.insert("data".into(), data_text(data));
            value.insert("stat".into(), stat(s, owners));
        }
        (_, Ok(Reply::Children { children, .. })) => {
            value.insert("children".into(), names(children));
        }
        (_, Ok(Reply::Stat(s))) => {
            value.insert("stat".into(), stat(s, owners));
        }
        _ => {}
    }
    Value::Object(value)
}

/// An event of a Watcher or of a connection.
pub fn event(client: &str, watch: Option<&str>, kind: EventType, path: &str) -> Value {
    json!({"client": client, "watch": watch, "type": kind.name(), "path": path})
}
