//! Checks for pgvector, the extension of PostgreSQL for vectors and their nearest neighbors.

use crate::{
    engine::{Connection, Result, Row, params},
    query,
};

/// The oldest usable version. Filtered searches need index scans that continue until enough rows match.
const OLDEST: (u32, u32) = (0, 8);

/// Whether a server has pgvector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorSupport {
    /// The database has pgvector, in a version that can be used.
    Installed {
        version: String,
        /// The schema that contains pgvector.
        schema: String,
    },
    /// The database has an older version, which cannot be used.
    Outdated(String),
    /// The server offers this version, but the database does not have it.
    Available(String),
    Missing,
}

impl VectorSupport {
    /// Returns the version that the database has, if this program can use it.
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Installed { version, .. } => Some(version),
            Self::Outdated(_) | Self::Available(_) | Self::Missing => None,
        }
    }
}

/// Looks for the extension.
pub fn support(connection: &Connection) -> Result<VectorSupport> {
    let installed = "SELECT extversion, quote_ident(nspname) FROM pg_extension
                     JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'";
    let read = |row: &Row| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    if let Some((version, schema)) = query::find(connection, installed, params![], read)? {
        return Ok(if is_usable(&version) {
            VectorSupport::Installed { version, schema }
        } else {
            VectorSupport::Outdated(version)
        });
    }
    let available = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'";
    let version = query::find(connection, available, params![], |row| row.get(0))?;
    Ok(version.map_or(VectorSupport::Missing, VectorSupport::Available))
}

fn is_usable(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST
}

/// Creates the extension if the server offers it. A user without the right to do so does not need it, because searches
/// then use index files.
pub fn create(connection: &Connection) -> Result<()> {
    if let VectorSupport::Available(_) = support(connection)? {
        // An error is ignored, because another process may be creating the extension, and the status of the store shows
        // what is missing.
        let _ = connection.execute_batch("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_usable;

    #[test]
    fn versions_without_iterative_scans_are_not_used() {
        let usable = ["0.8.0", "0.8.5", "0.10.1", "1.0"];
        assert!(usable.into_iter().all(is_usable));
        assert!(!["0.7.4", "0.5", "", "dev"].into_iter().any(is_usable));
    }
}
