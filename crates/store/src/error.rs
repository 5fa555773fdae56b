//! The errors of the store, with messages for the terminal.

use std::{fmt, io, path::PathBuf};

use super::{engine::QueryError, postgres::StoreAddress, table_definitions::VERSION};
use tessera_media::ingest::file_names::printable_path;

#[derive(Debug)]
pub enum StoreError {
    /// Another process has been checking this index folder for minutes. The id of the process is given if it is known.
    Busy(PathBuf, Option<u32>),
    /// Another version of this program wrote the tables in this index folder.
    FileVersion {
        data: PathBuf,
        found_version: usize,
    },
    /// A directory or file cannot be created, opened or written.
    Io(PathBuf, io::Error),
    /// The linked `SQLite` version has a known corruption bug.
    OldSqlite(&'static str),
    /// A server cannot be reached, or refuses the connection.
    Unreachable(StoreAddress, QueryError),
    /// Another version of this program created the tables on a server, or there are no tables (version 0).
    ServerVersion {
        address: StoreAddress,
        found_version: usize,
    },
    Query(QueryError),
}

impl StoreError {
    /// Whether another worker has taken over the task that failed.
    pub fn is_lease_lost(&self) -> bool {
        matches!(self, Self::Query(QueryError::LeaseLost))
    }

    /// Whether the transaction can succeed if it is repeated.
    pub fn is_deadlock(&self) -> bool {
        matches!(self, Self::Query(QueryError::Deadlock(_)))
    }

    /// Whether the failed task must stop.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Query(QueryError::Stopped))
    }

    /// Whether the disk is full, so that the operation can succeed when there is space again.
    pub fn is_storage_full(&self) -> bool {
        match self {
            Self::Query(QueryError::StorageFull(_)) => true,
            Self::Io(_, cause) => is_storage_full(cause),
            _ => false,
        }
    }

    /// Returns the error of a full disk in place of an error that names no cause. If the log of `SQLite` cannot grow,
    /// `SQLite` reports any other I/O error.
    pub(crate) fn or_full_disk(self, is_full: impl FnOnce() -> bool) -> Self {
        match self {
            Self::Query(QueryError::Failed(cause)) if is_full() => {
                Self::Query(QueryError::StorageFull(cause))
            }
            other => other,
        }
    }

    /// Whether the server of the store does not respond.
    pub fn is_unresponsive(&self) -> bool {
        matches!(self, Self::Query(QueryError::Unresponsive))
    }

    /// Whether the server of the store accepts no changes.
    fn is_read_only(&self) -> bool {
        matches!(self, Self::Query(QueryError::ReadOnly(_)))
    }

    /// Whether the operation can succeed later, because a server or another connection of this server is the cause.
    pub fn is_temporary(&self) -> bool {
        let is_lost = matches!(
            self,
            Self::Unreachable(..)
                | Self::Query(QueryError::Disconnected(_) | QueryError::Locked(_))
        );
        is_lost || self.is_unresponsive() || self.is_read_only()
    }

    /// Whether a table was removed before it was read.
    pub fn is_missing_table(&self) -> bool {
        matches!(self, Self::Query(QueryError::MissingTable(_)))
    }

    /// Returns the message that clients are shown.
    pub fn public_message(&self) -> &'static str {
        if self.is_damage() {
            "the store is damaged; restart the service to rebuild it"
        } else if self.is_read_only() {
            "the server of the store accepts no changes"
        } else if self.is_temporary() {
            "the store does not respond; try again later"
        } else if matches!(self, Self::Query(QueryError::Refused(..))) {
            "the server of the store refuses this; its log says why"
        } else {
            "the store could not be read or written; check free disk space"
        }
    }

    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Query(QueryError::Damaged(_)))
    }
}

/// Whether a file could not be written because the disk is full.
pub fn is_storage_full(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(data, process) => {
                let owner = process.map_or_else(String::new, |id| format!(" (process {id})"));
                write!(
                    f,
                    "another process{owner} is still checking the index folder {}; wait until it has ended, or stop it",
                    printable_path(data)
                )
            }
            Self::FileVersion { data, found_version } => {
                let (data, difference) = (printable_path(data), difference(*found_version));
                write!(
                    f,
                    "the store in {data} is of another version of tessera ({difference}); use that version, or stop \
                     it, remove tessera.db there or set it aside, then open each folder again; uploads are kept"
                )
            }
            Self::Io(path, cause) => write!(
                f,
                "{} cannot be used ({cause}); check permissions and free space, or choose another folder by \
                 XDG_DATA_HOME, or by --data of `open` and `serve`",
                printable_path(path)
            ),
            Self::OldSqlite(version) => {
                write!(f, "SQLite {version} can damage its files; build with 3.51.3 or newer")
            }
            Self::Unreachable(address, cause) => {
                let remedy = match cause {
                    QueryError::Refused(_, remedy) => remedy,
                    _ => "check the server and --store",
                };
                write!(f, "cannot connect to the store {address} ({cause}); {remedy}")
            }
            Self::ServerVersion { address, found_version: 0 } => {
                write!(f, "the store {address} has no tables; run `tessera store init`")
            }
            Self::ServerVersion { address, found_version } => write!(
                f,
                "the store {address} is of another version of tessera (schema {found_version}, this one \
                 uses {VERSION}); remove its schema or rename it, run `tessera store init`, then open \
                 each folder again; uploads are kept"
            ),
            Self::Query(QueryError::StorageFull(cause)) => write!(
                f,
                "the disk of the store or of temporary files is full ({cause}); free some space"
            ),
            Self::Query(cause) => {
                write!(f, "the store failed ({cause}); {}", cause.remedy())
            }
        }
    }
}

/// Says how a store with this version of the tables differs from one of this program.
fn difference(found: usize) -> String {
    match found {
        VERSION => "its tables differ".to_owned(),
        _ => format!("schema {found}, this one uses {VERSION}"),
    }
}

impl std::error::Error for StoreError {}

impl From<QueryError> for StoreError {
    fn from(cause: QueryError) -> Self {
        Self::Query(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_cause_is_explained_by_a_full_disk() {
        let text = |error: QueryError, is_full| {
            StoreError::Query(error).or_full_disk(|| is_full).to_string()
        };
        let failed = || QueryError::Failed("disk I/O error".into());
        let full = "the disk of the store or of temporary files is full (disk I/O error)";
        assert!(text(failed(), true).contains(full));
        assert!(text(failed(), false).contains("disk I/O error"));
        assert!(text(QueryError::Damaged("malformed".into()), true).contains("malformed"));
    }
}
