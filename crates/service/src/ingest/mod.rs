//! What lies in a folder: walk it, tell what changed since it was last seen, and open its files
//! without ever leaving it.

mod changes;
pub mod file_kind;
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
pub use sidecar::SIDECAR;
