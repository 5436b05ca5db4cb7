//! What happened at the server.

use kafkascope_core::world::ZkEvent;
use kafkascope_core::world::event::Reading;

use super::Said;
use crate::i18n::k;

pub fn sentence(event: &ZkEvent, actor: &str) -> Said {
    match event {
        ZkEvent::ServerStopped => Said::new(k::ZK_SERVER_STOPPED, &[]),
        ZkEvent::ServerStarted => Said::new(k::ZK_SERVER_STARTED, &[]),
        ZkEvent::SessionOpened { timeout_ms, .. } => {
            let seconds = f64::from(*timeout_ms) / 1_000.0;
            Said::new(k::ZK_OPENED, &[("who", &actor), ("s", &seconds)])
        }
        ZkEvent::SessionResumed { .. } => Said::new(k::ZK_RESUMED, &[("who", &actor)]),
        ZkEvent::SessionUnknown { .. } => Said::new(k::ZK_UNKNOWN, &[("who", &actor)]),
        ZkEvent::SessionClosed { gone, .. } => over(k::ZK_CLOSED, k::ZK_CLOSED_GONE, actor, gone),
        ZkEvent::SessionExpired { gone, .. } => {
            over(k::ZK_EXPIRED, k::ZK_EXPIRED_GONE, actor, gone)
        }
        ZkEvent::Pinged { deadline } => {
            Said::new(k::ZK_PINGED, &[("who", &actor), ("at", deadline)])
        }
        ZkEvent::Read { path, watch: false, .. } => {
            Said::new(k::ZK_READ, &[("who", &actor), ("path", path)])
        }
        ZkEvent::Read { path, watch: true, .. } => {
            Said::new(k::ZK_READ_WATCH, &[("who", &actor), ("path", path)])
        }
        ZkEvent::Created { path, ephemeral: true, .. } => {
            Said::new(k::ZK_CREATED_EPHEMERAL, &[("who", &actor), ("path", path)])
        }
        ZkEvent::Created { path, .. } => {
            Said::new(k::ZK_CREATED, &[("who", &actor), ("path", path)])
        }
        ZkEvent::DataSet { path, .. } => Said::new(k::ZK_SET, &[("who", &actor), ("path", path)]),
        ZkEvent::AclSet { path, .. } => Said::new(k::ZK_ACL, &[("who", &actor), ("path", path)]),
        ZkEvent::Deleted { path, .. } => {
            Said::new(k::ZK_DELETED, &[("who", &actor), ("path", path)])
        }
        ZkEvent::Swept { path, .. } => Said::new(k::ZK_SWEPT, &[("path", path)]),
        ZkEvent::Multi { count, first, .. } => {
            Said::new(k::ZK_MULTI, &[("who", &actor), ("n", count), ("path", first)])
        }
        ZkEvent::Failed { what, path, error, .. } => {
            let error = error.name();
            let values: [(_, &dyn std::fmt::Display); 4] =
                [("who", &actor), ("what", what), ("path", path), ("error", &error)];
            Said::new(k::ZK_FAILED, &values)
        }
        ZkEvent::ReadFailed { path, error, .. } => {
            let error = error.name();
            Said::new(k::ZK_READ_FAILED, &[("who", &actor), ("path", path), ("error", &error)])
        }
        // The caller knows the names.
        ZkEvent::WatchesFired { path, kind, .. } => {
            let kind = kind.name();
            Said::new(k::ZK_FIRED, &[("path", path), ("kind", &kind), ("whom", &actor)])
        }
    }
}

fn over(
    nothing: crate::i18n::Key,
    some: crate::i18n::Key,
    actor: &str,
    gone: &[kafkascope_core::zk::op::Path],
) -> Said {
    match gone.len() {
        0 => Said::new(nothing, &[("who", &actor)]),
        n => Said::new(some, &[("who", &actor), ("n", &n)]),
    }
}

pub fn icon(event: &ZkEvent) -> &'static str {
    match event {
        ZkEvent::ServerStopped => "stop",
        ZkEvent::ServerStarted => "power",
        ZkEvent::SessionOpened { .. }
        | ZkEvent::SessionResumed { .. }
        | ZkEvent::SessionUnknown { .. }
        | ZkEvent::SessionClosed { .. }
        | ZkEvent::SessionExpired { .. }
        | ZkEvent::Pinged { .. } => "session",
        ZkEvent::Read { what: Reading::Watch, .. }
        | ZkEvent::Read { watch: true, .. }
        | ZkEvent::WatchesFired { .. } => "eye",
        ZkEvent::Created { path, .. } if &**path == "/controller" => "crown",
        ZkEvent::Failed { .. } | ZkEvent::ReadFailed { .. } => "warn",
        _ => "znode",
    }
}
