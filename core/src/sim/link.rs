//! Links between processes: latency with seeded jitter, and the faults that belong to them.
//! A link carries streams (TCP): what was sent first arrives first.

use std::collections::BTreeMap;

use crate::base::{Digest, Instant, Rng, Span};

/// What becomes of a message at the moment it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    ArrivesAt(Instant),
    /// The link is cut. A stream keeps the message until the link heals (TCP sends it again), an
    /// attempt to connect is lost.
    Cut,
}

/// One direction between two processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    pub cut: bool,
    /// Nothing arrives before this moment (a held link lets all go then, in order).
    pub held_until: Instant,
    /// Added to the latency of every message.
    pub extra: Span,
    last_arrival: Instant,
}

/// All links that ever carried or refused something; the others are as the default says.
#[derive(Clone, Debug)]
pub struct Links {
    pub latency: Span,
    pub jitter: Span,
    table: BTreeMap<(u16, u16), Link>,
}

impl Links {
    pub fn new(latency: Span, jitter: Span) -> Links {
        Links { latency, jitter, table: BTreeMap::new() }
    }

    pub fn get(&self, from: u16, to: u16) -> Link {
        self.table.get(&(from, to)).copied().unwrap_or_default()
    }

    /// Changes both directions.
    pub fn change(&mut self, a: u16, b: u16, change: impl Fn(&mut Link)) {
        change(self.table.entry((a, b)).or_default());
        change(self.table.entry((b, a)).or_default());
    }

    pub fn is_cut(&self, a: u16, b: u16) -> bool {
        self.get(a, b).cut
    }

    pub fn send(&mut self, now: Instant, from: u16, to: u16, rng: &mut Rng) -> Verdict {
        let drawn = rng.below(self.jitter.0 + 1);
        let link = self.table.entry((from, to)).or_default();
        if link.cut {
            return Verdict::Cut;
        }
        let arrival = now + self.latency + Span(drawn) + link.extra;
        let arrival = arrival.max(link.held_until).max(link.last_arrival);
        link.last_arrival = arrival;
        Verdict::ArrivesAt(arrival)
    }

    pub fn digest(&self, digest: &mut Digest) {
        for ((from, to), link) in &self.table {
            digest.u64(u64::from(*from) << 32 | u64::from(*to));
            digest.u64(u64::from(link.cut));
            digest.u64(link.held_until.0);
            digest.u64(link.extra.0);
            digest.u64(link.last_arrival.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_keeps_its_order_whatever_the_jitter() {
        let mut links = Links::new(Span(10), Span(1_000));
        let mut rng = Rng::new(3);
        let mut last = Instant::ZERO;
        for n in 0..200 {
            let Verdict::ArrivesAt(at) = links.send(Instant(n), 0, 1, &mut rng) else {
                panic!("nothing is cut");
            };
            assert!(at >= last);
            last = at;
        }
    }

    #[test]
    fn a_cut_link_carries_nothing_and_a_held_one_waits() {
        let mut links = Links::new(Span(10), Span(0));
        let mut rng = Rng::new(3);
        links.change(0, 1, |link| link.cut = true);
        assert_eq!(links.send(Instant(1), 0, 1, &mut rng), Verdict::Cut);
        assert_eq!(links.send(Instant(1), 1, 0, &mut rng), Verdict::Cut);
        links.change(0, 1, |link| *link = Link { held_until: Instant(500), ..Link::default() });
        assert_eq!(links.send(Instant(1), 0, 1, &mut rng), Verdict::ArrivesAt(Instant(500)));
    }
}
