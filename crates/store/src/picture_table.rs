//! Thumbnails and the pictures of frames. A row contains the JPEG of a media item, or the location of the JPEG in a pack.
//! A pack is an object of a bucket with the pictures of one transaction. Packs to which nothing refers any more are found
//! here, too.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    time::Duration,
};

use super::prelude::*;
use super::{columns::micros, store_now};

/// A picture, or the location of its bytes.
#[derive(Clone, Debug)]
pub enum StoredPicture {
    /// The bytes of a JPEG.
    InStore(Vec<u8>),
    InPack(PackedPicture),
}

/// The two tables for pictures of one kind. A media item has a row in one of the two.
pub(super) struct PictureTable {
    /// The table of pictures whose bytes are in the store.
    stored: &'static str,
    /// The table of pictures whose bytes are in packs.
    packed: &'static str,
}

pub(super) const THUMBNAILS: PictureTable =
    PictureTable { stored: "thumbnail", packed: "packed_thumbnail" };
pub(super) const FRAME_PICTURES: PictureTable =
    PictureTable { stored: "frame_picture", packed: "packed_frame_picture" };

impl PictureTable {
    /// Returns the columns that [`PictureTable::read`] reads, for a query with [`PictureTable::joins`].
    pub fn columns(&self) -> String {
        let Self { stored, packed } = self;
        format!(
            "{stored}.jpeg, picture_pack.address, {packed}.start, {packed}.length, {packed}.content,
             require(coalesce({stored}.intact, {stored}.media IS NULL)),
             require(coalesce({packed}.intact, {packed}.media IS NULL)),
             require(coalesce(picture_pack.intact, picture_pack.row IS NULL))"
        )
    }

    /// The number of columns that [`PictureTable::columns`] returns.
    pub(crate) const COLUMN_COUNT: usize = 8;

    /// Returns the joins with a table called `media`.
    pub fn joins(&self) -> String {
        let Self { stored, packed } = self;
        format!(
            "LEFT JOIN {stored} ON {stored}.media = media.row
             LEFT JOIN {packed} ON {packed}.media = media.row
             LEFT JOIN picture_pack ON picture_pack.row = {packed}.pack"
        )
    }

    pub fn read(row: &Row, first_column: usize) -> Result<Option<StoredPicture>> {
        if let Some(jpeg) = row.get::<Option<_>>(first_column)? {
            return Ok(Some(StoredPicture::InStore(jpeg)));
        }
        let Some(pack) = row.get::<Option<_>>(first_column + 1)? else { return Ok(None) };
        let start: u64 = row.get(first_column + 2)?;
        let length: u64 = row.get(first_column + 3)?;
        let checksum = row.get::<i64>(first_column + 4)?.cast_unsigned();
        let range = start..start.saturating_add(length);
        Ok(Some(StoredPicture::InPack(PackedPicture { pack, range, checksum })))
    }

    /// Stores the pictures of different media items by their rows, or the locations of the pictures in packs.
    pub fn upsert_all(
        &self,
        connection: &Connection,
        pictures: &[(i64, &[u8])],
        packed: &PackedPictures,
    ) -> Result<()> {
        let (mut in_store, mut in_packs) = (Vec::new(), Vec::new());
        for &(media, jpeg) in pictures {
            match packed.find(jpeg) {
                Some(picture) => in_packs.push((media, picture)),
                None => in_store.push((media, jpeg)),
            }
        }
        self.upsert_stored(connection, &in_store)?;
        self.upsert_packed(connection, &in_packs)
    }

    fn upsert_stored(&self, connection: &Connection, pictures: &[(i64, &[u8])]) -> Result<()> {
        delete_rows(connection, self.packed, pictures.iter().map(|(media, _)| *media))?;
        let sql = format!(
            "INSERT INTO {} VALUES (?1, ?2) ON CONFLICT (media) DO UPDATE SET jpeg = excluded.jpeg",
            self.stored
        );
        query::execute_each(connection, &sql, pictures, |(media, jpeg), run| {
            run(params![media, jpeg])
        })
    }

    fn upsert_packed(
        &self,
        connection: &Connection,
        pictures: &[(i64, &PackedPicture)],
    ) -> Result<()> {
        delete_rows(connection, self.stored, pictures.iter().map(|(media, _)| *media))?;
        let packs = insert_packs(connection, pictures.iter().map(|(_, picture)| &*picture.pack))?;
        let sql = format!(
            "INSERT INTO {} (media, pack, start, length, content) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (media) DO UPDATE SET pack = excluded.pack, start = excluded.start,
               length = excluded.length, content = excluded.content",
            self.packed
        );
        query::execute_each(connection, &sql, pictures, |(media, picture), run| {
            let PackedPicture { pack, range, checksum } = picture;
            let pack = packs.get(&**pack).ok_or(QueryError::NoRow)?;
            let length = range.end - range.start;
            run(params![media, pack, range.start, length, checksum.cast_signed()])
        })
    }
}

fn delete_rows(
    connection: &Connection,
    table: &str,
    media: impl Iterator<Item = i64>,
) -> Result<()> {
    let sql = format!("DELETE FROM {table} WHERE media = ?1");
    query::execute_each(connection, &sql, media, |media, run| run(params![media]))
}

/// Returns the rows of packs by their addresses.
fn insert_packs<'a>(
    connection: &Connection,
    addresses: impl Iterator<Item = &'a str>,
) -> Result<HashMap<&'a str, i64>> {
    let mut packs = HashMap::new();
    for address in addresses {
        if !packs.contains_key(address) {
            let sql = "INSERT INTO picture_pack (address) VALUES (?1)
                       ON CONFLICT (address) DO UPDATE SET address = excluded.address RETURNING row";
            let row: i64 = query::one(connection, sql, params![address], |row| row.get(0))?;
            packs.insert(address, row);
        }
    }
    Ok(packs)
}

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
pub fn mark_unused_packs(connection: &Connection) -> Result<()> {
    let sql = "UPDATE picture_pack SET unused_since = ?1 WHERE unused_since IS NULL
                 AND NOT EXISTS (SELECT 1 FROM packed_thumbnail WHERE pack = picture_pack.row)
                 AND NOT EXISTS (SELECT 1 FROM packed_frame_picture WHERE pack = picture_pack.row)";
    query::execute(connection, sql, params![store_now(connection)?])
}

/// Returns the addresses of packs to which nothing has referred for this long.
pub fn packs_unused_for(connection: &Connection, age: Duration) -> Result<Vec<String>> {
    let sql = "SELECT address, require(intact) FROM picture_pack WHERE unused_since < ?1";
    let newest = store_now(connection)?.saturating_sub(micros(age));
    query::all(connection, sql, params![newest], |row| row.get(0))
}

/// Forgets packs that were removed from the bucket.
pub fn delete_packs(connection: &Connection, addresses: &[String]) -> Result<()> {
    let sql = "DELETE FROM picture_pack WHERE address = ?1";
    query::execute_each(connection, sql, addresses, |address, run| run(params![address]))
}

/// Returns the addresses that belong to packs of this store.
pub fn known_packs(connection: &Connection, addresses: &[String]) -> Result<HashSet<String>> {
    let sql = "SELECT address, require(intact) FROM picture_pack WHERE address = ?1";
    let mut found = StatementBatch::returning(connection, sql, |row| row.get(0));
    addresses.iter().try_for_each(|address| found.add(params![address]))?;
    Ok(found.finish()?.into_iter().collect())
}
