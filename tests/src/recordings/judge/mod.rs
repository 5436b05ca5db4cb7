//! The judge: compares what a replay says with the recording that it replayed, as `compare.py`
//! beside the recordings does. A test shows that both print the same line for the same pair.

pub mod aliases;
pub mod canon;
pub mod count;
pub mod hints;
pub mod order;
pub mod python;
pub mod rules;
pub mod settled;
pub mod tokens;

use aliases::Aliases;
use count::{entries_of, is_by_entry, is_information, is_loaded, is_order};
use hints::{Hint, Judge, hints_of};
use order::Order;
use python::{Judged, get, list, must, str_of};
use rules::{Rule, Rules};
use serde_json::{Map, Value};
use settled::{LOOSE, entries, entry_value, random_vector, whole_value};
use std::fmt;

/// Chance, the closed list of the recordings' README, in its order.
pub const STEERED: [&str; 13] = [
    "controller-race",
    "zk-leader",
    "kraft-leader",
    "join-order",
    "death-tick",
    "placement-draw",
    "null-key-partition",
    "asked-broker",
    "isr-return",
    "first-try",
    "leader-rejoin",
    "share-assignment",
    "random-ids",
];

/// Written only where something is gone: extra entries count even where the recording has no such
/// field, if it has the one beside it.
const EMPTY_IF_MISSING: [(&str, &str); 2] = [("removed", "znodes"), ("topics_removed", "topics")];

/// One side of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    Value(Value),
    /// There is nothing on this side, and why it is told.
    Nothing(&'static str),
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::Value(value) => value.fmt(f),
            Side::Nothing(why) => f.write_str(why),
        }
    }
}

/// Where recording and run differ. `step` is None for the number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub step: Option<usize>,
    pub field: String,
    pub entry: String,
    pub expected: Side,
    pub got: Side,
}

/// What a comparison found: settled a of b, order c of d.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub name: String,
    pub a: usize,
    pub b: usize,
    pub c: usize,
    pub d: usize,
    pub steered: usize,
    pub excluded: usize,
    pub extra: usize,
    pub differences: Vec<Difference>,
}

impl Outcome {
    /// The line that `compare.py` prints.
    pub fn line(&self) -> String {
        format!(
            "{} settled {}/{} order {}/{} steered {} excluded {} extra {}",
            self.name, self.a, self.b, self.c, self.d, self.steered, self.excluded, self.extra
        )
    }

    /// Does the run say what the recording says?
    pub fn good(&self) -> bool {
        self.a == self.b && self.c == self.d && self.extra == 0
    }

    fn differs(&mut self, step: usize, field: &str, entry: &str, expected: Side, got: Side) {
        let (field, entry) = (field.to_owned(), entry.to_owned());
        self.differences.push(Difference { step: Some(step), field, entry, expected, got });
    }
}

/// The compared fields of a step, each with its hints.
pub fn fields_of(step: &Value) -> Vec<(&str, Vec<Hint<'_>>)> {
    let hints = get(step, "compare").and_then(Value::as_object);
    let hint = |field: &str| hints.and_then(|hints| hints.get(field));
    let fields = step.as_object().into_iter().flatten().map(|(field, _)| field.as_str());
    let compared = fields.filter(|field| match hint(field) {
        Some(rule) => rule.as_str() != Some("ignore"),
        None => !is_information(field),
    });
    compared.map(|field| (field, hints_of(step, field))).collect()
}

/// Compares the run `got` with the recording `expected`; the release is the folder that `name`
/// (`VERSION/NAME`) begins with. An error is a malformed file, or chance outside the closed list.
pub fn compare(expected: &Value, got: &Value, name: &str, rules: &[Rule]) -> Judged<Outcome> {
    let release = name.split('/').next().unwrap_or("");
    let mut aliases = Aliases::new(expected, got)?;
    let steered = steered_of(got, name)?;
    let steps = list(must(expected, "steps")?)?;
    let got_steps = list(must(got, "steps")?)?;
    let mut outcome =
        Outcome { name: name.to_owned(), steered: steered.len(), ..Outcome::default() };
    if got_steps.len() != steps.len() {
        outcome.extra += got_steps.len().saturating_sub(steps.len());
        outcome.differences.push(Difference {
            step: None,
            field: "steps".into(),
            entry: String::new(),
            expected: Side::Value(steps.len().into()),
            got: Side::Value(got_steps.len().into()),
        });
    }
    let nothing = Value::Object(Map::new());
    let gots = got_steps.iter().chain(std::iter::repeat(&nothing));
    let pairs: Vec<(&Value, &Value)> = steps.iter().zip(gots).collect();
    learn_settled(&mut aliases, &pairs)?;
    learn_order(&mut aliases, &pairs, release)?;
    let rules = Rules { rules, release };
    let mut run = Run { outcome, rules, aliases: &aliases };
    for (i, (e, g)) in pairs.into_iter().enumerate() {
        if !is_loaded(i, e) {
            let leader = |s: &(i128, String)| s.0 == i as i128 && s.1 == "zk-leader";
            run.step(i, e, g, steered.iter().any(leader))?;
        }
    }
    Ok(run.outcome)
}

/// What the run took from the recording: (step, what); -1 for one that names no step.
fn steered_of(got: &Value, name: &str) -> Judged<Vec<(i128, String)>> {
    let Some(steered) = get(got, "steered") else { return Ok(vec![]) };
    let one = |s: &Value| {
        let what = get(s, "what").map(str_of).unwrap_or_default();
        if !STEERED.contains(&what.as_str()) {
            return Err(format!("{name}: steered by {what}, which is not in the list"));
        }
        Ok((get(s, "step").and_then(python::as_int).unwrap_or(-1), what))
    };
    list(steered)?.iter().map(one).collect()
}

/// Settled facts tell first what the aliases stand for.
fn learn_settled(aliases: &mut Aliases, pairs: &[(&Value, &Value)]) -> Judged<()> {
    for (e, g) in pairs {
        for (field, value) in e.as_object().ok_or("a step is no object")? {
            let Some(other) = get(g, field) else { continue };
            if is_order(field, value) || is_information(field) {
                continue;
            }
            let form = |v: &Value| -> Judged<Value> {
                let by_entry = is_by_entry(field, v);
                Ok(if by_entry { Value::Object(entries(field, v)?) } else { v.clone() })
            };
            aliases.learn(&form(value)?, &form(other)?);
        }
    }
    Ok(())
}

/// Then the entries that match in order tell the rest.
fn learn_order(aliases: &mut Aliases, pairs: &[(&Value, &Value)], release: &str) -> Judged<()> {
    for (e, g) in pairs {
        for (field, value) in e.as_object().ok_or("a step is no object")? {
            let Some(other) = get(g, field).and_then(Value::as_array) else { continue };
            if !is_order(field, value) || !aliases.has_alias_word(&python::text(value)) {
                continue;
            }
            let value = aliases.put_in(value);
            let order = Order { field, release, aliases };
            for (x, y) in order.matched(list(&value)?, other, false)?.pairs {
                aliases.learn(&x, &y);
            }
        }
    }
    Ok(())
}

/// A comparison under way, all aliases known that will ever be.
struct Run<'a> {
    outcome: Outcome,
    rules: Rules<'a>,
    aliases: &'a Aliases,
}

impl Run<'_> {
    fn step(&mut self, i: usize, e: &Value, g: &Value, leader_steered: bool) -> Judged<()> {
        let empty = Value::Array(vec![]);
        for (field, hints) in fields_of(e) {
            let value = self.aliases.put_in(&e[field]);
            let other = get(g, field);
            if is_order(field, &value) {
                let other = other.filter(|other| other.is_array()).unwrap_or(&empty);
                self.ordered(i, field, list(&value)?, list(other)?)?;
            } else if is_by_entry(field, &value) && hints.is_empty() {
                let other = other.filter(|other| other.is_array() || other.is_object());
                self.by_entry(i, field, &value, other.unwrap_or(&empty))?;
            } else {
                let judge = Judge { steered: leader_steered, aliases: self.aliases };
                self.whole(i, field, &value, other, (&hints, judge))?;
            }
        }
        for (field, beside) in EMPTY_IF_MISSING {
            let other = get(g, field).filter(|other| other.is_array());
            if let (None, Some(_), Some(other)) = (get(e, field), get(e, beside), other) {
                self.by_entry(i, field, &empty, other)?;
            }
        }
        Ok(())
    }

    fn whole(
        &mut self,
        step: usize,
        field: &str,
        value: &Value,
        other: Option<&Value>,
        (hints, judge): (&[Hint<'_>], Judge<'_>),
    ) -> Judged<()> {
        let n = if is_by_entry(field, value) { entries_of(value) } else { 1 };
        if self.rules.excluded(field, &[Some(field)]) {
            self.outcome.excluded += n;
            return Ok(());
        }
        self.outcome.b += n;
        let good = match other {
            None => false,
            Some(other) => whole_value(field, value, other, hints, self.rules.release, judge)?,
        };
        if good {
            self.outcome.a += n;
        } else {
            let got = other.map_or(Side::Nothing("(missing)"), |got| Side::Value(got.clone()));
            self.outcome.differs(step, field, "", Side::Value(value.clone()), got);
        }
        Ok(())
    }

    fn by_entry(&mut self, step: usize, field: &str, value: &Value, other: &Value) -> Judged<()> {
        let release = self.rules.release;
        let (mut e, mut g) = (entries(field, value)?, entries(field, other)?);
        let count = e.len();
        let rules = self.rules;
        e.retain(|key, _| !rules.excluded(field, &[Some(key)]));
        g.retain(|key, _| !rules.excluded(field, &[Some(key)]));
        self.outcome.excluded += count - e.len();
        self.outcome.b += e.len();
        for (key, v) in &e {
            let named = |x: &&String| !e.contains_key(*x) && self.aliases.matches(key, x);
            let at = if g.contains_key(key) { Some(key) } else { g.keys().find(named) };
            let found = at.cloned().and_then(|at| g.shift_remove(&at));
            let x = entry_value(field, v, release)?;
            let Some(found) = found else {
                let missing = Side::Nothing("(missing)");
                self.outcome.differs(step, field, key, Side::Value(x), missing);
                continue;
            };
            let y = entry_value(field, &found, release)?;
            let same = self.aliases.same(&x, &y, LOOSE.contains(&field));
            if same || field == "vectors" && is_random(v) && random_vector(&x, &y)? {
                self.outcome.a += 1;
            } else {
                self.outcome.differs(step, field, key, Side::Value(x), Side::Value(y));
            }
        }
        self.outcome.extra += g.len();
        for (key, v) in g {
            self.outcome.differs(step, field, &key, Side::Nothing("(extra)"), Side::Value(v));
        }
        Ok(())
    }

    fn ordered(&mut self, step: usize, field: &str, e: &[Value], g: &[Value]) -> Judged<()> {
        let keep = |side: &[Value]| -> Judged<Vec<Value>> {
            side.iter().filter_map(|t| self.rules.leave_out(field, t).transpose()).collect()
        };
        let (kept, other) = (keep(e)?, keep(g)?);
        let order = Order { field, release: self.rules.release, aliases: self.aliases };
        let matched = order.matched(&kept, &other, true)?;
        self.outcome.excluded += e.len() - kept.len();
        self.outcome.d += kept.len();
        self.outcome.c += kept.len() - matched.missing.len();
        self.outcome.extra += matched.surplus.len();
        for i in matched.missing {
            let expected = Side::Value(kept[i].clone());
            let got = Side::Nothing("(not in order)");
            self.outcome.differs(step, field, &format!("[{i}]"), expected, got);
        }
        for i in matched.surplus {
            let got = Side::Value(other[i].clone());
            self.outcome.differs(step, field, &format!("[{i}]"), Side::Nothing("(extra)"), got);
        }
        Ok(())
    }
}

/// A vector that holds a draw: of null keys.
fn is_random(vector: &Value) -> bool {
    let note = get(vector, "note").map(str_of).unwrap_or_default();
    vector.is_object() && (note.contains("random") || get(vector, "result").is_none())
}
