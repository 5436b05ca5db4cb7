//! Where aliases stand in a text, and which values a text with aliases can stand for.

use super::python::{is_space, is_word};

/// Aliases that match any value of their form, another one each time.
const ANY_EACH_TIME: [&str; 5] = ["<ms>", "<uuid>", "<hash>", "<work>", "<topic-id>"];

/// Nothing is bound to it: it is any value each time, or a text written short (`<250 times x>`).
pub fn is_drawn_anew(alias: &str) -> bool {
    ANY_EACH_TIME.contains(&alias) || is_short(alias)
}

fn is_short(alias: &str) -> bool {
    alias.strip_prefix('<').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Aliases are one-to-one per kind: the word that an alias begins with; a bare name is a `name`.
pub fn kind(alias: &str) -> &str {
    let Some(inner) = alias.strip_prefix('<') else { return "name" };
    let inner = inner.strip_suffix('>').unwrap_or(inner);
    let ends = |c: char| matches!(c, ' ' | ':' | '.' | '#' | '-') || c.is_ascii_digit();
    inner.split(ends).next().unwrap_or("")
}

/// The length of the alias in angle brackets that begins here, if one does:
/// `<name>`, `<name of anything>`, `<250 times x>`.
pub fn token_length(s: &str) -> Option<usize> {
    let rest = s.strip_prefix('<')?;
    let of_class = |c: char| c.is_ascii_alphanumeric() || "_.:#-".contains(c);
    let length_while =
        |rest: &str, is: &dyn Fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
    let after = if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let after = &rest[length_while(rest, &of_class)..];
        match after.strip_prefix(" of ") {
            Some(of) => match length_while(of, &|c| !"<>\"".contains(c)) {
                0 => after,
                n => &of[n..],
            },
            None => after,
        }
    } else {
        let digits = length_while(rest, &|c| c.is_ascii_digit());
        let after = rest[digits..].strip_prefix(" times ").filter(|_| digits > 0)?;
        let one = after.chars().next().filter(|c| *c != '\n')?;
        &after[one.len_utf8()..]
    };
    after.starts_with('>').then(|| s.len() - after.len() + 1)
}

/// Is the whole text one alias in angle brackets?
pub fn is_token(s: &str) -> bool {
    token_length(s) == Some(s.len())
}

/// Finds aliases: those in angle brackets, and bare names of sessions and members.
pub struct Finder {
    /// Longest first, so that `c10` is not taken for `c1`.
    pub bare: Vec<String>,
}

impl Finder {
    /// The aliases of a text, from left to right, as byte ranges.
    pub fn find(&self, s: &str) -> Vec<(usize, usize)> {
        let (mut found, mut at, mut before) = (Vec::new(), 0, None);
        while let Some(c) = s[at..].chars().next() {
            match self.length_at(&s[at..], before) {
                Some(length) => {
                    found.push((at, at + length));
                    before = s[at..at + length].chars().next_back();
                    at += length;
                }
                None => {
                    before = Some(c);
                    at += c.len_utf8();
                }
            }
        }
        found
    }

    /// Has the text an alias?
    pub fn any(&self, s: &str) -> bool {
        !self.find(s).is_empty()
    }

    fn length_at(&self, rest: &str, before: Option<char>) -> Option<usize> {
        if let Some(length) = token_length(rest) {
            return Some(length);
        }
        let inside = |c: char| is_word(c) || c == '#';
        if before.is_some_and(inside) {
            return None;
        }
        let whole = |name: &&String| {
            rest.strip_prefix(name.as_str()).is_some_and(|r| !r.starts_with(inside))
        };
        self.bare.iter().find(whole).map(String::len)
    }
}

/// What may stand in the place of an alias.
enum Form {
    Exactly(String),
    Digits,
    NoSpace,
    Name,
}

impl Form {
    fn of(alias: &str) -> Form {
        if is_short(alias) {
            let inner = &alias[1..alias.len() - 1];
            let (n, c) = inner.split_once(" times ").unwrap_or(("0", ""));
            // A text that repeats more often than a file can hold fits nothing anyway.
            return Form::Exactly(c.repeat(n.parse().unwrap_or(0).min(1 << 24)));
        }
        if alias == "<ms>" || alias.contains("-epoch-") {
            Form::Digits
        } else if ANY_EACH_TIME.contains(&alias) {
            Form::NoSpace
        } else {
            Form::Name
        }
    }

    fn takes(&self, c: char) -> bool {
        match self {
            Form::Exactly(_) => false,
            Form::Digits => c.is_ascii_digit(),
            Form::NoSpace => !is_space(c) && c != ',' && c != '"',
            Form::Name => !is_space(c) && !matches!(c, ',' | '"' | '/' | ':'),
        }
    }

    /// Lengths that it may take of the text, in the order of a regular expression's attempts.
    fn lengths(&self, rest: &str) -> Vec<usize> {
        if let Form::Exactly(x) = self {
            return if rest.starts_with(x.as_str()) { vec![x.len()] } else { vec![] };
        }
        let taken = rest.char_indices().take_while(|(_, c)| self.takes(*c));
        let mut lengths: Vec<usize> = taken.map(|(i, c)| i + c.len_utf8()).collect();
        lengths.reverse();
        lengths
    }
}

/// A text with aliases, as the expression that its values fulfil.
pub struct Pattern {
    /// What stands before each alias, and after the last.
    literals: Vec<String>,
    /// The aliases, from left to right.
    pub aliases: Vec<String>,
    forms: Vec<Form>,
}

impl Pattern {
    /// None where the text has no alias.
    pub fn of(s: &str, finder: &Finder) -> Option<Pattern> {
        let found = finder.find(s);
        let (mut literals, mut aliases, mut at) = (Vec::new(), Vec::new(), 0);
        for (from, to) in &found {
            literals.push(s[at..*from].to_owned());
            aliases.push(s[*from..*to].to_owned());
            at = *to;
        }
        literals.push(s[at..].to_owned());
        let forms = aliases.iter().map(|alias| Form::of(alias)).collect();
        (!found.is_empty()).then_some(Pattern { literals, aliases, forms })
    }

    /// What each alias stands for, if the whole value fits: the first way a regular expression
    /// would find, the alias itself before anything else, then as much as possible.
    pub fn values<'v>(&self, value: &'v str) -> Option<Vec<&'v str>> {
        let mut values = Vec::with_capacity(self.aliases.len());
        self.values_from(0, value, &mut values).then_some(values)
    }

    fn values_from<'v>(&self, i: usize, rest: &'v str, values: &mut Vec<&'v str>) -> bool {
        let Some(rest) = rest.strip_prefix(self.literals[i].as_str()) else { return false };
        let Some(alias) = self.aliases.get(i) else { return rest.is_empty() };
        let itself = rest.starts_with(alias.as_str()).then_some(alias.len());
        for length in itself.into_iter().chain(self.forms[i].lengths(rest)) {
            values.push(&rest[..length]);
            if self.values_from(i + 1, &rest[length..], values) {
                return true;
            }
            values.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_found() {
        let finder = Finder { bare: vec!["c10".into(), "c1".into()] };
        let find = |s: &str| {
            finder.find(s).into_iter().map(|(a, b)| s[a..b].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(find("/ids/c1 c10, c1#2 xc1"), ["c1", "c10"]);
        assert_eq!(
            find("<topic-id of t>-<broker-1-epoch-2> <9> <a b>"),
            ["<topic-id of t>", "<broker-1-epoch-2>"]
        );
        assert_eq!(find("<250 times x>"), ["<250 times x>"]);
    }

    #[test]
    fn values_of_aliases() {
        let finder = Finder { bare: vec![] };
        let values = |s: &str, value: &str| {
            let pattern = Pattern::of(s, &finder)?;
            Some(pattern.values(value)?.into_iter().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(values("<c-1>-<c-2>", "a-b-c"), Some(vec!["a-b".into(), "c".into()]));
        assert_eq!(values("/<dir-1>/x", "/a/b/x"), None);
        assert_eq!(values("<3 times x>", "xxx"), Some(vec!["xxx".into()]));
        assert_eq!(values("plain", "plain"), None);
    }
}
