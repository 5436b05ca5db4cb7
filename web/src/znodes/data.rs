//! A node's data for people: JSON where it is JSON, text where it is text, bytes otherwise.

use kafkascope_core::zk::op::Data;
use serde_json::Value;

/// Letters of a preview: a row shows fewer.
const PREVIEW: usize = 120;
/// What fits on one line of pretty JSON.
const LINE: usize = 44;
/// Bytes that are shown at once.
pub const SHOWN: usize = 8_192;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    Null,
    Empty,
    Json(Vec<String>),
    Text(Vec<String>),
    Hex(Vec<String>),
}

impl Shown {
    pub fn lines(&self) -> &[String] {
        match self {
            Shown::Json(lines) | Shown::Text(lines) | Shown::Hex(lines) => lines,
            Shown::Null | Shown::Empty => &[],
        }
    }
}

/// Text that a person can read: no control characters but tabs and line feeds.
pub fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let odd = |c: char| c.is_control() && c != '\t' && c != '\n' && c != '\r';
    (!text.contains(odd)).then_some(text)
}

pub fn shown(data: &Data) -> Shown {
    let Some(bytes) = data else { return Shown::Null };
    if bytes.is_empty() {
        return Shown::Empty;
    }
    let Some(text) = as_text(bytes) else { return Shown::Hex(hex(bytes)) };
    if text.len() <= SHOWN
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        let mut lines = vec![String::new()];
        pretty(&value, 0, &mut lines);
        return Shown::Json(lines);
    }
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= SHOWN).last();
    let cut = if text.len() > SHOWN { &text[..end.unwrap_or(0)] } else { text };
    Shown::Text(cut.split('\n').map(str::to_owned).collect())
}

fn put(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

/// As a person would write it: what is short stays on one line.
fn pretty(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let (open, close, entries): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        Value::Array(items) => ("[", "]", items.iter().map(|item| (None, item)).collect()),
        Value::Object(map) => ("{", "}", map.iter().map(|(key, item)| (Some(key), item)).collect()),
        plain => return put(lines, &plain.to_string()),
    };
    let flat = flat(value);
    if (depth > 0 || entries.is_empty()) && flat.len() <= LINE {
        return put(lines, &flat);
    }
    put(lines, open);
    let last = entries.len();
    for (index, (key, item)) in entries.into_iter().enumerate() {
        lines.push("  ".repeat(depth + 1));
        if let Some(key) = key {
            put(lines, &format!("{}: ", Value::String(key.clone())));
        }
        // Values of a thousand levels would not be read by anybody.
        if depth < 32 {
            pretty(item, depth + 1, lines);
        } else {
            put(lines, "…");
        }
        if index + 1 < last {
            put(lines, ",");
        }
    }
    lines.push("  ".repeat(depth));
    put(lines, close);
}

fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entry = |(key, item): (&String, &Value)| {
                format!("{}: {}", Value::String(key.clone()), flat(item))
            };
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

/// Offset, sixteen bytes, what of them is text.
fn hex(bytes: &[u8]) -> Vec<String> {
    let line = |(index, chunk): (usize, &[u8])| {
        let codes: Vec<String> = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = chunk
            .iter()
            .map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' })
            .collect();
        format!("{:04x}  {:<47}  {text}", index * 16, codes.join(" "))
    };
    bytes[..bytes.len().min(SHOWN)].chunks(16).enumerate().map(line).collect()
}

/// Fields that every node of Kafka has and that tell nothing at a glance.
const DULL: [&str; 4] = ["version", "timestamp", "jmx_port", "controller_epoch"];

/// A small object without its dull fields: `{"host":"broker-1","port":9092,…}`.
fn essence(bytes: &[u8]) -> Option<String> {
    let object = bytes.first() == Some(&b'{') && bytes.len() <= PREVIEW * 4;
    let map: serde_json::Map<String, Value> =
        object.then(|| serde_json::from_slice(bytes).ok()).flatten()?;
    let telling: Vec<String> = map
        .iter()
        .filter(|(key, _)| !DULL.contains(&key.as_str()))
        .map(|(key, value)| format!("{}:{value}", Value::String(key.clone())))
        .collect();
    let left_out = telling.len() < map.len();
    (!telling.is_empty() && left_out).then(|| format!("{{{},…}}", telling.join(",")))
}

/// One line for the tree.
pub fn preview(data: &Data) -> String {
    if let Some(essence) = data.as_ref().and_then(|bytes| essence(bytes)) {
        return essence;
    }
    let Some(bytes) = data.as_ref().filter(|bytes| !bytes.is_empty()) else {
        return String::new();
    };
    // A letter has four bytes at most.
    let start = &bytes[..bytes.len().min(PREVIEW * 4)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    };
    match text.filter(|text| as_text(text.as_bytes()).is_some()) {
        Some(text) => {
            let mut line: String = text.chars().take(PREVIEW).collect();
            if line.len() < bytes.len() {
                line.push('…');
            }
            line.replace(['\n', '\r', '\t'], " ")
        }
        None => {
            let codes: Vec<String> =
                bytes.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            format!("0x {}{}", codes.join(" "), if bytes.len() > 12 { " …" } else { "" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(bytes: &[u8]) -> Data {
        Some(bytes.into())
    }

    #[test]
    fn json_is_laid_out_and_keeps_its_order() {
        let text = br#"{"version":1,"partitions":{"1":[2,3],"0":[1,2]},"x":[]}"#;
        let Shown::Json(lines) = shown(&data(text)) else { panic!("json") };
        let want = ["{", "  \"version\": 1,", "  \"partitions\": {\"1\": [2, 3], \"0\": [1, 2]},"];
        assert_eq!(lines[..3], want);
        assert_eq!(lines.last().map(String::as_str), Some("}"));
    }

    #[test]
    fn numbers_and_words_are_text() {
        assert_eq!(shown(&data(b"2")), Shown::Text(vec!["2".to_owned()]));
        assert_eq!(shown(&None), Shown::Null);
        assert_eq!(shown(&data(b"")), Shown::Empty);
    }

    #[test]
    fn bytes_are_dumped_and_nothing_breaks_a_line() {
        let Shown::Hex(lines) = shown(&data(&[0, 255, 65])) else { panic!("hex") };
        assert!(lines[0].starts_with("0000  00 ff 41"), "{}", lines[0]);
        assert!(lines[0].ends_with("..A"));
        assert_eq!(preview(&data("a\nb".as_bytes())), "a b");
        assert_eq!(preview(&data(&[0, 1])), "0x 00 01");
    }

    #[test]
    fn a_preview_begins_with_what_tells_something() {
        let broker = br#"{"jmx_port":-1,"host":"broker-1","version":1,"port":9092}"#;
        assert_eq!(preview(&data(broker)), r#"{"host":"broker-1","port":9092,…}"#);
        assert_eq!(preview(&data(br#"{"version":1}"#)), r#"{"version":1}"#);
    }

    #[test]
    fn long_data_is_cut_between_letters() {
        let long = "汉".repeat(100_000);
        assert!(preview(&data(long.as_bytes())).chars().count() <= PREVIEW + 1);
        assert!(matches!(shown(&data(long.as_bytes())), Shown::Text(_)));
        let deep = "[".repeat(5_000);
        assert!(matches!(shown(&data(deep.as_bytes())), Shown::Text(_)));
    }
}
