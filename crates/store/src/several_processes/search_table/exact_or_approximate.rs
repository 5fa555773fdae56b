//! Chooses between exact and approximate search of a large dataset. An approximate search considers only the nearest
//! members, which an index of vectors finds, so it is used only if the filters leave too many members for an exact
//! search.

use super::{match_conditions::MatchConditions, registry::SearchTable};
use crate::{
    engine::{Connection, Result},
    query,
};
use tessera_search::member_search::{MemberOrder, MemberSearch, VectorQuery};

/// The size from which on a dataset gets a search table. At one million media, a search reads 512 MB of descriptors and
/// takes 0.1 CPU-seconds, and each process needs 210 MiB. Twice as much still fits a small machine.
const MIN_MEDIA: u64 = 2_000_000;
/// The number of distances that an exact search computes in 0.4 CPU-seconds of the server.
const MAX_EXACT: u64 = 1_000_000;
/// The number of members that a bounded search considers: a hundred pages of clusters with one media item each.
const HORIZON: u64 = 10_000;

/// The limits for searches by the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTableLimits {
    /// The number of images and frames, or of objects, from which on a dataset gets a search table.
    pub min_media: u64,
    /// The number of media above which a search by similarity is bounded. Media that the filters exclude do not count.
    pub max_exact: u64,
    /// The number of nearest media that a bounded search considers.
    pub horizon: u64,
}

impl Default for SearchTableLimits {
    fn default() -> Self {
        Self { min_media: MIN_MEDIA, max_exact: MAX_EXACT, horizon: HORIZON }
    }
}

/// Whether the filters of a search leave more than `limit` members, and an index can find the nearest of them.
pub fn exceeds(
    connection: &Connection,
    table: &SearchTable,
    search: &MemberSearch,
    limit: u64,
) -> Result<bool> {
    let MemberOrder::Distance(distance) = &search.order else { return Ok(false) };
    let mut conditions = MatchConditions::new(table);
    let Some(distance) = conditions.comparable(distance) else { return Ok(false) };
    let is_indexed = |query: &&VectorQuery| table.has_index(query.of);
    if table.members <= limit || !conditions.candidates(&distance.query).iter().all(is_indexed) {
        return Ok(false);
    }
    let filters = conditions.filters(search);
    if filters.len() == 1 {
        return Ok(true);
    }
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} AS t WHERE {} LIMIT {}) AS counted",
        table.name(),
        filters.join(" AND "),
        limit + 1
    );
    let found: u64 = query::one(connection, &sql, &conditions.params(), |row| row.get(0))?;
    Ok(found > limit)
}
