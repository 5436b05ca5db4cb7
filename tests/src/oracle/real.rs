//! A real server as a [`Side`]: bare connections to what the Java process runs.

use std::collections::BTreeMap;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use kafkascope_core::zk::op::{Acl, Data, EventType, Op, Stat};

use super::agent::Agent;
use super::jute::{self, In, Password, XID_EVENT, XID_PING};
use super::model::{node_line, session_line};
use super::player::{Hello, Side};
use super::seen::{Names, Seen, acls, bytes};
use super::{MAX_MS, SHORT_MS, TICK_MS, Trouble};

/// An answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One bare connection.
struct Wire {
    stream: BufReader<TcpStream>,
    /// Requests without an answer yet.
    sent: BTreeMap<i32, Op>,
}

impl Wire {
    fn new(port: u16) -> Result<Wire, Trouble> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Wire { stream: BufReader::new(stream), sent: BTreeMap::new() })
    }

    /// A server that has closed the connection says so when it is read from.
    fn write(&mut self, packets: &[u8]) {
        let _ = self.stream.get_mut().write_all(packets);
    }

    /// The next packet; `None` at the end of the connection.
    fn packet(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let mut length = [0; 4];
        if !self.fill(&mut length)? {
            return Ok(None);
        }
        let mut packet = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap_or(0)];
        Ok(self.fill(&mut packet)?.then_some(packet))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, Trouble> {
        match self.stream.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::UnexpectedEof
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe => Ok(false),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    Err(Trouble::Broken("the server neither answers nor closes".into()))
                }
                _ => Err(error.into()),
            },
        }
    }

    fn next(&mut self) -> Result<Seen, Trouble> {
        let Some(packet) = self.packet()? else { return Ok(Seen::Closed) };
        let odd = || Seen::Odd(format!("{packet:?}"));
        Ok(self.frame(&packet).unwrap_or_else(odd))
    }

    fn frame(&mut self, packet: &[u8]) -> Option<Seen> {
        let mut reader = In::new(packet);
        let (xid, zxid, code) = (reader.int()?, reader.long()?, reader.int()?);
        if xid == XID_PING {
            return Some(Seen::Pong { zxid });
        }
        if xid == XID_EVENT {
            let kind = event(reader.int()?)?;
            reader.int()?;
            return Some(Seen::Event { kind, path: reader.text()?, zxid });
        }
        let op = self.sent.remove(&xid)?;
        let answer = jute::answer(&op, code, &mut reader)?;
        reader.is_empty().then_some(Seen::Reply { xid, zxid, answer })
    }

    /// Reads until `last` says so or the connection ends.
    fn until(&mut self, last: impl Fn(&Wire, &Seen) -> bool) -> Result<Vec<Seen>, Trouble> {
        let mut all = Vec::new();
        loop {
            let seen = self.next()?;
            let is_last = seen == Seen::Closed || last(self, &seen);
            all.push(seen);
            if is_last {
                return Ok(all);
            }
        }
    }
}

const fn event(code: i32) -> Option<EventType> {
    Some(match code {
        1 => EventType::NodeCreated,
        2 => EventType::NodeDeleted,
        3 => EventType::NodeDataChanged,
        4 => EventType::NodeChildrenChanged,
        5 => EventType::DataWatchRemoved,
        6 => EventType::ChildWatchRemoved,
        7 => EventType::PersistentWatchRemoved,
        _ => return None,
    })
}

pub struct Real<'a> {
    agent: &'a mut Agent,
    port: u16,
    wires: BTreeMap<usize, Wire>,
    passwords: BTreeMap<i64, Password>,
}

impl Real<'_> {
    /// A fresh server.
    pub fn new(agent: &mut Agent) -> Result<Real<'_>, Trouble> {
        let answer = agent.ask(&format!("start {TICK_MS} {SHORT_MS} {MAX_MS}"))?;
        let port = answer.strip_prefix("port ").and_then(|port| port.parse().ok());
        let port = port.ok_or(Trouble::Broken(answer))?;
        Ok(Real { agent, port, wires: BTreeMap::new(), passwords: BTreeMap::new() })
    }

    /// Takes a connection out that has ended, and waits until the server has noticed.
    fn forget(&mut self, slot: usize) -> Result<(), Trouble> {
        self.wires.remove(&slot);
        self.agent.expect_ok(&format!("connections {}", self.wires.len()))
    }

    fn read(
        &mut self,
        slot: usize,
        last: impl Fn(&Wire, &Seen) -> bool,
    ) -> Result<Vec<Seen>, Trouble> {
        let Some(wire) = self.wires.get_mut(&slot) else { return Ok(Vec::new()) };
        let seen = wire.until(last)?;
        if seen.last() == Some(&Seen::Closed) {
            self.forget(slot)?;
        }
        Ok(seen)
    }

    fn connected(&mut self, packet: &[u8]) -> Seen {
        let Some((timeout_ms, session, password)) = jute::connected(packet) else {
            return Seen::Odd(format!("{packet:?}"));
        };
        let first = *self.passwords.entry(session).or_insert(password);
        Seen::Connected { session, timeout_ms, keeps_password: first == password }
    }
}

impl Side for Real<'_> {
    fn open(&mut self, slot: usize, hello: &Hello) -> Result<Vec<Seen>, Trouble> {
        let older = self.wires.remove(&slot);
        let mut wire = Wire::new(self.port)?;
        wire.sent = hello.then.iter().cloned().collect();
        let known = self.passwords.get(&hello.request.session.0).copied().unwrap_or_default();
        let password = if hello.right_password { known } else { known.map(|byte| !byte) };
        let mut packets = jute::connect(&hello.request, &password);
        packets.extend(hello.then.iter().flat_map(|(xid, op)| jute::request(*xid, op)));
        wire.write(&packets);
        let first = wire.packet()?;
        let mut all = match older {
            Some(mut older) => older.until(|_, _| false)?,
            None => Vec::new(),
        };
        self.wires.insert(slot, wire);
        let Some(packet) = first else {
            all.push(Seen::Closed);
            self.forget(slot)?;
            return Ok(all);
        };
        let connected = self.connected(&packet);
        let refused = matches!(connected, Seen::Connected { session: 0, .. });
        all.push(connected);
        if refused {
            all.extend(self.read(slot, |_, _| false)?);
        } else if !hello.then.is_empty() {
            all.extend(self.read(slot, |wire, _| wire.sent.is_empty())?);
        }
        Ok(all)
    }

    fn ask(&mut self, slot: usize, requests: &[(i32, Op)]) -> Result<Vec<Seen>, Trouble> {
        let Some(wire) = self.wires.get_mut(&slot) else { return Ok(Vec::new()) };
        wire.sent = requests.iter().cloned().collect();
        let packets: Vec<u8> =
            requests.iter().flat_map(|(xid, op)| jute::request(*xid, op)).collect();
        wire.write(&packets);
        self.read(slot, |wire, _| wire.sent.is_empty())
    }

    fn settle(&mut self, slot: usize, closing: bool) -> Result<Vec<Seen>, Trouble> {
        if closing {
            return self.read(slot, |_, _| false);
        }
        if let Some(wire) = self.wires.get_mut(&slot) {
            wire.write(&jute::ping());
        }
        self.read(slot, |_, seen| matches!(seen, Seen::Pong { .. }))
    }

    fn hang_up(&mut self, slot: usize) -> Result<(), Trouble> {
        self.forget(slot)
    }

    fn expire(&mut self, slot: usize, session: i64) -> Result<Vec<Seen>, Trouble> {
        let seen = self.read(slot, |_, _| false)?;
        self.agent.expect_ok(&format!("gone {session}"))?;
        Ok(seen)
    }

    fn contents(&mut self, names: &Names) -> Result<Vec<String>, Trouble> {
        let mut lines = Vec::new();
        for line in self.agent.dump()? {
            lines.push(content(&line, names).ok_or(Trouble::Broken(line))?);
        }
        lines.sort_unstable();
        Ok(lines)
    }
}

/// One line of the agent's dump, worded as ours are.
fn content(line: &str, names: &Names) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    if let ["session", id, held] = words[..] {
        let held: Option<Vec<String>> =
            held.split(',').filter(|text| !text.is_empty()).map(text).collect();
        let mut held = held?;
        held.sort_unstable();
        let held: Vec<&str> = held.iter().map(String::as_str).collect();
        return Some(session_line(&names.of(id.parse().ok()?), &held));
    }
    let ["node", path, numbers @ ..] = &words[..] else { return None };
    let (numbers, rest) = numbers.split_at_checked(9)?;
    let numbers: Result<Vec<i64>, _> = numbers.iter().map(|number| number.parse()).collect();
    let [czxid, mzxid, pzxid, version, cversion, aversion, ephemeral_owner, length, count] =
        numbers.ok()?.try_into().ok()?;
    let int = |number: i64| i32::try_from(number).ok();
    let stat = Stat {
        czxid,
        mzxid,
        pzxid,
        version: int(version)?,
        cversion: int(cversion)?,
        aversion: int(aversion)?,
        ephemeral_owner,
        data_length: int(length)?,
        num_children: int(count)?,
        ..Stat::default()
    };
    let (data, list) = rest.split_first()?;
    let data: Data = match *data {
        "null" => None,
        data => Some(decoded(data)?.into()),
    };
    let list: Option<Vec<Acl>> = list.iter().map(|entry| acl(entry)).collect();
    Some(node_line(&text(path)?, &names.stat(&stat), &bytes(&data), &acls(&list?)))
}

fn decoded(word: &str) -> Option<Vec<u8>> {
    let digits = word.strip_prefix('=')?;
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn text(word: &str) -> Option<String> {
    String::from_utf8(decoded(word)?).ok()
}

fn acl(entry: &str) -> Option<Acl> {
    let mut parts = entry.splitn(3, ':');
    let perms: i32 = parts.next()?.parse().ok()?;
    let (scheme, id) = (text(parts.next()?)?, text(parts.next()?)?);
    Some(Acl { perms: perms.cast_unsigned(), scheme: scheme.into(), id: id.into() })
}
