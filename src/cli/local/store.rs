//! `tessera store`: creates and describes the tables of a store on a server.

use secrecy::ExposeSecret;
use serde_json::json;

use crate::cli::{
    CliError, CliResult, Column, Document, Exit, Output,
    store_options::{StoreCommand, StoreOptions},
};
use tessera_store::{
    StoreError,
    postgres::{self, StoreAddress, StoreStatus},
};

const STORE_COLUMNS: &[Column] = &[
    Column::new("STORE", "address"),
    Column::new("SERVER", "server_version"),
    Column::new("SCHEMA", "schema_version"),
    Column::new("KNOWN", "known_version"),
    Column::new("PGVECTOR", "vector_version"),
    Column::new("CHECKSUMS", "page_checksums"),
    Column::new("DATASETS", "datasets"),
    Column::new("MEDIA", "media"),
    Column::new("BYTES", "bytes"),
];

/// Waits for the server, at most as long as its address says.
pub fn run_store(out: &Output, command: &StoreCommand) -> CliResult {
    let failed = |cause: StoreError| CliError::failed(cause.to_string());
    let (address, status) = match command {
        StoreCommand::Init(options) => {
            let address = require_store(&options.store)?;
            let status = postgres::init(&address).map_err(failed)?;
            if options.reset_settings {
                postgres::reset_settings(&address).map_err(failed)?;
            }
            (address, status)
        }
        StoreCommand::Status(options) => {
            let address = require_store(options)?;
            let status = postgres::status(&address).map_err(failed)?;
            (address, status)
        }
    };
    out.print(&document(&address, &status))?;
    Ok(Exit::Done)
}

/// The address of the store on a server.
pub(super) fn require_store(options: &StoreOptions) -> CliResult<StoreAddress> {
    store_address(options)?.ok_or_else(|| {
        CliError::usage("give the address of the store with --store or TESSERA_STORE")
    })
}

/// The address of the store on a server, if there is one.
pub(super) fn store_address(options: &StoreOptions) -> CliResult<Option<StoreAddress>> {
    let Some(raw) = options.store.as_ref().map(ExposeSecret::expose_secret) else {
        return Ok(None);
    };
    // Messages must not repeat the address, which may contain a password.
    let address: StoreAddress =
        raw.parse().map_err(|reason: String| CliError::usage(format!("--store: {reason}")))?;
    if address.has_password()
        && std::env::args_os().any(|argument| argument.to_string_lossy().contains(raw))
    {
        return Err(CliError::usage(
            "--store: other users of this machine can read a password on the command line; set \
             TESSERA_STORE instead",
        ));
    }
    Ok(Some(address))
}

fn document(address: &StoreAddress, status: &StoreStatus) -> Document {
    let fields = json!({
        "address": address.to_string(),
        "server_version": status.server_version,
        "schema_version": status.schema_version,
        "known_version": status.known_version,
        "vector_version": status.vectors.version(),
        "page_checksums": status.has_page_checksums,
        "datasets": status.datasets,
        "media": status.media,
        "bytes": status.size,
    });
    Document::one("tessera.store/1", fields, STORE_COLUMNS)
}
