//! Entries of the server's log as the recorders show them.

use kafkascope_core::kafka::release::Release;
use kafkascope_core::world::log::Logged;
use kafkascope_core::zk::op::{Error, Op, Path};
use kafkascope_core::zk::path;
use kafkascope_core::zk::server::TxnKind;
use kafkascope_core::zk::tree::NodeKind;
use serde_json::{Value, json};

use super::facts::shown;
use super::names::Names;

/// One transaction. The log of later servers has no path of a refused request.
pub fn entry(logged: &Logged, names: &Names, release: Release) -> Value {
    let mut versions = logged.versions.iter();
    let asked = logged.asked.as_ref();
    let mut entry = kind(&logged.txn.kind, asked, &mut versions, release);
    entry["session"] = names.get(logged.txn.session).into();
    entry
}

fn kind<'a>(
    kind_of: &TxnKind,
    asked: Option<&Op>,
    versions: &mut impl Iterator<Item = &'a i32>,
    release: Release,
) -> Value {
    match kind_of {
        TxnKind::CreateSession { timeout_ms, .. } => {
            json!({"type": "createSession", "timeout_ms": timeout_ms})
        }
        TxnKind::CloseSession { ephemerals, .. } => {
            let gone: Vec<&str> = ephemerals.iter().map(|path| &**path).collect();
            let field = match release {
                Release::V0_8_2_2 => "removed_ephemerals",
                _ => "deletes",
            };
            json!({"type": "closeSession", field: gone})
        }
        TxnKind::Create { path, data, kind, .. } => json!({
            "type": "create",
            "path": &**path,
            "data": shown(data),
            "ephemeral": matches!(kind, NodeKind::Ephemeral(_)),
            "sequential": is_sequential(asked),
        }),
        TxnKind::Delete { path, .. } => json!({"type": "delete", "path": &**path}),
        TxnKind::SetData { path, data } => json!({
            "type": "setData",
            "path": &**path,
            "data": shown(data),
            "version": versions.next(),
        }),
        TxnKind::SetAcl { path, .. } => json!({"type": "setACL", "path": &**path}),
        TxnKind::Check { path } => {
            let version = match asked {
                Some(Op::Check { version, .. }) => Some(*version),
                _ => None,
            };
            json!({"type": "check", "path": &**path, "version": version})
        }
        TxnKind::Multi(inner) => {
            let parts = parts(asked);
            let ops: Vec<Value> = inner
                .iter()
                .enumerate()
                .map(|(n, inner)| kind(inner, parts.get(n), versions, release))
                .collect();
            json!({"type": "multi", "ops": ops})
        }
        TxnKind::Error { multi: Some(errors), .. } => refused_multi(errors, parts(asked)),
        TxnKind::Error { op, path, error, .. } if release == Release::V0_8_2_2 => json!({
            "type": "error",
            "request": op,
            "path": error_path(op, path, *error),
            "error": name_of(*error),
        }),
        TxnKind::Error { error, .. } => json!({"type": "error", "error": name_of(*error)}),
    }
}

fn parts(asked: Option<&Op>) -> &[Op] {
    match asked {
        Some(Op::Multi(parts)) => parts,
        _ => &[],
    }
}

fn is_sequential(asked: Option<&Op>) -> bool {
    matches!(asked, Some(Op::Create { mode, .. }) if mode.is_sequential())
}

/// The path that the server's error names: of a create without a parent, the parent.
fn error_path<'a>(op: &str, at: &'a Path, error: Error) -> &'a str {
    match (op, error) {
        ("create", Error::NoNode) => path::parent(at).unwrap_or(at),
        _ => at,
    }
}

/// Of a refused multi, what came before the refusal stands there as it would have been done.
fn refused_multi(errors: &[Option<Error>], parts: &[Op]) -> Value {
    let part = |(n, error): (usize, &Option<Error>)| match (error, parts.get(n)) {
        (Some(error), _) => json!({"type": "error", "error": name_of(*error)}),
        (None, Some(Op::Check { path, version })) => {
            json!({"type": "check", "path": &**path, "version": version})
        }
        (None, Some(Op::Create { path, data, mode, .. })) => json!({
            "type": "create",
            "path": &**path,
            "data": shown(data),
            "ephemeral": mode.is_ephemeral(),
        }),
        (None, Some(Op::SetData { path, data, version })) => json!({
            "type": "setData",
            "path": &**path,
            "data": shown(data),
            "version": version + 1,
        }),
        (None, Some(Op::Delete { path, .. })) => json!({"type": "delete", "path": &**path}),
        (None, _) => json!({"type": "error", "error": Value::Null}),
    };
    let ops: Vec<Value> = errors.iter().enumerate().map(part).collect();
    json!({"type": "multi", "ops": ops})
}

/// As the Java class of the error is called, without its ending.
fn name_of(error: Error) -> String {
    format!("{error:?}")
}
