//! A dataset, its status, and which operations each status allows.
//!
//! [`Status::allows`] is the only implementation of these rules: it decides which requests the local service rejects
//! with 409, and which actions the interface disables. A local service also knows the folder of a dataset
//! ([`LocalDataset`]).

use crate::{DatasetId, EncodingProgress, SafeText, keyword::text_enum, text::grouped_with_noun};
use serde::{Deserialize, Serialize};

/// The `status_new` of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything is allowed except a reindex.
    Ready,
    /// Media were added and are visible, but not clustered yet.
    PartialIndex,
    /// Media are being added, or a reindex is about to start.
    ReadOnly,
    Indexing,
    Error,
    /// An unknown status, which is treated as busy and shown as received.
    Other(SafeText),
}

text_enum! {
    pub enum Operation:
        /// The name shown on screen.
        label,
        /// The name in the service's error messages.
        code
    {
        Read = "browse", "explore";
        /// Search by caption or query language.
        TextSearch = "text search", "text_search";
        /// Register a query image, or search by an anchor.
        VisualSearch = "image search", "visual_search";
        Export = "export", "export";
        AddMedia = "add media", "add_media";
        Reindex = "reindex", "reindex";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Allowed,
    /// The API names no rule, so the request is sent and the service decides.
    Unspecified,
    /// The status is unknown, so the user is asked first.
    Confirm,
    /// The operation is refused. The text explains what to do instead.
    Denied(&'static str),
}

impl Permission {
    pub fn denial_reason(self) -> Option<&'static str> {
        match self {
            Self::Denied(reason) => Some(reason),
            Self::Allowed | Self::Unspecified | Self::Confirm => None,
        }
    }
}

impl Status {
    /// Parses a status in any case, with spaces or underscores.
    pub fn parse(raw: &str) -> Self {
        match raw.trim().to_uppercase().replace('_', " ").as_str() {
            "READY" => Self::Ready,
            "PARTIAL INDEX" => Self::PartialIndex,
            "READ ONLY" => Self::ReadOnly,
            "INDEXING" => Self::Indexing,
            "ERROR" => Self::Error,
            _ => Self::Other(SafeText::name(raw.trim())),
        }
    }

    /// Parses the legacy `status` field, which is used only if `status_new` is missing.
    pub fn parse_legacy(raw: &str) -> Self {
        match raw.trim().to_uppercase().replace('_', " ").as_str() {
            "UPDATING" => Self::ReadOnly,
            "FATAL ERROR" => Self::Error,
            _ => Self::parse(raw),
        }
    }

    /// The spelling on the wire and on screen.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ready => "READY",
            Self::PartialIndex => "PARTIAL INDEX",
            Self::ReadOnly => "READ ONLY",
            Self::Indexing => "INDEXING",
            Self::Error => "ERROR",
            Self::Other(text) => text.as_str(),
        }
    }

    /// Whether the status changes without a further request, so that polling it makes sense.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::ReadOnly | Self::Indexing | Self::Other(_))
    }

    /// Returns whether an operation is allowed, by the rules in "States and transitions" of the API document.
    pub fn allows(&self, operation: Operation) -> Permission {
        match (operation, self) {
            (Operation::Read, _)
            | (
                Operation::TextSearch
                | Operation::VisualSearch
                | Operation::Export
                | Operation::AddMedia,
                Self::Ready,
            )
            | (Operation::AddMedia | Operation::Reindex, Self::PartialIndex) => Permission::Allowed,
            (Operation::TextSearch, _) => Permission::Unspecified,
            (Operation::Reindex, Self::Other(_)) => {
                Permission::Denied("wait until it is PARTIAL INDEX")
            }
            (Operation::VisualSearch | Operation::Export | Operation::AddMedia, Self::Other(_)) => {
                Permission::Confirm
            }
            (Operation::Reindex, Self::Ready) => Permission::Denied("add media first"),
            (_, Self::PartialIndex) => Permission::Denied("reindex first"),
            (_, Self::ReadOnly) => Permission::Denied("wait until the media are added"),
            (_, Self::Indexing) => Permission::Denied("wait until it is indexed"),
            (_, Self::Error) => Permission::Denied("resolve the error first"),
        }
    }
}

/// The datasets that a service lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatasetList {
    pub datasets: Vec<Dataset>,
    /// The number of records without a usable identifier.
    pub unreadable: usize,
}

/// A dataset record. Counts and progress are absent when the service does not send them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    pub id: DatasetId,
    pub name: SafeText,
    pub status: Status,
    pub status_is_legacy: bool,
    /// The legacy field as received. No rule depends on this field.
    pub legacy_status: Option<SafeText>,
    /// Percent, 0-100.
    pub progress: Option<u8>,
    pub owner: Option<SafeText>,
    /// The time as received, because the service sends no time zone.
    pub created_at: Option<SafeText>,
    /// The time of the last change of the record as received, if the service sends it.
    pub updated_at: Option<SafeText>,
    pub n_images: Option<u64>,
    pub n_videos: Option<u64>,
    /// The number of frames of the videos, which only a local service sends.
    pub n_frames: Option<u64>,
    pub n_objects: Option<u64>,
    pub error: Option<SafeText>,
    /// Whether the folder of the dataset is missing or empty. Only a local service reports this, and the status of the
    /// dataset does not depend on it.
    pub folder_missing: bool,
}

impl Dataset {
    /// Whether the media or clusters may have changed since `earlier`. Work that is shorter than the pause between two
    /// polls shows only in the time of the last change, which some records do not have. While a dataset is
    /// busy, its progress may count as a change.
    pub fn is_changed_since(&self, earlier: &Self) -> bool {
        let times = self.updated_at.as_ref().zip(earlier.updated_at.as_ref());
        let counted = |dataset: &Self| (dataset.n_images, dataset.n_videos);
        self.status != earlier.status
            || counted(self) != counted(earlier)
            || !self.status.is_busy() && times.is_some_and(|(now, before)| now != before)
    }

    /// Whether the clusters may have changed since `earlier`: the dataset became READY, or changed while it was READY.
    /// Adding media does not change clusters by itself.
    pub fn is_reclustered_since(&self, earlier: &Self) -> bool {
        self.status == Status::Ready && self.is_changed_since(earlier)
    }

    /// Returns the number of media items: of images, and of frames of videos. `None` if the service has not sent it.
    pub fn media_count(&self) -> Option<u64> {
        let has_videos = self.n_videos.is_some_and(|count| count > 0);
        let frames = self.n_frames.or((!has_videos).then_some(0))?;
        Some(self.n_images?.saturating_add(frames))
    }

    /// Returns the number of files, as far as the service has sent it.
    pub fn file_count(&self) -> Option<u64> {
        let counts = [self.n_images, self.n_videos].into_iter().flatten();
        counts.reduce(u64::saturating_add)
    }

    /// Returns the number of media items with their noun, or the numbers of images and videos.
    pub fn media_text(&self) -> Option<String> {
        if let Some(media) = self.n_frames.and_then(|_| self.media_count()) {
            return Some(grouped_with_noun(media, "media item", "media items"));
        }
        let videos = self.n_videos.filter(|count| *count > 0);
        let images = self.n_images.map(|count| grouped_with_noun(count, "image", "images"));
        let videos = videos.map(|count| grouped_with_noun(count, "video", "videos"));
        images.into_iter().chain(videos).reduce(|images, videos| format!("{images} and {videos}"))
    }
}

/// One field of a dataset record as the service sent it, known or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordField {
    pub name: SafeText,
    /// Text is kept as it is; any other value is written as JSON.
    pub value: SafeText,
}

/// What only a local service knows about a dataset, because only a local service reads the folder of the dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalDataset {
    /// Whether the folder of the dataset is missing, unreadable or empty. A disk that is not connected often leaves an
    /// empty folder behind.
    pub folder_missing: bool,
    /// The number of uploaded files. They exist only in the index folder.
    pub uploads: u64,
    /// The number of files and folders that a pattern excludes from the dataset. The content of an excluded folder is
    /// not counted.
    pub excluded: u64,
    /// The patterns that the user has chosen. Those in the folder's own file are not among them.
    pub patterns: PatternLists,
    /// How far the media are encoded, while the process that was asked encodes them.
    pub encoding: Option<EncodingProgress>,
}

/// The maximum number of patterns that include files, and of those that exclude files.
pub const MAX_PATTERNS: usize = 1_000;

/// The patterns of files that belong to a dataset, in the syntax of `.gitignore`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternLists {
    /// A picture or video has to match one of these. No pattern includes everything.
    pub include: Vec<String>,
    /// Files and folders that match one of these are omitted.
    pub exclude: Vec<String>,
}

/// What a rescan of the folder of a dataset has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescanResult {
    /// The changes since the folder was indexed. `None` if the folder is compared in the background, because it is in
    /// object storage.
    pub changes: Option<FileChanges>,
    /// Whether the dataset is indexed again.
    pub is_indexing: bool,
}

/// The numbers of files that are different from what was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileChanges {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}
