//! What the service talks about: datasets, clusters, searches, exports.
//!
//! Pure values and rules, without I/O and without async. The client and the local deployment
//! both stand on this room, so a rule written here (who may export when, which score is close)
//! has one meaning in the whole program.

pub mod algebra;
pub mod basket;
pub mod cadence;
pub mod cluster;
pub mod course;
pub mod dataset;
pub mod enrichment;
pub mod entry;
pub mod exchange;
pub mod export;
pub mod failure;
pub mod folder;
pub mod ids;
pub mod ingest;
pub mod inspection;
pub mod job;
pub mod link;
pub mod member;
pub mod picture_source;
pub mod program;
pub mod region;
pub mod saved_view;
pub mod search;
pub mod selection;
pub mod shell;
pub mod text;
pub mod vql;

pub use basket::{Basket, Change, Toggled};
pub use cluster::{Band, Cluster, Preview, Relevance, Scale, ScoreKind, Tag};
pub use dataset::{Dataset, Field, Operation, Status, Verdict};
pub use enrichment::{Applied, Enrichment, EnrichmentModel};
pub use entry::{Book, Entry, PastSearch};
pub use exchange::{Exchange, Outcome};
pub use export::{
    Archive, ArchiveName, ExportFormat, ExportSpec, ExportState, ExportTask, Extraction,
};
pub use failure::{Failure, FailureKind};
pub use folder::{Folder, FolderEntry};
pub use ids::{ClusterId, DatasetId, ExportTaskId, MediaId, TagId};
pub use ingest::{AddMedia, MediaSource, Preflight};
pub use inspection::Inspection;
pub use job::{Addition, Export, JobRecord, Stamp, Standing, Work};
pub use link::Link;
pub use picture_source::PictureSource;
pub use region::Region;
pub use saved_view::SavedView;
pub use search::{Anchor, AnchorKind, EntityType, Granularity, Page, Query, Search};
pub use selection::{Mark, MarkId, Marked, MarkedCluster, Selection, SelectionItem, Totals};
pub use text::SafeText;
pub use vql::{Filter, Fraction, QueryText};
