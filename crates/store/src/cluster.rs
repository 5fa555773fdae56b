//! Cluster rows. Each row contains the previews of the cluster, so that a page of clusters is one indexed read, however
//! large the dataset is.

use std::{collections::HashMap, path::Path};

use serde::{Deserialize, Serialize};

use super::prelude::*;
use crate::{
    duplicate_group,
    extra_columns::extra_columns,
    media::{
        self, FramePosition, MediaKind, MediaRecord, camera, content_version, date, day_taken,
        file_name, model_labels, picture_labels, read_frame, read_joined_names, region_to_array,
    },
};
use tessera_model::{ClusterId, Granularity, Page, vql::ExtraColumns};
use tessera_search::member_search::Grouping;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// The number of images that are members or contain member objects.
    pub images: u64,
    /// The number of videos from which member frames were taken.
    pub videos: u64,
    pub frames: u64,
    pub objects: u64,
}

#[derive(Clone, Debug)]
pub struct ClusterRecord {
    pub id: ClusterId,
    pub counts: MemberCounts,
    /// The previews of up to nine members, most central first.
    pub previews: Vec<StoredPreview>,
    /// The most frequent labels of the members, most frequent first, not sanitized.
    pub labels: Vec<String>,
    /// The most frequent user tags of the members, most frequent first, not sanitized.
    pub tags: Vec<String>,
}

/// Returns the identifier of a cluster, which stays the same across clusterings as long as the medoid `first` does.
pub fn cluster_id(dataset: DatasetId, level: Granularity, first: MediaId) -> ClusterId {
    let mut name = first.0.into_bytes().to_vec();
    name.push(level.level());
    ClusterId(uuid::Uuid::new_v5(&dataset.0, &name))
}

/// The columns that [`read_cluster`] reads.
const CLUSTER_COLUMNS: &str = "id, images, videos, frames, objects, labels, tags, require(intact)";
const CLUSTER_COLUMN_COUNT: usize = 8;
const CLUSTERS_OF_LEVEL: &str = "FROM cluster WHERE dataset = ?1 AND entity = ?2 AND level = ?3";

fn read_cluster(row: &Row, previews: Vec<StoredPreview>) -> Result<ClusterRecord> {
    Ok(ClusterRecord {
        id: ClusterId(row.get(0)?),
        counts: MemberCounts {
            images: row.get(1)?,
            videos: row.get(2)?,
            frames: row.get(3)?,
            objects: row.get(4)?,
        },
        previews,
        labels: from_json(row, 5)?,
        tags: from_json(row, 6)?,
    })
}

/// Returns one page of the clusters at a level: the largest first, followed by the clusters of later batches.
pub fn page(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    page: u64,
) -> Result<Vec<ClusterRecord>> {
    let from = i64::try_from(page.saturating_mul(Page::SIZE as u64)).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {CLUSTER_COLUMNS}, previews {CLUSTERS_OF_LEVEL} AND rank >= ?4 ORDER BY rank LIMIT ?5"
    );
    let params = params![dataset.0, entity.as_str(), level.level(), from, Page::SIZE];
    query::all(connection, &sql, params, |row| {
        read_cluster(row, from_json(row, CLUSTER_COLUMN_COUNT)?)
    })
}

pub fn any(connection: &Connection, dataset: DatasetId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM cluster WHERE dataset = ?1)";
    query::one(connection, sql, params![dataset.0], |row| row.get(0))
}

/// A cluster with members that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterMatch {
    /// The rank of the cluster, which identifies the cluster in the store.
    pub cluster: u32,
    /// The counts of the matching members only.
    pub counts: MemberCounts,
    /// The best matching members, best first. Each has its row in the store, and a score if the query ranks.
    pub best_members: Vec<(i64, Option<f32>)>,
}

/// A cluster with its previews, and their scores.
pub type ShownCluster = (ClusterRecord, Vec<f32>);

/// Reads clusters with their best matching members as previews, and the scores of the previews. Members that no longer
/// exist are skipped. A cluster that no longer exists gives `None`.
pub fn with_previews(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    shown: &[ClusterMatch],
) -> Result<Vec<Option<ShownCluster>>> {
    let sql = format!("SELECT {CLUSTER_COLUMNS}, rank {CLUSTERS_OF_LEVEL} AND rank IN");
    let params = params![dataset.0, entity.as_str(), level.level()];
    let ranks: Vec<i64> = shown.iter().map(|shown| shown.cluster.into()).collect();
    let mut clusters: HashMap<u32, ClusterRecord> =
        query::all_listed(connection, &sql, params, &ranks, |row| {
            Ok((row.get(CLUSTER_COLUMN_COUNT)?, read_cluster(row, Vec::new())?))
        })?;
    let rows: Vec<i64> =
        shown.iter().flat_map(|shown| shown.best_members.iter().map(|&(row, _)| row)).collect();
    let mut previews = previews_of(connection, dataset, &rows)?;
    let with_members = |shown: &ClusterMatch| {
        let mut cluster = clusters.remove(&shown.cluster)?;
        let mut scores = Vec::new();
        for (row, score) in &shown.best_members {
            if let Some(preview) = previews.remove(row) {
                cluster.previews.push(preview);
                scores.extend(score);
            }
        }
        Some((cluster, scores))
    };
    Ok(shown.iter().map(with_members).collect())
}

/// Returns one page of clusters with a single media item each, for a dataset that was never clustered.
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
            labels: media.all_labels().cloned().collect(),
            tags: media.all_tags().cloned().collect(),
        }
    };
    let media = media::page(connection, dataset, entity, skip, Page::SIZE)?;
    Ok(media.into_iter().map(single).collect())
}

/// Finds a cluster of a granularity, or a group of near-duplicates. Returns the type of its members, how they were
/// grouped, and its rank.
pub fn locate(
    connection: &Connection,
    dataset: DatasetId,
    id: ClusterId,
) -> Result<Option<(EntityType, Grouping, u32)>> {
    if let Some((entity, similarity, rank)) = duplicate_group::locate(connection, dataset, id)? {
        return Ok(Some((entity, Grouping::Duplicates(similarity), rank)));
    }
    let sql =
        "SELECT entity, level, rank, require(intact) FROM cluster WHERE id = ?1 AND dataset = ?2";
    query::find(connection, sql, params![id.0, dataset.0], |row| {
        let entity = row.get_ref(0)?.as_str()?.parse().unwrap_or_default();
        let level = Granularity::new(row.get(1)?).unwrap_or_default();
        Ok((entity, Grouping::Level(level), row.get(2)?))
    })
}

/// Returns the identifiers of the clusters at a level, in the order of their ranks.
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

/// Returns the number of clusters at each level. The ranks of the clusters of a new batch continue from these numbers.
pub fn counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<[u32; Granularity::LEVELS]> {
    // The highest rank is read, because counting or grouping the clusters would read all of them with their previews.
    let sql =
        format!("SELECT rank + 1, require(intact) {CLUSTERS_OF_LEVEL} ORDER BY rank DESC LIMIT 1");
    let mut counts = [0; Granularity::LEVELS];
    for (level, count) in counts.iter_mut().enumerate() {
        let params = params![dataset.0, entity.as_str(), level];
        let found = query::find(connection, &sql, params, |row| row.get(0))?;
        *count = found.unwrap_or_default();
    }
    Ok(counts)
}

pub fn delete_all(connection: &Connection, dataset: DatasetId) -> Result<()> {
    let assignments = "DELETE FROM place WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    query::execute(connection, "DELETE FROM cluster WHERE dataset = ?1", params![dataset.0])?;
    query::execute(connection, assignments, params![dataset.0])
}

/// Adds clusters at a level, with ranks from `first` on.
pub fn insert(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    level: Granularity,
    first: u32,
    clusters: &[ClusterRecord],
) -> Result<()> {
    let sql = "INSERT INTO cluster VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    query::execute_each(connection, sql, (first..).zip(clusters), |(rank, cluster), run| {
        run(params![
            dataset.0,
            entity.as_str(),
            level.level(),
            rank,
            cluster.id.0,
            cluster.counts.images,
            cluster.counts.videos,
            cluster.counts.frames,
            cluster.counts.objects,
            to_json(&cluster.previews)?,
            to_json(&cluster.labels)?,
            to_json(&cluster.tags)?,
        ])
    })
}

pub const MAX_PREVIEWS: usize = 9;

/// A preview, stored as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPreview {
    pub media: MediaId,
    /// The path of the file, not sanitized.
    pub path: String,
    pub frame: Option<FramePosition>,
    pub width: u32,
    pub height: u32,
    /// A text that changes with the content of the file.
    pub version: String,
    pub caption: Option<String>,
    /// The region of an object in its image: x, y, width and height as fractions.
    pub region: Option<[f64; 4]>,
    /// The columns of the user's own, not sanitized.
    #[serde(default, skip_serializing_if = "ExtraColumns::is_empty")]
    pub extra_columns: ExtraColumns,
    /// The size of the file in bytes.
    pub size: u64,
    /// When the picture was taken, or else when its file was changed, in milliseconds since 1970.
    pub date: Option<i64>,
    /// The camera, not sanitized.
    pub camera: Option<String>,
    /// The labels of the dataset and of the model, not sanitized.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl From<&MediaRecord> for StoredPreview {
    fn from(media: &MediaRecord) -> Self {
        Self {
            media: media.id,
            path: media.path.to_string_lossy().into_owned(),
            frame: media.frame,
            width: media.width,
            height: media.height,
            version: media.version(),
            caption: media.caption.clone(),
            region: media.region.map(region_to_array),
            extra_columns: media.extra_columns.clone(),
            size: media.size,
            date: media.date(),
            camera: media.camera.clone(),
            labels: media.all_labels().cloned().collect(),
        }
    }
}

impl StoredPreview {
    pub fn name(&self) -> String {
        file_name(Path::new(&self.path), self.frame)
    }
}

/// Reads the previews of media rows of a dataset. A page needs up to 900 of them, so no other columns are read.
pub fn previews_of(
    connection: &Connection,
    dataset: DatasetId,
    rows: &[i64],
) -> Result<HashMap<i64, StoredPreview>> {
    let sql = concat!(
        "SELECT id, path, width, height, content, caption, region, frame, seconds,
                require(media.intact), row, size, modified, ",
        extra_columns!(),
        ", ",
        picture_labels!(),
        ", labels, ",
        model_labels!(),
        " FROM media WHERE dataset = ?1 AND row IN"
    );
    query::all_listed(connection, sql, params![dataset.0], rows, |row| {
        let picture_labels: Vec<String> = from_json(row, 14)?;
        let preview = StoredPreview {
            media: MediaId(row.get(0)?),
            path: path_from_bytes(row.get(1)?).to_string_lossy().into_owned(),
            frame: read_frame(row, 7)?,
            width: row.get(2)?,
            height: row.get(3)?,
            version: content_version(row.get(4)?),
            caption: row.get(5)?,
            region: from_json(row, 6)?,
            extra_columns: from_json(row, 13)?,
            size: row.get(11)?,
            date: date(day_taken(&picture_labels), row.get(12)?),
            camera: camera(&picture_labels),
            labels: read_joined_names(row, 15)?,
        };
        Ok((row.get(10)?, preview))
    })
}
