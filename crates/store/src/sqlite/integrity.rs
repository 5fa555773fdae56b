//! Finds damage in the database file. The checksum of a row is verified whenever a query reads the row. The whole file
//! is checked if it was not closed, or has changed since it was closed.
//!
//! The SQL functions are `crc32(...)`, which takes any values, and `require(intact)`, which fails for a damaged row, so
//! that no query returns one.

use crc32fast::Hasher;
use rusqlite::{
    Connection, Error, Result,
    ffi::{self, SQLITE_CORRUPT},
    functions::{Context, FunctionFlags},
    types::ValueRef,
};

use super::schema;

/// Adds the functions to a connection. Without them, the tables can be read but not changed.
pub(super) fn register_functions(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("crc32", -1, flags, |values| Ok(crc32(values)))?;
    connection.create_scalar_function("require", 1, flags, |intact| {
        if intact.get_raw(0) == ValueRef::Integer(1) {
            return Ok(true);
        }
        // No text is given, because `SQLite` would forget the error code.
        Err(Error::SqliteFailure(ffi::Error::new(SQLITE_CORRUPT), None))
    })
}

/// Returns the error that `SQLite` itself returns for a damaged file.
fn damage(what: &str) -> Error {
    Error::SqliteFailure(ffi::Error::new(SQLITE_CORRUPT), Some(what.to_owned()))
}

/// Returns the CRC-32 of values, including their types and lengths.
fn crc32(values: &Context) -> u32 {
    let mut crc = Hasher::new();
    for index in 0..values.len() {
        let (kind, bytes): (u8, &[u8]) = match values.get_raw(index) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => (1, &number.to_le_bytes()),
            ValueRef::Real(number) => (2, &number.to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        crc.update(&[kind]);
        crc.update(&bytes.len().to_le_bytes());
        crc.update(bytes);
    }
    crc.finalize()
}

/// Fails with damage unless every page, index entry and row is as it was written.
pub(super) fn check(connection: &Connection) -> Result<()> {
    check_definitions(connection)?;
    run_check(connection, "PRAGMA integrity_check(1)")
}

/// Fails with damage unless the tables, indexes and triggers are as they were created.
pub(super) fn check_definitions(connection: &Connection) -> Result<()> {
    if schema::is_intact(connection)? {
        Ok(())
    } else {
        Err(damage("its definitions have changed"))
    }
}

/// Checks one table of an attached database.
pub(super) fn check_table(connection: &Connection, database: &str, table: &str) -> Result<()> {
    run_check(connection, &format!("PRAGMA {database}.integrity_check({table})"))
}

fn run_check(connection: &Connection, pragma: &str) -> Result<()> {
    let report: String = connection.query_row(pragma, [], |row| row.get(0))?;
    if report == "ok" { Ok(()) } else { Err(damage(&report)) }
}
