//! What sessions are called: after the broker that opened them, as the recordings do it.

use std::collections::BTreeMap;

use kafkascope_core::world::proc::Kind;
use kafkascope_core::zk::op::SessionId;

/// The client of whoever writes by hand, open all the time.
pub const BY_HAND: &str = "by-hand";

#[derive(Clone, Debug, Default)]
pub struct Names {
    of: BTreeMap<SessionId, String>,
    /// How many sessions each process had so far.
    count: BTreeMap<String, u32>,
}

impl Names {
    /// `broker-3`, then `broker-3#2`; tools have a running number of their own.
    pub fn name(&mut self, session: SessionId, kind: &Kind) {
        if self.of.contains_key(&session) {
            return;
        }
        let (base, numbered) = match kind {
            Kind::Broker(id) => (format!("broker-{id}"), false),
            Kind::Impostor(id, _) => (format!("claimant-{id}"), false),
            Kind::Client(name) if **name == *BY_HAND => (BY_HAND.into(), false),
            Kind::Consumer(name) => (name.to_string(), false),
            Kind::Client(_) => ("typed".into(), true),
            _ => ("asked".into(), true),
        };
        let count = self.count.entry(base.clone()).or_default();
        *count += 1;
        let name = match *count {
            n if numbered => format!("{base}-{n}"),
            1 => base,
            n => format!("{base}#{n}"),
        };
        self.of.insert(session, name);
    }

    /// A session that was there before the run: the next one of its process counts on.
    pub fn give(&mut self, session: SessionId, name: &str) {
        let (base, number) = name.split_once('#').unwrap_or((name, "1"));
        if let Ok(number) = number.parse() {
            self.count.insert(base.into(), number);
        }
        self.of.insert(session, name.into());
    }

    pub fn get(&self, session: SessionId) -> &str {
        self.of.get(&session).map_or("?", String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (SessionId, &str)> {
        self.of.iter().map(|(session, name)| (*session, name.as_str()))
    }
}

/// The broker that a session's name speaks of.
pub fn broker_of(session: &str) -> Option<u32> {
    let id = session.strip_prefix("broker-")?;
    id.split('#').next()?.parse().ok()
}
