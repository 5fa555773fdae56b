//! `tessera export inspect`: what is in an archive, and whether its rows and pictures belong together.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::{Value, json};

use super::report::names_json;
use crate::cli::{CliError, Column, Context, Document, Exit};
use tessera_model::{Failure, Inspection, SafeText, inspection::NameSample};

const INSPECTION_COLUMNS: &[Column] = &[
    Column::new("archive", "file"),
    Column::new("bytes", "bytes"),
    Column::new("metadata", "metadata"),
    Column::new("rows", "rows"),
    Column::new("columns", "columns"),
    Column::new("images", "images"),
    Column::new("rows without a file", "rows_without_file.count"),
    Column::new("files without a row", "files_without_row.count"),
    Column::new("refused names", "refused.count"),
    Column::new("uniqueness in tenths", "uniqueness"),
    Column::new("rows without a score", "unscored"),
];

/// Looks into an archive.
///
/// # Errors
/// It is no archive of an export.
pub(super) async fn inspect(context: &Context, file: PathBuf) -> Result<Exit, CliError> {
    let inside = inspect_archive(file).await?;
    context.print(&Document::one(
        "tessera.inspection/1",
        inspection_document(&inside),
        INSPECTION_COLUMNS,
    ))?;
    let wrong = archive_problems(&inside, None);
    for words in &wrong {
        context.messages.warn(words);
    }
    Ok(if wrong.is_empty() { Exit::Done } else { Exit::Partly })
}

/// Reads the archive on a thread of its own.
///
/// # Errors
/// As [`inspect_archive`](tessera_client::inspect_archive).
pub(super) async fn inspect_archive(file: PathBuf) -> Result<Inspection, Failure> {
    tokio::task::spawn_blocking(move || tessera_client::inspect_archive(&file))
        .await
        .unwrap_or_else(|_| Err(Failure::internal_error()))
}

fn inspection_document(inside: &Inspection) -> Value {
    let named =
        |named: &NameSample| json!({ "count": named.count, "first": names_json(&named.first) });
    json!({
        "file": inside.path.to_string_lossy(),
        "bytes": inside.bytes,
        "metadata": inside.metadata_file.as_str(),
        "rows": inside.rows,
        "columns": names_json(&inside.columns),
        "uniqueness": inside.uniqueness,
        "unscored": inside.unscored,
        "images": inside.images,
        "rows_without_file": named(&inside.rows_without_file),
        "files_without_row": named(&inside.files_without_row),
        "refused": named(&inside.unsafe_entries),
    })
}

/// What is wrong with an archive, a sentence each. `with_images` tells whether pictures were
/// asked for; where that is not known, an archive without any is whole.
pub(super) fn archive_problems(inside: &Inspection, with_images: Option<bool>) -> Vec<String> {
    let images = with_images.unwrap_or(inside.images > 0);
    [
        ("rows have no file in the archive", &inside.rows_without_file, images),
        ("files have no row in the metadata", &inside.files_without_row, true),
        ("entries have names that lead out of the archive", &inside.unsafe_entries, true),
    ]
    .into_iter()
    .filter(|(_, named, counts)| *counts && named.count > 0)
    .map(|(words, named, _)| describe_named(words, named))
    .collect()
}

/// How many, and the names of some.
pub(super) fn describe_named(words: &str, named: &NameSample) -> String {
    const SHOWN: usize = 5;
    let first: Vec<&str> = named.first.iter().take(SHOWN).map(SafeText::as_str).collect();
    let mut text = format!("{} {words}: {}", named.count, first.join(", "));
    let more = named.count.saturating_sub(first.len() as u64);
    if more > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, " and {more} more");
    }
    text
}
