//! Names of keys, as a person reads them, to the code points of the WebDriver protocol.

use anyhow::{Result, bail};

/// `"Shift+Tab"`, `"Control+k"`, `"ArrowLeft"`, `"?"`: modifiers first, then one key.
pub fn parse(chord: &str) -> Result<Vec<char>> {
    let mut keys = Vec::new();
    let mut rest = chord;
    // A plus sign alone is a key, not a joint.
    while let Some((name, after)) = rest.split_once('+')
        && !name.is_empty()
        && !after.is_empty()
    {
        keys.push(code(name)?);
        rest = after;
    }
    keys.push(code(rest)?);
    Ok(keys)
}

fn code(name: &str) -> Result<char> {
    let mut chars = name.chars();
    if let (Some(key), None) = (chars.next(), chars.next()) {
        return Ok(key);
    }
    Ok(match name {
        "Backspace" => '\u{E003}',
        "Tab" => '\u{E004}',
        "Enter" => '\u{E007}',
        "Shift" => '\u{E008}',
        "Control" => '\u{E009}',
        "Alt" => '\u{E00A}',
        "Escape" => '\u{E00C}',
        "Space" => ' ',
        "PageUp" => '\u{E00E}',
        "PageDown" => '\u{E00F}',
        "End" => '\u{E010}',
        "Home" => '\u{E011}',
        "ArrowLeft" => '\u{E012}',
        "ArrowUp" => '\u{E013}',
        "ArrowRight" => '\u{E014}',
        "ArrowDown" => '\u{E015}',
        "Insert" => '\u{E016}',
        "Delete" => '\u{E017}',
        "F1" => '\u{E031}',
        "Meta" => '\u{E03D}',
        _ => bail!("there is no key named `{name}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn chords_are_read() {
        assert_eq!(parse("Shift+Tab").unwrap(), ['\u{E008}', '\u{E004}']);
        assert_eq!(parse("+").unwrap(), ['+']);
        assert_eq!(parse("Control++").unwrap(), ['\u{E009}', '+']);
        assert_eq!(parse("?").unwrap(), ['?']);
        assert!(parse("Tabb").is_err());
    }
}
