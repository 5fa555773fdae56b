//! `GET export_context_async` and `GET export_status`: the export task.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::lenient::{first_text, number, text};
use tessera_model::{DatasetId, ExportState, ExportTask, ExportTaskId, Link, SafeText};

/// The export task as a service writes it. The document guarantees `id` at the start, and `status` and
/// `download_uri` afterwards; the rest is additive, as observed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExportTaskBody {
    /// Used as `export_task_id`.
    #[schema(value_type = Uuid)]
    pub id: ExportTaskId,
    /// The dataset it exports.
    #[schema(value_type = Uuid)]
    pub dataset_id: DatasetId,
    /// `INIT`, `IN_PROGRESS`, `COMPLETED` or `FAILED`; a lenient service also sends `REJECTED`.
    pub status: String,
    /// 0.0-1.0.
    #[schema(minimum = 0, maximum = 1)]
    pub progress: f64,
    /// Set when COMPLETED.
    pub download_uri: Option<String>,
    /// Number of exported media items.
    pub entities_count: u64,
    /// Why it failed.
    pub result_message: Option<String>,
    /// ISO 8601 without zone, microseconds.
    pub created_at: String,
}

/// Reads a task. `known` is the requested identifier, for responses that do not repeat it.
pub fn read_task(value: &Value, known: Option<ExportTaskId>) -> Option<ExportTask> {
    let id = text(value, "id").and_then(|id| id.parse().ok()).or(known)?;
    let message = first_text(value, &["result_message", "error"]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let progress = number(value, "progress").map(|part| (part.clamp(0.0, 1.0) * 100.0) as u8);
    Some(ExportTask {
        id,
        state: ExportState::parse(&text(value, "status").unwrap_or_default()),
        progress,
        download: first_text(value, &["download_uri"]).map(Link::new),
        message: message.map(|message| SafeText::detail(&message)),
    })
}
