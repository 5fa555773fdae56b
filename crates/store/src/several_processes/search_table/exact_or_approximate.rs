//! The choice between exact and approximate search of a large dataset: an approximate search considers only the nearest
//! members, which an index of vectors finds, so it is used only where too many members are left for an exact one.

use super::{match_conditions::MatchConditions, registry::SearchTable};
use crate::{
    engine::{Connection, Result},
    query,
};
use tessera_search::member_search::{MemberOrder, MemberSearch, VectorQuery};

/// At one million, a search reads 512 MB of descriptors and takes 0.1 CPU-seconds, and each process needs 210 MiB;
/// twice as many still fit a small machine.
const MIN_MEDIA: u64 = 2_000_000;
/// An exact search computes this many distances in 0.4 CPU-seconds of the server.
const MAX_EXACT: u64 = 1_000_000;
/// A hundred pages of clusters of one media item.
const HORIZON: u64 = 10_000;

/// Bounds of searches by the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTableLimits {
    /// Datasets with as many images and frames, or objects, get a search table.
    pub min_media: u64,
    /// If filters leave more media, a search by similarity is bounded.
    pub max_exact: u64,
    /// How many of the nearest media a bounded search considers.
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
