//! Tests of the public items of the crate.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod basket;
mod cluster;
mod dataset;
mod enrichment;
mod export;
mod failure;
mod file_kind;
mod ingest;
mod job;
mod keyword;
mod picture_source;
mod polling;
mod properties;
mod region;
mod saved;
mod search;
mod selection;
mod set_algebra;
mod shell_command;
mod task_tracker;
mod text;
mod vql;
