//! Export rows: INIT, `IN_PROGRESS`, then COMPLETED or FAILED, kept through restarts.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    cluster::{PLACE, PLACE_WIDTH, Place, place},
    media::{COLUMNS, Media, WIDTH, media},
    now,
};
use tessera_model::{
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
    /// Whether it holds only what was [`choose`]n for it.
    pub selective: bool,
}

/// One row of the metadata: a media with what the clustering says of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The media.
    pub media: Media,
    /// What the clustering says of it; `None` if it came after the last one.
    pub place: Option<Place>,
    /// Its cluster at the default granularity.
    pub cluster: Option<ClusterId>,
    /// Its cluster at the finest granularity, where near-duplicates are together.
    pub twins: Option<ClusterId>,
}

const FIELDS: &str = "id, dataset, file_name, format, include_images, origin, status, progress, \
                      entities, message, created_at, selective";

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
        selective: row.get(11)?,
    })
}

/// Adds an export.
///
/// # Errors
/// The store failed.
pub fn put(connection: &Connection, export: &Export) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO export VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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
            export.created_at,
            export.selective
        ],
    )?;
    Ok(())
}

/// Notes how many media an export holds, and how it stands.
///
/// # Errors
/// The store failed.
pub fn settle(connection: &Connection, export: &Export) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE export SET entities = ?2, status = ?3, message = ?4 WHERE id = ?1",
        params![export.id.0, export.entities, export.stage.word(), export.message],
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

/// Chooses media for a selective export; of an object its picture. Returns how many it holds then.
///
/// # Errors
/// The store failed.
pub fn choose(
    connection: &Connection,
    export: ExportTaskId,
    media: impl Iterator<Item = i64>,
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO chosen SELECT ?1, coalesce(parent, row) FROM media WHERE row = ?2",
    )?;
    for row in media {
        insert.execute(params![export.0, row])?;
    }
    connection
        .prepare_cached("SELECT count(*) FROM chosen WHERE export = ?1")?
        .query_row([export.0], |row| row.get(0))
}

/// Notes how many media an export holds after all.
///
/// # Errors
/// The store failed.
pub fn hold(connection: &Connection, id: ExportTaskId, entities: u64) -> rusqlite::Result<()> {
    connection.execute("UPDATE export SET entities = ?2 WHERE id = ?1", params![id.0, entities])?;
    Ok(())
}

/// How many pictures and videos an export holds now.
///
/// # Errors
/// The store failed.
pub fn count(connection: &Connection, export: &Export) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM media WHERE {}", members(export));
    connection
        .prepare_cached(&sql)?
        .query_row(params![export.dataset.0, export.id.0], |row| row.get(0))
}

/// Which media are in an export, by its dataset and identifier.
fn members(export: &Export) -> String {
    let chosen = "AND media.row IN (SELECT media FROM chosen WHERE export = ?2)";
    let all = "AND ?2 IS NOT NULL"; // the parameter is there either way
    let some = if export.selective { chosen } else { all };
    format!("media.dataset = ?1 AND media.parent IS NULL {some}")
}

/// Calls `each` with every picture and video of an export in order of path.
///
/// # Errors
/// The store failed, or `each` did.
pub fn entries<E: From<rusqlite::Error>>(
    connection: &Connection,
    export: &Export,
    mut each: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let sql = entries_of(&members(export));
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query(params![export.dataset.0, export.id.0])?;
    while let Some(row) = rows.next()? {
        each(entry(row)?)?;
    }
    Ok(())
}

/// The objects of a picture, in their order.
///
/// # Errors
/// The store failed.
pub fn objects(connection: &Connection, picture: i64) -> rusqlite::Result<Vec<Entry>> {
    let sql = entries_of("media.parent = ?1");
    connection.prepare_cached(&sql)?.query_map([picture], entry)?.collect()
}

fn entries_of(condition: &str) -> String {
    let level = Granularity::DEFAULT.level();
    let cluster = |name: &str, level: u8| {
        format!(
            "LEFT JOIN cluster {name} ON {name}.dataset = media.dataset
               AND {name}.entity = iif(media.parent IS NULL, 'IMAGES', 'OBJECTS')
               AND {name}.level = {level} AND {name}.rank = place.rank_{level}"
        )
    };
    format!(
        "SELECT {COLUMNS}, {PLACE}, shown.id, finest.id
         FROM media LEFT JOIN place ON place.media = media.row {} {}
         WHERE {condition} ORDER BY media.path, media.row",
        cluster("shown", level),
        cluster("finest", 0)
    )
}

fn entry(row: &Row) -> rusqlite::Result<Entry> {
    const CLUSTERS: usize = WIDTH + PLACE_WIDTH;
    let media = media(row)?;
    Ok(Entry {
        place: place(row, WIDTH, media.row)?,
        cluster: row.get::<_, Option<_>>(CLUSTERS)?.map(ClusterId),
        twins: row.get::<_, Option<_>>(CLUSTERS + 1)?.map(ClusterId),
        media,
    })
}
