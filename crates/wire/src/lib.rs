//! Reads and writes the values of the HTTP API.
//!
//! The client reads with the `read_*` functions, which are lenient where the interface is vague. The
//! local deployment writes the `*Body` types, which follow the interface document exactly.
//! The contract tests verify both against hand-written bytes, so that a mistake in both ends shows.

pub mod acceptance;
pub mod bounded_json;
pub mod compat;
pub mod credentials;
pub mod dataset;
pub mod enrichment;
pub mod error_body;
pub mod explore;
pub mod export;
pub mod fields;
pub mod lenient;
pub mod paths;
pub mod pipeline;
pub mod selection;
pub mod timestamp;
pub mod video;
pub mod vql;
