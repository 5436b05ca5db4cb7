//! What no vector shows: mutations break exactly their rule, sessions move and outlive a restart.

use super::*;
use crate::zk::op::{ConnectRequest, Data, WatcherType, open_acl};
#[cfg(feature = "mutations")]
use crate::zk::op::{EventType, Reply};

const IP: [u8; 4] = [127, 0, 0, 1];

struct Rig {
    server: Server,
    now: Instant,
    out: Vec<ServerOut>,
}

impl Rig {
    fn new(config: Config) -> Rig {
        let mut rig = Rig { server: Server::new(config), now: Instant::ZERO, out: Vec::new() };
        rig.connect(1, SessionId(0), 0);
        rig
    }

    fn connect(&mut self, conn: u32, session: SessionId, password: u64) {
        let request = ConnectRequest { session, password, timeout_ms: 6_000, last_zxid_seen: 0 };
        self.send(conn, ToServer::Connect(request));
    }

    fn send(&mut self, conn: u32, frame: ToServer) {
        self.out.clear();
        self.server.receive(self.now, ConnId(conn), IP, frame, &mut self.out);
    }

    fn ask(&mut self, conn: u32, op: Op) -> Vec<String> {
        self.send(conn, ToServer::Request { xid: 1, op });
        self.said()
    }

    /// What was sent or closed, in a word each.
    fn said(&self) -> Vec<String> {
        let word = |out: &ServerOut| match out {
            ServerOut::Send { conn, frame: ToClient::Event { kind, .. } } => {
                Some(format!("{} {}", conn.0, kind.name()))
            }
            ServerOut::Send { conn, frame: ToClient::Reply { result, .. } } => {
                Some(format!("{} {}", conn.0, if result.is_ok() { "ok" } else { "error" }))
            }
            ServerOut::Send { conn, .. } => Some(format!("{} hello", conn.0)),
            ServerOut::Close { conn } => Some(format!("{} closed", conn.0)),
            ServerOut::Txn(_) => None,
        };
        self.out.iter().filter_map(word).collect()
    }

    fn session(&self, conn: u32) -> (SessionId, u64) {
        let id = self.server.session_on(ConnId(conn)).unwrap_or_default();
        (id, self.server.session(id).map_or(0, |session| session.password))
    }
}

fn create(path: &str, mode: CreateMode) -> Op {
    Op::Create { path: path.into(), data: Data::None, acl: open_acl(), mode, ttl_ms: -1 }
}

fn set(path: &str) -> Op {
    Op::SetData { path: path.into(), data: None, version: -1 }
}

fn watch(path: &str) -> Op {
    Op::GetData { path: path.into(), watch: true }
}

#[test]
fn a_second_connection_of_a_session_closes_the_first() {
    let mut rig = Rig::new(Config::default());
    let (session, password) = rig.session(1);
    rig.connect(2, session, password);
    assert_eq!(rig.said(), ["1 closed", "2 hello"]);
    rig.connect(3, session, password ^ 1);
    assert_eq!(rig.said(), ["2 closed", "3 hello", "3 closed"]);
    assert!(rig.server.session(session).is_some_and(|known| known.conn.is_none()));
}

#[test]
fn a_restart_keeps_sessions_and_gives_them_their_full_time() {
    let mut rig = Rig::new(Config::default());
    rig.ask(1, create("/e", CreateMode::Ephemeral));
    rig.ask(1, watch("/e"));
    rig.now = Instant(5_000_000);
    rig.server.restart(rig.now);
    assert_eq!(rig.server.next_expiry(), Instant(12_000_000));
    assert_eq!(rig.server.watch_count("/e"), 0);
    rig.out.clear();
    rig.server.expire(Instant(12_000_000), &mut rig.out);
    assert!(!rig.server.tree().contains("/e"));
    assert_eq!(rig.server.next_expiry(), Instant::NEVER);
}

#[test]
fn every_packet_moves_the_deadline_and_silence_does_not() {
    let mut rig = Rig::new(Config::default());
    assert_eq!(rig.server.next_expiry(), Instant(8_000_000));
    rig.now = Instant(4_100_000);
    rig.send(1, ToServer::Ping);
    assert_eq!(rig.server.next_expiry(), Instant(12_000_000));
    rig.server.expire(Instant(11_999_999), &mut rig.out);
    assert_eq!(rig.server.sessions().len(), 1);
    rig.server.expire(Instant(12_000_000), &mut rig.out);
    assert_eq!(rig.server.sessions().len(), 0);
}

#[test]
fn a_clone_stands_still_while_the_original_goes_on() {
    let digest = |server: &Server| {
        let mut digest = Digest::default();
        server.digest(&mut digest);
        digest.finish()
    };
    let mut rig = Rig::new(Config::default());
    rig.ask(1, create("/a", CreateMode::Persistent));
    let (kept, before) = (rig.server.clone(), digest(&rig.server));
    rig.ask(1, create("/a/b", CreateMode::Persistent));
    rig.ask(1, watch("/a"));
    assert_eq!(digest(&kept), before);
    assert_ne!(digest(&rig.server), before);
}

#[test]
fn frames_without_a_session_cost_the_connection_and_nothing_else() {
    let mut rig = Rig::new(Config::default());
    rig.send(9, ToServer::Ping);
    assert_eq!(rig.said(), ["9 closed"]);
    assert_eq!(rig.ask(8, set("/")), ["8 closed"]);
    assert_eq!(rig.server.last_zxid(), 1);
}

#[cfg(feature = "mutations")]
fn broken(mutation: Mutation) -> Rig {
    let mut rig = Rig::new(Config { mutation: Some(mutation), ..Config::default() });
    rig.ask(1, create("/e", CreateMode::Ephemeral));
    rig
}

#[cfg(feature = "mutations")]
#[test]
fn each_mutation_breaks_its_rule() {
    let mut rig = broken(Mutation::EphemeralOutlivesSession);
    rig.ask(1, Op::CloseSession);
    assert!(rig.server.tree().contains("/e"));

    let mut rig = broken(Mutation::WatchFiresTwice);
    rig.ask(1, watch("/e"));
    let event = format!("1 {}", EventType::NodeDataChanged.name());
    assert_eq!(rig.ask(1, set("/e")), [&*event, "1 ok"]);
    assert_eq!(rig.ask(1, set("/e")), [&*event, "1 ok"]);

    let mut rig = broken(Mutation::ReplyBeforeEvent);
    rig.ask(1, watch("/e"));
    assert_eq!(rig.ask(1, set("/e")), ["1 ok", &*event]);

    let mut rig = broken(Mutation::ZxidGoesBack);
    rig.send(1, ToServer::Request { xid: 2, op: Op::Exists { path: "/e".into(), watch: false } });
    let zxid = |out: &ServerOut| match out {
        ServerOut::Send {
            frame: ToClient::Reply { zxid, result: Ok(Reply::Stat(_)), .. }, ..
        } => Some(*zxid),
        _ => None,
    };
    assert_eq!(rig.out.iter().find_map(zxid), Some(1));
}

/// Found by the differential test, which no recording shows: the recorder has no words for it.
#[test]
fn a_list_has_no_place_in_a_multi() {
    let mut rig = Rig::new(Config::default());
    let set = Op::SetAcl { path: "/".into(), acl: open_acl(), version: -1 };
    rig.send(1, ToServer::Request { xid: 1, op: Op::Multi(vec![set]) });
    let failure = Failure { error: Error::MarshallingError, multi: None };
    let frame = ToClient::Reply { xid: 1, zxid: 2, result: Err(failure) };
    assert_eq!(rig.out.last(), Some(&ServerOut::Send { conn: ConnId(1), frame }));
}

#[test]
fn until_3_8_a_check_finds_the_watches_of_others() {
    for (release, said) in [(Release::V3_8_4, "2 ok"), (Release::V3_9_5, "2 error")] {
        let mut rig = Rig::new(Config { release, ..Config::default() });
        rig.connect(2, SessionId(0), 0);
        rig.ask(1, Op::Exists { path: "/a".into(), watch: true });
        let kind = WatcherType::Any;
        assert_eq!(rig.ask(2, Op::CheckWatches { path: "/a".into(), kind }), [said]);
        assert_eq!(rig.ask(2, Op::RemoveWatches { path: "/a".into(), kind }), ["2 error"]);
    }
}

#[test]
fn placed_nodes_have_what_is_given_and_tell_nobody() {
    let mut rig = Rig::new(Config::default());
    rig.ask(1, create("/a", CreateMode::Persistent));
    rig.ask(1, watch("/a"));
    let owner = rig.session(1).0;
    let placed = |path: &str, owner, version, cversion| load::Placed {
        path: path.into(),
        data: Some(b"x".as_slice().into()),
        owner,
        version,
        cversion,
        aversion: 0,
    };
    let zxid = rig.server.last_zxid();
    rig.out.clear();
    rig.server.place(&[placed("/a", None, 7, 5), placed("/a/e", Some(owner), 0, 0)], 9);
    assert_eq!((rig.said(), rig.server.last_zxid()), (vec![], zxid));
    let stat = |rig: &Rig, path: &str| rig.server.tree().get(path).unwrap().stat();
    assert_eq!((stat(&rig, "/a").version, stat(&rig, "/a").cversion), (7, 5));
    assert_eq!(stat(&rig, "/a/e").ephemeral_owner, owner.0);
    assert_eq!(rig.server.watched_by(owner), (vec!["/a".into()], vec![]));
    // It goes with its session, as one that was created.
    rig.ask(1, Op::CloseSession);
    assert!(!rig.server.tree().contains("/a/e"));
    rig.server.take_out(&"/a".into());
    assert!(!rig.server.tree().contains("/a"));
}
