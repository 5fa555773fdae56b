//! Writes searches as SQL on a search table, and runs them.
//!
//! The plan of the database is chosen here, not by its estimates. An exact search never orders by distance with a
//! limit, so that the index of vectors cannot be used for it. A bounded search turns all other plans off. It
//! considers only the nearest members, so it is used only if too many members are left for an exact search.

use super::{
    match_conditions::{MatchConditions, has_vector},
    property_conditions::{FILE_NAME, search_form_of},
    registry::SearchTable,
    table_writer::NAME_WORDS,
};
use crate::prelude::*;
use crate::{
    cluster::{ClusterMatch, MAX_PREVIEWS, MemberCounts},
    postgres::all_of,
};
use tessera_model::Page;
use tessera_search::{
    member_search::{Grouping, MemberDistance, MemberOrder, MemberSearch, VectorQuery},
    text::{
        name_words::{EXACT_NAME_DISTANCE, NameQuery},
        words::indexed_words,
    },
};

/// A member that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectedMember {
    /// The row of the member in the store.
    pub row: i64,
    /// The rank of the member's cluster.
    pub cluster: u32,
    /// The score, or `None` if the query does not rank. A lower score is better.
    pub score: Option<f32>,
}

/// The settings with which a bounded search uses the index. With 400 candidates at a time, the nearest 50 members are
/// found with a recall of .992, and a filter that leaves a twentieth of the members still fills the horizon. JIT is
/// off, because compiling the plan takes longer than running it.
const BOUNDED_SETTINGS: &str = "
SET LOCAL hnsw.ef_search = 400;
SET LOCAL hnsw.iterative_scan = relaxed_order;
SET LOCAL hnsw.scan_mem_multiplier = 32;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_sort = off;
SET LOCAL jit = off";
/// The maximum number of rows that the index returns, as a multiple of the horizon.
const SCANNED_HORIZONS: u64 = 20;

/// The score of members that are not ranked.
const NO_SCORE: &str = "CAST(0 AS real)";

/// The end of the statement for a page: the clusters of the page, and what is shown of each cluster.
const SHOWN: &str = "
SELECT cluster,
       count(*) FILTER (WHERE kind = 0) + count(DISTINCT picture) FILTER (WHERE kind = 2),
       count(DISTINCT (source, path)) FILTER (WHERE kind = 1),
       count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2),
       string_agg(CAST(media AS text), ',' ORDER BY place) FILTER (WHERE place <= max_shown),
       string_agg(CAST(score AS text), ',' ORDER BY place) FILTER (WHERE place <= max_shown)
FROM shown GROUP BY cluster, best ORDER BY best, cluster";

/// A search on a search table. It must run in the transaction that found the table.
#[derive(Clone, Debug)]
pub struct TableSearch {
    pub table: SearchTable,
    pub search: MemberSearch,
    pub grouping: Grouping,
    /// The number of nearest members that are considered. `None` considers all members.
    pub horizon: Option<u64>,
}

/// Returns the rows of the members that are nearest to any of the vectors, up to `limit` for each vector.
pub fn nearest(
    connection: &Connection,
    table: &SearchTable,
    vectors: &[&VectorQuery],
    limit: usize,
) -> Result<Vec<i64>> {
    let mut conditions = MatchConditions::new(table);
    let mut nearest = Vec::new();
    for query in vectors {
        if conditions.has_distance(query) {
            let product = conditions.product(query);
            nearest.push(format!(
                "(SELECT t.media FROM {} AS t WHERE t.version <= {} AND {} ORDER BY {product} LIMIT {limit})",
                table.name(),
                table.version,
                has_vector(query),
            ));
        }
    }
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    let is_indexed = vectors.iter().all(|query| table.dimensions.has_index(query.of));
    connection.execute_batch(if is_indexed { BOUNDED_SETTINGS } else { "SET LOCAL jit = off" })?;
    query::all(connection, &nearest.join(" UNION "), &conditions.params(), |row| row.get(0))
}

impl TableSearch {
    /// Whether the filters leave more than `limit` members, and an index can find the nearest of them.
    pub fn exceeds(&self, connection: &Connection, limit: u64) -> Result<bool> {
        let Self { table, search, .. } = self;
        let MemberOrder::Distance(distance) = &search.order else { return Ok(false) };
        let mut conditions = MatchConditions::new(table);
        let Some(distance) = conditions.comparable(distance) else { return Ok(false) };
        let candidates = conditions.candidates(&distance.query);
        let is_indexed = candidates.iter().all(|query| table.dimensions.has_index(query.of));
        if table.members <= limit || !is_indexed {
            return Ok(false);
        }
        let filters = conditions.filters(search);
        // The version is always a condition. Without others, all members are left.
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

    /// Returns one page of the matching clusters, best first. Equally good clusters are in the order of browsing.
    pub fn page(&self, connection: &Connection, page: u64) -> Result<Vec<ClusterMatch>> {
        let offset = i64::try_from(page.saturating_mul(Page::SIZE as u64)).unwrap_or(i64::MAX);
        self.clusters(connection, "", offset)
    }

    /// Returns one of the matching clusters by its rank.
    pub fn cluster(&self, connection: &Connection, rank: u32) -> Result<Option<ClusterMatch>> {
        let found = self.clusters(connection, &format!("WHERE cluster = {rank}"), 0)?;
        Ok(found.into_iter().next())
    }

    fn clusters(
        &self,
        connection: &Connection,
        condition: &str,
        offset: i64,
    ) -> Result<Vec<ClusterMatch>> {
        let mut conditions = MatchConditions::new(&self.table);
        let matches = self.matches(&mut conditions);
        let is_ranked = self.is_ranked();
        let (best, order) =
            if is_ranked { ("min(score)", "best, cluster") } else { (NO_SCORE, "cluster") };
        // The index of clusters returns the first clusters without reading all matches.
        let reads_index = !is_ranked && matches!(self.grouping, Grouping::Level(_));
        let kept = if reads_index { "NOT MATERIALIZED" } else { "MATERIALIZED" };
        let sql = format!(
            "WITH matches AS {kept} ({matches}),
             clusters AS (SELECT cluster, {best} AS best FROM matches {condition}
                          GROUP BY cluster ORDER BY {order} LIMIT {size} OFFSET {offset}),
             shown AS (
               SELECT cluster, best, score, media, kind, picture, source, path,
                      row_number() OVER (PARTITION BY cluster ORDER BY score, path, media) AS place
               FROM clusters JOIN matches USING (cluster) JOIN {table} USING (media)
               WHERE version <= {version}
             ) {shown}",
            size = Page::SIZE,
            table = self.table.name(),
            version = self.table.version,
            shown = SHOWN.replace("max_shown", &MAX_PREVIEWS.to_string()),
        );
        self.prepare(connection)?;
        query::all(connection, &sql, &conditions.params(), |row| read_cluster(row, is_ranked))
    }

    /// Returns the matching members of one cluster or of all clusters, in the order of browsing.
    pub fn members(
        &self,
        connection: &Connection,
        cluster: Option<u32>,
    ) -> Result<Vec<SelectedMember>> {
        let mut conditions = MatchConditions::new(&self.table);
        let matches = self.matches(&mut conditions);
        let of_cluster = cluster.map_or_else(String::new, |rank| format!("AND cluster = {rank}"));
        let sql = format!(
            "WITH matches AS ({matches})
             SELECT media, cluster, score FROM matches JOIN {} USING (media)
             WHERE version <= {} {of_cluster} ORDER BY path, media",
            self.table.name(),
            self.table.version
        );
        let is_ranked = self.is_ranked();
        let mut members = Vec::new();
        self.prepare(connection)?;
        query::for_each(connection, &sql, &conditions.params(), |row| {
            let score: f32 = row.get(2)?;
            let score = is_ranked.then_some(score);
            members.push(SelectedMember { row: row.get(0)?, cluster: row.get(1)?, score });
            Ok::<_, QueryError>(())
        })?;
        Ok(members)
    }

    fn is_ranked(&self) -> bool {
        !matches!(self.search.order, MemberOrder::Browsing)
    }

    fn prepare(&self, connection: &Connection) -> Result<()> {
        let Some(horizon) = self.horizon else {
            return connection.execute_batch("SET LOCAL jit = off");
        };
        let scanned = i32::try_from(horizon * SCANNED_HORIZONS).unwrap_or(i32::MAX);
        connection.execute_batch(&format!(
            "{BOUNDED_SETTINGS}; SET LOCAL hnsw.max_scan_tuples = {scanned}"
        ))
    }

    fn clustered_table(&self, conditions: &mut MatchConditions) -> ClusteredTable {
        let (table, version) = (self.table.name(), self.table.version);
        let similarity = match self.grouping {
            Grouping::Level(level) => {
                let rank = format!("t.rank_{}", level.level());
                return ClusteredTable { table: format!("{table} AS t"), rank };
            }
            Grouping::Duplicates(similarity) => conditions.value(f64::from(similarity)),
        };
        // A member whose previous position is missing begins a group as well.
        let table = format!(
            "{table} AS t JOIN (
               SELECT media, max(twin_order) FILTER (WHERE is_first) OVER (ORDER BY twin_order) AS rank
               FROM (SELECT media, twin_order, CAST(twin_link AS double precision) < {similarity}
                       OR twin_order - 1 IS DISTINCT FROM lag(twin_order) OVER (ORDER BY twin_order)
                       AS is_first
                     FROM {table} WHERE version <= {version} AND twin_order IS NOT NULL) AS firsts
             ) AS duplicates ON duplicates.media = t.media"
        );
        ClusteredTable { table, rank: "duplicates.rank".to_owned() }
    }

    /// Returns the row, cluster and score of each matching member.
    fn matches(&self, conditions: &mut MatchConditions) -> String {
        let mut members = self.clustered_table(conditions);
        match &self.search.order {
            MemberOrder::Browsing => members.select(NO_SCORE, &self.filters(conditions)),
            MemberOrder::Captions(scores) => {
                let captions = conditions.caption_scores_table(scores);
                let table = &mut members.table;
                *table = format!("{table} JOIN {captions} ON captions.picture = t.picture");
                members.select("captions.score", &self.filters(conditions))
            }
            MemberOrder::Distance(ranking) => {
                let Some(comparable) = conditions.comparable(ranking) else {
                    return members.select(NO_SCORE, &["FALSE".to_owned()]);
                };
                if let Some(horizon) = self.horizon {
                    let distances = (ranking, &comparable);
                    return self.nearest(conditions, &members, distances, horizon);
                }
                let mut filters = self.filters(conditions);
                filters.push(conditions.exists(&comparable));
                members.select(&conditions.score(&comparable), &filters)
            }
        }
    }

    fn filters(&self, conditions: &mut MatchConditions) -> Vec<String> {
        let mut filters = conditions.filters(&self.search);
        filters.extend(conditions.distances(&self.search, |_| true));
        filters
    }

    /// Returns the matches among the members that are nearest by the vectors of the ranking, up to `horizon` for each
    /// vector, and among those that are found by their names.
    fn nearest(
        &self,
        conditions: &mut MatchConditions,
        members: &ClusteredTable,
        (ranking, comparable): (&MemberDistance, &MemberDistance),
        horizon: u64,
    ) -> String {
        let score = conditions.score(comparable);
        let mut filters = conditions.filters(&self.search);
        filters.extend(conditions.distances(&self.search, |distance| distance != ranking));
        let mut nearest = Vec::new();
        for candidate in conditions.candidates(&comparable.query) {
            let product = conditions.product(candidate);
            let found = members.select(&score, &[&filters[..], &[has_vector(candidate)]].concat());
            nearest.push(format!("({found} ORDER BY {product} LIMIT {horizon})"));
        }
        if !comparable.names.is_empty() {
            filters.push(conditions.is_named(comparable));
            nearest.push(format!("({})", members.select(&score, &filters)));
        }
        let mut cutoffs = conditions.cutoffs(&self.search, ranking);
        cutoffs.push("TRUE".to_owned());
        format!(
            "SELECT media, cluster, score FROM ({}) AS nearest WHERE {}",
            nearest.join(" UNION "),
            cutoffs.join(" AND ")
        )
    }
}

/// A table of members with their clusters, in SQL.
struct ClusteredTable {
    /// The table `t`, with what is joined to it.
    table: String,
    /// The column with the rank of each member's cluster.
    rank: String,
}

impl ClusteredTable {
    fn select(&self, score: &str, filters: &[String]) -> String {
        let Self { table, rank } = self;
        let filters = filters.join(" AND ");
        format!("SELECT t.media, {rank} AS cluster, {score} AS score FROM {table} WHERE {filters}")
    }
}

fn read_cluster(row: &Row, is_ranked: bool) -> Result<ClusterMatch> {
    let rows: Vec<i64> = read_list(row, 5)?;
    let scores: Vec<f32> = read_list(row, 6)?;
    let best_members = rows.into_iter().zip(scores);
    Ok(ClusterMatch {
        cluster: row.get(0)?,
        counts: MemberCounts {
            images: row.get(1)?,
            videos: row.get(2)?,
            frames: row.get(3)?,
            objects: row.get(4)?,
        },
        best_members: best_members.map(|(row, score)| (row, is_ranked.then_some(score))).collect(),
    })
}

fn read_list<T: std::str::FromStr>(row: &Row, column: usize) -> Result<Vec<T>> {
    let unreadable = |_| QueryError::value("a list of numbers");
    row.get_ref(column)?.as_str()?.split(',').map(|part| part.parse().map_err(unreadable)).collect()
}

/// The maximum number of pictures that a search finds by their names.
const MAX_NAMES: usize = 10_000;

/// Returns the rows of the pictures whose names contain enough words of a query, in increasing order, with their
/// distances. If more than `MAX_NAMES` pictures match, those with the most words are returned.
pub fn find_names(
    connection: &Connection,
    table: &SearchTable,
    query: &NameQuery,
) -> Result<Vec<(i64, f32)>> {
    let mut conditions = MatchConditions::new(table);
    let words: Vec<String> = query
        .words
        .iter()
        .filter_map(|word| {
            let parts = indexed_words(word);
            let all = conditions.value(all_of(&parts)?);
            let mut condition = format!("{NAME_WORDS} @@ CAST(CAST({all} AS text) AS tsquery)");
            if parts.len() > 1 {
                // The vector has no positions, so that the parts could be anywhere in the name.
                let phrase = conditions.value(format!(" {} ", parts.join(" ")));
                condition = format!(
                    "({condition} AND position(CAST({phrase} AS text) in ' ' || name_words || ' ') > 0)"
                );
            }
            Some(condition)
        })
        .collect();
    let found: Vec<String> = words.iter().map(|word| format!("CAST({word} AS integer)")).collect();
    let file_name = conditions.value(query.file_name.clone().unwrap_or_default());
    let sql = format!(
        "SELECT picture, max({}) AS found,
           CAST(bool_or({} = CAST({file_name} AS text)) AS integer) AS is_exact
         FROM {} AS t WHERE version <= {} AND ({})
         GROUP BY picture ORDER BY is_exact DESC, found DESC, picture LIMIT {MAX_NAMES}",
        found.join(" + "),
        search_form_of(FILE_NAME),
        table.name(),
        table.version,
        words.join(" OR "),
    );
    let mut named = Vec::new();
    query::for_each(connection, &sql, &conditions.params(), |row| {
        let found = usize::try_from(row.get::<i32>(1)?).unwrap_or_default();
        let is_exact = row.get::<i32>(2)? == 1;
        let distance = if is_exact { Some(EXACT_NAME_DISTANCE) } else { query.distance(found) };
        if let Some(distance) = distance {
            named.push((row.get(0)?, distance));
        }
        Ok::<_, QueryError>(())
    })?;
    named.sort_unstable_by_key(|(row, _)| *row);
    Ok(named)
}

/// The size at which a dataset gets a search table. At one million media, a search reads 512 MB of descriptors and
/// takes 0.1 CPU-seconds, and each process needs 210 MiB. Twice as much still fits a small machine.
const MIN_MEDIA: u64 = 2_000_000;
/// The number of distances that an exact search computes in 0.4 CPU-seconds of the server.
const MAX_EXACT: u64 = 1_000_000;
/// The number of members that a bounded search considers: a hundred pages of clusters with one media item each.
const HORIZON: u64 = 10_000;

/// The limits for searches by the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTableLimits {
    /// The number of images and frames, or of objects, at or above which a dataset gets a search table.
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
