//! `tessera serve --explain`: prints `docs/choices.md` and `docs/compatibility.md` as text for a terminal. These pages
//! are the only source, so that the printed text cannot differ from the documentation.

use std::fmt::Write as _;

const PAGES: [&str; 2] =
    [include_str!("../../../docs/choices.md"), include_str!("../../../docs/compatibility.md")];

/// The maximum number of characters in a line of the text.
const LINE_WIDTH: usize = 100;
/// The indentation of a row's cells, which are below the row's subject.
const CELL_INDENT: &str = "      ";

/// Returns both pages as text.
pub(super) fn explanation_text() -> String {
    PAGES.map(page_text).join("\n")
}

/// Converts a page to text. Headings become capitals, and paragraphs become wrapped lines. A row of a table becomes a
/// line with its subject, followed by indented lines with the other cells.
fn page_text(markdown: &str) -> String {
    let mut text = String::new();
    for block in markdown.split("\n\n") {
        let lines: Vec<&str> = block.lines().collect();
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(title) = block.trim_start_matches('#').strip_prefix(' ') {
            push_wrapped(&mut text, "", &plain(title).to_uppercase());
        } else if let [header, _separator, rows @ ..] = lines.as_slice()
            && header.starts_with('|')
        {
            push_table(&mut text, header, rows);
        } else {
            push_wrapped(&mut text, "", &plain(&lines.join(" ")));
        }
    }
    text
}

fn push_table(text: &mut String, header: &str, rows: &[&str]) {
    for (number, row) in rows.iter().enumerate() {
        let separator = if number == 0 { "" } else { "\n" };
        let mut columns = cells(header).zip(cells(row));
        let subject = columns.next().map(|(_, cell)| plain(cell)).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{separator}  {subject}");
        for (column, cell) in columns {
            push_wrapped(text, CELL_INDENT, &format!("{column}: {}", plain(cell)));
        }
    }
}

/// Returns the cells of a row of a table.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim_matches('|').split(" | ").map(str::trim)
}

/// Returns Markdown without the marks of code and without the targets of links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let (before, label) = before.rsplit_once('[').unwrap_or(("", before));
        text.push_str(before);
        text.push_str(label);
        rest = after.split_once(')').map_or("", |(_target, after)| after);
    }
    text.push_str(rest);
    text.replace('`', "")
}

fn push_wrapped(text: &mut String, indent: &str, paragraph: &str) {
    let mut line = indent.to_owned();
    for word in paragraph.split_whitespace() {
        let is_empty = line.len() == indent.len();
        if !is_empty && line.len() + 1 + word.len() > LINE_WIDTH {
            let _ = writeln!(text, "{line}");
            indent.clone_into(&mut line);
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}
