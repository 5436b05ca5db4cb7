//! "Will I lose data?", answered by trying: on copies of the world each broker that has a replica
//! is killed, and each two of them; the cluster settles; then the partition's records of now are
//! looked for. [product.md Logs, spec kafka-zk.md I5, I11, I12, L2]

use std::sync::Arc;

use super::logs::{leader_of, log_of, state};
use crate::base::{Instant, Span, limits};
use crate::kafka::TopicPartition;
use crate::kafka::data::{Offset, Record};
use crate::kafka::log::acks::{self, Asked, Error};
use crate::kafka::log::manager::Rules;
use crate::kafka::log::store::Log;
use crate::kafka::real::registry;
use crate::lab::Lab;
use crate::world::command::{Command, Who};
use crate::world::proc::{Kind, State};
use crate::world::{Profile, Timed, World};

/// The answers to `acks` 0, 1 and all.
pub const ACKS: [i16; 3] = [0, 1, -1];

/// What a partition stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub leader: Option<u32>,
    pub replicas: Vec<u32>,
    pub isr: Vec<u32>,
    pub min_insync: u32,
    /// Somebody outside the ISR may be elected.
    pub unclean: bool,
    /// Whether a request is taken, for each of [`ACKS`].
    pub accepts: [Result<(), Error>; 3],
    /// The high watermark and the LEO of the leader's log, and where that starts.
    pub high_watermark: Offset,
    pub end: Offset,
    pub start: Offset,
}

/// A producer that writes there by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    pub name: Arc<str>,
    pub acks: i16,
}

/// What became of the records when these brokers were killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub killed: Vec<u32>,
    pub then: Standing,
    /// The leader's log has them no more: from, up to but without.
    pub gone: Vec<(Offset, Offset)>,
    /// Nobody leads, or they are above the leader's high watermark: they can't be read.
    pub unreadable: Vec<(Offset, Offset)>,
    /// Of those that are gone, how many were committed.
    pub gone_committed: u64,
    /// Everything that was to happen happened within the limits.
    pub settled: bool,
}

impl Case {
    pub fn count(runs: &[(Offset, Offset)]) -> u64 {
        runs.iter().map(|(from, to)| to - from).sum()
    }
}

/// What a partition stands on now, and who writes there.
pub fn facts(lab: &Lab, tp: &TopicPartition) -> (Standing, Vec<Writer>) {
    (standing(lab.world(), tp), writers(lab.world(), tp))
}

/// The question and how far it is answered.
#[derive(Clone)]
pub struct Loss {
    pub tp: TopicPartition,
    pub at: Instant,
    /// The event it was asked after: another moment is another answer.
    pub event_no: u64,
    pub now: Standing,
    pub cases: Vec<Case>,
    /// Cases that there will be.
    pub all: usize,
    world: World,
    /// The records of now.
    log: Log,
    commands: Vec<Timed>,
    ahead: Vec<Vec<u32>>,
    trial: Option<Trial>,
}

/// A case that is being tried.
#[derive(Clone)]
struct Trial {
    killed: Vec<u32>,
    world: World,
    commands: Vec<Timed>,
    events: u32,
    /// The dead are known to be dead since then.
    known: Option<Instant>,
}

/// After the dead are known, so long nothing may change before it counts as settled.
const CALM: Span = Span::from_secs(5);

impl Loss {
    /// `None`: nobody leads the partition, or it has no log.
    pub fn ask(lab: &Lab, tp: &TopicPartition) -> Option<Loss> {
        let world = lab.world();
        let now = standing(world, tp);
        let log = log_of(world, now.leader?, tp)?.clone();
        let lives = |id: &&u32| world.broker(**id).is_some_and(|proc| proc.state == State::Up);
        let alive = now.replicas.iter().filter(lives).take(limits::LOSS_REPLICAS);
        let alive: Vec<u32> = alive.copied().collect();
        let mut ahead: Vec<Vec<u32>> = alive.iter().map(|id| vec![*id]).collect();
        for (at, one) in alive.iter().enumerate() {
            ahead.extend(alive.iter().skip(at + 1).map(|other| vec![*one, *other]));
        }
        let all = ahead.len();
        ahead.reverse();
        let done = usize::try_from(world.commands_done).unwrap_or(usize::MAX);
        let commands = lab.run().commands.iter().take(done).cloned().collect();
        let (at, event_no, tp) = (lab.now(), world.event_no, tp.clone());
        let (cases, world, trial) = (Vec::new(), world.clone(), None);
        Some(Loss { tp, at, event_no, now, cases, all, world, log, commands, ahead, trial })
    }

    pub fn is_done(&self) -> bool {
        self.trial.is_none() && self.ahead.is_empty()
    }

    /// Goes on, at most so many events.
    pub fn work(&mut self, budget: u32) {
        let mut left = budget;
        while left > 0 {
            let begun = self.trial.take().or_else(|| self.begin());
            let Some(mut trial) = begun else { return };
            if trial.run(&mut left) {
                self.cases.push(self.judge(trial, true));
            } else if trial.events >= limits::LOSS_EVENTS {
                self.cases.push(self.judge(trial, false));
            } else {
                self.trial = Some(trial);
            }
        }
    }

    fn begin(&mut self) -> Option<Trial> {
        let killed = self.ahead.pop()?;
        let mut commands = self.commands.clone();
        // What was taken out at this moment came before.
        let at = self.at.max(self.world.now + Span(1));
        let kill = |id: &u32| (at, Arc::new(Command::Kill(Who::Broker(*id))));
        commands.extend(killed.iter().map(kill));
        Some(Trial { killed, world: self.world.clone(), commands, events: 0, known: None })
    }

    fn judge(&self, trial: Trial, settled: bool) -> Case {
        let then = standing(&trial.world, &self.tp);
        let log = then.leader.and_then(|id| log_of(&trial.world, id, &self.tp));
        let (mut gone, mut unreadable, mut gone_committed) = (Vec::new(), Vec::new(), 0);
        let (start, end) = (self.log.start(), self.log.end());
        for offset in start.max(end.saturating_sub(limits::LOSS_RECORDS))..end {
            match (then.leader, log) {
                (None, _) => push(&mut unreadable, offset),
                // Retention is no accident.
                (_, Some(log)) if offset < log.start() => {}
                (_, log) if !same(log.and_then(|log| log.get(offset)), self.log.get(offset)) => {
                    push(&mut gone, offset);
                    gone_committed += u64::from(offset < self.now.high_watermark);
                }
                (_, Some(log)) if offset >= log.high_watermark => push(&mut unreadable, offset),
                _ => {}
            }
        }
        Case { killed: trial.killed, then, gone, unreadable, gone_committed, settled }
    }
}

fn same(a: Option<&Record>, b: Option<&Record>) -> bool {
    let what =
        |record: &Record| (record.key.clone(), record.value.clone(), record.epoch, record.sent);
    a.map(what) == b.map(what)
}

fn push(runs: &mut Vec<(Offset, Offset)>, offset: Offset) {
    match runs.last_mut() {
        Some((_, to)) if *to == offset => *to += 1,
        _ => runs.push((offset, offset + 1)),
    }
}

impl Trial {
    /// True once the cluster has settled, or its time is over.
    fn run(&mut self, left: &mut u32) -> bool {
        let began = self.commands.last().map_or(Instant::ZERO, |(at, _)| *at);
        let mut rows = Vec::new();
        while *left > 0 && self.events < limits::LOSS_EVENTS {
            let Some(at) = self.world.next_at(&self.commands) else { return true };
            let calm = self.known.is_some_and(|known| at > known + CALM);
            if calm || at > began + Span::from_secs(limits::LOSS_SECS) {
                return true;
            }
            if !self.world.step(&self.commands, &mut rows) {
                return true;
            }
            rows.clear();
            *left -= 1;
            self.events += 1;
            if self.known.is_none() && self.world.touched && self.is_known() {
                self.known = Some(self.world.now);
            }
        }
        false
    }

    /// No dead broker is registered any more.
    fn is_known(&self) -> bool {
        let tree = self.world.server.tree();
        let done = usize::try_from(self.world.commands_done).unwrap_or(usize::MAX);
        let registered = |id: &u32| tree.get(&crate::kafka::paths::broker(*id)).is_some();
        done >= self.commands.len() && !self.killed.iter().any(registered)
    }
}

fn standing(world: &World, tp: &TopicPartition) -> Standing {
    let (replicas, state) = state(world, tp);
    let leader = leader_of(state.as_ref());
    // The znode may still name one that is dead.
    let lives = |id: &u32| world.broker(*id).is_some_and(|proc| proc.state == State::Up);
    let leader = leader.filter(lives);
    let isr = state.map(|state| state.isr).unwrap_or_default();
    let rules = world.config.logs();
    let min_insync = min_insync(world, &rules, &tp.topic, replicas.len());
    let asked = |acks: i16| Asked {
        acks: acks.into(),
        is_leader: leader.is_some(),
        isr: u32::try_from(isr.len()).unwrap_or(u32::MAX),
        min_insync,
    };
    let accepts = ACKS.map(|acks| acks::on_append(asked(acks), rules.counts_acks).map(|_| ()));
    let log = leader.and_then(|id| log_of(world, id, tp));
    Standing {
        leader,
        replicas,
        min_insync,
        unclean: unclean(world, &tp.topic),
        accepts,
        high_watermark: log.map_or(0, |log| log.high_watermark),
        end: log.map_or(0, Log::end),
        start: log.map_or(0, Log::start),
        isr,
    }
}

/// The topic's own, or the cluster's. [spec kafka-zk.md I11]
fn min_insync(world: &World, rules: &Rules, topic: &str, replicas: usize) -> u32 {
    let own = world.server.tree().get(&format!("/config/topics/{topic}"));
    let own = own.and_then(|node| registry::min_insync(&node.data));
    let set = own.unwrap_or(rules.min_insync);
    match rules.bounds_min {
        true => set.min(u32::try_from(replicas).unwrap_or(u32::MAX)),
        false => set,
    }
}

/// The textbook elects from the ISR only. [product.md T5]
fn unclean(world: &World, topic: &str) -> bool {
    if world.config.profile == Profile::Textbook {
        return false;
    }
    let usual = world.config.kafka.unclean_election;
    let own = world.server.tree().get(&format!("/config/topics/{topic}"));
    own.map_or(usual, |node| registry::unclean(&node.data, usual))
}

fn writers(world: &World, tp: &TopicPartition) -> Vec<Writer> {
    let writers = world.procs.iter().filter_map(|proc| {
        let Kind::Producer(name) = &proc.kind else { return None };
        let spec = proc.producer.as_ref().filter(|_| proc.is_running())?;
        let stream = spec.stream.as_ref()?;
        let writes = stream.topic == tp.topic;
        writes.then(|| Writer { name: name.clone(), acks: spec.acks })
    });
    writers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    fn answer(profile: &str, acks: &str, more: &str) -> Loss {
        let text = format!(
            "kafkascope 1\nprofile {profile} seed 7\n{more}at 0s start broker 1..3\n\
             at 2s create topic T partitions 1 replication 2\nat 4s start producer p1 acks {acks}\n\
             at 5s produce p1 topic T partition 0 count 5\n"
        );
        let script = script::parse(&text).expect("the script");
        let mut lab = Lab::new(script::run_of(&script));
        lab.advance(Instant::ZERO + Span::from_secs(9), u32::MAX);
        let digest = lab.digest();
        let tp = TopicPartition { topic: "T".into(), partition: 0 };
        let mut loss = Loss::ask(&lab, &tp).expect("a leader");
        while !loss.is_done() {
            loss.work(100);
        }
        assert_eq!(lab.digest(), digest, "asking changes nothing");
        loss
    }

    #[test]
    fn one_broker_of_two_loses_nothing_and_both_leave_nothing_readable() {
        for profile in ["textbook", "0.8", "2.x"] {
            let loss = answer(profile, "all", "");
            assert_eq!(loss.cases.len(), 3, "{profile}");
            for case in &loss.cases {
                assert!(case.settled, "{profile} {:?}", case.killed);
                assert_eq!(case.gone, [], "{profile} {:?}", case.killed);
                let lost: &[(u64, u64)] = if case.killed.len() == 2 { &[(0, 5)] } else { &[] };
                assert_eq!(case.unreadable, lost, "{profile} {:?}", case.killed);
            }
            assert_eq!(loss.cases[2].killed.len(), 2);
        }
    }

    #[test]
    fn what_is_accepted_afterwards_depends_on_min_insync_replicas() {
        let loss = answer("0.8", "all", "set min.insync.replicas 2\n");
        assert_eq!(loss.now.accepts, [Ok(()); 3]);
        let no = Err(Error::NotEnoughReplicas);
        assert_eq!(loss.cases[0].then.accepts, [Ok(()), Ok(()), no]);
    }

    #[test]
    fn the_sum_of_its_runs_is_what_a_case_counts() {
        let mut runs = Vec::new();
        for offset in [3, 4, 7, 8, 9] {
            push(&mut runs, offset);
        }
        assert_eq!((runs.as_slice(), Case::count(&runs)), (&[(3, 5), (7, 10)][..], 5));
    }
}
