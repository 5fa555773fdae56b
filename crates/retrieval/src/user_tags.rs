//! The tags and ratings of users, in memory. An index has the tags of sidecars, and is not written again when a user
//! tags something. Searches therefore compare the revision of the tags with that of the store, and load the tags again
//! when another process or a command has changed them.

use std::{cmp::Reverse, collections::HashMap};

use tessera_model::{EntityType, Granularity, TagId, vql::ItemValue};
use tessera_store::{
    Store, StoreError,
    dataset::DatasetRecord,
    tag_ids::{TagIds, name_id},
    tags,
};

/// The maximum number of tags that are shown of a cluster.
const MAX_FREQUENT: usize = 8;

/// What users have given to the media items of a dataset.
#[derive(Debug, Default)]
pub struct UserTagIndex {
    revision: i64,
    generation: i64,
    pub(super) ids: TagIds,
    names: Vec<String>,
    /// The rows of the media items that have each tag, in increasing order, by the identifiers of the names.
    rows: HashMap<TagId, Vec<i64>>,
    ratings: HashMap<i64, u8>,
    members: Vec<ClusterTags>,
}

/// The tags of a clustered media item.
#[derive(Debug)]
struct ClusterTags {
    entity: EntityType,
    ranks: [u32; Granularity::LEVELS],
    /// Positions in the list of names.
    tags: Vec<u32>,
}

impl UserTagIndex {
    pub(super) fn load(store: &Store, dataset: &DatasetRecord) -> Result<Self, StoreError> {
        let mut index = Self {
            revision: dataset.tag_revision,
            generation: dataset.generation,
            ..Self::default()
        };
        if dataset.tag_revision == 0 {
            return Ok(index);
        }
        index.ids = store.read(|c| tags::ids(c, dataset.id))?;
        let mut numbers: HashMap<String, (u32, TagId)> = HashMap::new();
        for member in store.read(|c| tags::tagged_members(c, dataset.id))? {
            let mut tags = Vec::with_capacity(member.given.tags.len());
            for name in member.given.tags {
                let next = u32::try_from(index.names.len()).unwrap_or(u32::MAX);
                let (number, id) = *numbers.entry(name.clone()).or_insert_with(|| {
                    index.names.push(name);
                    (next, name_id(dataset.id, &index.names[next as usize]))
                });
                tags.push(number);
                index.rows.entry(id).or_default().push(member.row);
            }
            if member.given.rating > 0 {
                index.ratings.insert(member.row, member.given.rating);
            }
            if let Some(ranks) = member.ranks {
                let entity =
                    if member.is_object { EntityType::Objects } else { EntityType::Images };
                index.members.push(ClusterTags { entity, ranks, tags });
            }
        }
        Ok(index)
    }

    pub(super) fn is_current(&self, dataset: &DatasetRecord) -> bool {
        self.revision == dataset.tag_revision && self.generation == dataset.generation
    }

    /// Returns the rows of the media items to which users have given the tag with this name, in increasing order.
    pub fn rows(&self, name: TagId) -> &[i64] {
        self.rows.get(&name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the rating of the media item in a row, for filters.
    pub fn rating_value(&self, row: i64) -> Option<ItemValue<'static>> {
        self.ratings.get(&row).map(|rating| ItemValue::Number(f64::from(*rating)))
    }

    pub fn rated_rows(&self) -> impl Iterator<Item = i64> {
        self.ratings.keys().copied()
    }

    /// Returns the most frequent tags of the clusters with these ranks, most frequent first.
    pub fn of_clusters(
        &self,
        entity: EntityType,
        level: Granularity,
        ranks: impl IntoIterator<Item = u32>,
    ) -> HashMap<u32, Vec<&str>> {
        let mut counts: HashMap<u32, HashMap<u32, usize>> =
            ranks.into_iter().map(|rank| (rank, HashMap::new())).collect();
        for member in self.members.iter().filter(|member| member.entity == entity) {
            if let Some(counts) = counts.get_mut(&member.ranks[usize::from(level.level())]) {
                for &tag in &member.tags {
                    *counts.entry(tag).or_default() += 1;
                }
            }
        }
        let names = |counts: HashMap<u32, usize>| {
            let mut counts: Vec<(u32, usize)> = counts.into_iter().collect();
            counts.sort_unstable_by_key(|&(tag, count)| (Reverse(count), tag));
            let names = counts.into_iter().map(|(tag, _)| self.names[tag as usize].as_str());
            names.take(MAX_FREQUENT).collect()
        };
        counts.into_iter().map(|(rank, counts)| (rank, names(counts))).collect()
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::DatasetId;

    use super::*;

    #[test]
    fn a_dataset_without_tags_has_none() {
        let index = UserTagIndex::default();
        let id = name_id(DatasetId(uuid::Uuid::nil()), "night");
        assert!(index.rows(id).is_empty() && index.rating_value(1).is_none());
        let clusters = index.of_clusters(EntityType::Images, Granularity::default(), [3]);
        assert_eq!(clusters, HashMap::from([(3, Vec::new())]));
    }
}
