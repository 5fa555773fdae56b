//! Values and rules of the service: datasets, clusters, searches, exports.
//!
//! No I/O and no async. The client and the local deployment share this crate, so a rule written here
//! (when an export is allowed, which score is close) is the same on both sides.

mod anchor;
pub mod archive_path;
pub mod basket;
pub mod cluster;
pub mod dataset;
pub mod enrichment;
mod entity_type;
pub mod export;
pub mod facet;
pub mod failure;
mod file_kind;
pub mod folder;
mod histogram;
pub mod ids;
pub mod ingest;
pub mod inspection;
pub mod job;
mod keyword;
pub mod link;
mod login;
mod metadata_label;
pub mod operation_tracker;
pub mod picture_source;
pub mod polling;
pub mod pseudorandom;
pub mod region;
pub mod request_record;
pub mod saved_state;
pub mod saved_view;
pub mod search;
pub mod selection;
pub mod set_algebra;
mod shell_command;
pub mod text;
pub mod video;
pub mod vql;

pub use anchor::{Anchor, AnchorKind};
pub use basket::{Basket, SelectionChange, ToggleOutcome};
pub use cluster::{Cluster, Preview, Relevance, RelevanceBand, ScoreKind, ScoreScale, Tag};
pub use dataset::{Dataset, Operation, Permission, RecordField, Status};
pub use enrichment::{AppliedModel, Enrichment, EnrichmentModel, ModelStatus};
pub use entity_type::EntityType;
pub use export::{
    Archive, ArchiveName, ExportFormat, ExportSpec, ExportState, ExportTask, Extraction,
};
pub use facet::{Facet, FacetKind, count_facets};
pub use failure::{Failure, FailureKind};
pub use file_kind::FileKind;
pub use folder::{FolderEntry, FolderListing};
pub use histogram::Histogram;
pub use ids::{ClusterId, DatasetId, ExportTaskId, MediaId, TagId};
pub use ingest::{MediaAddition, MediaSource, Preflight};
pub use inspection::Inspection;
pub use job::{AdditionJob, ExportJob, FailedExport, JobKind, JobRecord, SavedJobState, Timestamp};
pub use link::Link;
pub use login::{NO_SECRET, login_check_text};
pub use metadata_label::is_metadata_label;
pub use picture_source::PictureSource;
pub use region::Region;
pub use request_record::{RequestOutcome, RequestRecord};
pub use saved_state::{HistoryEntry, ResultCount, SavedSession, StateKey, StateValue};
pub use saved_view::SavedView;
pub use search::{Granularity, Page, Query, Search};
pub use selection::{
    EntryContent, EntryId, SelectedCluster, Selection, SelectionEntry, SelectionItem,
    SelectionTotals,
};
pub use shell_command::ShellCommand;
pub use text::SafeText;
pub use video::VideoFrame;
pub use vql::{Filter, Fraction, QueryText};
