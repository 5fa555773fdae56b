//! Export rows: INIT, `IN_PROGRESS`, then COMPLETED or FAILED, kept through restarts.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    media::{COLUMNS, Media, WIDTH, media},
    now,
};
use crate::model::{
    ArchiveName, ClusterId, DatasetId, ExportFormat, ExportSpec, ExportTaskId, Granularity,
};

/// How long a finished export is kept, in microseconds.
const LIFETIME: i64 = 24 * 3600 * 1_000_000;

/// Where an export stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Asked for, not begun.
    Init,
    /// The archive is being written.
    InProgress,
    /// The archive can be fetched.
    Completed,
    /// Over, without an archive.
    Failed,
}

impl Stage {
    /// The word on the wire and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::InProgress => "IN_PROGRESS",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }

    fn parse(word: &str) -> Self {
        [Self::Init, Self::InProgress, Self::Completed]
            .into_iter()
            .find(|stage| stage.word() == word)
            .unwrap_or(Self::Failed)
    }
}

/// A stored export.
#[derive(Clone, Debug)]
pub struct Export {
    /// Identifier.
    pub id: ExportTaskId,
    /// The dataset it exports.
    pub dataset: DatasetId,
    /// What was asked for.
    pub spec: ExportSpec,
    /// Scheme, host and port it was asked at.
    pub origin: String,
    /// Where it stands.
    pub stage: Stage,
    /// 0.0-1.0.
    pub progress: f64,
    /// How many media it holds.
    pub entities: u64,
    /// Why it failed, or what is missing; fit for the wire.
    pub message: Option<String>,
    /// Microseconds since 1970.
    pub created_at: i64,
}

/// One row of the metadata: a media with what the clustering says of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The media.
    pub media: Media,
    /// 0.0-1.0.
    pub uniqueness: Option<f64>,
    /// Its cluster at the default granularity.
    pub cluster: Option<ClusterId>,
}

const FIELDS: &str = "id, dataset, file_name, format, include_images, origin, status, progress, \
                      entities, message, created_at";

fn export(row: &Row) -> rusqlite::Result<Export> {
    let name: String = row.get(2)?;
    let format: String = row.get(3)?;
    let status: String = row.get(6)?;
    Ok(Export {
        id: ExportTaskId(row.get(0)?),
        dataset: DatasetId(row.get(1)?),
        spec: ExportSpec {
            file_name: ArchiveName::new(&name),
            format: ExportFormat::parse(&format).unwrap_or_default(),
            include_images: row.get(4)?,
        },
        origin: row.get(5)?,
        stage: Stage::parse(&status),
        progress: row.get(7)?,
        entities: row.get(8)?,
        message: row.get(9)?,
        created_at: row.get(10)?,
    })
}

/// Adds an export.
///
/// # Errors
/// The store failed.
pub fn put(connection: &Connection, export: &Export) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO export VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            export.id.0,
            export.dataset.0,
            export.spec.file_name.as_str(),
            export.spec.format.word(),
            export.spec.include_images,
            export.origin,
            export.stage.word(),
            export.progress,
            export.entities,
            export.message,
            export.created_at
        ],
    )?;
    Ok(())
}

/// One export.
///
/// # Errors
/// The store failed.
pub fn find(connection: &Connection, id: ExportTaskId) -> rusqlite::Result<Option<Export>> {
    let sql = format!("SELECT {FIELDS} FROM export WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0], export).optional()
}

/// Moves an export on.
///
/// # Errors
/// The store failed.
pub fn advance(
    connection: &Connection,
    id: ExportTaskId,
    stage: Stage,
    progress: f64,
    message: Option<&str>,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE export SET status = ?2, progress = ?3, message = ?4 WHERE id = ?1",
        params![id.0, stage.word(), progress, message],
    )?;
    Ok(())
}

/// The exports that are not over, oldest first.
///
/// # Errors
/// The store failed.
pub fn unfinished(connection: &Connection) -> rusqlite::Result<Vec<ExportTaskId>> {
    connection
        .prepare(
            "SELECT id FROM export WHERE status IN ('INIT', 'IN_PROGRESS') ORDER BY created_at",
        )?
        .query_map([], |row| row.get(0).map(ExportTaskId))?
        .collect()
}

/// Forgets the exports that have been over for a day, and names them.
///
/// # Errors
/// The store failed.
pub fn forget_old(connection: &Connection) -> rusqlite::Result<Vec<ExportTaskId>> {
    connection
        .prepare(
            "DELETE FROM export WHERE status IN ('COMPLETED', 'FAILED') AND created_at < ?1
             RETURNING id",
        )?
        .query_map([now() - LIFETIME], |row| row.get(0).map(ExportTaskId))?
        .collect()
}

/// Calls `each` with every media of a dataset in order of path.
///
/// # Errors
/// The store failed, or `each` did.
pub fn entries<E: From<rusqlite::Error>>(
    connection: &Connection,
    dataset: DatasetId,
    mut each: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let level = Granularity::DEFAULT.level();
    let sql = format!(
        "SELECT {COLUMNS}, uniqueness, cluster.id
         FROM media LEFT JOIN place ON place.media = media.row
         LEFT JOIN cluster ON cluster.dataset = media.dataset AND cluster.level = {level}
                          AND cluster.rank = place.rank_{level}
         WHERE media.dataset = ?1 ORDER BY path"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query([dataset.0])?;
    while let Some(row) = rows.next()? {
        each(Entry {
            media: media(row)?,
            uniqueness: row.get(WIDTH)?,
            cluster: row.get::<_, Option<_>>(WIDTH + 1)?.map(ClusterId),
        })?;
    }
    Ok(())
}
