//! The options of `tessera work`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{ModelOptions, store_options::SharedStorage};

#[derive(Debug, Args)]
pub struct WorkOptions {
    #[command(flatten)]
    pub shared: SharedStorage,
    /// Operations that run at a time, beside one export.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Exit when no task waits for a worker.
    #[arg(long)]
    pub once: bool,
    /// Folder for files in progress; workers and services of one machine share it.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelOptions,
}
