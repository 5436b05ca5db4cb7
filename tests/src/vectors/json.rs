//! Reading JSON as the recorders wrote it.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Reads a file. A lone surrogate, which Rust's texts can not hold, becomes a character outside
/// the basic plane: a path with either is refused.
pub fn load(file: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)))
        .map_err(|error| error.to_string())
}

fn without_lone_surrogates(text: &str) -> String {
    let unit_at = |at: usize| {
        let hex = text.get(at..).and_then(|rest| rest.strip_prefix("\\u"))?.get(..4)?;
        u16::from_str_radix(hex, 16).ok()
    };
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while at < text.len() {
        let width = match (unit_at(at), unit_at(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push('\u{10ffff}');
                at += 6;
                continue;
            }
            // An escaped backslash is no start of an escape.
            _ if text[at..].starts_with("\\\\") => 2,
            _ => text[at..].chars().next().map_or(1, char::len_utf8),
        };
        out.push_str(&text[at..at + width]);
        at += width;
    }
    out
}

/// An integer field; 0 if it is missing.
pub fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A text field; empty if it is missing.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_lone_surrogates_are_replaced() {
        let text = r#"["\ud83d\ude00", "a\ud800b", "\\ud800"]"#;
        let fixed = super::without_lone_surrogates(text);
        assert_eq!(fixed, "[\"\\ud83d\\ude00\", \"a\u{10ffff}b\", \"\\\\ud800\"]");
    }
}
