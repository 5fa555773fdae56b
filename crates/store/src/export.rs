//! Export rows, which survive restarts. Their status is `INIT`, then `IN_PROGRESS`, and finally `COMPLETED` or
//! `FAILED`. What media items have is summarized here, too, so that an export can say beforehand what its format
//! omits.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::prelude::*;
use super::{
    assignment::{ASSIGNMENT_COLUMN_COUNT, ASSIGNMENT_COLUMNS, ClusterAssignment, read_assignment},
    duplicate_group::DuplicateGroups,
    lease::{self, LeasedTask},
    media::{
        MEDIA_COLUMN_COUNT, MEDIA_COLUMNS, MediaRecord, file_name, model_labels, read_frame,
        read_media, user_given,
    },
    now_micros, setting, store_now,
};
use tessera_model::{
    Annotation, ArchiveName, ClusterId, ExportSpec, ExportTaskId, Granularity, keyword_enum,
};
use uuid::Uuid;

keyword_enum!(
    /// The state of an export, with its name on the wire and in the store.
    ExportTaskState {
        Init = "INIT",
        InProgress = "IN_PROGRESS",
        Completed = "COMPLETED",
        /// The export has ended without an archive.
        Failed = "FAILED",
    }
);

impl ExportTaskState {
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    fn read(row: &Row, column: usize) -> Result<Self> {
        let name = row.get_ref(column)?.as_str()?;
        Ok(Self::from_keyword(name).unwrap_or(Self::Failed))
    }
}

#[derive(Clone, Debug)]
pub struct ExportRecord {
    pub id: ExportTaskId,
    pub dataset: DatasetId,
    pub spec: ExportSpec,
    /// Scheme, host and port of the request that started the export.
    pub origin: String,
    pub state: ExportTaskState,
    /// The progress, 0.0-1.0.
    pub progress: f64,
    /// The number of images and frames in the archive.
    pub media_count: u64,
    /// Why the export failed, or what is missing in it. The text is safe to send to clients.
    pub message: Option<String>,
    pub created_at: i64,
    /// Whether the export contains only the media chosen with [`select_media`].
    pub selective: bool,
}

impl ExportRecord {
    /// Whether the export ended without being run, because it would be empty.
    pub fn is_rejected(&self) -> bool {
        self.state == ExportTaskState::Failed && self.media_count == 0
    }
}

/// The media of a selective export, by row.
pub type ExportChoices = BTreeMap<i64, ExportChoice>;

/// The reason why a media item is in a selective export.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportChoice {
    /// The cluster with which the item was selected, or `None` if the item was selected individually.
    pub cluster: Option<ClusterId>,
    /// The similarity of the item to the query, 0.0-1.0, or `None` if there was no query.
    pub confidence: Option<f32>,
}

/// One row of the metadata: a media item with its clusters.
#[derive(Clone, Debug)]
pub struct ExportEntry {
    pub media: MediaRecord,
    /// The annotation of an object, in pixels.
    pub annotation: Annotation,
    /// The size of the picture file in bytes.
    pub size: u64,
    /// The clusters and scores, or `None` if the item was added after the latest clustering.
    pub assignment: Option<ClusterAssignment>,
    /// The cluster with which the item was selected, or its cluster at the default granularity.
    pub cluster: Option<ClusterId>,
    /// The similarity of the item to the query, 0.0-1.0.
    pub confidence: Option<f64>,
    /// The group of near-duplicates that contains the item.
    pub duplicate_group: Option<ClusterId>,
}

fn read_export(row: &Row) -> Result<ExportRecord> {
    Ok(ExportRecord {
        id: ExportTaskId(row.get(0)?),
        dataset: DatasetId(row.get(1)?),
        spec: ExportSpec {
            file_name: ArchiveName::new(row.get_ref(2)?.as_str()?),
            format: row.get_ref(3)?.as_str()?.parse().unwrap_or_default(),
            include_images: row.get(4)?,
        },
        origin: row.get(5)?,
        state: ExportTaskState::read(row, 6)?,
        progress: row.get(7)?,
        media_count: row.get(8)?,
        message: row.get(9)?,
        created_at: row.get(10)?,
        selective: row.get(11)?,
    })
}

pub fn insert(connection: &Connection, export: &ExportRecord) -> Result<()> {
    query::execute(
        connection,
        "INSERT INTO export VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL)",
        params![
            export.id.0,
            export.dataset.0,
            export.spec.file_name.as_str(),
            export.spec.format.as_str(),
            export.spec.include_images,
            export.origin,
            export.state.as_str(),
            export.progress,
            export.media_count,
            export.message,
            export.created_at,
            export.selective
        ],
    )
}

const SELECT_EXPORT: &str = "SELECT id, dataset, file_name, format, include_images, origin, status,
                             progress, entities, message, created_at, selective, require(intact)
                      FROM export WHERE";

pub fn find(connection: &Connection, id: ExportTaskId) -> Result<Option<ExportRecord>> {
    query::find(connection, &format!("{SELECT_EXPORT} id = ?1"), params![id.0], read_export)
}

/// Finds an export that has not ended. The export is not removed before the transaction ends.
pub fn find_unfinished(
    transaction: &Transaction,
    id: ExportTaskId,
) -> Result<Option<ExportRecord>> {
    let keep_row = transaction.dialect().keep_row;
    let sql = format!("{SELECT_EXPORT} id = ?1 AND status IN ('INIT', 'IN_PROGRESS'){keep_row}");
    query::find(transaction, &sql, params![id.0], read_export)
}

/// Returns the oldest unfinished export on which no worker has a lease. An export waits for the indexing of its dataset,
/// because a dataset that is being indexed lacks captions and clusters.
pub fn next_unleased(transaction: &Transaction) -> Result<Option<ExportRecord>> {
    let sql = format!(
        "{SELECT_EXPORT} status IN ('INIT', 'IN_PROGRESS')
           AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > ?1
                           AND task = 'export/' || lower(hex(export.id)))
           AND NOT EXISTS (SELECT 1 FROM indexing_task
                           WHERE indexing_task.dataset = export.dataset AND stage = 'RUNNING')
         ORDER BY created_at LIMIT 1"
    );
    query::find(transaction, &sql, params![store_now(transaction)?], read_export)
}

pub fn update_progress(
    connection: &Connection,
    id: ExportTaskId,
    state: ExportTaskState,
    progress: f64,
    message: Option<&str>,
) -> Result<()> {
    let sql = "UPDATE export SET status = ?2, progress = ?3, message = ?4, ended_at = ?5
               WHERE id = ?1";
    let ended_at = state.has_ended().then(now_micros);
    query::execute(connection, sql, params![id.0, state.as_str(), progress, message, ended_at])
}

/// Ends an export that has not ended, and takes it away from its worker. Returns whether there was one.
pub fn cancel(transaction: &Transaction, id: ExportTaskId, reason: &str) -> Result<bool> {
    lease::revoke(transaction, LeasedTask::Export(id))?;
    let Some(running) = find_unfinished(transaction, id)? else { return Ok(false) };
    let progress = running.progress;
    update_progress(transaction, id, ExportTaskState::Failed, progress, Some(reason))?;
    Ok(true)
}

/// Ends all complete exports as failed, because their archives are out of reach.
pub fn fail_completed(connection: &Connection, reason: &str) -> Result<()> {
    let sql = "UPDATE export SET status = 'FAILED', message = ?1 WHERE status = 'COMPLETED'";
    query::execute(connection, sql, params![reason])
}

pub fn count_unfinished(connection: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM export WHERE status IN ('INIT', 'IN_PROGRESS')";
    query::one(connection, sql, params![], |row| row.get(0))
}

/// Returns the exports of a dataset, each with whether it has ended.
pub fn of_dataset(
    connection: &Connection,
    dataset: DatasetId,
) -> Result<Vec<(ExportTaskId, bool)>> {
    let sql = "SELECT id, status, require(intact) FROM export WHERE dataset = ?1";
    query::all(connection, sql, params![dataset.0], |row| {
        Ok((ExportTaskId(row.get(0)?), ExportTaskState::read(row, 1)?.has_ended()))
    })
}

/// Returns the exports that ended longer ago than `retention`.
pub fn expired(connection: &Connection, retention: Duration) -> Result<Vec<ExportTaskId>> {
    let sql = "SELECT id FROM export WHERE status IN ('COMPLETED', 'FAILED') AND ended_at < ?1";
    let retention = i64::try_from(retention.as_micros()).unwrap_or(i64::MAX);
    let newest = now_micros().saturating_sub(retention);
    query::all(connection, sql, params![newest], |row| row.get(0).map(ExportTaskId))
}

/// The beginning of the names of the settings with the exports whose dataset was removed before their archives.
const WITHOUT_DATASET: &str = "removed_export/";

/// Notes exports whose dataset is about to be removed, so that their archives are deleted from the bucket later.
pub fn note_removed(connection: &Connection, exports: &[ExportTaskId]) -> Result<()> {
    exports.iter().try_for_each(|export| {
        setting::replace(connection, &format!("{WITHOUT_DATASET}{export}"), export.0.as_bytes())
    })
}

/// Returns the exports of removed datasets whose archives may still be in the bucket.
pub fn without_dataset(connection: &Connection) -> Result<Vec<ExportTaskId>> {
    let sql =
        format!("SELECT value, require(intact) FROM setting WHERE name LIKE '{WITHOUT_DATASET}%'");
    let ids: Vec<Vec<u8>> = query::all(connection, &sql, params![], |row| row.get(0))?;
    Ok(ids.iter().filter_map(|id| Some(ExportTaskId(Uuid::from_slice(id).ok()?))).collect())
}

/// Forgets exports whose archives were deleted.
pub fn delete_all(connection: &Connection, exports: &[ExportTaskId]) -> Result<()> {
    let sql = "DELETE FROM export WHERE id = ?1";
    query::execute_each(connection, sql, exports, |export, run| run(params![export.0]))?;
    let sql = "DELETE FROM setting WHERE name = ?1";
    query::execute_each(connection, sql, exports, |export, run| {
        run(params![format!("{WITHOUT_DATASET}{export}")])
    })
}

/// Selects media for a selective export. For an object, its image is selected. Returns the number of selected media.
pub fn select_media(
    connection: &Connection,
    export: ExportTaskId,
    choices: &ExportChoices,
) -> Result<u64> {
    let insert = "INSERT INTO chosen
                  SELECT ?1, coalesce(parent, row), ?3, ?4 FROM media WHERE row = ?2
                  ON CONFLICT (export, media) DO UPDATE SET
                    cluster = coalesce(chosen.cluster, excluded.cluster),
                    confidence = coalesce(chosen.confidence, excluded.confidence)";
    query::execute_each(connection, insert, choices, |(row, choice), run| {
        let cluster = choice.cluster.map(|id| id.0);
        run(params![export.0, row, cluster, choice.confidence])
    })?;
    let count = "SELECT count(*) FROM chosen WHERE export = ?1";
    query::one(connection, count, params![export.0], |row| row.get(0))
}

pub fn set_media_count(connection: &Connection, id: ExportTaskId, count: u64) -> Result<()> {
    let sql = "UPDATE export SET entities = ?2 WHERE id = ?1";
    query::execute(connection, sql, params![id.0, count])
}

pub fn count_media(connection: &Connection, export: &ExportRecord) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM media WHERE {}", media_condition(export));
    let params = params![export.dataset.0, export.id.0];
    let used = if export.selective { params } else { &params[..1] };
    query::one(connection, &sql, used, |row| row.get(0))
}

/// Returns the SQL condition for the media of an export. Its parameters are the dataset and, if the export is
/// selective, the identifier of the export.
fn media_condition(export: &ExportRecord) -> &'static str {
    if export.selective {
        "media.dataset = ?1 AND media.parent IS NULL
           AND media.row IN (SELECT media FROM chosen WHERE export = ?2)"
    } else {
        "media.dataset = ?1 AND media.parent IS NULL"
    }
}

/// Calls `each` with every image and frame of an export, in the order of their paths. Of files with the same path, the
/// one in the folder of the dataset comes first.
pub fn for_each_entry<E: From<QueryError>>(
    connection: &Connection,
    export: &ExportRecord,
    groups: &DuplicateGroups,
    mut each: impl FnMut(ExportEntry) -> Result<(), E>,
) -> Result<(), E> {
    let sql = entries_query(media_condition(export));
    let params = params![export.dataset.0, export.id.0];
    query::for_each(connection, &sql, params, |row| each(read_entry(row, groups)?))
}

/// Returns the objects in a picture of an export.
pub fn object_entries(
    connection: &Connection,
    export: ExportTaskId,
    groups: &DuplicateGroups,
    picture: i64,
) -> Result<Vec<ExportEntry>> {
    let sql = entries_query("media.parent = ?1");
    query::all(connection, &sql, params![picture, export.0], |row| read_entry(row, groups))
}

/// Returns the labels of all objects of a dataset, in the order of their bytes.
pub fn object_labels(connection: &Connection, dataset: DatasetId) -> Result<Vec<String>> {
    let sql = "SELECT labels, require(intact) FROM media WHERE dataset = ?1 AND parent IS NOT NULL";
    let mut labels = BTreeSet::new();
    query::for_each(connection, sql, params![dataset.0], |row| {
        let of_object: Vec<String> = from_json(row, 0)?;
        labels.extend(of_object.into_iter().take(1));
        Ok::<_, QueryError>(())
    })?;
    Ok(labels.into_iter().collect())
}

/// Returns the query for entries. The second parameter of `condition` is the identifier of the export.
fn entries_query(condition: &str) -> String {
    let level = Granularity::DEFAULT.level();
    format!(
        "SELECT {MEDIA_COLUMNS}, {ASSIGNMENT_COLUMNS}, coalesce(choice.cluster, shown.id),
                choice.confidence,
                coalesce((SELECT length(jpeg) FROM frame_picture
                          WHERE frame_picture.media = media.row),
                         (SELECT packed.length FROM packed_frame_picture packed
                          WHERE packed.media = media.row), media.size),
                media.annotation, require(choice.intact IS NOT FALSE)
         FROM media LEFT JOIN place ON place.media = media.row
         LEFT JOIN cluster shown ON shown.dataset = media.dataset
           AND shown.entity = CASE WHEN media.parent IS NULL THEN 'IMAGES' ELSE 'OBJECTS' END
           AND shown.level = {level} AND shown.rank = place.rank_{level}
         LEFT JOIN chosen choice ON choice.export = ?2 AND choice.media = media.row
         WHERE {condition} ORDER BY media.path, media.source, media.row"
    )
}

fn read_entry(row: &Row, groups: &DuplicateGroups) -> Result<ExportEntry> {
    const CLUSTER_ID_COLUMN: usize = MEDIA_COLUMN_COUNT + ASSIGNMENT_COLUMN_COUNT;
    let media = read_media(row)?;
    let entity = if media.parent.is_none() { EntityType::Images } else { EntityType::Objects };
    let assignment = read_assignment(row, MEDIA_COLUMN_COUNT, media.row)?;
    Ok(ExportEntry {
        duplicate_group: assignment
            .and_then(|assignment| groups.containing(entity, assignment.duplicate_position?)),
        assignment,
        cluster: row.get::<Option<_>>(CLUSTER_ID_COLUMN)?.map(ClusterId),
        confidence: row.get(CLUSTER_ID_COLUMN + 1)?,
        size: row.get(CLUSTER_ID_COLUMN + 2)?,
        annotation: from_json::<Option<_>>(row, CLUSTER_ID_COLUMN + 3)?.unwrap_or_default(),
        media,
    })
}

/// What an image, a frame or an object has.
#[derive(Clone, Debug)]
pub struct MediaContent {
    /// The name of the file. For a frame, the name is generated.
    pub file_name: String,
    /// The label of an object. Images and frames have none.
    pub label: Option<String>,
    pub has_caption: bool,
    /// Whether the image or frame has labels, also of a model.
    pub has_labels: bool,
    /// Whether there are tags, of sidecars or of users.
    pub has_tags: bool,
    /// The rating that users have given, or 0.
    pub rating: u8,
    /// The number of rows with columns of the user's own: 1 or 0.
    pub extra_columns: u64,
    /// The annotation of an object.
    pub annotation: Annotation,
}

const CONTENT_COLUMNS: &str = concat!(
    "media.path, media.frame, media.seconds, media.parent IS NOT NULL, media.caption IS NOT NULL,
     media.labels, media.tags, media.annotation, ",
    model_labels!(),
    ", (SELECT count(*) FROM extra_columns WHERE extra_columns.media = media.row),
     require(media.intact), ",
    user_given!("tags", "'[]'"),
    ", ",
    user_given!("rating", "0"),
);

/// The number of pictures whose content is in memory at a time.
const PICTURES_AT_A_TIME: usize = 1_000;

/// Calls `each` with the images and frames of a dataset and with their objects. If media are selected, only the
/// selected pictures are read, and the pictures of selected objects.
pub fn for_each_content<E: From<QueryError>>(
    connection: &Connection,
    dataset: DatasetId,
    selected: Option<&ExportChoices>,
    mut each: impl FnMut(MediaContent) -> Result<(), E>,
) -> Result<(), E> {
    let Some(selected) = selected else {
        let sql = format!("SELECT {CONTENT_COLUMNS} FROM media WHERE dataset = ?1");
        return query::for_each(connection, &sql, params![dataset.0], |row| {
            each(read_content(row)?)
        });
    };
    let pictures = "SELECT coalesce(parent, row) FROM media WHERE row = ?1 AND dataset = ?2";
    let mut batch = StatementBatch::returning(connection, pictures, |row| row.get::<i64>(0));
    selected.keys().try_for_each(|row| batch.add(params![row, dataset.0]))?;
    let pictures: Vec<i64> = BTreeSet::from_iter(batch.finish()?).into_iter().collect();
    let sql = format!("SELECT {CONTENT_COLUMNS} FROM media WHERE row = ?1 OR parent = ?1");
    for pictures in pictures.chunks(PICTURES_AT_A_TIME) {
        let mut batch = StatementBatch::returning(connection, &sql, read_content);
        pictures.iter().try_for_each(|row| batch.add(params![row]))?;
        batch.finish()?.into_iter().try_for_each(&mut each)?;
    }
    Ok(())
}

fn read_content(row: &Row) -> Result<MediaContent> {
    let is_object: bool = row.get(3)?;
    let [labels, tags, model_labels, given_tags]: [Vec<String>; 4] =
        [from_json(row, 5)?, from_json(row, 6)?, from_json(row, 8)?, from_json(row, 11)?];
    Ok(MediaContent {
        file_name: file_name(&path_from_bytes(row.get(0)?), read_frame(row, 1)?),
        has_caption: row.get(4)?,
        has_labels: !is_object && labels.len() + model_labels.len() > 0,
        has_tags: tags.len() + given_tags.len() > 0,
        rating: row.get(12)?,
        extra_columns: row.get(9)?,
        label: is_object.then(|| labels.into_iter().next().unwrap_or_default()),
        annotation: from_json::<Option<_>>(row, 7)?.unwrap_or_default(),
    })
}
