//! The bodies of the API, each described once. A body has one file with the struct that the service sends, the lenient
//! reader of what other services send, and the JSON schema of input.
//!
//! The service sends the `*Body` types, which follow the API document exactly, and commands print the same types.
//! Some fields of these types are optional although the service always sends them, because a command prints null for
//! what it did not receive. The client reads with the `read_*` functions in the same files, which are lenient where the
//! document is vague. The contract tests compare writers and readers with hand-written bytes, so that a mistake in both
//! directions shows.

pub mod add_media;
pub mod compat;
pub mod credentials;
pub mod dataset;
pub mod endpoints;
pub mod enrichment;
pub mod error_body;
pub mod explore;
pub mod export;
pub mod fields;
pub mod local_dataset;
pub mod long_body;
pub mod map;
pub mod preview;
pub mod query_image;
pub mod selection;
pub mod service;
pub mod tags;
pub mod text_encoding;
pub mod tolerant_json;
pub mod vql;
