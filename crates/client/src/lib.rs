//! The typed client of a dataset service, hosted or on-premises.
//!
//! Callers use [`Client`], which has one async function per endpoint. Below it, `retry` decides which requests are sent
//! again (by the table in `tessera_wire::endpoints`), `auth` renews the login, `transport` sends one request,
//! `response` decides whether the request has succeeded, and `errors` describes every other outcome.

mod add_media;
mod auth;
mod bounded_unpack;
mod client;
mod curl;
mod download;
mod dry_run;
mod errors;
mod extract;
mod image_folder_row;
mod inspect;
mod local_files;
mod manage_dataset;
mod metadata_rows;
mod multipart;
mod part_file;
mod picture_key;
mod preflight;
mod query_image;
mod reach;
mod recorder;
mod request;
mod response;
mod retry;
mod service_config;
mod tls_problem;
mod transport;

pub use add_media::AddedMedia;
pub use client::{Client, RawPage};
pub use download::ProgressCallback;
pub use dry_run::{DryRun, DryRunRequest};
pub use extract::{ExtractOptions, extract};
pub use inspect::{inspect_archive, read_entry, read_metadata};
pub use local_files::{OriginalLookup, Originals, list_originals, share_archive};
pub use manage_dataset::LocalAddition;
pub use part_file::{ExistingFile, check_extraction_folder, check_folder, check_target};
pub use picture_key::PictureKey;
pub use preflight::{LocalFiles, files_to_send, preflight};
pub use query_image::QueryImageUpload;
pub use recorder::{RequestRecorder, Trace, micros};
pub use request::{RawBody, RawPart, RawRequest};
pub use response::RawResponse;
pub use retry::ClientPolicy;
pub use service_config::{
    ApiPrefix, AuthMethod, BaseUrl, CertificateAuthorities, Credentials, SecretReloader,
    ServiceConfig, TOKEN_LIFETIME, TextSearchPath,
};
pub use tessera_wire::endpoints::Endpoint;
