//! An administrator's tool as a process of its own. Up to 1.1 it opens a session and writes what
//! was asked for; later it asks a broker. [spec kafka-zk.md N2, W3]

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
        if self.tries >= TRIES {
            return self.finish(ctx, Err(TopicRefusal::Invalid("TimeoutException")));
        }
        self.tries += 1;
        let timer = Timer::Tool(self.tries);
        ctx.out.push(Effect::Arm { timer, at: ctx.now + PATIENCE });
        let own = |entity: &str| entity.strip_prefix("brokers/").and_then(|id| id.parse().ok());
        let meant = match &*self.task {
            Task::Metadata { broker, .. } => Some(*broker),
            Task::AlterConfig { entity, asked, .. } => asked.or_else(|| own(entity)),
            _ => None,
        };
        match meant {
            Some(to) => send(ctx, to, Msg::Ask { task: self.task.clone() }),
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
                send(ctx, id, Msg::Ask { task: self.task.clone() });
            }
            Msg::Answer { result, .. } if !self.done => self.finish(ctx, result),
            _ => {}
        }
    }
}
