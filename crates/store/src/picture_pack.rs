//! Describes pictures in packs, which are objects of a bucket with the pictures of one transaction, and finds the
//! packs to which nothing refers any more.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    time::Duration,
};

use super::prelude::*;
use crate::{columns::micros, store_now};

/// The location of a picture in a pack, and a checksum of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedPicture {
    /// The address of the pack in object storage.
    pub pack: String,
    /// The position in the pack, in bytes.
    pub range: Range<u64>,
    /// The checksum that [`picture_checksum`] computes.
    pub checksum: u64,
}

/// The pictures that were put into packs, by the hash of their bytes. Empty if the store keeps the pictures itself.
#[derive(Debug, Default)]
pub struct PackedPictures(HashMap<blake3::Hash, PackedPicture>);

impl PackedPictures {
    pub fn insert(&mut self, picture: &[u8], pack: &str, range: Range<u64>) {
        let hash = blake3::hash(picture);
        let (pack, checksum) = (pack.to_owned(), first_bytes(hash));
        self.0.insert(hash, PackedPicture { pack, range, checksum });
    }

    pub fn find(&self, picture: &[u8]) -> Option<&PackedPicture> {
        // If there are no packs, nothing needs to be hashed.
        if self.0.is_empty() { None } else { self.0.get(&blake3::hash(picture)) }
    }
}

/// Returns the first eight bytes of the BLAKE3 hash of a picture.
pub fn picture_checksum(picture: &[u8]) -> u64 {
    first_bytes(blake3::hash(picture))
}

fn first_bytes(hash: blake3::Hash) -> u64 {
    let (chunks, _) = hash.as_bytes().as_chunks();
    u64::from_le_bytes(chunks[0])
}

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
    let sql = "DELETE FROM picture_pack WHERE address = ?1";
    query::execute_each(connection, sql, addresses, |address, run| run(params![address]))
}

/// Returns the addresses that belong to packs of this store.
pub fn known(connection: &Connection, addresses: &[String]) -> Result<HashSet<String>> {
    let sql = "SELECT address, require(intact) FROM picture_pack WHERE address = ?1";
    let mut found = StatementBatch::returning(connection, sql, |row| row.get(0));
    addresses.iter().try_for_each(|address| found.add(params![address]))?;
    Ok(found.finish()?.into_iter().collect())
}
