//! Aliases of a recording (`compare_aliases.py`): one matches any value, the same one each time,
//! different ones different values. A name that both sides use stands for itself.

use super::count::is_information;
use super::python::{Judged, Object, equal, get, is_word, list, must, text};
use super::tokens::{Finder, Pattern, is_drawn_anew, is_token, kind};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What the aliases of one file stand for, as far as it is known.
pub struct Aliases {
    finder: Finder,
    shared: HashSet<String>,
    to: HashMap<String, String>,
    /// Values that are taken, by the kind of their alias.
    back: HashSet<(String, String)>,
    patterns: RefCell<HashMap<String, Option<Rc<Pattern>>>>,
}

impl Aliases {
    /// Names of sessions and members are aliases unless the run uses the very same name.
    pub fn new(expected: &Value, got: &Value) -> Judged<Aliases> {
        let names = names_of(expected)?;
        let words = words_of(got)?;
        let is_bare = |name: &&String| *name != "random" && !words.contains(*name);
        let mut bare: Vec<String> = names.iter().filter(is_bare).cloned().collect();
        bare.sort_by(|a, b| b.chars().count().cmp(&a.chars().count()).then(a.cmp(b)));
        Ok(Aliases {
            finder: Finder { bare },
            shared: names.intersection(&words).cloned().collect(),
            to: HashMap::new(),
            back: HashSet::new(),
            patterns: RefCell::default(),
        })
    }

    /// The text as an expression, None if it has no alias. Texts repeat: they are kept.
    fn pattern(&self, s: &str) -> Option<Rc<Pattern>> {
        if let Some(known) = self.patterns.borrow().get(s) {
            return known.clone();
        }
        let pattern = Pattern::of(s, &self.finder).map(Rc::new);
        self.patterns.borrow_mut().insert(s.to_owned(), pattern.clone());
        pattern
    }

    /// Has the text an alias?
    pub fn has_alias(&self, s: &str) -> bool {
        self.finder.any(s)
    }

    /// Has a word of the text an alias? (An alias with a space in it is none here.)
    pub fn has_alias_word(&self, s: &str) -> bool {
        let apart = |c: char| c == '"' || super::python::is_space(c);
        s.split(apart).any(|word| !word.is_empty() && self.has_alias(word))
    }

    fn free(&self, alias: &str, value: &str) -> bool {
        if is_drawn_anew(alias) {
            return true;
        }
        match self.to.get(alias) {
            Some(bound) => bound == value,
            None => {
                let taken = self.back.contains(&(kind(alias).to_owned(), value.to_owned()));
                !taken && !self.shared.contains(value)
            }
        }
    }

    /// Does this text with aliases stand for that text?
    pub fn matches(&self, s: &str, value: &str) -> bool {
        let Some(pattern) = self.pattern(s) else { return false };
        let Some(values) = pattern.values(value) else { return false };
        pattern.aliases.iter().zip(values).all(|(alias, value)| self.free(alias, value))
    }

    fn matches_value(&self, s: &str, value: &Value) -> bool {
        scalar(value).is_some_and(|value| self.matches(s, &value))
    }

    /// As `matches`; what it told about the aliases is kept.
    fn bind(&mut self, s: &str, value: &str) -> bool {
        if !self.matches(s, value) {
            return false;
        }
        let Some(pattern) = self.pattern(s) else { return false };
        for (alias, value) in pattern.aliases.iter().zip(pattern.values(value).unwrap_or_default())
        {
            let known = is_drawn_anew(alias) || self.to.contains_key(alias);
            if !known && self.free(alias, value) {
                self.to.insert(alias.clone(), value.to_owned());
                self.back.insert((kind(alias).to_owned(), value.to_owned()));
            }
        }
        true
    }

    /// The value with all known aliases put in; an epoch that stands alone becomes a number.
    pub fn put_in(&self, x: &Value) -> Value {
        match x {
            Value::Object(map) => {
                let mut out = Map::new();
                for (k, v) in map {
                    out.insert(self.put_in_text(k), self.put_in(v));
                }
                Value::Object(out)
            }
            Value::Array(items) => items.iter().map(|v| self.put_in(v)).collect(),
            Value::String(s) => {
                let y = self.put_in_text(s);
                let digits = !y.is_empty() && y.bytes().all(|b| b.is_ascii_digit());
                match y.parse::<u64>() {
                    Ok(n) if digits && s.contains("-epoch-") && is_token(s) => n.into(),
                    _ => y.into(),
                }
            }
            _ => x.clone(),
        }
    }

    fn put_in_text(&self, s: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for (from, to) in self.finder.find(s) {
            out.push_str(&s[at..from]);
            let alias = &s[from..to];
            out.push_str(self.to.get(alias).map_or(alias, String::as_str));
            at = to;
        }
        out.push_str(&s[at..]);
        out
    }

    /// Facts of both sides at the same place tell what an alias stands for.
    pub fn learn(&mut self, e: &Value, g: &Value) {
        match (e, g) {
            (Value::String(s), _) => {
                if let Some(value) = scalar(g) {
                    self.bind(s, &value);
                }
            }
            (Value::Object(e), Value::Object(g)) => self.learn_object(e, g),
            (Value::Array(e), Value::Array(g)) => {
                let (e, g) = if e.len() == g.len() {
                    (e.iter().collect(), g.iter().collect())
                } else {
                    unequal(e, g)
                };
                if e.len() == g.len() {
                    for (x, y) in e.into_iter().zip(g) {
                        self.learn(x, y);
                    }
                }
            }
            _ => {}
        }
    }

    /// As `learn`, of objects.
    fn learn_object(&mut self, e: &Object, g: &Object) {
        let mut rest: Vec<&String> = g.keys().filter(|k| !e.contains_key(*k)).collect();
        for (k, v) in e {
            if let Some(w) = g.get(k) {
                self.learn(v, w);
                continue;
            }
            let fits: Vec<&String> = rest.iter().copied().filter(|x| self.matches(k, x)).collect();
            let best = fits.iter().copied().find(|x| self.same(v, &g[*x], true));
            if let Some(x) = best.or(fits.first().copied())
                && self.bind(k, x)
            {
                rest.retain(|y| *y != x);
                self.learn(v, &g[x]);
            }
        }
    }

    /// Equal, an alias that nothing has bound yet being any value of its kind. `loose`: the other
    /// object may have more fields.
    pub fn same(&self, e: &Value, g: &Value, loose: bool) -> bool {
        match (e, g) {
            (Value::String(s), _) => g.as_str() == Some(s) || self.matches_value(s, g),
            (Value::Object(e), Value::Object(g)) => self.same_object(e, g, loose),
            (Value::Array(e), Value::Array(g)) => {
                e.len() == g.len() && e.iter().zip(g).all(|(x, y)| self.same(x, y, false))
            }
            (Value::Object(_) | Value::Array(_), _) => false,
            _ => equal(e, g) && e.is_boolean() == g.is_boolean(),
        }
    }

    fn same_object(&self, e: &Object, g: &Object, loose: bool) -> bool {
        if !loose && e.len() != g.len() {
            return false;
        }
        let mut rest: Vec<&String> = g.keys().filter(|k| !e.contains_key(*k)).collect();
        for (k, v) in e {
            let w = match g.get(k) {
                Some(w) => w,
                None => {
                    let Some(at) = rest.iter().position(|x| self.matches(k, x)) else {
                        return false;
                    };
                    &g[rest.remove(at)]
                }
            };
            if !self.same(v, w, false) {
                return false;
            }
        }
        true
    }
}

/// Only texts and whole numbers stand for an alias.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) if n.is_i64() || n.is_u64() => Some(n.to_string()),
        _ => None,
    }
}

/// Two lists of unequal length without what both have: the rest tells, if it is as long.
fn unequal<'a>(e: &'a [Value], g: &'a [Value]) -> (Vec<&'a Value>, Vec<&'a Value>) {
    let mut g: Vec<&Value> = g.iter().collect();
    let mut rest = Vec::new();
    for x in e {
        match g.iter().position(|y| equal(x, y)) {
            Some(at) => {
                g.remove(at);
            }
            None => rest.push(x),
        }
    }
    (rest, g)
}

fn is_plain(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '#' | '-')
}

/// Names of sessions and members of the recording.
fn names_of(expected: &Value) -> Judged<HashSet<String>> {
    let mut names = HashSet::new();
    let aliases = get(expected, "aliases").and_then(Value::as_object);
    for (alias, name) in aliases.into_iter().flatten() {
        if let Some(name) = name.as_str().filter(|_| alias.contains('<'))
            && !name.is_empty()
            && name.chars().all(is_plain)
        {
            names.insert(name.to_owned());
        }
    }
    for step in list(must(expected, "steps")?)? {
        let txns = get(step, "zk_txns").and_then(Value::as_array);
        let sessions = txns.into_iter().flatten().filter_map(|t| get(t, "session")?.as_str());
        let watches = get(step, "watches").and_then(Value::as_object);
        let watchers = watches.into_iter().flatten().map(|(name, _)| name.as_str());
        let znodes = get(step, "znodes").and_then(Value::as_object);
        let nodes = znodes.into_iter().flatten();
        let owners = nodes.filter_map(|(_, n)| get(n, "ephemeral_owner")?.as_str());
        let all = sessions.chain(watchers).chain(owners);
        names.extend(all.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    Ok(names)
}

/// All words of the run's compared facts, and their beginnings up to a hyphen.
fn words_of(got: &Value) -> Judged<HashSet<String>> {
    let mut words = HashSet::new();
    for step in list(must(got, "steps")?)? {
        let step = step.as_object().ok_or("a step is no object")?;
        let facts = step.iter().filter(|(k, _)| !is_information(k));
        let facts: Map<String, Value> = facts.map(|(k, v)| (k.clone(), v.clone())).collect();
        let facts = text(&Value::Object(facts));
        for word in facts.split(|c: char| !is_plain(c)).filter(|word| !word.is_empty()) {
            if words.contains(word) {
                continue;
            }
            words.extend(word.match_indices('-').map(|(i, _)| word[..i].to_owned()));
            words.insert(word.to_owned());
        }
    }
    Ok(words)
}
