//! The check of a store that was not closed, or has changed since.

use rusqlite::{Connection, Result};

use super::{checksum::damage, schema};

/// The full-text index is the only part without checksums.
const REBUILD_FULL_TEXT: &str = "
    BEGIN IMMEDIATE;
    INSERT INTO words (words) VALUES ('delete-all');
    INSERT INTO words (rowid, caption) SELECT row, stemmed(caption, (SELECT indexed FROM caption_language AS of WHERE of.dataset = media.dataset))
      FROM media WHERE caption IS NOT NULL;
    COMMIT";

/// Fails with damage unless every page, index entry and row is as it was written.
pub(super) fn check(connection: &Connection) -> Result<()> {
    if !schema::is_intact(connection)? {
        return Err(damage("its definitions have changed"));
    }
    run_check(connection, "PRAGMA integrity_check(1)")?;
    connection.execute_batch(REBUILD_FULL_TEXT)
}

/// Checks one table of an attached database.
pub(super) fn check_table(connection: &Connection, database: &str, table: &str) -> Result<()> {
    run_check(connection, &format!("PRAGMA {database}.integrity_check({table})"))
}

fn run_check(connection: &Connection, pragma: &str) -> Result<()> {
    let report: String = connection.query_row(pragma, [], |row| row.get(0))?;
    if report == "ok" { Ok(()) } else { Err(damage(&report)) }
}
