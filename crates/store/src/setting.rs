//! Named values of a store, which all its processes share.

use super::{Connection, Result, params, query};

/// The setting with the login of the service, for a store on a server.
pub const LOGIN: &str = "login";
/// The setting with the bucket that all processes must use, in the form in which errors show it.
pub const BUCKET: &str = "bucket";
/// The setting with the bucket that was used until the settings were reset.
pub const FORMER_BUCKET: &str = "former_bucket";
/// The setting with the model that all processes must use, in the form in which errors show it.
pub const MODEL: &str = "encoders";
/// The secret from which the identifier of the store and the first key of links are derived. It never changes.
pub(super) const FIRST_LINK_KEY: &str = "link_key";
/// The key that signs links, after the first one was revoked.
pub(super) const LINK_KEY: &str = "link_key_after_revocation";

pub fn find(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT value, require(intact) FROM setting WHERE name = ?1";
    query::find(connection, sql, params![name], |row| row.get(0))
}

/// Stores a value unless there is one. Returns the value that is stored afterwards.
pub fn find_or_insert(connection: &Connection, name: &str, value: &[u8]) -> Result<Vec<u8>> {
    if let Some(known) = find(connection, name)? {
        return Ok(known);
    }
    let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
    query::execute(connection, sql, params![name, value])?;
    // Another process may have stored a value first.
    let sql = "SELECT value FROM setting WHERE name = ?1";
    query::one(connection, sql, params![name], |row| row.get(0))
}

/// Forgets the settings that all processes must share, so that the next process chooses them. The bucket is remembered
/// as the former one.
pub(super) fn forget_common(connection: &Connection) -> Result<()> {
    remove(connection, MODEL)?;
    let Some(bucket) = remove(connection, BUCKET)? else { return Ok(()) };
    replace(connection, FORMER_BUCKET, &bucket)
}

/// Removes a value, and returns it if there was one.
pub fn remove(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>> {
    let sql = "DELETE FROM setting WHERE name = ?1 RETURNING value";
    query::find(connection, sql, params![name], |row| row.get(0))
}

pub fn replace(connection: &Connection, name: &str, value: &[u8]) -> Result<()> {
    let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    query::execute(connection, sql, params![name, value])
}

/// Fails if the database accepts no changes.
pub(super) fn change_nothing(connection: &Connection) -> Result<()> {
    query::execute(connection, "DELETE FROM setting WHERE false", params![])
}
