//! The files that indexing knows: files that became media, and files that were skipped. Only indexing reads and writes
//! them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use super::prelude::*;
use super::{
    columns::encode_f16,
    media::{FramePosition, MediaKind},
    picture_table::{FRAME_PICTURES, PackedPictures, THUMBNAILS},
    source::SourceFolder,
};
use tessera_media::ingest::{FileStat, KnownFile, video::VideoFrame};
use tessera_search::index::Features;

/// The number of files that are read at a time, which bounds the memory.
const KNOWN_FILES_AT_A_TIME: i64 = 1_000;

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
    query::all(connection, sql, params![source], read_known_file)
}

const KNOWN_FILES_AFTER: &str = "SELECT path, size, modified, content FROM media
     WHERE require(intact) AND source = ?1 AND parent IS NULL AND path > ?2
     UNION ALL
     SELECT path, size, modified, NULL FROM skipped
     WHERE require(intact) AND source = ?1 AND size IS NOT NULL AND path > ?2
     UNION ALL
     SELECT path, size, modified, NULL FROM sidecar
     WHERE require(intact) AND source = ?1 AND path > ?2
     ORDER BY 1 LIMIT ?3";

/// Returns some files of a source that were opened before: those that follow `after` in the byte order of their paths.
/// The result is empty after the last file.
pub fn known_files_after(
    connection: &Connection,
    source: i64,
    after: &Path,
) -> Result<Vec<(PathBuf, KnownFile)>> {
    let params = params![source, path_to_bytes(after), KNOWN_FILES_AT_A_TIME];
    let mut files: Vec<(PathBuf, KnownFile)> =
        query::all(connection, KNOWN_FILES_AFTER, params, read_known_file)?;
    // A video has one row for each frame.
    files.dedup_by(|(path, _), (previous, _)| path == previous);
    Ok(files)
}

fn read_known_file(row: &Row) -> Result<(PathBuf, KnownFile)> {
    let stat = FileStat { size: row.get(1)?, modified: row.get(2)? };
    Ok((path_from_bytes(row.get(0)?), KnownFile { stat, content_hash: row.get(3)? }))
}

// The statements below are about one file. With `parent IS NULL`, they use the index of files. Objects are found by
// their image.

const DELETE_SKIPPED: &str = "DELETE FROM skipped WHERE source = ?1 AND path = ?2";
/// The objects in an image are deleted together with it.
const DELETE_MEDIA: &str = "DELETE FROM media WHERE source = ?1 AND path = ?2 AND parent IS NULL";
const DELETE_FRAMES: &str = "DELETE FROM media
     WHERE source = ?1 AND path = ?2 AND parent IS NULL AND frame IS NOT NULL";
const DELETE_SIDECAR: &str = "DELETE FROM sidecar WHERE source = ?1 AND path = ?2";
const DELETE_OBJECTS: &str = "DELETE FROM media WHERE parent = ?1";
const DELETE_MODEL_VECTOR: &str = "DELETE FROM model_vector WHERE media = ?1";
const DELETE_MODEL_LABELS: &str = "DELETE FROM model_label WHERE media = ?1";
const UPDATE_STAT: &str = "UPDATE media SET size = ?3, modified = ?4
     WHERE source = ?1 AND path = ?2 AND parent IS NULL";
const FORGET_MODIFIED: &str =
    "UPDATE media SET modified = ?3 WHERE source = ?1 AND path = ?2 AND parent IS NULL";
const UPDATE_STAT_OF_OBJECTS: &str = "UPDATE media SET size = ?3, modified = ?4
     WHERE parent IN (SELECT row FROM media WHERE source = ?1 AND path = ?2 AND parent IS NULL)";

const UPSERT_MEDIA: &str =
    "INSERT INTO media (id, dataset, source, kind, path, frame, seconds, size, modified, content,
                        width, height, hash, sharpness, brightness)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
     ON CONFLICT (id) DO UPDATE SET
       size = excluded.size, modified = excluded.modified, content = excluded.content,
       width = excluded.width, height = excluded.height, hash = excluded.hash,
       sharpness = excluded.sharpness, brightness = excluded.brightness
     RETURNING id, row";

pub struct IndexedFile<'a> {
    /// The path of the file, relative to its source.
    pub path: &'a Path,
    pub stat: FileStat,
    /// The BLAKE3 hash of the file.
    pub content_hash: &'a [u8; 32],
}

/// The content of a file, or of one of its frames.
struct ExtractedMedia<'a> {
    file: &'a IndexedFile<'a>,
    frame: Option<FramePosition>,
    features: &'a Features,
}

/// Inserts or updates images, and deletes what was known about their previous content. Returns their rows.
pub fn upsert_images(
    connection: &Connection,
    source: &SourceFolder,
    images: &[(IndexedFile, &Features)],
    packed: &PackedPictures,
) -> Result<Vec<i64>> {
    // The files may have been videos before.
    for sql in [DELETE_SKIPPED, DELETE_FRAMES] {
        delete_files(connection, sql, source.row, images.iter().map(|(file, _)| file.path))?;
    }
    let image = |(file, features)| ExtractedMedia { file, frame: None, features };
    let media: Vec<_> = images.iter().map(|(file, features)| image((file, *features))).collect();
    let rows = upsert_media(connection, source, &media, packed)?;
    for sql in [DELETE_OBJECTS, DELETE_MODEL_VECTOR, DELETE_MODEL_LABELS] {
        query::execute_each(connection, sql, &rows, |row, run| run(params![row]))?;
    }
    Ok(rows)
}

/// Replaces what was known about a video by its frames, which are in the order of time.
pub fn replace_frames(
    connection: &Connection,
    source: &SourceFolder,
    video: &IndexedFile,
    frames: &[(VideoFrame, Features)],
    packed: &PackedPictures,
) -> Result<()> {
    remove_files(connection, source.row, [video.path])?;
    let mut ids = HashSet::new();
    let mut media = Vec::new();
    let mut pictures = Vec::new();
    for (number, (VideoFrame { seconds, jpeg }, features)) in (1..).zip(frames) {
        // Frames at the same time are the same media item, so only the first one is kept.
        if ids.insert(source.frame_id(video.path, *seconds)) {
            let frame = Some(FramePosition { number, seconds: *seconds });
            media.push(ExtractedMedia { file: video, frame, features });
            pictures.push(&**jpeg);
        }
    }
    let rows = upsert_media(connection, source, &media, packed)?;
    let pictures: Vec<(i64, &[u8])> = rows.into_iter().zip(pictures).collect();
    FRAME_PICTURES.upsert_all(connection, &pictures, packed)
}

/// Returns the rows in the order of `media`, which must be different media items.
fn upsert_media(
    connection: &Connection,
    source: &SourceFolder,
    media: &[ExtractedMedia],
    packed: &PackedPictures,
) -> Result<Vec<i64>> {
    let id = |media: &ExtractedMedia| match media.frame {
        None => source.media_id(media.file.path),
        Some(frame) => source.frame_id(media.file.path, frame.seconds),
    };
    let read = |row: &Row| Ok((MediaId(row.get(0)?), row.get(1)?));
    let mut upsert = StatementBatch::returning(connection, UPSERT_MEDIA, read);
    for item in media {
        let ExtractedMedia { file, frame, features } = item;
        let kind = if frame.is_some() { MediaKind::Frame } else { MediaKind::Image };
        upsert.add(params![
            id(item).0,
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
        ])?;
    }
    let rows: HashMap<MediaId, i64> = upsert.finish()?.into_iter().collect();
    let row = |item| rows.get(&id(item)).copied().ok_or(QueryError::NoRow);
    let rows: Vec<i64> = media.iter().map(row).collect::<Result<_>>()?;
    let features = media.iter().map(|item| item.features);
    put_features(connection, rows.iter().copied().zip(features), packed)?;
    Ok(rows)
}

/// Stores the features of media items, which are given by their rows.
pub(super) fn put_features<'a>(
    connection: &Connection,
    features: impl IntoIterator<Item = (i64, &'a Features)>,
    packed: &PackedPictures,
) -> Result<()> {
    let mut inserts = StatementBatch::new(
        connection,
        "INSERT INTO picture_features VALUES (?1, ?2, ?3) ON CONFLICT (media) DO UPDATE
         SET descriptor = excluded.descriptor, keypoints = excluded.keypoints",
    );
    let mut thumbnails: Vec<(i64, &[u8])> = Vec::new();
    for (row, features) in features {
        let descriptor = encode_f16(&features.descriptor);
        inserts.add(params![row, descriptor, features.keypoints.as_bytes()])?;
        thumbnails.push((row, &features.thumbnail));
    }
    inserts.finish()?;
    THUMBNAILS.upsert_all(connection, &thumbnails, packed)
}

/// Updates the size and time of files whose content has not changed.
pub fn update_stats(
    connection: &Connection,
    source: i64,
    files: &[(&Path, FileStat)],
) -> Result<()> {
    for sql in [UPDATE_STAT, UPDATE_STAT_OF_OBJECTS] {
        query::execute_each(connection, sql, files, |(path, stat), run| {
            run(params![source, path_to_bytes(path), stat.size, stat.modified])
        })?;
    }
    Ok(())
}

/// Forgets when a file was changed, so that the next comparison of its folder reads the file again.
pub fn forget_modified(connection: &Connection, source: i64, path: &Path) -> Result<()> {
    let params = params![source, path_to_bytes(path), FileStat::READ_AGAIN];
    query::execute(connection, FORGET_MODIFIED, params)
}

pub fn remove_files<'a>(
    connection: &Connection,
    source: i64,
    files: impl IntoIterator<Item = &'a Path, IntoIter: Clone>,
) -> Result<()> {
    let files = files.into_iter();
    [DELETE_MEDIA, DELETE_SIDECAR, DELETE_SKIPPED]
        .into_iter()
        .try_for_each(|sql| delete_files(connection, sql, source, files.clone()))
}

fn delete_files<'a>(
    connection: &Connection,
    sql: &str,
    source: i64,
    files: impl Iterator<Item = &'a Path>,
) -> Result<()> {
    query::execute_each(connection, sql, files, |path, run| {
        run(params![source, path_to_bytes(path)])
    })
}

/// A file that is not a media item.
#[derive(Clone, Copy)]
pub struct FileWithoutMedia<'a> {
    /// The path of the file, relative to its source.
    pub path: &'a Path,
    /// The size and time, or `None` if the file was skipped without being opened.
    pub stat: Option<FileStat>,
    pub reason: &'a str,
}

/// Records the reasons why files are not media items.
pub fn mark_skipped<'a>(
    connection: &Connection,
    source: i64,
    files: impl Iterator<Item = FileWithoutMedia<'a>> + Clone,
) -> Result<()> {
    remove_files(connection, source, files.clone().map(|file| file.path))?;
    note_reasons(connection, source, files)
}

/// Records the reasons why files are not media items, or only a part of them is.
pub fn note_reasons<'a>(
    connection: &Connection,
    source: i64,
    files: impl Iterator<Item = FileWithoutMedia<'a>>,
) -> Result<()> {
    let sql = "INSERT INTO skipped VALUES (?1, ?2, ?3, ?4, ?5)";
    query::execute_each(connection, sql, files, |FileWithoutMedia { path, stat, reason }, run| {
        let (size, modified) = stat.map(|stat| (stat.size, stat.modified)).unzip();
        run(params![source, path_to_bytes(path), size, modified, reason])
    })
}

/// Forgets the files that were skipped for a reason, so that they are opened again.
pub fn clear_skipped_for_reason(connection: &Connection, source: i64, reason: &str) -> Result<()> {
    let sql = "DELETE FROM skipped WHERE source = ?1 AND reason = ?2";
    query::execute(connection, sql, params![source, reason])
}

/// Forgets the files that were skipped without being opened, because the next scan reports them again.
pub fn clear_skipped_unopened(connection: &Connection, source: i64) -> Result<()> {
    let sql = "DELETE FROM skipped WHERE source = ?1 AND size IS NULL";
    query::execute(connection, sql, params![source])
}

/// Returns the skipped files of a dataset with their reasons, in the order of source and path.
pub fn skipped_files(
    connection: &Connection,
    dataset: DatasetId,
) -> Result<Vec<(PathBuf, String)>> {
    let sql = "SELECT path, reason, require(intact) FROM skipped
               WHERE source IN (SELECT row FROM source WHERE dataset = ?1) ORDER BY source, path";
    query::all(connection, sql, params![dataset.0], read_skipped)
}

/// Returns the skipped files of a source with their reasons, in the order of their paths.
pub fn skipped_in_source(connection: &Connection, source: i64) -> Result<Vec<(PathBuf, String)>> {
    let sql = "SELECT path, reason, require(intact) FROM skipped WHERE source = ?1 ORDER BY path";
    query::all(connection, sql, params![source], read_skipped)
}

/// Returns the files of a source that were skipped for a reason.
pub fn skipped_for_reason(
    connection: &Connection,
    source: i64,
    reason: &str,
) -> Result<Vec<PathBuf>> {
    let sql = "SELECT path, require(intact) FROM skipped WHERE source = ?1 AND reason = ?2";
    let read = |row: &Row| Ok(path_from_bytes(row.get(0)?));
    query::all(connection, sql, params![source, reason], read)
}

fn read_skipped(row: &Row) -> Result<(PathBuf, String)> {
    Ok((path_from_bytes(row.get(0)?), row.get(1)?))
}

/// Returns the number of files of a dataset that were skipped for a reason.
pub fn count_skipped_for_reason(
    connection: &Connection,
    dataset: DatasetId,
    reason: &str,
) -> Result<u64> {
    let sql = "SELECT count(*) FROM skipped
               WHERE source IN (SELECT row FROM source WHERE dataset = ?1) AND reason = ?2";
    query::one(connection, sql, params![dataset.0, reason], |row| row.get(0))
}

/// Returns the number of files of a source that are media, or whose frames are.
pub fn count_media_files(connection: &Connection, source: i64) -> Result<u64> {
    let sql = "SELECT count(DISTINCT path) FROM media WHERE source = ?1 AND parent IS NULL";
    query::one(connection, sql, params![source], |row| row.get(0))
}

/// Whether files of a source in a folder, or below it, are media, or their frames are.
pub fn has_media_below(connection: &Connection, source: i64, folder: &Path) -> Result<bool> {
    if folder.as_os_str().is_empty() {
        return Ok(count_media_files(connection, source)? > 0);
    }
    // All paths that begin with the folder and a slash are between these two.
    let [start, end] = [b'/', b'/' + 1].map(|end| [path_to_bytes(folder), &[end]].concat());
    let sql = "SELECT count(*) FROM media
               WHERE source = ?1 AND parent IS NULL AND path > ?2 AND path < ?3";
    query::one(connection, sql, params![source, start, end], |row| Ok(row.get::<u64>(0)? > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

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
            FORGET_MODIFIED,
            DELETE_SIDECAR,
            DELETE_OBJECTS,
            DELETE_MODEL_VECTOR,
            DELETE_MODEL_LABELS,
            KNOWN_FILES_AFTER,
        ] {
            let explained = format!("EXPLAIN QUERY PLAN {sql}");
            let params = params![1, 1, 1, 1];
            let last = (1..=4).rev().find(|number| sql.contains(&format!("?{number}")));
            let used = &params[..last.unwrap()];
            let plan: Vec<String> =
                store.read(|c| query::all(c, &explained, used, |row| row.get(3))).unwrap();
            let costly = |step: &String| step.starts_with("SCAN") || step.contains("TEMP B-TREE");
            assert!(!plan.iter().any(costly), "{sql}: {plan:?}");
        }
    }
}
