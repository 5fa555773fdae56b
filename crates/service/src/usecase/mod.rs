//! What a client can do with a deployment, one file per use case. Nothing here knows HTTP or SQL.

mod add_media;
mod dataset;
mod direct_export;
mod error;
mod export;
mod export_selection;
mod media;
mod query_image;
mod search;
mod search_params;
mod service_status;

pub(crate) use add_media::{AddMediaRequest, AddMediaSource};
pub(crate) use dataset::Enrichments;
pub(crate) use error::ServiceError;
pub(crate) use export::{ExportArchive, ExportScope};
pub(crate) use media::{Original, OriginalFile};
pub(crate) use query_image::QueryRegion;
pub(crate) use search::{ClusterPage, ScoredCluster};
pub(crate) use search_params::{RequestedAnchor, SearchParams};
