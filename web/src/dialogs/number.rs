//! Numbers as people type them, and what is wrong with them.

use crate::i18n::{Lang, k};

/// What stands where digits should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Empty,
    /// The letter and its place, from one.
    Letter(char, usize),
    Negative,
    /// More than any bound.
    Huge,
}

/// A whole number.
pub fn whole(text: &str) -> Result<u64, Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    let digits = match text.strip_prefix('-') {
        Some(rest) if !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()) => {
            return if rest.bytes().all(|b| b == b'0') { Ok(0) } else { Err(Fault::Negative) };
        }
        _ => text.strip_prefix('+').unwrap_or(text),
    };
    let sign = text.len() - digits.len();
    let wrong = digits.chars().enumerate().find(|(_, c)| !c.is_ascii_digit());
    if let Some((at, letter)) = wrong {
        return Err(Fault::Letter(letter, sign + at + 1));
    }
    if digits.is_empty() {
        return Err(Fault::Letter('+', 1));
    }
    digits.parse().map_err(|_| Fault::Huge)
}

/// Seconds with at most six digits after the point, in microseconds.
pub fn seconds(text: &str) -> Result<u64, Fault> {
    let text = text.trim();
    let (whole_part, rest) = text.split_once(['.', ',']).unwrap_or((text, ""));
    if rest.is_empty() {
        return whole(whole_part).map(|secs| secs.saturating_mul(1_000_000));
    }
    let place = whole_part.chars().count() + 2;
    if let Some((at, letter)) = rest.chars().enumerate().find(|(_, c)| !c.is_ascii_digit()) {
        return Err(Fault::Letter(letter, place + at));
    }
    let secs = if whole_part.is_empty() { 0 } else { whole(whole_part)? };
    if whole_part.starts_with('-') {
        return Err(Fault::Negative);
    }
    let digits: String = rest.chars().chain("000000".chars()).take(6).collect();
    let micros = digits.parse::<u64>().map_err(|_| Fault::Huge)?;
    Ok(secs.saturating_mul(1_000_000).saturating_add(micros))
}

/// The fault in words, with the bounds of the field.
pub fn say(lang: Lang, fault: Fault, low: u64, high: u64) -> String {
    let bounds = lang.fill(k::FORM_BOUNDS, &[("low", &low), ("high", &high)]);
    let what = match fault {
        Fault::Empty => lang.t(k::FORM_EMPTY).to_string(),
        Fault::Letter(letter, at) => {
            let letter = letter.escape_debug();
            lang.fill(k::FORM_LETTER, &[("letter", &letter), ("at", &at)])
        }
        Fault::Negative => lang.t(k::FORM_NEGATIVE).to_string(),
        Fault::Huge => lang.t(k::FORM_HUGE).to_string(),
    };
    format!("{what} {bounds}")
}

/// A whole number within its bounds, or what is wrong with it.
pub fn within(lang: Lang, text: &str, low: u64, high: u64) -> Result<u64, String> {
    match whole(text) {
        Ok(number) if number < low || number > high => {
            let values: [(&str, &dyn std::fmt::Display); 3] =
                [("given", &number), ("low", &low), ("high", &high)];
            Err(lang.fill(k::FORM_RANGE, &values))
        }
        Ok(number) => Ok(number),
        Err(fault) => Err(say(lang, fault, low, high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_faults_have_a_place() {
        assert_eq!(whole(" 42 "), Ok(42));
        assert_eq!(whole("+7"), Ok(7));
        assert_eq!(whole("1000000000"), Ok(1_000_000_000));
        assert_eq!(whole(""), Err(Fault::Empty));
        assert_eq!(whole("-3"), Err(Fault::Negative));
        assert_eq!(whole("-0"), Ok(0));
        assert_eq!(whole("abc"), Err(Fault::Letter('a', 1)));
        assert_eq!(whole("1🎉"), Err(Fault::Letter('🎉', 2)));
        assert_eq!(whole("1\u{0}2"), Err(Fault::Letter('\u{0}', 2)));
        assert_eq!(whole("+"), Err(Fault::Letter('+', 1)));
        assert_eq!(whole("-"), Err(Fault::Letter('-', 1)));
        assert_eq!(whole("１"), Err(Fault::Letter('１', 1)));
        assert_eq!(whole(&"9".repeat(1 << 20)), Err(Fault::Huge));
    }

    #[test]
    fn seconds_may_have_a_point() {
        assert_eq!(seconds("2"), Ok(2_000_000));
        assert_eq!(seconds("1.5"), Ok(1_500_000));
        assert_eq!(seconds(".25"), Ok(250_000));
        assert_eq!(seconds("0,000001"), Ok(1));
        assert_eq!(seconds("1.x"), Err(Fault::Letter('x', 3)));
        assert_eq!(seconds("-1.5"), Err(Fault::Negative));
        assert_eq!(seconds("1000000000"), Ok(1_000_000_000_000_000));
    }
}
