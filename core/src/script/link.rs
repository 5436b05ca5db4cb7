//! A run as the fragment of an address: `#s=` readable text while it is short, `#z=` packed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Line, Problem, Script, ScriptError, Statement, parse, print};
use crate::base::limits;
use crate::lab::Run;

/// A readable link is no longer than this.
const READABLE: usize = 1_500;
/// How hard deflate tries.
const LEVEL: u8 = 9;

/// A run as a script of moments.
pub fn script_of(run: &Run) -> Script {
    let lines = run.commands.iter().zip(1..).map(|((at, command), number)| Line {
        number,
        statement: Statement::At(*at, (**command).clone()),
    });
    Script {
        model: run.model,
        seed: run.seed,
        config: run.config.clone(),
        lines: lines.collect(),
        expected: None,
    }
}

/// The fragment, with its `#`.
pub fn write(script: &Script) -> String {
    let text = print(script);
    let readable = escape(text.trim_end());
    if readable.len() <= READABLE {
        return format!("#s={readable}");
    }
    let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), LEVEL);
    format!("#z={}", URL_SAFE_NO_PAD.encode(packed))
}

/// Reads a fragment, or a whole address that ends in one.
pub fn read(link: &str) -> Result<Script, ScriptError> {
    let broken = |problem| ScriptError { line: 1, column: 1, problem };
    if link.len() > 2 * limits::SCRIPT_BYTES {
        let limit = limits::SCRIPT_BYTES as u64;
        return Err(broken(Problem::TooLarge { limit }));
    }
    let fragment = link.split_once('#').map_or(link, |(_, fragment)| fragment).trim();
    if let Some(readable) = fragment.strip_prefix("s=") {
        return parse(&unescape(readable).ok_or_else(|| broken(Problem::BrokenLink))?);
    }
    let packed = fragment.strip_prefix("z=").ok_or_else(|| broken(Problem::BrokenLink))?;
    let bytes = URL_SAFE_NO_PAD.decode(packed).map_err(|_| broken(Problem::BrokenLink))?;
    let limit = limits::SCRIPT_BYTES;
    let text = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, limit)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| broken(Problem::BrokenLink))?;
    parse(&text)
}

/// Blank to `+`, line to `;`; the rest that an address can't hold, or that means something here,
/// to `%XX`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => escaped.push('+'),
            b'\n' => escaped.push(';'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => escaped.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'/' | b':' | b'=' | b',' | b'@' | b'!' | b'*' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b';' => b'\n',
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}
