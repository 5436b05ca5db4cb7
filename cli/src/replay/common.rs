//! What the players of all kinds of recordings share.

use kafkascope_core::base::Span;
use serde_json::Value;

/// A span given in seconds.
pub fn span(value: &Value) -> Option<Span> {
    let seconds = value.as_f64().filter(|s| *s >= 0.0 && *s < 1e9)?;
    Some(Span::from_micros((seconds * 1e6).round() as u64))
}
