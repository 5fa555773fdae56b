//! Media in object storage: lists folders and manifests, and downloads objects, over the S3 API.
//!
//! Only `s3://` addresses are supported. A library signs the requests; our own HTTP client sends
//! them. No message contains an address or a secret.

mod client;
mod download;
mod error;
mod listing;
mod manifest;
mod object_entry;
mod response_body;
mod role;
mod s3;
mod s3_uri;
mod settings;

pub use client::ObjectStorage;
pub use error::StorageError;
pub use listing::{MAX_OBJECTS, ObjectListing};
pub use object_entry::{ObjectEntry, PathRoot};
pub use role::RoleArn;
pub use s3::RetryPolicy;
pub use settings::{AccessKey, StorageSettings};
