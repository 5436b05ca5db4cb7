//! A list of keys with weights: `a*3,b` is a three times, then b.

use std::sync::Arc;

/// A list makes at most so many turns.
pub const TURNS: usize = 10_000;

/// The key and how often it comes; `None`: such a weight can't be.
fn weighed(word: &str) -> Option<(&str, usize)> {
    match split(word) {
        None => Some((word, 1)),
        Some((key, times)) => {
            let times = times.parse().ok()?;
            (!key.is_empty() && (1..=TURNS).contains(&times)).then_some((key, times))
        }
    }
}

/// A key and digits behind its last `*`.
fn split(word: &str) -> Option<(&str, &str)> {
    let (key, times) = word.rsplit_once('*')?;
    let digits = !times.is_empty() && times.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some((key, times))
}

/// Whether a key would be read as one with a weight.
pub fn is_weighed(word: &str) -> bool {
    split(word).is_some()
}

/// The turns of a list, or its first word that can't be.
pub fn turns<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<Arc<str>>, &'a str> {
    let mut keys: Vec<Arc<str>> = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let (key, times) = weighed(word).ok_or(word)?;
        if keys.len() + times > TURNS {
            return Err(word);
        }
        let key: Arc<str> = key.into();
        keys.extend(std::iter::repeat_n(key, times));
    }
    Ok(keys)
}

/// As a script writes it.
pub fn list(keys: &[Arc<str>]) -> String {
    let runs = keys.chunk_by(|one, next| one == next);
    let words: Vec<String> = runs
        .filter_map(|run| {
            let key = run.first()?;
            Some(if run.len() > 1 { format!("{key}*{}", run.len()) } else { key.to_string() })
        })
        .collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_turns_and_come_back_as_weights() {
        let keys = turns("a*3,b,*,a,c*x".split(',')).expect("a list");
        let names: Vec<&str> = keys.iter().map(|key| &**key).collect();
        assert_eq!(names, ["a", "a", "a", "b", "*", "a", "c*x"]);
        assert_eq!(list(&keys), "a*3,b,*,a,c*x");
        for bad in ["a*0", "*3", "a*10001", "a*99999999999999999999"] {
            assert_eq!(turns(["b", bad].into_iter()), Err(bad));
        }
    }
}
