//! What is told of an export: `tessera.export/1`, whatever the command.

use serde_json::{Value, json};

use super::{fetch::Fetched, which::Found};
use crate::cli::{Column, Document, follow::moment};
use tessera_model::{ExportState, ExportTask, SafeText};

const COLUMNS: &[Column] = &[
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

/// The document of an export: as the service told it, as it was asked for when it was started here,
/// and what came of it on this machine.
pub(super) fn document(found: &Found, task: &ExportTask, fetched: Option<&Fetched>) -> Document {
    let (job, export) = (found.job.as_ref(), found.export());
    let archive = fetched.map(|fetched| &fetched.archive);
    let inside = fetched.and_then(|fetched| fetched.inside.as_ref().ok());
    let over = match &task.state {
        ExportState::Completed => task.download.is_some(),
        ExportState::Failed(_) => true,
        ExportState::Running(_) => false,
    };
    let mut fields = json!({
        "id": found.task,
        "dataset_id": found.dataset,
        "kind": export.map(kind),
        "format": export.map(|export| export.spec.format.word()),
        "include_images": export.map(|export| export.spec.include_images),
        "status": task.state.word(),
        "progress": task.progress,
        "message": task.message.as_ref().map(SafeText::as_str),
        "terminal": over,
        "started_at": job.map(|job| moment(job.started)),
        "finished_at": job.and_then(|job| job.ended).map(moment),
        "download_ready": task.download.is_some(),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
        "rows": inside.map(|inside| inside.rows),
        "images": inside.map(|inside| inside.images),
    });
    let extraction = fetched.and_then(|fetched| fetched.extraction.as_ref());
    fields["extracted_to"] = json!(extraction.map(|it| it.folder.to_string_lossy()));
    fields["_files"] = json!(extraction.map(|it| it.files));
    fields["_refused"] = extraction.map_or(Value::Null, |it| names(&it.refused.first));
    let joined = extraction.and_then(|it| it.rows.as_ref());
    fields["_rows_file"] = json!(joined.map(|path| path.to_string_lossy()));
    fields["missing_images"] =
        inside.map_or(Value::Null, |inside| names(&inside.rows_without_file.first));
    fields["_missing_images"] = json!(inside.map(|inside| inside.rows_without_file.count));
    Document::one("tessera.export/1", fields, COLUMNS)
}

/// Whether a whole dataset or what was marked in it.
pub(super) fn kind(export: &tessera_model::Export) -> &'static str {
    if export.selection.is_some() { "selection" } else { "dataset" }
}

/// Names as a list.
pub(super) fn names(names: &[SafeText]) -> Value {
    names.iter().map(SafeText::as_str).collect()
}
