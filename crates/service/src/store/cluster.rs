//! Cluster rows: replaced as a whole by each clustering, read one page at a time.
//!
//! Each row contains its previews, so a page is one indexed read in a dataset of any size.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::{
    dataset::path_from_bytes,
    from_json,
    media::{self, MediaKind, MediaRecord, file_name, region_to_array},
    parse_json, to_json,
};
use tessera_model::{ClusterId, DatasetId, EntityType, Granularity, MediaId, Page};

/// What a page of clusters shows of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPreview {
    pub media: MediaId,
    pub name: String,
    pub width: u32,
    pub height: u32,
    /// Changes with the content of the file.
    pub version: String,
    pub caption: Option<String>,
    pub video: bool,
    /// The region of an object in its image: x, y, width, height as fractions.
    pub region: Option<[f64; 4]>,
}

impl From<&MediaRecord> for StoredPreview {
    fn from(media: &MediaRecord) -> Self {
        Self {
            media: media.id,
            name: media.file_name(),
            width: media.width,
            height: media.height,
            version: content_version(media.content_hash),
            caption: media.caption.clone(),
            video: media.kind == MediaKind::Video,
            region: media.region.map(region_to_array),
        }
    }
}

/// The first bytes of a content hash, in hex.
fn content_version([a, b, c, d, ..]: [u8; 32]) -> String {
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// Reads the preview of one media row. Pages need up to 900 of them, so nothing else is read.
pub fn preview(connection: &Connection, row: i64) -> rusqlite::Result<Option<StoredPreview>> {
    connection
        .prepare_cached(
            "SELECT id, path, width, height, content, caption, kind = 'VIDEO', region
             FROM media WHERE row = ?1",
        )?
        .query_row([row], |row| {
            let region: Option<String> = row.get(7)?;
            Ok(StoredPreview {
                media: MediaId(row.get(0)?),
                name: file_name(&path_from_bytes(row.get(1)?)),
                width: row.get(2)?,
                height: row.get(3)?,
                version: content_version(row.get(4)?),
                caption: row.get(5)?,
                video: row.get(6)?,
                region: region.map(|raw| parse_json(&raw, 7)).transpose()?,
            })
        })
        .optional()
}

/// Most previews of a cluster.
pub const MAX_PREVIEWS: usize = 9;

#[derive(Clone, Debug)]
pub struct ClusterRecord {
    pub id: ClusterId,
    /// Number of images that are members or contain member objects.
    pub images: u64,
    pub videos: u64,
    pub objects: u64,
    /// Up to nine members, most central first.
    pub previews: Vec<StoredPreview>,
    /// The most frequent labels of the members, most frequent first, not sanitized.
    pub labels: Vec<String>,
    /// The most frequent user tags of the members, most frequent first, not sanitized.
    pub tags: Vec<String>,
}

/// Confidence (0.0-1.0) of each issue of a media item.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IssueScores {
    /// Far from all other items.
    pub outlier: f32,
    /// Has the wrong label.
    pub mislabel: f32,
    /// Far from the other items with its label.
    pub class_outlier: f32,
    /// Has an unusual aspect ratio.
    pub odd_aspect: f32,
    /// Is unusually large or small.
    pub odd_size: f32,
}

/// The columns of a [`ClusterAssignment`] in the order that [`read_assignment`] reads them, for a
/// table called `place`.
pub(super) const ASSIGNMENT_COLUMNS: &str = "place.uniqueness, place.twin, place.outlier, place.mislabel, \
                                place.stranger, place.odd_aspect, place.odd_size, place.rank_0, \
                                place.rank_1, place.rank_2, place.rank_3, place.rank_4";

/// Number of columns in [`ASSIGNMENT_COLUMNS`].
pub(super) const ASSIGNMENT_COLUMN_COUNT: usize = 12;

/// Reads [`ASSIGNMENT_COLUMNS`] starting at column `first`. Returns `None` if the media item is not
/// clustered: the columns come from one row, so either all of them are null or none is.
pub(super) fn read_assignment(
    row: &Row,
    first: usize,
    media: i64,
) -> rusqlite::Result<Option<ClusterAssignment>> {
    let Some(uniqueness) = row.get(first)? else {
        return Ok(None);
    };
    let mut ranks = [0; Granularity::LEVELS];
    for (level, rank) in ranks.iter_mut().enumerate() {
        *rank = row.get(first + 7 + level)?;
    }
    let issue_scores = IssueScores {
        outlier: row.get(first + 2)?,
        mislabel: row.get(first + 3)?,
        class_outlier: row.get(first + 4)?,
        odd_aspect: row.get(first + 5)?,
        odd_size: row.get(first + 6)?,
    };
    Ok(Some(ClusterAssignment {
        media,
        uniqueness,
        near_duplicate_similarity: row.get(first + 1)?,
        issue_scores,
        cluster_ranks: ranks,
    }))
}

/// The clusters of one media item, with its scores.
#[derive(Clone, Copy, Debug)]
pub struct ClusterAssignment {
    /// Row number of the media item.
    pub media: i64,
    /// 0.0 (has duplicates) to 1.0 (unlike anything else).
    pub uniqueness: f32,
    /// Similarity to its best near-duplicate, 0.0-1.0; 0.0 without one.
    pub near_duplicate_similarity: f32,
    pub issue_scores: IssueScores,
    /// The rank of its cluster at each level.
    pub cluster_ranks: [u32; Granularity::LEVELS],
}

/// Returns the identifier of the cluster with the medoid `first`, stable across clusterings with
/// the same members.
pub fn cluster_id(dataset: DatasetId, level: Granularity, first: MediaId) -> ClusterId {
    let mut name = first.0.into_bytes().to_vec();
    name.push(level.level());
    ClusterId(uuid::Uuid::new_v5(&dataset.0, &name))
}

const CLUSTER_COLUMNS: &str = "id, images, videos, objects, previews, labels, tags";

fn read_cluster(row: &Row) -> rusqlite::Result<ClusterRecord> {
    Ok(ClusterRecord {
        id: ClusterId(row.get(0)?),
        images: row.get(1)?,
        videos: row.get(2)?,
        objects: row.get(3)?,
        previews: from_json(row, 4)?,
        labels: from_json(row, 5)?,
        tags: from_json(row, 6)?,
    })
}

/// Returns one page of the clusters at a level: largest first, then those of later batches.
pub fn page(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    page: u64,
) -> rusqlite::Result<Vec<ClusterRecord>> {
    let size = Page::SIZE as u64;
    let from = i64::try_from(page.saturating_mul(size)).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {CLUSTER_COLUMNS} FROM cluster
         WHERE dataset = ?1 AND entity = ?2 AND level = ?3 AND rank >= ?4 ORDER BY rank LIMIT ?5"
    );
    connection
        .prepare_cached(&sql)?
        .query_map(
            params![dataset.0, entity.as_str(), level.level(), from, Page::SIZE],
            read_cluster,
        )?
        .collect()
}

/// Whether the dataset has been clustered.
pub fn any(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE dataset = ?1)")?
        .query_row([dataset.0], |row| row.get(0))
}

/// Finds a cluster by rank. Its previews are left empty because callers choose their own.
pub fn find_by_rank(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    rank: u32,
) -> rusqlite::Result<Option<ClusterRecord>> {
    connection
        .prepare_cached(
            "SELECT id, images, videos, objects, '[]', labels, tags FROM cluster
             WHERE dataset = ?1 AND entity = ?2 AND level = ?3 AND rank = ?4",
        )?
        .query_row(params![dataset.0, entity.as_str(), level.level(), rank], read_cluster)
        .optional()
}

/// The cluster of one rank with these members (row and score) as its previews, and their scores.
/// Skips members that no longer exist.
pub fn with_previews(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    rank: u32,
    members: &[(i64, Option<f32>)],
) -> rusqlite::Result<Option<(ClusterRecord, Vec<f32>)>> {
    let Some(mut cluster) = find_by_rank(connection, dataset, entity, level, rank)? else {
        return Ok(None);
    };
    let mut scores = Vec::new();
    for &(row, score) in members {
        if let Some(preview) = preview(connection, row)? {
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
) -> rusqlite::Result<Vec<ClusterRecord>> {
    let skip = page.saturating_mul(Page::SIZE as u64);
    let single = |media: MediaRecord| {
        let is = |kind: MediaKind| u64::from(media.kind == kind);
        ClusterRecord {
            id: cluster_id(dataset, level, media.id),
            images: is(MediaKind::Image) + is(MediaKind::Object),
            videos: is(MediaKind::Video),
            objects: is(MediaKind::Object),
            previews: vec![StoredPreview::from(&media)],
            labels: media.labels,
            tags: media.tags,
        }
    };
    let media = media::page(connection, dataset, entity, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

/// Returns the entity type, level and rank of a cluster.
pub fn locate(
    connection: &Connection,
    dataset: DatasetId,
    id: ClusterId,
) -> rusqlite::Result<Option<(EntityType, Granularity, u32)>> {
    connection
        .prepare_cached("SELECT entity, level, rank FROM cluster WHERE id = ?1 AND dataset = ?2")?
        .query_row([id.0, dataset.0], |row| {
            let entity: String = row.get(0)?;
            let level = Granularity::new(row.get(1)?).unwrap_or_default();
            Ok((EntityType::parse(&entity).unwrap_or_default(), level, row.get(2)?))
        })
        .optional()
}

/// Returns the number of clusters at each level; the clusters of a batch continue from these ranks.
pub fn counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> rusqlite::Result<[u32; Granularity::LEVELS]> {
    let mut counts = [0; Granularity::LEVELS];
    let mut query = connection.prepare_cached(
        "SELECT level, max(rank) + 1 FROM cluster WHERE dataset = ?1 AND entity = ?2
         GROUP BY level",
    )?;
    let mut rows = query.query(params![dataset.0, entity.as_str()])?;
    while let Some(row) = rows.next()? {
        counts[row.get::<_, usize>(0)?] = row.get(1)?;
    }
    Ok(counts)
}

/// Deletes all clusters and assignments of a dataset.
pub fn delete_all(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM cluster WHERE dataset = ?1", [dataset.0])?;
    connection.execute(
        "DELETE FROM place WHERE media IN (SELECT row FROM media WHERE dataset = ?1)",
        [dataset.0],
    )?;
    Ok(())
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
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO cluster VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (level, (clusters, first)) in levels.iter().zip(first).enumerate() {
        for (rank, cluster) in (first..).zip(clusters) {
            insert.execute(params![
                dataset.0,
                entity.as_str(),
                level,
                rank,
                cluster.id.0,
                cluster.images,
                cluster.videos,
                cluster.objects,
                to_json(&cluster.previews)?,
                to_json(&cluster.labels)?,
                to_json(&cluster.tags)?,
            ])?;
        }
    }
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO place VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for assignment in assignments {
        let [finest, finer, middle, coarser, coarsest] = assignment.cluster_ranks;
        let scores = assignment.issue_scores;
        insert.execute(params![
            assignment.media,
            assignment.uniqueness,
            assignment.near_duplicate_similarity,
            scores.outlier,
            scores.mislabel,
            scores.class_outlier,
            scores.odd_aspect,
            scores.odd_size,
            finest,
            finer,
            middle,
            coarser,
            coarsest
        ])?;
    }
    Ok(())
}
