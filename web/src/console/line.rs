//! Lines as zkCli reads them: writing them for the page's buttons, and completing them.

use kafkascope_core::zk::path;
use kafkascope_core::zk::shell;
use kafkascope_core::zk::tree::Tree;

/// Names that a completion lists.
const LISTED: usize = 60;

/// A word of a line, in quotes where it needs some; `None` if zkCli has no way to write it.
pub fn word(text: &str) -> Option<String> {
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\0');
    if text.contains(breaks) {
        return None;
    }
    let space = |c: char| matches!(c, ' ' | '\t' | '\u{b}' | '\u{c}');
    let quoted = text.is_empty() || text.contains(space) || text.starts_with(['"', '\'']);
    if !quoted {
        return Some(text.to_owned());
    }
    let quote = ['\'', '"'].into_iter().find(|quote| !text.contains(*quote))?;
    Some(format!("{quote}{text}{quote}"))
}

/// What the tab key makes of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The line with all that is certain.
    pub line: String,
    /// What could follow, if it is more than one thing.
    pub choices: Vec<String>,
    /// Choices that are not listed.
    pub more: usize,
}

/// Completes the command, or the path that the line ends with. `None`: nothing to complete.
pub fn complete(line: &str, tree: &Tree) -> Option<Completion> {
    let begun = line.trim_start();
    if begun.is_empty() {
        return None;
    }
    if !begun.contains(' ') {
        let names = shell::complete(begun).into_iter().map(str::to_owned).collect();
        return choose("", begun, names, " ");
    }
    let start = line.rfind(' ').map_or(0, |at| at + 1);
    let (head, word) = line.split_at(start);
    if !word.starts_with('/') {
        return None;
    }
    let cut = word.rfind('/').map_or(0, |at| at + 1);
    let (folder, name) = word.split_at(cut);
    let at = if folder == "/" { "/" } else { folder.trim_end_matches('/') };
    let node = tree.get(at)?;
    let mut names: Vec<String> = node
        .children()
        .filter(|(child, _)| child.starts_with(name))
        .map(|(child, _)| child.to_string())
        .collect();
    names.sort_by(|a, b| crate::znodes::by_number(a, b));
    let only = match names.as_slice() {
        [only] => tree.get(&path::join(at, only)).is_some_and(|node| node.child_count() > 0),
        _ => false,
    };
    choose(&format!("{head}{folder}"), name, names, if only { "/" } else { "" })
}

fn choose(head: &str, begun: &str, mut names: Vec<String>, end: &str) -> Option<Completion> {
    let common = common_start(&names)?;
    if let [only] = names.as_slice() {
        let line = format!("{head}{only}{end}");
        // Nothing is added: the key is free for what it does elsewhere.
        let done = only == begun && end.is_empty();
        return (!done).then_some(Completion { line, ..Completion::default() });
    }
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    Some(Completion { line: format!("{head}{common}"), choices: names, more })
}

fn common_start(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let mut common = first.as_str();
    for other in others {
        let same = common.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
        common = &common[..same.map(|((at, c), _)| at + c.len_utf8()).last().unwrap_or(0)];
    }
    Some(common.to_owned())
}

/// How the command that is being typed is used: `get [-s] [-w] path`.
pub fn usage(line: &str) -> Option<String> {
    let name = line.split_whitespace().next()?;
    let known = shell::COMMANDS.iter().find(|command| command.name == name)?;
    Some(format!("{} {}", known.name, known.usage).trim_end().to_owned())
}

/// The lines of a pasted text, without those that hold nothing.
pub fn pasted(text: &str) -> Vec<&str> {
    text.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// Control characters as pictures, so that they are seen and do nothing.
pub fn visible(text: &str) -> String {
    let picture = |c: char| match u32::from(c) {
        0x9 => c,
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        0x80..=0x9f | 0x200e..=0x200f | 0x202a..=0x202e | 0x2066..=0x2069 => '\u{fffd}',
        _ => c,
    };
    text.chars().map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafkascope_core::base::Instant;
    use kafkascope_core::lab::Lab;

    fn lab() -> Lab {
        let text = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1..12\n";
        let script = kafkascope_core::script::parse(text).expect("a script");
        let mut lab = Lab::new(kafkascope_core::script::run_of(&script));
        lab.seek(Instant(2_000_000));
        lab
    }

    #[test]
    fn words_are_quoted_where_they_must_be() {
        assert_eq!(word("{\"a\":1}").as_deref(), Some("{\"a\":1}"));
        assert_eq!(word("{\"a\": 1}").as_deref(), Some("'{\"a\": 1}'"));
        assert_eq!(word("").as_deref(), Some("''"));
        assert_eq!(word("it's \"both\""), None);
        assert_eq!(word("two\nlines"), None);
        for text in ["plain", "two words", "\"quoted\"", "汉字 和 空格"] {
            let line = format!("set /a {}", word(text).expect("a word"));
            assert_eq!(shell::check(&line), Ok(()), "{line}");
        }
    }

    #[test]
    fn commands_and_paths_are_completed() {
        let lab = lab();
        let tree = lab.world().server.tree();
        let line = |text: &str| complete(text, tree).map(|found| found.line);
        assert_eq!(line("his").as_deref(), Some("history "));
        assert_eq!(line("get /contr").as_deref(), Some("get /controller"));
        assert_eq!(line("ls /brokers/i").as_deref(), Some("ls /brokers/ids/"));
        assert_eq!(line("ls /nothing/"), None);
        assert_eq!(line(""), None);
        let found = complete("get /brokers/ids/1", tree).expect("several");
        assert_eq!(found.choices, ["1", "10", "11", "12"]);
        assert_eq!(found.line, "get /brokers/ids/1");
    }

    #[test]
    fn control_characters_are_seen() {
        assert_eq!(visible("a\u{0}b\u{1b}c"), "a␀b␛c");
        assert_eq!(visible("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(visible("汉 🎉"), "汉 🎉");
    }

    #[test]
    fn a_pasted_text_is_cut_into_lines() {
        assert_eq!(pasted("ls /\r\n\nget /a  \n"), ["ls /", "get /a"]);
    }
}
