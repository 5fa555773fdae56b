//! Groups of near-duplicates, which are the clusters of a search for duplicates. A group has no row of its own: the
//! table `place` has the order in which the members of each group are next to each other (see
//! `tessera_search::similarity::order_by_group`), and the rank of a group is the position of its first member. The ID
//! of a group contains the ID of the first member and the similarity, so the group is found again without a search.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use super::prelude::*;
use crate::{
    cluster::{ClusterMatch, ClusterRecord, MemberCounts, ShownCluster, StoredPreview},
    media::{self, MediaRecord, entity_condition},
};
use tessera_model::ClusterId;

/// The bytes of a media ID at the start of the ID of a group, before the byte with the version of both IDs.
const PREFIX: usize = 6;
/// Other IDs of clusters are hashes, which have version 5.
const VERSION: u8 = 8;
/// The maximum number of labels or tags of a group.
const MAX_FREQUENT: usize = 8;

/// Returns the ID of a group: the ID of its first member, with the similarity as the last four bytes.
pub fn group_id(first: MediaId, similarity: f32) -> ClusterId {
    let mut bytes = first.0.into_bytes();
    bytes[PREFIX] = VERSION << 4 | bytes[PREFIX] & 0x0f;
    bytes[12..].copy_from_slice(&similarity.to_be_bytes());
    ClusterId(uuid::Uuid::from_bytes(bytes))
}

/// Returns the similarity that an ID contains, or `None` if it is not the ID of a group.
fn similarity_in(id: ClusterId) -> Option<f32> {
    let [.., a, b, c, d] = id.0.into_bytes();
    let similarity = f32::from_be_bytes([a, b, c, d]);
    let is_group = id.0.get_version_num() == usize::from(VERSION);
    (is_group && similarity > 0.0 && similarity <= 1.0).then_some(similarity)
}

/// The first members of groups. The second parameter is the similarity. A row whose previous position is missing begins
/// a group as well, because the media item at the previous position was removed. The `CROSS JOIN` makes `SQLite` look
/// up the previous position first.
const FIRST_MEMBERS: &str = "
FROM place JOIN media ON media.row = place.media
WHERE media.dataset = ?1 AND place.twin_order IS NOT NULL
  AND (place.twin_link < ?2 OR NOT EXISTS (
    SELECT 1 FROM place AS previous CROSS JOIN media AS other
    WHERE other.row = previous.media AND previous.twin_order = place.twin_order - 1
      AND other.dataset = media.dataset AND (other.parent IS NULL) = (media.parent IS NULL)))";

/// Finds a group: the type of its members, its similarity and its rank.
pub(crate) fn locate(
    connection: &Connection,
    dataset: DatasetId,
    id: ClusterId,
) -> Result<Option<(EntityType, f32, u32)>> {
    let Some(similarity) = similarity_in(id) else { return Ok(None) };
    let sql = format!(
        "SELECT media.id, media.parent IS NULL, place.twin_order, require(media.intact),
                require(place.intact) {FIRST_MEMBERS} AND media.id BETWEEN ?3 AND ?4"
    );
    let [mut lowest, mut highest] = [id.0.into_bytes(); 2];
    lowest[PREFIX..].fill(0);
    highest[PREFIX..].fill(u8::MAX);
    let [lowest, highest] = [lowest, highest].map(uuid::Uuid::from_bytes);
    let params = params![dataset.0, similarity, lowest, highest];
    let found: Vec<(MediaId, bool, u32)> = query::all(connection, &sql, params, |row| {
        Ok((MediaId(row.get(0)?), row.get(1)?, row.get(2)?))
    })?;
    let found = found.into_iter().find(|(first, ..)| group_id(*first, similarity) == id);
    Ok(found.map(|(_, is_picture, rank)| {
        let entity = if is_picture { EntityType::Images } else { EntityType::Objects };
        (entity, similarity, rank)
    }))
}

/// Returns the position from which the groups of a new batch continue.
pub fn next_position(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<u32> {
    let sql = format!(
        "SELECT coalesce(max(place.twin_order) + 1, 0)
         FROM place JOIN media ON media.row = place.media
         WHERE media.dataset = ?1 AND media.{} AND require(media.intact) AND require(place.intact)",
        entity_condition(entity)
    );
    query::one(connection, &sql, params![dataset.0], |row| row.get(0))
}

/// Returns the identifiers of all groups of a similarity by their ranks.
pub fn ids_by_rank(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    similarity: f32,
) -> Result<HashMap<u32, ClusterId>> {
    let sql = format!(
        "SELECT place.twin_order, media.id, require(media.intact), require(place.intact)
         {FIRST_MEMBERS} AND media.{}",
        entity_condition(entity)
    );
    query::all(connection, &sql, params![dataset.0, similarity], |row| {
        Ok((row.get(0)?, group_id(MediaId(row.get(1)?), similarity)))
    })
}

/// The groups of near-duplicates of one similarity in a dataset.
#[derive(Debug)]
pub struct DuplicateGroups {
    /// The identifiers of the groups of images and of objects, by the position of the first member.
    firsts: [BTreeMap<u32, ClusterId>; 2],
}

impl DuplicateGroups {
    pub fn find(connection: &Connection, dataset: DatasetId, similarity: f32) -> Result<Self> {
        let of = |entity| ids_by_rank(connection, dataset, entity, similarity);
        let firsts = [of(EntityType::Images)?, of(EntityType::Objects)?];
        Ok(Self { firsts: firsts.map(BTreeMap::from_iter) })
    }

    /// Returns the group of the item at a position of the order. An item that is alone at this similarity is a group,
    /// too.
    pub(crate) fn containing(&self, entity: EntityType, position: u32) -> Option<ClusterId> {
        let [images, objects] = &self.firsts;
        let firsts = if entity == EntityType::Images { images } else { objects };
        firsts.range(..=position).next_back().map(|(_, id)| *id)
    }
}

/// Reads groups with their best matching members as previews, and the scores of the previews. Labels and tags are those
/// of the shown members, and nothing is counted. Members that no longer exist are skipped. A group that no longer exists
/// gives `None`.
pub fn with_previews(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    similarity: f32,
    shown: &[ClusterMatch],
) -> Result<Vec<Option<ShownCluster>>> {
    let sql = format!(
        "SELECT place.twin_order, media.id, require(media.intact), require(place.intact)
         {FIRST_MEMBERS} AND media.{} AND place.twin_order IN",
        entity_condition(entity)
    );
    let ranks: Vec<i64> = shown.iter().map(|shown| shown.cluster.into()).collect();
    let params = params![dataset.0, similarity];
    let ids: HashMap<u32, ClusterId> =
        query::all_listed(connection, &sql, params, &ranks, |row| {
            Ok((row.get(0)?, group_id(MediaId(row.get(1)?), similarity)))
        })?;
    let rows: Vec<i64> =
        shown.iter().flat_map(|shown| shown.best_members.iter().map(|&(row, _)| row)).collect();
    let media = media::records_of(connection, dataset, &rows)?;
    let group = |shown: &ClusterMatch| {
        let members = shown.best_members.iter();
        let found = members.filter_map(|(row, score)| Some((media.get(row)?, *score)));
        let (records, scores): (Vec<&MediaRecord>, Vec<Option<f32>>) = found.unzip();
        let record = ClusterRecord {
            id: *ids.get(&shown.cluster)?,
            counts: MemberCounts::default(),
            previews: records.iter().map(|media| StoredPreview::from(*media)).collect(),
            labels: most_frequent(records.iter().flat_map(|media| media.all_labels())),
            tags: most_frequent(records.iter().flat_map(|media| media.all_tags())),
        };
        Some((record, scores.into_iter().flatten().collect()))
    };
    Ok(shown.iter().map(group).collect())
}

/// Returns the most frequent names, most frequent first. Equally frequent names keep their order.
fn most_frequent<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counted: Vec<(&String, usize)> = Vec::new();
    for name in names {
        match counted.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counted.push((name, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| Reverse(*count));
    counted.into_iter().take(MAX_FREQUENT).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn the_member_before_another_one_is_found_without_reading_the_dataset() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let explained = format!("EXPLAIN QUERY PLAN SELECT 1 {FIRST_MEMBERS}");
        let plan: Vec<String> = store
            .read(|c| query::all(c, &explained, params![uuid::Uuid::nil(), 0.9], |row| row.get(3)))
            .unwrap();
        let of_member =
            plan.iter().filter(|step| step.contains(" previous ") || step.contains(" other "));
        assert_eq!(
            of_member.collect::<Vec<_>>(),
            [
                "SEARCH previous USING COVERING INDEX place_twin_order (twin_order=?)",
                "SEARCH other USING INTEGER PRIMARY KEY (rowid=?)"
            ]
        );
    }
}
