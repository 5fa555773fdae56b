//! `tessera export inspect`: shows what an archive contains, and whether its rows and images match.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::{CliResult, Column, Context, Document};
use tessera_model::{Failure, Inspection, SafeText, export::NameSample};

const INSPECTION_COLUMNS: &[Column] = &[
    Column::new("archive", "file"),
    Column::new("bytes", "bytes"),
    Column::new("metadata", "metadata"),
    Column::new("rows", "rows"),
    Column::new("columns", "columns"),
    Column::new("images", "images"),
    Column::new("frames", "frames"),
    Column::new("videos", "videos"),
    Column::new("rows without a file", "rows_without_file.count"),
    Column::new("files without a row", "files_without_row.count"),
    Column::new("refused names", "refused.count"),
    Column::new("uniqueness in tenths", "uniqueness"),
    Column::new("rows without a score", "unscored"),
];

pub(super) async fn inspect(context: &Context, file: PathBuf) -> CliResult {
    let inspection = inspect_archive(file).await?;
    let fields = inspection_json(&inspection);
    context.print(&Document::one("tessera.inspection/1", fields, INSPECTION_COLUMNS))?;
    Ok(context.warn_of_problems(&archive_problems(&inspection, None)))
}

pub(super) async fn inspect_archive(file: PathBuf) -> Result<Inspection, Failure> {
    let work = tokio::task::spawn_blocking(move || tessera_client::inspect_archive(&file));
    work.await.unwrap_or_else(|_| Err(Failure::internal_error()))
}

fn inspection_json(inspection: &Inspection) -> Value {
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
        "frames": inspection.frames,
        "videos": inspection.videos,
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
    .map(|(problem, named, _)| describe_named(problem, named))
    .collect()
}

pub(super) fn describe_named(problem: &str, named: &NameSample) -> String {
    const SHOWN: usize = 5;
    let first: Vec<&str> = named.first.iter().take(SHOWN).map(SafeText::as_str).collect();
    let text = format!("{} {problem}: {}", named.count, first.join(", "));
    match named.count.saturating_sub(first.len() as u64) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

pub(super) fn names_json(names: &[SafeText]) -> Value {
    names.iter().map(SafeText::as_str).collect()
}
