//! Tables: aligned for a terminal, delimited for a pipe. Cells contain no control characters.

use std::{env, fmt::Write as _};

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::{Column, Document};
use tessera_model::{SafeText, text::truncate};

/// Columns of an unknown terminal.
const DEFAULT_WIDTH: usize = 80;
const COLUMN_GAP: usize = 2;
const MIN_COLUMN_WIDTH: usize = 8;

pub(super) fn terminal_width() -> usize {
    let from_environment = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = || rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    from_environment
        .or_else(|| size().map(|size| usize::from(size.ws_col)))
        .filter(|cells| *cells > 0)
        .unwrap_or(DEFAULT_WIDTH)
}

/// Aligned columns with a header; a single object has one line per column.
pub(super) fn aligned_table(document: &Document, color: bool, width: Option<usize>) -> String {
    let columns = document.columns();
    if !document.is_list() {
        let widest = columns.iter().map(|column| column.title.width()).max().unwrap_or(0);
        let mut text = String::new();
        for column in columns {
            let title = bold(&format!("{:widest$}", column.title), color);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{title}  {}", display_cell(column.value(document.root())));
        }
        return text;
    }
    let rows: Vec<Vec<String>> = document
        .rows()
        .map(|row| columns.iter().map(|column| display_cell(column.value(row))).collect())
        .collect();
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let mut widths: Vec<usize> = titles.iter().map(|title| title.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let ids: Vec<bool> = columns.iter().map(Column::is_id).collect();
    shrink_to_width(&mut widths, &ids, width);
    let mut text = bold(&aligned_line(&titles, &widths), color) + "\n";
    for row in &rows {
        text += &aligned_line(row, &widths);
        text.push('\n');
    }
    text
}

/// Narrows the widest columns first; columns of IDs last.
fn shrink_to_width(widths: &mut [usize], ids: &[bool], width: Option<usize>) {
    let Some(width) = width else { return };
    let gaps = COLUMN_GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let wide = widths.iter_mut().zip(ids).filter(|(width, _)| **width > MIN_COLUMN_WIDTH);
        match wide.max_by_key(|(width, is_id)| (!**is_id, **width)) {
            Some((widest, _)) => *widest -= 1,
            None => return,
        }
    }
}

fn aligned_line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = truncate(cell, *width);
        text += &cell;
        if index + 1 < cells.len() {
            text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + COLUMN_GAP));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn bold(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// One row per line; a single object has one line per column.
pub(super) fn tab_separated(document: &Document) -> String {
    let columns = document.columns();
    let mut text = String::new();
    for row in document.rows() {
        let cells: Vec<String> =
            columns.iter().map(|column| cell_text(column.value(row))).collect();
        if document.is_list() {
            text += &cells.join("\t");
            text.push('\n');
            continue;
        }
        for (column, cell) in columns.iter().zip(cells) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}\t{cell}", column.title);
        }
    }
    text
}

/// Comma-separated values with a header (RFC 4180).
pub(super) fn csv(document: &Document) -> String {
    let columns = document.columns();
    let quoted = |cell: &str| {
        if cell.contains(['"', ',', '\n', '\r'])
            || cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err()
        {
            return format!("\"{}\"", cell.replace('"', "\"\""));
        }
        cell.to_owned()
    };
    let mut text = columns.iter().map(|column| column.field).collect::<Vec<_>>().join(",") + "\n";
    for row in document.rows() {
        let cells: Vec<String> =
            columns.iter().map(|column| quoted(&cell_text(column.value(row)))).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// A value for display: null is a dash, fractions are rounded.
fn display_cell(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or_default())
        }
        other => cell_text(other),
    }
}

fn cell_text(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values)
            if values.iter().all(|value| !value.is_object() && !value.is_array()) =>
        {
            values.iter().map(cell_text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    SafeText::caption(&text).as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::output::Column;

    const COLUMNS: &[Column] = &[
        Column::new("NAME", "name"),
        Column::new("IMAGES", "n"),
        Column::new("SCORE", "score.mean"),
    ];

    fn list() -> Document {
        let rows = json!({ "rows": [
            { "name": "a\tb\u{1b}[2J", "n": 12, "score": { "mean": 0.123_456 } },
            { "name": "x, \"y\"", "n": null, "tags": ["p", "q"] },
        ] });
        Document::list("tessera.test/1", rows, "rows", COLUMNS)
    }

    #[test]
    fn a_table_is_aligned_and_narrowed_to_the_terminal() {
        let table = aligned_table(&list(), false, Some(80));
        assert_eq!(table, "NAME     IMAGES  SCORE\na␉b␛[2J  12      0.123\nx, \"y\"   —       —\n");
        let narrow = aligned_table(&list(), false, Some(12));
        assert!(narrow.lines().all(|line| line.width() <= 30), "{narrow}");
        assert!(aligned_table(&list(), true, None).starts_with("\u{1b}[1mNAME"));
    }

    #[test]
    fn rows_in_a_pipe_have_as_many_cells_as_columns() {
        let rows = tab_separated(&list());
        assert!(rows.lines().all(|line| line.split('\t').count() == 3), "{rows:?}");
        assert!(!rows.contains('\u{1b}') && rows.contains("0.123456"));
        let csv = csv(&list());
        assert_eq!(csv.lines().next(), Some("name,n,score.mean"));
        assert!(csv.contains("\"x, \"\"y\"\"\",,"), "{csv}");
        let one = Document::one("tessera.test/1", json!({ "name": "a" }), &COLUMNS[..1]);
        assert_eq!(tab_separated(&one), "NAME\ta\n");
        assert_eq!(one.root()["schema"], "tessera.test/1");
    }
}
