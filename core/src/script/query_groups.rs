//! Questions about groups and logs: who owns what, how far it is, what was read again.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Problem;
use super::parse::{Parsed, Words, shorten};
use super::query::Answer;
use crate::base::limits;
use crate::kafka::TopicPartition;
use crate::kafka::consumer_zk::event::Event as Note;
use crate::lab::Lab;
use crate::view::groups::{GroupView, Seat, note};
use crate::view::{Plan, Rule, Suppose, groups};
use crate::world::{Row, Who};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupQuery {
    /// Who is registered, by name, in the order of the ids.
    Members(Arc<str>),
    /// The registered members that own nothing.
    Idle(Arc<str>),
    /// How many partitions each registered member owns, in the order of the ids.
    Shares(Arc<str>),
    /// How many this rule would give each.
    Would(Rule, Arc<str>),
    /// The member that owns a partition.
    Owner(Arc<str>, TopicPartition),
    /// The partitions that a member owns.
    OwnedBy(Arc<str>, Arc<str>),
    /// The partitions that a member reads, by its own belief.
    ReadBy(Arc<str>, Arc<str>),
    Committed(Arc<str>, TopicPartition),
    /// The next offset that the application gets.
    Position(Arc<str>, TopicPartition),
    /// What is written and not committed.
    Lag(Arc<str>, TopicPartition),
    /// LEO of the leader's log.
    End(TopicPartition),
    /// How often a consumer has tried to rebalance.
    Tries(Arc<str>),
    /// How many claims of a group were refused.
    Refused(Arc<str>),
    /// How many records a group's applications got again.
    Repeated(Arc<str>),
}

impl fmt::Display for GroupQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |f: &mut fmt::Formatter<'_>, word, group: &str, tp: &TopicPartition| {
            write!(f, "{word} {group} {}-{}", tp.topic, tp.partition)
        };
        match self {
            GroupQuery::Members(group) => write!(f, "members {group}"),
            GroupQuery::Idle(group) => write!(f, "idle {group}"),
            GroupQuery::Shares(group) => write!(f, "shares {group}"),
            GroupQuery::Would(rule, group) => write!(f, "would {} {group}", name(*rule)),
            GroupQuery::Owner(group, tp) => of(f, "owner", group, tp),
            GroupQuery::OwnedBy(group, member) => write!(f, "owned-by {group} {member}"),
            GroupQuery::ReadBy(group, member) => write!(f, "read-by {group} {member}"),
            GroupQuery::Committed(group, tp) => of(f, "committed", group, tp),
            GroupQuery::Position(group, tp) => of(f, "position", group, tp),
            GroupQuery::Lag(group, tp) => of(f, "lag", group, tp),
            GroupQuery::End(tp) => write!(f, "end {}-{}", tp.topic, tp.partition),
            GroupQuery::Tries(consumer) => write!(f, "tries {consumer}"),
            GroupQuery::Refused(group) => write!(f, "refusals {group}"),
            GroupQuery::Repeated(group) => write!(f, "repeated {group}"),
        }
    }
}

fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Ceil => "ceil",
        Rule::Range => "range",
        Rule::RoundRobin => "roundrobin",
    }
}

/// `None`: `word` begins no question of these.
pub fn parse(words: &mut Words<'_>, word: &str) -> Parsed<Option<GroupQuery>> {
    let name = |words: &mut Words<'_>| words.name("a group", limits::CLIENT_NAME);
    let member = |words: &mut Words<'_>| words.name("a consumer", limits::CLIENT_NAME);
    Ok(Some(match word {
        "members" => GroupQuery::Members(name(words)?),
        "idle" => GroupQuery::Idle(name(words)?),
        "shares" => GroupQuery::Shares(name(words)?),
        "would" => GroupQuery::Would(rule(words)?, name(words)?),
        "owner" => GroupQuery::Owner(name(words)?, words.partition()?),
        "owned-by" => GroupQuery::OwnedBy(name(words)?, member(words)?),
        "read-by" => GroupQuery::ReadBy(name(words)?, member(words)?),
        "committed" => GroupQuery::Committed(name(words)?, words.partition()?),
        "position" => GroupQuery::Position(name(words)?, words.partition()?),
        "lag" => GroupQuery::Lag(name(words)?, words.partition()?),
        "end" => GroupQuery::End(words.partition()?),
        "tries" => GroupQuery::Tries(member(words)?),
        "refusals" => GroupQuery::Refused(name(words)?),
        "repeated" => GroupQuery::Repeated(name(words)?),
        _ => return Ok(None),
    }))
}

fn rule(words: &mut Words<'_>) -> Parsed<Rule> {
    const WHAT: &str = "ceil, range or roundrobin";
    let (at, word) = words.next(WHAT)?;
    match word {
        "ceil" => Ok(Rule::Ceil),
        "range" => Ok(Rule::Range),
        "roundrobin" => Ok(Rule::RoundRobin),
        _ => Err(words.error(at, Problem::UnknownWord { given: shorten(word), expected: WHAT })),
    }
}

impl GroupQuery {
    pub fn ask(&self, lab: &Lab) -> Answer {
        match self {
            GroupQuery::Members(group) => view(lab, group, |group| {
                Answer::list(registered(group).into_iter().map(|at| &group.members[at].name))
            }),
            GroupQuery::Idle(group) => view(lab, group, |group| {
                let idle = registered(group).into_iter().filter(|at| owned(group, *at) == 0);
                Answer::list(idle.map(|at| &group.members[at].name))
            }),
            GroupQuery::Shares(group) => view(lab, group, |group| {
                Answer::list(registered(group).into_iter().map(|at| owned(group, at)))
            }),
            GroupQuery::Would(rule, group) => view(lab, group, |group| would(*rule, group)),
            GroupQuery::Owner(group, tp) => view(lab, group, |group| {
                let owner = seat(group, tp).and_then(|seat| seat.owner.as_ref()?.member);
                Answer::list(owner.map(|at| &group.members[at].name))
            }),
            GroupQuery::OwnedBy(group, member) => view(lab, group, |group| {
                let member = group.member(member);
                let seats = member.into_iter().flat_map(|member| group.owned_by(member));
                Answer::list(seats.map(named))
            }),
            GroupQuery::ReadBy(group, member) => view(lab, group, |group| {
                let reads = |seat: &&Seat| {
                    group.member(member).is_some_and(|member| seat.readers.contains(&member))
                };
                Answer::list(group.seats.iter().filter(reads).map(named))
            }),
            GroupQuery::Committed(group, tp) => {
                view(lab, group, |group| Answer::list(seat(group, tp).and_then(|s| s.committed)))
            }
            GroupQuery::Position(group, tp) => {
                view(lab, group, |group| Answer::list(seat(group, tp).and_then(|s| s.position)))
            }
            GroupQuery::Lag(group, tp) => {
                view(lab, group, |group| Answer::list(seat(group, tp).and_then(Seat::lag)))
            }
            GroupQuery::End(tp) => Answer::list(end(lab, tp)),
            GroupQuery::Tries(consumer) => {
                let by = lab.world().find(&Who::Consumer(consumer.clone()));
                let tries = notes(lab).filter(|(row, note)| {
                    Some(row.proc) == by && matches!(note, Note::Attempt { .. })
                });
                Answer::list([tries.count()])
            }
            GroupQuery::Refused(group) => {
                let refused = of_group(lab, group)
                    .filter(|(_, note)| matches!(note, Note::ClaimRefused { .. }));
                Answer::list([refused.count()])
            }
            GroupQuery::Repeated(group) => Answer::list([repeated(lab, group)]),
        }
    }
}

/// What can be chosen if the script names nothing.
pub fn plausible(lab: &Lab, query: &GroupQuery) -> Vec<Answer> {
    match query {
        GroupQuery::Owner(group, _) => {
            let members = match GroupQuery::Members(group.clone()).ask(lab) {
                Answer::Text(names) => names.split(',').filter_map(Answer::parse).collect(),
                _ => Vec::new(),
            };
            [members, vec![Answer::None]].concat()
        }
        _ => vec![query.ask(lab)],
    }
}

fn view(lab: &Lab, name: &str, answer: impl FnOnce(&GroupView) -> Answer) -> Answer {
    let all = groups(lab);
    all.groups.iter().find(|group| &*group.name == name).map_or(Answer::None, answer)
}

/// Members by place, sorted by id.
fn registered(group: &GroupView) -> Vec<usize> {
    let all = 0..group.members.len();
    let mut all: Vec<usize> = all.filter(|at| group.members[*at].registered).collect();
    all.sort_by(|a, b| group.members[*a].id.cmp(&group.members[*b].id));
    all
}

fn owned(group: &GroupView, member: usize) -> usize {
    group.owned_by(member).count()
}

fn would(rule: Rule, group: &GroupView) -> Answer {
    let plans = Suppose { rule, ..Suppose::now(group) }.plans();
    let gets = |name: &str| -> usize {
        let takers = plans.iter().flat_map(|plan: &Plan| &plan.takers);
        takers.filter(|taker| &*taker.member == name).map(|taker| taker.gets.len()).sum()
    };
    Answer::list(registered(group).into_iter().map(|at| gets(&group.members[at].name)))
}

fn seat<'a>(group: &'a GroupView, tp: &TopicPartition) -> Option<&'a Seat> {
    group.seats.iter().find(|seat| seat.tp == *tp)
}

fn named(seat: &Seat) -> String {
    format!("{}-{}", seat.tp.topic, seat.tp.partition)
}

fn end(lab: &Lab, tp: &TopicPartition) -> Option<u64> {
    let world = lab.world();
    let leader = super::query::state(world, &tp.topic, tp.partition)?.leader;
    let broker = world.broker(u32::try_from(leader).ok()?)?;
    // A log without a record need not be there.
    Some(broker.log(tp).map_or(0, |log| log.end()))
}

/// What consumers did, in the order of the rows.
fn notes(lab: &Lab) -> impl Iterator<Item = (&Row, &Note)> {
    lab.rows().iter().filter_map(|row| Some((row, note(row)?)))
}

fn of_group<'a>(lab: &'a Lab, group: &'a str) -> impl Iterator<Item = (&'a Row, &'a Note)> {
    notes(lab).filter(move |(row, _)| {
        let spec = lab.world().proc(row.proc).consumer.as_ref();
        spec.is_some_and(|spec| &*spec.group == group)
    })
}

/// Records below the furthest that the group has got of their partition.
fn repeated(lab: &Lab, group: &str) -> u64 {
    let mut furthest: BTreeMap<&TopicPartition, u64> = BTreeMap::new();
    let mut again = 0;
    for (_, note) in of_group(lab, group) {
        let Note::Consumed { tp, from, count, .. } = note else { continue };
        let (next, reached) = (from + u64::from(*count), furthest.entry(tp).or_default());
        again += next.min(*reached).saturating_sub(*from);
        *reached = next.max(*reached);
    }
    again
}

#[cfg(test)]
mod tests {
    use crate::script::parse_query;

    #[test]
    fn a_question_prints_as_it_is_read() {
        let asked = [
            "members billing",
            "idle billing",
            "shares billing",
            "would ceil billing",
            "would range billing",
            "would roundrobin billing",
            "owner billing orders-0",
            "owned-by billing c1",
            "read-by billing c1",
            "committed billing orders-0",
            "position billing orders-0",
            "lag billing a-topic-12",
            "end orders-3",
            "tries c1",
            "refusals billing",
            "repeated billing",
            "count idle billing",
            "owner /consumers/billing/owners/orders/1-0",
        ];
        for text in asked {
            let query = parse_query(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(query.to_string(), text);
        }
        for text in ["owner billing", "owner billing orders", "would floor billing", "end x-y"] {
            assert!(parse_query(text).is_err(), "{text}");
        }
    }
}
