//! The versions of the schema on a server, as a list of migrations.

use super::{
    added_tables::{
        ANCHOR_PICTURES, CAPTION_LANGUAGES, CURRENT_STEMS, EMBEDDED_TEXTS, EXTRACTIONS,
        MODEL_LABELS, MODEL_VECTORS, PICTURE_PACKS, SIMILARITY_RANGES, TASK_QUEUE, TEXT_COVERAGE,
    },
    tables::TABLES,
    word_counts,
};
use crate::{
    engine::{Connection, Result, params},
    query, search_table,
};

/// Append only.
const MIGRATIONS: &[&str] = &[
    TABLES,
    TASK_QUEUE,
    word_counts::TABLES,
    search_table::TABLES,
    EXTRACTIONS,
    EMBEDDED_TEXTS,
    CAPTION_LANGUAGES,
    MODEL_VECTORS,
    ANCHOR_PICTURES,
    MODEL_LABELS,
    TEXT_COVERAGE,
    CURRENT_STEMS,
    SIMILARITY_RANGES,
    PICTURE_PACKS,
];

pub(super) const VERSION: usize = MIGRATIONS.len();

const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_version (
                                 version    integer PRIMARY KEY,
                                 applied_at timestamptz NOT NULL DEFAULT now()
                               )";

/// The version of a schema; 0 if it has no tables.
pub(super) fn version(connection: &Connection) -> Result<usize> {
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL";
    if !query::one(connection, sql, params![], |row| row.get(0))? {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    query::one(connection, sql, params![], |row| row.get(0))
}

/// Readers do not take it, so that browsing continues. The first lock of the transaction makes processes that
/// create the table wait for each other.
const WAIT_FOR_CHANGES: &str = "LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE";

/// Applies all missing migrations in one transaction; another process that does so waits. Changes that have begun
/// end before; later ones are refused in processes of another version. Changes nothing if the schema has a newer
/// version than [`VERSION`]. Returns the version.
pub(super) fn migrate(connection: &Connection) -> Result<usize> {
    let transaction = connection.begin()?;
    transaction.execute_batch(CREATE_VERSIONS)?;
    transaction.execute_batch(WAIT_FOR_CHANGES)?;
    let found = version(&transaction)?;
    for (number, sql) in (1..).zip(MIGRATIONS).skip(found) {
        transaction.execute_batch(sql)?;
        let sql = "INSERT INTO schema_version (version) VALUES (?1)";
        query::execute(&transaction, sql, params![number])?;
    }
    transaction.commit()?;
    Ok(found.max(VERSION))
}
