//! The record of a dataset (`GET dataset`) and the list of records (`GET datasets`). The document leaves their shape
//! open. [`DatasetBody`] is what the service sends and what commands print; the readers in this file accept every
//! observed shape.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::fields::{Fields, as_received, count, first_text, percent, required, text};
use tessera_model::{Dataset, DatasetId, DatasetList, Link, RecordField, SafeText, Status};

/// The record of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatasetBody {
    /// Dataset identifier.
    #[schema(value_type = Uuid)]
    pub id: DatasetId,
    /// Display name, raw.
    pub display_name: String,
    /// Legacy field, being retired: UPDATING while `status_new` is READ ONLY.
    #[schema(value_type = String)]
    pub status: Option<String>,
    /// The current status word.
    pub status_new: String,
    /// Percent, 0-100.
    #[schema(value_type = u8, maximum = 100)]
    pub progress: Option<u8>,
    /// Owner.
    #[schema(value_type = String)]
    pub owned_by: Option<String>,
    /// ISO 8601 without zone, microseconds.
    #[schema(value_type = String)]
    pub created_at: Option<String>,
    /// Number of images.
    #[schema(value_type = u64)]
    pub n_images: Option<u64>,
    /// Number of videos.
    #[schema(value_type = u64)]
    pub n_videos: Option<u64>,
    /// Number of frames of the videos. A local service sends it for a dataset with videos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_frames: Option<u64>,
    /// Number of objects (additive, as observed).
    #[schema(value_type = u64)]
    pub n_objects: Option<u64>,
    /// Why the dataset is in ERROR (additive, as observed).
    pub fatal_error_msg: Option<String>,
    /// Sent by a local service, and only while the folder of the dataset is missing or empty. Its index can still be
    /// read.
    #[serde(skip_serializing_if = "is_false")]
    pub folder_missing: bool,
    /// Further fields that clients read.
    #[serde(flatten)]
    #[schema(value_type = DatasetExtras)]
    pub extras: Option<DatasetExtras>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of `skip_serializing_if`")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Fields that the document does not name (as observed). The defaults describe a local folder, whose path is not
/// disclosed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatasetExtras {
    /// Description.
    pub description: String,
    /// Kind of source of the media.
    pub source_type: String,
    /// URI of the source, unless it is confidential.
    pub source_uri: String,
    /// The dataset from which this one was copied.
    pub source_dataset_id: Option<Uuid>,
    /// The user who created the dataset.
    pub created_by: Uuid,
    /// When the record was last edited. A local service sends when the last operation began.
    pub updated_at: Option<String>,
    /// A picture that represents the dataset.
    pub preview_uri: String,
    /// The archive from which the dataset was created.
    pub filename: Option<String>,
    /// Whether the dataset is a sample.
    pub sample: Option<bool>,
}

impl Default for DatasetExtras {
    fn default() -> Self {
        Self {
            description: String::new(),
            source_type: "LOCAL".to_owned(),
            source_uri: String::new(),
            source_dataset_id: None,
            created_by: Uuid::nil(),
            updated_at: None,
            preview_uri: String::new(),
            filename: None,
            sample: None,
        }
    }
}

/// Returns the word that the legacy field `status` has for a current status.
pub fn legacy_status(status: &Status) -> &str {
    match status {
        Status::ReadOnly => "UPDATING",
        Status::PartialIndex | Status::Ready => "READY",
        Status::Error => "FATAL_ERROR",
        Status::Indexing | Status::Other(_) => status.as_str(),
    }
}

impl DatasetBody {
    /// Writes the record as far as a client has read it.
    pub fn new(dataset: &Dataset) -> Self {
        let text = |text: &Option<SafeText>| text.as_ref().map(as_received);
        Self {
            id: dataset.id,
            display_name: as_received(&dataset.name),
            status: text(&dataset.legacy_status),
            status_new: dataset.status.as_str().to_owned(),
            progress: dataset.progress,
            owned_by: text(&dataset.owner),
            created_at: text(&dataset.created_at),
            n_images: dataset.n_images,
            n_videos: dataset.n_videos,
            n_frames: dataset.n_frames,
            n_objects: dataset.n_objects,
            fatal_error_msg: text(&dataset.error),
            folder_missing: dataset.folder_missing,
            extras: None,
        }
    }
}

/// The fields that may contain the identifier, in the document and as observed.
const ID_FIELDS: &[&str] = &["id", "dataset_id"];

/// Reads one record. Returns `None` if it has no usable identifier.
pub fn read_dataset(value: Fields<'_>) -> Option<Dataset> {
    let id: DatasetId = required(value, ID_FIELDS)?;
    let current = first_text(value, &["status_new"]);
    let legacy = text(value, "status");
    let status = match (&current, &legacy) {
        (Some(word), _) => Status::parse(word),
        (None, Some(word)) => Status::parse_legacy(word),
        (None, None) => {
            value.note("status_new");
            Status::parse_legacy("")
        }
    };
    let name = first_text(value, &["display_name", "name"]).unwrap_or_else(|| id.to_string());
    Some(Dataset {
        id,
        name: SafeText::name(&name),
        status,
        status_is_legacy: current.is_none(),
        legacy_status: legacy.map(|word| SafeText::name(&word)),
        progress: percent(value, "progress"),
        owner: text(value, "owned_by").map(|owner| SafeText::name(&owner)),
        created_at: text(value, "created_at").map(|time| SafeText::name(&time)),
        updated_at: text(value, "updated_at").map(|time| SafeText::name(&time)),
        n_images: count(value, "n_images"),
        n_videos: count(value, "n_videos"),
        n_frames: count(value, "n_frames"),
        n_objects: count(value, "n_objects"),
        error: first_text(value, &["fatal_error_msg"]).map(|error| SafeText::detail(&error)),
        folder_missing: value.read("folder_missing", Value::as_bool).unwrap_or_default(),
    })
}

/// The fields that the document names, in the order of the document.
const DOCUMENTED_FIELDS: [&str; 9] = [
    "id",
    "display_name",
    "status_new",
    "status",
    "progress",
    "owned_by",
    "created_at",
    "n_images",
    "n_videos",
];

/// Reads every field of a record: first the documented fields, then the rest by name. Objects and arrays become JSON,
/// and links lose their signatures. Returns `None` if the record has no usable identifier.
pub fn read_fields(record: Fields<'_>) -> Option<Vec<RecordField>> {
    let _: DatasetId = required(record, ID_FIELDS)?;
    let record = record.value().as_object()?;
    let position = |name: &str| {
        DOCUMENTED_FIELDS.iter().position(|known| *known == name).unwrap_or(DOCUMENTED_FIELDS.len())
    };
    let mut fields: Vec<_> = record.iter().collect();
    fields.sort_by_key(|(name, _)| (position(name), *name));
    let field = |(name, value): (&String, &Value)| RecordField {
        name: SafeText::name(name),
        value: match value {
            Value::String(text) if text.contains("://") => {
                SafeText::detail(&Link::new(text).to_string())
            }
            Value::String(text) => SafeText::caption(text),
            other => SafeText::caption(&other.to_string()),
        },
    };
    Some(fields.into_iter().map(field).collect())
}

/// Reads the list: an array, or an object with exactly one array. A record without a usable identifier cannot be read.
/// Returns `None` if the value is not a list of datasets.
pub fn read_datasets(list: Fields<'_>) -> Option<DatasetList> {
    let rows = match list.value() {
        Value::Array(rows) => rows,
        Value::Object(map) => {
            let mut lists = map.values().filter_map(Value::as_array);
            let (Some(rows), None) = (lists.next(), lists.next()) else {
                list.note("datasets");
                return None;
            };
            rows
        }
        _ => return None,
    };
    let read = |row| read_dataset(list.element("datasets", row));
    let datasets: Vec<Dataset> = rows.iter().filter_map(read).collect();
    let unreadable = rows.len() - datasets.len();
    // A list of something else must not look like an empty list of datasets.
    (rows.is_empty() || !datasets.is_empty()).then_some(DatasetList { datasets, unreadable })
}
