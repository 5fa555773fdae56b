//! The check of a store that was not closed, or has changed since.

use rusqlite::{Connection, Result};

use super::{checksum::damage, schema};

/// Fails with damage unless every page, index entry and row is as it was written.
pub(super) fn check(connection: &Connection) -> Result<()> {
    if !schema::is_intact(connection)? {
        return Err(damage("its definitions have changed"));
    }
    run_check(connection, "PRAGMA integrity_check(1)")
}

/// Checks one table of an attached database.
pub(super) fn check_table(connection: &Connection, database: &str, table: &str) -> Result<()> {
    run_check(connection, &format!("PRAGMA {database}.integrity_check({table})"))
}

fn run_check(connection: &Connection, pragma: &str) -> Result<()> {
    let report: String = connection.query_row(pragma, [], |row| row.get(0))?;
    if report == "ok" { Ok(()) } else { Err(damage(&report)) }
}
