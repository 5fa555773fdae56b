//! Downloads models from a model hub by its public protocol, into the cache that the hub's own tools share. Come here
//! to change what is read of a hub, or how a file is downloaded.
//!
//! `hf-hub`, the public client in Rust, compares no hashes, sends the token to every host of a redirect, and reads the
//! cache but not the settings for it, so this crate has its own client.

mod cache;
mod error;
mod listing;
mod settings;
mod transfer;

pub use cache::{RepositoryName, cached_snapshot};
pub use error::{HubError, HubErrorKind};
pub use listing::{HubFile, Listing};
pub use settings::HubSettings;
pub use transfer::Hub;
