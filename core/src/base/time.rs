//! Virtual time in whole microseconds. No wall clock anywhere.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A moment of a run: microseconds since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

/// A length of virtual time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Instant {
    pub const ZERO: Instant = Instant(0);
    /// Later than every moment that a run can reach.
    pub const NEVER: Instant = Instant(u64::MAX);

    pub const fn micros(self) -> u64 {
        self.0
    }

    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn from_micros(us: u64) -> Span {
        Span(us)
    }

    pub const fn from_millis(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000))
    }

    pub const fn from_secs(s: u64) -> Span {
        Span(s.saturating_mul(1_000_000))
    }

    pub const fn micros(self) -> u64 {
        self.0
    }

    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }
}

impl Add<Span> for Instant {
    type Output = Instant;

    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Instant {
    type Output = Instant;

    fn sub(self, span: Span) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;

    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

/// Seconds with three digits, as the page and the transcripts show moments.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000_000, self.0 / 1_000 % 1_000)
    }
}

/// The shortest exact spelling that a script reads back: `2s`, `1500ms`, `17us`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            us if us.is_multiple_of(1_000_000) => write!(f, "{}s", us / 1_000_000),
            us if us.is_multiple_of(1_000) => write!(f, "{}ms", us / 1_000),
            us => write!(f, "{us}us"),
        }
    }
}
