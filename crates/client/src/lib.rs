//! The typed client of a dataset service, hosted or on-premises.
//!
//! Callers see [`Client`]: one async function per endpoint. Below it, `retry_table` says which
//! requests may be sent again, `retry` applies the table, `access_token` renews the login,
//! `transport` carries one request, `response` decides whether it has succeeded, and `failure_text`
//! words every other error.

mod access_token;
mod add_media;
mod archive;
mod attempt_error;
mod auth_provider;
mod base_url;
mod certificate_authorities;
mod client;
mod clock;
mod content_range;
mod curl;
mod disk;
mod download;
mod dry_run;
mod endpoint;
mod extract;
mod failure_text;
mod field_warnings;
mod form_field;
mod http_clients;
mod inspect;
mod known_errors;
mod multipart;
mod name_hasher;
mod part_file;
mod picture_key;
mod policy;
mod query_image;
mod raw_request;
mod reach;
mod recorder;
mod request;
mod response;
mod retry;
mod retry_table;
pub mod trace;
mod transport;
mod upload;

pub use base_url::{ApiPrefix, BaseUrl};
pub use certificate_authorities::CertificateAuthorities;
pub use client::Client;
pub use download::ProgressCallback;
pub use dry_run::{DryRun, DryRunRequest};
pub use endpoint::{
    AuthMethod, Credentials, Endpoint, SecretReloader, TOKEN_LIFETIME, TextSearchPath,
};
pub use extract::extract;
pub use inspect::{inspect_archive, read_entry};
pub use part_file::{ExistingFile, check_folder, check_target};
pub use picture_key::PictureKey;
pub use policy::ClientPolicy;
pub use query_image::QueryImageUpload;
pub use raw_request::{RawBody, RawRequest, RawResponse};
pub use recorder::RequestRecorder;
pub use request::RawPart;
pub use retry_table::ApiOperation;
pub use upload::{files_to_send, preflight};
