//! `tessera export inspect`: shows what an archive contains, and whether its rows and images match.

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

pub(super) async fn inspect(context: &Context, file: PathBuf) -> Result<Exit, CliError> {
    let inspection = inspect_archive(file).await?;
    context.print(&Document::one(
        "tessera.inspection/1",
        inspection_document(&inspection),
        INSPECTION_COLUMNS,
    ))?;
    let wrong = archive_problems(&inspection, None);
    for words in &wrong {
        context.messages.warn(words);
    }
    Ok(if wrong.is_empty() { Exit::Done } else { Exit::Partly })
}

pub(super) async fn inspect_archive(file: PathBuf) -> Result<Inspection, Failure> {
    tokio::task::spawn_blocking(move || tessera_client::inspect_archive(&file))
        .await
        .unwrap_or_else(|_| Err(Failure::internal_error()))
}

fn inspection_document(inspection: &Inspection) -> Value {
    let named =
        |named: &NameSample| json!({ "count": named.count, "first": names_json(&named.first) });
    json!({
        "file": inspection.path.to_string_lossy(),
        "bytes": inspection.bytes,
        "metadata": inspection.metadata_file.as_str(),
        "rows": inspection.rows,
        "columns": names_json(&inspection.columns),
        "uniqueness": inspection.uniqueness,
        "unscored": inspection.unscored,
        "images": inspection.images,
        "rows_without_file": named(&inspection.rows_without_file),
        "files_without_row": named(&inspection.files_without_row),
        "refused": named(&inspection.unsafe_entries),
    })
}

/// The problems of an archive, one sentence each. `with_images` is whether images were requested;
/// if unknown, an archive without images is complete.
pub(super) fn archive_problems(inspection: &Inspection, with_images: Option<bool>) -> Vec<String> {
    let images = with_images.unwrap_or(inspection.images > 0);
    [
        ("rows have no file in the archive", &inspection.rows_without_file, images),
        ("files have no row in the metadata", &inspection.files_without_row, true),
        ("entries have paths outside the archive", &inspection.unsafe_entries, true),
    ]
    .into_iter()
    .filter(|(_, named, counts)| *counts && named.count > 0)
    .map(|(words, named, _)| describe_named(words, named))
    .collect()
}

/// The count, and the first few names.
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
