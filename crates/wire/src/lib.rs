//! The bytes of the HTTP interface: how each value is spelled, and how it is read.
//!
//! Both ends stand on this room: the client reads with the `read_*` functions, which forgive
//! what the interface leaves open; the local deployment writes the `*Body` types, which are
//! exactly the document. `tests/interface.rs` holds both against hand-written bytes, so that a
//! mistake the two ends share still shows.

pub mod compat;
pub mod credentials;
pub mod dataset;
pub mod enrichment;
pub mod error_body;
pub mod explore;
pub mod export;
pub mod lenient;
pub mod paths;
pub mod pipeline;
pub mod selection;
pub mod timestamp;
pub mod vql;
