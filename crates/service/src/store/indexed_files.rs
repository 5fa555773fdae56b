//! What indexing reads and writes: files that are known, became media, or were skipped.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    columns::{encode_f16, path_from_bytes, path_to_bytes},
    engine::{Connection, Result, params},
    media::{FramePosition, MediaKind},
    query,
    source::SourceFolder,
};
use crate::{
    file_stat::{FileStat, KnownFile},
    index::Features,
    ingest::video::VideoFrame,
};
use tessera_model::DatasetId;

/// Returns every file of a source that was opened before, by path.
pub fn known_files(connection: &Connection, source: i64) -> Result<BTreeMap<PathBuf, KnownFile>> {
    let sql = "SELECT path, size, modified, content FROM media
               WHERE require(intact) AND source = ?1 AND parent IS NULL
               UNION ALL
               SELECT path, size, modified, NULL FROM skipped
               WHERE require(intact) AND source = ?1 AND size IS NOT NULL
               UNION ALL
               SELECT path, size, modified, NULL FROM sidecar
               WHERE require(intact) AND source = ?1";
    query::all(connection, sql, params![source], |row| {
        let stat = FileStat { size: row.get(1)?, modified: row.get(2)? };
        Ok((path_from_bytes(row.get(0)?), KnownFile { stat, content_hash: row.get(3)? }))
    })
}

// Statements about one file. With `parent IS NULL`, the index of files serves them; objects are found by their image.

const DELETE_SKIPPED: &str = "DELETE FROM skipped WHERE source = ?1 AND path = ?2";
/// The objects in an image are deleted with it.
const DELETE_MEDIA: &str = "DELETE FROM media WHERE source = ?1 AND path = ?2 AND parent IS NULL";
const DELETE_FRAMES: &str = "DELETE FROM media
     WHERE source = ?1 AND path = ?2 AND parent IS NULL AND frame IS NOT NULL";
const UPDATE_STAT: &str = "UPDATE media SET size = ?3, modified = ?4
     WHERE source = ?1 AND path = ?2 AND parent IS NULL";
const UPDATE_STAT_OF_OBJECTS: &str = "UPDATE media SET size = ?3, modified = ?4
     WHERE parent IN (SELECT row FROM media WHERE source = ?1 AND path = ?2 AND parent IS NULL)";

pub struct IndexedFile<'a> {
    /// Relative to its source.
    pub path: &'a Path,
    pub stat: FileStat,
    /// BLAKE3 of the file.
    pub content_hash: &'a [u8; 32],
}

/// Inserts or updates an image and deletes its objects. Returns its row.
pub fn upsert_image(
    connection: &Connection,
    source: &SourceFolder,
    file: &IndexedFile,
    features: &Features,
) -> Result<i64> {
    // It may have been a video.
    for sql in [DELETE_SKIPPED, DELETE_FRAMES] {
        query::execute(connection, sql, params![source.row, path_to_bytes(file.path)])?;
    }
    let row = upsert_media(connection, source, file, None, features)?;
    query::execute(connection, "DELETE FROM media WHERE parent = ?1", params![row])?;
    Ok(row)
}

/// Replaces what is known of a video by its frames, in the order of time.
pub fn replace_frames(
    connection: &Connection,
    source: &SourceFolder,
    video: &IndexedFile,
    frames: &[(VideoFrame, Features)],
) -> Result<()> {
    remove_file(connection, source.row, video.path)?;
    for (number, (VideoFrame { seconds, jpeg }, features)) in (1..).zip(frames) {
        let position = FramePosition { number, seconds: *seconds };
        let row = upsert_media(connection, source, video, Some(position), features)?;
        let sql = "INSERT INTO frame_picture VALUES (?1, ?2)
                   ON CONFLICT (media) DO UPDATE SET jpeg = excluded.jpeg";
        query::execute(connection, sql, params![row, jpeg])?;
    }
    Ok(())
}

fn upsert_media(
    connection: &Connection,
    source: &SourceFolder,
    file: &IndexedFile,
    frame: Option<FramePosition>,
    features: &Features,
) -> Result<i64> {
    let id = frame.map_or_else(
        || source.media_id(file.path),
        |frame| source.frame_id(file.path, frame.seconds),
    );
    let kind = if frame.is_some() { MediaKind::Frame } else { MediaKind::Image };
    let row = query::one(
        connection,
        "INSERT INTO media (id, dataset, source, kind, path, frame, seconds, size, modified, content,
                            width, height, hash, sharpness, brightness)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (id) DO UPDATE SET
           size = excluded.size, modified = excluded.modified, content = excluded.content,
           width = excluded.width, height = excluded.height, hash = excluded.hash,
           sharpness = excluded.sharpness, brightness = excluded.brightness
         RETURNING row",
        params![
            id.0,
            source.dataset.0,
            source.row,
            kind.as_str(),
            path_to_bytes(file.path),
            frame.map(|frame| frame.number),
            frame.map(|frame| frame.seconds),
            file.stat.size,
            file.stat.modified,
            file.content_hash,
            features.width,
            features.height,
            features.hash.cast_signed(),
            features.sharpness,
            features.brightness,
        ],
        |row| row.get(0),
    )?;
    put_features(connection, row, features)?;
    Ok(row)
}

pub(super) fn put_features(connection: &Connection, row: i64, features: &Features) -> Result<()> {
    let (descriptor, keypoints) = (encode_f16(&features.descriptor), features.keypoints.as_bytes());
    let sql = "INSERT INTO look VALUES (?1, ?2, ?3) ON CONFLICT (media) DO UPDATE
               SET descriptor = excluded.descriptor, keypoints = excluded.keypoints";
    query::execute(connection, sql, params![row, descriptor, keypoints])?;
    let sql = "INSERT INTO thumbnail VALUES (?1, ?2)
               ON CONFLICT (media) DO UPDATE SET jpeg = excluded.jpeg";
    query::execute(connection, sql, params![row, features.thumbnail])
}

pub fn update_stat(
    connection: &Connection,
    source: i64,
    file: &Path,
    stat: FileStat,
) -> Result<()> {
    for sql in [UPDATE_STAT, UPDATE_STAT_OF_OBJECTS] {
        let params = params![source, path_to_bytes(file), stat.size, stat.modified];
        query::execute(connection, sql, params)?;
    }
    Ok(())
}

pub fn remove_file(connection: &Connection, source: i64, file: &Path) -> Result<()> {
    [DELETE_MEDIA, "DELETE FROM sidecar WHERE source = ?1 AND path = ?2", DELETE_SKIPPED]
        .into_iter()
        .try_for_each(|sql| query::execute(connection, sql, params![source, path_to_bytes(file)]))
}

/// Records why a file is not a media item. `stat` is `None` if it was skipped without being opened.
pub fn mark_skipped(
    connection: &Connection,
    source: i64,
    file: &Path,
    stat: Option<FileStat>,
    reason: &str,
) -> Result<()> {
    remove_file(connection, source, file)?;
    let (size, modified) = stat.map(|stat| (stat.size, stat.modified)).unzip();
    let sql = "INSERT INTO skipped VALUES (?1, ?2, ?3, ?4, ?5)";
    query::execute(connection, sql, params![source, path_to_bytes(file), size, modified, reason])
}

/// Forgets files skipped for a reason, so that they are opened again.
pub fn clear_skipped_for_reason(connection: &Connection, source: i64, reason: &str) -> Result<()> {
    let sql = "DELETE FROM skipped WHERE source = ?1 AND reason = ?2";
    query::execute(connection, sql, params![source, reason])
}

/// Forgets files that were skipped without being opened; the next scan reports them again.
pub fn clear_skipped_unopened(connection: &Connection, source: i64) -> Result<()> {
    let sql = "DELETE FROM skipped WHERE source = ?1 AND size IS NULL";
    query::execute(connection, sql, params![source])
}

/// Returns the skipped files of a dataset with the reason, ordered by source and path.
pub fn skipped_files(
    connection: &Connection,
    dataset: DatasetId,
) -> Result<Vec<(PathBuf, String)>> {
    let sql = "SELECT path, reason, require(intact) FROM skipped
               WHERE source IN (SELECT row FROM source WHERE dataset = ?1) ORDER BY source, path";
    query::all(connection, sql, params![dataset.0], |row| {
        Ok((path_from_bytes(row.get(0)?), row.get(1)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn no_statement_about_one_file_reads_all_media() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for sql in [
            DELETE_SKIPPED,
            DELETE_MEDIA,
            DELETE_FRAMES,
            UPDATE_STAT,
            UPDATE_STAT_OF_OBJECTS,
            "DELETE FROM media WHERE parent = ?1",
        ] {
            let explained = format!("EXPLAIN QUERY PLAN {sql}");
            let params = params![1, 1, 1, 1];
            let used = &params[..sql.matches('?').count()];
            let plan: Vec<String> =
                store.read(|c| query::all(c, &explained, used, |row| row.get(3))).unwrap();
            assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{sql}: {plan:?}");
        }
    }
}
