//! Object storage of S3, Google Cloud and Azure: lists folders and manifests, reads media, and keeps
//! archives.
//!
//! A library signs the requests and reads the responses; our own HTTP client sends them. No message
//! contains a signed address or a secret.

mod blocking_storage;
mod bucket_folder;
mod bucket_folder_content;
mod bucket_originals;
mod bucket_store;
mod error;
mod interrupted_uploads;
mod lazy_storage;
mod listing;
mod listing_page;
mod listing_parts;
mod manifest;
mod manifest_listing;
mod object_body;
mod object_entry;
mod object_reader;
mod object_uri;
mod retry_policy;
mod role;
mod settings;
mod storage;
mod transport;

pub use blocking_storage::BlockingStorage;
pub use bucket_folder::{BucketFolder, archive_name};
pub use bucket_originals::BucketOriginals;
pub use error::StorageError;
pub use interrupted_uploads::{INTERRUPTED_AFTER, IncompleteObject};
pub use lazy_storage::LazyStorage;
pub use listing::ObjectListing;
pub use listing_parts::ListingParts;
pub use object_body::ObjectBody;
pub use object_entry::{ObjectEntry, PathRoot};
pub use object_reader::ObjectReader;
pub use object_uri::{BucketUri, CloudService, ObjectUri};
pub use retry_policy::RetryPolicy;
pub use role::RoleArn;
pub use settings::StorageSettings;
pub use storage::ObjectStorage;
