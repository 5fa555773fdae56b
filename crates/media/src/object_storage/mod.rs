//! Object storage in S3, Google Cloud and Azure: lists folders and manifests, reads media, and stores uploads and
//! archives.
//!
//! A library signs the requests and reads the responses, but our own HTTP client sends the requests. No message
//! contains a signed address or a secret.

mod blocking_storage;
mod bucket_client;
mod bucket_folder;
mod error;
mod interrupted_uploads;
mod listing;
mod listing_page;
mod manifest;
mod object_reader;
mod object_uri;
mod settings;
mod storage;

pub use blocking_storage::{BlockingStorage, LazyStorage};
pub use bucket_folder::{BucketFolder, archive_name};
pub use error::StorageError;
pub use interrupted_uploads::{INTERRUPTED_AFTER, IncompleteObject};
pub use listing::{ObjectEntry, ObjectListing, PathRoot};
pub use object_reader::{BucketOriginals, ObjectBody, ObjectReader};
pub(crate) use object_uri::CloudService;
pub use object_uri::{ObjectUri, RoleArn};
pub use settings::StorageSettings;
pub use storage::{ObjectStorage, RetryPolicy};
