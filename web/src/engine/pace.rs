//! How fast simulated time runs.
//!
//! *Auto* makes a run worth watching: slow while something is on its way, slower still right after
//! something that is a milestone, and in real time through the quiet stretches. It is counted
//! from the state alone, so it needs no marks in the scenario.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::kafka;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{FlightKind, flights};
use kafkascope_core::world::{Event, Row, ZkEvent};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    #[default]
    Auto,
    /// Simulated time per real time, as numerator and denominator.
    Fixed(u32, u32),
}

impl Speed {
    pub const ALL: [Speed; 7] = [
        Speed::Auto,
        Speed::Fixed(1, 200),
        Speed::Fixed(1, 50),
        Speed::Fixed(1, 10),
        Speed::Fixed(1, 2),
        Speed::Fixed(1, 1),
        Speed::Fixed(5, 1),
    ];
}

/// Nothing of interest moves: real time, so that a session drains as long as it does.
const QUIET: f64 = 1.0;
/// Something is on its way: a message of 2 ms takes a fifth of a second.
const BUSY: f64 = 0.012;
/// Right after a milestone, so that there is time to read.
const LINGER: f64 = 0.0015;
/// Real milliseconds of lingering.
const LINGER_MS: f64 = 750.0;
/// With more than this in flight nobody follows single messages.
const CROWD: usize = 60;

/// Where the pace stands between two frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    linger_ms: f64,
}

impl Pace {
    pub fn reset(&mut self) {
        self.linger_ms = 0.0;
    }

    /// Plays `dt` real milliseconds. True if there is more to do than the budget allows.
    pub fn play(&mut self, lab: &mut Lab, speed: Speed, dt: f64, budget: u32, bound: Instant) {
        match speed {
            Speed::Fixed(up, down) => {
                let span = dt * 1_000.0 * f64::from(up) / f64::from(down);
                let until = (lab.now() + micros(span)).min(bound);
                let _ = lab.advance(until, budget);
            }
            Speed::Auto => self.auto(lab, dt, budget, bound),
        }
    }

    fn auto(&mut self, lab: &mut Lab, dt: f64, budget: u32, bound: Instant) {
        let mut left = dt;
        let first_event = lab.world().event_no;
        while left > 0.01
            && lab.now() < bound
            && lab.world().event_no - first_event < u64::from(budget)
        {
            let rate = if self.linger_ms > 0.0 { LINGER } else { rate(lab) };
            let most = match self.linger_ms > 0.0 {
                true => left.min(self.linger_ms),
                false => left,
            };
            let until = (lab.now() + micros(most * 1_000.0 * rate)).min(bound);
            // No further than the next event: it may change the pace.
            let stop = lab.next_at().filter(|next| *next <= until);
            let spent = match stop {
                Some(next) => {
                    let span = next.since(lab.now()).micros() as f64;
                    (span / 1_000.0 / rate).min(most)
                }
                None => most,
            };
            let rows = lab.rows().len();
            let _ = lab.advance(stop.unwrap_or(until), budget);
            left -= spent;
            self.linger_ms = (self.linger_ms - spent).max(0.0);
            if stop.is_none() {
                // The rest of a frame whose span rounds to nothing would loop here.
                left = left.min(dt) - if spent == 0.0 { left } else { 0.0 };
            }
            if lab.rows()[rows.min(lab.rows().len())..].iter().any(is_milestone) {
                self.linger_ms = LINGER_MS;
            }
        }
    }
}

fn micros(span: f64) -> Span {
    // A frame is never longer than the page was away, which the driver bounds.
    Span(span.max(0.0).round() as u64)
}

fn rate(lab: &Lab) -> f64 {
    let moving = flights(lab);
    let busy = moving.iter().filter(|flight| is_followed(&flight.kind)).count();
    match busy {
        0 => QUIET,
        1..=CROWD => BUSY,
        more => BUSY * (more as f64 / CROWD as f64).min(20.0),
    }
}

/// Whether a person would want to see it fly.
pub fn is_followed(kind: &FlightKind) -> bool {
    !matches!(
        kind,
        FlightKind::Ping
            | FlightKind::Pong
            | FlightKind::Fetch { .. }
            | FlightKind::FetchAnswer { .. }
    )
}

/// Rows that deserve a breath.
pub fn is_milestone(row: &Row) -> bool {
    match &row.event {
        Event::Commanded(_) | Event::Killed | Event::Paused { .. } | Event::LinkCut => false,
        Event::Breach(_) => true,
        Event::Zk(event) => match event {
            ZkEvent::SessionOpened { .. } | ZkEvent::SessionExpired { .. } => !row.detail,
            ZkEvent::WatchesFired { .. } => !row.detail,
            ZkEvent::Created { path, ephemeral, .. } => {
                *ephemeral && (path.starts_with("/brokers/ids") || &**path == "/controller")
            }
            _ => false,
        },
        Event::Kafka(event) => matches!(
            &**event,
            kafka::Event::ControllerStarted { .. }
                | kafka::Event::TopicsChanged { .. }
                | kafka::Event::IdTaken { .. }
        ),
        _ => false,
    }
}
