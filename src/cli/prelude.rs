//! Re-exports what almost every command needs: the context with its output and errors, the words of `clap`, and the
//! types of documents, paths and datasets.

pub(super) use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) use clap::{Args, Subcommand};
pub(super) use serde_json::{Value, json};
pub(super) use tessera_client::Endpoint;
pub(super) use tessera_model::{
    Dataset, DatasetId, Failure, SafeText, Search, ShellCommand, text::count_with_noun,
};

pub(super) use crate::cli::{CliError, CliResult, Connection, Context, Document, Exit};
pub(super) use tessera_interface::printable_text::PrintableText;
