//! Exclusions: which entries are left out of a comparison, and why. A rule names a release, a field
//! or a path; the file format is what `compare.py` reads.

use super::python::{Judged, get, truthy};
use serde_json::{Map, Value};
use std::path::Path;

/// One exclusion. A missing release or field means every one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub release: Option<String>,
    pub field: Option<String>,
    pub path: Option<String>,
    pub reason: String,
}

/// Reads the rules of a `.json` file, or of a TOML file of `[[exclude]]` tables.
pub fn load(path: &Path) -> Judged<Vec<Rule>> {
    let raw = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let is_json = path.extension().is_some_and(|x| x == "json");
    let rules = if is_json { from_json(&raw) } else { from_toml(&raw) };
    rules.map_err(|e| format!("{}: {e}", path.display()))
}

fn from_json(raw: &str) -> Judged<Vec<Rule>> {
    let value: Value = serde_json::from_str(raw).map_err(|e| e.to_string())?;
    let list = get(&value, "exclude").unwrap_or(&value);
    let list = list.as_array().ok_or("no list of exclusions")?;
    list.iter().map(|rule| from_fields(rule.as_object().ok_or("a rule is no object")?)).collect()
}

/// `[[exclude]]` and lines `key = "text"`, each with a comment or none; other lines mean nothing.
pub fn from_toml(raw: &str) -> Judged<Vec<Rule>> {
    let mut tables: Vec<Map<String, Value>> = Vec::new();
    for line in raw.lines() {
        let line = line.trim();
        if is_table(line) {
            tables.push(Map::new());
        } else if let (Some(table), Some((key, value))) = (tables.last_mut(), key_value(line)) {
            table.insert(key.into(), value.into());
        }
    }
    tables.iter().map(from_fields).collect()
}

fn is_table(line: &str) -> bool {
    let inner = line.strip_prefix("[[").and_then(|rest| rest.split_once("]]"));
    inner.is_some_and(|(name, _)| is_name(name))
}

fn is_name(x: &str) -> bool {
    !x.is_empty() && x.chars().all(super::python::is_word)
}

/// The text ends at the first quote that nothing but a comment follows.
fn key_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once('=')?;
    let rest = rest.trim_start().strip_prefix(['"', '\''])?;
    let end = rest.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')).find(|(i, _)| {
        let after = rest[i + 1..].trim_start();
        after.is_empty() || after.starts_with('#')
    });
    is_name(key.trim()).then_some((key.trim(), &rest[..end?.0]))
}

fn from_fields(fields: &Map<String, Value>) -> Judged<Rule> {
    let of = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let rule = Rule {
        release: of("release"),
        field: of("field"),
        path: of("path"),
        reason: of("reason").unwrap_or_default(),
    };
    let named = |x: &Option<String>| x.as_ref().is_some_and(|x| !x.is_empty());
    if rule.reason.is_empty() || !(named(&rule.field) || named(&rule.path)) {
        return Err(format!("an exclusion without field or path, or without reason: {rule:?}"));
    }
    Ok(rule)
}

/// The rules, for one release.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    pub rules: &'a [Rule],
    pub release: &'a str,
}

impl Rules<'_> {
    /// Is an entry with one of these keys (path, type, event) left out of the field?
    pub fn excluded(&self, field: &str, keys: &[Option<&str>]) -> bool {
        self.of_field(field).any(|rule| {
            rule.path.as_ref().is_none_or(|path| {
                keys.iter().flatten().any(|key| !key.is_empty() && glob(path, key))
            })
        })
    }

    /// The rules that may leave out something of the field.
    fn of_field(&self, field: &str) -> impl Iterator<Item = &Rule> {
        let fits = |pattern: &Option<String>, x: &str| {
            pattern.as_ref().is_none_or(|pattern| glob(pattern, x))
        };
        let here =
            move |rule: &&Rule| fits(&rule.release, self.release) && fits(&rule.field, field);
        self.rules.iter().filter(here)
    }

    /// An entry of a list of order without what is excluded, None if nothing of it is left: a multi
    /// goes only if each of its ops goes.
    pub fn leave_out(&self, field: &str, entry: &Value) -> Judged<Option<Value>> {
        if self.rules.is_empty() {
            return Ok(Some(entry.clone()));
        }
        let out = |keys: &[Option<&str>]| self.excluded(field, keys);
        let name = |key: &str| get(entry, key).and_then(Value::as_str);
        if let Value::Array(list) = entry {
            let kind = list.get(2).ok_or("a request or answer without a name")?;
            let by_path = self.of_field(field).any(|rule| rule.path.is_some());
            if by_path && !kind.is_string() && truthy(kind) {
                return Err(format!("no name of a request: {kind}"));
            }
            return Ok((!out(&[kind.as_str()])).then(|| entry.clone()));
        }
        let mut kept = entry.clone();
        if let Some(Value::Array(ops)) = kept.get_mut("ops") {
            ops.retain(|op| !out(&[get(op, "path").and_then(Value::as_str)]));
            return Ok((!ops.is_empty()).then_some(kept));
        }
        if out(&[name("path"), name("type"), name("event")]) {
            return Ok(None);
        }
        for key in ["deletes", "removed_ephemerals"] {
            if let Some(Value::Array(paths)) = kept.get_mut(key) {
                paths.retain(|path| !out(&[path.as_str()]));
            }
        }
        Ok(Some(kept))
    }
}

/// `fnmatch.fnmatchcase`: `*`, `?`, `[abc]`, `[!abc]`, ranges.
pub fn glob(pattern: &str, x: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let x: Vec<char> = x.chars().collect();
    glob_from(&pattern, &x)
}

fn glob_from(pattern: &[char], x: &[char]) -> bool {
    match pattern.first() {
        None => x.is_empty(),
        Some('*') => (0..=x.len()).any(|skip| glob_from(&pattern[1..], &x[skip..])),
        Some('?') => !x.is_empty() && glob_from(&pattern[1..], &x[1..]),
        Some('[') => match set_end(pattern) {
            None => x.first() == Some(&'[') && glob_from(&pattern[1..], &x[1..]),
            Some(end) => {
                x.first().is_some_and(|c| in_set(&pattern[1..end], *c))
                    && glob_from(&pattern[end + 1..], &x[1..])
            }
        },
        Some(c) => x.first() == Some(c) && glob_from(&pattern[1..], &x[1..]),
    }
}

/// Where the set that begins the pattern ends: a `]` right at its beginning belongs to it.
fn set_end(pattern: &[char]) -> Option<usize> {
    let first = if pattern.get(1) == Some(&'!') { 2 } else { 1 };
    (first + 1..pattern.len()).find(|i| pattern[*i] == ']')
}

fn in_set(set: &[char], c: char) -> bool {
    let (negated, set) = match set.first() {
        Some('!') => (true, &set[1..]),
        _ => (false, set),
    };
    let (mut i, mut found) = (0, false);
    while i < set.len() {
        if i + 2 < set.len() && set[i + 1] == '-' {
            found |= (set[i]..=set[i + 2]).contains(&c);
            i += 3;
        } else {
            found |= set[i] == c;
            i += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_fnmatch() {
        for (pattern, x, fits) in [
            ("/feature*", "/feature/x", true),
            ("*", "", true),
            ("3.9.?", "3.9.2", true),
            ("[ab-d]x", "cx", true),
            ("[!ab-d]x", "cx", false),
            ("[]x]", "]", true),
            ("[", "[", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b", "abc", false),
        ] {
            assert_eq!(glob(pattern, x), fits, "{pattern} {x}");
        }
    }

    #[test]
    fn rules_need_a_reason_and_a_field_or_path() {
        let good =
            "# x\n[[exclude]] # one\nrelease = \"2.8.2\"\npath = '/a\"b' # c\nreason = \"r\"\n";
        let rules = from_toml(good).unwrap();
        assert_eq!(rules[0].path.as_deref(), Some("/a\"b"));
        assert!(from_toml("[[exclude]]\nrelease = \"x\"\nreason = \"r\"\n").is_err());
        assert!(from_toml("[[exclude]]\npath = \"x\"\n").is_err());
        assert_eq!(from_toml("# [[exclude]]\n").unwrap(), []);
    }
}
