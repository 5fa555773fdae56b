//! Reads media from outside, within limits: folders, sidecars, uploads, archives, and frames of animations and videos.

pub mod archive_readers;
mod bounded_unpacker;
mod companions;
pub mod disk_quota;
pub(crate) mod documents;
pub mod embedded_text;
pub mod embeddings;
mod features;
pub mod file_names;
mod folder_patterns;
mod original_files;
pub mod parquet_images;
mod scan;
pub mod sidecar;
pub(crate) mod text_encoding;
mod unrecognized;
pub mod video;
mod video_program;
mod zip_member;

pub use companions::{CompanionFinder, Companions};
pub use folder_patterns::{EXCLUDED, FolderPatterns, PATTERNS_FILE};
pub use original_files::{
    HASHED_BEFORE_SENDING, IndexedContent, OriginalFiles, SandboxedDir, SourceFile, is_changed,
    is_refused, is_source_failure, is_temporary, is_unavailable, read_error_name, read_first_bytes,
    unavailable,
};
pub(crate) use scan::NANOS_PER_SECOND;
pub use scan::{
    ANNEX_POINTER, FileStat, FileToExtract, FolderChanges, FolderScan, KnownFile,
    ListingComparison, SYMBOLIC_LINK, SYSTEM_ENTRY, ScannedFile, TAGS_FOLDER, compare_listing,
    diff, is_parquet, scan_folder,
};
pub use unrecognized::{pointer_reason, unrecognized_reason};
pub use video_program::{VideoError, VideoInput};
