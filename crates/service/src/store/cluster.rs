//! Cluster rows, each with its previews, so that a page is one indexed read in any dataset.

use std::collections::HashMap;

use super::{
    assignment::{self, ClusterAssignment},
    columns::{from_json, to_json},
    engine::{Connection, Result, Row, params},
    media::{self, MediaKind, MediaRecord},
    preview::{self, StoredPreview},
    query,
};
use tessera_model::{ClusterId, DatasetId, EntityType, Granularity, MediaId, Page};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// Images that are members or contain member objects.
    pub images: u64,
    /// Videos that member frames are from.
    pub videos: u64,
    pub frames: u64,
    pub objects: u64,
}

#[derive(Clone, Debug)]
pub struct ClusterRecord {
    pub id: ClusterId,
    pub counts: MemberCounts,
    /// Up to nine members, most central first.
    pub previews: Vec<StoredPreview>,
    /// The most frequent labels of the members, most frequent first, not sanitized.
    pub labels: Vec<String>,
    /// The most frequent user tags of the members, most frequent first, not sanitized.
    pub tags: Vec<String>,
}

/// Stable across clusterings with the same medoid `first`.
pub fn cluster_id(dataset: DatasetId, level: Granularity, first: MediaId) -> ClusterId {
    let mut name = first.0.into_bytes().to_vec();
    name.push(level.level());
    ClusterId(uuid::Uuid::new_v5(&dataset.0, &name))
}

const SELECT_CLUSTER: &str = "SELECT id, images, videos, frames, objects, previews, labels, tags,
                                     require(intact) FROM cluster
                              WHERE dataset = ?1 AND entity = ?2 AND level = ?3";

fn read_cluster(row: &Row) -> Result<ClusterRecord> {
    Ok(ClusterRecord {
        id: ClusterId(row.get(0)?),
        counts: MemberCounts {
            images: row.get(1)?,
            videos: row.get(2)?,
            frames: row.get(3)?,
            objects: row.get(4)?,
        },
        previews: from_json(row, 5)?,
        labels: from_json(row, 6)?,
        tags: from_json(row, 7)?,
    })
}

/// Returns one page of the clusters at a level: largest first, then those of later batches.
pub fn page(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    page: u64,
) -> Result<Vec<ClusterRecord>> {
    let from = i64::try_from(page.saturating_mul(Page::SIZE as u64)).unwrap_or(i64::MAX);
    let sql = format!("{SELECT_CLUSTER} AND rank >= ?4 ORDER BY rank LIMIT ?5");
    let params = params![dataset.0, entity.as_str(), level.level(), from, Page::SIZE];
    query::all(connection, &sql, params, read_cluster)
}

pub fn any(connection: &Connection, dataset: DatasetId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM cluster WHERE dataset = ?1)";
    query::one(connection, sql, params![dataset.0], |row| row.get(0))
}

/// Takes these members (row and score) as previews; skips members that no longer exist.
pub fn with_previews(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    rank: u32,
    members: &[(i64, Option<f32>)],
) -> Result<Option<(ClusterRecord, Vec<f32>)>> {
    let sql = format!("{SELECT_CLUSTER} AND rank = ?4");
    let params = params![dataset.0, entity.as_str(), level.level(), rank];
    let Some(mut cluster) = query::find(connection, &sql, params, read_cluster)? else {
        return Ok(None);
    };
    cluster.previews.clear();
    let mut scores = Vec::new();
    for &(row, score) in members {
        if let Some(preview) = preview::find(connection, row)? {
            cluster.previews.push(preview);
            scores.extend(score);
        }
    }
    Ok(Some((cluster, scores)))
}

/// One page of clusters of one media item each, for a dataset that was never clustered.
pub fn single_item_page(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    page: u64,
) -> Result<Vec<ClusterRecord>> {
    let skip = page.saturating_mul(Page::SIZE as u64);
    let single = |media: MediaRecord| {
        let is = |kind: MediaKind| u64::from(media.kind == kind);
        ClusterRecord {
            id: cluster_id(dataset, level, media.id),
            counts: MemberCounts {
                images: is(MediaKind::Image) + is(MediaKind::Object),
                videos: is(MediaKind::Frame),
                frames: is(MediaKind::Frame),
                objects: is(MediaKind::Object),
            },
            previews: vec![StoredPreview::from(&media)],
            labels: media.labels,
            tags: media.tags,
        }
    };
    let media = media::page(connection, dataset, entity, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

pub fn locate(
    connection: &Connection,
    dataset: DatasetId,
    id: ClusterId,
) -> Result<Option<(EntityType, Granularity, u32)>> {
    let sql =
        "SELECT entity, level, rank, require(intact) FROM cluster WHERE id = ?1 AND dataset = ?2";
    query::find(connection, sql, params![id.0, dataset.0], |row| {
        let entity = row.get_ref(0)?.as_str()?.parse().unwrap_or_default();
        Ok((entity, Granularity::new(row.get(1)?).unwrap_or_default(), row.get(2)?))
    })
}

/// The identifiers of the clusters at a level.
pub fn ids_by_rank(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
) -> Result<HashMap<u32, ClusterId>> {
    let sql = "SELECT rank, id FROM cluster
               WHERE dataset = ?1 AND entity = ?2 AND level = ?3 AND require(intact)";
    let params = params![dataset.0, entity.as_str(), level.level()];
    query::all(connection, sql, params, |row| Ok((row.get(0)?, ClusterId(row.get(1)?))))
}

/// Returns the number of clusters at each level; the clusters of a batch continue from these ranks.
pub fn counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<[u32; Granularity::LEVELS]> {
    let sql = "SELECT level, max(rank) + 1 FROM cluster WHERE dataset = ?1 AND entity = ?2
               AND require(intact) GROUP BY level";
    let rows: Vec<(usize, u32)> =
        query::all(connection, sql, params![dataset.0, entity.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut counts = [0; Granularity::LEVELS];
    for (level, count) in rows {
        counts[level] = count;
    }
    Ok(counts)
}

pub fn delete_all(connection: &Connection, dataset: DatasetId) -> Result<()> {
    let assignments = "DELETE FROM place WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    query::execute(connection, "DELETE FROM cluster WHERE dataset = ?1", params![dataset.0])?;
    query::execute(connection, assignments, params![dataset.0])
}

/// Adds clusters at every level with ranks from `first` on, and the assignments of the media items.
/// The clusters of each level are in order of rank; the assignments contain final ranks.
pub fn insert_all(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    first: [u32; Granularity::LEVELS],
    levels: &[Vec<ClusterRecord>; Granularity::LEVELS],
    assignments: &[ClusterAssignment],
) -> Result<()> {
    let sql = "INSERT INTO cluster VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    for (level, (clusters, first)) in levels.iter().zip(first).enumerate() {
        for (rank, cluster) in (first..).zip(clusters) {
            let params = params![
                dataset.0,
                entity.as_str(),
                level,
                rank,
                cluster.id.0,
                cluster.counts.images,
                cluster.counts.videos,
                cluster.counts.frames,
                cluster.counts.objects,
                to_json(&cluster.previews)?,
                to_json(&cluster.labels)?,
                to_json(&cluster.tags)?,
            ];
            query::execute(connection, sql, params)?;
        }
    }
    assignment::upsert_all(connection, assignments)
}
