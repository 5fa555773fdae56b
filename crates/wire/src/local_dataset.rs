//! The bodies with which a local service manages its datasets. They are not part of the API document, so their paths
//! are below [`LOCAL_PREFIX`](crate::endpoints::LOCAL_PREFIX).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::fields::{Fields, count};
use tessera_model::{EncodingProgress, FileChanges, LocalDataset, PatternLists, RescanResult};

/// The maximum number of characters of a name.
pub const MAX_NAME_CHARS: usize = 200;

/// What a local service knows about a dataset.
#[derive(Debug, Serialize, ToSchema)]
pub struct LocalDatasetBody {
    /// Whether the folder is missing, unreadable or empty. The index is kept, and is used again when the folder is
    /// back.
    pub folder_missing: bool,
    /// Number of uploaded files, which exist only in the index folder.
    pub uploads: u64,
    /// Number of files and folders that a pattern excludes. The content of an excluded folder is not counted.
    pub excluded: u64,
    pub patterns: PatternsBody,
    /// How far the user's own model has encoded the media. Null if this process encodes none.
    pub encoding: Option<EncodingBody>,
}

impl From<LocalDataset> for LocalDatasetBody {
    fn from(local: LocalDataset) -> Self {
        let LocalDataset { folder_missing, uploads, excluded, patterns, encoding } = local;
        let encoding = encoding.map(EncodingBody::from);
        Self { folder_missing, uploads, excluded, patterns: patterns.into(), encoding }
    }
}

/// The progress of encoding, of the media that had no vector of the model when it began.
#[derive(Debug, Serialize, ToSchema)]
pub struct EncodingBody {
    pub done: u64,
    pub total: u64,
    /// Null until it is known.
    pub pictures_per_second: Option<f64>,
    pub seconds_left: Option<u64>,
}

impl From<EncodingProgress> for EncodingBody {
    fn from(progress: EncodingProgress) -> Self {
        let EncodingProgress { done, total, per_second } = progress;
        let pictures_per_second = per_second.map(|speed| (speed * 10.0).round() / 10.0);
        Self { done, total, pictures_per_second, seconds_left: progress.seconds_left() }
    }
}

/// The response of a removal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemovedBody {
    /// Number of uploaded files. They stay in the index folder, and belong to the dataset again when its folder is
    /// opened again.
    pub uploads: u64,
}

/// The response of a rescan. The numbers are null if the folder is in object storage, because such a folder is compared
/// in the background.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RescanBody {
    /// Number of new files.
    pub added: Option<u64>,
    /// Number of files with another size or time.
    pub changed: Option<u64>,
    /// Number of files that are gone, or that a pattern excludes now.
    pub removed: Option<u64>,
    /// Whether the dataset is indexed again.
    pub indexing: bool,
}

impl From<RescanResult> for RescanBody {
    fn from(rescan: RescanResult) -> Self {
        let number = |read: fn(FileChanges) -> u64| rescan.changes.map(read);
        Self {
            added: number(|changes| changes.added),
            changed: number(|changes| changes.changed),
            removed: number(|changes| changes.removed),
            indexing: rescan.is_indexing,
        }
    }
}

/// The body of a request to rename a dataset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenameBody {
    pub display_name: String,
}

/// Writes the body of a request to rename a dataset.
pub fn write_rename(name: &str) -> Value {
    json!({ "display_name": name })
}

/// The JSON schema of the body of a request to rename a dataset.
pub fn rename_schema() -> Value {
    json!({
        "type": "object",
        "required": ["display_name"],
        "additionalProperties": false,
        "properties": {
            "display_name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS, "pattern": r"\S"},
        },
    })
}

/// The body of a rescan that replaces the patterns of a dataset.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PatternsBody {
    /// Patterns of the pictures and videos that belong to the dataset, in the syntax of `.gitignore`. Empty if all do.
    #[schema(max_items = 1_000)]
    pub include: Vec<String>,
    /// Patterns of the files and folders that are omitted.
    #[schema(max_items = 1_000)]
    pub exclude: Vec<String>,
}

impl From<PatternLists> for PatternsBody {
    fn from(PatternLists { include, exclude }: PatternLists) -> Self {
        Self { include, exclude }
    }
}

impl From<PatternsBody> for PatternLists {
    fn from(PatternsBody { include, exclude }: PatternsBody) -> Self {
        Self { include, exclude }
    }
}

pub fn read_local_dataset(local: Fields<'_>) -> Option<LocalDataset> {
    Some(LocalDataset {
        folder_missing: needed_flag(local, "folder_missing")?,
        uploads: local.needed_count("uploads")?,
        excluded: local.needed_count("excluded")?,
        patterns: read_patterns(local)?,
        encoding: read_encoding(local),
    })
}

/// Reads the number of uploads that a removal has kept.
pub fn read_removed(removed: Fields<'_>) -> Option<u64> {
    removed.needed_count("uploads")
}

pub fn read_rescan(rescan: Fields<'_>) -> Option<RescanResult> {
    let is_indexing = needed_flag(rescan, "indexing")?;
    let keys = ["added", "changed", "removed"];
    let changes = match keys.map(|key| count(rescan, key)) {
        [Some(added), Some(changed), Some(removed)] => {
            Some(FileChanges { added, changed, removed })
        }
        [None, None, None] if keys.iter().all(|key| rescan.get(key).is_none()) => None,
        // Only all three numbers together have a meaning.
        _ => {
            for key in keys {
                rescan.note(key);
            }
            return None;
        }
    };
    Some(RescanResult { changes, is_indexing })
}

fn read_encoding(local: Fields<'_>) -> Option<EncodingProgress> {
    local.read("encoding", |body| {
        let (done, total) = count(body, "done").zip(count(body, "total"))?;
        let per_second = match body.get("pictures_per_second") {
            None | Some(Value::Null) => None,
            Some(speed) => Some(speed.as_f64()?),
        };
        Some(EncodingProgress { done, total, per_second })
    })
}

fn read_patterns(local: Fields<'_>) -> Option<PatternLists> {
    let patterns = local.get("patterns");
    let patterns = patterns.and_then(|patterns| PatternsBody::deserialize(patterns).ok());
    local.needed("patterns", patterns).map(PatternLists::from)
}

fn needed_flag(object: Fields<'_>, key: &str) -> Option<bool> {
    object.needed(key, object.get(key).and_then(Value::as_bool))
}
