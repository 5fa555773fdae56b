//! What a client can do with a deployment, with one file per use case. Nothing here depends on HTTP or SQL.

mod add_media;
mod dataset;
mod embeddings;
mod error;
mod export;
mod local_originals;
mod manage_dataset;
mod map;
mod media;
mod search;
mod tags;

pub(crate) use add_media::{AddMediaRequest, AddMediaSource};
pub(crate) use dataset::Enrichments;
pub(crate) use error::{ServiceError, UNREADABLE_MODEL};
pub(crate) use export::{ExportArchive, ExportScope};
pub(crate) use manage_dataset::CANCELLED;
pub(crate) use media::{Original, OriginalFile, QueryRegion};
pub(crate) use search::{ClusterPage, RequestedAnchor, ScoredCluster, SearchParams};
pub(crate) use tags::TagTarget;
