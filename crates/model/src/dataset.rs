//! A dataset, its status, and the one table of who may do what when.
//!
//! The rules 1-4 of the interface document live in [`Status::allows`] alone: the local deployment
//! answers 409 by it and the terminal interface greys out a key by it, with the same reason.

use crate::{DatasetId, SafeText};

/// Where a dataset stands (`status_new`). The wire spells these with spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything is allowed except a reindex.
    Ready,
    /// Media were added and are visible, but the dataset is not re-clustered.
    PartialIndex,
    /// Media are being added, or a reindex is about to start.
    ReadOnly,
    /// The clusters are being computed.
    Indexing,
    /// The last operation ended badly.
    Error,
    /// A word this program does not know: treated as busy, shown as it came.
    Other(SafeText),
}

/// What a person or a program may ask of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read the record and browse clusters without a query.
    Read,
    /// Search by caption or query language.
    TextSearch,
    /// Register a query image, or explore with an anchor.
    VisualSearch,
    /// Start an export of any kind.
    Export,
    /// Add media.
    AddMedia,
    /// Re-cluster.
    Reindex,
}

/// The answer of the table for one status and one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Allowed by the interface document.
    Allowed,
    /// No rule is given: send it and let the answer decide.
    Unspecified,
    /// The status is unknown: ask the person first.
    Confirm,
    /// Refused, with the reason and what would help.
    Denied(&'static str),
}

impl Permission {
    /// Why not, if it is refused.
    pub fn denial_reason(self) -> Option<&'static str> {
        match self {
            Self::Denied(reason) => Some(reason),
            Self::Allowed | Self::Unspecified | Self::Confirm => None,
        }
    }
}

impl Operation {
    /// The word for it on screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Read => "browse",
            Self::TextSearch => "text search",
            Self::VisualSearch => "image search",
            Self::Export => "export",
            Self::AddMedia => "add media",
            Self::Reindex => "reindex",
        }
    }

    /// The term for it in the refusals of a service.
    pub fn code(self) -> &'static str {
        match self {
            Self::Read => "explore",
            Self::TextSearch => "text_search",
            Self::VisualSearch => "visual_search",
            Self::Export => "export",
            Self::AddMedia => "add_media",
            Self::Reindex => "reindex",
        }
    }
}

impl Status {
    /// Reads a status as services spell it: any case, spaces or underscores.
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

    /// Reads the legacy field `status`, used only where `status_new` is missing.
    pub fn parse_legacy(raw: &str) -> Self {
        match raw.trim().to_uppercase().replace('_', " ").as_str() {
            "UPDATING" => Self::ReadOnly,
            "FATAL ERROR" => Self::Error,
            _ => Self::parse(raw),
        }
    }

    /// The word on the wire and on screen.
    pub fn word(&self) -> &str {
        match self {
            Self::Ready => "READY",
            Self::PartialIndex => "PARTIAL INDEX",
            Self::ReadOnly => "READ ONLY",
            Self::Indexing => "INDEXING",
            Self::Error => "ERROR",
            Self::Other(text) => text.as_str(),
        }
    }

    /// Whether the status is expected to change by itself, so that watching it makes sense.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::ReadOnly | Self::Indexing | Self::Other(_))
    }

    /// The gate table: rules 1-4 of the interface document, `States and transitions`.
    pub fn allows(&self, operation: Operation) -> Permission {
        use Operation as Op;
        match (operation, self) {
            (Op::Read, _)
            | (Op::TextSearch | Op::VisualSearch | Op::Export | Op::AddMedia, Self::Ready)
            | (Op::AddMedia | Op::Reindex, Self::PartialIndex) => Permission::Allowed,
            (Op::TextSearch, _) => Permission::Unspecified,
            (Op::Reindex, Self::Other(_)) => {
                Permission::Denied("needs PARTIAL INDEX; this status is unknown")
            }
            (Op::VisualSearch | Op::Export | Op::AddMedia, Self::Other(_)) => Permission::Confirm,
            (Op::Reindex, Self::Ready) => {
                Permission::Denied("needs PARTIAL INDEX: nothing to re-cluster")
            }
            (_, Self::PartialIndex) => Permission::Denied("needs READY: reindex first"),
            (_, Self::ReadOnly) => Permission::Denied("busy adding media: wait until it is done"),
            (_, Self::Indexing) => Permission::Denied("busy indexing: wait until it is done"),
            (_, Self::Error) => Permission::Denied("the dataset is in ERROR"),
        }
    }
}

/// One dataset record. Counts and progress are absent when the service does not tell them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Identifier in every path.
    pub id: DatasetId,
    /// Name for people.
    pub name: SafeText,
    /// The current status; from the legacy field when the service sends nothing newer.
    pub status: Status,
    /// Whether `status` had to be read from the legacy field.
    pub status_is_legacy: bool,
    /// The legacy field as it came: shown, and no rule reads it.
    pub legacy_status: Option<SafeText>,
    /// Percent done of the running operation, 0-100.
    pub progress: Option<u8>,
    /// Owner, as given.
    pub owner: Option<SafeText>,
    /// Creation time as given: the service names no zone, so none is invented.
    pub created_at: Option<SafeText>,
    /// Number of images, when told.
    pub n_images: Option<u64>,
    /// Number of videos, when told.
    pub n_videos: Option<u64>,
    /// Number of objects, when told.
    pub n_objects: Option<u64>,
    /// Why it is in ERROR, when told.
    pub error: Option<SafeText>,
}

impl Dataset {
    /// Whether its media may have been put into other clusters since `then`: it has become READY,
    /// or it holds another number of images. Adding media alone groups nothing anew.
    pub fn is_reclustered_since(&self, then: &Self) -> bool {
        self.status == Status::Ready
            && (then.status != Status::Ready || self.n_images != then.n_images)
    }
}

/// One field of a dataset record as the service sent it, whether this program knows it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordField {
    /// Its name on the wire.
    pub name: SafeText,
    /// Its value: text as it is, anything else as JSON.
    pub value: SafeText,
}
