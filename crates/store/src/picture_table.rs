//! The tables of thumbnails and of the pictures of frames. A row contains the JPEG of a media item, or the location of
//! the JPEG in a pack.

use std::collections::HashMap;

use super::picture_pack::{PackedPicture, PackedPictures};
use super::prelude::*;

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
