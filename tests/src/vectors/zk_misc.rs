//! Small rules of ZooKeeper, each put to the function or the server that knows it.

use kafkascope_core::base::Instant;
use kafkascope_core::zk::op::{ConnId, ConnectRequest, Release, SessionId, ToClient, ToServer};
use kafkascope_core::zk::path;
use kafkascope_core::zk::server::{Config, Server, ServerOut};
use kafkascope_core::zk::session::expiry_ms;
use kafkascope_core::zk::vote::{self, Vote};
use serde_json::{Value, json};

use super::Failure;
use super::json::{int, text};

const KINDS: [&str; 5] =
    ["fle-vote-wins", "session-expiry-bucket", "session-timeout-negotiation", "path-valid", "zxid"];

pub fn is(vector: &Value) -> bool {
    vector["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind))
}

/// The question on every release; `differs` has what one of them answers otherwise.
pub fn run(vector: &Value) -> Vec<Failure> {
    let mut failures = Vec::new();
    for release in Release::ALL {
        let (field, got) = answer(vector, release);
        let expected = vector["differs"][release.name()].get(field).unwrap_or(&vector[field]);
        if *expected != got {
            failures.push(Failure::new(release.name(), field, expected.clone(), got));
        }
    }
    failures
}

fn answer(vector: &Value, release: Release) -> (&'static str, Value) {
    let number = |field: &str| int(&vector[field]);
    let positive = |field: &str| u64::try_from(number(field)).unwrap_or_default();
    match text(&vector["kind"]) {
        "fle-vote-wins" => {
            let (new, current) = (&vector["new"], &vector["current"]);
            let weight = new["weight"].as_u64().unwrap_or(1);
            ("expect", vote::beats(a_vote(new), weight, a_vote(current)).into())
        }
        "session-expiry-bucket" => {
            let tick_ms = positive("tick_ms");
            let at = expiry_ms(positive("now_ms"), positive("timeout_ms"), tick_ms);
            ("expect_expiry_ms", at.into())
        }
        "session-timeout-negotiation" => ("expect_ms", negotiated(vector, release)),
        "path-valid" => ("expect", path::is_valid(text(&vector["path"]), release).into()),
        _ => {
            let zxid = vote::zxid(number("epoch"), number("counter"));
            ("expect_zxid_hex", format!("{zxid:#x}").into())
        }
    }
}

fn a_vote(value: &Value) -> Vote {
    Vote {
        leader: value["sid"].as_u64().unwrap_or_default(),
        zxid: int(&value["zxid"]),
        peer_epoch: int(&value["peer_epoch"]),
    }
}

/// Asks a server by connecting to it.
fn negotiated(vector: &Value, release: Release) -> Value {
    let number = |field: &str| i32::try_from(int(&vector[field])).ok();
    let config = Config {
        release,
        tick_ms: number("tick_ms").and_then(|ms| u32::try_from(ms).ok()).unwrap_or_default(),
        min_session_timeout_ms: number("min_ms").filter(|_| vector.get("min_ms").is_some()),
        max_session_timeout_ms: number("max_ms").filter(|_| vector.get("max_ms").is_some()),
        ..Config::default()
    };
    let (mut server, mut out) = (Server::new(config), Vec::new());
    let request = ConnectRequest {
        session: SessionId(0),
        password: 0,
        timeout_ms: number("requested_ms").unwrap_or_default(),
        last_zxid_seen: 0,
    };
    let frame = ToServer::Connect(request);
    server.receive(Instant::ZERO, ConnId(1), [127, 0, 0, 1], frame, &mut out);
    out.into_iter()
        .find_map(|out| match out {
            ServerOut::Send { frame: ToClient::Connected { timeout_ms, .. }, .. } => {
                Some(json!(timeout_ms))
            }
            _ => None,
        })
        .unwrap_or(Value::Null)
}
