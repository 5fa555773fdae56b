//! The records of the file with the tags beside a dataset, which keeps what users have given to media items beyond the
//! rows of these items.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::prelude::*;
use crate::{
    moved_files,
    tags::{self, TagDefinition, increase_revision},
};
use tessera_model::UserTags;

/// What users have given to a media item, with what finds the item again in another index.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedFile {
    /// The path of the file relative to the folder of the dataset, or absolute if the file is in another folder.
    /// The path of an upload begins with `./` and is relative to the index folder.
    pub path: PathBuf,
    /// The position of a frame in its video.
    pub seconds: Option<f64>,
    /// The region of an object in its picture: x, y, width and height as fractions.
    pub region: Option<[f64; 4]>,
    /// The BLAKE3 hash of the file.
    pub content: [u8; 32],
    pub given: UserTags,
}

/// How far the tags of a dataset and the file beside it agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFileState {
    pub revision: i64,
    /// The revision in the file.
    pub written: i64,
    /// The BLAKE3 hash of the file as it was last read or written.
    pub file: Option<[u8; 32]>,
}

/// Everything that is written to the file beside a dataset.
pub struct TagSnapshot {
    pub definitions: Vec<TagDefinition>,
    /// The files in the order of their paths.
    pub files: Vec<TaggedFile>,
}

pub fn state(connection: &Connection, dataset: DatasetId) -> Result<TagFileState> {
    let sql = "SELECT revision, written, file, require(intact) FROM tag_state WHERE dataset = ?1";
    let found = query::find(connection, sql, params![dataset.0], |row| {
        Ok(TagFileState { revision: row.get(0)?, written: row.get(1)?, file: row.get(2)? })
    });
    Ok(found?.unwrap_or_default())
}

/// Records that the file beside a dataset has this hash, and all changes up to `revision`.
pub fn mark_written(
    connection: &Connection,
    dataset: DatasetId,
    revision: i64,
    file: &[u8; 32],
) -> Result<()> {
    let sql = "INSERT INTO tag_state (dataset, revision, written, file) VALUES (?1, ?2, ?2, ?3)
               ON CONFLICT (dataset) DO UPDATE SET written = excluded.written, file = excluded.file";
    query::execute(connection, sql, params![dataset.0, revision, file])
}

pub fn snapshot(connection: &Connection, dataset: DatasetId) -> Result<TagSnapshot> {
    let sql = "SELECT folder, path, seconds, region, content, tags, rating, require(intact)
               FROM tagged_media WHERE dataset = ?1";
    let mut files: Vec<TaggedFile> =
        query::all(connection, sql, params![dataset.0], read_tagged_file)?;
    files.sort_by(|a, b| {
        let seconds = |file: &TaggedFile| file.seconds.unwrap_or_default();
        a.path.cmp(&b.path).then_with(|| seconds(a).total_cmp(&seconds(b)))
    });
    Ok(TagSnapshot { definitions: tags::definitions(connection, dataset)?, files })
}

fn read_tagged_file(row: &Row) -> Result<TaggedFile> {
    let folder = row.get::<Option<Vec<u8>>>(0)?.map(path_from_bytes).unwrap_or_default();
    Ok(TaggedFile {
        path: folder.join(path_from_bytes(row.get(1)?)),
        seconds: row.get(2)?,
        region: from_json(row, 3)?,
        content: row.get(4)?,
        given: UserTags { tags: from_json(row, 5)?, rating: row.get(6)? },
    })
}

/// Replaces the tags of a dataset by those of the file beside it. With `keep`, tags that are not in the file stay.
pub fn import(
    transaction: &Transaction,
    dataset: DatasetId,
    read: &TagSnapshot,
    keep: bool,
) -> Result<()> {
    let mut kept: HashMap<Uuid, UserTags> = HashMap::new();
    if keep {
        let sql =
            "SELECT media, tags, rating, require(intact) FROM tagged_media WHERE dataset = ?1";
        kept = query::all(transaction, sql, params![dataset.0], |row| {
            Ok((row.get(0)?, UserTags { tags: from_json(row, 1)?, rating: row.get(2)? }))
        })?;
    } else {
        for table in ["tagged_media", "tag", "tag_change"] {
            let sql = format!("DELETE FROM {table} WHERE dataset = ?1");
            query::execute(transaction, &sql, params![dataset.0])?;
        }
    }
    tags::restore(transaction, dataset, &read.definitions)?;
    let used = read.files.iter().flat_map(|file| &file.given.tags);
    tags::create(transaction, dataset, used.map(String::as_str))?;
    let by_place = known_media(transaction, dataset)?;
    let sql =
        "INSERT INTO tagged_media (media, dataset, path, seconds, region, content, tags, rating)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (media) DO UPDATE SET tags = excluded.tags, rating = excluded.rating";
    let mut inserts = StatementBatch::new(transaction, sql);
    let mut seen = HashSet::new();
    for file in &read.files {
        let place = Place::of(file)?;
        let media = by_place.get(&place).copied().unwrap_or_else(|| place.identifier(dataset));
        if !seen.insert(media) {
            continue;
        }
        let mut given = file.given.clone();
        if let Some(stored) = kept.remove(&media) {
            merge(&mut given, &stored);
        }
        let region = file.region.map(|region| to_json(&region)).transpose()?;
        let (path, tags) = (path_to_bytes(&file.path), to_json(&given.tags)?);
        let params =
            params![media, dataset.0, path, file.seconds, region, file.content, tags, given.rating];
        inserts.add(params)?;
    }
    inserts.finish()?;
    increase_revision(transaction, dataset)?;
    moved_files::find_imported(transaction, dataset)
}

/// Adds the tags of `other`. The rating of `other` is used only if there is no rating.
fn merge(given: &mut UserTags, other: &UserTags) {
    for tag in &other.tags {
        if !given.tags.contains(tag) {
            given.tags.push(tag.clone());
        }
    }
    if given.rating == 0 {
        given.rating = other.rating;
    }
}

/// Where a media item is: the bytes of its path, its position in a video in milliseconds, and its region in a picture.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub path: Vec<u8>,
    pub part: Part,
}

pub(crate) type Part = (Option<i64>, Option<String>);

#[expect(clippy::cast_possible_truncation, reason = "positions in videos are short")]
fn part(seconds: Option<f64>, region: Option<[f64; 4]>) -> Result<Part> {
    let region = region.map(|region| to_json(&region)).transpose()?;
    Ok((seconds.map(|seconds| (seconds * 1000.0).round() as i64), region))
}

impl Place {
    fn of(file: &TaggedFile) -> Result<Self> {
        let path = path_to_bytes(&file.path).to_vec();
        Ok(Self { path, part: part(file.seconds, file.region)? })
    }

    /// Returns the identifier that an image at this place will have, and another one for a frame or an object.
    fn identifier(&self, dataset: DatasetId) -> Uuid {
        let mut name = self.path.clone();
        if self.part != (None, None) {
            name.extend_from_slice(format!("\0{:?}", self.part).as_bytes());
        }
        Uuid::new_v5(&dataset.0, &name)
    }
}

pub(crate) const MEDIA_PLACES: &str =
    "SELECT media.id, CASE WHEN source.folder = dataset.folder THEN NULL ELSE source.folder END,
            media.path, media.seconds, media.region, media.content, require(media.intact)
     FROM media JOIN source ON source.row = media.source JOIN dataset ON dataset.id = media.dataset
     WHERE media.dataset = ?1";

pub(crate) fn read_place(row: &Row) -> Result<Place> {
    let folder = row.get::<Option<Vec<u8>>>(1)?.map(path_from_bytes).unwrap_or_default();
    let path: &Path = &folder.join(path_from_bytes(row.get(2)?));
    Ok(Place { path: path_to_bytes(path).to_vec(), part: part(row.get(3)?, from_json(row, 4)?)? })
}

/// Returns the media items of a dataset by their places.
fn known_media(connection: &Connection, dataset: DatasetId) -> Result<HashMap<Place, Uuid>> {
    query::all(connection, MEDIA_PLACES, params![dataset.0], |row| {
        Ok((read_place(row)?, row.get(0)?))
    })
}
