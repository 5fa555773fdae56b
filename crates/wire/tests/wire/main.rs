//! Tests of the public items of the crate.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod add_media;
mod bounded_json;
mod credentials;
mod dataset;
mod endpoints;
mod enrichment;
mod error_body;
mod explore;
mod export;
mod fields;
mod local;
mod selection;
mod tolerant_json;
mod video;
mod vql;
