//! What a client sees, in one form for both servers, and as the lines that are compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kafkascope_core::zk::op::{Acl, Data, Error, EventType, Failure, Path, Reply, Stat, Zxid};

/// One answer. Codes stand as numbers: a real server may know more of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Good(Reply),
    /// `parts`: what each op of a multi got.
    Failed {
        code: i32,
        parts: Option<Vec<i32>>,
    },
}

impl From<Result<Reply, Failure>> for Answer {
    fn from(result: Result<Reply, Failure>) -> Answer {
        let code = |error: Option<Error>| error.map_or(0, Error::code);
        match result {
            Ok(reply) => Answer::Good(reply),
            Err(Failure { error, multi }) => Answer::Failed {
                code: error.code(),
                parts: multi.map(|parts| parts.into_iter().map(code).collect()),
            },
        }
    }
}

/// One frame, or the end of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Session 0: refused. `keeps_password`: as it was given out when the session was opened.
    Connected {
        session: i64,
        timeout_ms: i32,
        keeps_password: bool,
    },
    Reply {
        xid: i32,
        zxid: Zxid,
        answer: Answer,
    },
    Event {
        kind: EventType,
        path: Path,
        zxid: Zxid,
    },
    Pong {
        zxid: Zxid,
    },
    Closed,
    /// A frame that makes no sense.
    Odd(String),
}

/// Ids of sessions are drawn from the clock: both sides name them in the order of their opening.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<i64, usize>);

impl Names {
    pub fn add(&mut self, session: i64) {
        let next = self.0.len() + 1;
        if session != 0 {
            self.0.entry(session).or_insert(next);
        }
    }

    pub fn of(&self, session: i64) -> String {
        match self.0.get(&session) {
            Some(number) => format!("session{number}"),
            None if session == 0 => "none".into(),
            None => format!("unknown:{session:x}"),
        }
    }

    pub fn line(&self, seen: &Seen) -> String {
        match seen {
            Seen::Connected { session, timeout_ms, keeps_password } => {
                let keeps = if *keeps_password { "" } else { " with another password" };
                format!("connected {} {timeout_ms} ms{keeps}", self.of(*session))
            }
            Seen::Reply { xid, zxid, answer } => {
                format!("reply {xid} @{zxid} {}", self.answer(answer))
            }
            Seen::Event { kind, path, zxid } => format!("event {} {path:?} @{zxid}", kind.name()),
            Seen::Pong { zxid } => format!("pong @{zxid}"),
            Seen::Closed => "closed".into(),
            Seen::Odd(what) => format!("odd: {what}"),
        }
    }

    fn answer(&self, answer: &Answer) -> String {
        match answer {
            Answer::Good(reply) => self.reply(reply),
            Answer::Failed { code, parts: None } => error(*code),
            Answer::Failed { code, parts: Some(parts) } => {
                let parts: Vec<String> = parts.iter().map(|code| error(*code)).collect();
                format!("{} [{}]", error(*code), parts.join(", "))
            }
        }
    }

    fn reply(&self, reply: &Reply) -> String {
        match reply {
            Reply::Create { path, stat } => format!("{path:?} {}", self.stat(stat)),
            Reply::Stat(stat) => self.stat(stat),
            Reply::Data { data, stat } => format!("{} {}", bytes(data), self.stat(stat)),
            // In the order of the server's hash set: ours has the same.
            Reply::Children { children, stat } => format!("{children:?} {}", self.stat(stat)),
            Reply::Acl { acl, stat } => format!("{} {}", acls(acl), self.stat(stat)),
            Reply::Multi(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.reply(part)).collect();
                format!("[{}]", parts.join(", "))
            }
            Reply::MultiRead(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.part(part)).collect();
                format!("[{}]", parts.join(", "))
            }
            // As a set: a concurrent hash set of Java decides, and no rule of ours names its order.
            Reply::Ephemerals(paths) => {
                let mut paths = paths.clone();
                paths.sort_unstable();
                format!("{paths:?}")
            }
            Reply::ChildrenNumber(number) => number.to_string(),
            Reply::WhoAmI(who) => format!("{who:?}"),
            Reply::Done => "done".into(),
        }
    }

    /// A read of a multi lists children without the stat.
    fn part(&self, part: &Result<Reply, Error>) -> String {
        match part {
            Err(failed) => error(failed.code()),
            Ok(Reply::Children { children, .. }) => format!("{children:?}"),
            Ok(reply) => self.reply(reply),
        }
    }

    /// All fields but the times.
    pub fn stat(&self, stat: &Stat) -> String {
        let mut line = format!("c{} m{} p{}", stat.czxid, stat.mzxid, stat.pzxid);
        let (version, cversion, aversion) = (stat.version, stat.cversion, stat.aversion);
        let _ = write!(line, " v{version} cv{cversion} av{aversion}");
        let _ = write!(line, " owner {}", self.of(stat.ephemeral_owner));
        let _ = write!(line, " bytes {} children {}", stat.data_length, stat.num_children);
        line
    }
}

fn error(code: i32) -> String {
    match Error::ALL.into_iter().find(|error| error.code() == code) {
        Some(error) => error.name().into(),
        None if code == 0 => "ok".into(),
        None => format!("code {code}"),
    }
}

/// Data as text; long ones by their length.
pub fn bytes(data: &Data) -> String {
    match data {
        None => "null".into(),
        Some(data) if data.len() > 64 => format!("{} bytes", data.len()),
        Some(data) => format!("{:?}", String::from_utf8_lossy(data)),
    }
}

pub fn acls(list: &[Acl]) -> String {
    let entries: Vec<String> =
        list.iter().map(|entry| format!("{}:{}:{}", entry.scheme, entry.id, entry.perms)).collect();
    format!("[{}]", entries.join(", "))
}
