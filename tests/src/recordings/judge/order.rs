//! Order: how many entries of a list are matched by a longest common subsequence, per session, per
//! member, or over the whole log.

use super::aliases::Aliases;
use super::canon::canon;
use super::python::{Judged, Object, as_int, get, must, sorted_by_text, str_of, text, truthy};
use super::settled::LOOSE;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What became of the two lists.
#[derive(Default)]
pub struct Matched {
    /// Entries of the recording that are not matched.
    pub missing: BTreeSet<usize>,
    /// Entries of the run that are not matched.
    pub surplus: BTreeSet<usize>,
    /// Matched pairs, as they were compared.
    pub pairs: Vec<(Value, Value)>,
}

/// An entry by its place in the list.
type Placed<'a> = (usize, &'a Value);
/// An entry as it is compared, by its place in the list.
type Formed = (usize, Value);

/// Lists of one field of one file.
pub struct Order<'a> {
    pub field: &'a str,
    pub release: &'a str,
    pub aliases: &'a Aliases,
}

impl Order<'_> {
    /// Matches the run's list `g` with the recording's `e`; `apart`: per session or member.
    pub fn matched(&self, e: &[Value], g: &[Value], apart: bool) -> Judged<Matched> {
        // One old recording has no `ephemeral` and no `sequential`; it has no `zxid_order` either.
        let no_flags = self.field == "zk_txns" && e.iter().any(|t| get(t, "zxid_order").is_none());
        let mut owners: Vec<String> = Vec::new();
        let mut groups: HashMap<String, [Vec<Placed<'_>>; 2]> = HashMap::new();
        for (side, items) in [e, g].into_iter().enumerate() {
            for (i, t) in items.iter().enumerate() {
                let owner = if apart { self.owner(t)? } else { String::new() };
                let group = groups.entry(owner.clone()).or_insert_with(|| {
                    owners.push(owner);
                    Default::default()
                });
                group[side].extend(std::iter::repeat_n((i, t), times(t)?));
            }
        }
        let mut out = Matched::default();
        for owner in owners {
            let [x, y] = &groups[&owner];
            let x = self.formed(x, no_flags)?;
            let y = self.formed(y, no_flags)?;
            self.match_group(x, y, &mut out);
        }
        Ok(out)
    }

    fn formed(&self, side: &[Placed<'_>], no_flags: bool) -> Judged<Vec<Formed>> {
        let side =
            if self.field == "wire" { side.to_vec() } else { self.sort_runs(side, |p| p.1)? };
        side.into_iter().map(|(i, t)| Ok((i, self.form(t, no_flags)?))).collect()
    }

    fn match_group(&self, mut x: Vec<Formed>, mut y: Vec<Formed>, out: &mut Matched) {
        if self.field == "wire" {
            // "=" says that this kind of answer occurred with that error, not when.
            let kinds_x = take_occurrences(&mut x);
            let kinds_y = take_occurrences(&mut y);
            let absent = |from: &[(usize, String)], kinds: &[(usize, String)]| {
                let kinds: HashSet<&String> = kinds.iter().map(|(_, kind)| kind).collect();
                let from = from.iter().filter(|(_, kind)| !kinds.contains(kind));
                from.map(|(i, _)| *i).collect::<Vec<_>>()
            };
            out.missing.extend(absent(&kinds_x, &kinds_y));
            out.surplus.extend(absent(&kinds_y, &kinds_x));
        }
        let pairs = self.common(&x, &y);
        let matched_x: HashSet<usize> = pairs.iter().map(|(i, _)| *i).collect();
        let matched_y: HashSet<usize> = pairs.iter().map(|(_, j)| *j).collect();
        let rest = |side: &[Formed], matched: &HashSet<usize>| {
            let rest = side.iter().enumerate().filter(|(i, _)| !matched.contains(i));
            rest.map(|(_, (place, _))| *place).collect::<Vec<_>>()
        };
        out.missing.extend(rest(&x, &matched_x));
        out.surplus.extend(rest(&y, &matched_y));
        out.pairs.extend(pairs.into_iter().map(|(i, j)| (x[i].1.clone(), y[j].1.clone())));
    }

    fn common(&self, x: &[Formed], y: &[Formed]) -> Vec<(usize, usize)> {
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut name = |t: &Formed| {
            let n = names.len();
            *names.entry(text(&t.1)).or_insert(n)
        };
        let tx: Vec<usize> = x.iter().map(&mut name).collect();
        let ty: Vec<usize> = y.iter().map(&mut name).collect();
        let loose = LOOSE.contains(&self.field);
        let flexible = x.iter().map(|t| loose || self.aliases.has_alias(&text(&t.1)));
        let flexible: Vec<bool> = flexible.collect();
        let mut known: HashMap<(usize, usize), bool> = HashMap::new();
        longest_common(x.len(), y.len(), |i, j| {
            tx[i] == ty[j]
                || flexible[i]
                    && *known
                        .entry((tx[i], ty[j]))
                        .or_insert_with(|| self.aliases.same(&x[i].1, &y[j].1, loose))
        })
    }

    /// Order is per session, per member, or of the whole log.
    pub fn owner(&self, t: &Value) -> Judged<String> {
        let key = match self.field {
            "wire" => {
                let client = t.as_array().and_then(|t| t.first());
                return client.map(str_of).ok_or_else(|| format!("no request: {}", text(t)));
            }
            "zk_txns" => "session",
            "callbacks" => "c",
            "consumer_events" => "consumer",
            _ => "",
        };
        let t = t.as_object().ok_or_else(|| format!("no entry of {}: {}", self.field, text(t)))?;
        Ok(t.get(key).map(str_of).unwrap_or_default())
    }

    /// An entry as it is compared.
    pub fn form(&self, t: &Value, no_flags: bool) -> Judged<Value> {
        if self.field == "wire" {
            return self.form_of_wire(t);
        }
        let mut map = t.as_object().ok_or_else(|| format!("no entry: {}", text(t)))?.clone();
        for key in ["zxid", "batch", "times"] {
            map.shift_remove(key);
        }
        if self.field == "zk_txns" && must(t, "type")?.as_str() == Some("create") {
            for flag in ["ephemeral", "sequential"] {
                let set = get(t, flag).is_some_and(truthy);
                map.insert(flag.into(), if no_flags { Value::Null } else { set.into() });
            }
        }
        let mut form = canon(&Value::Object(map), self.release, "", false)?;
        // The runs of a multi's parts are sorted too.
        if let Some(ops) = form.get_mut("ops") {
            let parts = super::python::list(ops)?.iter().collect::<Vec<_>>();
            let parts = self.sort_runs(&parts, |p| p)?;
            let parts = parts.into_iter().map(|o| self.form(o, no_flags));
            *ops = Value::Array(parts.collect::<Judged<_>>()?);
        }
        Ok(form)
    }

    /// Client, direction, name, version, fields: versions do not count, members are a set.
    fn form_of_wire(&self, t: &Value) -> Judged<Value> {
        let t = super::python::list(t)?;
        if t.len() < 2 {
            return Err(format!("no request or answer: {}", text(&json!(t))));
        }
        let empty = json!({});
        let mut fields = canon(t.get(4).unwrap_or(&empty), self.release, "", false)?;
        if !fields.is_object() {
            return Err(format!("no fields of a request or answer: {}", text(&fields)));
        }
        if let Some(Value::Array(members)) = fields.get_mut("members") {
            *members = sorted_by_text(std::mem::take(members));
        }
        if t[1].as_str() == Some("=") {
            fields = json!({"error": get(&fields, "error")});
        }
        let mut form = t[..t.len().min(3)].to_vec();
        form.push(fields);
        Ok(Value::Array(form))
    }

    /// Neighbours of one type whose paths differ only in topic or partition came out of a hash map:
    /// such a run is sorted.
    fn sort_runs<T: Copy>(&self, items: &[T], of: impl Fn(&T) -> &Value) -> Judged<Vec<T>> {
        let (mut out, mut run, mut last) = (Vec::new(), Vec::new(), None);
        for x in items {
            let (shape, key) = self.shape(of(x))?;
            if last.as_ref() != Some(&shape) {
                flush(&mut run, &mut out);
                last = Some(shape);
            }
            run.push((text(&key), *x));
        }
        flush(&mut run, &mut out);
        Ok(out)
    }

    /// Type and path without topic and partition, and what a run is sorted by.
    pub fn shape(&self, t: &Value) -> Judged<(String, Value)> {
        let data = get(t, "data").filter(|data| get(data, "partitionId").is_some());
        match self.field {
            "zk_txns" => return self.shape_of_txn(t),
            "metadata_records" if data.is_some() => {
                let data = data.unwrap_or(&Value::Null);
                let topic = str_of(get(data, "topicId").unwrap_or(&Value::Null));
                let partition = as_int(&data["partitionId"]).ok_or("no partitionId")?;
                return Ok((text(must(t, "type")?), format!("{topic} {partition:05}").into()));
            }
            "offsets_topic" if get(t, "type").and_then(Value::as_str) == Some("OffsetCommit") => {
                let mut rest: Object = t.as_object().cloned().unwrap_or_default();
                let partition = rest.shift_remove("partition").unwrap_or(Value::Null);
                rest.shift_remove("offset");
                return Ok((text(&Value::Object(rest)), str_of(&partition).into()));
            }
            _ => {}
        }
        Ok((text(t), "".into()))
    }

    fn shape_of_txn(&self, t: &Value) -> Judged<(String, Value)> {
        if let Some(ops) = get(t, "ops") {
            let ops = super::python::list(ops)?;
            let parts = ops.iter().map(|op| self.shape(op)).collect::<Judged<Vec<_>>>()?;
            let shapes: BTreeSet<&String> = parts.iter().map(|(shape, _)| shape).collect();
            let shape = format!("multi {shapes:?}");
            return Ok((shape, parts.into_iter().map(|(_, key)| key).collect()));
        }
        let path = get(t, "path").and_then(Value::as_str).unwrap_or("");
        let request = get(t, "request").unwrap_or(&Value::Null);
        let shape = text(&json!([must(t, "type")?, request, without_names(path)]));
        Ok((shape, path.into()))
    }
}

fn flush<T>(run: &mut Vec<(String, T)>, out: &mut Vec<T>) {
    run.sort_by(|a, b| a.0.cmp(&b.0));
    out.extend(run.drain(..).map(|(_, x)| x));
}

/// Equal entries in a row may be one with `times`.
fn times(t: &Value) -> Judged<usize> {
    match get(t, "times") {
        None => Ok(1),
        Some(n) => {
            let n = as_int(n).ok_or_else(|| format!("times: {}", text(n)))?;
            Ok(usize::try_from(n.max(0)).unwrap_or(0))
        }
    }
}

fn take_occurrences(side: &mut Vec<Formed>) -> Vec<(usize, String)> {
    let mut taken = Vec::new();
    side.retain(|(i, form)| {
        let occurrence = form[1].as_str() == Some("=");
        if occurrence {
            taken.push((*i, text(form)));
        }
        !occurrence
    });
    taken
}

/// A path without the names of topic and partition.
fn without_names(path: &str) -> String {
    let segment = |s: &str| s.find('/').unwrap_or(s.len());
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(rest) = path.strip_prefix("/brokers/topics/").filter(|rest| segment(rest) > 0) {
        let rest = &rest[segment(rest)..];
        if let Some(partition) = rest.strip_prefix("/partitions/").filter(|p| digits(p) > 0) {
            return format!("/brokers/topics/*/partitions/*{}", &partition[digits(partition)..]);
        }
        return format!("/brokers/topics/*{rest}");
    }
    if let Some(rest) = path.strip_prefix("/consumers/").filter(|rest| segment(rest) > 0) {
        let (group, rest) = rest.split_at(segment(rest));
        for kind in ["/owners/", "/offsets/"] {
            let Some(topic) = rest.strip_prefix(kind).filter(|rest| segment(rest) > 0) else {
                continue;
            };
            let partition = &topic[segment(topic)..];
            let number = partition.strip_prefix('/');
            if partition.is_empty() || number.is_some_and(|n| !n.is_empty() && digits(n) == n.len())
            {
                return format!("/consumers/{group}{kind}*");
            }
        }
        return path.to_owned();
    }
    for folder in ["/config/topics/", "/admin/delete_topics/"] {
        if let Some(topic) = path.strip_prefix(folder)
            && !topic.is_empty()
            && !topic.contains('/')
        {
            return format!("{folder}*");
        }
    }
    path.to_owned()
}

/// Pairs of a longest common subsequence of n and m items.
fn longest_common(
    n: usize,
    m: usize,
    mut same: impl FnMut(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let shorter = n.min(m);
    let mut a = 0;
    while a < shorter && same(a, a) {
        a += 1;
    }
    let mut z = 0;
    while z < shorter - a && same(n - 1 - z, m - 1 - z) {
        z += 1;
    }
    let (h, w) = (n - a - z, m - a - z);
    let equal: Vec<Vec<bool>> =
        (0..h).map(|i| (0..w).map(|j| same(a + i, a + j)).collect()).collect();
    let mut best = vec![vec![0u32; w + 1]; h + 1];
    for i in (0..h).rev() {
        for j in (0..w).rev() {
            best[i][j] = if equal[i][j] {
                best[i + 1][j + 1] + 1
            } else {
                best[i + 1][j].max(best[i][j + 1])
            };
        }
    }
    let mut pairs: Vec<(usize, usize)> = (0..a).map(|k| (k, k)).collect();
    let (mut i, mut j) = (0, 0);
    while i < h && j < w {
        if equal[i][j] && best[i][j] == best[i + 1][j + 1] + 1 {
            pairs.push((a + i, a + j));
            (i, j) = (i + 1, j + 1);
        } else if best[i + 1][j] >= best[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs.extend((1..=z).rev().map(|k| (n - k, m - k)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_without_topic_and_partition() {
        for (path, shape) in [
            ("/brokers/topics/t/partitions/12/state", "/brokers/topics/*/partitions/*/state"),
            ("/brokers/topics/t/partitions", "/brokers/topics/*/partitions"),
            ("/brokers/topics/t", "/brokers/topics/*"),
            ("/consumers/g/owners/t/3", "/consumers/g/owners/*"),
            ("/consumers/g/offsets/t", "/consumers/g/offsets/*"),
            ("/consumers/g/ids/c1", "/consumers/g/ids/c1"),
            ("/config/topics/t", "/config/topics/*"),
            ("/admin/delete_topics/t", "/admin/delete_topics/*"),
            ("/controller", "/controller"),
        ] {
            assert_eq!(without_names(path), shape);
        }
    }

    #[test]
    fn common_subsequence() {
        let (x, y) = (b"abcxd", b"bacd");
        let pairs = longest_common(x.len(), y.len(), |i, j| x[i] == y[j]);
        assert_eq!(pairs, [(1, 0), (2, 2), (4, 3)]);
        assert!(longest_common(0, 3, |_, _| true).is_empty());
    }
}
