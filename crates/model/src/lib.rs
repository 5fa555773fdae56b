//! Values and rules of a dataset media service: datasets, clusters, searches, selections, exports and jobs.
//!
//! Nothing in this crate does I/O or is async. The client and the local service share the crate, so a rule in it (when
//! an export is allowed, which score is close) is the same on both sides.

pub mod annotation;
pub mod archive_paths;
mod available_model;
pub mod basket;
pub mod check;
pub mod cluster;
pub mod dataset;
mod distribution;
pub mod enrichment;
pub mod export;
mod facet;
pub mod failure;
pub mod file_kind;
mod folder_listing;
pub mod ids;
pub mod ingest;
pub mod job;
mod keyword;
mod mask;
mod media_map;
mod picture_name;
pub mod picture_source;
pub mod polling;
pub mod pseudorandom;
pub mod region;
mod saved_state;
pub mod search;
pub mod selection;
pub mod set_algebra;
mod shell_command;
pub mod split;
pub mod tag;
pub mod task_tracker;
pub mod text;
pub mod vql;

pub use annotation::{Annotation, LabeledRegion};
pub use available_model::{
    AVAILABLE_MODELS, AvailableModel, EmbeddingExport, EmbeddingImport, EncodingProgress,
    ModelPlan, STARTER,
};
pub use basket::{Basket, SelectionChange, ToggleOutcome};
pub use cluster::{
    Cluster, FileFacts, Preview, Relevance, RelevanceBand, ScoreKind, ScoreScale, Tag,
};
pub use dataset::{
    Dataset, DatasetList, FileChanges, LocalDataset, MAX_PATTERNS, Operation, PatternLists,
    Permission, RecordField, RescanResult, Status,
};
pub use distribution::{Distribution, DistributionBar};
pub use enrichment::{
    AppliedModel, Coverage, Enrichment, EnrichmentModel, IMPORTED_EMBEDDINGS, ModelFile,
    ModelStatus,
};
pub use export::{
    Archive, ArchiveName, ExportFormat, ExportPreview, ExportSpec, ExportState, ExportTask,
    Extraction, Inspection, Omission,
};
pub use facet::{
    ColumnFacets, Facet, FacetKind, Histogram, Overview, caption_words, count_distributions,
    count_facets, is_metadata_label,
};
pub use failure::{
    Failure, FailureKind, NO_SECRET, RequestOutcome, RequestRecord, login_check_text,
};
pub use file_kind::{FileKind, MAX_PICTURE_BYTES, SkippedFile};
pub use folder_listing::{FolderEntry, FolderListing, FolderQuery};
pub use ids::{ClusterId, DatasetId, ExportTaskId, InvalidId, MediaId, TagChangeId, TagId};
pub use ingest::{MediaAddition, MediaSource, Preflight};
pub use job::{
    AdditionJob, ExportJob, ExportPart, FailedExport, JobKind, JobRecord, ModelJob, SavedJobState,
    Timestamp,
};
pub use mask::Mask;
pub use media_map::{MAX_MAP_POINTS, MapIssue, MapPoint, MediaMap};
pub use picture_name::{PictureName, keep_best, split_name};
pub use picture_source::{Link, PictureSource, VideoFrame};
pub use region::Region;
pub use saved_state::{
    Cover, HistoryEntry, KeptTags, Place, RecentPlace, ResultCount, SavedSession, SavedView,
    StateKey, StateValue,
};
pub use search::{
    Anchor, AnchorKind, EntityType, FileOrder, FileSortKey, Granularity, MaxScoreViolation, Page,
    Query, Search,
};
pub use selection::{
    ClusterPart, EntryContent, EntryId, ExportSelection, SelectedCluster, Selection,
    SelectionEntry, SelectionItem, SelectionTotals,
};
pub use shell_command::ShellCommand;
pub use tag::{
    DatasetTag, DatasetTags, TagChange, TagColor, TagDefinitionChange, TagEdit, TagTarget,
    UserTags, tag_name,
};
pub use text::{SafeText, composed, is_same_name, search_form, table_delimiters};
pub use vql::{Filter, Fraction, QueryText};
