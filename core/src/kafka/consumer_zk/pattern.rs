//! Patterns of topics: as much of a regular expression as names of topics need. A whole name
//! matches or not; steps grow with the name, not with the ways to match it.
//! [spec consumer-zk.md R3]

use std::collections::BTreeSet;

/// How deep groups may stand in each other.
const DEEPEST: u32 = 8;
/// How often something may be repeated by number.
const MOST: u32 = 1000;

/// Why a text is no pattern, and at which character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPattern {
    pub at: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    One(Class),
    /// `^` and `$`.
    Start,
    End,
    All(Vec<Node>),
    Any(Vec<Node>),
    /// At least, at most.
    Repeat(Box<Node>, u32, Option<u32>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Class {
    not: bool,
    ranges: Vec<(char, char)>,
}

impl Class {
    fn only(ranges: &[(char, char)]) -> Class {
        Class { not: false, ranges: ranges.to_vec() }
    }

    fn has(&self, c: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != self.not
    }
}

/// A pattern and the text it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    node: Node,
}

impl Pattern {
    /// A filter of the 0.8 consumer: a comma means "or", blanks and quotes around it don't count.
    /// [spec consumer-zk.md R3]
    pub fn filter(text: &str) -> Result<Pattern, NoPattern> {
        let text = text.trim().replace(',', "|").replace(' ', "");
        Pattern::new(text.trim_matches(['"', '\'']))
    }

    pub fn new(text: &str) -> Result<Pattern, NoPattern> {
        let mut parser = Parser { chars: text.chars().collect(), at: 0, depth: 0 };
        let node = parser.any()?;
        match parser.peek() {
            None => Ok(Pattern { text: text.to_owned(), node }),
            Some(_) => Err(parser.wrong()),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the whole name fits.
    pub fn is_match(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        ends(&self.node, &chars, &BTreeSet::from([0])).contains(&chars.len())
    }
}

/// Where a node may end, begun at any of these places.
fn ends(node: &Node, name: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    match node {
        Node::One(class) => {
            let fits = |at: &&usize| name.get(**at).is_some_and(|c| class.has(*c));
            starts.iter().filter(fits).map(|at| at + 1).collect()
        }
        Node::Start => starts.iter().copied().filter(|at| *at == 0).collect(),
        Node::End => starts.iter().copied().filter(|at| *at == name.len()).collect(),
        Node::All(nodes) => {
            nodes.iter().fold(starts.clone(), |starts, node| ends(node, name, &starts))
        }
        Node::Any(nodes) => nodes.iter().flat_map(|node| ends(node, name, starts)).collect(),
        Node::Repeat(node, least, most) => {
            let mut now = starts.clone();
            for _ in 0..*least {
                let next = ends(node, name, &now);
                // Once more changes nothing, and so does no number of times.
                if next == now {
                    break;
                }
                now = next;
            }
            let (mut all, mut left) = (now.clone(), most.map(|most| most.saturating_sub(*least)));
            while !now.is_empty() && left != Some(0) {
                now = ends(node, name, &now).difference(&all).copied().collect();
                all.extend(now.iter().copied());
                left = left.map(|left| left - 1);
            }
            all
        }
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: u32,
}

impl Parser {
    fn wrong(&self) -> NoPattern {
        NoPattern { at: self.at as u32 }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Result<char, NoPattern> {
        let c = self.peek().ok_or(self.wrong())?;
        self.at += 1;
        Ok(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Node, NoPattern> {
        let mut nodes = vec![self.all()?];
        while self.eat('|') {
            nodes.push(self.all()?);
        }
        Ok(Node::Any(nodes))
    }

    fn all(&mut self) -> Result<Node, NoPattern> {
        let mut nodes = Vec::new();
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            let node = self.one()?;
            nodes.push(self.repeated(node)?);
        }
        Ok(Node::All(nodes))
    }

    fn one(&mut self) -> Result<Node, NoPattern> {
        Ok(match self.next()? {
            '.' => Node::One(Class { not: true, ranges: vec![('\n', '\n'), ('\r', '\r')] }),
            '^' => Node::Start,
            '$' => Node::End,
            '[' => Node::One(self.class()?),
            '\\' => Node::One(self.escape()?),
            '(' => {
                self.depth += 1;
                if self.depth > DEEPEST || self.eat('?') && !self.eat(':') {
                    return Err(self.wrong());
                }
                let inside = self.any()?;
                if !self.eat(')') {
                    return Err(self.wrong());
                }
                self.depth -= 1;
                inside
            }
            '*' | '+' | '?' => return Err(self.wrong()),
            c => Node::One(Class::only(&[(c, c)])),
        })
    }

    fn repeated(&mut self, node: Node) -> Result<Node, NoPattern> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(node),
            _ => return Ok(node),
        };
        self.at += 1;
        self.greed();
        Ok(Node::Repeat(Box::new(node), least, most))
    }

    /// Whether as few or as many as can be are taken changes no answer about a whole name.
    fn greed(&mut self) {
        if !self.eat('?') {
            self.eat('+');
        }
    }

    fn counted(&mut self, node: Node) -> Result<Node, NoPattern> {
        self.at += 1;
        let least = self.number()?.ok_or(self.wrong())?;
        let most = if self.eat(',') { self.number()? } else { Some(least) };
        if !self.eat('}') || most.is_some_and(|most| most < least) {
            return Err(self.wrong());
        }
        self.greed();
        Ok(Node::Repeat(Box::new(node), least, most))
    }

    fn number(&mut self) -> Result<Option<u32>, NoPattern> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let next = number.unwrap_or(0) * 10 + digit;
            if next > MOST {
                return Err(self.wrong());
            }
            number = Some(next);
            self.at += 1;
        }
        Ok(number)
    }

    fn class(&mut self) -> Result<Class, NoPattern> {
        let mut class = Class { not: self.eat('^'), ranges: Vec::new() };
        loop {
            let from = match self.next()? {
                ']' if !class.ranges.is_empty() => return Ok(class),
                '\\' => {
                    let escaped = self.escape()?;
                    match (&*escaped.ranges, escaped.not) {
                        ([(from, to)], false) if from == to => *from,
                        (ranges, false) => {
                            class.ranges.extend_from_slice(ranges);
                            continue;
                        }
                        _ => return Err(self.wrong()),
                    }
                }
                c => c,
            };
            let is_range = self.peek() == Some('-')
                && self.chars.get(self.at + 1).is_some_and(|next| *next != ']');
            let to = if is_range {
                self.at += 1;
                match self.next()? {
                    '\\' => self.next()?,
                    c => c,
                }
            } else {
                from
            };
            if to < from {
                return Err(self.wrong());
            }
            class.ranges.push((from, to));
        }
    }

    fn escape(&mut self) -> Result<Class, NoPattern> {
        const WORD: [(char, char); 4] = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
        const BLANK: [(char, char); 2] = [('\t', '\r'), (' ', ' ')];
        let mut class = match self.next()? {
            'd' | 'D' => Class::only(&[('0', '9')]),
            'w' | 'W' => Class::only(&WORD),
            's' | 'S' => Class::only(&BLANK),
            c if c.is_ascii_alphanumeric() => return Err(self.wrong()),
            c => Class::only(&[(c, c)]),
        };
        let letter = self.chars.get(self.at - 1);
        class.not = letter.is_some_and(char::is_ascii_uppercase);
        Ok(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::filter(pattern).unwrap().is_match(name)
    }

    #[test]
    fn whole_names_match() {
        assert!(fits("t.*", "t1") && !fits("t.*", "xt"));
        assert!(fits("t1,x", "x") && !fits("t1,x", "t1x"));
        assert!(fits("(t|u)1", "u1") && fits("t[0-9]", "t3") && !fits("t[^0-9]", "t3"));
        assert!(fits("a{2}", "aa") && !fits("a{2}", "aaa"));
        // In a filter the comma would mean "or".
        let [few, many] = ["a{2,3}", "a{2,}"].map(|text| Pattern::new(text).unwrap());
        assert!(few.is_match("aa") && !few.is_match("aaaa") && many.is_match("aaaaa"));
        assert!(fits(r"\w+-\d\.x?", "ab_-3.") && !fits(r"\D", "3"));
        assert!(fits("^(?:ab)+?$", "abab") && fits(" 'a' ", "a") && fits("", ""));
        assert!(fits("[]-]", "-") && fits("[a-c-]+", "a-c"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["(", ")", "[a", "*", "a{", "a{3,2}", "[b-a]", "\\", "(?=a)", "a{9999}"] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
        assert!(Pattern::new(&"(".repeat(100_000)).is_err());
        assert!(!fits("(a*)*b", &"a".repeat(2000)));
    }
}
