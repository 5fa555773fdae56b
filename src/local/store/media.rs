//! Media rows: what is known of each file of a folder, and which files were skipped and why.

use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use half::f16;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::dataset::path;
use crate::{
    local::index::Features,
    model::{DatasetId, Granularity, MediaId},
};

/// How a file looked from outside when it was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
}

/// What is known of a file that was opened before.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its look from outside at that time.
    pub stamp: Stamp,
    /// The hash of its content if it became a media; `None` if it was skipped.
    pub content: Option<[u8; 32]>,
}

/// A stored media, without its descriptor and thumbnail.
#[derive(Clone, Debug)]
pub struct Media {
    /// Row number: the order of arrival.
    pub row: i64,
    /// Identifier.
    pub id: MediaId,
    /// Relative to the folder.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of the file.
    pub content: [u8; 32],
    /// Pixels, upright.
    pub width: u32,
    /// Pixels, upright.
    pub height: u32,
    /// Variance of the Laplacian.
    pub sharpness: f32,
    /// Mean luma, 0.0-1.0.
    pub brightness: f32,
}

impl Media {
    /// The file name without its folders, readable.
    #[must_use]
    pub fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// The columns of [`Media`] in the order [`media`] reads them, for a table called `media`.
pub(super) const COLUMNS: &str = "media.row, media.id, media.path, media.size, media.content, \
                                  media.width, media.height, media.sharpness, media.brightness";

pub(super) fn media(row: &Row) -> rusqlite::Result<Media> {
    Ok(Media {
        row: row.get(0)?,
        id: MediaId(row.get(1)?),
        path: path(row.get(2)?),
        size: row.get(3)?,
        content: row.get(4)?,
        width: row.get(5)?,
        height: row.get(6)?,
        sharpness: row.get(7)?,
        brightness: row.get(8)?,
    })
}

/// The identifier of the media at `path` of a dataset: the same whenever it is indexed.
#[must_use]
pub fn id_of(dataset: DatasetId, path: &Path) -> MediaId {
    MediaId(uuid::Uuid::new_v5(&dataset.0, path.as_os_str().as_bytes()))
}

/// Every file of a dataset that was opened before, by path.
///
/// # Errors
/// The store failed.
pub fn known(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<HashMap<PathBuf, Known>> {
    let mut query = connection.prepare_cached(
        "SELECT path, size, modified, content FROM media WHERE dataset = ?1
         UNION ALL
         SELECT path, size, modified, NULL FROM skipped
         WHERE dataset = ?1 AND size IS NOT NULL",
    )?;
    let rows = query.query_map([dataset.0], |row| {
        let stamp = Stamp {
            size: row.get(1)?,
            modified: row.get(2)?,
        };
        Ok((
            path(row.get(0)?),
            Known {
                stamp,
                content: row.get(3)?,
            },
        ))
    })?;
    rows.collect()
}

/// Adds a media or replaces what is known of it.
///
/// # Errors
/// The store failed.
pub fn put(
    connection: &Connection,
    dataset: DatasetId,
    file: &Path,
    stamp: Stamp,
    content: &[u8; 32],
    features: &Features,
) -> rusqlite::Result<()> {
    unskip(connection, dataset, file)?;
    let row: i64 = connection
        .prepare_cached(
            "INSERT INTO media (id, dataset, path, size, modified, content, width, height, hash,
                                sharpness, brightness)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (dataset, path) DO UPDATE SET
               size = excluded.size, modified = excluded.modified, content = excluded.content,
               width = excluded.width, height = excluded.height, hash = excluded.hash,
               sharpness = excluded.sharpness, brightness = excluded.brightness
             RETURNING row",
        )?
        .query_row(
            params![
                id_of(dataset, file).0,
                dataset.0,
                file.as_os_str().as_bytes(),
                stamp.size,
                stamp.modified,
                content,
                features.width,
                features.height,
                features.hash.cast_signed(),
                features.sharpness,
                features.brightness,
            ],
            |row| row.get(0),
        )?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO look VALUES (?1, ?2)")?
        .execute(params![row, packed(&features.descriptor)])?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2)")?
        .execute(params![row, features.thumbnail])?;
    Ok(())
}

/// Notes a new look from outside of a media whose content is the same.
///
/// # Errors
/// The store failed.
pub fn touch(
    connection: &Connection,
    dataset: DatasetId,
    file: &Path,
    stamp: Stamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE media SET size = ?3, modified = ?4 WHERE dataset = ?1 AND path = ?2",
        )?
        .execute(params![
            dataset.0,
            file.as_os_str().as_bytes(),
            stamp.size,
            stamp.modified
        ])?;
    Ok(())
}

/// Removes a file from the media and from the skipped ones.
///
/// # Errors
/// The store failed.
pub fn remove(connection: &Connection, dataset: DatasetId, file: &Path) -> rusqlite::Result<()> {
    unskip(connection, dataset, file)?;
    connection
        .prepare_cached("DELETE FROM media WHERE dataset = ?1 AND path = ?2")?
        .execute(params![dataset.0, file.as_os_str().as_bytes()])?;
    Ok(())
}

fn unskip(connection: &Connection, dataset: DatasetId, file: &Path) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM skipped WHERE dataset = ?1 AND path = ?2")?
        .execute(params![dataset.0, file.as_os_str().as_bytes()])?;
    Ok(())
}

/// Notes why a file is no media. `stamp` is `None` for one passed over without being opened.
///
/// # Errors
/// The store failed.
pub fn skip(
    connection: &Connection,
    dataset: DatasetId,
    file: &Path,
    stamp: Option<Stamp>,
    reason: &str,
) -> rusqlite::Result<()> {
    remove(connection, dataset, file)?;
    connection
        .prepare_cached("INSERT INTO skipped VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            dataset.0,
            file.as_os_str().as_bytes(),
            stamp.map(|stamp| stamp.size),
            stamp.map(|stamp| stamp.modified),
            reason
        ])?;
    Ok(())
}

/// Forgets the files passed over without being opened: the next walk tells them anew.
///
/// # Errors
/// The store failed.
pub fn forget_passed_over(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM skipped WHERE dataset = ?1 AND size IS NULL",
        [dataset.0],
    )?;
    Ok(())
}

/// The files that are no media, by path, with the reason.
///
/// # Errors
/// The store failed.
pub fn skipped(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<Vec<(PathBuf, String)>> {
    connection
        .prepare_cached("SELECT path, reason FROM skipped WHERE dataset = ?1 ORDER BY path")?
        .query_map([dataset.0], |row| Ok((path(row.get(0)?), row.get(1)?)))?
        .collect()
}

/// One media and the folder it is in.
///
/// # Errors
/// The store failed.
pub fn find(connection: &Connection, id: MediaId) -> rusqlite::Result<Option<(Media, PathBuf)>> {
    let sql = format!(
        "SELECT {COLUMNS}, dataset.folder FROM media JOIN dataset ON dataset.id = media.dataset
         WHERE media.id = ?1"
    );
    connection
        .prepare_cached(&sql)?
        .query_row([id.0], |row| Ok((media(row)?, path(row.get(9)?))))
        .optional()
}

/// One media by its row number.
///
/// # Errors
/// The store failed.
pub fn at(connection: &Connection, row: i64) -> rusqlite::Result<Option<Media>> {
    let sql = format!("SELECT {COLUMNS} FROM media WHERE row = ?1");
    connection
        .prepare_cached(&sql)?
        .query_row([row], media)
        .optional()
}

/// A stretch of the media of a dataset in order of arrival.
///
/// # Errors
/// The store failed.
pub fn stretch(
    connection: &Connection,
    dataset: DatasetId,
    skip: u64,
    take: usize,
) -> rusqlite::Result<Vec<Media>> {
    let sql =
        format!("SELECT {COLUMNS} FROM media WHERE dataset = ?1 ORDER BY row LIMIT ?2 OFFSET ?3");
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    connection
        .prepare_cached(&sql)?
        .query_map(params![dataset.0, take, skip], media)?
        .collect()
}

/// The thumbnail of a media, as JPEG bytes.
///
/// # Errors
/// The store failed.
pub fn thumbnail(connection: &Connection, id: MediaId) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached(
            "SELECT jpeg FROM thumbnail JOIN media ON media.row = thumbnail.media
             WHERE media.id = ?1",
        )?
        .query_row([id.0], |row| row.get(0))
        .optional()
}

/// Calls `each` with every media of a dataset, its descriptor, and its rank at each level
/// (`None` while it is not clustered), in order of path.
///
/// # Errors
/// The store failed.
pub fn looks(
    connection: &Connection,
    dataset: DatasetId,
    mut each: impl FnMut(Media, &[f16], Option<[u32; Granularity::LEVELS]>),
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {COLUMNS}, descriptor, rank_0, rank_1, rank_2, rank_3, rank_4
         FROM media JOIN look ON look.media = media.row LEFT JOIN place ON place.media = media.row
         WHERE dataset = ?1 ORDER BY path"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query([dataset.0])?;
    while let Some(row) = rows.next()? {
        // All ranks are there or none is: a place is one row.
        let mut ranks = row
            .get::<_, Option<u32>>(10)?
            .map(|_| [0; Granularity::LEVELS]);
        for (level, rank) in ranks.iter_mut().flatten().enumerate() {
            *rank = row.get(10 + level)?;
        }
        each(media(row)?, &unpacked(row.get_ref(9)?.as_blob()?), ranks);
    }
    Ok(())
}

/// A descriptor as stored: half-precision numbers, little-endian.
pub(super) fn packed(descriptor: &[f16]) -> Vec<u8> {
    descriptor
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// The reverse of [`packed`].
pub(super) fn unpacked(bytes: &[u8]) -> Vec<f16> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&pair| f16::from_le_bytes(pair))
        .collect()
}
