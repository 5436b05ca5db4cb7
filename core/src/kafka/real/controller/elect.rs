//! Who is controller. [spec kafka-zk.md §3, C1, C8]

use super::{Controller, Io, Step};
use crate::kafka::event::Event as Note;
use crate::kafka::paths;
use crate::kafka::payload::{self, ControllerInfo};
use crate::kafka::real::broker::watcher;
use crate::kafka::real::fiber::Answer;
use crate::kafka::real::registry;
use crate::zk::op::{CreateMode, Data, Error, Op, Path, Reply, open_acl};

pub(in crate::kafka::real) fn create(path: Path, data: Data, mode: CreateMode) -> Op {
    Op::Create { path, data, acl: open_acl(), mode, ttl_ms: 0 }
}

fn error(answer: Option<&Answer>) -> Option<Error> {
    answer?.as_ref().err().map(|failure| failure.error)
}

impl Controller {
    pub(super) fn elect_step(&mut self, io: &mut Io<'_>, step: Step) {
        match step {
            Step::Elect => {
                let path: Path = paths::CONTROLLER.into();
                self.fiber
                    .watch(Op::Exists { path: path.clone(), watch: true }, watcher::CONTROLLER);
                self.fiber.get(path);
                self.then([Step::OfficeRead]);
            }
            Step::OfficeRead => self.office_read(io),
            Step::EpochRead => self.epoch_read(io),
            Step::EpochMade => {
                self.fiber.take();
                self.fiber.get(paths::CONTROLLER_EPOCH.into());
                self.then([Step::EpochRead]);
            }
            Step::Campaigned { epoch, version } => match self.fiber.one() {
                Some(Ok(_)) => self.won(io, epoch, version),
                _ => self.look_who_won(),
            },
            Step::OfficeTaken => match error(self.fiber.one().as_ref()) {
                None => self.take_office(),
                Some(_) => self.look_who_won(),
            },
            Step::LostRead => self.lost_read(io),
            Step::OldEpochRead => self.old_epoch_read(),
            Step::OldEpochWritten { epoch, version } => match error(self.fiber.one().as_ref()) {
                None => self.won(io, epoch, version),
                Some(Error::NoNode) => {
                    let data = payload::number_data(1);
                    let mode = CreateMode::Persistent;
                    self.fiber.ask(create(paths::CONTROLLER_EPOCH.into(), data, mode));
                    self.then([Step::OldEpochMade]);
                }
                Some(_) => self.give_up_office(io),
            },
            Step::OldEpochMade => match error(self.fiber.one().as_ref()) {
                None => self.won(io, 1, 0),
                Some(_) => self.give_up_office(io),
            },
            _ => self.office_checked(io),
        }
    }

    fn holder(answer: Option<&Answer>) -> Option<(u32, i64)> {
        let Some(Ok(Reply::Data { data, stat })) = answer else { return None };
        let info: ControllerInfo = payload::read(data)?;
        Some((info.brokerid, stat.ephemeral_owner))
    }

    fn office_read(&mut self, io: &mut Io<'_>) {
        let answers = self.fiber.take();
        let Some(Ok(Reply::Data { .. })) = answers.get(1) else {
            self.known = None;
            self.resign(io);
            return self.campaign(io);
        };
        let holder = Controller::holder(answers.get(1)).map(|(id, _)| id);
        self.known = holder;
        if holder != Some(io.me) || !self.active {
            self.resign(io);
            return self.lost(io);
        }
        self.settled = true;
        self.decided = true;
    }

    fn lost(&mut self, io: &mut Io<'_>) {
        if !self.settled || self.known.is_none() {
            io.note(Note::LostElection { broker: io.me, controller: self.known });
        }
        self.settled = true;
        self.decided = true;
    }

    fn campaign(&mut self, io: &mut Io<'_>) {
        if io.settings.release.fences_controller_writes() {
            self.fiber.get(paths::CONTROLLER_EPOCH.into());
            return self.then([Step::EpochRead]);
        }
        let data = registry::controller(io.settings.release, io.me, io.wall_ms);
        self.fiber.ask(create(paths::CONTROLLER.into(), data, CreateMode::Ephemeral));
        self.then([Step::OfficeTaken]);
    }

    fn epoch_read(&mut self, io: &mut Io<'_>) {
        let Some(Ok(Reply::Data { data, stat })) = self.fiber.one() else {
            let data = payload::number_data(0);
            let mode = CreateMode::Persistent;
            self.fiber.ask(create(paths::CONTROLLER_EPOCH.into(), data, mode));
            return self.then([Step::EpochMade]);
        };
        let epoch = payload::number(&data).unwrap_or(0).saturating_add(1);
        #[cfg(feature = "mutations")]
        let epoch = self.kept(epoch);
        let me = registry::controller(io.settings.release, io.me, io.wall_ms);
        self.fiber.ask(Op::Multi(vec![
            create(paths::CONTROLLER.into(), me, CreateMode::Ephemeral),
            Op::SetData {
                path: paths::CONTROLLER_EPOCH.into(),
                data: payload::number_data(i64::from(epoch)),
                version: stat.version,
            },
        ]));
        self.then([Step::Campaigned { epoch, version: stat.version.saturating_add(1) }]);
    }

    #[cfg(feature = "mutations")]
    fn kept(&self, epoch: i32) -> i32 {
        let keeps = self.mutation == Some(crate::kafka::broker::Mutation::KeepsEpoch);
        if keeps { (epoch - 1).max(1) } else { epoch }
    }

    fn look_who_won(&mut self) {
        let path: Path = paths::CONTROLLER.into();
        self.fiber.watch(Op::Exists { path: path.clone(), watch: true }, watcher::CONTROLLER);
        self.fiber.get(path);
        self.fiber.get(paths::CONTROLLER_EPOCH.into());
        self.then([Step::LostRead]);
    }

    /// It may be this broker's own: then the answer to its request was lost. [C1]
    fn lost_read(&mut self, io: &mut Io<'_>) {
        let answers = self.fiber.take();
        let Some((id, owner)) = Controller::holder(answers.get(1)) else {
            self.known = None;
            self.lost(io);
            return self.then([Step::Elect]);
        };
        self.known = Some(id);
        if id != io.me || owner != io.session.0 {
            return self.lost(io);
        }
        match (answers.get(2), io.settings.release.fences_controller_writes()) {
            (Some(Ok(Reply::Data { data, stat })), true) => {
                let epoch = payload::number(data).unwrap_or(1);
                self.won(io, epoch, stat.version);
            }
            _ => self.take_office(),
        }
    }

    /// `/controller` is this broker's; the epoch is not counted up yet.
    fn take_office(&mut self) {
        self.fiber.get(paths::CONTROLLER_EPOCH.into());
        self.then([Step::OldEpochRead]);
    }

    fn old_epoch_read(&mut self) {
        let (epoch, version) = match self.fiber.one() {
            Some(Ok(Reply::Data { data, stat })) => {
                (payload::number(&data).unwrap_or(0), stat.version)
            }
            _ => (0, 0),
        };
        let epoch = epoch.saturating_add(1);
        let data = payload::number_data(i64::from(epoch));
        self.fiber.ask(Op::SetData { path: paths::CONTROLLER_EPOCH.into(), data, version });
        self.then([Step::OldEpochWritten { epoch, version: version.saturating_add(1) }]);
    }

    /// Another one counted the epoch up meanwhile.
    fn give_up_office(&mut self, io: &mut Io<'_>) {
        self.resign(io);
        self.fiber.ask(Op::Delete { path: paths::CONTROLLER.into(), version: -1 });
        self.then([Step::Ignore]);
    }

    fn won(&mut self, io: &mut Io<'_>, epoch: i32, version: i32) {
        self.active = true;
        self.settled = false;
        self.epoch = epoch;
        self.epoch_version = version;
        self.known = Some(io.me);
        io.note(Note::WonElection { broker: io.me });
        // Its own watch on the office.
        let path = paths::CONTROLLER.into();
        self.fiber.watch(Op::Exists { path, watch: true }, watcher::CONTROLLER);
        self.failover(io);
    }

    /// After a fenced write: it resigns only if another one is named. [C2]
    fn office_checked(&mut self, io: &mut Io<'_>) {
        let answer = self.fiber.one();
        let holder = Controller::holder(answer.as_ref()).map(|(id, _)| id);
        if holder != Some(io.me) {
            self.known = holder;
            self.resign(io);
        }
    }
}
