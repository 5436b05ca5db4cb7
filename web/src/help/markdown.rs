//! The little markdown of `docs/fidelity.md`: headings, paragraphs, lists and tables.

use yew::prelude::*;

use crate::i18n::rich;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    Title(&'a str),
    Heading(&'a str),
    Paragraph(&'a str),
    List(Vec<&'a str>),
    /// The first row is the head.
    Table(Vec<Vec<&'a str>>),
}

pub fn parse(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            blocks.push(Block::Title(title));
        } else if let Some(heading) = line.strip_prefix("## ") {
            blocks.push(Block::Heading(heading));
        } else if let Some(item) = line.strip_prefix("- ") {
            match blocks.last_mut() {
                Some(Block::List(items)) => items.push(item),
                _ => blocks.push(Block::List(vec![item])),
            }
        } else if let Some(cells) = line.strip_prefix('|') {
            let cells: Vec<&str> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
            let is_rule = cells.iter().all(|cell| cell.chars().all(|c| c == '-' || c == ':'));
            match blocks.last_mut() {
                Some(Block::Table(_)) if is_rule => {}
                // A table of its own begins where the number of columns changes.
                Some(Block::Table(rows)) if rows[0].len() == cells.len() => rows.push(cells),
                _ => blocks.push(Block::Table(vec![cells])),
            }
        } else {
            blocks.push(Block::Paragraph(line));
        }
    }
    blocks
}

pub fn html(blocks: &[Block<'_>]) -> Html {
    blocks.iter().map(block).collect()
}

fn block(block: &Block<'_>) -> Html {
    match block {
        Block::Title(text) => html! { <h3 class="doc-title">{rich(text, &[])}</h3> },
        Block::Heading(text) => html! { <h3>{rich(text, &[])}</h3> },
        Block::Paragraph(text) => html! { <p>{rich(text, &[])}</p> },
        Block::List(items) => html! {
            <ul>{for items.iter().map(|item| html! { <li>{rich(item, &[])}</li> })}</ul>
        },
        Block::Table(rows) => html! {
            <table>
                {for rows.iter().enumerate().map(|(number, cells)| html! {
                    <tr>{for cells.iter().map(|cell| match number {
                        0 => html! { <th scope="col">{rich(cell, &[])}</th> },
                        _ => html! { <td>{rich(cell, &[])}</td> },
                    })}</tr>
                })}
            </table>
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_blocks_are_read() {
        let text = "# T\nwords\n\n## H\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            parse(text),
            [
                Block::Title("T"),
                Block::Paragraph("words"),
                Block::Heading("H"),
                Block::List(vec!["a", "b"]),
                Block::Table(vec![vec!["x", "y"], vec!["1", "2"]]),
            ]
        );
    }

    /// Both languages of the document have the same shape.
    #[test]
    fn both_languages_say_as_much() {
        let shape = |text| -> Vec<(u8, usize)> {
            parse(text)
                .iter()
                .map(|block| match block {
                    Block::Title(_) => (0, 1),
                    Block::Heading(_) => (1, 1),
                    Block::Paragraph(_) => (2, 1),
                    Block::List(items) => (3, items.len()),
                    Block::Table(rows) => (4, rows.len()),
                })
                .collect()
        };
        assert_eq!(shape(super::super::FIDELITY_EN), shape(super::super::FIDELITY_ZH));
    }
}
