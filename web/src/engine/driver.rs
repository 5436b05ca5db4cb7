//! What plays the run: a state machine over frames, without a browser.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::world::{Command, Config, Refusal};

use super::pace::{Pace, Speed};
use super::scenario::Origin;

/// Events of one frame: well within 16 ms.
const BUDGET: u32 = 6_000;
/// Events of one skip.
const SKIP_BUDGET: u32 = 5_000_000;
/// A frame that was late, or a tab that was hidden, doesn't make the run leap.
const LONGEST_FRAME_MS: f64 = 64.0;
/// A step takes so long to be seen.
const GLIDE_MS: f64 = 320.0;
/// Further steps are jumped to: nothing would be seen of the way.
const GLIDE_SPAN_US: u64 = 40_000;

/// What never comes to rest isn't waited for longer.
const QUIET_WITHIN_SECS: u64 = 600;

/// How the run is being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub playing: bool,
    pub speed: Speed,
    pub origin: Origin,
    /// Rises with every run that is opened.
    pub run: u32,
    /// Rises when the run gets to where it was to be played.
    pub arrived: u32,
}

/// Where playing stops by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    At(Instant),
    /// When nothing has changed for so long.
    Quiet {
        begun: Instant,
        span: Span,
    },
}

impl Goal {
    /// As far as is known now; what happens on the way may put it off.
    fn bound(self, lab: &Lab) -> Instant {
        match self {
            Goal::At(at) => at,
            Goal::Quiet { begun, span } => {
                let longest = begun + Span::from_secs(QUIET_WITHIN_SECS);
                (lab.world().last_change.max(begun) + span).min(longest)
            }
        }
    }
}

/// On the way to a step that is known already.
#[derive(Clone, Copy, Debug)]
struct Glide {
    event_no: u64,
    to: Instant,
    per_ms: f64,
    carry: f64,
}

pub struct Driver {
    pub lab: Lab,
    pub flow: Flow,
    pace: Pace,
    glide: Option<Glide>,
    /// Seeks of one frame: only the last one is done.
    seek: Option<Instant>,
    goal: Option<Goal>,
    /// Steps are shown at once, without the way to them.
    pub still: bool,
}

impl Driver {
    pub fn new(lab: Lab, origin: Origin) -> Driver {
        Driver {
            lab,
            flow: Flow { playing: false, speed: Speed::Auto, origin, run: 0, arrived: 0 },
            pace: Pace::default(),
            glide: None,
            seek: None,
            goal: None,
            still: false,
        }
    }

    pub fn load(&mut self, lab: Lab, origin: Origin) {
        self.lab = lab;
        self.flow.origin = origin;
        self.flow.run += 1;
        self.glide = None;
        self.seek = None;
        self.goal = None;
        self.pace.reset();
    }

    /// Tells the run's commands to a cluster of another kind, up to the same moment. `look` sees
    /// the old run and the new one there.
    pub fn retell<R>(
        &mut self,
        config: Config,
        look: impl FnOnce(&Lab, &Lab) -> R,
    ) -> (Instant, R) {
        self.finish();
        let at = self.lab.now();
        let mut next = Lab::new(self.lab.run().told_to(config));
        next.seek(at);
        let seen = look(&self.lab, &next);
        let origin = match self.flow.origin {
            Origin::Lesson(_) => Origin::Shared,
            origin => origin,
        };
        self.load(next, origin);
        (at, seen)
    }

    pub fn goal(&self) -> Option<Goal> {
        self.goal
    }

    /// Plays to the goal; where nothing may move, it is there at once.
    pub fn play_to(&mut self, goal: Goal) {
        self.finish();
        self.goal = Some(goal);
        self.flow.playing = true;
        if self.still {
            self.skip();
        }
    }

    /// To the goal without the way to it.
    pub fn skip(&mut self) {
        self.finish();
        while let Some(goal) = self.goal {
            let _ = self.lab.advance(goal.bound(&self.lab), SKIP_BUDGET);
            if !self.arrive() && self.lab.run().is_too_long() {
                self.goal = None;
            }
        }
    }

    fn arrive(&mut self) -> bool {
        let there = self.goal.is_some_and(|goal| self.lab.now() >= goal.bound(&self.lab));
        if there {
            self.goal = None;
            self.flow.playing = false;
            self.flow.arrived += 1;
            self.pace.reset();
        }
        there
    }

    /// Whether frames are needed.
    pub fn is_moving(&self) -> bool {
        self.flow.playing || self.glide.is_some() || self.seek.is_some()
    }

    pub fn frame(&mut self, dt: f64) {
        let dt = dt.clamp(0.0, LONGEST_FRAME_MS);
        if let Some(at) = self.seek.take() {
            self.lab.seek(at);
        } else if let Some(glide) = self.glide {
            self.glide_on(glide, dt);
        } else if self.flow.playing {
            let bound = self.goal.map_or(Instant::NEVER, |goal| goal.bound(&self.lab));
            self.pace.play(&mut self.lab, self.flow.speed, dt, BUDGET, bound);
            self.arrive();
        }
    }

    fn glide_on(&mut self, mut glide: Glide, dt: f64) {
        let span = glide.carry + dt * glide.per_ms;
        let whole = span.max(0.0) as u64;
        glide.carry = span - whole as f64;
        let until = self.lab.now() + Span(whole);
        if until >= glide.to {
            self.finish();
            return;
        }
        let _ = self.lab.advance(until, BUDGET);
        self.glide = Some(glide);
    }

    /// Arrives where a step or a seek was going.
    pub fn finish(&mut self) {
        if let Some(at) = self.seek.take() {
            self.lab.seek(at);
        }
        if let Some(glide) = self.glide.take() {
            self.lab.seek_event(glide.event_no);
        }
    }

    pub fn set_playing(&mut self, playing: bool) {
        self.finish();
        self.flow.playing = playing;
    }

    fn stand(&mut self) {
        self.finish();
        self.flow.playing = false;
        self.pace.reset();
    }

    /// Forward by `walk`, seen on its way.
    pub fn forward(&mut self, walk: impl Fn(&mut Lab)) {
        self.stand();
        let (from, from_event) = (self.lab.now(), self.lab.world().event_no);
        walk(&mut self.lab);
        let (to, event_no) = (self.lab.now(), self.lab.world().event_no);
        let span = to.since(from).micros();
        if self.still || span == 0 || span > GLIDE_SPAN_US || event_no == from_event {
            return;
        }
        self.lab.seek(from);
        if self.lab.world().event_no != from_event {
            // Something else happened at the very same moment: no way to show.
            self.lab.seek_event(event_no);
            return;
        }
        let per_ms = span as f64 / GLIDE_MS;
        self.glide = Some(Glide { event_no, to, per_ms, carry: 0.0 });
    }

    pub fn back(&mut self, walk: impl Fn(&mut Lab)) {
        self.stand();
        walk(&mut self.lab);
    }

    /// To a moment, with the next frame.
    pub fn seek(&mut self, at: Instant) {
        self.glide = None;
        self.flow.playing = false;
        self.seek = Some(at);
    }

    pub fn seek_row(&mut self, row: u32) {
        self.stand();
        self.lab.seek_row(row);
    }

    pub fn submit(&mut self, command: Command) -> Result<Option<BranchId>, Refusal> {
        self.finish();
        self.pace.reset();
        self.lab.submit(command)
    }

    pub fn switch(&mut self, branch: BranchId) {
        self.finish();
        self.lab.switch(branch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scenario;

    fn startup() -> Driver {
        Driver::new(scenario::ALL[0].lab(), Origin::Scenario(0))
    }

    /// Real seconds until the last command of the scenario has come to rest.
    fn seconds_to(driver: &mut Driver, at: Instant) -> f64 {
        driver.set_playing(true);
        let mut frames = 0;
        while driver.lab.now() < at && frames < 60 * 120 {
            driver.frame(1_000.0 / 60.0);
            frames += 1;
        }
        f64::from(frames) / 60.0
    }

    #[test]
    fn the_opening_takes_twenty_to_forty_seconds() {
        let seconds = seconds_to(&mut startup(), Instant(2_500_000));
        println!("opening: {seconds:.1} s");
        assert!((18.0..40.0).contains(&seconds), "{seconds}");
    }

    #[test]
    fn playing_stops_exactly_where_it_was_to_go() {
        let mut driver = startup();
        driver.play_to(Goal::At(Instant(1_234_567)));
        while driver.goal().is_some() {
            driver.frame(16.0);
        }
        assert_eq!((driver.lab.now(), driver.flow.arrived), (Instant(1_234_567), 1));
        let (mut seen, mut skipped) = (startup(), startup());
        let goal = Goal::Quiet { begun: Instant::ZERO, span: Span::from_millis(500) };
        seen.play_to(goal);
        while seen.goal().is_some() {
            seen.frame(16.0);
        }
        skipped.play_to(goal);
        skipped.skip();
        assert_eq!(seen.lab.now(), skipped.lab.now());
        assert_eq!(seen.lab.digest(), skipped.lab.digest());
        assert!(!seen.flow.playing && !skipped.flow.playing);
    }

    #[test]
    fn a_step_that_glides_ends_where_a_step_ends() {
        let mut plain = startup();
        let mut seen = startup();
        plain.still = true;
        for _ in 0..30 {
            plain.forward(|lab| _ = lab.step());
            seen.forward(|lab| _ = lab.step());
            for _ in 0..30 {
                seen.frame(16.0);
            }
            assert!(!seen.is_moving());
            assert_eq!(seen.lab.world().event_no, plain.lab.world().event_no);
            assert_eq!(seen.lab.digest(), plain.lab.digest());
        }
    }

    #[test]
    fn only_the_last_seek_of_a_frame_is_done() {
        let mut driver = startup();
        driver.seek(Instant(2_000_000));
        driver.seek(Instant(500_000));
        driver.frame(16.0);
        assert_eq!(driver.lab.now(), Instant(500_000));
        assert_eq!(driver.lab.explored(), Instant(500_000));
    }
}
