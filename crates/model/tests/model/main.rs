//! Tests of the public items of the crate.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod archive_path;
mod basket;
mod cluster;
mod dataset;
mod enrichment;
mod export;
mod failure;
mod file_kind;
mod folder;
mod ids;
mod ingest;
mod inspection;
mod job;
mod keyword;
mod link;
mod login;
mod picture_source;
mod polling;
mod region;
mod region_edits;
mod saved;
mod search;
mod selection;
mod set_algebra;
mod shell_command;
mod task_tracker;
mod text;
mod video;
mod vql;
mod vql_explain;
