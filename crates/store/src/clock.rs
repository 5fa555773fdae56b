//! The time of day, as the store records it.

use std::time::{Duration, SystemTime};

use super::{Connection, Result, params, query};

/// Returns the number of microseconds since 1970, which is the unit of every `created_at`.
pub fn now_micros() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO);
    micros(since)
}

/// Returns the time of the clock by which leases end. On a server, this is the clock of the server, which all processes
/// share.
pub fn store_now(connection: &Connection) -> Result<i64> {
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)";
    match connection {
        Connection::Sqlite(_) => Ok(now_micros()),
        Connection::Postgres(_) => query::one(connection, sql, params![], |row| row.get(0)),
    }
}

pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
