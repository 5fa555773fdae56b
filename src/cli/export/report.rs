//! The document `tessera.export/1`, which all export commands print.

use serde_json::json;

use super::{archive::DownloadedArchive, inspect::names_json, lookup::FoundExport};
use crate::cli::{Column, Document, timestamps::format_timestamp};
use tessera_model::{ExportJob, ExportTask, SafeText};

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

pub(super) fn export_document(
    export: &FoundExport,
    task: &ExportTask,
    downloaded: Option<&DownloadedArchive>,
) -> Document {
    let (job, request) = (export.job.as_ref(), export.request());
    let archive = downloaded.map(|downloaded| &downloaded.archive);
    let inspection = downloaded.and_then(|downloaded| downloaded.inspection.as_ref().ok());
    let without_file = inspection.map(|inspection| &inspection.rows_without_file);
    let extraction = downloaded.and_then(|downloaded| downloaded.extraction.as_ref());
    let index_file = extraction.and_then(|extraction| extraction.index_file.as_ref());
    let fields = json!({
        "id": export.task,
        "dataset_id": export.dataset,
        "kind": request.map(kind),
        "format": request.map(|request| request.spec.format.as_str()),
        "include_images": request.map(|request| request.spec.include_images),
        "status": task.state.as_str(),
        "progress": task.progress,
        "message": task.message.as_ref().map(SafeText::as_str),
        "terminal": task.has_ended(),
        "started_at": job.map(|job| format_timestamp(job.started_at)),
        "finished_at": job.and_then(|job| job.ended_at).map(format_timestamp),
        "download_ready": task.download.is_some(),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
        "rows": inspection.map(|inspection| inspection.rows),
        "images": inspection.map(|inspection| inspection.images),
        "extracted_to": extraction.map(|extraction| extraction.folder.to_string_lossy()),
        "_files": extraction.map(|extraction| extraction.files),
        "_refused": extraction.map(|extraction| names_json(&extraction.rejected_entries.first)),
        "_rows_file": index_file.map(|path| path.to_string_lossy()),
        "missing_images": without_file.map(|names| names_json(&names.first)),
        "_missing_images": without_file.map(|names| names.count),
    });
    Document::one("tessera.export/1", fields, EXPORT_COLUMNS)
}

pub(super) fn kind(export: &ExportJob) -> &'static str {
    if export.selection.is_some() { "selection" } else { "dataset" }
}
