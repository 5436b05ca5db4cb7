//! The few habits of Python that the judge's decisions rest on: how a value is written as text,
//! what is equal, what is true, and how values sort. `compare.py` is the law, this follows it.

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// A refusal, where `compare.py` raises an exception: the file or the answer is malformed.
pub type Judged<T> = Result<T, String>;

/// An object.
pub type Object = Map<String, Value>;

/// `json.dumps(x, sort_keys=True)`: the canonical text that is sorted and compared.
pub fn text(x: &Value) -> String {
    let mut out = String::new();
    write_text(x, &mut out);
    out
}

fn write_text(x: &Value, out: &mut String) {
    match x {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => out.push_str(&number(n)),
        Value::String(s) => write_string(s, out),
        Value::Array(list) => {
            out.push('[');
            for (i, v) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_text(v, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (i, k) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_string(k, out);
                out.push_str(": ");
                write_text(&map[k], out);
            }
            out.push('}');
        }
    }
}

/// Python escapes all that is not printable ASCII, so the words found in a text depend on it.
fn write_string(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// `repr` of a number: Rust's shortest form, with Python's way of writing the exponent.
fn number(n: &Number) -> String {
    if n.is_i64() || n.is_u64() {
        return n.to_string();
    }
    let debug = format!("{:?}", n.as_f64().unwrap_or(0.0));
    match debug.split_once('e') {
        None => debug,
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{}e{sign}{digits:0>2}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
        }
    }
}

/// `str(x)`. Containers are written as JSON: only their being no number, no name matters.
pub fn str_of(x: &Value) -> String {
    match x {
        Value::Null => "None".into(),
        Value::Bool(b) => (if *b { "True" } else { "False" }).into(),
        Value::String(s) => s.clone(),
        Value::Number(n) => number(n),
        _ => text(x),
    }
}

/// `int`, to which Python counts the truth values.
pub fn as_int(x: &Value) -> Option<i128> {
    match x {
        Value::Bool(b) => Some(i128::from(*b)),
        Value::Number(n) => n.as_i64().map(i128::from).or(n.as_u64().map(i128::from)),
        _ => None,
    }
}

fn as_float(x: &Value) -> Option<f64> {
    match x {
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Number(n) => n.as_f64(),
        _ => None,
    }
}

/// `a == b`: numbers by value (also against truth values), objects whatever their order.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => equal_lists(a, b),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| equal(v, w)))
        }
        _ => match (as_int(a), as_int(b)) {
            (Some(a), Some(b)) => a == b,
            _ => matches!((as_float(a), as_float(b)), (Some(a), Some(b)) if a == b),
        },
    }
}

/// `a == b` of two lists.
pub fn equal_lists(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| equal(x, y))
}

/// `bool(x)`.
pub fn truthy(x: &Value) -> bool {
    match x {
        Value::Null => false,
        Value::String(s) => !s.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => as_float(x).is_some_and(|f| f != 0.0),
    }
}

/// `a < b` and so on; None where Python refuses to compare.
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Array(a), Value::Array(b)) => match a.iter().zip(b).find(|(x, y)| !equal(x, y)) {
            Some((x, y)) => order(x, y),
            None => Some(a.len().cmp(&b.len())),
        },
        _ => match (as_int(a), as_int(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => as_float(a)?.partial_cmp(&as_float(b)?),
        },
    }
}

/// `sorted(list)`.
pub fn sorted(mut list: Vec<Value>) -> Judged<Vec<Value>> {
    let mut refused = false;
    list.sort_by(|a, b| {
        order(a, b).unwrap_or_else(|| {
            refused = true;
            Ordering::Equal
        })
    });
    if refused { Err("values of different kinds cannot be sorted".into()) } else { Ok(list) }
}

/// `sorted(list, key=text)`.
pub fn sorted_by_text(mut list: Vec<Value>) -> Vec<Value> {
    list.sort_by_cached_key(text);
    list
}

/// `\w`.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `\s`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The object's member, or None where it is no object or has none of that name.
pub fn get<'a>(x: &'a Value, key: &str) -> Option<&'a Value> {
    x.as_object()?.get(key)
}

/// The object's member, which has to be there.
pub fn must<'a>(x: &'a Value, key: &str) -> Judged<&'a Value> {
    let map = x.as_object().ok_or_else(|| format!("no object where `{key}` is looked for"))?;
    map.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

/// The items, where it has to be a list.
pub fn list(x: &Value) -> Judged<&Vec<Value>> {
    x.as_array().ok_or_else(|| format!("no list: {}", text(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_what_python_writes() {
        let x = json!({"b": [1, 2.5, -3e30, 0.00001], "a": "ä\n\u{1F600}\u{7f}", "c": {}});
        assert_eq!(
            text(&x),
            r#"{"a": "\u00e4\n\ud83d\ude00\u007f", "b": [1, 2.5, -3e+30, 1e-05], "c": {}}"#
        );
    }

    #[test]
    fn numbers_and_truth_values_are_equal_by_value() {
        assert!(equal(&json!(1), &json!(true)) && equal(&json!(1), &json!(1.0)));
        assert!(!equal(&json!(0), &json!(null)) && !equal(&json!("1"), &json!(1)));
    }
}
