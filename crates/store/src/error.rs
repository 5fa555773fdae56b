//! Errors of the store, as messages for the terminal.

use std::{fmt, io, path::PathBuf};

use super::{engine::QueryError, postgres::StoreAddress};
use tessera_media::ingest::file_names::printable_path;

#[derive(Debug)]
pub enum StoreError {
    /// Another process (its id, if known) uses this index folder.
    InUse(PathBuf, Option<u32>),
    /// A newer version wrote this index folder.
    NewerSchema {
        data: PathBuf,
        /// Its schema version.
        found_version: usize,
        /// The newest schema version that this program supports.
        known_version: usize,
    },
    /// A directory or file cannot be created, opened or written.
    Io(PathBuf, io::Error),
    /// The linked `SQLite` version has a known corruption bug.
    OldSqlite(&'static str),
    /// A server cannot be reached, or refuses the connection.
    Unreachable(StoreAddress, QueryError),
    /// The tables on a server are of another version, or there are none (0).
    ServerSchema {
        address: StoreAddress,
        found_version: usize,
        known_version: usize,
    },
    Query(QueryError),
}

impl StoreError {
    /// Whether the task that failed is for another worker: one has taken it over, or another version of tessera
    /// has changed the tables.
    pub fn is_for_others(&self) -> bool {
        matches!(self, Self::Query(QueryError::LeaseLost)) || self.is_other_schema()
    }

    /// Whether the transaction would succeed if it was begun again.
    pub fn is_deadlock(&self) -> bool {
        matches!(self, Self::Query(cause) if cause.is_deadlock())
    }

    /// Whether another version of tessera has changed the tables.
    pub fn is_other_schema(&self) -> bool {
        matches!(self, Self::ServerSchema { .. })
    }

    /// Whether the task that failed has to stop.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Query(QueryError::Stopped))
    }

    /// Whether a table was removed before it was read.
    pub fn is_missing_table(&self) -> bool {
        matches!(self, Self::Query(cause) if cause.is_missing_table())
    }

    /// What clients are shown.
    pub fn public_message(&self) -> &'static str {
        if self.is_damage() {
            "the store is damaged; restart the service to rebuild it"
        } else if self.is_other_schema() {
            "the store was updated to another version of tessera; update this service, too"
        } else {
            "the store could not be read or written; check free disk space"
        }
    }

    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Query(cause) if cause.is_damage())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(data, process) => {
                let owner = process.map_or_else(String::new, |id| format!(" (process {id})"));
                write!(
                    f,
                    "the index folder {} is in use by another process{owner}; \
                     stop it, or give another folder with --data",
                    printable_path(data)
                )
            }
            Self::NewerSchema { data, found_version, known_version } => write!(
                f,
                "the store in {} was written by a newer version (schema {found_version}, this one \
                 knows {known_version}); update tessera, or give another folder with --data",
                printable_path(data)
            ),
            Self::Io(path, cause) => write!(
                f,
                "{} cannot be used ({cause}); check permissions and free space, \
                 or give another folder with --data",
                printable_path(path)
            ),
            Self::OldSqlite(version) => {
                write!(f, "SQLite {version} can damage its files; build with 3.51.3 or newer")
            }
            Self::Unreachable(address, cause) => write!(
                f,
                "cannot connect to the store {address} ({cause}); check the server and --store"
            ),
            Self::ServerSchema { address, found_version, known_version } => {
                write_schema_mismatch(f, address, *found_version, *known_version)
            }
            Self::Query(cause) => {
                write!(f, "the store failed ({cause}); check free space and permissions")
            }
        }
    }
}

fn write_schema_mismatch(
    f: &mut fmt::Formatter<'_>,
    address: &StoreAddress,
    found_version: usize,
    known_version: usize,
) -> fmt::Result {
    if found_version > known_version {
        return write!(
            f,
            "the store {address} was written by a newer version (schema {found_version}, this one \
             knows {known_version}); update tessera"
        );
    }
    let what = if found_version == 0 { "has no tables" } else { "is of an older version" };
    write!(f, "the store {address} {what}; run `tessera store init`")
}

impl std::error::Error for StoreError {}

impl From<QueryError> for StoreError {
    fn from(cause: QueryError) -> Self {
        Self::Query(cause)
    }
}
