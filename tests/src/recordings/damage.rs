//! Deterministic damages of a recording: what a run could say instead. The judges, this one and
//! `compare.py`, have to say the same of each, whether it is a fault or an accepted difference.

use super::judge::canon::ASSIGNMENT;
use super::judge::count::{ORDER, is_information, is_loaded};
use super::judge::tokens::{is_drawn_anew, is_token, token_length};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A small generator of its own: the same damages on every machine.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: &str) -> Draw {
        // FNV: the seed is a recording's name.
        let fnv = |hash: u64, b: u8| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        Draw(seed.bytes().fold(0xcbf2_9ce4_8422_2325, fnv))
    }

    /// A number below n, 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).cloned()
    }
}

/// A path into a value.
type Path = Vec<Key>;

#[derive(Clone, Debug)]
enum Key {
    Name(String),
    Place(usize),
}

fn at<'a>(x: &'a mut Value, path: &[Key]) -> &'a mut Value {
    path.iter().fold(x, |x, key| match key {
        Key::Name(name) => &mut x[name.as_str()],
        Key::Place(i) => &mut x[*i],
    })
}

fn collect(
    x: &Value,
    path: &mut Path,
    wanted: &dyn Fn(&Path, &Value) -> bool,
    out: &mut Vec<Path>,
) {
    if wanted(path, x) {
        out.push(path.clone());
    }
    let mut below = |key: Key, v: &Value| {
        path.push(key);
        collect(v, path, wanted, out);
        path.pop();
    };
    match x {
        Value::Object(map) => map.iter().for_each(|(k, v)| below(Key::Name(k.clone()), v)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| below(Key::Place(i), v)),
        _ => {}
    }
}

/// Paths of all values of compared fields, of the steps that are compared, that are wanted.
fn places(recording: &Value, wanted: &dyn Fn(&Path, &Value) -> bool) -> Vec<Path> {
    let mut out = Vec::new();
    for (i, step) in recording["steps"].as_array().into_iter().flatten().enumerate() {
        for (field, value) in step.as_object().into_iter().flatten() {
            if !is_loaded(i, step) && !is_information(field) {
                let mut path =
                    vec![Key::Name("steps".into()), Key::Place(i), Key::Name(field.clone())];
                collect(value, &mut path, wanted, &mut out);
            }
        }
    }
    out
}

fn field(path: &Path) -> &str {
    match &path[2] {
        Key::Name(name) => name,
        Key::Place(_) => "",
    }
}

fn is_order_list(path: &Path, x: &Value) -> bool {
    path.len() == 3 && ORDER.contains(&field(path)) && x.as_array().is_some_and(|x| x.len() > 1)
}

/// The run alone, without what a recording says besides.
fn run_of(recording: &Value) -> Value {
    json!({"steps": recording["steps"]})
}

/// A damage by its name; None where the recording has no place for it.
pub type Damage = fn(&Value, &mut Draw) -> Option<Value>;

/// All damages.
pub const DAMAGES: [(&str, Damage); 18] = [
    ("renamed", |x, draw| Some(renamed(x, draw))),
    ("entry-dropped", |x, draw| edit(x, draw, &has_entries, drop_entry)),
    ("entry-twice", |x, draw| edit(x, draw, &is_order_list, double_entry)),
    ("entries-swapped", |x, draw| edit(x, draw, &is_order_list, swap_neighbours)),
    ("list-reversed", |x, draw| edit(x, draw, &|_, x| is_list(x), reverse)),
    ("number-changed", |x, draw| edit(x, draw, &|_, x| x.is_i64() || x.is_u64(), change_number)),
    ("text-changed", |x, draw| edit(x, draw, &|_, x| x.is_string(), change_text)),
    ("flag-flipped", |x, draw| edit(x, draw, &|_, x| x.is_boolean(), flip)),
    ("null-filled", |x, draw| edit(x, draw, &|_, x| x.is_null(), |x, _| *x = json!(0))),
    ("alias-renamed", |x, draw| edit(x, draw, &|_, x| has_token(x), rename_token)),
    ("key-lost", |x, draw| edit(x, draw, &is_below_object, lose_key)),
    ("key-added", |x, draw| edit(x, draw, &|_, x| x.is_object(), add_key)),
    ("entry-added", |x, draw| edit(x, draw, &is_counted, add_entry)),
    ("field-lost", lose_field),
    ("field-of-another-kind", change_kind),
    ("step-dropped", drop_step),
    ("step-added", |x, _| Some(json!({"steps": steps_and(x, json!({"result": 1}))}))),
    ("partition-taken", |x, draw| edit(x, draw, &is_partitions, |x, _| drop(pop(x)))),
];

fn edit(
    recording: &Value,
    draw: &mut Draw,
    wanted: &dyn Fn(&Path, &Value) -> bool,
    how: fn(&mut Value, &mut Draw),
) -> Option<Value> {
    let path = draw.pick(&places(recording, wanted))?;
    let mut run = run_of(recording);
    how(at(&mut run, &path), draw);
    Some(run)
}

fn is_list(x: &Value) -> bool {
    x.as_array().is_some_and(|x| x.len() > 1)
}

fn has_entries(_: &Path, x: &Value) -> bool {
    x.as_array().is_some_and(|x| !x.is_empty()) || x.as_object().is_some_and(|x| !x.is_empty())
}

fn drop_entry(x: &mut Value, draw: &mut Draw) {
    match x {
        Value::Array(items) => {
            items.remove(draw.below(items.len()));
        }
        Value::Object(_) => lose_key(x, draw),
        _ => {}
    }
}

fn double_entry(x: &mut Value, draw: &mut Draw) {
    if let Value::Array(items) = x {
        let i = draw.below(items.len());
        items.insert(i, items[i].clone());
    }
}

fn swap_neighbours(x: &mut Value, draw: &mut Draw) {
    if let Value::Array(items) = x {
        let i = draw.below(items.len() - 1);
        items.swap(i, i + 1);
    }
}

fn reverse(x: &mut Value, _: &mut Draw) {
    if let Value::Array(items) = x {
        items.reverse();
    }
}

fn change_number(x: &mut Value, draw: &mut Draw) {
    let n = x.as_i64().unwrap_or(0);
    *x = if draw.below(2) == 0 { json!(n + 1) } else { json!(n - 1) };
}

fn change_text(x: &mut Value, _: &mut Draw) {
    *x = json!(format!("{}x", x.as_str().unwrap_or("")));
}

fn flip(x: &mut Value, _: &mut Draw) {
    *x = json!(x != &json!(true));
}

fn has_token(x: &Value) -> bool {
    let s = x.as_str().unwrap_or("");
    s.match_indices('<').any(|(i, _)| token_length(&s[i..]).is_some())
}

/// One place says another value than all others: what is bound to an alias has to stay.
fn rename_token(x: &mut Value, _: &mut Draw) {
    let s = x.as_str().unwrap_or("").to_owned();
    let mut tokens = s.match_indices('<').filter_map(|(i, _)| Some((i, token_length(&s[i..])?)));
    if let Some((i, length)) = tokens.next_back() {
        *x = json!(format!("{}4711{}", &s[..i], &s[i + length..]));
    }
}

fn is_below_object(path: &Path, x: &Value) -> bool {
    path.len() > 3 && x.as_object().is_some_and(|x| !x.is_empty())
}

fn lose_key(x: &mut Value, draw: &mut Draw) {
    if let Value::Object(map) = x
        && let Some(key) = draw.pick(&map.keys().cloned().collect::<Vec<_>>())
    {
        map.shift_remove(&key);
    }
}

fn add_key(x: &mut Value, _: &mut Draw) {
    x["never seen"] = json!("x");
}

fn is_counted(path: &Path, x: &Value) -> bool {
    path.len() == 3 && (x.is_array() || x.is_object())
}

fn add_entry(x: &mut Value, draw: &mut Draw) {
    match x {
        Value::Array(items) => {
            let like = draw.pick(items).unwrap_or(json!({"type": "never seen"}));
            items.push(if like.is_object() { with_type(like) } else { like });
        }
        Value::Object(map) => {
            let like = map.values().next().cloned().unwrap_or(Value::Null);
            map.insert("/never/there".into(), like);
        }
        _ => {}
    }
}

fn with_type(mut entry: Value) -> Value {
    entry["type"] = json!("never seen");
    entry
}

fn is_partitions(path: &Path, x: &Value) -> bool {
    let below = |k: &Key| matches!(k, Key::Name(k) if ASSIGNMENT.contains(&k.as_str()));
    path.iter().any(below) && x.as_array().is_some_and(|x| x.iter().any(Value::is_number))
}

fn pop(x: &mut Value) -> Option<Value> {
    x.as_array_mut()?.pop()
}

fn lose_field(recording: &Value, draw: &mut Draw) -> Option<Value> {
    let path = draw.pick(&places(recording, &|path, _| path.len() == 3))?;
    let mut run = run_of(recording);
    at(&mut run, &path[..2]).as_object_mut()?.shift_remove(field(&path));
    Some(run)
}

fn change_kind(recording: &Value, draw: &mut Draw) -> Option<Value> {
    let path = draw.pick(&places(recording, &|path, _| path.len() == 3))?;
    let mut run = run_of(recording);
    let kinds = [json!(null), json!(7), json!("x"), json!([]), json!({}), json!(true), json!([1])];
    *at(&mut run, &path) = draw.pick(&kinds)?;
    Some(run)
}

fn drop_step(recording: &Value, draw: &mut Draw) -> Option<Value> {
    let mut steps = recording["steps"].as_array()?.clone();
    steps.remove(draw.below(steps.len()));
    Some(json!({"steps": steps}))
}

fn steps_and(recording: &Value, step: Value) -> Vec<Value> {
    let mut steps = recording["steps"].as_array().cloned().unwrap_or_default();
    steps.push(step);
    steps
}

/// The same run as a simulator may print it: values of its own instead of the aliases in angle
/// brackets, and what it took from the recording.
fn renamed(recording: &Value, draw: &mut Draw) -> Value {
    let mut values = HashMap::new();
    let steps = recording["steps"].as_array().into_iter().flatten();
    let steps: Vec<Value> = steps.map(|step| rename(step, &mut values, draw)).collect();
    json!({"steps": steps, "steered": [{"step": 0, "what": "random-ids"}]})
}

fn rename(x: &Value, values: &mut HashMap<String, String>, draw: &mut Draw) -> Value {
    match x {
        Value::Array(items) => items.iter().map(|v| rename(v, values, draw)).collect(),
        Value::Object(map) => {
            let mut out = Map::new();
            for (k, v) in map {
                let given = matches!(k.as_str(), "op" | "do" | "compare");
                let v = if given { v.clone() } else { rename(v, values, draw) };
                out.insert(rename_text(k, values, draw), v);
            }
            Value::Object(out)
        }
        Value::String(s) => {
            let y = rename_text(s, values, draw);
            let number = is_token(s) && (s == "<ms>" || s.contains("-epoch-"));
            match y.parse::<u64>() {
                Ok(n) if number => json!(n),
                _ => json!(y),
            }
        }
        _ => x.clone(),
    }
}

fn rename_text(s: &str, values: &mut HashMap<String, String>, draw: &mut Draw) -> String {
    let (mut out, mut rest) = (String::new(), s);
    while let Some(i) = rest.find('<') {
        out.push_str(&rest[..i]);
        rest = &rest[i..];
        let length = token_length(rest);
        let alias = &rest[..length.unwrap_or(1)];
        match length {
            None => out.push('<'),
            Some(_) if alias[1..].starts_with(|c: char| c.is_ascii_digit()) => out.push_str("xx"),
            Some(_) if is_drawn_anew(alias) => {
                out.push_str(&(1_000_000 + draw.below(1_000_000)).to_string());
            }
            Some(_) => {
                let n = values.len();
                let value = || {
                    if alias.contains("-epoch-") {
                        (1000 + 7 * n).to_string()
                    } else {
                        format!("r{:08x}{n:04}", draw.below(usize::MAX))
                    }
                };
                out.push_str(values.entry(alias.to_owned()).or_insert_with(value));
            }
        }
        rest = &rest[alias.len()..];
    }
    out + rest
}
