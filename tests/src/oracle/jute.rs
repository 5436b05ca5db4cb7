//! The bytes of ZooKeeper's protocol, as far as a client needs them: requests out, answers in.

use std::sync::Arc;

use kafkascope_core::zk::op::{
    Acl, AclList, AddWatchMode, ConnectRequest, CreateMode, Data, Error, Op, Path, Reply,
    SetWatches, Stat, WatcherType, open_acl,
};

use super::seen::Answer;

pub const XID_EVENT: i32 = -1;
pub const XID_PING: i32 = -2;

/// A password as real servers draw it.
pub type Password = [u8; 16];

/// What a request is built from.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn int(&mut self, value: i32) -> &mut Out {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn long(&mut self, value: i64) -> &mut Out {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn flag(&mut self, value: bool) -> &mut Out {
        self.0.push(u8::from(value));
        self
    }

    /// Null has the length -1.
    fn bytes(&mut self, value: Option<&[u8]>) -> &mut Out {
        match value {
            None => self.int(-1),
            Some(bytes) => {
                self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
                self.0.extend(bytes);
                self
            }
        }
    }

    fn text(&mut self, value: &str) -> &mut Out {
        self.bytes(Some(value.as_bytes()))
    }

    fn count(&mut self, value: usize) -> &mut Out {
        self.int(i32::try_from(value).unwrap_or(i32::MAX))
    }

    fn texts(&mut self, values: &[Path]) -> &mut Out {
        self.count(values.len());
        for value in values {
            self.text(value);
        }
        self
    }

    fn acl(&mut self, list: &AclList) -> &mut Out {
        self.count(list.len());
        for entry in list.iter() {
            self.int(entry.perms.cast_signed()).text(&entry.scheme).text(&entry.id);
        }
        self
    }

    fn data(&mut self, data: &Data) -> &mut Out {
        self.bytes(data.as_deref())
    }

    /// With the length that stands before every packet.
    fn packet(self) -> Vec<u8> {
        let mut packet = Out::default();
        packet.bytes(Some(&self.0));
        packet.0
    }
}

pub fn connect(request: &ConnectRequest, password: &Password) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0).long(request.last_zxid_seen).int(request.timeout_ms).long(request.session.0);
    out.bytes(Some(password)).flag(false);
    out.packet()
}

pub fn ping() -> Vec<u8> {
    let mut out = Out::default();
    out.int(XID_PING).int(11);
    out.packet()
}

pub fn request(xid: i32, op: &Op) -> Vec<u8> {
    let mut out = Out::default();
    out.int(xid).int(code(op));
    body(&mut out, op);
    out.packet()
}

fn code(op: &Op) -> i32 {
    match op {
        Op::Create { mode: CreateMode::Container, .. } => 19,
        Op::Create { mode, .. } if mode.has_ttl() => 21,
        Op::Create { .. } => 15,
        Op::Delete { .. } => 2,
        Op::Exists { .. } => 3,
        Op::GetData { .. } => 4,
        Op::SetData { .. } => 5,
        Op::GetAcl { .. } => 6,
        Op::SetAcl { .. } => 7,
        Op::Sync { .. } => 9,
        Op::GetChildren { .. } => 12,
        Op::Check { .. } => 13,
        Op::Multi(_) => 14,
        Op::CheckWatches { .. } => 17,
        Op::RemoveWatches { .. } => 18,
        Op::MultiRead(_) => 22,
        Op::AddAuth { .. } => 100,
        Op::SetWatches(set) if is_old(set) => 101,
        Op::GetEphemerals { .. } => 103,
        Op::GetAllChildrenNumber { .. } => 104,
        Op::SetWatches(_) => 105,
        Op::AddWatch { .. } => 106,
        Op::WhoAmI => 107,
        Op::CloseSession => -11,
        Op::Unreadable { write: true } => 15,
        Op::Unreadable { write: false } => 4,
    }
}

/// The Java client sends the old request as long as it is enough.
fn is_old(set: &SetWatches) -> bool {
    set.persistent.is_empty() && set.persistent_recursive.is_empty()
}

fn body(out: &mut Out, op: &Op) {
    match op {
        Op::Create { path, data, acl, mode, ttl_ms } => {
            out.text(path).data(data).acl(acl).int(flags(*mode));
            if mode.has_ttl() {
                out.long(*ttl_ms);
            }
        }
        Op::Delete { path, version } | Op::Check { path, version } => {
            out.text(path).int(*version);
        }
        Op::Exists { path, watch }
        | Op::GetData { path, watch }
        | Op::GetChildren { path, watch } => {
            out.text(path).flag(*watch);
        }
        Op::SetData { path, data, version } => {
            out.text(path).data(data).int(*version);
        }
        Op::SetAcl { path, acl, version } => {
            out.text(path).acl(acl).int(*version);
        }
        Op::GetAcl { path } | Op::Sync { path } | Op::GetAllChildrenNumber { path } => {
            out.text(path);
        }
        Op::GetEphemerals { prefix } => {
            out.text(prefix);
        }
        Op::Multi(ops) | Op::MultiRead(ops) => parts(out, ops),
        Op::AddAuth { scheme, auth } => {
            out.int(0).text(scheme).bytes(Some(auth));
        }
        Op::AddWatch { path, mode } => {
            out.text(path).int(match mode {
                AddWatchMode::Persistent => 0,
                AddWatchMode::PersistentRecursive => 1,
            });
        }
        Op::RemoveWatches { path, kind } | Op::CheckWatches { path, kind } => {
            out.text(path).int(kind_code(*kind));
        }
        Op::SetWatches(set) => rearm(out, set),
        // Whole requests, a create and a getData, but for the path, which is null.
        Op::Unreadable { write: true } => {
            out.int(-1).int(-1).acl(&open_acl()).int(0);
        }
        Op::Unreadable { write: false } => {
            out.int(-1).flag(false);
        }
        Op::WhoAmI | Op::CloseSession => {}
    }
}

const fn flags(mode: CreateMode) -> i32 {
    match mode {
        CreateMode::Persistent => 0,
        CreateMode::Ephemeral => 1,
        CreateMode::PersistentSequential => 2,
        CreateMode::EphemeralSequential => 3,
        CreateMode::Container => 4,
        CreateMode::PersistentWithTtl => 5,
        CreateMode::PersistentSequentialWithTtl => 6,
    }
}

const fn kind_code(kind: WatcherType) -> i32 {
    match kind {
        WatcherType::Children => 1,
        WatcherType::Data => 2,
        WatcherType::Any => 3,
        WatcherType::Persistent => 4,
        WatcherType::PersistentRecursive => 5,
    }
}

fn parts(out: &mut Out, ops: &[Op]) {
    for op in ops {
        // Children come without the stat here, so the older request is meant.
        let code = if matches!(op, Op::GetChildren { .. }) { 8 } else { code(op) };
        out.int(code).flag(false).int(-1);
        body(out, op);
    }
    out.int(-1).flag(true).int(-1);
}

fn rearm(out: &mut Out, set: &SetWatches) {
    out.long(set.relative_zxid).texts(&set.data).texts(&set.exist).texts(&set.child);
    if !is_old(set) {
        out.texts(&set.persistent).texts(&set.persistent_recursive);
    }
}

/// Reads what a server sent. Every read fails at the end of the packet.
pub struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    pub fn new(packet: &'a [u8]) -> In<'a> {
        In(packet)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn int(&mut self) -> Option<i32> {
        self.take(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    pub fn long(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_be_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|byte| byte != [0])
    }

    fn bytes(&mut self) -> Option<Data> {
        match usize::try_from(self.int()?) {
            Err(_) => Some(None),
            Ok(length) => self.take(length).map(|bytes| Some(bytes.into())),
        }
    }

    pub fn text(&mut self) -> Option<Arc<str>> {
        let bytes = self.bytes()?.unwrap_or_default();
        Some(String::from_utf8_lossy(&bytes).into())
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.int()?.max(0)).map(|_| one(self)).collect()
    }

    /// Times are left out: they are the only fields that may differ.
    fn stat(&mut self) -> Option<Stat> {
        let (czxid, mzxid) = (self.long()?, self.long()?);
        self.take(16)?;
        let (version, cversion, aversion) = (self.int()?, self.int()?, self.int()?);
        let (ephemeral_owner, data_length) = (self.long()?, self.int()?);
        let (num_children, pzxid) = (self.int()?, self.long()?);
        Some(Stat {
            czxid,
            mzxid,
            pzxid,
            version,
            cversion,
            aversion,
            ephemeral_owner,
            data_length,
            num_children,
            ..Stat::default()
        })
    }

    fn acl(&mut self) -> Option<AclList> {
        let entry = |it: &mut Self| {
            let perms = it.int()?.cast_unsigned();
            Some(Acl { perms, scheme: it.text()?, id: it.text()? })
        };
        self.list(entry).map(Into::into)
    }
}

/// What follows a connect request: timeout, session, password.
pub fn connected(packet: &[u8]) -> Option<(i32, i64, Password)> {
    let mut reader = In::new(packet);
    reader.int()?;
    let (timeout_ms, session) = (reader.int()?, reader.long()?);
    let password = reader.bytes()?.unwrap_or_default();
    Some((timeout_ms, session, (*password).try_into().unwrap_or_default()))
}

/// The answer to `op` behind the header of a reply; `None` if it makes no sense.
pub fn answer(op: &Op, code: i32, reader: &mut In) -> Option<Answer> {
    if code != 0 {
        return Some(Answer::Failed { code, parts: None });
    }
    let reply = match op {
        Op::Multi(_) => return multi(reader),
        Op::MultiRead(_) => Reply::MultiRead(multi_read(reader)?),
        Op::Create { .. } => Reply::Create { path: reader.text()?, stat: reader.stat()? },
        Op::Exists { .. } | Op::SetData { .. } | Op::SetAcl { .. } => Reply::Stat(reader.stat()?),
        Op::GetData { .. } => Reply::Data { data: reader.bytes()?, stat: reader.stat()? },
        Op::GetChildren { .. } => {
            Reply::Children { children: reader.list(In::text)?, stat: reader.stat()? }
        }
        Op::GetAcl { .. } => Reply::Acl { acl: reader.acl()?, stat: reader.stat()? },
        Op::GetEphemerals { .. } => Reply::Ephemerals(reader.list(In::text)?),
        Op::GetAllChildrenNumber { .. } => Reply::ChildrenNumber(reader.int()?),
        Op::WhoAmI => Reply::WhoAmI(reader.list(|it| Some((it.text()?, it.text()?)))?),
        Op::Sync { .. } => {
            reader.text()?;
            Reply::Done
        }
        // Its answer has a code once more.
        Op::AddWatch { .. } => match reader.int()? {
            0 => Reply::Done,
            code => return Some(Answer::Failed { code, parts: None }),
        },
        _ => Reply::Done,
    };
    Some(Answer::Good(reply))
}

/// Each part has a header; one that says so ends the list.
fn part<T>(reader: &mut In, read: impl Fn(i32, &mut In) -> Option<T>) -> Option<Vec<T>> {
    let mut parts = Vec::new();
    loop {
        let (kind, done, _) = (reader.int()?, reader.flag()?, reader.int()?);
        if done {
            return Some(parts);
        }
        parts.push(read(kind, reader)?);
    }
}

fn multi(reader: &mut In) -> Option<Answer> {
    let parts = part(reader, |kind, it| {
        Some(match kind {
            -1 => Err(it.int()?),
            15 | 19 | 21 => Ok(Reply::Create { path: it.text()?, stat: it.stat()? }),
            5 => Ok(Reply::Stat(it.stat()?)),
            2 | 13 => Ok(Reply::Done),
            _ => return None,
        })
    })?;
    if parts.iter().all(Result::is_ok) {
        return Some(Answer::Good(Reply::Multi(parts.into_iter().flatten().collect())));
    }
    let codes: Vec<i32> = parts.into_iter().map(|part| part.err().unwrap_or(0)).collect();
    let code = codes.iter().copied().find(|code| *code != 0)?;
    Some(Answer::Failed { code, parts: Some(codes) })
}

fn multi_read(reader: &mut In) -> Option<Vec<Result<Reply, Error>>> {
    part(reader, |kind, it| {
        Some(match kind {
            -1 => {
                let code = it.int()?;
                Err(Error::ALL.into_iter().find(|error| error.code() == code)?)
            }
            4 => Ok(Reply::Data { data: it.bytes()?, stat: it.stat()? }),
            8 => Ok(Reply::Children { children: it.list(In::text)?, stat: Stat::default() }),
            _ => return None,
        })
    })
}
