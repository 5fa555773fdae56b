//! The tables, and how they are written as text and as Markdown.

use std::fmt::Write as _;

use super::{
    choices::{CHOICES, TEXT_SEARCH},
    compatibility::{DIFFERENCES, OPERATIONS},
    limits::LIMITS,
};
use crate::http::{HARMLESS_PARAMETERS, OPENAPI_PATH};

/// Characters of a line of the text.
const LINE_WIDTH: usize = 100;

/// A table of the explanation.
pub struct ExplanationTable {
    /// Identifies it in the documentation.
    pub name: &'static str,
    title: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<&'static str>>,
}

impl ExplanationTable {
    fn new<const COLUMNS: usize>(
        name: &'static str,
        title: &'static str,
        columns: &'static [&'static str; COLUMNS],
        rows: &[[&'static str; COLUMNS]],
    ) -> Self {
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        Self { name, title, columns, rows }
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
        let separator = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows = self.rows.iter().map(|row| line(row));
        line(self.columns) + &separator + &rows.collect::<String>()
    }

    /// Each row as a line with its subject, and indented lines with the other columns.
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.title.to_uppercase());
        for row in &self.rows {
            let mut columns = self.columns.iter().zip(row);
            let subject = columns.next().map(|(_, cell)| plain(cell)).unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n  {subject}");
            for (column, cell) in columns {
                push_wrapped(&mut text, &format!("{column}: {}", plain(cell)));
            }
        }
        text
    }
}

/// Returns all tables, in the order of `--explain`.
pub fn explanation_tables() -> Vec<ExplanationTable> {
    let choice = &["Subject", "Choice", "Reason"];
    let harmless: Vec<[&'static str; 2]> =
        HARMLESS_PARAMETERS.iter().map(|&(name, reason)| [name, reason]).collect();
    vec![
        ExplanationTable::new(
            "choices",
            "Choices where the interface document is silent",
            choice,
            CHOICES,
        ),
        ExplanationTable::new("text search", "Searching by text", choice, TEXT_SEARCH),
        ExplanationTable::new("limits", "Limits", &["Subject", "Limit", "Reason"], LIMITS),
        ExplanationTable::new(
            "differences",
            "With --compat, what differs",
            &["Subject", "Without --compat", "With --compat", "Reason"],
            DIFFERENCES,
        ),
        ExplanationTable::new(
            "operations",
            "With --compat, further operations; 404 otherwise",
            &["Operation", "Response", "Reason"],
            OPERATIONS,
        ),
        ExplanationTable::new(
            "harmless parameters",
            "With --compat, parameters that are accepted without effect; 422 otherwise",
            &["Parameter", "Reason"],
            &harmless,
        ),
    ]
}

/// Returns the text of `tessera serve --explain`.
pub fn serve_explanation() -> String {
    let tables: Vec<String> = explanation_tables().iter().map(ExplanationTable::text).collect();
    format!("{}\nThe OpenAPI description: GET {OPENAPI_PATH} (no login).\n", tables.join("\n"))
}

/// A cell without the marks of code.
fn plain(cell: &str) -> String {
    cell.replace('`', "")
}

fn push_wrapped(text: &mut String, paragraph: &str) {
    const INDENT: &str = "      ";
    let mut line = String::new();
    for word in paragraph.split(' ') {
        if !line.is_empty() && INDENT.len() + line.len() + 1 + word.len() > LINE_WIDTH {
            let _ = writeln!(text, "{INDENT}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{INDENT}{line}");
}
