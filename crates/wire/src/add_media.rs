//! Adding media and reindexing: the form of `add_media`, the response of `process/add_media`, and the evidence that the
//! service has accepted a change of a dataset.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::fields::{Fields, text};
use tessera_model::{Dataset, DatasetId, Status};

/// The form fields of `add_media`, spelled as in the document.
pub mod field {
    pub const S3_URI: &str = "s3_uri";
    /// Repeatable. The name is not `files[]`.
    pub const FILES: &str = "files";
    pub const ARCHIVE: &str = "archive";
    pub const AUTO_REINDEX: &str = "auto_reindex";
    pub const ASSUME_ROLE: &str = "assume_role";
    pub const BATCH_N_VIDEOS: &str = "batch_n_videos";
    pub const BATCH_N_IMAGES: &str = "batch_n_images";
    pub const BATCH_N_OBJECTS: &str = "batch_n_objects";
    pub const USE_SPOT: &str = "use_spot";
}

/// The JSON schema of the form.
pub fn form_schema() -> Value {
    let file = json!({"type": "string", "format": "binary"});
    let count = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
    json!({
        "type": "object",
        "description": "Exactly one source: s3_uri, files or archive",
        "properties": {
            field::S3_URI: {"type": "string", "maxLength": 4096,
                "description": "Folder in object storage, or a .csv, .parquet or .txt manifest"},
            field::FILES: {"type": "array", "items": file},
            field::ARCHIVE: {"type": "string", "format": "binary",
                "description": "A .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"},
            field::AUTO_REINDEX: {"type": "boolean", "default": false},
            field::ASSUME_ROLE: {"type": "string", "maxLength": 512, "description": "ARN of a role",
                "pattern": "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@-]+$"},
            field::BATCH_N_VIDEOS: count, field::BATCH_N_IMAGES: count, field::BATCH_N_OBJECTS: count,
            field::USE_SPOT: {"type": "boolean"},
        },
        // A field that is present but empty counts as not filled in.
        "oneOf": [
            {"required": [field::S3_URI], "properties": {field::S3_URI: {"pattern": r"\S"}}},
            {"required": [field::FILES], "properties": {field::FILES: {"minItems": 1}}},
            {"required": [field::ARCHIVE]},
        ],
    })
}

/// The response of `process/add_media`, in the observed shape.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProcessBody {
    /// Always `success`.
    pub status: &'static str,
    /// A message.
    pub message: &'static str,
    /// The dataset that receives the media.
    #[schema(value_type = Uuid)]
    pub dataset_id: DatasetId,
}

/// Evidence that a change was accepted. Only the readers in this file create it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted(());

/// The status of a response that accepts a change.
pub const ACCEPTED_STATUS: u16 = 202;

/// Reads the response of `POST add_media` and `POST reindex`. The status 202 means acceptance; the document shows no
/// body.
pub fn read_accepted(http_status: u16) -> Option<Accepted> {
    (http_status == ACCEPTED_STATUS).then_some(Accepted(()))
}

/// Reads the response of `GET process/add_media`, whose `status` was observed to be `success`.
pub fn read_processing(object: Fields<'_>) -> Option<Accepted> {
    let succeeded = text(object, "status").is_some_and(|it| it.eq_ignore_ascii_case("success"));
    if !succeeded {
        object.note("status");
    }
    succeeded.then_some(Accepted(()))
}

/// Finds evidence of acceptance in the dataset if the response was lost: the record has changed since before the
/// request, and the status is not ERROR. A dataset that was busy before changes by itself when its task proceeds, which
/// is evidence of nothing.
pub fn accepted_since(previous: &Dataset, now: &Dataset) -> Option<Accepted> {
    let counts = |dataset: &Dataset| (dataset.n_images, dataset.n_videos);
    let changed = now.status != previous.status || counts(now) != counts(previous);
    let is_evidence = changed && !previous.status.is_busy() && now.status != Status::Error;
    is_evidence.then_some(Accepted(()))
}
