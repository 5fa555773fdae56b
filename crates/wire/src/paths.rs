//! Every path and query name of the interface, relative to `{base_url}`.
//!
//! The document leaves open, and this crate assumes: browsing without an anchor is `explore` without
//! `anchor_media_id`, as in public clients, and `datasets` takes no parameters.

use crate::vql;
use tessera_model::{DatasetId, ExportFormat, ExportSpec, Query, Search};

pub const API_PREFIX: &str = "/api/v1";

/// A header that no web page can add to a request to another site without its consent. A service
/// without login requires it for GETs with side effects.
pub const REQUESTED_WITH: &str = "x-requested-with";

/// Query parameters, spelled as in the document.
pub mod query {
    pub const ANCHOR_MEDIA_ID: &str = "anchor_media_id";
    pub const ANCHOR_TYPE: &str = "anchor_type";
    pub const ENTITY_TYPE: &str = "entity_type";
    /// The clustering granularity 0-4, not a similarity.
    pub const THRESHOLD: &str = "threshold";
    pub const CAPTION: &str = "caption";
    /// Deprecated name of `caption`.
    pub const IMAGE_CAPTION: &str = "image_caption";
    /// Keeps scores below it.
    pub const TEXTUAL_SIMILARITY_THRESHOLD: &str = "textual_similarity_threshold";
    pub const LABELS: &str = "labels";
    pub const TAGS: &str = "tags";
    pub const VQL: &str = "vql";
    pub const PAGE_NUMBER: &str = "page_number";
    pub const BOUNDING_BOX: &str = "bounding_box";
    pub const FILE_NAME: &str = "file_name";
    pub const EXPORT_FORMAT: &str = "export_format";
    pub const INCLUDE_IMAGES: &str = "include_images";
    pub const EXPORT_TASK_ID: &str = "export_task_id";
    /// Identifies the dataset where the path does not.
    pub const DATASET_ID: &str = "dataset_id";
    pub const PATH: &str = "path";
    pub const AUTO_REINDEX: &str = "auto_reindex";
    /// Restricts a full export to one cluster.
    pub const CLUSTER_ID: &str = "cluster_id";
    /// Full text of captions, as older clients write it.
    pub const CAPTION_ONLY_FILTER: &str = "caption_only_filter";
    /// In a link of an archive: the object of the picture that it was written for.
    pub const OBJECT_ID: &str = "object_id";
    /// In a signed link: expiry in Unix seconds.
    pub const EXPIRES: &str = "expires";
    /// In a signed link.
    pub const SIGNATURE: &str = "signature";
}

/// The path parameter that names a dataset.
pub const DATASET_ID: &str = "dataset_id";
/// The path parameter that names a media item.
pub const MEDIA_ID: &str = "media_id";

/// Query parameters in sending order.
pub type Parameters = Vec<(&'static str, String)>;

pub fn datasets() -> String {
    format!("{API_PREFIX}/datasets")
}

pub fn api_credentials() -> String {
    format!("{API_PREFIX}/api_credentials")
}

pub fn dataset(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}")
}

pub fn explore(id: DatasetId) -> String {
    format!("{API_PREFIX}/explore/{id}")
}

pub fn search_image_similarity(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/search-image-similarity")
}

/// `GET` that starts an export: never retried automatically.
pub fn export_context_async(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/export_context_async")
}

/// `POST` that starts an export of a selection: never retried automatically.
pub fn export_entities_async(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/export_entities_async")
}

/// `POST` that reclusters a dataset: never retried automatically.
pub fn reindex(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/reindex")
}

/// `POST` that adds media: never retried automatically.
pub fn add_media(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/add_media")
}

/// `GET` of the pipeline that adds a folder it can read: never retried automatically.
pub const PROCESS_ADD_MEDIA: &str = "/api/v1/process/add_media";

pub fn enrichment_context(id: DatasetId) -> String {
    format!("{API_PREFIX}/enrichment/{id}/context")
}

pub fn export_status(id: DatasetId) -> String {
    format!("{API_PREFIX}/dataset/{id}/export_status")
}

pub fn explore_parameters(search: &Search) -> Parameters {
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
    parameters.push((query::PAGE_NUMBER, search.page.to_string()));
    parameters
}

pub fn export_parameters(spec: &ExportSpec) -> Parameters {
    let file_name = (query::FILE_NAME, spec.file_name.as_str().to_owned());
    [vec![file_name], selection_parameters(spec.format, spec.include_images)].concat()
}

/// The parameters of `export_entities_async`, which has no file name.
pub fn selection_parameters(format: ExportFormat, include_images: bool) -> Parameters {
    vec![
        (query::EXPORT_FORMAT, format.as_str().to_owned()),
        (query::INCLUDE_IMAGES, include_images.to_string()),
    ]
}
