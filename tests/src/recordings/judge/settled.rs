//! Settled facts: what is true after a step, by entry or as one value.

use super::canon::canon;
use super::hints::{Hint, Judge, at, is_hollow, without};
use super::python::{
    Judged, Object, as_int, equal_lists, get, list, must, sorted, str_of, text, truthy,
};
use serde_json::{Map, Value};

/// What counts of a znode.
const ZNODE: [&str; 5] = ["data", "ephemeral_owner", "version", "cversion", "aversion"];
const NOT_LISTS_BY_PLACE: [&str; 2] = ["topics_removed", "removed"];
/// Fields whose entries may have more fields than the recording's.
pub const LOOSE: [&str; 7] =
    ["znodes", "topics", "brokers", "servers", "zk_txns", "metadata_records", "consumer_events"];

/// A field that is counted by entry, as key → entry.
pub fn entries(field: &str, value: &Value) -> Judged<Object> {
    let items = match value {
        Value::Object(map) => return Ok(map.clone()),
        _ => list(value)?,
    };
    let mut out = Map::new();
    for (i, x) in items.iter().enumerate() {
        let mut key = entry_key(field, i, x)?;
        while out.contains_key(&key) {
            key.push('\'');
        }
        out.insert(key, x.clone());
    }
    Ok(out)
}

fn entry_key(field: &str, i: usize, x: &Value) -> Judged<String> {
    if let (Some(topic), Some(partition)) = (get(x, "topic"), get(x, "partition")) {
        return Ok(format!("{}-{}", str_of(topic), str_of(partition)));
    }
    if let Some(id) = get(x, "id").filter(|_| field == "brokers") {
        return Ok(str_of(id));
    }
    if !NOT_LISTS_BY_PLACE.contains(&field) {
        return Ok(i.to_string());
    }
    match x {
        Value::String(s) => Ok(s.clone()),
        Value::Object(map) => Ok(map.keys().cloned().collect::<Vec<_>>().join("-")),
        _ => Ok(list(x)?.iter().map(str_of).collect::<Vec<_>>().join("-")),
    }
}

/// An entry as it is compared.
pub fn entry_value(field: &str, entry: &Value, release: &str) -> Judged<Value> {
    let key = if field == "watches" { "child" } else { "" };
    match entry {
        Value::Object(map) if field == "znodes" => {
            let kept = ZNODE.iter().filter_map(|k| Some(((*k).to_owned(), map.get(*k)?.clone())));
            canon(&Value::Object(kept.collect()), release, key, false)
        }
        _ => canon(entry, release, key, false),
    }
}

/// Null keys: the start of the sequence or the partition is drawn, its cycle or its run is not.
pub fn random_vector(e: &Value, g: &Value) -> Judged<bool> {
    let empty = Value::Array(vec![]);
    if let (Some(s), true) = (get(e, "sequence"), g.is_object()) {
        let s = list(s)?;
        let t = list(get(g, "sequence").unwrap_or(&empty))?;
        let cycle = |from: usize, period: usize| -> Vec<Value> {
            (0..s.len()).map(|i| s[(from + i) % period].clone()).collect()
        };
        let period = (1..=s.len()).find(|p| equal_lists(s, &cycle(0, *p)));
        let period = period.ok_or("a sequence of null keys is empty")?;
        let turned = |from: usize| equal_lists(t, &cycle(from, period));
        return Ok(s.len() == t.len() && (0..period).any(turned));
    }
    let a = get(e, "records_per_partition").filter(|x| truthy(x));
    let b = get(g, "records_per_partition").filter(|x| truthy(x));
    match (a.and_then(Value::as_object), b.and_then(Value::as_object)) {
        (Some(a), Some(b)) => {
            let same_keys = a.len() == b.len() && a.keys().all(|k| b.contains_key(k));
            let (a, b) = (a.values().cloned().collect(), b.values().cloned().collect());
            Ok(same_keys && equal_lists(&sorted(a)?, &sorted(b)?))
        }
        _ => Ok(false),
    }
}

/// Numbers over several runs: each inside the recorded range; None where the field holds none.
fn statistics(field: &str, e: &Value, g: &Value) -> Judged<Option<bool>> {
    let Value::Array(e) = e else { return Ok(None) };
    match (field, g) {
        ("runs", Value::Array(g)) => race_statistics(e, g).map(Some),
        ("runs_as_partition_and_run_length", Value::Array(g)) => run_lengths(e, g).map(Some),
        ("runs" | "runs_as_partition_and_run_length", _) => Ok(Some(false)),
        _ => Ok(None),
    }
}

fn race_statistics(e: &[Value], g: &[Value]) -> Judged<bool> {
    const NUMBERS: [&str; 6] =
        ["claims", "releases", "refused_claims", "attempts", "highest_try", "settled"];
    let id = |r: &Value| -> Value {
        ["what", "run"].map(|k| get(r, k).cloned().unwrap_or(Value::Null)).into_iter().collect()
    };
    for r in e {
        must(r, "what")?;
        must(r, "run")?;
    }
    if e.len() != g.len() || !e.iter().zip(g).all(|(x, y)| super::python::equal(&id(x), &id(y))) {
        return Ok(false);
    }
    let mut good = true;
    for y in g {
        let same_kind = |x: &&Value| super::python::equal(&x["what"], &y["what"]);
        for k in NUMBERS {
            let of_kind = e.iter().filter(same_kind).map(|x| Ok(as_int(must(x, k)?)));
            let seen = of_kind.collect::<Judged<Option<Vec<i128>>>>()?;
            let seen = seen.ok_or_else(|| format!("runs: `{k}` is no whole number"))?;
            let inside = |n: i128| seen.iter().min() <= Some(&n) && Some(&n) <= seen.iter().max();
            good &= get(y, k).and_then(as_int).is_some_and(inside);
        }
    }
    Ok(good)
}

/// Sticky runs of null keys: as many records, in about as many runs.
fn run_lengths(e: &[Value], g: &[Value]) -> Judged<bool> {
    if e.len() != g.len() {
        return Ok(false);
    }
    let runs = |x: &Value| Ok(list(must(x, "sequence")?)?.len());
    let many = e.iter().map(runs).collect::<Judged<Vec<usize>>>()?;
    let sum = |items: &[Value]| -> Judged<i128> {
        let number = |x: &Value| as_int(x).ok_or_else(|| format!("no whole number: {}", text(x)));
        items.iter().map(number).sum()
    };
    for (x, y) in e.iter().zip(g) {
        let (want, have) = (sum(list(must(x, "per_partition")?)?)?, must(y, "per_partition")?);
        let sequence = list(must(y, "sequence")?)?;
        let lengths = sequence.iter().map(|run| match run.as_array().map(Vec::as_slice) {
            Some([_, n]) => Ok(n.clone()),
            _ => Err(format!("no run of a partition: {}", text(run))),
        });
        let lengths = lengths.collect::<Judged<Vec<Value>>>()?;
        let inside = many.iter().min() <= Some(&sequence.len())
            && Some(&sequence.len()) <= many.iter().max();
        if sum(list(have)?)? != want || sum(&lengths)? != want || !inside {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Does a field that counts as one hold, by its hints and by what they do not cover?
pub fn whole_value(
    field: &str,
    e: &Value,
    g: &Value,
    hints: &[Hint<'_>],
    release: &str,
    judge: Judge<'_>,
) -> Judged<bool> {
    for (path, rule) in hints {
        if !judge.obeys(rule, &at(e, path), &at(g, path))? {
            return Ok(false);
        }
    }
    let (mut e, mut g) = (e.clone(), g.clone());
    for (path, _) in hints {
        if path.is_empty() {
            return Ok(true);
        }
        without(&mut e, path);
        without(&mut g, path);
    }
    // Nothing is left of the elements: their number is the business of the hints.
    if !hints.is_empty() && is_hollow(&e) {
        return Ok(true);
    }
    if let Some(good) = statistics(field, &e, &g)? {
        return Ok(good);
    }
    let (e, g) = (canon(&e, release, field, false)?, canon(&g, release, field, false)?);
    Ok(judge.aliases.same(&e, &g, false))
}
