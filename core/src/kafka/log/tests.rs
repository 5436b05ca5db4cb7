//! Three brokers without a controller: what they believe is set by hand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::manager::{ReplicaManager, Role, Roles, Rules};
use super::store::{Event, Log};
use crate::base::{Instant, Rng};
use crate::kafka::broker::{Ctx, Effect, Timer};
use crate::kafka::data::{Code, Fetched, Msg, NO_LIMIT, Offset, Record, Reset};
use crate::kafka::event::Event as Note;
use crate::kafka::msg::{Msg as AnyMsg, TopicPartition};

/// A client's number.
const CLIENT: u32 = 1 << 24;

struct State {
    leader: u32,
    epoch: i32,
    isr: Vec<u32>,
    replicas: Vec<u32>,
}

impl Roles for State {
    fn role(&self, tp: &TopicPartition) -> Option<Role<'_>> {
        let (leader, epoch) = (Some(self.leader), self.epoch);
        let (isr, replicas) = (&self.isr, &self.replicas);
        let role = Role { leader, epoch, isr, maximal: isr, replicas, begins: true };
        (*tp == t0()).then_some(role)
    }
}

fn t0() -> TopicPartition {
    TopicPartition { topic: "T".into(), partition: 0 }
}

struct Net {
    now: Instant,
    state: State,
    up: BTreeMap<u32, ReplicaManager>,
    wire: VecDeque<(u32, u32, Msg)>,
    timers: Vec<(Instant, u32, Timer)>,
    heard: Vec<Msg>,
    notes: Vec<Event>,
    rng: Rng,
    caught_up: Vec<(u32, u32)>,
}

impl Net {
    fn new(count: u32, rules: Rules) -> Net {
        let replicas: Vec<u32> = (1..=count).collect();
        let manager = |id: &u32| (*id, ReplicaManager::new(Arc::default(), rules));
        Net {
            now: Instant::ZERO,
            up: replicas.iter().map(manager).collect(),
            state: State { leader: 1, epoch: 0, isr: replicas.clone(), replicas },
            wire: VecDeque::new(),
            timers: Vec::new(),
            heard: Vec::new(),
            notes: Vec::new(),
            rng: Rng::new(1),
            caught_up: Vec::new(),
        }
    }

    fn act<T>(
        &mut self,
        id: u32,
        act: impl FnOnce(&mut ReplicaManager, &mut Ctx<'_>, &State) -> T,
    ) -> Option<T> {
        let manager = self.up.get_mut(&id)?;
        let mut out = Vec::new();
        let (now, rng, frozen) = (self.now, &mut self.rng, &BTreeMap::new());
        let mut ctx = Ctx { now, wall_ms: 0, rng, frozen, out: &mut out };
        let result = act(manager, &mut ctx, &self.state);
        manager.settle(&mut ctx, id, &self.state);
        for effect in out {
            match effect {
                Effect::Peer { to, msg: AnyMsg::Data(msg) } => self.wire.push_back((id, to, *msg)),
                Effect::Arm { timer, at } => self.timers.push((at, id, timer)),
                Effect::Note(Note::Log(event)) => self.notes.push(event),
                _ => {}
            }
        }
        Some(result)
    }

    fn send(&mut self, to: u32, msg: Msg) {
        self.wire.push_back((CLIENT, to, msg));
        self.deliver();
    }

    fn deliver(&mut self) {
        while let Some((from, to, msg)) = self.wire.pop_front() {
            if to == CLIENT {
                self.heard.push(msg);
                continue;
            }
            let act = |manager: &mut ReplicaManager, ctx: &mut Ctx<'_>, state: &State| {
                manager.serve(ctx, to, from, msg, state)
            };
            for _ in self.act(to, act).unwrap_or_default() {
                self.caught_up.push((to, from));
            }
        }
    }

    /// Lets the timers run out.
    fn wait(&mut self) {
        while let Some(at) = self.timers.iter().map(|(at, ..)| *at).min() {
            self.now = at;
            let due: Vec<_> = self.timers.extract_if(.., |(due, ..)| *due <= at).collect();
            for (_, id, timer) in due {
                self.act(id, |manager, ctx, state| manager.timer(ctx, id, timer, state));
            }
            self.deliver();
        }
    }

    fn produce(&mut self, acks: i16, values: std::ops::Range<u64>) {
        let record = |n: u64| Record {
            key: None,
            value: n.to_string().into(),
            epoch: crate::kafka::data::NO_EPOCH,
            sent: crate::sim::RowId::NONE,
            by_hand: false,
        };
        let batches = vec![(t0(), values.map(record).collect())];
        let leader = self.state.leader;
        self.send(leader, Msg::Produce { id: 1, acks, timeout_ms: 10_000, batches });
    }

    fn log(&self, id: u32) -> (Offset, Offset) {
        let log = self.up[&id].store.get(&t0());
        log.map_or((0, 0), |log: &Log| (log.high_watermark, log.end()))
    }

    /// Somebody else leads, and who lives hears of it and comes.
    fn elect(&mut self, leader: u32) {
        self.state.leader = leader;
        let ids: Vec<u32> = self.up.keys().copied().collect();
        for id in &ids {
            self.act(*id, |manager, ctx, state| manager.ordered(ctx, *id, &[t0()], state));
        }
        for id in ids.into_iter().filter(|id| *id != leader) {
            self.act(leader, |manager, ctx, state| {
                manager.follower_comes(ctx, leader, id, &[t0()], state)
            });
        }
        self.deliver();
    }

    fn fetch(&mut self, at: Offset, wait_ms: u32) {
        let partitions = [(t0(), at)].into();
        let leader = self.state.leader;
        self.send(leader, Msg::Fetch { id: 7, wait_ms, partitions });
    }
}

fn values(msg: &Msg) -> Vec<String> {
    let Msg::FetchAnswer { results, .. } = msg else { return Vec::new() };
    let fetched = results.iter().filter_map(|(_, result)| result.as_ref().ok());
    let records = fetched.flat_map(|fetched: &Fetched| fetched.records.iter());
    records.map(|record| record.value.to_string()).collect()
}

#[test]
fn followers_copy_and_the_high_watermark_follows() {
    let mut net = Net::new(3, Rules::default());
    net.produce(-1, 0..3);
    assert_eq!(net.heard, [Msg::Produced { id: 1, results: vec![(t0(), Ok(0))] }]);
    assert_eq!((net.log(1), net.log(2), net.log(3)), ((3, 3), (0, 3), (0, 3)));
    net.wait();
    assert_eq!((net.log(2), net.log(3)), ((3, 3), (3, 3)), "followers hear of it later");
    assert!(net.wire.is_empty() && net.timers.is_empty(), "then nothing happens");
}

#[test]
fn a_wait_ends_when_there_is_data() {
    let mut net = Net::new(1, Rules::default());
    net.fetch(0, NO_LIMIT);
    assert_eq!(net.heard, []);
    net.produce(0, 0..2);
    assert_eq!(net.heard.len(), 1, "acks 0 has no answer");
    assert_eq!(values(&net.heard[0]), ["0", "1"]);
    net.fetch(2, 100);
    net.wait();
    assert_eq!(net.heard[1], Msg::FetchAnswer { id: 7, results: Vec::new() });
    net.fetch(3, NO_LIMIT);
    let gone = Err(Code::OffsetOutOfRange);
    assert_eq!(net.heard[2], Msg::FetchAnswer { id: 7, results: vec![(t0(), gone)] });
    for (at, offset) in [(Reset::Earliest, 0), (Reset::Latest, 2)] {
        net.send(1, Msg::ListOffsets { id: 8, tp: t0(), at });
        let answer = Msg::ListOffsetsAnswer { id: 8, tp: t0(), result: Ok(offset) };
        assert_eq!(net.heard.last(), Some(&answer));
    }
}

#[test]
fn nobody_reads_what_is_not_committed() {
    let mut net = Net::new(2, Rules::default());
    let down = net.up.remove(&2);
    net.produce(1, 0..2);
    net.fetch(0, 0);
    assert_eq!(values(net.heard.last().expect("an answer")), Vec::<String>::new());
    // It leaves the ISR: that commits them.
    net.state.isr = vec![1];
    net.act(1, |_, _, _| ());
    assert_eq!(net.log(1), (2, 2));
    // It returns and catches up.
    net.up.extend(down.map(|manager| (2, manager)));
    net.elect(1);
    assert_eq!((net.log(2), net.caught_up.as_slice()), ((2, 2), &[(1, 2)][..]));
    net.produce(1, 2..4);
    assert_eq!(net.log(2).1, 4);
}

#[test]
fn a_new_leader_goes_on_from_its_own_log() {
    let mut net = Net::new(3, Rules::default());
    net.produce(-1, 0..5);
    net.wait();
    let old = net.up.remove(&1);
    net.state.isr = vec![2, 3];
    net.elect(2);
    net.produce(-1, 5..8);
    net.wait();
    assert_eq!((net.log(2), net.log(3)), ((8, 8), (8, 8)));
    // The old one comes with a record that nobody else got: it goes.
    net.up.extend(old.map(|manager| (1, manager)));
    let alone = Record {
        key: None,
        value: "alone".into(),
        epoch: crate::kafka::data::NO_EPOCH,
        sent: crate::sim::RowId::NONE,
        by_hand: false,
    };
    net.act(1, |manager, _, _| Arc::make_mut(&mut manager.store).log(&t0()).append([alone]));
    net.elect(2);
    net.wait();
    assert_eq!(net.log(1), (8, 8));
    let log = net.up[&1].store.get(&t0()).map(|log| log.records(0, 9).cloned().collect());
    let values: Vec<Record> = log.unwrap_or_default();
    assert_eq!(values.last().map(|record| &*record.value), Some("7"));
}

#[test]
fn who_is_not_leader_says_so_and_who_waits_is_told() {
    let mut net = Net::new(2, Rules::default());
    net.up.remove(&2);
    net.produce(-1, 0..1);
    net.fetch(0, NO_LIMIT);
    assert_eq!(net.heard, [], "both wait");
    net.elect(2);
    let no = Err(Code::NotLeaderForPartition);
    let produced = Msg::Produced { id: 1, results: vec![(t0(), no)] };
    assert!(net.heard.contains(&produced), "{:?}", net.heard);
    assert_eq!(net.heard.len(), 2);
}

#[test]
fn acks_that_never_come_time_out() {
    let mut net = Net::new(2, Rules { min_insync: 2, ..Rules::default() });
    net.up.remove(&2);
    net.produce(-1, 0..1);
    net.wait();
    let late = Err(Code::RequestTimedOut);
    assert_eq!(net.heard, [Msg::Produced { id: 1, results: vec![(t0(), late)] }]);
    net.state.isr = vec![1];
    net.produce(-1, 1..2);
    let few = Err(Code::NotEnoughReplicas);
    assert_eq!(net.heard[1], Msg::Produced { id: 1, results: vec![(t0(), few)] });
    assert_eq!(net.log(1).1, 1);
}
