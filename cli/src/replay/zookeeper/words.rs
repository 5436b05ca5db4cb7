//! Between the recordings' JSON and the protocol's words: requests in, answers out.

use std::sync::Arc;

use kafkascope_core::zk::op::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Failure, Op, Path, Reply, SetWatches, Stat,
    WatcherType, Zxid, open_acl, perms,
};
use serde_json::{Map, Value, json};

/// A field that is missing or that nothing here knows: the whole file is unknown then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

pub type Known<T> = Result<T, Unknown>;

pub fn text<'a>(op: &'a Value, field: &str) -> Known<&'a str> {
    op[field].as_str().ok_or_else(|| Unknown(format!("{field} of {op}")))
}

pub fn int(op: &Value, field: &str) -> Known<i32> {
    let value = op[field].as_i64().and_then(|v| i32::try_from(v).ok());
    value.ok_or_else(|| Unknown(format!("{field} of {op}")))
}

fn path(op: &Value) -> Known<Path> {
    Ok(text(op, "path")?.into())
}

fn paths(op: &Value, field: &str) -> Vec<Path> {
    let list = op[field].as_array();
    list.into_iter().flatten().filter_map(Value::as_str).map(Path::from).collect()
}

/// `#fill:n` stands for n bytes, null for no data.
fn data(op: &Value) -> Data {
    let text = op["data"].as_str()?;
    match text.strip_prefix("#fill:").and_then(|n| n.parse::<usize>().ok()) {
        Some(n) => Some(vec![b'x'; n.min(1 << 24)].into()),
        None => Some(text.as_bytes().into()),
    }
}

/// `scheme:id:rwcda`, joined by commas.
fn acl(list: &str) -> Known<AclList> {
    let entries = list.split(',').filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (scheme, rest) = entry.split_once(':').ok_or_else(|| Unknown(list.into()))?;
            let (id, letters) = rest.rsplit_once(':').ok_or_else(|| Unknown(list.into()))?;
            let perms = letters.chars().fold(0, |bits, letter| bits | permission(letter));
            Ok(Acl { perms, scheme: scheme.into(), id: id.into() })
        })
        .collect::<Known<Vec<Acl>>>()
        .map(Arc::from)
}

const LETTERS: [(char, u32); 5] = [
    ('c', perms::CREATE),
    ('d', perms::DELETE),
    ('r', perms::READ),
    ('w', perms::WRITE),
    ('a', perms::ADMIN),
];

fn permission(letter: char) -> u32 {
    LETTERS.iter().find(|(l, _)| *l == letter).map_or(0, |(_, bit)| *bit)
}

fn acl_of(op: &Value) -> Known<AclList> {
    op["acl"].as_str().map_or_else(|| Ok(open_acl()), acl)
}

fn mode(name: &str) -> Known<CreateMode> {
    Ok(match name {
        "PERSISTENT" => CreateMode::Persistent,
        "EPHEMERAL" => CreateMode::Ephemeral,
        "PERSISTENT_SEQUENTIAL" => CreateMode::PersistentSequential,
        "EPHEMERAL_SEQUENTIAL" => CreateMode::EphemeralSequential,
        "CONTAINER" => CreateMode::Container,
        "PERSISTENT_WITH_TTL" => CreateMode::PersistentWithTtl,
        "PERSISTENT_SEQUENTIAL_WITH_TTL" => CreateMode::PersistentSequentialWithTtl,
        _ => return Err(Unknown(format!("mode {name}"))),
    })
}

fn watcher_type(name: &str) -> Known<WatcherType> {
    Ok(match name {
        "Children" => WatcherType::Children,
        "Data" => WatcherType::Data,
        "Any" => WatcherType::Any,
        "Persistent" => WatcherType::Persistent,
        "PersistentRecursive" => WatcherType::PersistentRecursive,
        _ => return Err(Unknown(format!("type {name}"))),
    })
}

/// A zxid as a number or as hexadecimal text.
fn zxid(value: &Value) -> Option<Zxid> {
    let hex = |text: &str| Zxid::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    value.as_i64().or_else(|| value.as_str().and_then(hex))
}

/// The request that a `call` (or a part of a multi) names.
pub fn request(op: &Value, last_zxid: Zxid) -> Known<Op> {
    let watch = !matches!(op["watch"], Value::Null | Value::Bool(false));
    let parts = || -> Known<Vec<Op>> {
        let list = op["ops"].as_array().ok_or_else(|| Unknown("multi without ops".into()))?;
        list.iter().map(|part| request(part, last_zxid)).collect()
    };
    let name = op["name"].as_str().or_else(|| op["op"].as_str()).unwrap_or_default();
    Ok(match name {
        "create" => Op::Create {
            path: path(op)?,
            data: data(op),
            acl: acl_of(op)?,
            mode: mode(op["mode"].as_str().unwrap_or("PERSISTENT"))?,
            ttl_ms: op["ttl_ms"].as_i64().unwrap_or(0),
        },
        "delete" => Op::Delete { path: path(op)?, version: int(op, "version")? },
        "exists" => Op::Exists { path: path(op)?, watch },
        "getData" => Op::GetData { path: path(op)?, watch },
        "setData" => Op::SetData { path: path(op)?, data: data(op), version: int(op, "version")? },
        "getChildren" => Op::GetChildren { path: path(op)?, watch },
        "getACL" => Op::GetAcl { path: path(op)? },
        "setACL" => Op::SetAcl { path: path(op)?, acl: acl_of(op)?, version: int(op, "aversion")? },
        "check" => Op::Check { path: path(op)?, version: int(op, "version")? },
        "multi" => Op::Multi(parts()?),
        "multiRead" => Op::MultiRead(parts()?),
        "sync" => Op::Sync { path: path(op)? },
        "addAuth" => Op::AddAuth {
            scheme: text(op, "scheme")?.into(),
            auth: text(op, "auth")?.as_bytes().into(),
        },
        "addWatch" => {
            let recursive = text(op, "mode")? == "PERSISTENT_RECURSIVE";
            let modes = [AddWatchMode::Persistent, AddWatchMode::PersistentRecursive];
            Op::AddWatch { path: path(op)?, mode: modes[usize::from(recursive)] }
        }
        "removeWatches" => {
            Op::RemoveWatches { path: path(op)?, kind: watcher_type(text(op, "type")?)? }
        }
        "setWatches" => Op::SetWatches(Box::new(SetWatches {
            relative_zxid: zxid(&op["relative_zxid"]).unwrap_or(last_zxid),
            data: paths(op, "data"),
            exist: paths(op, "exist"),
            child: paths(op, "child"),
            persistent: paths(op, "persistent"),
            persistent_recursive: paths(op, "persistent_recursive"),
        })),
        "getEphemerals" => {
            Op::GetEphemerals { prefix: op["prefix"].as_str().unwrap_or("/").into() }
        }
        "getAllChildrenNumber" => Op::GetAllChildrenNumber { path: path(op)? },
        _ => return Err(Unknown(format!("call {name}"))),
    })
}

fn shown(data: &Data) -> Value {
    data.as_ref().map_or(Value::Null, |bytes| String::from_utf8_lossy(bytes).into())
}

fn stat(stat: &Stat, owner: &impl Fn(i64) -> Value) -> Value {
    json!({
        "czxid": format!("{:#x}", stat.czxid),
        "mzxid": format!("{:#x}", stat.mzxid),
        "pzxid": format!("{:#x}", stat.pzxid),
        "version": stat.version,
        "cversion": stat.cversion,
        "aversion": stat.aversion,
        "ephemeralOwner": owner(stat.ephemeral_owner),
        "dataLength": stat.data_length,
        "numChildren": stat.num_children,
    })
}

fn acl_text(list: &AclList) -> String {
    let entry = |acl: &Acl| {
        let letters = LETTERS.iter().filter(|(_, bit)| acl.perms & bit != 0).map(|(l, _)| l);
        format!("{}:{}:{}", acl.scheme, acl.id, letters.collect::<String>())
    };
    list.iter().map(entry).collect::<Vec<_>>().join(",")
}

/// An answer as the bare client's recorder wrote it down; `owner` names a session.
pub fn answer(result: &Result<Reply, Failure>, owner: &impl Fn(i64) -> Value) -> Value {
    match result {
        Err(failure) => failure.error.name().into(),
        Ok(reply) => reply_value(reply, owner),
    }
}

fn reply_value(reply: &Reply, owner: &impl Fn(i64) -> Value) -> Value {
    match reply {
        Reply::Create { path, stat: s } => json!({"path": &**path, "stat": stat(s, owner)}),
        Reply::Stat(s) => json!({"stat": stat(s, owner)}),
        Reply::Data { data, stat: s } => json!({"data": shown(data), "stat": stat(s, owner)}),
        Reply::Children { children, stat: s } => {
            let children: Vec<&str> = children.iter().map(|c| &**c).collect();
            json!({"children": children, "stat": stat(s, owner)})
        }
        Reply::Acl { acl, stat: s } => json!({"acl": acl_text(acl), "stat": stat(s, owner)}),
        Reply::Multi(parts) => {
            let parts = parts.iter().map(|part| reply_value(part, owner)).collect::<Vec<_>>();
            json!({"results": parts})
        }
        Reply::MultiRead(parts) => {
            let failed = |part: &Result<Reply, _>| part.clone().map_err(Failure::from);
            let parts = parts.iter().map(|part| answer(&failed(part), owner)).collect::<Vec<_>>();
            json!({"results": parts})
        }
        Reply::Ephemerals(paths) => {
            json!({"ephemerals": paths.iter().map(|p| &**p).collect::<Vec<&str>>()})
        }
        Reply::ChildrenNumber(total) => json!({"total": total}),
        Reply::WhoAmI(ids) => {
            json!({"ids": ids.iter().map(|(s, i)| format!("{s}:{i}")).collect::<Vec<_>>()})
        }
        Reply::Done => json!({"ok": true}),
    }
}

/// What the Java client's recorder kept of an answer: whether a node is there, or the error.
pub fn java_answer(op: &Op, result: &Result<Reply, Failure>) -> Value {
    let missing = |f: &Failure| f.error == kafkascope_core::zk::op::Error::NoNode;
    match (op, result) {
        (Op::Exists { .. }, Ok(_)) => true.into(),
        (Op::Exists { .. }, Err(failure)) if missing(failure) => false.into(),
        (_, Ok(_)) => "ok".into(),
        (_, Err(failure)) => failure.error.name().into(),
    }
}

/// Puts an answer where `into` says: `x`, `x[]` (appended) or `x.y` (key y of x).
pub fn put(facts: &mut Map<String, Value>, into: &str, value: Value) {
    if let Some(list) = into.strip_suffix("[]") {
        let list = facts.entry(list).or_insert_with(|| json!([]));
        if let (Value::Array(list), value) = (list, value) {
            list.push(value);
        }
    } else if let Some((outer, key)) = into.split_once('.') {
        let outer = facts.entry(outer).or_insert_with(|| json!({}));
        if let Value::Object(outer) = outer {
            outer.insert(key.into(), value);
        }
    } else {
        facts.insert(into.into(), value);
    }
}
