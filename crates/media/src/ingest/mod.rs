//! Reads media from outside within limits: folders, sidecars, uploads, archives, and frames of animations and videos.

pub mod animation;
mod changes;
pub mod disk_quota;
pub mod embedded_text;
pub mod file_names;
mod listing_comparison;
mod original_files;
pub mod parquet_images;
mod sandboxed_dir;
mod scan;
pub mod sidecar;
pub mod unpack;
pub mod video;
mod video_input;
mod xml;

pub use changes::{FileToExtract, FolderChanges, diff};
pub use listing_comparison::{ListingComparison, compare_listing};
pub use original_files::{
    OriginalFiles, SourceFile, is_unavailable, read_first_bytes, unavailable,
};
pub use sandboxed_dir::SandboxedDir;
pub use scan::{FolderScan, SYMBOLIC_LINK, ScannedFile, scan_folder};
pub use video_input::VideoInput;
