//! Creates the tables of a database file, and reads their version. This file has what only `SQLite` has: its types, its
//! triggers, and the checksum of every row, which the database computes and verifies itself.

use rusqlite::{Connection, OptionalExtension as _, Result, TransactionBehavior};

use super::recovery::register_functions;
use crate::table_definitions::{ALLOWED_TRANSITIONS, TABLES, VERSION};

/// Keeps the counts of a dataset up to date with its media.
const MEDIA_COUNTS: &str = "
CREATE TRIGGER media_added AFTER INSERT ON media BEGIN
  UPDATE dataset SET n_images = n_images + (new.kind = 'IMAGE'),
                     n_videos = n_videos + (new.frame IS 1),
                     n_frames = n_frames + (new.kind = 'FRAME'),
                     n_objects = n_objects + (new.kind = 'OBJECT') WHERE id = new.dataset;
END;
CREATE TRIGGER media_removed AFTER DELETE ON media BEGIN
  UPDATE dataset SET n_images = n_images - (old.kind = 'IMAGE'),
                     n_videos = n_videos - (old.frame IS 1),
                     n_frames = n_frames - (old.kind = 'FRAME'),
                     n_objects = n_objects - (old.kind = 'OBJECT') WHERE id = old.dataset;
END;";

/// Returns the version of a file, or 0 if it has no tables.
pub(super) fn version(connection: &Connection) -> Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Creates the tables of a new file in one transaction. If there are tables, nothing is changed.
pub(super) fn create(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? > 0 {
        return Ok(());
    }
    transaction.execute_batch(&definitions())?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    let sql = "INSERT INTO setting VALUES ('definitions', ?1)";
    transaction.execute(sql, [hash_of_definitions(&transaction)?])?;
    transaction.commit()
}

/// Whether the tables, indexes and triggers are as they were created.
pub(super) fn is_intact(connection: &Connection) -> Result<bool> {
    let sql = "SELECT value FROM setting WHERE name = 'definitions'";
    let written = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(written == Some(hash_of_definitions(connection)?))
}

/// Whether a file has the tables, indexes and triggers that this program creates.
pub(super) fn is_known(connection: &Connection) -> Result<bool> {
    let new = Connection::open_in_memory()?;
    register_functions(&new)?;
    new.execute_batch(&definitions())?;
    Ok(hash_of_definitions(connection)? == hash_of_definitions(&new)?)
}

pub(super) fn hash_of_definitions(connection: &Connection) -> Result<[u8; 32]> {
    let sql = "SELECT group_concat(sql, ';' ORDER BY name) FROM sqlite_schema";
    connection.query_row(sql, [], |row| Ok(*blake3::hash(row.get_ref(0)?.as_bytes()?).as_bytes()))
}

fn definitions() -> String {
    let statements = TABLES.split_inclusive(";\n");
    let tables: String =
        statements.map(|statement| in_sqlite(&without_comments(statement))).collect();
    format!(
        "{tables}{MEDIA_COUNTS}
CREATE TRIGGER transition BEFORE UPDATE OF status ON dataset
WHEN new.status <> old.status AND (old.status || ' > ' || new.status) NOT IN ({ALLOWED_TRANSITIONS}) BEGIN
  SELECT raise(ABORT, 'no such transition of a dataset');
END;"
    )
}

fn without_comments(sql: &str) -> String {
    let code = sql.lines().map(|line| line.split("--").next().unwrap_or_default().trim_end());
    code.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Converts one statement to `SQLite`'s types. A table becomes strict and gets two columns: `checksum`, which is
/// computed from the other columns, and `intact`, which says whether the columns still match the checksum.
fn in_sqlite(statement: &str) -> String {
    let (Some((head, rest)), true) =
        (statement.split_once("(\n"), statement.starts_with("CREATE TABLE"))
    else {
        return statement.to_owned() + "\n";
    };
    let (lines, options) = rest.rsplit_once("\n)").unwrap_or((rest, ""));
    let options = options.trim_end_matches(';').trim();
    let lines: Vec<&str> = lines.lines().map(|line| line.trim().trim_end_matches(',')).collect();
    // Constraints of a table are in capital letters.
    let is_column = |line: &str| line.starts_with(|first: char| first.is_ascii_lowercase());
    let (columns, constraints): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| is_column(line));
    let names: Vec<&str> =
        columns.iter().filter_map(|column| column.split_whitespace().next()).collect();
    let names = names.join(", ");
    let mut parts: Vec<String> = columns.into_iter().map(column_in_sqlite).collect();
    parts.push(format!("checksum INTEGER NOT NULL AS (crc32({names})) STORED"));
    parts.push(format!("intact INTEGER AS (checksum = crc32({names})) CHECK (intact)"));
    parts.extend(constraints.into_iter().map(str::to_owned));
    let comma = if options.is_empty() { "" } else { ", " };
    format!("{head}(\n  {}\n) STRICT{comma}{options};\n", parts.join(",\n  "))
}

/// Converts one column to `SQLite`'s type. `SQLite`'s types allow more values, so constraints are added: identifiers
/// have 16 bytes, and truth values are 0 or 1. The number of a deleted row is given to no other row, because the index
/// of the last generation still knows deleted media by their rows.
fn column_in_sqlite(column: &str) -> String {
    let words: Vec<&str> = column.split_whitespace().collect();
    let column = words.join(" ");
    let column = column
        .replace("GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "PRIMARY KEY AUTOINCREMENT")
        .replace("double precision", "real");
    let (name, definition) = column.split_once(' ').unwrap_or((&column, ""));
    let (kind, rest) = definition.split_at(definition.find(' ').unwrap_or(definition.len()));
    let is_reference = rest.contains("REFERENCES");
    match kind {
        "bytea" => format!("{name} BLOB{rest}"),
        "uuid" if is_reference => format!("{name} BLOB{rest}"),
        "uuid" => format!("{name} BLOB{rest} CHECK (length({name}) = 16)"),
        "boolean" => format!("{name} INTEGER{rest} CHECK ({name} IN (0, 1))"),
        "smallint" | "integer" | "bigint" => format!("{name} INTEGER{rest}"),
        _ => format!("{name} {}{rest}", kind.to_uppercase()),
    }
}
