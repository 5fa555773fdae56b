//! The versions of the schema, as a list of migrations.

use rusqlite::{Connection, OptionalExtension as _, Result, TransactionBehavior};

use super::{
    added_tables::{
        ANCHOR_PICTURES, CAPTION_LANGUAGES, EMBEDDED_TEXTS, EXTRACTIONS, LEASES, MODEL_LABELS,
        MODEL_VECTORS, NO_WORDS, PICTURE_PACKS, TEXT_COVERAGE, WORDS_WITH_MARKS,
    },
    tables::TABLES,
};

/// Versions up to this one cannot be migrated: they lack checksums, the frames of videos, or the reason
/// why an export contains a media item. Their datasets are indexed again in a new store.
const LAST_REPLACED: usize = 6;

/// Append only.
const MIGRATIONS: &[&str] = &[
    TABLES,
    LEASES,
    CHOSEN_BY_MEDIA,
    EXTRACTIONS,
    EMBEDDED_TEXTS,
    CAPTION_LANGUAGES,
    MODEL_VECTORS,
    ANCHOR_PICTURES,
    MODEL_LABELS,
    TEXT_COVERAGE,
    WORDS_WITH_MARKS,
    PICTURE_PACKS,
    NO_WORDS,
];

/// Without it, every change of a media item reads all items of all selective exports.
const CHOSEN_BY_MEDIA: &str = "CREATE INDEX chosen_media ON chosen (media)";

pub(super) const VERSION: usize = LAST_REPLACED + MIGRATIONS.len();

/// The version of a file; 0 for a new one.
pub(super) fn version(connection: &Connection) -> Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether a file can be migrated.
pub(super) fn is_migratable(connection: &Connection) -> Result<bool> {
    Ok(version(connection)? > LAST_REPLACED)
}

/// Applies all missing migrations to a new file or one that can be migrated, one transaction each. If
/// the file has a newer version than [`VERSION`], returns that version and changes nothing.
pub(super) fn migrate(connection: &mut Connection) -> Result<Option<usize>> {
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = version(&transaction)?.max(LAST_REPLACED);
        if version > VERSION {
            return Ok(Some(version));
        }
        let Some(sql) = MIGRATIONS.get(version - LAST_REPLACED) else { return Ok(None) };
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", version + 1)?;
        let sql = "INSERT OR REPLACE INTO setting VALUES ('definitions', ?1)";
        transaction.execute(sql, [definitions(&transaction)?])?;
        transaction.commit()?;
    }
}

/// Whether tables, indexes and triggers are as the last migration left them.
pub(super) fn is_intact(connection: &Connection) -> Result<bool> {
    let sql = "SELECT value FROM setting WHERE name = 'definitions'";
    let written = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(written == Some(definitions(connection)?))
}

/// A hash of all definitions, except those that `SQLite` added for the full-text index of earlier versions.
fn definitions(connection: &Connection) -> Result<[u8; 32]> {
    let sql = "SELECT group_concat(sql, ';' ORDER BY name) FROM sqlite_schema
               WHERE name NOT GLOB 'words_*'";
    connection.query_row(sql, [], |row| Ok(*blake3::hash(row.get_ref(0)?.as_bytes()?).as_bytes()))
}
