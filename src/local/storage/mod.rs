//! Media in object storage: folders and manifests listed, and their objects fetched, over the
//! S3 API.

mod role;

pub use role::Role;
