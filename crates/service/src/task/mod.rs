//! Background work: indexing tasks (creation, addition, reindex) and exports.
//!
//! The state of every task is in the store. A task that is stopped or killed stays unfinished in the store until a
//! worker takes it again.

mod cluster_step;
mod clustered_media;
mod compare_folder;
mod context;
mod encode_media;
mod encoding_runs;
mod extract_media;
mod index_source;
mod member_features;
mod run_export;
mod run_indexing;
mod runner;
mod several_processes;
mod text_step;
mod wake_signal;

pub(crate) use compare_folder::note_comparison;
use context::TaskContext;
pub use context::WorkerContext;
pub use encoding_runs::EncodingRuns;
pub(crate) use member_features::with_embeddings;
pub use runner::TaskRunner;

/// The version of the stored features and words. Increase it if `index::extract` or `text::words` change their results,
/// so that existing datasets are indexed again.
pub const EXTRACTOR_VERSION: u32 = 14;

/// The version that is stored until everything has been extracted again, so that an interruption neither ends the
/// extraction nor restarts it.
pub(crate) const INCOMPLETE: u32 = 1 << 16 | EXTRACTOR_VERSION;
