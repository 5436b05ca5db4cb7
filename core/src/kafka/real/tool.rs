//! An administrator's tool as a process of its own. Up to 1.1 it opens a session and writes what
//! was asked for; later it asks a broker. [spec kafka-zk.md N2, W3]

use std::collections::VecDeque;
use std::sync::Arc;

use super::broker::send;
use super::msg::Msg;
use super::task::Task;
use super::writer::Writer;
use crate::base::Span;
use crate::kafka::broker::{Ctx, Effect, Input, Timer};
use crate::kafka::event::{Event as Note, TopicRefusal};
use crate::kafka::msg::Msg as AnyMsg;
use crate::kafka::settings::Settings;
use crate::zk::client::KeeperState;
use crate::zk::hold::{Heard, Session, ZkSettings};
use crate::zk::op::{Error, Failure, Reply};

/// How long it waits for an answer before it tries again.
const PATIENCE: Span = Span::from_secs(5);
const TRIES: u32 = 60;
/// So often in a call that has several parts.
const BATCH_TRIES: u32 = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    Thread { batch: u32, slot: u32 },
    Close,
}

#[derive(Clone)]
pub struct Tool {
    pub task: Arc<Task>,
    /// Where it writes itself.
    pub zk: Option<Session<Pending>>,
    settings: Arc<Settings>,
    writer: Writer,
    /// It opens a session and leaves it open: the election tool of 0.11 does so with one of two.
    lingers: bool,
    looks_only: bool,
    brokers: Vec<u32>,
    tries: u32,
    /// What it does one batch after the other, before or instead of its own task's answer.
    batches: VecDeque<Vec<Arc<Task>>>,
    /// Of the batch that was asked for last, what has no answer yet.
    open: Vec<Arc<Task>>,
    begun: bool,
    done: bool,
}

impl Tool {
    /// `brokers`: those it knows of, which it asks where it doesn't write itself.
    pub fn new(
        task: Arc<Task>,
        settings: Arc<Settings>,
        zk: ZkSettings,
        brokers: Vec<u32>,
    ) -> Tool {
        let asks = settings.release.tools_ask_brokers() || matches!(*task, Task::Metadata { .. });
        Tool {
            writer: Writer::new(task.clone(), None),
            task,
            zk: (!asks).then(|| Session::new(zk.client())),
            settings,
            lingers: false,
            looks_only: false,
            brokers,
            tries: 0,
            batches: VecDeque::new(),
            open: Vec::new(),
            begun: false,
            done: false,
        }
    }

    /// Only opens and closes a session.
    #[must_use]
    pub fn looking_only(mut self) -> Tool {
        self.looks_only = true;
        self
    }

    /// Does its work but never closes its session.
    #[must_use]
    pub fn lingering(mut self) -> Tool {
        self.lingers = true;
        self
    }

    pub fn step(&mut self, ctx: &mut Ctx<'_>, input: Input) {
        match input {
            Input::Start => match &mut self.zk {
                Some(zk) => zk.start(ctx.now, ctx.rng),
                None => self.ask(ctx),
            },
            Input::Stop => ctx.out.push(Effect::Exit),
            Input::Zk(input) => {
                if let Some(zk) = &mut self.zk {
                    zk.input(ctx.now, ctx.rng, input);
                }
            }
            Input::Peer { msg: AnyMsg::Real(msg), .. } => self.hear(ctx, *msg),
            Input::Peer { .. } => {}
            Input::Timer(Timer::Tool(tries)) if tries == self.tries && !self.done => self.ask(ctx),
            Input::Timer(_) => {}
        }
        self.pump(ctx);
    }

    /// It has its answer and goes no further; its session may still be closing.
    pub fn is_done(&self) -> bool {
        self.done && (self.lingers || self.zk.is_none())
    }

    fn pump(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            self.write(ctx);
            let Some(heard) = self.zk.as_mut().and_then(Session::next_heard) else { return };
            match heard {
                Heard::Io(io) => ctx.out.push(Effect::Zk(io)),
                Heard::State(KeeperState::SyncConnected) => self.begun = true,
                Heard::State(KeeperState::Expired) => ctx.out.push(Effect::Exit),
                Heard::Done { what, result } => self.answered(ctx, &what, result),
                Heard::State(_) | Heard::Event { .. } => {}
            }
        }
    }

    fn answered(&mut self, ctx: &mut Ctx<'_>, what: &Pending, result: Result<Reply, Failure>) {
        let Pending::Thread { batch, slot } = *what else {
            return ctx.out.push(Effect::Exit);
        };
        let lost = result.as_ref().is_err_and(|failure| failure.error == Error::ConnectionLoss);
        match self.writer.fiber.asked(batch, slot) {
            Some((op, watcher)) if lost && !self.done => {
                if let Some(zk) = &mut self.zk {
                    zk.submit(ctx.now, op, watcher, what.clone());
                }
            }
            _ => self.writer.fiber.answer(batch, slot, result),
        }
    }

    fn write(&mut self, ctx: &mut Ctx<'_>) {
        let Some(zk) = &mut self.zk else { return };
        if !self.begun || self.done {
            return;
        }
        if self.looks_only {
            self.done = true;
            return zk.close(ctx.now, Pending::Close);
        }
        self.writer.run(ctx.rng, &self.settings);
        let batch = self.writer.fiber.batch;
        while let Some((slot, op, watcher)) = self.writer.fiber.next_to_send(true) {
            zk.submit(ctx.now, op, watcher, Pending::Thread { batch, slot });
        }
        if let Some(result) = self.writer.finished() {
            self.finish(ctx, result);
        }
    }

    fn finish(&mut self, ctx: &mut Ctx<'_>, result: Result<(), TopicRefusal>) {
        self.done = true;
        let task = self.task.clone();
        ctx.out.push(Effect::Note(match result {
            Ok(()) => Note::Done { task },
            Err(why) => Note::NotDone { task, why },
        }));
        match &mut self.zk {
            Some(_) if self.lingers => {}
            Some(zk) => zk.close(ctx.now, Pending::Close),
            None => ctx.out.push(Effect::Exit),
        }
    }

    /// Asks the broker that is meant, or one after the other who the controller is.
    fn ask(&mut self, ctx: &mut Ctx<'_>) {
        let most = if self.open.is_empty() { TRIES } else { BATCH_TRIES };
        if self.tries >= most {
            return self.finish(ctx, Err(TopicRefusal::Invalid("TimeoutException")));
        }
        self.tries += 1;
        let timer = Timer::Tool(self.tries);
        ctx.out.push(Effect::Arm { timer, at: ctx.now + PATIENCE });
        if !self.open.is_empty() {
            return self.ask_open(ctx);
        }
        let own = |entity: &str| entity.strip_prefix("brokers/").and_then(|id| id.parse().ok());
        let meant = match &*self.task {
            Task::Metadata { broker, .. } => Some(*broker),
            Task::AlterConfig { entity, asked, .. } => asked.or_else(|| own(entity)),
            _ => None,
        };
        let task = self.task.clone();
        self.ask_for(ctx, meant, task);
    }

    /// What is asked of the controller goes to who was last known to be one.
    fn ask_open(&mut self, ctx: &mut Ctx<'_>) {
        for task in self.open.clone() {
            let asked = match &*task {
                Task::AlterConfig { asked, .. } => *asked,
                _ => None,
            };
            self.ask_for(ctx, asked, task);
        }
    }

    fn ask_for(&mut self, ctx: &mut Ctx<'_>, meant: Option<u32>, task: Arc<Task>) {
        match meant {
            Some(to) => send(ctx, to, Msg::Ask { task }),
            None if self.brokers.is_empty() => {}
            None => {
                let at = (self.tries as usize - 1) % self.brokers.len();
                send(ctx, self.brokers[at], Msg::WhoIsController);
            }
        }
    }

    fn hear(&mut self, ctx: &mut Ctx<'_>, msg: Msg) {
        match msg {
            Msg::Controller { id: Some(id) } if !self.done => {
                let meant = |task: &&Arc<Task>| match &***task {
                    Task::AlterConfig { asked, .. } => asked.is_none(),
                    _ => true,
                };
                let task = match self.open.is_empty() {
                    true => Some(&self.task),
                    false => self.open.iter().find(meant),
                };
                if let Some(task) = task {
                    send(ctx, id, Msg::Ask { task: task.clone() });
                }
            }
            Msg::First { batches } if !self.done && self.open.is_empty() => {
                self.batches = batches.into();
                self.next_batch(ctx);
            }
            Msg::Answer { task, result } if !self.done && !self.open.is_empty() => {
                self.open.retain(|open| *open != task);
                match result {
                    Err(why) => self.finish(ctx, Err(why)),
                    Ok(()) if self.open.is_empty() => self.next_batch(ctx),
                    Ok(()) => {}
                }
            }
            Msg::Answer { result, .. } if !self.done => self.finish(ctx, result),
            _ => {}
        }
    }

    fn next_batch(&mut self, ctx: &mut Ctx<'_>) {
        match self.batches.pop_front() {
            None => self.finish(ctx, Ok(())),
            Some(batch) if batch.is_empty() => self.next_batch(ctx),
            Some(batch) => {
                self.open = batch;
                self.tries = 0;
                self.ask(ctx);
            }
        }
    }
}
