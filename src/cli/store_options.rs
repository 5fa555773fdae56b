//! The store of a local service: a file in its data folder, or tables on a server.

use clap::{Args, Subcommand};
use secrecy::SecretString;

#[derive(Debug, Args)]
pub struct StoreOptions {
    /// Store on a PostgreSQL server rather than in the index folder.
    #[arg(
        long,
        value_name = "postgres://USER@HOST/DATABASE",
        env = "TESSERA_STORE",
        hide_env_values = true
    )]
    pub store: Option<SecretString>,
}

/// What the processes of one service share.
#[derive(Debug, Args)]
pub struct SharedStorage {
    #[command(flatten)]
    pub store: StoreOptions,
    /// Keep uploads, thumbnails and the archives of exports in object storage (S3, Google Cloud or Azure).
    #[arg(long, env = "TESSERA_BUCKET", value_name = "URI")]
    pub bucket: Option<String>,
}

#[derive(Debug, Args)]
pub struct StoreInitOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// Let the next process choose the bucket and the model that all processes of the store must have.
    #[arg(long)]
    pub reset_settings: bool,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Create the tables of a store, or update them to this version.
    Init(StoreInitOptions),
    /// Show the versions and the size of a store.
    Status(StoreOptions),
}
