//! Who gets what in a group: the rule with the run's own numbers, what another rule would give,
//! what would move if something changed, and how the last rebalance went.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::groups::{GroupView, note};
use crate::base::{Instant, Span};
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::assign::{self, Strategy};
use crate::kafka::consumer_zk::connector::Rules;
use crate::kafka::consumer_zk::event::Event as Note;
use crate::kafka::consumer_zk::nodes;
use crate::lab::Lab;
use crate::sim::RowId;
use crate::world::proc::Kind;
use crate::world::{Event, Row, ZkEvent};

/// A rule that gives partitions to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// F = ⌈partitions / consumers⌉ [product.md T11]
    Ceil,
    /// ⌊partitions / threads⌋, and one more for the first [spec consumer-zk.md Assignment]
    Range,
    RoundRobin,
}

/// One who takes part: a member's stream, in the order of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taker {
    pub member: Arc<str>,
    /// A thread's id, or the consumer's.
    pub id: Arc<str>,
    pub gets: Vec<u32>,
}

/// What a rule gives of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub rule: Rule,
    pub topic: Arc<str>,
    pub partitions: u32,
    pub takers: Vec<Taker>,
}

impl Plan {
    pub fn owner(&self, partition: u32) -> Option<&Taker> {
        self.takers.iter().find(|taker| taker.gets.contains(&partition))
    }

    /// The members that get nothing.
    pub fn idle(&self) -> Vec<Arc<str>> {
        let busy: BTreeSet<&str> = self
            .takers
            .iter()
            .filter(|taker| !taker.gets.is_empty())
            .map(|taker| &*taker.member)
            .collect();
        let mut idle: Vec<Arc<str>> = self
            .takers
            .iter()
            .map(|taker| taker.member.clone())
            .filter(|member| !busy.contains(&**member))
            .collect();
        idle.dedup();
        idle
    }
}

/// Streams by topic.
pub type Streams = BTreeMap<Arc<str>, u32>;

/// What is known of a group, or supposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppose {
    pub rule: Rule,
    /// Topics with how many partitions they have.
    pub topics: BTreeMap<Arc<str>, u32>,
    /// Members by id: their name, and their streams by topic.
    pub members: BTreeMap<Arc<str>, (Arc<str>, Streams)>,
}

impl Suppose {
    /// As the group is.
    pub fn now(group: &GroupView) -> Suppose {
        let rule = match (group.rules, group.strategy) {
            (Some(Rules::Textbook) | None, _) => Rule::Ceil,
            (Some(Rules::V08), Strategy::Range) => Rule::Range,
            (Some(Rules::V08), Strategy::RoundRobin) => Rule::RoundRobin,
        };
        let mut topics = BTreeMap::new();
        for seat in &group.seats {
            *topics.entry(seat.tp.topic.clone()).or_insert(0) += 1;
        }
        let members = group.members.iter().filter(|member| member.registered);
        let members = members
            .map(|member| (member.id.clone(), (member.name.clone(), member.topics.clone())))
            .collect();
        Suppose { rule, topics, members }
    }

    pub fn plans(&self) -> Vec<Plan> {
        match self.rule {
            Rule::RoundRobin => self.round_robin(),
            rule => self.topics.iter().map(|(topic, n)| self.share(rule, topic, *n)).collect(),
        }
    }

    fn takers(&self, topic: &str) -> Vec<Taker> {
        let mut takers = Vec::new();
        for (id, (member, topics)) in &self.members {
            let Some(streams) = topics.get(topic) else { continue };
            // The textbook counts consumers, not streams.
            let streams = if self.rule == Rule::Ceil { 1 } else { *streams };
            for stream in 0..streams {
                let id = match self.rule {
                    Rule::Ceil => id.clone(),
                    _ => assign::thread_id(id, stream).into(),
                };
                takers.push(Taker { member: member.clone(), id, gets: Vec::new() });
            }
        }
        takers.sort_by(|a, b| a.id.cmp(&b.id));
        takers
    }

    fn share(&self, rule: Rule, topic: &Arc<str>, partitions: u32) -> Plan {
        let mut takers = self.takers(topic);
        let count = u32::try_from(takers.len()).unwrap_or(u32::MAX);
        for (at, taker) in (0..).zip(&mut takers) {
            taker.gets = match rule {
                Rule::Ceil => assign::ceil_share(partitions, count, at),
                _ => assign::share(partitions, count, at),
            }
            .collect();
        }
        Plan { rule, topic: topic.clone(), partitions, takers }
    }

    /// Nothing where round robin refuses. [spec consumer-zk.md B5]
    fn round_robin(&self) -> Vec<Plan> {
        let topics: BTreeMap<String, u32> =
            self.topics.iter().map(|(topic, n)| (topic.to_string(), *n)).collect();
        let members: Vec<assign::Member> = self
            .members
            .iter()
            .map(|(id, (_, topics))| assign::Member {
                id: id.to_string(),
                subscription: assign::Subscription::Topics(
                    topics.iter().map(|(topic, n)| (topic.to_string(), *n)).collect(),
                ),
                no_internal: true,
            })
            .collect();
        let group = assign::Group::new(&topics, &members);
        let mut whole = assign::Plan::new();
        for member in &members {
            whole.extend(group.plan(Strategy::RoundRobin, &member.id).unwrap_or_default());
        }
        let mut plans = Vec::new();
        for (topic, n) in &self.topics {
            let mut takers = self.takers(topic);
            for taker in &mut takers {
                let mine = whole.get(&*taker.id).and_then(|topics| topics.get(&**topic));
                taker.gets = mine.cloned().unwrap_or_default();
                taker.gets.sort_unstable();
            }
            let (rule, topic, partitions) = (Rule::RoundRobin, topic.clone(), *n);
            plans.push(Plan { rule, topic, partitions, takers });
        }
        plans
    }
}

/// A partition and who has it before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub tp: TopicPartition,
    pub from: Option<Arc<str>>,
    pub to: Option<Arc<str>>,
}

/// Partitions whose member is another one.
pub fn moves(before: &[Plan], after: &[Plan]) -> Vec<Move> {
    let owner = |plans: &[Plan], topic: &str, partition: u32| {
        let plan = plans.iter().find(|plan| &*plan.topic == topic)?;
        plan.owner(partition).map(|taker| taker.member.clone())
    };
    let mut moves = Vec::new();
    for plan in after {
        for partition in 0..plan.partitions {
            let from = owner(before, &plan.topic, partition);
            let to = owner(after, &plan.topic, partition);
            if from != to {
                let tp = TopicPartition { topic: plan.topic.clone(), partition };
                moves.push(Move { tp, from, to });
            }
        }
    }
    moves
}

/// A step of a rebalance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Trigger,
    Release,
    Compute,
    Claim,
    Retry,
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    pub step: Step,
    /// The first row of it.
    pub row: RowId,
    pub at: Instant,
    /// How many partitions, members or refused claims it counts.
    pub count: u32,
}

/// How the group's last rebalance went, as far as the run has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebalance {
    /// Members by name, and what each had before it.
    pub before: BTreeMap<TopicPartition, Arc<str>>,
    pub phases: Vec<PhaseRow>,
    /// How long each partition was without an owner; open: until now.
    pub still: BTreeMap<TopicPartition, Span>,
    /// Those that nobody has claimed yet.
    pub open: BTreeSet<TopicPartition>,
}

/// Rows further back than this are not looked at.
const FAR: usize = 100_000;
/// Members that rebalance for the same reason begin at most so long after each other.
const TOGETHER: Span = Span::from_secs(1);
/// How far before it the end of a session may lie that caused it.
const BEFORE: Span = Span::from_secs(3);

/// `None`: the group never rebalanced, or too long ago.
pub fn rebalance(lab: &Lab, group: &GroupView) -> Option<Rebalance> {
    let world = lab.world();
    let rows = lab.rows();
    let names: BTreeMap<u16, Arc<str>> = (0_u16..)
        .zip(&world.procs)
        .filter_map(|(index, proc)| match (&proc.kind, &proc.consumer) {
            (Kind::Consumer(name), Some(spec)) if spec.group == group.name => {
                Some((index, name.clone()))
            }
            _ => None,
        })
        .collect();
    let first = first_row(rows, &names)?;
    let mut told = Rebalance::default();
    let mut open: BTreeMap<TopicPartition, Instant> = BTreeMap::new();
    let prefix = format!("{}/", nodes::folder(&group.name, "owners"));
    // Owner nodes of a session that ended caused it.
    let began = rows[first].at;
    let early = rows[..first].iter().rposition(|row| began.since(row.at) > BEFORE);
    for (at, row) in rows.iter().enumerate().skip(early.unwrap_or(0)) {
        gone(&mut told, &mut open, &names, &prefix, row, world);
        if at >= first
            && let Some(name) = names.get(&row.proc)
            && let Some(note) = note(row)
        {
            let id = RowId(u32::try_from(at).unwrap_or(u32::MAX));
            tell(&mut told, &mut open, name, note, row, id);
        }
    }
    for (tp, since) in open {
        told.still.insert(tp.clone(), lab.now().since(since));
        told.open.insert(tp);
    }
    Some(told)
}

/// Where the last rebalance began: the first try after everybody was done with the one before.
fn first_row(rows: &[Row], names: &BTreeMap<u16, Arc<str>>) -> Option<usize> {
    let mut first = None;
    let mut busy: BTreeSet<u16> = BTreeSet::new();
    let mut rested: Option<Instant> = None;
    let skipped = rows.len().saturating_sub(FAR);
    for (at, row) in rows.iter().enumerate().skip(skipped) {
        if !names.contains_key(&row.proc) {
            continue;
        }
        match note(row) {
            Some(Note::Attempt { .. }) => {
                let apart = rested.is_none_or(|rested| row.at.since(rested) > TOGETHER);
                if busy.is_empty() && (apart || first.is_none()) {
                    first = Some(at);
                }
                busy.insert(row.proc);
            }
            Some(Note::AttemptEnded { .. } | Note::GaveUp { .. }) => {
                busy.remove(&row.proc);
                rested = Some(row.at);
            }
            _ if matches!(row.event, Event::Killed | Event::Exited) => {
                busy.remove(&row.proc);
            }
            _ => {}
        }
    }
    first
}

/// Owner nodes that went with their session.
fn gone(
    told: &mut Rebalance,
    open: &mut BTreeMap<TopicPartition, Instant>,
    names: &BTreeMap<u16, Arc<str>>,
    prefix: &str,
    row: &Row,
    world: &crate::world::World,
) {
    let (Event::Zk(ZkEvent::SessionExpired { session, gone })
    | Event::Zk(ZkEvent::SessionClosed { session, gone })) = &row.event
    else {
        return;
    };
    let Some(name) = world.owners.get(session).and_then(|proc| names.get(proc)) else { return };
    for path in gone.iter() {
        let named = path.strip_prefix(prefix).and_then(|rest| rest.rsplit_once('/'));
        if let Some((topic, node)) = named
            && let Some(partition) = nodes::partition(node)
        {
            let tp = TopicPartition { topic: topic.into(), partition };
            told.before.insert(tp.clone(), name.clone());
            open.entry(tp).or_insert(row.at);
        }
    }
}

fn count(told: &mut Rebalance, step: Step, row: (RowId, Instant), n: usize) {
    let n = u32::try_from(n).unwrap_or(u32::MAX);
    match told.phases.iter_mut().find(|phase| phase.step == step) {
        Some(phase) => phase.count += n,
        None => told.phases.push(PhaseRow { step, row: row.0, at: row.1, count: n }),
    }
}

fn tell(
    told: &mut Rebalance,
    open: &mut BTreeMap<TopicPartition, Instant>,
    name: &Arc<str>,
    note: &Note,
    row: &Row,
    id: RowId,
) {
    let here = (id, row.at);
    match note {
        Note::Attempt { .. } => count(told, Step::Trigger, here, 1),
        Note::Released { partitions } => {
            for tp in partitions {
                told.before.entry(tp.clone()).or_insert_with(|| name.clone());
                open.entry(tp.clone()).or_insert(row.at);
            }
            count(told, Step::Release, here, partitions.len());
        }
        Note::Assigned { .. } => count(told, Step::Compute, here, 1),
        Note::Claimed { tp } => {
            if let Some(since) = open.remove(tp) {
                told.still.insert(tp.clone(), row.at.since(since));
            }
            count(told, Step::Claim, here, 1);
        }
        Note::ClaimRefused { .. } => count(told, Step::Retry, here, 1),
        Note::AttemptEnded { .. } => count(told, Step::Done, here, 1),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(rule: Rule, members: u32, partitions: u32) -> Suppose {
        let topic: Arc<str> = "login".into();
        let members = (1..=members).map(|n| {
            let streams = BTreeMap::from([(topic.clone(), 1)]);
            (Arc::from(format!("g_c{n}")), (Arc::from(format!("c{n}")), streams))
        });
        let topics = BTreeMap::from([(topic.clone(), partitions)]);
        Suppose { rule, topics, members: members.collect() }
    }

    fn sizes(plan: &Plan) -> Vec<usize> {
        plan.takers.iter().map(|taker| taker.gets.len()).collect()
    }

    #[test]
    fn ceil_starves_the_last_where_floor_and_remainder_does_not() {
        let ceil = group(Rule::Ceil, 4, 9).plans();
        assert_eq!(sizes(&ceil[0]), [3, 3, 3, 0]);
        assert_eq!(ceil[0].idle(), ["c4".into()]);
        let range = group(Rule::Range, 4, 9).plans();
        assert_eq!(sizes(&range[0]), [3, 2, 2, 2]);
        assert!(range[0].idle().is_empty());
    }

    #[test]
    fn a_joiner_moves_what_the_rule_moves() {
        let (before, after) = (group(Rule::Range, 2, 4).plans(), group(Rule::Range, 3, 4).plans());
        let moved = moves(&before, &after);
        // [0 1] [2 3] becomes [0 1] [2] [3].
        assert_eq!(moved.len(), 1);
        assert_eq!((moved[0].tp.partition, moved[0].to.as_deref()), (3, Some("c3")));
    }

    #[test]
    fn round_robin_deals_every_partition_once() {
        let plans = group(Rule::RoundRobin, 3, 10).plans();
        let mut all: Vec<u32> = plans[0].takers.iter().flat_map(|t| t.gets.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<u32>>());
    }
}
