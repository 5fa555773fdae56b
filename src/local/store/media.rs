//! Media rows, as everything but indexing reads them: one by one, in stretches, and with the
//! looks that rankings and clusters are made of.

use std::path::PathBuf;

use half::f16;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{dataset::path, from_json};
use crate::model::{DatasetId, Granularity, MediaId};

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
    /// What it shows, in words, raw.
    pub caption: Option<String>,
    /// What it shows, by name, raw.
    pub labels: Vec<String>,
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
                                  media.width, media.height, media.sharpness, media.brightness, \
                                  media.caption, media.labels";

/// How many columns [`COLUMNS`] are: the number of the next one.
pub(super) const WIDTH: usize = 11;

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
        caption: row.get(9)?,
        labels: from_json(row, 10)?,
    })
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
        .query_row([id.0], |row| Ok((media(row)?, path(row.get(WIDTH)?))))
        .optional()
}

/// One media by its row number.
///
/// # Errors
/// The store failed.
pub fn at(connection: &Connection, row: i64) -> rusqlite::Result<Option<Media>> {
    let sql = format!("SELECT {COLUMNS} FROM media WHERE row = ?1");
    connection.prepare_cached(&sql)?.query_row([row], media).optional()
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
    connection.prepare_cached(&sql)?.query_map(params![dataset.0, take, skip], media)?.collect()
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
        let mut ranks = row.get::<_, Option<u32>>(WIDTH + 1)?.map(|_| [0; Granularity::LEVELS]);
        for (level, rank) in ranks.iter_mut().flatten().enumerate() {
            *rank = row.get(WIDTH + 1 + level)?;
        }
        each(media(row)?, &unpacked(row.get_ref(WIDTH)?.as_blob()?), ranks);
    }
    Ok(())
}

/// A descriptor as stored: half-precision numbers, little-endian.
pub(super) fn packed(descriptor: &[f16]) -> Vec<u8> {
    descriptor.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The reverse of [`packed`].
pub(super) fn unpacked(bytes: &[u8]) -> Vec<f16> {
    bytes.as_chunks().0.iter().map(|&pair| f16::from_le_bytes(pair)).collect()
}
