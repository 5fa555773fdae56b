//! The retry table as data: which effect each operation has, and so when it may be sent again. A
//! test runs every row against a scripted server.
//!
//! Three rules apply to all rows. A request may be retried if nothing of it was sent. After a 401,
//! one new token and one replay are allowed, because the check precedes the effect. Rejections
//! (400, 403, 404, 409, 422) are never retried.

use tessera_wire::error_body::StatusField;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiOperation {
    Datasets,
    Dataset,
    Explore,
    RegisterAnchor,
    StartExport,
    StartSelection,
    ExportStatus,
    /// Clusters the whole dataset again.
    Reindex,
    AddMedia,
    /// Adds media through the pipeline of an on-premises deployment.
    ProcessMedia,
    Enrichment,
    /// A GET that may create a key pair.
    Credentials,
    /// Any path typed by the user, with unknown effects.
    Raw,
    Picture,
    Download,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RetryRule {
    /// What it does, to follow "cannot".
    pub purpose: &'static str,
    /// The error text for a 404.
    pub not_found_text: &'static str,
    /// Attempts after a lost connection, a timeout, a 429 or a 5xx. 1 means that the first request
    /// may have had an effect, so only the user may send it again.
    pub max_attempts: u32,
}

/// Attempts when no connection can be made: nothing was sent, so any operation may retry.
pub(super) const MAX_UNSENT_ATTEMPTS: u32 = 3;

impl RetryRule {
    /// Whether a second request could change again what a lost one may have changed.
    pub(super) fn has_side_effect(self) -> bool {
        self.max_attempts == 1
    }
}

impl ApiOperation {
    pub(super) fn retry_rule(self) -> RetryRule {
        const DATASET: &str = "dataset not found, or no access to it";
        let (purpose, not_found_text, max_attempts) = match self {
            Self::Datasets => ("list the datasets", "no dataset service at this address", 3),
            Self::Dataset => ("read the dataset", DATASET, 3),
            Self::Explore => ("fetch the clusters", DATASET, 3),
            // A second anchor for the same image is harmless.
            Self::RegisterAnchor => ("register the query image", DATASET, 2),
            Self::StartExport | Self::StartSelection => ("start the export", DATASET, 1),
            Self::Reindex => ("start the reindex", DATASET, 1),
            Self::AddMedia | Self::ProcessMedia => ("add the media", DATASET, 1),
            Self::Enrichment => ("read the enrichments", DATASET, 3),
            Self::Credentials => ("create a key pair", "this service does not issue key pairs", 1),
            Self::Raw => ("send the request", "path not found, or no access to it", 1),
            Self::ExportStatus => ("read the status of the export", "no such export", 3),
            Self::Picture => ("fetch the picture", "picture not found", 3),
            // Attempts without a byte of progress; progress resets the count.
            Self::Download => ("download the archive", "archive not found", 5),
        };
        RetryRule { purpose, not_found_text, max_attempts }
    }

    /// Whether it follows a link to any host, without login.
    pub(super) fn follows_link(self) -> bool {
        matches!(self, Self::Picture | Self::Download)
    }

    /// What `status` means in its response.
    pub(super) fn status_field(self) -> StatusField {
        match self {
            Self::Datasets
            | Self::Dataset
            | Self::StartExport
            | Self::StartSelection
            | Self::ExportStatus
            | Self::Enrichment
            | Self::Raw => StatusField::State,
            Self::Explore
            | Self::RegisterAnchor
            | Self::Reindex
            | Self::AddMedia
            | Self::ProcessMedia
            | Self::Credentials
            | Self::Picture
            | Self::Download => StatusField::Outcome,
        }
    }

    pub(super) fn adds_media(self) -> bool {
        matches!(self, Self::AddMedia | Self::ProcessMedia)
    }

    /// Whether it goes to the pipeline of an on-premises deployment, directly and without login.
    pub(super) fn uses_pipeline(self) -> bool {
        self == Self::ProcessMedia
    }
}
