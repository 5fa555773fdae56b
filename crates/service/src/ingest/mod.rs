//! What lies in a folder: walk it, tell what changed since it was last seen, and open its files
//! without ever leaving it.

mod changes;
mod folder;
pub mod kind;
pub mod names;
pub mod sidecar;
pub mod stage;
pub mod unpack;
pub mod video;
mod walk;

pub use changes::{Changes, compare};
pub use folder::{Folder, begins_like_a_picture};
pub use sidecar::SIDECAR;
pub use walk::{Found, Survey, walk};
