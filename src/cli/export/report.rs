//! The document `tessera.export/1`, which all export commands print.

use serde_json::{Value, json};

use super::{download::DownloadedArchive, lookup::FoundExport};
use crate::cli::{Column, Document, polling::format_timestamp};
use tessera_model::{ExportState, ExportTask, SafeText};

const EXPORT_COLUMNS: &[Column] = &[
    Column::new("export", "id"),
    Column::new("dataset", "dataset_id"),
    Column::new("status", "status"),
    Column::new("message", "message"),
    Column::new("format", "format"),
    Column::new("file", "file"),
    Column::new("bytes", "bytes"),
    Column::new("extracted to", "extracted_to"),
    Column::new("rows", "rows"),
    Column::new("images", "images"),
];

/// Combines the service's response, the request if the request was sent from this machine, and the
/// downloaded archive.
pub(super) fn export_document(
    found: &FoundExport,
    task: &ExportTask,
    fetched: Option<&DownloadedArchive>,
) -> Document {
    let (job, export) = (found.job.as_ref(), found.request());
    let archive = fetched.map(|fetched| &fetched.archive);
    let inspection = fetched.and_then(|fetched| fetched.inspection.as_ref().ok());
    let over = match &task.state {
        ExportState::Completed => task.download.is_some(),
        ExportState::Failed(_) => true,
        ExportState::Running(_) => false,
    };
    let mut fields = json!({
        "id": found.task,
        "dataset_id": found.dataset,
        "kind": export.map(kind),
        "format": export.map(|export| export.spec.format.as_str()),
        "include_images": export.map(|export| export.spec.include_images),
        "status": task.state.as_str(),
        "progress": task.progress,
        "message": task.message.as_ref().map(SafeText::as_str),
        "terminal": over,
        "started_at": job.map(|job| format_timestamp(job.started_at)),
        "finished_at": job.and_then(|job| job.ended_at).map(format_timestamp),
        "download_ready": task.download.is_some(),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
        "rows": inspection.map(|inspection| inspection.rows),
        "images": inspection.map(|inspection| inspection.images),
    });
    let extraction = fetched.and_then(|fetched| fetched.extraction.as_ref());
    fields["extracted_to"] = json!(extraction.map(|it| it.folder.to_string_lossy()));
    fields["_files"] = json!(extraction.map(|it| it.files));
    fields["_refused"] =
        extraction.map_or(Value::Null, |it| names_json(&it.rejected_entries.first));
    let joined = extraction.and_then(|it| it.index_file.as_ref());
    fields["_rows_file"] = json!(joined.map(|path| path.to_string_lossy()));
    fields["missing_images"] = inspection
        .map_or(Value::Null, |inspection| names_json(&inspection.rows_without_file.first));
    fields["_missing_images"] =
        json!(inspection.map(|inspection| inspection.rows_without_file.count));
    Document::one("tessera.export/1", fields, EXPORT_COLUMNS)
}

/// Whether the export covers a whole dataset or a selection.
pub(super) fn kind(export: &tessera_model::ExportJob) -> &'static str {
    if export.selection.is_some() { "selection" } else { "dataset" }
}

pub(super) fn names_json(names: &[SafeText]) -> Value {
    names.iter().map(SafeText::as_str).collect()
}
