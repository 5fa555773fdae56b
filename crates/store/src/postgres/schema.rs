//! Creates the tables of a schema on a server, and reads their version. This file has what only PostgreSQL has:
//! triggers, functions and indexes. The rows need no checksums, because the server has checksums for its pages.

use super::full_text;
use crate::{
    engine::{Connection, Result, params},
    query,
    several_processes::{extraction, search_table, similarity_range, task_listener},
    table_definitions::{ALLOWED_TRANSITIONS, TABLES, VERSION},
};

const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_version (
                                 version    integer PRIMARY KEY,
                                 applied_at timestamptz NOT NULL DEFAULT now()
                               )";

/// JPEG data is stored without compression, because it is compressed already. The indexes find waiting tasks without
/// reading the tasks that have ended.
const STORAGE: &str = "
ALTER TABLE thumbnail ALTER jpeg SET STORAGE EXTERNAL;
ALTER TABLE frame_picture ALTER jpeg SET STORAGE EXTERNAL;
CREATE INDEX unfinished_indexing_task ON indexing_task (row) WHERE stage = 'RUNNING';
CREATE INDEX unfinished_export ON export (created_at) WHERE status IN ('INIT', 'IN_PROGRESS');

CREATE FUNCTION hex(id uuid) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN upper(replace(id::text, '-', ''));
";

/// Keeps the counts of a dataset up to date with its media. The triggers run once per statement, because each update of
/// a row copies the row.
const MEDIA_COUNTS: &str = "
CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE dataset SET n_images = n_images + sign * counted.images,
                     n_videos = n_videos + sign * counted.videos,
                     n_frames = n_frames + sign * counted.frames,
                     n_objects = n_objects + sign * counted.objects
  FROM (SELECT changed.dataset, count(*) FILTER (WHERE kind = 'IMAGE') AS images,
               count(*) FILTER (WHERE frame = 1) AS videos,
               count(*) FILTER (WHERE kind = 'FRAME') AS frames,
               count(*) FILTER (WHERE kind = 'OBJECT') AS objects
        FROM changed GROUP BY changed.dataset) AS counted
  WHERE dataset.id = counted.dataset;
  RETURN NULL;
END $$;
CREATE TRIGGER media_added AFTER INSERT ON media REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_removed AFTER DELETE ON media REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_media();
";

/// Returns the version of a schema, or 0 if it has no tables.
pub(super) fn version(connection: &Connection) -> Result<usize> {
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL";
    if !query::one(connection, sql, params![], |row| row.get(0))? {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    query::one(connection, sql, params![], |row| row.get(0))
}

/// Creates the tables in one transaction. Another process that creates the tables at the same time waits. If there are
/// tables, nothing is changed. Returns the version.
pub(super) fn create(connection: &Connection) -> Result<usize> {
    let transaction = connection.begin()?;
    transaction.execute_batch(CREATE_VERSIONS)?;
    let found = version(&transaction)?;
    if found > 0 {
        return Ok(found);
    }
    let tables = TABLES.replace(" WITHOUT ROWID", "");
    let transitions = check_of_transitions();
    for sql in [
        &tables,
        STORAGE,
        MEDIA_COUNTS,
        &transitions,
        full_text::TABLES,
        full_text::WORD_COUNTS,
        search_table::TABLES,
        extraction::TABLES,
        similarity_range::TABLES,
        task_listener::ANNOUNCEMENTS,
    ] {
        transaction.execute_batch(sql)?;
    }
    let sql = "INSERT INTO schema_version (version) VALUES (?1)";
    query::execute(&transaction, sql, params![VERSION])?;
    transaction.commit()?;
    Ok(VERSION)
}

fn check_of_transitions() -> String {
    format!(
        "
CREATE FUNCTION check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (old.status || ' > ' || new.status) NOT IN ({ALLOWED_TRANSITIONS}) THEN
    RAISE EXCEPTION 'no such transition of a dataset';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER transition BEFORE UPDATE OF status ON dataset
  FOR EACH ROW WHEN (new.status <> old.status) EXECUTE FUNCTION check_transition();
"
    )
}
