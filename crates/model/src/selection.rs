//! The media items and clusters selected for an export. The user sees a [`Selection`]; the service receives
//! [`SelectionItem`]s.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cluster, ClusterId, EntityType, Filter, Granularity, MediaId, SafeText, Search,
    text::count_with_noun,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectionItem {
    Media(Vec<MediaId>),
    /// All members of a cluster, including those without a preview.
    Cluster {
        cluster: ClusterId,
        entity: EntityType,
        filters: Vec<Filter>,
        exclude: Vec<MediaId>,
    },
}

/// What a selective export contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSelection {
    pub items: Vec<SelectionItem>,
    /// Everything that this search finds, except the items, is exported instead of the items. Only local services
    /// export a rest.
    pub rest_of: Option<Search>,
}

impl From<Vec<SelectionItem>> for ExportSelection {
    fn from(items: Vec<SelectionItem>) -> Self {
        Self { items, rest_of: None }
    }
}

/// The members of a cluster that pass all filters of a search. Only they are listed by this search, so two searches can
/// find different parts of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterPart {
    pub cluster: ClusterId,
    pub filters: Vec<Filter>,
}

impl ClusterPart {
    pub fn new(cluster: ClusterId, filters: &[Filter]) -> Self {
        Self { cluster, filters: filters.to_vec() }
    }
}

/// Whether every media item that passes `narrower` passes `wider`, because it has all filters of `wider`.
pub(crate) fn are_wider(wider: &[Filter], narrower: &[Filter]) -> bool {
    wider.iter().all(|filter| narrower.contains(filter))
}

/// Identifies an entry. Two entries never have the same identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryId {
    Cluster(ClusterPart),
    MediaItem(MediaId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionEntry {
    /// The name, for display only.
    pub name: SafeText,
    pub entity: EntityType,
    pub granularity: Granularity,
    pub content: EntryContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// A single item, and the part of a cluster in which the user saw it.
    MediaItem(MediaId, Option<ClusterPart>),
    Cluster(SelectedCluster),
}

/// A selected cluster, as the service last returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedCluster {
    pub id: ClusterId,
    /// The filters of the search that found the cluster. Only members that pass the filters are exported.
    pub filters: Vec<Filter>,
    pub member_count: Option<u64>,
    /// Whether the cluster may have more members, because a caption search counts only those that it found.
    pub count_is_minimum: bool,
    /// The previews in the order of the service. The first one is the picture of the cluster.
    pub previewed: Vec<MediaId>,
    pub excluded: BTreeSet<MediaId>,
    /// Whether the cluster was selected before the dataset was reclustered, so that it may no longer exist.
    pub stale: bool,
}

impl EntryId {
    pub fn media_item(&self) -> Option<MediaId> {
        match self {
            Self::MediaItem(id) => Some(*id),
            Self::Cluster(_) => None,
        }
    }
}

impl SelectedCluster {
    pub fn part(&self) -> ClusterPart {
        ClusterPart::new(self.id, &self.filters)
    }

    /// Whether this contains all members of a part of a cluster, except for those that are excluded.
    pub fn covers(&self, part: &ClusterPart) -> bool {
        self.id == part.cluster && are_wider(&self.filters, &part.filters)
    }

    /// Whether an item is known to be a member. An excluded item counts as well, because only members can be excluded.
    fn knows(&self, item: MediaId) -> bool {
        self.previewed.contains(&item) || self.excluded.contains(&item)
    }
}

impl SelectionEntry {
    pub fn id(&self) -> EntryId {
        match &self.content {
            EntryContent::MediaItem(id, _) => EntryId::MediaItem(*id),
            EntryContent::Cluster(cluster) => EntryId::Cluster(cluster.part()),
        }
    }

    pub fn cluster(&self) -> Option<&SelectedCluster> {
        match &self.content {
            EntryContent::MediaItem(..) => None,
            EntryContent::Cluster(cluster) => Some(cluster),
        }
    }

    /// Returns the media item whose picture represents the entry: the item itself, or the first preview of the cluster,
    /// which is the picture that the user saw.
    pub fn representative(&self) -> Option<MediaId> {
        match &self.content {
            EntryContent::MediaItem(id, _) => Some(*id),
            EntryContent::Cluster(cluster) => cluster.previewed.first().copied(),
        }
    }

    pub(crate) fn mark_stale(&mut self) {
        if let EntryContent::Cluster(cluster) = &mut self.content {
            cluster.stale = true;
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionTotals {
    pub clusters: usize,
    pub media: usize,
    pub excluded: usize,
    /// The number of members of all clusters of known size, including excluded members.
    pub members: u64,
    pub previewed: usize,
    pub uncounted: usize,
    pub stale: usize,
}

impl SelectionTotals {
    pub fn entries(&self) -> usize {
        self.clusters + self.media
    }

    /// Returns the number of rows of the export, as far as it is known.
    pub fn export_rows(&self) -> u64 {
        self.members.saturating_sub(self.excluded as u64).saturating_add(self.media as u64)
    }

    /// Formats the counts: `3 clusters, 9 media items`.
    pub fn summary(&self) -> SafeText {
        let clusters = count_with_noun(self.clusters, "cluster", "clusters");
        let media = count_with_noun(self.media, "media item", "media items");
        SafeText::name(&match (self.clusters, self.media) {
            (0, _) => media,
            (_, 0) => clusters,
            _ => format!("{clusters}, {media}"),
        })
    }

    /// Returns the sign before the number of rows: `≥431` or `≈431`.
    pub fn estimate_sign(&self) -> &'static str {
        if self.uncounted > 0 { "≥" } else { "≈" }
    }
}

pub(crate) type PositionedEntry = (u64, SelectionEntry);

/// The selected entries of a dataset, in the order in which they were selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    entries: BTreeMap<EntryId, PositionedEntry>,
}

impl Selection {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, id: &EntryId) -> Option<&SelectionEntry> {
        self.entries.get(id).map(|(_, entry)| entry)
    }

    fn clusters(&self) -> impl Iterator<Item = &SelectedCluster> {
        // Clusters precede media items in the map.
        self.entries.values().map_while(|(_, entry)| entry.cluster())
    }

    /// Returns the selected parts of a cluster.
    pub fn parts_of(&self, cluster: ClusterId) -> impl Iterator<Item = &SelectionEntry> {
        let first = EntryId::Cluster(ClusterPart::new(cluster, &[]));
        let entries = self.entries.range(first..).map(|(_, (_, entry))| entry);
        entries.take_while(move |entry| entry.cluster().is_some_and(|it| it.id == cluster))
    }

    fn selected_parts_of(&self, cluster: ClusterId) -> impl Iterator<Item = &SelectedCluster> {
        self.parts_of(cluster).filter_map(SelectionEntry::cluster)
    }

    /// Returns the entry that contains a part of a cluster.
    pub fn cluster(&self, part: &ClusterPart) -> Option<&SelectedCluster> {
        self.selected_parts_of(part.cluster).find(|it| it.covers(part))
    }

    /// Returns the selected cluster that is known to contain an item. `within` is the part of a cluster in which the
    /// item was found.
    pub fn cluster_containing(
        &self,
        item: MediaId,
        within: Option<&ClusterPart>,
    ) -> Option<ClusterId> {
        let found = within.and_then(|part| self.cluster(part));
        found.or_else(|| self.clusters().find(|it| it.knows(item))).map(|cluster| cluster.id)
    }

    /// Returns whether an item, or a cluster except the items that `entry` excludes, is selected.
    pub fn includes(&self, entry: &SelectionEntry) -> bool {
        match &entry.content {
            EntryContent::MediaItem(item, within) => self.includes_item(*item, within.as_ref()),
            EntryContent::Cluster(cluster) => self
                .selected_parts_of(cluster.id)
                .filter(|selected| selected.covers(&cluster.part()))
                .any(|selected| selected.excluded.is_subset(&cluster.excluded)),
        }
    }

    /// Returns whether an item is selected, by itself or in a cluster. `within` is the part of a cluster in which the
    /// item was found.
    pub fn includes_item(&self, item: MediaId, within: Option<&ClusterPart>) -> bool {
        within.is_some_and(|part| self.includes_member(item, part))
            || self.get(&EntryId::MediaItem(item)).is_some()
            || self.clusters().any(|it| it.knows(item) && !it.excluded.contains(&item))
    }

    /// Returns whether a member of a part of a cluster is selected, by itself or in this cluster.
    pub fn includes_member(&self, item: MediaId, part: &ClusterPart) -> bool {
        let includes = |it: &SelectedCluster| {
            (it.covers(part) || it.knows(item)) && !it.excluded.contains(&item)
        };
        self.get(&EntryId::MediaItem(item)).is_some()
            || self.selected_parts_of(part.cluster).any(includes)
    }

    pub fn ordered_entries(&self) -> Vec<&SelectionEntry> {
        let mut rows: Vec<&PositionedEntry> = self.entries.values().collect();
        rows.sort_by_key(|(position, _)| *position);
        rows.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Returns whether the entries are clusters that a page of the search lists, so that its pages show the rest.
    pub fn has_only_clusters_of(&self, search: &Search) -> bool {
        self.ordered_entries().into_iter().all(|entry| {
            let filters = entry.cluster().map(|cluster| &cluster.filters);
            filters == Some(&search.filters)
                && (entry.entity, entry.granularity) == (search.entity, search.granularity)
        })
    }

    pub fn items(&self) -> Vec<SelectionItem> {
        let (mut media, mut clusters) = (Vec::new(), Vec::new());
        for entry in self.ordered_entries() {
            match &entry.content {
                EntryContent::MediaItem(id, _) => media.push(*id),
                EntryContent::Cluster(cluster) => clusters.push(SelectionItem::Cluster {
                    cluster: cluster.id,
                    entity: entry.entity,
                    filters: cluster.filters.clone(),
                    exclude: cluster.excluded.iter().copied().collect(),
                }),
            }
        }
        let media = (!media.is_empty()).then_some(SelectionItem::Media(media));
        media.into_iter().chain(clusters).collect()
    }

    pub fn totals(&self) -> SelectionTotals {
        let mut totals = SelectionTotals::default();
        for (_, entry) in self.entries.values() {
            let Some(cluster) = entry.cluster() else {
                totals.media += 1;
                continue;
            };
            totals.clusters += 1;
            totals.excluded += cluster.excluded.len();
            let members = cluster.member_count.unwrap_or(cluster.excluded.len() as u64);
            totals.members = totals.members.saturating_add(members);
            totals.previewed += cluster.previewed.len();
            totals.uncounted +=
                usize::from(cluster.count_is_minimum || cluster.member_count.is_none());
            totals.stale += usize::from(cluster.stale);
        }
        totals
    }

    /// Returns the entries that a cluster contains: media items, and narrower parts of the cluster.
    pub(crate) fn entries_within(&self, cluster: &SelectedCluster) -> Vec<EntryId> {
        let is_within = |entry: &&SelectionEntry| match &entry.content {
            EntryContent::MediaItem(id, within) => {
                within.as_ref().is_some_and(|part| cluster.covers(part))
                    || cluster.previewed.contains(id)
            }
            // What is excluded here may be a member of the narrower part.
            EntryContent::Cluster(selected) => {
                cluster.excluded.is_empty() && cluster.covers(&selected.part())
            }
        };
        let entries = self.entries.values().map(|(_, entry)| entry);
        entries.filter(is_within).map(SelectionEntry::id).collect()
    }

    pub(crate) fn next_position(&self) -> u64 {
        self.entries.values().map(|(position, _)| position + 1).max().unwrap_or(0)
    }

    pub(crate) fn position_of(&self, id: &EntryId) -> Option<u64> {
        self.entries.get(id).map(|(position, _)| *position)
    }

    pub(crate) fn replace_entry(
        &mut self,
        id: EntryId,
        entry: Option<PositionedEntry>,
    ) -> Option<PositionedEntry> {
        match entry {
            Some(entry) => self.entries.insert(id, entry),
            None => self.entries.remove(&id),
        }
    }

    /// Marks all clusters as stale.
    pub fn mark_stale(&mut self) {
        self.entries.values_mut().for_each(|(_, entry)| entry.mark_stale());
    }

    pub(crate) fn confirm_clusters(&mut self, clusters: &[Cluster]) -> usize {
        let listed: BTreeSet<ClusterId> = clusters.iter().map(|cluster| cluster.id).collect();
        let mut confirmed = 0;
        for (_, entry) in self.entries.values_mut() {
            if let EntryContent::Cluster(selected) = &mut entry.content
                && listed.contains(&selected.id)
            {
                confirmed += usize::from(std::mem::take(&mut selected.stale));
            }
        }
        confirmed
    }
}

impl FromIterator<SelectionEntry> for Selection {
    fn from_iter<I: IntoIterator<Item = SelectionEntry>>(entries: I) -> Self {
        let named = (0..).zip(entries).map(|(position, entry)| (entry.id(), (position, entry)));
        Self { entries: named.collect() }
    }
}
