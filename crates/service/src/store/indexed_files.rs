//! What indexing reads and writes: files that are known, became media, or were skipped.

use std::{
    collections::BTreeMap,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params};

use super::{
    dataset::path_from_bytes,
    media::{MediaKind, encode_f16},
    source::SourceFolder,
};
use crate::{
    file_stat::{FileStat, KnownFile},
    index::Features,
};
use tessera_model::DatasetId;

/// Returns every file of a source that was opened before, by path.
pub fn known_files(
    connection: &Connection,
    source: i64,
) -> rusqlite::Result<BTreeMap<PathBuf, KnownFile>> {
    let mut query = connection.prepare_cached(
        "SELECT path, size, modified, content FROM media WHERE source = ?1 AND parent IS NULL
         UNION ALL
         SELECT path, size, modified, NULL FROM skipped
         WHERE source = ?1 AND size IS NOT NULL
         UNION ALL
         SELECT path, size, modified, NULL FROM sidecar WHERE source = ?1",
    )?;
    let rows = query.query_map([source], |row| {
        let stat = FileStat { size: row.get(1)?, modified: row.get(2)? };
        Ok((path_from_bytes(row.get(0)?), KnownFile { stat, content_hash: row.get(3)? }))
    })?;
    rows.collect()
}

/// A file that became a media item.
pub struct IndexedFile<'a> {
    /// Relative to its source.
    pub path: &'a Path,
    pub stat: FileStat,
    pub kind: MediaKind,
    /// BLAKE3 of the file.
    pub content_hash: &'a [u8; 32],
    pub features: &'a Features,
}

/// Inserts or updates a media item and deletes its objects. Returns its row.
pub fn upsert_media(
    connection: &Connection,
    source: &SourceFolder,
    indexed: &IndexedFile,
) -> rusqlite::Result<i64> {
    let IndexedFile { path: file, stat, kind, content_hash: content, features } = indexed;
    clear_skipped(connection, source.row, file)?;
    let row: i64 = connection
        .prepare_cached(
            "INSERT INTO media (id, dataset, source, kind, path, size, modified, content, width,
                                height, hash, sharpness, brightness)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (id) DO UPDATE SET
               size = excluded.size, modified = excluded.modified, content = excluded.content,
               width = excluded.width, height = excluded.height, hash = excluded.hash,
               sharpness = excluded.sharpness, brightness = excluded.brightness
             RETURNING row",
        )?
        .query_row(
            params![
                source.media_id(file).0,
                source.dataset.0,
                source.row,
                kind.as_str(),
                file.as_os_str().as_bytes(),
                stat.size,
                stat.modified,
                content,
                features.width,
                features.height,
                features.hash.cast_signed(),
                features.sharpness,
                features.brightness,
            ],
            |row| row.get(0),
        )?;
    connection.prepare_cached("DELETE FROM media WHERE parent = ?1")?.execute([row])?;
    put_features(connection, row, features)?;
    Ok(row)
}

/// Replaces the descriptor, keypoints and thumbnail of a media item.
pub(super) fn put_features(
    connection: &Connection,
    row: i64,
    features: &Features,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO look VALUES (?1, ?2, ?3)")?
        .execute(params![row, encode_f16(&features.descriptor), features.keypoints.as_bytes()])?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO thumbnail VALUES (?1, ?2)")?
        .execute(params![row, features.thumbnail])?;
    Ok(())
}

/// Updates size and time of a media item whose content has not changed.
pub fn update_stat(
    connection: &Connection,
    source: i64,
    file: &Path,
    stat: FileStat,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE media SET size = ?3, modified = ?4 WHERE source = ?1 AND path = ?2",
        )?
        .execute(params![source, file.as_os_str().as_bytes(), stat.size, stat.modified])?;
    Ok(())
}

/// Deletes a file from the media, sidecar and skipped tables.
pub fn remove_file(connection: &Connection, source: i64, file: &Path) -> rusqlite::Result<()> {
    clear_skipped(connection, source, file)?;
    for table in ["media", "sidecar"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE source = ?1 AND path = ?2"))?
            .execute(params![source, file.as_os_str().as_bytes()])?;
    }
    Ok(())
}

fn clear_skipped(connection: &Connection, source: i64, file: &Path) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM skipped WHERE source = ?1 AND path = ?2")?
        .execute(params![source, file.as_os_str().as_bytes()])?;
    Ok(())
}

/// Records why a file is not a media item. `stat` is `None` if it was skipped without being opened.
pub fn mark_skipped(
    connection: &Connection,
    source: i64,
    file: &Path,
    stat: Option<FileStat>,
    reason: &str,
) -> rusqlite::Result<()> {
    remove_file(connection, source, file)?;
    connection.prepare_cached("INSERT INTO skipped VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(
        params![
            source,
            file.as_os_str().as_bytes(),
            stat.map(|stat| stat.size),
            stat.map(|stat| stat.modified),
            reason
        ],
    )?;
    Ok(())
}

/// Forgets files skipped for a reason, so that they are opened again.
pub fn clear_skipped_for_reason(
    connection: &Connection,
    source: i64,
    reason: &str,
) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM skipped WHERE source = ?1 AND reason = ?2",
        params![source, reason],
    )?;
    Ok(())
}

/// Forgets files that were skipped without being opened; the next scan reports them again.
pub fn clear_skipped_unopened(connection: &Connection, source: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM skipped WHERE source = ?1 AND size IS NULL", [source])?;
    Ok(())
}

/// Returns the skipped files of a dataset with the reason, ordered by source and path.
pub fn skipped_files(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<Vec<(PathBuf, String)>> {
    connection
        .prepare_cached(
            "SELECT path, reason FROM skipped
             WHERE source IN (SELECT row FROM source WHERE dataset = ?1) ORDER BY source, path",
        )?
        .query_map([dataset.0], |row| Ok((path_from_bytes(row.get(0)?), row.get(1)?)))?
        .collect()
}
