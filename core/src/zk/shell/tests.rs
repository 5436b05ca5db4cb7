//! The whole shell against the model's server. What is expected here was compared with
//! recordings of the real zkCli 3.8.4 and 3.9.5.

use expect_test::{Expect, expect};

use super::*;
use crate::base::Span;
use crate::zk::op::{ConnId, ToServer};
use crate::zk::server::{Config, Server, ServerOut};

const PEER: [u8; 4] = [127, 0, 0, 1];

/// A shell and a server with nothing between them.
struct Rig {
    shell: Shell,
    server: Server,
    rng: Rng,
    now: Instant,
    conn: Option<ConnId>,
    opened: u32,
    reachable: bool,
    said: Vec<ShellOut>,
}

impl Rig {
    fn new(release: Release) -> Rig {
        Rig::with_timeout(release, 30_000)
    }

    fn with_timeout(release: Release, session_timeout_ms: i32) -> Rig {
        let config = Config {
            release,
            wall_ms_at_zero: 1_420_070_400_000,
            extended_types: true,
            max_session_timeout_ms: Some(session_timeout_ms),
            ..Config::default()
        };
        let mut rig = Rig {
            shell: Shell::new(ZkSettings { release, session_timeout_ms }),
            server: Server::new(config),
            rng: Rng::new(1),
            now: Instant::ZERO,
            conn: None,
            opened: 0,
            reachable: true,
            said: Vec::new(),
        };
        let mut out = Vec::new();
        rig.shell.start(rig.now, &mut rig.rng, &mut out);
        rig.settle(out);
        rig.wait(Span::from_secs(2));
        rig
    }

    /// Carries out what the shell asks until both are quiet. What the server sent on a connection
    /// that the shell has left by then is lost.
    fn settle(&mut self, out: Vec<ShellOut>) {
        let mut queue = VecDeque::from(out);
        let mut arriving: VecDeque<(ConnId, ZkInput)> = VecDeque::new();
        loop {
            if let Some(said) = queue.pop_front() {
                match &said {
                    ShellOut::Io(Io::Open) if self.reachable => {
                        self.opened += 1;
                        self.conn = Some(ConnId(self.opened));
                        self.input(ZkInput::Opened, &mut queue);
                    }
                    ShellOut::Io(Io::Open) => self.input(ZkInput::Closed, &mut queue),
                    ShellOut::Io(Io::Send(frame)) => arriving.extend(self.serve(frame.clone())),
                    ShellOut::Io(Io::Close) => self.conn = None,
                    _ => {}
                }
                self.said.push(said);
            } else if let Some((conn, input)) = arriving.pop_front() {
                if self.conn == Some(conn) {
                    self.input(input, &mut queue);
                }
            } else {
                return;
            }
        }
    }

    fn serve(&mut self, frame: ToServer) -> Vec<(ConnId, ZkInput)> {
        let Some(conn) = self.conn.filter(|_| self.reachable) else { return Vec::new() };
        let mut out = Vec::new();
        self.server.receive(self.now, conn, PEER, frame, &mut out);
        out.into_iter()
            .filter_map(|said| match said {
                ServerOut::Send { conn, frame } => Some((conn, ZkInput::Frame(frame))),
                ServerOut::Close { conn } => Some((conn, ZkInput::Closed)),
                ServerOut::Txn(_) => None,
            })
            .collect()
    }

    fn input(&mut self, input: ZkInput, queue: &mut VecDeque<ShellOut>) {
        let mut out = Vec::new();
        self.shell.input(self.now, &mut self.rng, input, &mut out);
        queue.extend(out);
    }

    /// Lets time pass for the shell; the server stands still.
    fn wait(&mut self, span: Span) {
        let until = self.now + span;
        while self.shell.next_deadline() <= until {
            self.now = self.shell.next_deadline().max(self.now);
            let mut queue = VecDeque::new();
            self.input(ZkInput::Due, &mut queue);
            self.settle(queue.into());
        }
        self.now = until;
    }

    fn run(&mut self, line: &str) {
        let mut out = Vec::new();
        self.shell.run(self.now, line, &mut out);
        self.settle(out);
    }

    /// The screen since the last look, with the kind of each line in front.
    fn screen(&mut self) -> String {
        let mut text = String::new();
        for said in std::mem::take(&mut self.said) {
            let ShellOut::Line(line) = said else { continue };
            let mark = match line.kind {
                LineKind::Command => "",
                LineKind::Output => "  ",
                LineKind::Error => "! ",
                LineKind::Watcher => "* ",
            };
            text += format!("{mark}{}", line.text).trim_end();
            text.push('\n');
        }
        text
    }
}

fn transcript(release: Release, lines: &[&str]) -> String {
    let mut rig = Rig::new(release);
    rig.screen();
    for line in lines {
        rig.run(line);
    }
    rig.screen()
}

fn shows(lines: &[&str], expected: &Expect) {
    expected.assert_eq(&transcript(Release::V3_8_4, lines));
}

#[test]
fn nodes_come_change_and_go() {
    shows(
        &[
            "create /b \"hello world\"",
            "get -s /b",
            "create /b",
            "set -v 9 /b x",
            "set -s /b 'it is'",
            "get /b",
            "create -s /b/n-",
            "ls -s /b",
            "delete /b",
        ],
        &expect![[r#"
            [zk: localhost:2181(CONNECTED) 0] create /b "hello world"
              Created /b
            [zk: localhost:2181(CONNECTED) 1] get -s /b
              hello world
              cZxid = 0x2
              ctime = Thu Jan 01 00:00:02 UTC 2015
              mZxid = 0x2
              mtime = Thu Jan 01 00:00:02 UTC 2015
              pZxid = 0x2
              cversion = 0
              dataVersion = 0
              aclVersion = 0
              ephemeralOwner = 0x0
              dataLength = 11
              numChildren = 0
            [zk: localhost:2181(CONNECTED) 2] create /b
            ! Node already exists: /b
            [zk: localhost:2181(CONNECTED) 3] set -v 9 /b x
            ! version No is not valid : /b
            [zk: localhost:2181(CONNECTED) 4] set -s /b 'it is'
              cZxid = 0x2
              ctime = Thu Jan 01 00:00:02 UTC 2015
              mZxid = 0x5
              mtime = Thu Jan 01 00:00:02 UTC 2015
              pZxid = 0x2
              cversion = 0
              dataVersion = 1
              aclVersion = 0
              ephemeralOwner = 0x0
              dataLength = 5
              numChildren = 0
            [zk: localhost:2181(CONNECTED) 5] get /b
              it is
            [zk: localhost:2181(CONNECTED) 6] create -s /b/n-
              Created /b/n-0000000000
            [zk: localhost:2181(CONNECTED) 7] ls -s /b
              [n-0000000000]
              cZxid = 0x2
              ctime = Thu Jan 01 00:00:02 UTC 2015
              mZxid = 0x5
              mtime = Thu Jan 01 00:00:02 UTC 2015
              pZxid = 0x6
              cversion = 1
              dataVersion = 1
              aclVersion = 0
              ephemeralOwner = 0x0
              dataLength = 5
              numChildren = 1
            [zk: localhost:2181(CONNECTED) 8] delete /b
            ! Node not empty: /b
        "#]],
    );
}

#[test]
fn ephemerals_nulls_and_what_is_missing() {
    shows(
        &[
            "create -e /e",
            "create /e/x",
            "create /nope/x",
            "get /zookeeper",
            "create /null",
            "get /null",
            "getEphemerals",
            "getAllChildrenNumber /",
            "delete /",
            "sync /nope",
            "delete -v 0 /e",
            "stat /e",
            "close",
            "ls /",
        ],
        &expect![[r#"
            [zk: localhost:2181(CONNECTED) 0] create -e /e
              Created /e
            [zk: localhost:2181(CONNECTED) 1] create /e/x
            ! Ephemerals cannot have children: /e/x
            [zk: localhost:2181(CONNECTED) 2] create /nope/x
            ! Node does not exist: /nope/x
            [zk: localhost:2181(CONNECTED) 3] get /zookeeper

            [zk: localhost:2181(CONNECTED) 4] create /null
              Created /null
            [zk: localhost:2181(CONNECTED) 5] get /null
              null
            [zk: localhost:2181(CONNECTED) 6] getEphemerals
              [/e]
            [zk: localhost:2181(CONNECTED) 7] getAllChildrenNumber /
              5
            [zk: localhost:2181(CONNECTED) 8] delete /
            ! Arguments are not valid : /
            [zk: localhost:2181(CONNECTED) 9] sync /nope
              Sync is OK
            [zk: localhost:2181(CONNECTED) 10] delete -v 0 /e
            [zk: localhost:2181(CONNECTED) 11] stat /e
            ! Node does not exist: /e
            [zk: localhost:2181(CONNECTED) 12] close
            *
            * WATCHER::
            *
            * WatchedEvent state:Closed type:None path:null
            [zk: localhost:2181(CLOSED) 13] ls /
              Not connected
        "#]],
    );
}

#[test]
fn whole_trees_take_many_requests() {
    shows(
        &[
            "create /t",
            "create /t/b",
            "create /t/a",
            "create /t/b/x",
            "ls -R /t",
            "setAcl -R /t world:anyone:cdra",
            "getAcl /t/b/x",
            "set /t/b/x new",
            "deleteall -b 2 /t",
            "ls /",
            "deleteall /t",
            "deleteall /",
            "ls -R /nope",
        ],
        &expect![[r#"
            [zk: localhost:2181(CONNECTED) 0] create /t
              Created /t
            [zk: localhost:2181(CONNECTED) 1] create /t/b
              Created /t/b
            [zk: localhost:2181(CONNECTED) 2] create /t/a
              Created /t/a
            [zk: localhost:2181(CONNECTED) 3] create /t/b/x
              Created /t/b/x
            [zk: localhost:2181(CONNECTED) 4] ls -R /t
              /t
              /t/a
              /t/b
              /t/b/x
            [zk: localhost:2181(CONNECTED) 5] setAcl -R /t world:anyone:cdra
            [zk: localhost:2181(CONNECTED) 6] getAcl /t/b/x
              'world,'anyone
              : cdra
            [zk: localhost:2181(CONNECTED) 7] set /t/b/x new
            ! Insufficient permission : /t/b/x
            [zk: localhost:2181(CONNECTED) 8] deleteall -b 2 /t
            [zk: localhost:2181(CONNECTED) 9] ls /
              [zookeeper]
            [zk: localhost:2181(CONNECTED) 10] deleteall /t
            ! Node does not exist: /t
            [zk: localhost:2181(CONNECTED) 11] deleteall /
            ! Failed to delete some node(s) in the subtree!
            [zk: localhost:2181(CONNECTED) 12] ls -R /nope
            ! Node does not exist: /nope
        "#]],
    );
}

#[test]
fn watches_are_told_as_the_release_words_them() {
    let lines = [
        "addWatch -m PERSISTENT /w",
        "stat -w /v",
        "create /w",
        "create /v",
        "removewatches /w",
        "removewatches /w",
        "printwatches off",
        "ls -w /",
        "create /x",
        "quit",
    ];
    expect![[r#"
        [zk: localhost:2181(CONNECTED) 0] addWatch -m PERSISTENT /w
        [zk: localhost:2181(CONNECTED) 1] stat -w /v
        ! Node does not exist: /v
        [zk: localhost:2181(CONNECTED) 2] create /w
        *
        * WATCHER::
        *
        * WatchedEvent state:SyncConnected type:NodeCreated path:/w zxid: 2
          Created /w
        [zk: localhost:2181(CONNECTED) 3] create /v
        *
        * WATCHER::
        *
        * WatchedEvent state:SyncConnected type:NodeCreated path:/v zxid: 3
          Created /v
        [zk: localhost:2181(CONNECTED) 4] removewatches /w
        *
        * WATCHER::
        *
        * WatchedEvent state:SyncConnected type:PersistentWatchRemoved path:/w zxid: -1
        [zk: localhost:2181(CONNECTED) 5] removewatches /w
        ! KeeperErrorCode = No such watcher for /w
        [zk: localhost:2181(CONNECTED) 6] printwatches off
        [zk: localhost:2181(CONNECTED) 7] ls -w /
          [v, w, zookeeper]
        [zk: localhost:2181(CONNECTED) 8] create /x
          Created /x
        [zk: localhost:2181(CONNECTED) 9] quit
    "#]]
    .assert_eq(&transcript(Release::V3_9_5, &lines));
    expect![[r#"
        [zk: localhost:2181(CONNECTED) 0] stat -w /v
        ! Node does not exist: /v
        [zk: localhost:2181(CONNECTED) 1] create /v
        *
        * WATCHER::
        *
        * WatchedEvent state:SyncConnected type:NodeCreated path:/v
          Created /v
        [zk: localhost:2181(CONNECTED) 2] close
    "#]]
    .assert_eq(&transcript(Release::V3_5_9, &["stat -w /v", "create /v", "close"]));
}

#[test]
fn rights_and_identities() {
    shows(
        &[
            "create /r d world:anyone:r",
            "create /r/x",
            "create /bad d bogus",
            "create /bad d ip:300.1.1.1:r,odd",
            "create /y d world:anyone:zr",
            "addauth digest u:p",
            "whoami",
            "create /mine d auth::cdrwa",
            "getAcl -s /mine",
            "setAcl /mine bogus",
            "addauth bogus zz",
            "ls /",
        ],
        &expect![[r#"
            [zk: localhost:2181(CONNECTED) 0] create /r d world:anyone:r
              Created /r
            [zk: localhost:2181(CONNECTED) 1] create /r/x
            ! Insufficient permission : /r/x
            [zk: localhost:2181(CONNECTED) 2] create /bad d bogus
            ! bogus does not have the form scheme:id:perm
            ! KeeperErrorCode = InvalidACL
            ! Acl is not valid : null
            [zk: localhost:2181(CONNECTED) 3] create /bad d ip:300.1.1.1:r,odd
            ! odd does not have the form scheme:id:perm
            ! KeeperErrorCode = InvalidACL for /bad
            ! Acl is not valid : /bad
            [zk: localhost:2181(CONNECTED) 4] create /y d world:anyone:zr
            ! Unknown perm type: z
              Created /y
            [zk: localhost:2181(CONNECTED) 5] addauth digest u:p
            [zk: localhost:2181(CONNECTED) 6] whoami
              Auth scheme: User
              ip: 127.0.0.1
              digest: u
            [zk: localhost:2181(CONNECTED) 7] create /mine d auth::cdrwa
              Created /mine
            [zk: localhost:2181(CONNECTED) 8] getAcl -s /mine
              'digest,'u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=
              : cdrwa
              cZxid = 0x6
              ctime = Thu Jan 01 00:00:02 UTC 2015
              mZxid = 0x6
              mtime = Thu Jan 01 00:00:02 UTC 2015
              pZxid = 0x6
              cversion = 0
              dataVersion = 0
              aclVersion = 0
              ephemeralOwner = 0x0
              dataLength = 1
              numChildren = 0
            [zk: localhost:2181(CONNECTED) 9] setAcl /mine bogus
            ! bogus does not have the form scheme:id:perm
            ! Acl is not valid : null
            [zk: localhost:2181(CONNECTED) 10] addauth bogus zz
            *
            * WATCHER::
            *
            * WatchedEvent state:AuthFailed type:None path:null
            [zk: localhost:2181(AUTH_FAILED) 11] ls /
              Not connected
        "#]],
    );
}

#[test]
fn history_can_be_run_again() {
    shows(
        &["create -s /s-", "", "redo 0", "redo 7", "redo 1", "history", "version", "config", "ls2"],
        &expect![[r#"
            [zk: localhost:2181(CONNECTED) 0] create -s /s-
              Created /s-0000000000
            [zk: localhost:2181(CONNECTED) 1]
            [zk: localhost:2181(CONNECTED) 1] redo 0
              Created /s-0000000001
            [zk: localhost:2181(CONNECTED) 2] redo 7
            ! Command index out of range
            [zk: localhost:2181(CONNECTED) 3] redo 1
              Created /s-0000000002
            [zk: localhost:2181(CONNECTED) 4] history
              0 - create -s /s-
              1 - create -s /s-
              2 - redo 7
              3 - create -s /s-
              4 - history
            [zk: localhost:2181(CONNECTED) 5] version
              ZooKeeper CLI version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
            [zk: localhost:2181(CONNECTED) 6] config
            ! The model has neither quotas nor configurations: config
            [zk: localhost:2181(CONNECTED) 7] ls2
            ! ZooKeeper -server host:port -client-configuration properties-file cmd args
            ! 	addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE
            ! 	addauth scheme auth
            ! 	close
            ! 	connect host:port
            ! 	create [-s] [-e] [-c] [-t ttl] path [data] [acl]
            ! 	delete [-v version] path
            ! 	deleteall path [-b batch size]
            ! 	get [-s] [-w] path
            ! 	getAcl [-s] path
            ! 	getAllChildrenNumber path
            ! 	getEphemerals path
            ! 	help
            ! 	history
            ! 	ls [-s] [-w] [-R] path
            ! 	printwatches on|off
            ! 	quit
            ! 	redo cmdno
            ! 	removewatches path [-c|-d|-a] [-l]
            ! 	set [-s] [-v version] path data
            ! 	setAcl [-s] [-v version] [-R] path acl
            ! 	stat [-w] path
            ! 	sync path
            ! 	version
            ! 	whoami
            ! Command not found: Command not found ls2
        "#]],
    );
}

/// Lines that never reach a server, and a few that do.
const REFUSED: &[&str] = &[
    "",
    "   ",
    "xyz",
    "LS /",
    "quit now",
    "ls",
    "ls a",
    "ls \"\"",
    "ls /a//b",
    "ls /a/",
    "ls /a/./b",
    "ls /a/../b",
    "ls /a/..",
    "ls /..a/b..",
    "ls /a\u{1}",
    "ls /a\u{7f}",
    "ls /\u{1f600}",
    "ls /日本",
    "create /é\u{fff0} x",
    "create -s //",
    "create -s /a/",
    "get -z /a",
    "set /a",
    "set -v abc /a v",
    "set -v 99999999999 /a v",
    "set -v",
    "set -v 0 /a -5",
    "delete -v x /a",
    "create -c -e /x",
    "create -t 0 /x",
    "create -t abc /x",
    "create -t 5 -e /x",
    "create -t 5 -c /x",
    "addWatch -m BOGUS /w",
    "addWatch",
    "removewatches /w -x",
    "deleteall /a -b x",
    "addauth digest",
    "setAcl /b",
    "stat",
    "getAcl",
    "sync",
    "get",
];

#[test]
fn refusals_before_anything_is_sent() {
    let mut shown = String::new();
    for line in REFUSED {
        let verdict = check(line).err().unwrap_or_else(|| "fine".to_owned());
        let verdict = verdict.replace(|c: char| c.is_control() || c == '\u{fff0}', "?");
        shown += &format!("{line:?}: {verdict}\n");
    }
    expect![[r#"
        "": fine
        "   ": Command not found: Command not found  
        "xyz": Command not found: Command not found xyz
        "LS /": Command not found: Command not found LS
        "quit now": fine
        "ls": ls [-s] [-w] [-R] path
        "ls a": Path must start with / character
        "ls \"\"": Path length must be > 0
        "ls /a//b": Invalid path string "/a//b" caused by empty node name specified @3
        "ls /a/": Path must not end with / character
        "ls /a/./b": Invalid path string "/a/./b" caused by relative paths not allowed @3
        "ls /a/../b": Invalid path string "/a/../b" caused by relative paths not allowed @4
        "ls /a/..": Invalid path string "/a/.." caused by relative paths not allowed @4
        "ls /..a/b..": fine
        "ls /a\u{1}": Invalid path string "/a?" caused by invalid character @2
        "ls /a\u{7f}": Invalid path string "/a?" caused by invalid character @2
        "ls /😀": Invalid path string "/😀" caused by invalid character @1
        "ls /日本": fine
        "create /é\u{fff0} x": Invalid path string "/é?" caused by invalid character @2
        "create -s //": Invalid path string "//1" caused by empty node name specified @1
        "create -s /a/": fine
        "get -z /a": org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -z
        "set /a": set [-s] [-v version] path data
        "set -v abc /a v": java.lang.NumberFormatException: For input string: "abc"
        "set -v 99999999999 /a v": java.lang.NumberFormatException: For input string: "99999999999"
        "set -v": org.apache.commons.cli.MissingArgumentException: Missing argument for option: v
        "set -v 0 /a -5": org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -5
        "delete -v x /a": java.lang.NumberFormatException: For input string: "x"
        "create -c -e /x": -c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.
        "create -t 0 /x": ttl must be positive and cannot be larger than: 1099511627775
        "create -t abc /x": -t argument must be a long value
        "create -t 5 -e /x": TTLs cannot be used with Ephemeral znodes
        "create -t 5 -c /x": TTLs cannot be used with Container znodes
        "addWatch -m BOGUS /w": addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE
        "addWatch": addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE
        "removewatches /w -x": org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -x
        "deleteall /a -b x": -b argument must be an int value
        "addauth digest": addauth scheme auth
        "setAcl /b": setAcl [-s] [-v version] [-R] path acl
        "stat": stat [-w] path
        "getAcl": getAcl [-s] path
        "sync": sync path
        "get": get [-s] [-w] path
    "#]].assert_eq(&shown);
}

#[test]
fn old_clients_know_less() {
    let check = |line| check_for(line, Release::V3_4_6);
    assert_eq!(check("addWatch /w"), Err("Command not found: Command not found addWatch".into()));
    assert!(check("create -c /x").is_err_and(|text| text.ends_with("Unrecognized option: -c")));
    assert_eq!(check("ls /a\u{1f}"), Ok(()));
    assert_eq!(check_for("get -x /a", Release::V3_9_5), Ok(()));
    assert_eq!(
        check_for("set /a", Release::V3_9_5).unwrap_err().lines().next(),
        Some("set path data [-s] [-v version] [-b]")
    );
}

#[test]
fn a_lost_server_and_an_expired_session() {
    let mut rig = Rig::new(Release::V3_8_4);
    rig.screen();
    rig.run("create -e /e");
    rig.reachable = false;
    rig.run("get /e");
    rig.run("ls /");
    rig.wait(Span::from_secs(25));
    let now = rig.now + Span::from_secs(100);
    rig.server.connection_closed(ConnId(rig.opened));
    rig.server.expire(now, &mut Vec::new());
    rig.now = now;
    rig.reachable = true;
    rig.wait(Span::from_secs(5));
    rig.run("get /e");
    rig.run("connect elsewhere:2181");
    rig.run("connect");
    rig.run("get /e");
    expect![[r#"
        [zk: localhost:2181(CONNECTED) 0] create -e /e
          Created /e
        [zk: localhost:2181(CONNECTED) 1] get /e
        ! KeeperErrorCode = ConnectionLoss for /e
        *
        * WATCHER::
        *
        * WatchedEvent state:Disconnected type:None path:null
        [zk: localhost:2181(CONNECTING) 2] ls /
        ! KeeperErrorCode = ConnectionLoss for /
        *
        * WATCHER::
        *
        * WatchedEvent state:Expired type:None path:null
        [zk: localhost:2181(CLOSED) 3] get /e
          Not connected
        [zk: localhost:2181(CLOSED) 4] connect elsewhere:2181
        ! The model has no server elsewhere:2181: it has localhost:2181 alone
        [zk: localhost:2181(CLOSED) 5] connect
        *
        * WATCHER::
        *
        * WatchedEvent state:SyncConnected type:None path:null
        [zk: localhost:2181(CONNECTED) 6] get /e
        ! Node does not exist: /e
    "#]]
    .assert_eq(&rig.screen());
}

#[test]
fn a_silent_server_ends_a_sync() {
    let mut rig = Rig::with_timeout(Release::V3_8_4, 120_000);
    rig.screen();
    rig.reachable = false;
    rig.run("sync /");
    rig.wait(Span::from_secs(29));
    assert!(rig.shell.is_busy());
    rig.wait(Span::from_secs(2));
    expect![[r#"
        [zk: localhost:2181(CONNECTED) 0] sync /
        ! null
    "#]]
    .assert_eq(&rig.screen());
}

fn done(said: &[ShellOut]) -> usize {
    said.iter().filter(|said| matches!(said, ShellOut::Done { .. })).count()
}

fn exits(said: &[ShellOut]) -> usize {
    said.iter().filter(|said| matches!(said, ShellOut::Exit)).count()
}

#[test]
fn lines_wait_for_one_another_and_for_nothing_once_closed() {
    let mut rig = Rig::new(Release::V3_8_4);
    rig.reachable = false;
    rig.said.clear();
    for _ in 0..WAITING_LINES + 3 {
        rig.run("ls /");
    }
    // One runs, the limit waits, two are refused.
    assert_eq!(done(&rig.said), 2);
    let mut out = Vec::new();
    rig.shell.close(rig.now, &mut out);
    rig.settle(out);
    rig.wait(Span::from_secs(60));
    assert_eq!((done(&rig.said), exits(&rig.said)), (3, 1));
    assert!(rig.shell.has_exited());
    assert_eq!(rig.shell.next_deadline(), Instant::NEVER);
    rig.run("ls /");
    assert_eq!(rig.shell.lines().back().map(|line| &*line.text), Some("This shell has ended"));
}

#[test]
fn close_in_good_order_ends_the_session() {
    let mut rig = Rig::new(Release::V3_8_4);
    rig.run("create -e /e");
    let mut out = Vec::new();
    rig.shell.close(rig.now, &mut out);
    rig.settle(out);
    assert_eq!(exits(&rig.said), 1);
    assert_eq!(rig.server.sessions().len(), 0);
    assert!(matches!(rig.said.last(), Some(ShellOut::Exit)));
}

#[test]
fn connect_closes_the_session_before_it_opens_another() {
    let mut rig = Rig::new(Release::V3_8_4);
    rig.run("create -e /e");
    let first = rig.shell.client().session();
    rig.run("connect localhost:2181");
    rig.run("stat /e");
    assert_ne!(rig.shell.client().session(), first);
    assert_eq!(rig.server.sessions().len(), 1);
    let last = rig.shell.lines().back();
    assert_eq!(last.map(|line| &*line.text), Some("Node does not exist: /e"));
}

#[test]
fn what_is_too_much_is_named() {
    let mut rig = Rig::new(Release::V3_8_4);
    let long = "x".repeat(limits::CONSOLE_LINE + 1);
    assert_eq!(
        check(&long),
        Err("The line has 65537 bytes; the console takes 65536 at most".into())
    );
    rig.run(&long);
    for _ in 0..200 {
        rig.run("xyz");
    }
    assert!(rig.shell.lines().len() <= SCROLLBACK_LINES);
    let bytes: usize = rig.shell.lines().iter().map(|line| line.text.len()).sum();
    assert_eq!(rig.shell.bytes, bytes);
    let many = "é\n".repeat(500) + "end";
    rig.run(&format!("create /lines \"{many}\""));
    rig.run("get /lines");
    assert!(rig.shell.lines().iter().all(|line| !line.text.contains('\n')));
}

/// What random lines are made of.
const PARTS: &[&str] = &[
    "ls",
    "get",
    "stat",
    "create",
    "set",
    "delete",
    "deleteall",
    "sync",
    "addWatch",
    "redo",
    "removewatches",
    "getEphemerals",
    "history",
    "getAcl",
    "setAcl",
    "addauth",
    "whoami",
    "version",
    "close",
    "connect",
    "getAllChildrenNumber",
    "printwatches",
    "off",
    "on",
    "-R",
    "-s",
    "-w",
    "-v",
    "-1",
    "-e",
    "-c",
    "-t",
    "5000",
    "-m",
    "PERSISTENT",
    "--",
    "-",
    "-?",
    "/",
    "/a",
    "/a/b",
    "//",
    "/é",
    "\"",
    "'",
    " ",
    "\t",
    "\u{0}",
    "\u{1f600}",
    "\u{2028}",
    "=",
    ":",
    "world:anyone:r",
    "digest",
    "u:p",
    ",",
    "-x",
    "-b",
    "99999999999999999999",
];

/// Any text ends as one line that is done, and never as a panic.
#[test]
fn no_text_breaks_the_shell() {
    for release in Release::ALL {
        let mut rig = Rig::new(release);
        let mut rng = Rng::new(11);
        for _ in 0..3_000 {
            let mut line = String::new();
            for _ in 0..=rng.below(6) {
                line += PARTS[rng.below(PARTS.len() as u64) as usize];
                line += if rng.chance(3, 4) { " " } else { "" };
            }
            rig.said.clear();
            rig.run(&line);
            rig.wait(Span::from_secs(3));
            assert_eq!(done(&rig.said), 1, "{line:?}");
            assert_eq!(exits(&rig.said), 0, "{line:?}");
            rig.shell.digest(&mut Digest::default());
        }
    }
}
