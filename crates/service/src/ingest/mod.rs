//! Reads media from outside within limits: folders, sidecars, uploads, archives and video frames.

mod changes;
pub mod disk_quota;
pub mod file_names;
mod sandboxed_dir;
mod scan;
pub mod sidecar;
pub mod staging;
pub mod unpack;
pub mod video;

pub use changes::{FolderChanges, diff};
pub use sandboxed_dir::{SandboxedDir, has_image_signature};
pub use scan::{FolderScan, ScannedFile, scan_folder};
