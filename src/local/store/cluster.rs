//! Cluster rows: written as a whole by each clustering, read a page at a time.
//!
//! Each row carries its previews, so that a page of a dataset of any size is one indexed read.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::{from_json, media::Media, to_json};
use crate::model::{ClusterId, DatasetId, Granularity, MediaId, Page};

/// What a page of clusters shows of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// Identifier.
    pub media: MediaId,
    /// File name without its folders.
    pub name: String,
    /// Pixels, upright.
    pub width: u32,
    /// Pixels, upright.
    pub height: u32,
    /// Names the content: changes with it.
    pub version: String,
    /// What it shows, in words, raw.
    pub caption: Option<String>,
}

impl From<&Media> for Portrait {
    fn from(media: &Media) -> Self {
        let [a, b, c, d, ..] = media.content;
        Self {
            media: media.id,
            name: media.file_name(),
            width: media.width,
            height: media.height,
            version: format!("{:08x}", u32::from_be_bytes([a, b, c, d])),
            caption: media.caption.clone(),
        }
    }
}

/// A stored cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Identifier.
    pub id: ClusterId,
    /// Number of members.
    pub size: u64,
    /// Up to nine members, most central first.
    pub previews: Vec<Portrait>,
    /// The most frequent labels of its members, most frequent first, raw.
    pub labels: Vec<String>,
}

/// Where one media belongs.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its row.
    pub media: i64,
    /// 0.0 (has twins) to 1.0 (nothing like it).
    pub uniqueness: f32,
    /// The rank of its cluster at each level.
    pub ranks: [u32; Granularity::LEVELS],
}

/// The identifier of the cluster that `first` leads at a level: the same for the same members.
#[must_use]
pub fn id_of(dataset: DatasetId, level: Granularity, first: MediaId) -> ClusterId {
    let mut name = first.0.into_bytes().to_vec();
    name.push(level.level());
    ClusterId(uuid::Uuid::new_v5(&dataset.0, &name))
}

fn cluster(row: &Row) -> rusqlite::Result<Cluster> {
    Ok(Cluster {
        id: ClusterId(row.get(0)?),
        size: row.get(1)?,
        previews: from_json(row, 2)?,
        labels: from_json(row, 3)?,
    })
}

/// One page of the clusters at a level, largest first.
///
/// # Errors
/// The store failed.
pub fn page(
    connection: &Connection,
    dataset: DatasetId,
    level: Granularity,
    page: u64,
) -> rusqlite::Result<Vec<Cluster>> {
    let size = Page::SIZE as u64;
    let from = i64::try_from(page.saturating_mul(size)).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT id, size, previews, labels FROM cluster
             WHERE dataset = ?1 AND level = ?2 AND rank >= ?3 ORDER BY rank LIMIT ?4",
        )?
        .query_map(params![dataset.0, level.level(), from, Page::SIZE], cluster)?
        .collect()
}

/// Whether a dataset was ever clustered.
///
/// # Errors
/// The store failed.
pub fn exist(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE dataset = ?1)")?
        .query_row([dataset.0], |row| row.get(0))
}

/// The cluster of one rank.
///
/// # Errors
/// The store failed.
pub fn at(
    connection: &Connection,
    dataset: DatasetId,
    level: Granularity,
    rank: u32,
) -> rusqlite::Result<Option<Cluster>> {
    connection
        .prepare_cached(
            "SELECT id, size, previews, labels FROM cluster
             WHERE dataset = ?1 AND level = ?2 AND rank = ?3",
        )?
        .query_row(params![dataset.0, level.level(), rank], cluster)
        .optional()
}

/// Replaces the clusters of a dataset at every level, and where each media belongs, and counts
/// the clustering. The clusters of a level are in order of rank.
///
/// # Errors
/// The store failed.
pub fn replace(
    connection: &Connection,
    dataset: DatasetId,
    levels: &[Vec<Cluster>; Granularity::LEVELS],
    places: &[Place],
) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM cluster WHERE dataset = ?1", [dataset.0])?;
    let mut insert =
        connection.prepare_cached("INSERT INTO cluster VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for (level, clusters) in levels.iter().enumerate() {
        for (rank, cluster) in clusters.iter().enumerate() {
            let previews = to_json(&cluster.previews)?;
            let labels = to_json(&cluster.labels)?;
            let (id, size) = (cluster.id.0, cluster.size);
            insert.execute(params![dataset.0, level, rank, id, size, previews, labels])?;
        }
    }
    let mut insert = connection
        .prepare_cached("INSERT OR REPLACE INTO place VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for place in places {
        let ranks = place.ranks;
        insert.execute(params![
            place.media,
            place.uniqueness,
            ranks[0],
            ranks[1],
            ranks[2],
            ranks[3],
            ranks[4]
        ])?;
    }
    connection
        .execute("UPDATE dataset SET generation = generation + 1 WHERE id = ?1", [dataset.0])?;
    Ok(())
}
