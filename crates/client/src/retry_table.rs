//! The retry table as data: what each operation does to the service, and so when it may be sent
//! again. `tests/retry_table.rs` holds every row against a scripted server.
//!
//! Three rules hold for all rows. A request of which nothing was sent may be tried again. A 401
//! may be answered by one new token and one replay, because the check precedes the effect. A
//! refusal (400, 403, 404, 409, 422) is never repeated.

/// What the client can ask of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiOperation {
    /// `GET datasets`.
    Datasets,
    /// `GET dataset`.
    Dataset,
    /// `GET explore`.
    Explore,
    /// `POST search-image-similarity`.
    RegisterAnchor,
    /// `GET export_context_async`: a GET that starts a job.
    StartExport,
    /// `POST export_entities_async`: starts a job.
    StartSelection,
    /// `GET export_status`.
    ExportStatus,
    /// `POST reindex`: clusters the whole dataset again.
    Reindex,
    /// `POST add_media`: adds a batch.
    AddMedia,
    /// `GET process/add_media` of the pipeline: adds a batch.
    ProcessMedia,
    /// `GET enrichment/context`.
    Enrichment,
    /// `GET api_credentials`: a GET that may make a key pair.
    Credentials,
    /// Whatever a person asks for by its path; nobody knows what it does.
    Raw,
    /// `GET media_uri` and `media_thumb_uri`.
    Picture,
    /// `GET download_uri`.
    Download,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryRule {
    /// What people know it as, after "cannot".
    pub purpose: &'static str,
    /// What is missing when the service answers 404.
    pub not_found_text: &'static str,
    /// Requests in all when one was cut off, timed out or met a 5xx. 1: the first may have had
    /// an effect, so only a person may send it again.
    pub max_attempts: u32,
    /// Requests in all when the service answers 429, which means it did nothing.
    pub max_attempts_when_busy: u32,
}

/// Requests in all when no connection can be made: nothing was sent, so any operation may retry.
pub(super) const MAX_UNSENT_ATTEMPTS: u32 = 3;

impl RetryRule {
    const fn new(
        purpose: &'static str,
        not_found_text: &'static str,
        max_attempts: u32,
        busy: u32,
    ) -> Self {
        Self { purpose, not_found_text, max_attempts, max_attempts_when_busy: busy }
    }

    /// Whether a request that got no answer may have changed something that a second one would
    /// change again.
    pub(super) fn has_side_effect(self) -> bool {
        self.max_attempts == 1
    }
}

impl ApiOperation {
    /// Its row.
    pub(super) fn retry_rule(self) -> RetryRule {
        const DATASET: &str = "no such dataset, or no access to it";
        match self {
            Self::Datasets => RetryRule::new("list the datasets", "no dataset service there", 3, 3),
            Self::Dataset => RetryRule::new("read the dataset", DATASET, 3, 3),
            Self::Explore => RetryRule::new("fetch the clusters", DATASET, 3, 3),
            // A second anchor for the same image is harmless.
            Self::RegisterAnchor => RetryRule::new("register the query image", DATASET, 2, 2),
            Self::StartExport | Self::StartSelection => {
                RetryRule::new("start the export", DATASET, 1, 1)
            }
            Self::Reindex => RetryRule::new("start the reindex", DATASET, 1, 1),
            Self::AddMedia | Self::ProcessMedia => RetryRule::new("add the media", DATASET, 1, 1),
            Self::Enrichment => RetryRule::new("read the enrichments", DATASET, 3, 3),
            Self::Credentials => {
                RetryRule::new("make a key pair", "this service hands out no key pairs", 1, 1)
            }
            Self::Raw => {
                RetryRule::new("carry out the request", "nothing there, or no access to it", 1, 1)
            }
            Self::ExportStatus => {
                RetryRule::new("ask for the state of the export", "no such export", 3, 3)
            }
            Self::Picture => RetryRule::new("fetch the picture", "the picture is not there", 3, 3),
            // Attempts without a byte of progress; with progress they start anew.
            Self::Download => {
                RetryRule::new("download the archive", "the archive is not there", 5, 5)
            }
        }
    }

    /// Whether it follows a link to wherever it leads, without login, instead of a path of the
    /// interface.
    pub(super) fn follows_link(self) -> bool {
        matches!(self, Self::Picture | Self::Download)
    }

    /// Whether it adds media to a dataset.
    pub(super) fn adds_media(self) -> bool {
        matches!(self, Self::AddMedia | Self::ProcessMedia)
    }

    /// Whether it goes to the pipeline of an on-premises deployment: directly, and without login.
    pub(super) fn uses_pipeline(self) -> bool {
        self == Self::ProcessMedia
    }
}
