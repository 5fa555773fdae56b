//! The endpoints as data: the path and the parameters of each, its purpose, and whether its request may be
//! sent again.
//!
//! Three rules apply to all endpoints, whatever the retry table says. A request may be retried if no part of it was
//! sent. After a 401, one new token and one replay are allowed, because the service checks the token before it does
//! anything. Rejections (400, 403, 404, 409, 422) are never retried.
//!
//! The document leaves two questions open. This crate assumes that browsing without an anchor is `explore` without
//! `anchor_media_id`, as in public clients, and that `datasets` takes no parameters.

use percent_encoding::percent_decode_str;

use crate::{error_body::StatusField, vql};
use tessera_model::{ClusterId, DatasetId, ExportFormat, ExportSpec, Query, Search};

pub const API_PREFIX: &str = "/api/v1";

/// Query parameters, spelled as in the document.
pub mod query {
    pub const ANCHOR_MEDIA_ID: &str = "anchor_media_id";
    pub const ANCHOR_TYPE: &str = "anchor_type";
    pub const ENTITY_TYPE: &str = "entity_type";
    /// The granularity of the clustering, 0-4. This parameter is not a similarity.
    pub const THRESHOLD: &str = "threshold";
    pub const CAPTION: &str = "caption";
    /// Deprecated name of `caption`.
    pub const IMAGE_CAPTION: &str = "image_caption";
    /// Keeps only scores below this value.
    pub const TEXTUAL_SIMILARITY_THRESHOLD: &str = "textual_similarity_threshold";
    pub const LABELS: &str = "labels";
    pub const TAGS: &str = "tags";
    pub const VQL: &str = "vql";
    pub const PAGE_NUMBER: &str = "page_number";
    /// Orders the whole result by a property of files. Only local services have this parameter.
    pub const SORT: &str = "sort";
    pub const BOUNDING_BOX: &str = "bounding_box";
    pub const FILE_NAME: &str = "file_name";
    pub const EXPORT_FORMAT: &str = "export_format";
    pub const INCLUDE_IMAGES: &str = "include_images";
    pub const EXPORT_TASK_ID: &str = "export_task_id";
    /// Exports what a search finds except the selection of the body. Only local services have this parameter.
    pub const REST: &str = "rest";
    /// Identifies the dataset if the path does not.
    pub const DATASET_ID: &str = "dataset_id";
    pub const PATH: &str = "path";
    pub const AUTO_REINDEX: &str = "auto_reindex";
    /// Restricts a full export to one cluster.
    pub const CLUSTER_ID: &str = "cluster_id";
    /// A full-text query on captions, as older clients write it.
    pub const CAPTION_ONLY_FILTER: &str = "caption_only_filter";
    /// The object that a link of an archive was written for.
    pub const OBJECT_ID: &str = "object_id";
    /// The expiry of a signed link, in Unix seconds.
    pub const EXPIRES: &str = "expires";
    /// The signature of a signed link.
    pub const SIGNATURE: &str = "signature";
}

/// The path parameter that names a dataset.
pub const DATASET_ID: &str = "dataset_id";
/// The path parameter that names a media item.
pub const MEDIA_ID: &str = "media_id";

/// Defines the endpoints: what a request does, phrased to follow "cannot"; the error text for a 404; the number of
/// attempts; and what `status` means in the response.
macro_rules! endpoints {
    ($($(#[$doc:meta])* $name:ident: $purpose:literal, $not_found:expr, $attempts:literal, $status:ident;)*) => {
        /// An endpoint that a client can request. A client test runs every endpoint against every fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Endpoint {
            $($(#[$doc])* $name,)*
        }

        impl Endpoint {
            pub fn retry_rule(self) -> RetryRule {
                let (purpose, not_found_text, max_attempts) =
                    [$(($purpose, $not_found, $attempts)),*][self as usize];
                RetryRule { purpose, not_found_text, max_attempts }
            }

            /// Returns what `status` means in the response of the endpoint.
            pub fn status_field(self) -> StatusField {
                [$(StatusField::$status),*][self as usize]
            }
        }
    };
}

const DATASET: &str = "dataset not found, or no access to it";
const LOCAL_DATASET: &str = "dataset not found, or not a dataset of a local service";

endpoints! {
    Datasets: "list the datasets", "no dataset service at this address", 3, State;
    Dataset: "read the dataset", DATASET, 3, State;
    Explore: "fetch the clusters", DATASET, 3, Outcome;
    /// The members of a cluster. Only local services and those like `serve --compat` have this endpoint.
    Members: "fetch the members of a cluster", "no such cluster, or no list of members", 3, Outcome;
    /// How often labels, tags and words occur in a dataset. The same services have this endpoint.
    Overview: "read the overview", "dataset not found, or no overview of it", 3, Outcome;
    // A second anchor for the same image is harmless.
    RegisterAnchor: "register the query image", DATASET, 2, Outcome;
    StartExport: "start the export", DATASET, 1, State;
    StartSelection: "start the export", "dataset or selected media item not found, or no access to it", 1, State;
    ExportStatus: "read the status of the export", "no such export", 3, State;
    /// Cancels an export of a local service.
    CancelExport: "cancel the export", "no such export, or not a local service", 1, State;
    /// Reclusters the whole dataset.
    Reindex: "start the reindex", DATASET, 1, Outcome;
    AddMedia: "add the media", DATASET, 1, Outcome;
    /// Adds media through the pipeline of an on-premises deployment.
    ProcessMedia: "add the media", DATASET, 1, Outcome;
    Enrichment: "read the enrichments", DATASET, 3, State;
    /// What only a local service knows about a dataset.
    LocalDataset: "read the state of the folder", LOCAL_DATASET, 3, State;
    /// Removes a dataset of a local service from its index.
    RemoveDataset: "remove the dataset", LOCAL_DATASET, 1, Outcome;
    RenameDataset: "rename the dataset", LOCAL_DATASET, 1, State;
    /// Compares the folder of a dataset of a local service with its index.
    Rescan: "rescan the folder", LOCAL_DATASET, 1, Outcome;
    /// Cancels the indexing of a dataset of a local service.
    CancelIndexing: "cancel the indexing", LOCAL_DATASET, 1, State;
    /// The tags of a dataset of a local service.
    Tags: "list the tags", LOCAL_DATASET, 3, Outcome;
    /// Changes the tags and ratings of media items.
    ChangeTags: "change the tags", "dataset or media item not found, or not a dataset of a local service", 1, Outcome;
    /// Creates, recolors, renames or deletes a tag.
    DefineTag: "change the tag", "dataset or tag not found, or not a dataset of a local service", 1, Outcome;
    UndoTags: "undo the change of tags", "dataset or change not found, or not a dataset of a local service", 1, Outcome;
    /// The positions of media items on the map of a dataset of a local service.
    Map: "read the map", LOCAL_DATASET, 3, Outcome;
    /// Says what the format of an export omits. Only a local service has this endpoint.
    ExportPreview: "preview the export", LOCAL_DATASET, 3, Outcome;
    /// A GET that may create a key pair, so it has a side effect.
    Credentials: "create a key pair", "this service does not issue key pairs", 1, Outcome;
    /// A path typed by the user, whose effects are unknown.
    Raw: "send the request", "path not found, or no access to it", 1, State;
    Picture: "fetch the picture", "picture not found", 3, Outcome;
    // The number of attempts without a byte of progress. Any progress resets the count.
    Download: "download the archive", "archive not found", 5, Outcome;
}

#[derive(Clone, Copy, Debug)]
pub struct RetryRule {
    /// What a request of the endpoint does, phrased to follow "cannot".
    pub purpose: &'static str,
    /// The error text for a 404.
    pub not_found_text: &'static str,
    /// The number of attempts after a lost connection, a timeout, a 429 or a 5xx. 1 means that the first request may
    /// have had an effect, so only the user may send it again.
    pub max_attempts: u32,
}

/// The number of attempts if no connection can be made. Any request may be sent again then, because nothing was sent.
pub const MAX_UNSENT_ATTEMPTS: u32 = 3;

impl RetryRule {
    /// Whether sending the request again could repeat a change that the lost request may have made.
    pub fn has_side_effect(self) -> bool {
        self.max_attempts == 1
    }
}

impl Endpoint {
    /// Whether the endpoint is a link to any host, without login.
    pub fn follows_link(self) -> bool {
        matches!(self, Self::Picture | Self::Download)
    }

    /// Whether the endpoint manages a dataset of a local service, and is not in the API document.
    pub fn manages_local_dataset(self) -> bool {
        matches!(
            self,
            Self::LocalDataset
                | Self::RemoveDataset
                | Self::RenameDataset
                | Self::Rescan
                | Self::CancelIndexing
        )
    }

    pub fn adds_media(self) -> bool {
        matches!(self, Self::AddMedia | Self::ProcessMedia)
    }

    /// Whether the request goes directly, without login, to the pipeline of an on-premises deployment.
    pub fn uses_pipeline(self) -> bool {
        self == Self::ProcessMedia
    }
}

/// Whether a GET of this path has a side effect, so that it is not only a read. The path may have any prefix.
pub fn is_unsafe_get(path: &str) -> bool {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let ends = ["/process/add_media", "/export_context_async", "/api_credentials"];
    ends.iter().any(|end| path.trim_end_matches('/').ends_with(end))
}

/// Query parameters in the order in which they are sent.
pub type Parameters = Vec<(&'static str, String)>;

pub fn datasets() -> String {
    format!("{API_PREFIX}/datasets")
}

pub fn api_credentials() -> String {
    format!("{API_PREFIX}/api_credentials")
}

/// The path of the pipeline's `GET` that adds a folder, which is never retried automatically. The pipeline must be able
/// to read the folder.
pub const PROCESS_ADD_MEDIA: &str = "/api/v1/process/add_media";

/// The prefix of the paths with which a local service manages its datasets. The API document does not have them, so
/// they are not below [`API_PREFIX`].
pub const LOCAL_PREFIX: &str = "/local";

/// Defines the paths of requests about a dataset, below a prefix.
macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident($($id:ident: $Id:ty),*) => $prefix:ident, $path:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name($($id: $Id),*) -> String {
            [$prefix, &format!($path)].concat()
        }
    )*};
}

paths! {
    dataset(id: DatasetId) => API_PREFIX, "/dataset/{id}";
    explore(id: DatasetId) => API_PREFIX, "/explore/{id}";
    similarity_cluster(id: DatasetId, cluster: ClusterId) => API_PREFIX, "/explore/{id}/similarity_cluster/{cluster}";
    exploration_metadata(id: DatasetId) => API_PREFIX, "/explore/{id}/exploration_metadata";
    /// The same endpoint of a local service that has only what the API document describes below [`API_PREFIX`].
    local_similarity_cluster(id: DatasetId, cluster: ClusterId) => LOCAL_PREFIX, "/explore/{id}/similarity_cluster/{cluster}";
    /// The same endpoint of such a service.
    local_exploration_metadata(id: DatasetId) => LOCAL_PREFIX, "/explore/{id}/exploration_metadata";
    search_image_similarity(id: DatasetId) => API_PREFIX, "/dataset/{id}/search-image-similarity";
    /// The path of the `GET` that starts an export, which is never retried automatically.
    export_context_async(id: DatasetId) => API_PREFIX, "/dataset/{id}/export_context_async";
    /// The path of the `POST` that starts an export of a selection, which is never retried automatically.
    export_entities_async(id: DatasetId) => API_PREFIX, "/dataset/{id}/export_entities_async";
    /// The path of the `POST` that reclusters a dataset, which is never retried automatically.
    reindex(id: DatasetId) => API_PREFIX, "/dataset/{id}/reindex";
    /// The path of the `POST` that adds media, which is never retried automatically.
    add_media(id: DatasetId) => API_PREFIX, "/dataset/{id}/add_media";
    enrichment_context(id: DatasetId) => API_PREFIX, "/enrichment/{id}/context";
    export_status(id: DatasetId) => API_PREFIX, "/dataset/{id}/export_status";
    local_dataset(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}";
    /// The path of the `POST` that removes a dataset from the index, which is never retried automatically.
    remove_dataset(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/remove";
    /// The path of the `POST` that renames a dataset, which is never retried automatically.
    rename_dataset(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/rename";
    /// The path of the `POST` that rescans a folder, which is never retried automatically.
    rescan(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/rescan";
    /// The path of the `POST` that cancels the indexing of a dataset, which is never retried automatically.
    cancel_indexing(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/cancel";
    /// The path of the `POST` that cancels an export, which is never retried automatically.
    cancel_export(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/cancel_export";
    /// The path of the list of tags, and the prefix of the paths that change them. Changes are never retried
    /// automatically.
    tags(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/tags";
    /// The path of the map, which takes the parameters of `explore`.
    map(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/map";
    /// The path of the `POST` that says what the format of an export omits.
    export_preview(id: DatasetId) => LOCAL_PREFIX, "/dataset/{id}/export_preview";
}

pub fn explore_parameters(search: &Search) -> Parameters {
    let page = (query::PAGE_NUMBER, search.page.to_string());
    let sort = search.order.map(|order| (query::SORT, order.to_string()));
    search_parameters(search).into_iter().chain(sort).chain([page]).collect()
}

/// Returns the parameters of `explore` that say what is found, without the order and the page.
pub fn search_parameters(search: &Search) -> Parameters {
    let mut parameters = Parameters::new();
    match &search.query {
        Query::Browse => {}
        Query::Similar(anchor) => {
            parameters.push((query::ANCHOR_MEDIA_ID, anchor.media.to_string()));
            parameters.push((query::ANCHOR_TYPE, anchor.kind.as_str().to_owned()));
        }
        Query::Caption { text, max_score } => {
            parameters.push((query::CAPTION, text.as_str().to_owned()));
            let max_score = max_score.map(|score| score.value().to_string());
            parameters.extend(max_score.map(|score| (query::TEXTUAL_SIMILARITY_THRESHOLD, score)));
        }
    }
    if !search.filters.is_empty() {
        parameters.push((query::VQL, vql::write(&search.filters)));
    }
    parameters.push((query::ENTITY_TYPE, search.entity.as_str().to_owned()));
    parameters.push((query::THRESHOLD, search.granularity.level().to_string()));
    parameters
}

pub fn export_parameters(spec: &ExportSpec) -> Parameters {
    let file_name = (query::FILE_NAME, spec.file_name.as_str().to_owned());
    [vec![file_name], selection_parameters(spec.format, spec.include_images)].concat()
}

/// Returns the parameters of `export_entities_async`, which takes no file name.
pub fn selection_parameters(format: ExportFormat, include_images: bool) -> Parameters {
    vec![
        (query::EXPORT_FORMAT, format.as_str().to_owned()),
        (query::INCLUDE_IMAGES, include_images.to_string()),
    ]
}

/// Returns the parameters that export the rest of a search instead of the selection of the body.
pub fn rest_parameters(rest_of: Option<&Search>) -> Parameters {
    let Some(search) = rest_of else { return Parameters::new() };
    [vec![(query::REST, true.to_string())], search_parameters(search)].concat()
}
