//! Media rows, as everything except indexing reads them: single rows, pages, and rows with features.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    path::{Path, PathBuf},
};

use half::f16;
use serde::{Deserialize, Serialize};

use super::prelude::*;
use super::{
    assignment::{ASSIGNMENT_COLUMNS, ClusterAssignment, read_assignment},
    columns::decode_f16,
    extra_columns::extra_columns,
    picture_table::{FRAME_PICTURES, PictureTable, StoredPicture, THUMBNAILS},
};
use tessera_media::ingest::{FileStat, IndexedContent};
use tessera_model::{
    Region, UserTags, keyword_enum,
    text::spellings,
    vql::{ExtraColumns, Period, format_of_file},
};

/// The SQL expression for the labels of an item in a table called `media`, as JSON.
macro_rules! model_labels {
    () => {
        "coalesce((SELECT labels FROM model_label
           WHERE model_label.media = media.row AND require(intact)), '[]')"
    };
}
pub(super) use model_labels;

/// The SQL expression for the labels of the picture that an item in a table called `media` is, or is a part of.
macro_rules! picture_labels {
    () => {
        "coalesce((SELECT picture.labels FROM media AS picture
           WHERE picture.row = media.parent AND require(picture.intact)), media.labels)"
    };
}
pub(super) use picture_labels;

/// The SQL expression for what users have given to an item in a table called `media`: a column of `tagged_media`.
macro_rules! user_given {
    ($column:literal, $missing:literal) => {
        concat!(
            "coalesce((SELECT ",
            $column,
            " FROM tagged_media WHERE tagged_media.media = media.id AND require(intact)), ",
            $missing,
            ")"
        )
    };
}
pub(super) use user_given;

/// Returns names, followed by those further names that are not among them.
fn join_names<'a>(names: &'a [String], further: &'a [String]) -> impl Iterator<Item = &'a String> {
    names.iter().chain(further.iter().filter(|name| !names.contains(name)))
}

/// Reads a column of names, followed by those names of the next column that are not among them: the labels of a model
/// after those of the dataset, or the tags of users after those of sidecars.
pub(crate) fn read_joined_names(row: &Row, column: usize) -> Result<Vec<String>> {
    let mut names: Vec<String> = from_json(row, column)?;
    let mut further: Vec<String> = from_json(row, column + 1)?;
    further.retain(|name| !names.contains(name));
    names.append(&mut further);
    Ok(names)
}

/// Stores labels by the rows of their media items.
pub fn insert_model_labels(connection: &Connection, labels: &[(i64, Vec<String>)]) -> Result<()> {
    let sql = "INSERT INTO model_label (media, labels) VALUES (?1, ?2)
               ON CONFLICT (media) DO UPDATE SET labels = excluded.labels";
    query::execute_each(connection, sql, labels, |(media, labels), run| {
        run(params![media, to_json(labels)?])
    })
}

pub(super) fn delete_model_labels(connection: &Connection, dataset: DatasetId) -> Result<()> {
    let sql = "DELETE FROM model_label WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    query::execute(connection, sql, params![dataset.0]).map(drop)
}

keyword_enum!(
    MediaKind {
        Image = "IMAGE",
        /// A frame of a video.
        Frame = "FRAME",
        /// A labeled region of an image.
        Object = "OBJECT",
    }
);

/// The position of a frame in its video.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FramePosition {
    /// The number of the frame, counted from 1.
    pub number: u32,
    pub seconds: f64,
}

#[derive(Clone, Debug)]
pub struct MediaRecord {
    /// The row number, which is the order of arrival.
    pub row: i64,
    pub id: MediaId,
    pub dataset: DatasetId,
    pub source: i64,
    pub kind: MediaKind,
    /// The row of the image that contains the object.
    pub parent: Option<i64>,
    /// The region of an object in its image.
    pub region: Option<Region>,
    /// The path relative to the folder of the source. An object has the path of its image, and a frame has the path of
    /// its video.
    pub path: PathBuf,
    pub frame: Option<FramePosition>,
    pub size: u64,
    /// The time of the last change of the file, in the form of [`FileStat::modified`].
    pub modified: i64,
    /// The BLAKE3 hash of the file.
    pub content_hash: [u8; 32],
    pub width: u32,
    pub height: u32,
    /// The inverse of the variance of the width of edges in pixels, 0.0-15.0.
    pub sharpness: f32,
    /// The mean luma, 0.0-1.0.
    pub brightness: f32,
    /// The caption, which is not sanitized. Labels and tags are not sanitized either.
    pub caption: Option<String>,
    /// The labels from the dataset. An object has exactly one label.
    pub labels: Vec<String>,
    /// The labels from the user's own model: the class of which the model is confident, followed by the hypernyms of
    /// the class.
    pub model_labels: Vec<String>,
    /// The tags of sidecars.
    pub tags: Vec<String>,
    /// The tags and the rating that users have given.
    pub given: UserTags,
    /// The columns of the user's own of the picture, from sidecars and tables.
    pub extra_columns: ExtraColumns,
    /// The camera that took the picture.
    pub camera: Option<String>,
    /// The day on which the picture was taken, in milliseconds since 1970.
    pub taken: Option<i64>,
}

impl MediaRecord {
    /// Returns the tags of sidecars, followed by those tags of users that are not among them.
    pub fn all_tags(&self) -> impl Iterator<Item = &String> {
        join_names(&self.tags, &self.given.tags)
    }

    /// Returns the rating that users have given, 1 to 5.
    pub fn rating(&self) -> Option<u8> {
        Some(self.given.rating).filter(|rating| *rating > 0)
    }

    /// Returns the labels of the dataset, followed by those labels of the model that are not among them.
    pub fn all_labels(&self) -> impl Iterator<Item = &String> {
        join_names(&self.labels, &self.model_labels)
    }

    /// Returns what is known about the content of the file.
    pub fn indexed_content(&self) -> IndexedContent {
        let stat = FileStat { size: self.size, modified: self.modified };
        IndexedContent { stat, hash: self.content_hash }
    }

    /// Returns when the picture was taken, or else when its file was changed, in milliseconds since 1970. Returns
    /// `None` if its source does not know either.
    pub fn date(&self) -> Option<i64> {
        date(self.taken, self.modified)
    }

    /// Returns when the file was changed, in nanoseconds since 1970. Returns `None` if its source does not know it.
    pub fn modified(&self) -> Option<i64> {
        known_time(self.modified)
    }

    /// Returns a text that changes with the content of the file.
    pub fn version(&self) -> String {
        content_version(self.content_hash)
    }

    /// Returns the row of the picture: the row of the item itself, or for an object the row of its image.
    pub fn picture_row(&self) -> i64 {
        self.parent.unwrap_or(self.row)
    }

    /// Returns the width and height in pixels. For an object, this is the size of its region.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of a u32")]
    pub fn cropped_size(&self) -> (u32, u32) {
        let part = |side: u32, share: f64| (f64::from(side) * share).round() as u32;
        match self.region {
            None => (self.width, self.height),
            Some(region) => (part(self.width, region.width), part(self.height, region.height)),
        }
    }

    /// Returns the source and the path of the video from which a frame was taken.
    pub fn video_file(&self) -> Option<(i64, &Path)> {
        self.frame.map(|_| (self.source, self.path.as_path()))
    }

    /// Returns the name of the file. For a frame, the name is generated.
    pub fn file_name(&self) -> String {
        file_name(&self.path, self.frame)
    }

    /// Returns the format of the file of the user. A frame has the format of its video or animated picture.
    pub fn format(&self) -> String {
        format_of_file(&file_name(&self.path, None))
    }

    /// Returns the path. Frames of a video look as if they were in a folder named like the video.
    pub fn file_path(&self) -> String {
        file_path(&self.path, self.frame)
    }
}

pub(super) fn file_path(path: &Path, frame: Option<FramePosition>) -> String {
    let folder = path.to_string_lossy();
    match frame {
        Some(_) => format!("{folder}/{}", file_name(path, frame)),
        None => folder.into_owned(),
    }
}

/// Returns the first bytes of a content hash in hexadecimal digits.
pub(super) fn content_version([a, b, c, d, ..]: [u8; 32]) -> String {
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

pub(super) fn file_name(path: &Path, frame: Option<FramePosition>) -> String {
    let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    match frame {
        Some(frame) => format!("{}_{:06}.jpg", name(path.file_stem()), frame.number),
        None => name(path.file_name()),
    }
}

/// The columns that [`read_media`] reads, for a table called `media`.
pub(super) const MEDIA_COLUMNS: &str = concat!(
    "media.row, media.id, media.source, media.kind, media.parent,
    media.region, media.path, media.size, media.content, media.width, media.height, media.sharpness,
    media.brightness, media.caption, media.labels, media.tags, media.frame, media.seconds, ",
    model_labels!(),
    ", require(media.intact), media.modified, ",
    user_given!("tags", "'[]'"),
    ", ",
    user_given!("rating", "0"),
    ", ",
    extra_columns!(),
    ", ",
    picture_labels!(),
    ", media.dataset"
);

pub(super) const MEDIA_COLUMN_COUNT: usize = 26;

pub(super) fn read_media(row: &Row) -> Result<MediaRecord> {
    let picture_labels: Vec<String> = from_json(row, 24)?;
    Ok(MediaRecord {
        row: row.get(0)?,
        id: MediaId(row.get(1)?),
        dataset: DatasetId(row.get(25)?),
        source: row.get(2)?,
        kind: MediaKind::from_keyword(row.get_ref(3)?.as_str()?).unwrap_or(MediaKind::Image),
        parent: row.get(4)?,
        region: read_region(row, 5)?,
        path: path_from_bytes(row.get(6)?),
        frame: read_frame(row, 16)?,
        size: row.get(7)?,
        modified: row.get(20)?,
        content_hash: row.get(8)?,
        width: row.get(9)?,
        height: row.get(10)?,
        sharpness: row.get(11)?,
        brightness: row.get(12)?,
        caption: row.get(13)?,
        labels: from_json(row, 14)?,
        tags: from_json(row, 15)?,
        model_labels: from_json(row, 18)?,
        given: UserTags { tags: from_json(row, 21)?, rating: row.get(22)? },
        extra_columns: from_json(row, 23)?,
        camera: camera(&picture_labels),
        taken: day_taken(&picture_labels),
    })
}

/// Returns the day that the labels of a picture name, in milliseconds since 1970.
pub(super) fn day_taken(labels: &[String]) -> Option<i64> {
    labels.iter().find_map(|label| Some(Period::parse_exact(label.strip_prefix("date:")?)?.start))
}

/// Returns the camera that the labels of a picture name.
pub(super) fn camera(labels: &[String]) -> Option<String> {
    labels.iter().find_map(|label| label.strip_prefix("camera:")).map(str::to_owned)
}

/// Returns the day on which a picture was taken, or else when its file was changed, in milliseconds since 1970.
pub(super) fn date(taken: Option<i64>, modified: i64) -> Option<i64> {
    taken.or_else(|| Some(known_time(modified)?.div_euclid(1_000_000)))
}

/// Returns the time of the last change of a file in nanoseconds since 1970, unless it is unknown or forgotten.
fn known_time(modified: i64) -> Option<i64> {
    (modified != 0 && modified != FileStat::READ_AGAIN).then_some(modified)
}

/// Reads the region of an object. Images and frames have none.
pub(super) fn read_region(row: &Row, column: usize) -> Result<Option<Region>> {
    let region: Option<[f64; 4]> = from_json(row, column)?;
    Ok(region.and_then(|[x, y, width, height]| Region::new(x, y, width, height)))
}

/// Reads the position of a frame from two columns.
pub(super) fn read_frame(row: &Row, first_column: usize) -> Result<Option<FramePosition>> {
    let (number, seconds): (Option<u32>, Option<f64>) =
        (row.get(first_column)?, row.get(first_column + 1)?);
    Ok(number.zip(seconds).map(|(number, seconds)| FramePosition { number, seconds }))
}

pub(super) fn region_to_array(region: Region) -> [f64; 4] {
    [region.x, region.y, region.width, region.height]
}

/// Finds a media item and the folder of its source.
pub fn find(connection: &Connection, id: MediaId) -> Result<Option<(MediaRecord, PathBuf)>> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS}, source.folder FROM media JOIN source ON source.row = media.source
         WHERE media.id = ?1"
    );
    query::find(connection, &sql, params![id.0], |row| {
        read_with_folder(connection.index_folder(), row)
    })
}

/// The number of items of a list that a statement finds, which bounds the number of parameters.
const ITEMS_AT_A_TIME: usize = 1_000;

/// Finds the pictures of media items of a dataset by their rows: an item itself, or the image that contains an object.
/// Returns each with the folder of its source.
pub fn pictures_of(
    connection: &Connection,
    dataset: DatasetId,
    rows: &[i64],
) -> Result<HashMap<i64, (MediaRecord, PathBuf)>> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS}, source.folder, item.row FROM media
         JOIN source ON source.row = media.source
         JOIN media AS item ON media.row = coalesce(item.parent, item.row)
         WHERE media.dataset = ?1 AND item.row IN"
    );
    let read = |row: &Row| {
        let picture = read_with_folder(connection.index_folder(), row)?;
        Ok((row.get(MEDIA_COLUMN_COUNT + 1)?, picture))
    };
    let mut found = HashMap::new();
    for rows in rows.chunks(ITEMS_AT_A_TIME) {
        let pictures: Vec<_> = query::all_listed(connection, &sql, params![dataset.0], rows, read)?;
        found.extend(pictures);
    }
    Ok(found)
}

/// Finds the image, or the first frame, of a file below the folder of a source. If there is no such file, the name is
/// looked for in NFC and in NFD.
pub fn of_file(connection: &Connection, source: i64, path: &Path) -> Result<Option<MediaRecord>> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS} FROM media WHERE source = ?1 AND path = ?2 AND parent IS NULL
         ORDER BY frame LIMIT 1"
    );
    for spelling in path_spellings(path) {
        let params = params![source, path_to_bytes(&spelling)];
        if let Some(found) = query::find(connection, &sql, params, read_media)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// An image that has a near-duplicate, with what decides which images are its near-duplicates.
#[derive(Clone, Debug)]
pub struct SimilarImage {
    pub media: MediaRecord,
    /// The folder of the source.
    pub folder: PathBuf,
    /// The cluster at the finest granularity, which contains all near-duplicates of the image.
    pub cluster_rank: u32,
    pub descriptor: Vec<f16>,
    /// The keypoints, as they are encoded in the store.
    pub keypoints: Vec<u8>,
}

/// Calls `each` with every image that has a near-duplicate, in the order of their clusters and paths.
pub fn for_each_with_duplicates<E: From<QueryError>>(
    connection: &Connection,
    dataset: DatasetId,
    mut each: impl FnMut(SimilarImage) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS}, source.folder, place.rank_0, features.descriptor, features.keypoints,
           require(features.intact), require(place.intact)
         FROM media JOIN source ON source.row = media.source
         JOIN place ON place.media = media.row JOIN picture_features AS features ON features.media = media.row
         WHERE media.dataset = ?1 AND media.kind = 'IMAGE' AND place.twin > 0
         ORDER BY place.rank_0, media.path, media.row"
    );
    query::for_each(connection, &sql, params![dataset.0], |row| {
        each(read_similar(connection.index_folder(), row)?)
    })
}

fn read_similar(index_folder: &Path, row: &Row) -> Result<SimilarImage> {
    let (media, folder) = read_with_folder(index_folder, row)?;
    Ok(SimilarImage {
        media,
        folder,
        cluster_rank: row.get(MEDIA_COLUMN_COUNT + 1)?,
        descriptor: decode_f16(row.get_ref(MEDIA_COLUMN_COUNT + 2)?.as_blob()?),
        keypoints: row.get_ref(MEDIA_COLUMN_COUNT + 3)?.as_blob()?.to_vec(),
    })
}

fn read_with_folder(index_folder: &Path, row: &Row) -> Result<(MediaRecord, PathBuf)> {
    Ok((read_media(row)?, folder_from_bytes(index_folder, row.get(MEDIA_COLUMN_COUNT)?)))
}

/// Returns the folder of the source of a media item, and the path of its file in this folder.
pub fn location(connection: &Connection, id: MediaId) -> Result<Option<(PathBuf, PathBuf)>> {
    let sql = "SELECT source.folder, media.path, require(media.intact)
               FROM media JOIN source ON source.row = media.source WHERE media.id = ?1";
    query::find(connection, sql, params![id.0], |row| {
        let folder = folder_from_bytes(connection.index_folder(), row.get(0)?);
        Ok((folder, path_from_bytes(row.get(1)?)))
    })
}

/// Reads the media items of a dataset in some rows.
pub(crate) fn records_of(
    connection: &Connection,
    dataset: DatasetId,
    rows: &[i64],
) -> Result<HashMap<i64, MediaRecord>> {
    let sql =
        format!("SELECT {MEDIA_COLUMNS} FROM media WHERE media.dataset = ?1 AND media.row IN");
    query::all_listed(connection, &sql, params![dataset.0], rows, |row| {
        read_media(row).map(|media| (media.row, media))
    })
}

/// Returns the rows of those media items that a dataset has.
pub fn rows_of(
    connection: &Connection,
    dataset: DatasetId,
    ids: &[MediaId],
) -> Result<HashMap<MediaId, i64>> {
    // For a condition on the dataset, the database would read all media of the dataset.
    let sql = "SELECT id, row, dataset, require(intact) FROM media WHERE id IN";
    let mut found = HashMap::new();
    for ids in ids.chunks(ITEMS_AT_A_TIME) {
        let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
        let rows: Vec<_> = query::all_listed(connection, sql, params![], &ids, |row| {
            Ok((DatasetId(row.get(2)?), (MediaId(row.get(0)?), row.get(1)?)))
        })?;
        let own = rows.into_iter().filter(|(found, _)| *found == dataset);
        found.extend(own.map(|(_, row)| row));
    }
    Ok(found)
}

/// Returns the rows of the pictures of media items, and of all objects in them.
pub fn rows_of_pictures(connection: &Connection, rows: &[i64]) -> Result<HashSet<i64>> {
    let mut all = HashSet::new();
    for rows in rows.chunks(ITEMS_AT_A_TIME) {
        let sql = "SELECT coalesce(parent, row), require(intact) FROM media WHERE row IN";
        let pictures: HashSet<i64> =
            query::all_listed(connection, sql, params![], rows, |row| row.get(0))?;
        let pictures: Vec<i64> = pictures.into_iter().filter(|row| all.insert(*row)).collect();
        let sql = "SELECT row, require(intact) FROM media WHERE parent IN";
        let objects: Vec<i64> =
            query::all_listed(connection, sql, params![], &pictures, |row| row.get(0))?;
        all.extend(objects);
    }
    Ok(all)
}

/// Returns the rows of all images and frames, or of all objects.
pub fn rows(connection: &Connection, dataset: DatasetId, entity: EntityType) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT row, require(intact) FROM media WHERE dataset = ?1 AND {} ORDER BY row",
        entity_condition(entity)
    );
    query::all(connection, &sql, params![dataset.0], |row| row.get(0))
}

/// Returns the row of the image in a file, or the rows of the frames in a video. If there is no such file, the name is
/// looked for in NFC and in NFD.
pub fn rows_of_file(connection: &Connection, source: i64, path: &Path) -> Result<Vec<i64>> {
    let sql = "SELECT row, require(intact) FROM media
               WHERE source = ?1 AND path = ?2 AND parent IS NULL";
    for spelling in path_spellings(path) {
        let params = params![source, path_to_bytes(&spelling)];
        let found: Vec<i64> = query::all(connection, sql, params, |row| row.get(0))?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

fn path_spellings(path: &Path) -> Vec<PathBuf> {
    path.to_str().map_or_else(
        || vec![path.to_owned()],
        |path| spellings(path).into_iter().map(PathBuf::from).collect(),
    )
}

/// Returns a page of the images and frames, or of the objects, in the order of arrival.
pub fn page(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    skip: u64,
    take: usize,
) -> Result<Vec<MediaRecord>> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS} FROM media WHERE dataset = ?1 AND {} ORDER BY row LIMIT ?2 OFFSET ?3",
        entity_condition(entity)
    );
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    query::all(connection, &sql, params![dataset.0, take, skip], read_media)
}

pub fn thumbnail(connection: &Connection, id: MediaId) -> Result<Option<StoredPicture>> {
    let (columns, joins) = (THUMBNAILS.columns(), THUMBNAILS.joins());
    let sql =
        format!("SELECT {columns}, require(media.intact) FROM media {joins} WHERE media.id = ?1");
    let found = query::find(connection, &sql, params![id.0], |row| PictureTable::read(row, 0))?;
    Ok(found.flatten())
}

/// Returns the picture of a frame.
pub fn frame_picture(connection: &Connection, row: i64) -> Result<Option<StoredPicture>> {
    let (columns, joins) = (FRAME_PICTURES.columns(), FRAME_PICTURES.joins());
    let sql = format!("SELECT {columns} FROM media {joins} WHERE media.row = ?1");
    let found = query::find(connection, &sql, params![row], |row| PictureTable::read(row, 0))?;
    Ok(found.flatten())
}

/// Calls `each` with every image and frame, or every object, of a dataset or of one of its sources, in the order of the
/// paths, and with whether the item is clustered.
pub fn for_each_by_path(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    source: Option<i64>,
    mut each: impl FnMut(MediaRecord, bool),
) -> Result<()> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS}, place.media IS NOT NULL
         FROM media JOIN picture_features AS features ON features.media = media.row
         LEFT JOIN place ON place.media = media.row
         WHERE dataset = ?1 AND {} {} ORDER BY path, media.row",
        entity_condition(entity),
        if source.is_some() { "AND source = ?2" } else { "" },
    );
    let read = |row: &Row| {
        each(read_media(row)?, row.get(MEDIA_COLUMN_COUNT)?);
        Ok(())
    };
    let params = params![dataset.0, source];
    query::for_each(connection, &sql, &params[..=usize::from(source.is_some())], read)
}

/// Calls `each` with the path of every file of a source that is a picture or video.
pub fn for_each_path(
    connection: &Connection,
    source: i64,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let sql = "SELECT path FROM media WHERE source = ?1 AND parent IS NULL";
    query::for_each(connection, sql, params![source], |row| {
        each(row.get_ref(0)?.as_blob()?);
        Ok(())
    })
}

/// A media item with everything that ranking needs.
#[derive(Clone, Debug)]
pub struct MediaFeatures {
    pub media: MediaRecord,
    /// The visual descriptor, which is a unit vector.
    pub descriptor: Vec<f16>,
    pub perceptual_hash: u64,
    /// The clusters and scores, or `None` while the item is not clustered.
    pub assignment: Option<ClusterAssignment>,
    /// The vector of the caption and labels, if there is one. It is a unit vector.
    pub text_vector: Option<Vec<f16>>,
    /// The vector of the picture from the user's own model, if there is one. It is a unit vector.
    pub model_vector: Option<Vec<f16>>,
}

/// Calls `each` with the row and path of every clustered image and frame, or every clustered object, of a dataset, in
/// the order of the rows.
pub fn for_each_clustered_path(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    mut each: impl FnMut(i64, &[u8]),
) -> Result<()> {
    let sql = format!(
        "SELECT media.row, path FROM media JOIN place ON place.media = media.row
         WHERE dataset = ?1 AND {} ORDER BY media.row",
        entity_condition(entity)
    );
    query::for_each(connection, &sql, params![dataset.0], |row| {
        each(row.get(0)?, row.get_ref(1)?.as_blob()?);
        Ok(())
    })
}

/// Calls `each` with every image and frame, or every object, of a dataset or of one of its sources, in the order of the
/// rows. All tables are in this order, because sorting by path would write all vectors to disk and read them again.
pub fn for_each_with_features<E: From<QueryError>>(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    source: Option<i64>,
    mut each: impl FnMut(MediaFeatures) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!(
        "SELECT {MEDIA_COLUMNS}, descriptor, text_vector.vector, model_vector.vector,
           media.hash, {ASSIGNMENT_COLUMNS},
           require(features.intact), require(coalesce(text_vector.intact, text_vector.media IS NULL)),
           require(coalesce(model_vector.intact, model_vector.media IS NULL))
         FROM media JOIN picture_features AS features ON features.media = media.row
         LEFT JOIN place ON place.media = media.row
         LEFT JOIN text_vector ON text_vector.media = media.row
         LEFT JOIN model_vector ON model_vector.media = media.row
         WHERE dataset = ?1 AND {} {} ORDER BY media.row",
        entity_condition(entity),
        if source.is_some() { "AND source = ?2" } else { "" },
    );
    let read = |row: &Row| each(read_features(row)?);
    let params = params![dataset.0, source];
    query::for_each(connection, &sql, &params[..=usize::from(source.is_some())], read)
}

fn read_features(row: &Row) -> Result<MediaFeatures> {
    let media = read_media(row)?;
    Ok(MediaFeatures {
        descriptor: decode_f16(row.get_ref(MEDIA_COLUMN_COUNT)?.as_blob()?),
        text_vector: row.get_ref(MEDIA_COLUMN_COUNT + 1)?.as_blob_or_null()?.map(decode_f16),
        model_vector: row.get_ref(MEDIA_COLUMN_COUNT + 2)?.as_blob_or_null()?.map(decode_f16),
        perceptual_hash: row.get::<i64>(MEDIA_COLUMN_COUNT + 3)?.cast_unsigned(),
        assignment: read_assignment(row, MEDIA_COLUMN_COUNT + 4, media.row)?,
        media,
    })
}

pub(super) fn entity_condition(entity: EntityType) -> &'static str {
    match entity {
        EntityType::Images => "parent IS NULL",
        EntityType::Objects => "parent IS NOT NULL",
    }
}
