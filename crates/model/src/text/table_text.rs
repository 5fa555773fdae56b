//! Texts in tables such as CSV: cells that a spreadsheet would calculate, and the delimiter of the columns.

use std::{borrow::Cow, cmp::Reverse};

/// Whether a cell of a table needs an apostrophe in front of it, because a spreadsheet would calculate it. A name from
/// outside could be a formula that sends data elsewhere. A cell that looks like one with its apostrophe needs another
/// one, so that readers can remove exactly one.
pub fn needs_apostrophe(cell: &str) -> bool {
    let text = cell.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err()
}

/// Returns a cell of a table, with an apostrophe if it needs one.
pub fn with_apostrophe(cell: &str) -> Cow<'_, str> {
    if needs_apostrophe(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// Returns a cell without the apostrophe that [`with_apostrophe`] has added.
pub fn without_apostrophe(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| needs_apostrophe(text)).unwrap_or(cell)
}

/// Returns the characters that may separate the columns of a table, the most likely one first: the one that the first
/// line states (`sep=;`), or else those that the first line has most often.
pub fn table_delimiters(table: &str) -> Vec<u8> {
    if let Some(stated) = table.strip_prefix("sep=").and_then(|rest| rest.bytes().next()) {
        return vec![stated];
    }
    let header = table.lines().next().unwrap_or_default();
    let mut delimiters = b",;\t|".to_vec();
    let count = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
    delimiters.sort_by_key(|delimiter| Reverse(count(delimiter)));
    delimiters
}
