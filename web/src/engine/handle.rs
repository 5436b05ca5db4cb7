//! The engine as regions see it: a cheap handle, and hooks that render again when it is time.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::render::{AnimationFrame, request_animation_frame};
use kafkascope_core::base::Instant;
use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::view::{Difference, differences};
use kafkascope_core::world::{Command, Config, Refusal};
use yew::prelude::*;

use super::driver::{Driver, Flow, Goal};
use super::pace::Speed;
use super::scenario::{self, Origin};

/// What a region wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Something happened in the run, or it is looked at elsewhere.
    World,
    /// Simulated time moved (every frame while it plays).
    Clock,
    /// Playing, speed, another run.
    Flow,
}

struct Listener {
    id: u32,
    channel: Channel,
    call: Callback<()>,
}

struct Inner {
    driver: RefCell<Driver>,
    listeners: RefCell<Vec<Listener>>,
    next_id: RefCell<u32>,
    frame: RefCell<Option<AnimationFrame>>,
    /// When the frame before was; `None` after a rest.
    last_ms: RefCell<Option<f64>>,
}

#[derive(Clone)]
pub struct Engine(Rc<Inner>);

impl PartialEq for Engine {
    fn eq(&self, other: &Engine) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// What is compared to find out what changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    event_no: u64,
    branch: BranchId,
    branches: usize,
    commands: usize,
    clock: Instant,
    flow: Flow,
}

impl Engine {
    pub fn new(lab: Lab, origin: Origin) -> Engine {
        Engine(Rc::new(Inner {
            driver: RefCell::new(Driver::new(lab, origin)),
            listeners: RefCell::default(),
            next_id: RefCell::default(),
            frame: RefCell::default(),
            last_ms: RefCell::default(),
        }))
    }

    /// Looks at the run. Don't call the engine from within.
    pub fn read<R>(&self, look: impl FnOnce(&Lab) -> R) -> R {
        look(&self.0.driver.borrow().lab)
    }

    pub fn flow(&self) -> Flow {
        self.0.driver.borrow().flow
    }

    fn mark(&self) -> Mark {
        let driver = self.0.driver.borrow();
        Mark {
            event_no: driver.lab.world().event_no,
            branch: driver.lab.current_branch(),
            branches: driver.lab.branches().len(),
            commands: driver.lab.run().commands.len(),
            clock: driver.lab.now(),
            flow: driver.flow,
        }
    }

    /// Does something to the run and tells those who want to know.
    fn change<R>(&self, act: impl FnOnce(&mut Driver) -> R) -> R {
        let before = self.mark();
        let result = act(&mut self.0.driver.borrow_mut());
        self.tell(before);
        self.wake();
        result
    }

    fn tell(&self, before: Mark) {
        let after = self.mark();
        let world = (before.event_no, before.branch, before.branches, before.commands)
            != (after.event_no, after.branch, after.branches, after.commands)
            || before.flow.run != after.flow.run;
        let clock = world || before.clock != after.clock;
        let flow = before.flow != after.flow;
        let calls: Vec<Callback<()>> = self
            .0
            .listeners
            .borrow()
            .iter()
            .filter(|listener| match listener.channel {
                Channel::World => world,
                Channel::Clock => clock,
                Channel::Flow => flow,
            })
            .map(|listener| listener.call.clone())
            .collect();
        for call in calls {
            call.emit(());
        }
    }

    /// Asks for a frame if one is needed and none is coming.
    fn wake(&self) {
        if !self.0.driver.borrow().is_moving() || self.0.frame.borrow().is_some() {
            return;
        }
        let engine = self.clone();
        let frame = request_animation_frame(move |now| engine.on_frame(now));
        *self.0.frame.borrow_mut() = Some(frame);
    }

    fn on_frame(&self, now: f64) {
        let _ = self.0.frame.borrow_mut().take();
        let last = self.0.last_ms.borrow_mut().replace(now);
        let before = self.mark();
        self.0.driver.borrow_mut().frame(last.map_or(16.0, |last| now - last));
        self.tell(before);
        if !self.0.driver.borrow().is_moving() {
            *self.0.last_ms.borrow_mut() = None;
        }
        self.wake();
    }

    /// Until it is dropped, `call` hears of `channel`.
    fn listen(&self, channel: Channel, call: Callback<()>) -> Listening {
        let id = {
            let mut next = self.0.next_id.borrow_mut();
            *next += 1;
            *next
        };
        self.0.listeners.borrow_mut().push(Listener { id, channel, call });
        Listening { engine: self.clone(), id }
    }

    // --- What a person can do --------------------------------------------------------------------

    pub fn set_playing(&self, playing: bool) {
        self.change(|driver| driver.set_playing(playing));
    }

    pub fn toggle_playing(&self) {
        let playing = self.flow().playing;
        self.set_playing(!playing);
    }

    pub fn set_speed(&self, speed: Speed) {
        self.change(|driver| driver.flow.speed = speed);
    }

    /// Steps are shown at once, without the way to them (reduced motion).
    pub fn set_still(&self, still: bool) {
        self.change(|driver| driver.still = still);
    }

    pub fn step(&self) {
        self.change(|driver| driver.forward(|lab| _ = lab.step()));
    }

    pub fn message(&self) {
        self.change(|driver| driver.forward(|lab| _ = lab.fine_step()));
    }

    pub fn back(&self) {
        self.change(|driver| driver.back(|lab| _ = lab.step_back()));
    }

    pub fn message_back(&self) {
        self.change(|driver| driver.back(|lab| _ = lab.fine_step_back()));
    }

    pub fn seek(&self, at: Instant) {
        self.change(|driver| driver.seek(at));
    }

    pub fn seek_row(&self, row: u32) {
        self.change(|driver| driver.seek_row(row));
    }

    /// A person asks for something now. In the past this forks. Refused: nothing changes.
    pub fn submit(&self, command: Command) -> Result<Option<BranchId>, Refusal> {
        self.change(|driver| driver.submit(command))
    }

    pub fn check(&self, command: &Command) -> Result<(), Refusal> {
        self.read(|lab| lab.check(command))
    }

    pub fn switch(&self, branch: BranchId) {
        self.change(|driver| driver.switch(branch));
    }

    /// Opens another run. It stands at its start, paused or not as it was.
    pub fn load(&self, lab: Lab, origin: Origin) {
        self.change(|driver| driver.load(lab, origin));
    }

    /// The same commands, told to a cluster of another profile or release, as far as this one is
    /// now. Gives that moment and what came out differently.
    pub fn retell(&self, config: Config) -> (Instant, Vec<Difference>) {
        self.change(|driver| driver.retell(config, differences))
    }

    pub fn open_scenario(&self, index: usize) {
        if let Some(scenario) = scenario::ALL.get(index) {
            self.load(scenario.lab(), Origin::Scenario(index));
            self.set_playing(true);
        }
    }

    /// Plays until the goal is reached, and stops there.
    pub fn play_to(&self, goal: Goal) {
        self.change(|driver| driver.play_to(goal));
    }

    pub fn goal(&self) -> Option<Goal> {
        self.0.driver.borrow().goal()
    }

    pub fn skip(&self) {
        self.change(Driver::skip);
    }

    /// Works on the laboratory itself (lessons that play a script).
    pub fn with_lab<R>(&self, act: impl FnOnce(&mut Lab) -> R) -> R {
        self.change(|driver| {
            driver.finish();
            act(&mut driver.lab)
        })
    }
}

struct Listening {
    engine: Engine,
    id: u32,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.engine.0.listeners.borrow_mut().retain(|listener| listener.id != self.id);
    }
}

/// The engine of the page.
#[hook]
pub fn use_engine() -> Engine {
    use_context::<crate::app::Ctx>().map(|ctx| ctx.engine).expect("within the app")
}

#[hook]
fn use_channel(channel: Channel) {
    let engine = use_engine();
    let update = use_force_update();
    use_effect_with(engine, move |engine| {
        let listening = engine.listen(channel, Callback::from(move |()| update.force_update()));
        move || drop(listening)
    });
}

/// Renders again when something happened in the run. Gives the engine to look at it.
#[hook]
pub fn use_world() -> Engine {
    use_channel(Channel::World);
    use_engine()
}

/// Renders again whenever simulated time moves: keep such components small.
#[hook]
pub fn use_clock() -> Instant {
    use_channel(Channel::Clock);
    use_engine().read(Lab::now)
}

#[hook]
pub fn use_flow() -> Flow {
    use_channel(Channel::Flow);
    use_engine().flow()
}
