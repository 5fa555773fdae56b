//! Tests of the public interface.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod archive_path;
mod basket;
mod cluster;
mod dataset;
mod export;
mod failure;
mod folder;
mod ids;
mod ingest;
mod link;
mod operation_tracker;
mod polling;
mod region;
mod search;
mod shell_command;
mod text;
mod video;
mod vql;
mod vql_explain;
