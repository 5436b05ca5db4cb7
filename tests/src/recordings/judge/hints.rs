//! A field's own rule (`compare` of a step): exact, set, range, ignore, steered, and the few rules
//! that a recording words itself.

use super::aliases::Aliases;
use super::python::{Judged, as_int, get, list, sorted_by_text, str_of, truthy};
use serde_json::Value;

/// A rule, and the path below the field that it holds for ("" for the field itself).
pub type Hint<'a> = (String, &'a Value);

/// What a hint is judged with: is who leads steered in this step, and the aliases.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub steered: bool,
    pub aliases: &'a Aliases,
}

/// The hints of a field: the keys of `compare` that begin with its name.
pub fn hints_of<'a>(step: &'a Value, field: &str) -> Vec<Hint<'a>> {
    let hints = get(step, "compare").and_then(Value::as_object);
    let of_field = hints.into_iter().flatten().filter_map(|(key, rule)| {
        let name = key.split(['.', '[']).next().unwrap_or("");
        let below = key.get(field.len()..).unwrap_or("");
        (name == field).then(|| (below.trim_start_matches(['[', ']', '.']).to_owned(), rule))
    });
    of_field.collect()
}

/// The value at `a.b[].c`: of a list, that of each element.
pub fn at(x: &Value, path: &str) -> Value {
    let path = path.replace("[]", "");
    let mut x = x.clone();
    for part in path.split('.').filter(|_| !path.is_empty()) {
        let of = |y: &Value| get(y, part).cloned().unwrap_or(Value::Null);
        x = match &x {
            Value::Array(items) => items.iter().map(of).collect(),
            _ => of(&x),
        };
    }
    x
}

/// Takes away what lies at `a.b[].c`.
pub fn without(x: &mut Value, path: &str) {
    let path = path.replace("[]", "");
    let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
    let items = match x {
        Value::Array(items) => items.iter_mut().collect(),
        _ => vec![x],
    };
    for map in items.into_iter().filter_map(Value::as_object_mut) {
        if rest.is_empty() {
            map.shift_remove(first);
        } else if let Some(y) = map.get_mut(first) {
            without(y, rest);
        }
    }
}

impl Judge<'_> {
    /// Does what the run says obey the rule, given what the recording says?
    pub fn obeys(&self, rule: &Value, e: &Value, g: &Value) -> Judged<bool> {
        if let Some(each) = get(rule, "each") {
            return self.obey_each(rule, each, g);
        }
        if let Some(range) = get(rule, "range") {
            return within(range, g);
        }
        match rule {
            Value::Object(_) => self.obeys_word("exact", e, g),
            Value::String(word) => self.obeys_word(word, e, g),
            _ => Err(format!("no rule of compare: {rule}")),
        }
    }

    /// One rule for every element, or one per element; the first element may be missing, so they
    /// are laid side by side from the end.
    fn obey_each(&self, rule: &Value, each: &Value, g: &Value) -> Judged<bool> {
        let Value::Array(values) = g else { return Ok(false) };
        if let Some(length) = get(rule, "length")
            && !between(length, values.len() as f64)?
        {
            return Ok(false);
        }
        let rules: Vec<&Value> = match each {
            Value::Array(rules) => rules.iter().collect(),
            _ => vec![each; values.len()],
        };
        let n = rules.len().min(values.len());
        if n + 1 < rules.len() {
            return Ok(false);
        }
        let pairs = rules[rules.len() - n..].iter().zip(&values[values.len() - n..]);
        for (rule, value) in pairs {
            if !self.obeys(rule, &Value::Null, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn obeys_word(&self, word: &str, e: &Value, g: &Value) -> Judged<bool> {
        let same = |e: &Value, g: &Value| self.aliases.same(e, g, false);
        let same_lists = |e: &[Value], g: &[Value]| {
            e.len() == g.len() && e.iter().zip(g).all(|(x, y)| same(x, y))
        };
        match word {
            "ignore" => return Ok(true),
            "exact" => return Ok(same(e, g)),
            "steered" => return Ok(same(e, g) || self.steered),
            _ => {}
        }
        if word.starts_with("some or one") {
            let one = as_int(e) == Some(1);
            return Ok(as_int(g).is_some_and(|g| if one { g == 1 } else { g > 1 }));
        }
        let first = first_few(word);
        let connected = word.starts_with("exact, in order; a SyncConnected");
        if word != "set" && first.is_none() && !connected {
            return Err(format!("unknown rule of compare: {word}"));
        }
        let Value::Array(g) = g else { return Ok(false) };
        let e = list(e)?;
        if let Some(n) = first {
            return Ok(same_lists(&e[..n.min(e.len())], &g[..n.min(g.len())]));
        }
        if connected {
            return Ok(same_lists(after_connected(e), after_connected(g)));
        }
        Ok(same_lists(&sorted_by_text(e.clone()), &sorted_by_text(g.clone())))
    }
}

/// "exact, in order, the first 3 …" → 3.
fn first_few(word: &str) -> Option<usize> {
    let rest = word.strip_prefix("exact, in order, the first ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// A list without the SyncConnected that it may begin with.
fn after_connected(events: &[Value]) -> &[Value] {
    match events.first() {
        Some(first) if str_of(first).contains("SyncConnected") => &events[1..],
        _ => events,
    }
}

fn bounds(range: &Value) -> Judged<(f64, f64)> {
    let bound = |i: usize| range.get(i).and_then(Value::as_f64);
    bound(0).zip(bound(1)).ok_or_else(|| format!("no range: {range}"))
}

fn between(range: &Value, x: f64) -> Judged<bool> {
    let (low, high) = bounds(range)?;
    Ok(low <= x && x <= high)
}

/// Numbers, also written as "< 0.5", inside the range by the margin that compare.py gives.
fn within(range: &Value, g: &Value) -> Judged<bool> {
    let (low, high) = bounds(range)?;
    let inside = |v: &Value| {
        let x = match v {
            Value::Number(n) => n.as_f64(),
            _ => str_of(v).trim_start_matches(['<', ' ']).trim().parse::<f64>().ok(),
        };
        x.is_some_and(|x| low - 1e-9 <= x && x <= high + 1e-9)
    };
    Ok(match g {
        Value::Array(values) => values.iter().all(inside),
        _ => inside(g),
    })
}

/// Is nothing left of the elements that the hints do not cover?
pub fn is_hollow(x: &Value) -> bool {
    x.as_array().is_some_and(|items| !items.iter().any(truthy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_and_rules() {
        let step = json!({"told": [], "told_2": 1, "compare": {"told[].ms": "ignore", "told": {}}});
        let paths: Vec<String> = hints_of(&step, "told").into_iter().map(|(p, _)| p).collect();
        assert_eq!(paths, ["ms", ""]);
        let mut x = json!([{"a": {"b": 1}}, {"a": 2}]);
        assert_eq!(at(&x, "a.b"), json!([1, null]));
        without(&mut x, "a.b");
        assert_eq!(x, json!([{"a": {}}, {"a": 2}]));
        assert!(within(&json!([0, 1]), &json!(["< 0.5", 1])).unwrap());
        assert!(!within(&json!([0, 1]), &json!(["soon"])).unwrap());
    }

    #[test]
    fn the_first_of_each_may_be_missing() {
        let nothing = json!({"steps": []});
        let aliases = Aliases::new(&nothing, &nothing).unwrap();
        let judge = Judge { steered: false, aliases: &aliases };
        let rule = json!({"each": [{"range": [0, 1]}, {"range": [5, 6]}], "length": [1, 2]});
        for (g, good) in [(json!([1, 5]), true), (json!([5]), true), (json!([1]), false)] {
            assert_eq!(judge.obeys(&rule, &Value::Null, &g).unwrap(), good);
        }
        assert!(judge.obeys(&json!("whatever"), &json!(1), &json!(1)).is_err());
    }
}
