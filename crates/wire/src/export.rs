//! The export task (`GET export_context_async` and `GET export_status`), and the columns of the metadata in the
//! archive.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::fields::{Fields, count, first_text, number, parsed, required, text};
use tessera_model::{
    DatasetId, ExportPreview, ExportState, ExportTask, ExportTaskId, Link, Omission, SafeText,
};

/// An export task. The document guarantees `id` when the export starts, and `status` and `download_uri` afterwards. The
/// remaining fields are additive, as observed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExportTaskBody {
    /// Identifier, which later requests send as `export_task_id`.
    #[schema(value_type = Uuid)]
    pub id: ExportTaskId,
    /// The dataset that is exported.
    #[schema(value_type = Uuid)]
    pub dataset_id: DatasetId,
    /// `INIT`, `IN_PROGRESS`, `COMPLETED` or `FAILED`; a lenient service also sends `REJECTED`.
    pub status: String,
    /// Fraction of the export that is done, 0.0-1.0.
    #[schema(minimum = 0, maximum = 1)]
    pub progress: f64,
    /// Download link, set when COMPLETED.
    pub download_uri: Option<String>,
    /// Number of exported media items.
    pub entities_count: u64,
    /// Why the export failed.
    pub result_message: Option<String>,
    /// ISO 8601 without zone, microseconds.
    pub created_at: String,
}

/// What the format of an export omits or changes. Only a local service sends it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExportPreviewBody {
    /// Number of images and frames in the export.
    pub media_count: u64,
    /// Empty if the format carries everything.
    pub omissions: Vec<OmissionBody>,
}

/// Something that the format omits or changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OmissionBody {
    pub count: u64,
    /// What is omitted or changed, with its number.
    pub text: String,
}

impl From<ExportPreview> for ExportPreviewBody {
    fn from(preview: ExportPreview) -> Self {
        let body = |it: Omission| OmissionBody { count: it.count, text: it.text.to_string() };
        let omissions = preview.omissions.into_iter().map(body).collect();
        Self { media_count: preview.media_count, omissions }
    }
}

/// The columns of an archive's metadata, in JSON and in Parquet.
pub mod column {
    pub const MEDIA_ID: &str = "media_id";
    pub const MEDIA_TYPE: &str = "media_type";
    /// The name of the picture below `images/`, which the document guarantees.
    pub const IMAGE_FILENAME: &str = "image_filename";
    /// The name of the file in JSON. In Parquet, the path of the picture relative to the metadata.
    pub const FILE_NAME: &str = "file_name";
    pub const FILE_PATH: &str = "file_path";
    pub const FILE_SIZE: &str = "file_size";
    pub const MODIFIED_AT: &str = "modified_at";
    /// The uniqueness score, which the document guarantees.
    pub const UNIQUENESS_SCORE: &str = "uniqueness_score";
    pub const SEARCH_CONFIDENCE: &str = "search_confidence";
    pub const WIDTH: &str = "width";
    pub const HEIGHT: &str = "height";
    pub const CLUSTER_ID: &str = "cluster_id";
    pub const URL: &str = "url";
    pub const VIDEO_NAME: &str = "video_name";
    pub const FRAME_TIMESTAMP: &str = "frame_timestamp";
    /// The list of typed objects that only JSON has. Parquet has columns for their contents.
    pub const METADATA_ITEMS: &str = "metadata_items";
    pub const SHARPNESS: &str = "sharpness";
    pub const BRIGHTNESS: &str = "brightness";
    pub const ISSUES: &str = "issues";
    pub const CAPTION: &str = "caption";
    pub const LABELS: &str = "labels";
    pub const USER_TAGS: &str = "user_tags";
    pub const USER_RATING: &str = "user_rating";
    pub const OBJECTS: &str = "objects";
}

/// Reads the task that is returned when an export starts. A task without a status has not begun.
pub fn read_started(task: Fields<'_>) -> Option<ExportTask> {
    Some(read_task(task, required(task, &["id"])?))
}

/// Reads the status of the task `id`, which the response may repeat. Returns `None` if the response is about another
/// task.
pub fn read_status(task: Fields<'_>, id: ExportTaskId) -> Option<ExportTask> {
    if !task.value().is_object() {
        task.note("status");
        return None;
    }
    if parsed(task, "id").is_some_and(|task_id: ExportTaskId| task_id != id) {
        task.note("id");
        return None;
    }
    if task.get("status").is_none() {
        task.note("status");
    }
    Some(read_task(task, id))
}

/// Reads what the format of an export omits or changes.
pub fn read_preview(preview: Fields<'_>) -> Option<ExportPreview> {
    let media_count = preview.needed_count("media_count");
    let omissions = preview.get("omissions").and_then(Value::as_array);
    let omission = |it: &Value| {
        let (count, text) = (count(it, "count")?, text(it, "text")?);
        Some(Omission { count, text: SafeText::detail(&text) })
    };
    let omissions = omissions.and_then(|list| list.iter().map(omission).collect());
    let omissions = preview.needed("omissions", omissions);
    Some(ExportPreview { media_count: media_count?, omissions: omissions? })
}

fn read_task(value: Fields<'_>, id: ExportTaskId) -> ExportTask {
    let message = first_text(value, &["result_message", "error", "message"]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let progress = number(value, "progress").map(|part| (part.clamp(0.0, 1.0) * 100.0) as u8);
    let link = value.read("download_uri", Value::as_str);
    ExportTask {
        id,
        state: ExportState::parse(&text(value, "status").unwrap_or_default()),
        progress,
        download: link.filter(|link| !link.is_empty()).map(Link::new),
        message: message.map(|message| SafeText::detail(&message)),
    }
}
