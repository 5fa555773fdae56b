//! Finds the packs of pictures to which nothing refers any more.

use std::{collections::HashSet, time::Duration};

use super::{
    columns::micros,
    engine::{Connection, Result, StatementBatch, params},
    query, store_now,
};

/// Records the time since which nothing refers to a pack. Such packs are kept for a while, because a backup may still
/// refer to them.
pub fn mark_unused(connection: &Connection) -> Result<()> {
    let sql = "UPDATE picture_pack SET unused_since = ?1 WHERE unused_since IS NULL
                 AND NOT EXISTS (SELECT 1 FROM packed_thumbnail WHERE pack = picture_pack.row)
                 AND NOT EXISTS (SELECT 1 FROM packed_frame_picture WHERE pack = picture_pack.row)";
    query::execute(connection, sql, params![store_now(connection)?])
}

/// Returns the addresses of packs to which nothing has referred for this long.
pub fn unused_for(connection: &Connection, age: Duration) -> Result<Vec<String>> {
    let sql = "SELECT address, require(intact) FROM picture_pack WHERE unused_since < ?1";
    let newest = store_now(connection)?.saturating_sub(micros(age));
    query::all(connection, sql, params![newest], |row| row.get(0))
}

/// Forgets packs that were removed from the bucket.
pub fn delete_all(connection: &Connection, addresses: &[String]) -> Result<()> {
    let mut deletes =
        StatementBatch::new(connection, "DELETE FROM picture_pack WHERE address = ?1");
    addresses.iter().try_for_each(|address| deletes.add(params![address]))?;
    deletes.finish().map(drop)
}

/// Returns the addresses that belong to packs of this store.
pub fn known(connection: &Connection, addresses: &[String]) -> Result<HashSet<String>> {
    let sql = "SELECT address, require(intact) FROM picture_pack WHERE address = ?1";
    let mut found = StatementBatch::returning(connection, sql, |row| row.get(0));
    addresses.iter().try_for_each(|address| found.add(params![address]))?;
    Ok(found.finish()?.into_iter().collect())
}
