//! From a typed line to words and options, as zkCli and the commons-cli library under it do it.

/// Space as Java's `\s` has it: a no-break space is part of a word.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// What Java's `.` does not match, so that quotes around it stay.
fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Splits a line by zkCli's pattern `\s*([^"']\S*|"[^"]*"|'[^']*')\s*`, applied over and over. A
/// quote that is never closed is skipped; one inside a word is part of it.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        match first_word(rest) {
            Some((word, after)) => {
                words.push(word.to_owned());
                rest = after.trim_start_matches(is_space);
            }
            // Java's matcher looks again one character further on.
            None => rest = skip_one(rest),
        }
    }
    words
}

fn skip_one(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// The word at the start of `text` and what follows it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let body = text.trim_start_matches(is_space);
    if let Some(quote) = body.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        if let Some(end) = body[1..].find(quote) {
            let (inner, after) = (&body[1..=end], &body[end + 2..]);
            let whole = if inner.contains(ends_line) { &body[..end + 2] } else { inner };
            return Some((whole, after));
        }
    } else if !body.is_empty() {
        return Some(until_space(body, 0));
    }
    // The pattern steps back: the last space before a dead end is taken for a word's first letter.
    // All of them are one byte long.
    let spaces = text.len() - body.len();
    (spaces > 0).then(|| until_space(&text[spaces - 1..], 1))
}

/// Cuts at the first space at or after byte `from`.
fn until_space(text: &str, from: usize) -> (&str, &str) {
    let end = text[from..].find(is_space).map_or(text.len(), |at| from + at);
    text.split_at(end)
}

/// What commons-cli makes of the words: options by letter, and the rest in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    found: Vec<(char, Option<String>)>,
    /// The command's name comes first.
    pub words: Vec<String>,
}

impl Options {
    pub fn has(&self, letter: char) -> bool {
        self.found.iter().any(|(found, _)| *found == letter)
    }

    /// The first value given.
    pub fn value(&self, letter: char) -> Option<&str> {
        self.found.iter().find(|(found, _)| *found == letter)?.1.as_deref()
    }
}

/// `DefaultParser` of commons-cli 1.5.0 for options of one letter. `known` is as for getopt: a
/// colon follows a letter that takes a value.
pub fn options(known: &str, words: Vec<String>) -> Result<Options, String> {
    let mut reader = Reader { known, out: Options::default(), open: None };
    let mut plain = false;
    for word in words {
        if plain {
            reader.out.words.push(word);
        } else if word == "--" {
            plain = true;
        } else if let Some(letter) = reader.open.take_if(|_| !looks_like_option(known, &word)) {
            reader.out.found.push((letter, Some(unquoted(&word).to_owned())));
        } else if word.starts_with("--") {
            return Err(unrecognized(&word));
        } else if word.starts_with('-') && word != "-" {
            reader.short(&word)?;
        } else {
            reader.out.words.push(word);
        }
    }
    reader.must_be_closed()?;
    Ok(reader.out)
}

fn unrecognized(word: &str) -> String {
    format!("org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: {word}")
}

fn is_known(known: &str, letter: char) -> bool {
    letter != ':' && known.contains(letter)
}

fn takes_value(known: &str, letter: char) -> bool {
    known.split(letter).nth(1).is_some_and(|after| after.starts_with(':'))
}

/// A whole or decimal number with a sign.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !(whole.is_empty() && part.is_empty()) && all(whole) && all(part)
}

/// A negative number is a value, never an option.
fn looks_like_option(known: &str, word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        let letter = rest.trim_start_matches('-').chars().next();
        letter.is_some_and(|letter| is_known(known, letter)) && !is_number(word)
    })
}

/// The library takes one pair of quotes off a value.
fn unquoted(value: &str) -> &str {
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inner) if !inner.contains('"') => inner,
        _ => value,
    }
}

struct Reader<'a> {
    known: &'a str,
    out: Options,
    /// An option that waits for its value.
    open: Option<char>,
}

impl Reader<'_> {
    fn must_be_closed(&self) -> Result<(), String> {
        match self.open {
            None => Ok(()),
            Some(letter) => Err(format!(
                "org.apache.commons.cli.MissingArgumentException: \
                 Missing argument for option: {letter}"
            )),
        }
    }

    /// `-v`, `-v=1`, `-v1` and `-sw`.
    fn short(&mut self, word: &str) -> Result<(), String> {
        let body = word.trim_start_matches('-');
        if let Some((name, value)) = body.split_once('=') {
            let mut letters = name.chars();
            return match (letters.next(), letters.next()) {
                (Some(letter), None)
                    if is_known(self.known, letter) && takes_value(self.known, letter) =>
                {
                    self.must_be_closed()?;
                    self.out.found.push((letter, Some(value.to_owned())));
                    Ok(())
                }
                _ => Err(unrecognized(word)),
            };
        }
        let mut letters = body.chars();
        while let Some(letter) = letters.next() {
            if !is_known(self.known, letter) {
                return Err(unrecognized(word));
            }
            self.must_be_closed()?;
            if !takes_value(self.known, letter) {
                self.out.found.push((letter, None));
            } else if letters.as_str().is_empty() {
                self.open = Some(letter);
            } else {
                self.out.found.push((letter, Some(unquoted(letters.as_str()).to_owned())));
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_real_shell() {
        for (line, words) in [
            ("ls /", vec!["ls", "/"]),
            ("  ls  /  ", vec!["ls", "/"]),
            ("create \"/a b\" 'c d'", vec!["create", "/a b", "c d"]),
            ("create /q 'a\"b'", vec!["create", "/q", "a\"b"]),
            ("create /r \"unclosed", vec!["create", "/r", "unclosed"]),
            ("create /r a'b", vec!["create", "/r", "a'b"]),
            ("set /a \"\"", vec!["set", "/a", ""]),
            ("set /a \"x\"y", vec!["set", "/a", "x", "y"]),
            ("  \"open", vec![" \"open"]),
            ("\"", vec![]),
            ("a \" ", vec!["a", " "]),
            ("   ", vec![" "]),
            ("", vec![]),
            ("a\u{a0}b é'", vec!["a\u{a0}b", "é'"]),
        ] {
            assert_eq!(split(line), words, "{line:?}");
        }
    }

    #[test]
    fn options_are_those_of_the_library() {
        let parse = |line: &str| options("swv:", split(line));
        let shown = |line| match parse(line) {
            Ok(Options { found, words }) => format!("{found:?} {words:?}"),
            Err(error) => error.rsplit(' ').next().unwrap_or_default().to_owned(),
        };
        for (line, wanted) in [
            ("get -sw /a", r#"[('s', None), ('w', None)] ["get", "/a"]"#),
            ("get /a -s", r#"[('s', None)] ["get", "/a"]"#),
            ("get -v -1 /a", r#"[('v', Some("-1"))] ["get", "/a"]"#),
            ("get -v=0 /a", r#"[('v', Some("0"))] ["get", "/a"]"#),
            ("get -sv0 /a", r#"[('s', None), ('v', Some("0"))] ["get", "/a"]"#),
            ("get -- -s", r#"[] ["get", "-s"]"#),
            ("get -", r#"[] ["get", "-"]"#),
            ("get -sz /a", "-sz"),
            ("get --s /a", "--s"),
            ("get -5", "-5"),
            ("get -:", "-:"),
            ("get -v", "v"),
            ("get -v -s", "v"),
        ] {
            assert_eq!(shown(line), wanted, "{line:?}");
        }
    }
}
