//! The client's rules of time and order, step by step.

use std::sync::Arc;

use super::super::op::{SetWatches, WatcherType};
use super::*;
use expect_test::{Expect, expect};

/// A client with its log: one line per thing that it asks or tells.
struct Rig {
    client: Client,
    rng: Rng,
    now: Instant,
    log: String,
}

impl Rig {
    fn new(release: Release, timeout_ms: i32, servers: u32) -> Rig {
        let config = ClientConfig { release, session_timeout_ms: timeout_ms, servers };
        let (client, rng) = (Client::new(config), Rng::new(1));
        Rig { client, rng, now: Instant::ZERO, log: String::new() }
    }

    fn act(&mut self, f: impl FnOnce(&mut Client, Instant, &mut Rng, &mut Vec<ClientOut>)) {
        let mut out = Vec::new();
        f(&mut self.client, self.now, &mut self.rng, &mut out);
        for what in out {
            self.log += &format!("{} {}\n", self.now, line(&what));
        }
    }

    /// Starts, and lets a server grant what was asked.
    fn connected(release: Release, timeout_ms: i32) -> Rig {
        let mut rig = Rig::new(release, timeout_ms, 1);
        rig.act(|c, now, rng, out| c.start(now, rng, out));
        rig.greet(timeout_ms);
        rig.log.clear();
        rig
    }

    fn greet(&mut self, timeout_ms: i32) {
        let session = SessionId(i64::from(timeout_ms > 0) * 7);
        self.act(|c, now, _, out| c.opened(now, out));
        self.frame(ToClient::Connected { session, password: 1, timeout_ms });
    }

    fn frame(&mut self, frame: ToClient) {
        self.act(|c, now, rng, out| c.receive(now, rng, frame, out));
    }

    fn reply(&mut self, xid: i32, result: Result<Reply, Error>) {
        self.frame(ToClient::Reply { xid, zxid: 40, result: result.map_err(Failure::from) });
    }

    fn submit(&mut self, tag: Tag, op: Op, watcher: Option<u32>) {
        self.act(|c, now, _, out| c.submit(now, tag, op, watcher.map(WatcherId), out));
    }

    fn at(&mut self, ms: u64) {
        self.now = Instant::ZERO + Span::from_millis(ms);
    }

    /// To the next deadline.
    fn tick(&mut self) {
        self.now = self.client.next_deadline();
        self.act(|c, now, rng, out| c.due(now, rng, out));
    }

    fn check(&self, expected: Expect) {
        expected.assert_eq(&self.log);
    }
}

fn line(out: &ClientOut) -> String {
    let names =
        |w: &Vec<WatcherId>| w.iter().map(|w| w.0.to_string()).collect::<Vec<_>>().join(" ");
    match out {
        ClientOut::Send(ToServer::Request { xid, op }) => {
            let text = format!("{op:?}");
            format!("send {xid} {}", text.split([' ', '(']).next().unwrap_or_default())
        }
        ClientOut::Send(ToServer::Connect(c)) => format!("send connect {}", c.session),
        ClientOut::Send(ToServer::Ping) => "ping".into(),
        ClientOut::Done { tag, result: Ok(_) } => format!("done {tag}"),
        ClientOut::Done { tag, result: Err(f) } => format!("done {tag} {}", f.error.name()),
        ClientOut::Event { watchers, kind, path, .. } => {
            format!("{} {path} to {}", kind.name(), names(watchers))
        }
        ClientOut::State { state, watchers } => format!("{} to {}", state.name(), names(watchers)),
        ClientOut::Open => "open".into(),
        ClientOut::Close => "close".into(),
    }
}

fn get(path: &str) -> Op {
    Op::GetData { path: path.into(), watch: false }
}

fn data() -> Result<Reply, Error> {
    Ok(Reply::Data { data: None, stat: Default::default() })
}

#[test]
fn pings_at_a_third_and_gives_up_at_two_thirds() {
    for release in Release::ALL {
        let mut rig = Rig::new(release, 6_000, 1);
        rig.act(|c, now, rng, out| c.start(now, rng, out));
        rig.greet(6_000);
        rig.tick();
        rig.frame(ToClient::Pong { zxid: 5 });
        rig.tick();
        rig.tick();
        rig.check(expect![[r#"
            0.000 open
            0.000 send connect 0x0
            0.000 SyncConnected to 0
            2.000 ping
            4.000 ping
            6.000 close
            6.000 Disconnected to 0
        "#]]);
    }
}

#[test]
fn a_ping_that_is_not_answered_is_not_repeated_before_the_end() {
    let mut rig = Rig::connected(Release::V3_8_4, 40_000);
    rig.tick();
    rig.tick();
    rig.check(expect![[r#"
        13.333 ping
        26.666 close
        26.666 Disconnected to 0
    "#]]);
}

#[test]
fn a_client_that_wakes_after_a_second_pings_earlier() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.at(900);
    rig.submit(1, get("/a"), None);
    rig.reply(1, data());
    rig.at(2_000);
    rig.submit(2, get("/a"), None);
    rig.reply(2, data());
    rig.tick();
    rig.check(expect![[r#"
        0.900 send 1 GetData
        0.900 done 1
        2.000 send 2 GetData
        2.000 done 2
        4.000 ping
    "#]]);
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.at(1_200);
    rig.frame(ToClient::Event { kind: EventType::NodeCreated, path: "/a".into(), zxid: -1 });
    rig.check(expect![[r#"
        1.200 ping
    "#]]);
}

#[test]
fn nobody_hears_of_a_first_try_that_fails() {
    let mut rig = Rig::new(Release::V3_4_6, 6_000, 1);
    rig.act(|c, now, rng, out| c.start(now, rng, out));
    rig.submit(1, get("/a"), None);
    rig.act(|c, now, rng, out| c.closed(now, rng, out));
    rig.tick();
    rig.tick();
    rig.check(expect![[r#"
        0.000 open
        0.000 close
        0.000 done 1 CONNECTIONLOSS
        1.000 open
        7.000 close
    "#]]);
}

#[test]
fn another_server_is_tried_without_the_second_of_pause() {
    let mut rig = Rig::new(Release::V3_8_4, 6_000, 3);
    rig.act(|c, now, rng, out| c.start(now, rng, out));
    for _ in 0..3 {
        rig.act(|c, now, rng, out| c.closed(now, rng, out));
        rig.tick();
    }
    rig.tick();
    rig.check(expect![[r#"
        0.000 open
        0.000 close
        0.000 open
        0.000 close
        0.000 open
        0.000 close
        1.000 open
        3.000 close
    "#]]);
}

/// [spec zookeeper.md S6]: refused from 0.1 s on, 3.9.5 ends at the first try after 4/3 of 2 s.
#[test]
fn left_alone_only_3_9_5_expires() {
    let told = |release| {
        let mut rig = Rig::connected(release, 2_000);
        rig.submit(1, get("/a"), Some(3));
        rig.reply(1, data());
        rig.at(100);
        rig.act(|c, now, rng, out| c.closed(now, rng, out));
        while rig.now < Instant(8_000_000) && rig.client.phase() != Phase::Over {
            rig.tick();
            rig.act(|c, now, rng, out| c.closed(now, rng, out));
        }
        rig.submit(2, get("/a"), None);
        rig.log
            .lines()
            .filter(|l| !l.ends_with("open") && !l.ends_with("close"))
            .fold(String::new(), |text, line| text + line + "\n")
    };
    expect![[r#"
        0.000 send 1 GetData
        0.000 done 1
        0.100 Disconnected to 0 3
    "#]]
    .assert_eq(&told(Release::V3_8_4));
    expect![[r#"
        0.000 send 1 GetData
        0.000 done 1
        0.100 Disconnected to 0 3
        3.820 Expired to 0 3
        3.820 done 2 SESSIONEXPIRED
    "#]]
    .assert_eq(&told(Release::V3_9_5));
}

#[test]
fn credentials_then_watches_then_requests_after_a_reconnect() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, Op::AddAuth { scheme: "digest".into(), auth: Arc::from(*b"a:b") }, None);
    rig.submit(2, get("/a"), Some(5));
    rig.submit(3, Op::Exists { path: "/b".into(), watch: false }, Some(6));
    rig.reply(1, data());
    rig.reply(2, Err(Error::NoNode));
    rig.submit(4, get("/c"), None);
    rig.act(|c, now, rng, out| c.closed(now, rng, out));
    rig.submit(5, get("/d"), None);
    rig.tick();
    rig.greet(6_000);
    rig.check(expect![[r#"
        0.000 done 1
        0.000 send -4 AddAuth
        0.000 send 1 GetData
        0.000 send 2 Exists
        0.000 done 2
        0.000 done 3 NONODE
        0.000 send 3 GetData
        0.000 close
        0.000 done 4 CONNECTIONLOSS
        0.000 Disconnected to 0 5 6
        1.491 open
        1.491 send connect 0x7
        1.491 SyncConnected to 0 5 6
        1.491 send -4 AddAuth
        1.491 send -8 SetWatches
        1.491 send 4 GetData
    "#]]);
    let sent = rig.client.pending.front().map(|p| p.op.clone());
    let watches = SetWatches {
        relative_zxid: 40,
        data: vec!["/a".into()],
        exist: vec!["/b".into()],
        ..SetWatches::default()
    };
    assert_eq!(sent, Some(Op::SetWatches(Box::new(watches))));
}

#[test]
fn a_server_that_no_longer_knows_the_session_ends_it() {
    let mut rig = Rig::connected(Release::V3_4_6, 6_000);
    rig.act(|c, now, rng, out| c.closed(now, rng, out));
    rig.submit(1, get("/a"), None);
    rig.tick();
    rig.greet(0);
    rig.submit(2, get("/a"), None);
    rig.check(expect![[r#"
        0.000 close
        0.000 Disconnected to 0
        1.491 open
        1.491 send connect 0x7
        1.491 Expired to 0
        1.491 done 1 SESSIONEXPIRED
        1.491 close
        1.491 done 2 SESSIONEXPIRED
    "#]]);
    assert_eq!(rig.client.next_deadline(), Instant::NEVER);
}

#[test]
fn close_waits_for_the_reply_and_swallows_a_loss() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.act(|c, now, _, out| c.close(now, 9, out));
    rig.submit(1, get("/a"), None);
    rig.reply(1, Ok(Reply::Done));
    rig.check(expect![[r#"
        0.000 send 1 CloseSession
        0.000 done 1 CONNECTIONLOSS
        0.000 done 9
        0.000 Closed to 0
        0.000 close
    "#]]);
    let mut rig = Rig::connected(Release::V3_4_6, 6_000);
    rig.act(|c, now, rng, out| c.closed(now, rng, out));
    rig.act(|c, now, _, out| c.close(now, 9, out));
    rig.tick();
    rig.check(expect![[r#"
        0.000 close
        0.000 Disconnected to 0
        0.491 done 9
        0.491 Closed to 
    "#]]);
}

#[test]
fn an_answer_out_of_order_costs_the_connection() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, get("/a"), None);
    rig.reply(5, data());
    rig.check(expect![[r#"
        0.000 send 1 GetData
        0.000 close
        0.000 done 1 CONNECTIONLOSS
        0.000 Disconnected to 0
    "#]]);
}

#[test]
fn a_failed_login_is_final() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, Op::AddAuth { scheme: "sasl".into(), auth: Arc::from(*b"x") }, None);
    rig.submit(2, get("/a"), None);
    rig.reply(XID_AUTH, Err(Error::AuthFailed));
    rig.check(expect![[r#"
        0.000 done 1
        0.000 send -4 AddAuth
        0.000 send 1 GetData
        0.000 AuthFailed to 0
        0.000 done 2 AUTHFAILED
        0.000 close
    "#]]);
}

#[test]
fn each_watcher_is_told_once_and_one_shot_watches_are_used_up() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, get("/a"), Some(1));
    rig.submit(2, Op::Exists { path: "/a".into(), watch: false }, Some(1));
    rig.submit(3, Op::GetChildren { path: "/a".into(), watch: false }, Some(2));
    for xid in 1..4 {
        rig.reply(xid, data());
    }
    rig.log.clear();
    for _ in 0..2 {
        let (kind, path) = (EventType::NodeDeleted, "/a".into());
        rig.frame(ToClient::Event { kind, path, zxid: -1 });
    }
    rig.check(expect![[r#"
        0.000 NodeDeleted /a to 1 2
    "#]]);
}

#[test]
fn watches_are_removed_with_a_word_to_their_watchers() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, get("/a"), Some(1));
    rig.reply(1, data());
    let remove = || Op::CheckWatches { path: "/a".into(), kind: WatcherType::Data };
    rig.submit(2, remove(), Some(1));
    rig.reply(2, Ok(Reply::Done));
    rig.submit(3, remove(), Some(1));
    rig.reply(3, Ok(Reply::Done));
    rig.check(expect![[r#"
        0.000 send 1 GetData
        0.000 done 1
        0.000 send 2 CheckWatches
        0.000 DataWatchRemoved /a to 1
        0.000 done 2
        0.000 send 3 CheckWatches
        0.000 done 3 NOWATCHER
    "#]]);
}

#[test]
fn bad_paths_and_empty_lists_never_leave_the_client() {
    let mut rig = Rig::connected(Release::V3_8_4, 6_000);
    rig.submit(1, get("/a/"), None);
    rig.submit(2, Op::Multi(vec![get("/a"), get("b")]), None);
    rig.submit(3, Op::SetAcl { path: "/a".into(), acl: Arc::from([]), version: -1 }, None);
    rig.submit(4, Op::Multi(Vec::new()), None);
    rig.check(expect![[r#"
        0.000 done 1 BADARGUMENTS
        0.000 done 2 BADARGUMENTS
        0.000 done 3 INVALIDACL
        0.000 done 4
    "#]]);
    let mut rig = Rig::connected(Release::V3_5_9, 6_000);
    rig.submit(4, Op::Multi(Vec::new()), None);
    rig.check(expect![[r#"
        0.000 send 1 Multi
    "#]]);
}
