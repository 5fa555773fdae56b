//! The typed client of a dataset service, hosted or on-premises.
//!
//! Callers see [`Client`]: one async function per endpoint. Below it, `operation` says what may
//! be sent again, `retry` obeys it, `token` keeps the login fresh, `transport` carries one request,
//! and `failure` turns whatever went wrong into words.

mod archive;
mod authorities;
mod base_url;
mod call;
mod cause;
mod client;
mod clock;
mod curl;
mod download;
mod endpoint;
mod extract;
mod failure;
mod http;
mod ingest;
mod inspect;
mod login;
mod multipart;
mod operation;
mod part;
mod policy;
mod query_image;
mod range;
mod raw;
mod rehearsal;
mod retry;
mod setback;
mod token;
pub mod trace;
mod transport;
mod witness;
#[cfg(test)]
mod zipped;

pub use authorities::Authorities;
pub use base_url::BaseUrl;
pub use client::Client;
pub use download::Report;
pub use endpoint::{Access, Credentials, Endpoint, Reload, TOKEN_LIFE, TextSearchPath};
pub use extract::extract;
pub use ingest::{files_to_send, preflight};
pub use inspect::{entry_of, inspect_archive};
pub use operation::Operation;
pub use part::{Existing, check_target};
pub use policy::Policy;
pub use query_image::QueryImage;
pub use raw::{RawAnswer, RawBody, RawPart, RawRequest};
pub use rehearsal::{Rehearsal, Rehearsed};
pub use witness::Witness;
