//! Removes from selections what their dataset no longer has, such as a picture that was put into the trash after a
//! split. A service refuses a request that names a missing media item, so commands and the interface ask first.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::{
    ClusterPart, DatasetId, EntryId, Failure, FailureKind, MediaId, Omission, SafeText,
    SelectedCluster, Selection, SelectionItem,
    text::{group_digits, grouped_with_noun},
};

use super::file_actions::OriginalFinder;

/// What has become of a selection.
#[derive(Debug, Default)]
pub struct SelectionChanges {
    pub missing: BTreeSet<EntryId>,
    /// The number of members that each cluster has now.
    sizes: BTreeMap<ClusterPart, usize>,
}

/// Removes what the dataset no longer has from a selection.
///
/// # Errors
/// Nothing is left, or the dataset is unknown.
pub fn remove_missing(
    finder: &dyn OriginalFinder,
    dataset: DatasetId,
    items: &mut Vec<SelectionItem>,
) -> Result<SelectionChanges, Failure> {
    let media = items.iter().filter_map(|item| match item {
        SelectionItem::Media(media) => Some(media),
        SelectionItem::Cluster { .. } => None,
    });
    let media: Vec<MediaId> = media.flatten().copied().collect();
    let missing = finder.missing(dataset, &media)?.into_iter().map(EntryId::MediaItem);
    let mut changes = SelectionChanges { missing: missing.collect(), sizes: BTreeMap::new() };
    for item in &*items {
        let SelectionItem::Cluster { cluster, filters, .. } = item else { continue };
        let part = ClusterPart::new(*cluster, filters);
        match finder.cluster_size(dataset, item)? {
            Some(size) => _ = changes.sizes.insert(part, size),
            None => _ = changes.missing.insert(EntryId::Cluster(part)),
        }
    }
    let missing = &changes.missing;
    items.retain_mut(|item| match item {
        SelectionItem::Media(media) => {
            media.retain(|id| !missing.contains(&EntryId::MediaItem(*id)));
            !media.is_empty()
        }
        SelectionItem::Cluster { cluster, filters, .. } => {
            !missing.contains(&EntryId::Cluster(ClusterPart::new(*cluster, filters)))
        }
    });
    if items.is_empty() && !missing.is_empty() {
        let sentence = "the dataset no longer has any media item of this selection";
        let failure = Failure::new(FailureKind::NotFound, sentence);
        return Err(failure.with_remedy("Search again, and save what is found as a selection"));
    }
    Ok(changes)
}

impl SelectionChanges {
    /// Says which clusters have members that the user did not see when the clusters were selected. These members belong
    /// to the selection, too.
    pub fn describe_new_members(&self, selection: &Selection) -> Option<String> {
        let entries = selection.ordered_entries();
        let clusters = entries.iter().filter_map(|entry| {
            // An item is excluded from all parts of a cluster, also from those that do not contain it.
            let is_exact = |cluster: &&SelectedCluster| {
                let is_only_part = || selection.parts_of(cluster.id).count() == 1;
                !cluster.count_is_minimum && (cluster.excluded.is_empty() || is_only_part())
            };
            let cluster = entry.cluster().filter(is_exact)?;
            let before = usize::try_from(cluster.member_count?).ok()?;
            let before = before.saturating_sub(cluster.excluded.len());
            let now = *self.sizes.get(&cluster.part())?;
            (now > before).then_some((entry.name.as_str(), before, now))
        });
        let grown: Vec<_> = clusters.collect();
        let (name, before, now) = grown.first()?;
        let clusters = grouped_with_noun(grown.len() as u64, "cluster has", "clusters have");
        Some(format!(
            "{clusters} members that were added after the selection was saved, and that belong to it, too: {name} \
             has {now} media items and had {before}"
        ))
    }
}

/// Says how many entries were omitted, and names the first of them.
pub fn describe_missing<'a>(count: usize, names: impl Iterator<Item = &'a str>) -> String {
    let entries = grouped_with_noun(count as u64, "entry", "entries");
    let example = names.min().map(|name| format!(", such as {name}")).unwrap_or_default();
    format!("omitted {entries} that the dataset no longer has{example}")
}

/// Describes the entries that an export will skip, in the form of the other omissions of a preview.
pub fn omission_of_missing(count: usize) -> Omission {
    let count = count as u64;
    let text = format!("entries that the dataset no longer has: {}", group_digits(count));
    Omission { count, text: SafeText::detail(&text) }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, path::PathBuf};

    use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
    use tessera_model::{ClusterId, EntityType, EntryContent, Granularity, Search, SelectionEntry};

    use super::*;

    /// A dataset that has only the media item 1.
    struct OnlyFirst;

    impl OriginalFinder for OnlyFirst {
        fn selected(&self, _: DatasetId, _: &[SelectionItem]) -> Result<FoundOriginals, Failure> {
            unreachable!()
        }

        fn listed(&self, _: DatasetId, _: Vec<PathBuf>) -> Result<FoundOriginals, Failure> {
            unreachable!()
        }

        fn similar(&self, _: DatasetId, _: f64) -> Result<Vec<SimilarImages>, Failure> {
            unreachable!()
        }

        fn diverse(&self, _: &Search, _: usize) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
            unreachable!()
        }

        fn rest(
            &self,
            _: &Search,
            _: &[SelectionItem],
        ) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
            unreachable!()
        }

        fn pictures(
            &self,
            _: DatasetId,
            _: &[MediaId],
        ) -> Result<HashMap<MediaId, MediaId>, Failure> {
            unreachable!()
        }

        fn missing(&self, _: DatasetId, media: &[MediaId]) -> Result<Vec<MediaId>, Failure> {
            Ok(media.iter().copied().filter(|id| *id != media_id(1)).collect())
        }

        fn cluster_size(
            &self,
            _: DatasetId,
            item: &SelectionItem,
        ) -> Result<Option<usize>, Failure> {
            let SelectionItem::Cluster { cluster, .. } = item else { unreachable!() };
            Ok((*cluster == cluster_id(1)).then_some(3))
        }
    }

    fn media_id(id: u128) -> MediaId {
        MediaId(uuid::Uuid::from_u128(id))
    }

    fn cluster_id(id: u128) -> ClusterId {
        ClusterId(uuid::Uuid::from_u128(id))
    }

    fn cluster(id: u128, member_count: u64) -> SelectionEntry {
        let content = EntryContent::Cluster(SelectedCluster {
            id: cluster_id(id),
            filters: Vec::new(),
            member_count: Some(member_count),
            count_is_minimum: false,
            previewed: Vec::new(),
            excluded: [media_id(9)].into(),
            stale: false,
        });
        let name = SafeText::name("boats");
        let (entity, granularity) = (EntityType::Images, Granularity::default());
        SelectionEntry { name, entity, granularity, content }
    }

    #[test]
    fn missing_clusters_are_left_out_and_grown_ones_are_named() {
        let dataset = DatasetId(uuid::Uuid::nil());
        for (before, is_named) in [(3, true), (4, false)] {
            let selection: Selection = [cluster(1, before), cluster(2, 1)].into_iter().collect();
            let mut items = selection.items();
            let changes = remove_missing(&OnlyFirst, dataset, &mut items).unwrap();
            assert_eq!(
                changes.missing,
                [EntryId::Cluster(ClusterPart::new(cluster_id(2), &[]))].into()
            );
            assert_eq!(items.len(), 1);
            let sentence = changes.describe_new_members(&selection);
            assert_eq!(sentence.is_some(), is_named, "{sentence:?}");
            let names = sentence.is_none_or(|it| it.ends_with("boats has 3 media items and had 2"));
            assert!(names);
        }
    }

    #[test]
    fn missing_media_are_left_out_as_long_as_something_is_left() {
        let dataset = DatasetId(uuid::Uuid::nil());
        let left = |ids: &[u128]| {
            let mut items = vec![SelectionItem::Media(ids.iter().copied().map(media_id).collect())];
            let missing = remove_missing(&OnlyFirst, dataset, &mut items)?;
            Ok::<_, Failure>((items, missing.missing.len()))
        };
        let first = vec![SelectionItem::Media(vec![media_id(1)])];
        assert_eq!(left(&[1]).unwrap(), (first.clone(), 0));
        assert_eq!(left(&[2, 1, 3]).unwrap(), (first, 2));
        assert_eq!(left(&[2, 3]).unwrap_err().kind, FailureKind::NotFound);
        let sentence = describe_missing(2, ["b.png", "a.png"].into_iter());
        assert_eq!(sentence, "omitted 2 entries that the dataset no longer has, such as a.png");
        let omission = omission_of_missing(1_200).text;
        assert_eq!(omission.as_str(), "entries that the dataset no longer has: 1 200");
    }
}
