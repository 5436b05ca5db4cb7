//! Values, bold and code in texts.

use std::fmt::Display;
use std::fmt::Write as _;

use yew::prelude::*;

type Values<'a> = &'a [(&'a str, &'a dyn Display)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Bold,
    Code,
}

pub fn rich(template: &str, values: Values<'_>) -> Html {
    let mut parts: Vec<Html> = Vec::new();
    pieces(template, &mut |style, piece| {
        let text = AttrValue::from(fill(piece, values));
        parts.push(match style {
            Style::Plain => html! { {text} },
            Style::Bold => html! { <b>{text}</b> },
            Style::Code => html! { <code>{text}</code> },
        });
    });
    parts.into_iter().collect()
}

pub fn plain(template: &str, values: Values<'_>) -> String {
    let mut out = String::new();
    pieces(template, &mut |_, piece| out.push_str(&fill(piece, values)));
    out
}

fn pieces(template: &str, each: &mut dyn FnMut(Style, &str)) {
    let mut rest = template;
    let mut style = Style::Plain;
    while !rest.is_empty() {
        let bold = rest.find("**").map(|at| (at, Style::Bold, 2));
        let code = rest.find('`').map(|at| (at, Style::Code, 1));
        let mark = match style {
            Style::Plain => match (bold, code) {
                (Some(a), Some(b)) => Some(if a.0 < b.0 { a } else { b }),
                (a, b) => a.or(b),
            },
            Style::Bold => bold,
            Style::Code => code,
        };
        let Some((at, marked, length)) = mark else {
            each(style, rest);
            return;
        };
        if at > 0 {
            each(style, &rest[..at]);
        }
        style = if style == marked { Style::Plain } else { marked };
        rest = &rest[at + length..];
    }
}

fn fill(piece: &str, values: Values<'_>) -> String {
    let mut out = String::with_capacity(piece.len());
    let mut rest = piece;
    while let Some(at) = rest.find("%{") {
        out.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else {
            rest = &rest[at..];
            break;
        };
        let name = &rest[at + 2..at + end];
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            let _ = write!(out, "{value}");
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn values_are_not_read_as_marks() {
        let path = "/a**b`c";
        assert_eq!(
            plain("**%{who}** made `%{path}`.", &[("who", &1), ("path", &path)]),
            "1 made /a**b`c."
        );
    }

    #[test]
    fn unknown_values_and_open_marks_do_no_harm() {
        assert_eq!(plain("a %{x} **b", &[]), "a  b");
        assert_eq!(plain("a %{x", &[]), "a %{x");
    }
}
