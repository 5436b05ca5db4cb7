//! The vocabulary on one server, beyond what the recordings here say with it.

use serde_json::{Value, json};

use super::super::Replay;
use super::play;

fn steps(software: &str, clients: &str, ops: &[Value]) -> Replay {
    let steps: Vec<Value> = ops.iter().map(|op| json!({"op": op})).collect();
    play(&json!({"software": software, "config": {"clients": clients}, "steps": steps}))
}

/// Facts of the last step of a run of bare clients.
fn last(ops: &[Value]) -> Value {
    match steps("ZooKeeper 3.9.5", "bare", ops) {
        Replay::Done(run) => run["steps"].as_array().and_then(|s| s.last()).cloned().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn start() -> Value {
    json!({"op": "start-server", "id": 1, "server": {"fresh": true, "tickTime": 500}})
}

fn connect(client: &str, on: &str, timeout_ms: i32) -> Value {
    json!({"op": "connect", "client": client, "server": 1, "timeout_ms": timeout_ms, "on": on})
}

#[test]
fn an_ephemeral_outlives_a_cut_by_its_bucket_and_a_close_by_nothing() {
    let gone = |how: &str| {
        let path = "/e";
        let ops = json!([
            connect("o", "", 9_000),
            connect("c", "", 3_000),
            {"op": "call", "client": "c", "name": "create", "path": path, "data": "",
             "mode": "EPHEMERAL"},
            {"op": "call", "client": "o", "name": "exists", "path": path, "watch": true},
            {"op": "ping", "client": "c"},
            {"op": "end-session", "client": "c", "how": how},
            {"op": "wait", "until": ["event to o"], "max_s": 12, "pings": ["o"],
             "pings_every_ms": 1000, "into": "event"},
            {"op": "listen", "client": "c", "max_s": 0.5, "into": "connection"},
            {"op": "resume", "client": "c", "server": 1, "timeout_ms": 3000, "into": "resume"},
        ]);
        let done = last(&[start(), json!({"op": "sequence", "ops": ops})]);
        assert_eq!(done["event"], json!(["NodeDeleted"]));
        assert_eq!(done["resume"], "session expired");
        assert_eq!(done["connection"], "closed by its server");
        done["ephemeral_gone_after_s"].clone()
    };
    assert_eq!(gone("close"), "< 0.2");
    for how in ["cut", "silent"] {
        let seconds = gone(how).as_f64().unwrap();
        assert!((3.0..=3.5).contains(&seconds), "{how}: {seconds}");
    }
}

#[test]
fn a_second_connection_on_the_same_server_closes_the_first() {
    let on = |on: &str, op: Value| {
        let mut op = op;
        op["client"] = "c".into();
        op["on"] = on.into();
        op
    };
    let resume = json!({"op": "resume", "server": 1, "timeout_ms": 8000, "into": "second"});
    let exists = json!({"op": "call", "name": "exists", "path": "/", "into": "old.exists"});
    let ops = json!([
        connect("c", "first", 8_000),
        on("second", resume),
        on("first", json!({"op": "listen", "max_s": 0.2, "into": "old.takeover"})),
        on("first", exists),
        on("first", json!({"op": "ping", "wait_s": 2, "into": "old.ping"})),
        on("second", json!({"op": "ping", "into": "new.ping"})),
    ]);
    let done = last(&[start(), json!({"op": "sequence", "ops": ops})]);
    assert_eq!(done["second"], json!({"negotiated_timeout_ms": 8000, "same_session": true}));
    let closed = "connection closed";
    let old = json!({"takeover": "closed by the server", "exists": closed, "ping": closed});
    assert_eq!(done["old"], old);
    assert_eq!(done["new"], json!({"ping": "answered"}));
}

#[test]
fn nobody_listens_where_a_server_was_stopped() {
    let mut refused = connect("c", "", 3_000);
    refused["into"] = "client".into();
    let done = last(&[start(), json!({"op": "stop-server", "id": 1}), refused]);
    assert_eq!(done["client"], "refused: ConnectionRefusedError");
}

#[test]
fn what_is_not_built_and_what_nobody_knows_are_two_things() {
    let three = json!({"op": "start-server", "ids": [1, 2, 3]});
    let waiting = Replay::Waiting("ZooKeeper ensembles".into());
    assert_eq!(steps("ZooKeeper 3.9.5", "bare", &[three]), waiting);
    let unknown = steps("ZooKeeper 3.9.5", "bare", &[json!({"op": "dance"})]);
    assert_eq!(unknown, Replay::Unknown("op dance".into()));
    let setting = json!({"op": "start-server", "id": 1, "server": {"fresh": true, "loud": 1}});
    let unknown = steps("ZooKeeper 3.9.5", "bare", &[setting]);
    assert_eq!(unknown, Replay::Unknown("server setting loud".into()));
}
