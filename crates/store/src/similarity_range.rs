//! Ranges of the neighbor graph and the near-duplicates of an operation, which other workers compute in a store on a
//! server. The worker of the operation does not depend on them: it computes itself what is missing, so the tables are
//! not restored after a crash of the server.

use super::{
    engine::{Connection, QueryError, Result, Row, StatementBatch, Transaction, params},
    lease::{self, LeasedTask},
    query, store_now,
};
use tessera_model::EntityType;

/// A range that a worker may compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarityRange {
    pub row: i64,
    pub members: MembersOfRun,
    /// The name of its step.
    pub step: String,
    pub number: usize,
}

/// The members that an operation clusters. They do not change while the same worker runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MembersOfRun {
    pub operation: i64,
    /// Counts how often the operation was begun.
    pub fence: i64,
    pub entity: EntityType,
    /// The source of an addition; `None` for the whole dataset.
    pub source: Option<i64>,
}

/// Replaces the ranges of the former step by those of the next one.
pub fn begin_step(
    transaction: &Transaction,
    members: MembersOfRun,
    step: &str,
    ranges: usize,
) -> Result<()> {
    let MembersOfRun { operation, fence, entity, source } = members;
    remove_ranges(transaction, operation)?;
    let sql = "INSERT INTO similarity_range (operation, fence, entity, source, step, number)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut inserts = StatementBatch::new(transaction, sql);
    for number in 0..ranges {
        inserts.add(params![operation, fence, entity.as_str(), source, step, number])?;
    }
    inserts.finish().map(drop)
}

const SELECT_RANGE: &str = "SELECT row, operation, fence, entity, source, step, number,
                                   require(intact)
                            FROM similarity_range WHERE NOT is_done";

fn read_range(row: &Row) -> Result<SimilarityRange> {
    Ok(SimilarityRange {
        row: row.get(0)?,
        members: MembersOfRun {
            operation: row.get(1)?,
            fence: row.get(2)?,
            entity: row.get_ref(3)?.as_str()?.parse().unwrap_or_default(),
            source: row.get(4)?,
        },
        step: row.get(5)?,
        number: row.get(6)?,
    })
}

/// The oldest range that no worker computes, of an operation of another holder.
pub fn next_unleased(
    transaction: &Transaction,
    holder: uuid::Uuid,
) -> Result<Option<SimilarityRange>> {
    let sql = format!(
        "{SELECT_RANGE}
           AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > ?2
                           AND task = 'similarity/' || similarity_range.row)
           AND EXISTS (SELECT 1 FROM lease WHERE expires_at > ?2 AND holder <> ?1
                       AND task = 'operation/' || similarity_range.operation)
         ORDER BY row LIMIT 1"
    );
    query::find(transaction, &sql, params![holder, store_now(transaction)?], read_range)
}

/// A range that has not ended; it is not removed before the transaction ends.
pub fn find(transaction: &Transaction, row: i64) -> Result<Option<SimilarityRange>> {
    let sql = format!("{SELECT_RANGE} AND row = ?1{}", transaction.keep_row());
    query::find(transaction, &sql, params![row], read_range)
}

/// Stores the result of a range.
pub fn finish(
    transaction: &Transaction,
    range: i64,
    parts: impl Iterator<Item = Vec<u8>>,
) -> Result<()> {
    let sql = "UPDATE similarity_range SET is_done = true WHERE row = ?1 RETURNING row";
    query::find(transaction, sql, params![range], |row| row.get::<i64>(0))?
        .ok_or(QueryError::LeaseLost)?;
    let sql = "INSERT INTO similarity_result (range, part, bytes) VALUES (?1, ?2, ?3)";
    let mut inserts = StatementBatch::new(transaction, sql);
    (0_i64..).zip(parts).try_for_each(|(part, bytes)| inserts.add(params![range, part, bytes]))?;
    inserts.finish().map(drop)
}

/// Leaves a range to the worker of the operation. A worker that has begun it loses its lease.
pub fn remove(transaction: &Transaction, row: i64) -> Result<()> {
    let end_lease = || lease::end_all(transaction, [LeasedTask::SimilarityRange(row)].into_iter());
    end_lease()?;
    query::execute(transaction, "DELETE FROM similarity_range WHERE row = ?1", params![row])?;
    // Again, because the range may have been taken meanwhile.
    end_lease()
}

/// How far a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeState {
    pub row: i64,
    pub number: usize,
    pub is_done: bool,
    /// A worker computes it.
    pub is_leased: bool,
}

/// The ranges of the open step of an operation, in order.
pub fn states(connection: &Connection, operation: i64) -> Result<Vec<RangeState>> {
    let sql = "SELECT row, number, is_done,
                      EXISTS (SELECT 1 FROM lease WHERE expires_at > ?2
                              AND task = 'similarity/' || similarity_range.row),
                      require(intact)
               FROM similarity_range WHERE operation = ?1 ORDER BY number";
    query::all(connection, sql, params![operation, store_now(connection)?], |row| {
        Ok(RangeState {
            row: row.get(0)?,
            number: row.get(1)?,
            is_done: row.get(2)?,
            is_leased: row.get(3)?,
        })
    })
}

/// Calls `each` with the parts of a result in order.
pub fn for_each_part(
    connection: &Connection,
    range: i64,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let sql = "SELECT bytes FROM similarity_result WHERE range = ?1 ORDER BY part";
    query::for_each(connection, sql, params![range], |row| {
        each(row.get_ref(0)?.as_blob()?);
        Ok::<_, QueryError>(())
    })
}

/// Stores an input of the following steps, in place of `former`.
pub fn publish(
    transaction: &Transaction,
    operation: i64,
    (name, former): (&str, Option<&str>),
    parts: impl Iterator<Item = Vec<u8>>,
) -> Result<()> {
    let delete = "DELETE FROM similarity_input WHERE operation = ?1 AND name IN (?2, ?3)";
    query::execute(transaction, delete, params![operation, name, former])?;
    let sql = "INSERT INTO similarity_input (operation, name, part, bytes) VALUES (?1, ?2, ?3, ?4)";
    let mut inserts = StatementBatch::new(transaction, sql);
    let mut parts = (0_i64..).zip(parts);
    parts.try_for_each(|(part, bytes)| inserts.add(params![operation, name, part, bytes]))?;
    inserts.finish().map(drop)
}

/// Calls `each` with the parts of an input in order.
pub fn for_each_input_part(
    connection: &Connection,
    operation: i64,
    name: &str,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let sql = "SELECT bytes FROM similarity_input WHERE operation = ?1 AND name = ?2 ORDER BY part";
    query::for_each(connection, sql, params![operation, name], |row| {
        each(row.get_ref(0)?.as_blob()?);
        Ok::<_, QueryError>(())
    })
}

/// Whether ranges of members wait, or those of a next step may.
pub fn is_open(connection: &Connection, members: MembersOfRun) -> Result<bool> {
    let MembersOfRun { operation, fence, entity, .. } = members;
    let sql = "SELECT EXISTS (SELECT 1 FROM similarity_range
                              WHERE operation = ?1 AND fence = ?2 AND entity = ?3)";
    query::one(connection, sql, params![operation, fence, entity.as_str()], |row| row.get(0))
}

/// Removes all ranges and inputs of an operation. Workers that compute its ranges lose their leases.
pub fn remove_all(transaction: &Transaction, operation: i64) -> Result<()> {
    if let Connection::Sqlite(_) = &**transaction {
        // One process uses the file.
        return Ok(());
    }
    remove_ranges(transaction, operation)?;
    let sql = "DELETE FROM similarity_input WHERE operation = ?1";
    query::execute(transaction, sql, params![operation])
}

/// Leases first: a worker locks the lease of its range, and then the range.
fn remove_ranges(transaction: &Transaction, operation: i64) -> Result<()> {
    let select = "SELECT row FROM similarity_range WHERE operation = ?1 ORDER BY row";
    let delete = "DELETE FROM similarity_range WHERE operation = ?1 RETURNING row";
    // Again after the ranges, because one may have been taken meanwhile.
    for sql in [select, delete] {
        let ranges: Vec<i64> = query::all(transaction, sql, params![operation], |row| row.get(0))?;
        lease::end_all(transaction, ranges.into_iter().map(LeasedTask::SimilarityRange))?;
    }
    Ok(())
}
