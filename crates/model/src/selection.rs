//! What is marked for a selective export: media by themselves, and whole clusters with what is
//! left out of them. [`Selection`] is what people see; [`SelectionItem`]s are what is sent.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cluster, ClusterId, EntityType, Filter, Granularity, MediaId, SafeText, text::count_with_noun,
};

/// One item of a selection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectionItem {
    /// These media.
    Media(Vec<MediaId>),
    /// The members of a cluster: all of them, not only those seen as previews.
    Cluster {
        /// The cluster.
        cluster: ClusterId,
        /// What its members are.
        entity: EntityType,
        /// What members must also be.
        filters: Vec<Filter>,
        /// Members left out.
        exclude: Vec<MediaId>,
    },
}

/// Names a mark; nothing is marked twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryId {
    /// A cluster.
    Cluster(ClusterId),
    /// A medium by itself.
    MediaItem(MediaId),
}

/// One thing that is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionEntry {
    /// What it is called: for a person, not for the service.
    pub name: SafeText,
    /// What it is, or what its members are.
    pub entity: EntityType,
    /// Where it was found, to find it again.
    pub granularity: Granularity,
    /// The cluster or the medium.
    pub content: EntryContent,
}

/// What a mark stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// A medium by itself, and the cluster it was seen in.
    MediaItem(MediaId, Option<ClusterId>),
    /// The members of a cluster.
    Cluster(SelectedCluster),
}

/// A marked cluster, as the service last told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedCluster {
    /// The cluster.
    pub id: ClusterId,
    /// What members must also be: the filters of the search that found it.
    pub filters: Vec<Filter>,
    /// How many members it has, if that was told.
    pub member_count: Option<u64>,
    /// There may be more: a caption search counts only the members that it found.
    pub count_is_minimum: bool,
    /// Members that were seen as previews.
    pub previewed: BTreeSet<MediaId>,
    /// Members left out.
    pub excluded: BTreeSet<MediaId>,
    /// From before the dataset was clustered anew: it may be gone.
    pub stale: bool,
}

impl SelectedCluster {
    /// How many members will be exported, if it is known how many there are.
    pub fn included_count(&self) -> Option<u64> {
        self.member_count.map(|members| members.saturating_sub(self.excluded.len() as u64))
    }
}

impl SelectionEntry {
    /// Its name among the marks.
    pub fn id(&self) -> EntryId {
        match &self.content {
            EntryContent::MediaItem(id, _) => EntryId::MediaItem(*id),
            EntryContent::Cluster(cluster) => EntryId::Cluster(cluster.id),
        }
    }

    /// The cluster, if it is one.
    pub fn cluster(&self) -> Option<&SelectedCluster> {
        match &self.content {
            EntryContent::MediaItem(..) => None,
            EntryContent::Cluster(cluster) => Some(cluster),
        }
    }

    /// A medium that leads to it: itself, or a member that was seen.
    pub fn representative(&self) -> Option<MediaId> {
        match &self.content {
            EntryContent::MediaItem(id, _) => Some(*id),
            EntryContent::Cluster(cluster) => cluster.previewed.first().copied(),
        }
    }
}

/// How much is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionTotals {
    /// Clusters.
    pub clusters: usize,
    /// Media by themselves.
    pub media: usize,
    /// Members left out of clusters.
    pub excluded: usize,
    /// Members of the clusters whose size was told, with those left out.
    pub members: u64,
    /// Members seen as previews.
    pub previewed: usize,
    /// Clusters whose size was not told in full.
    pub uncounted: usize,
    /// Clusters from before the dataset was clustered anew.
    pub stale: usize,
}

impl SelectionTotals {
    /// Marks in all.
    pub fn entries(&self) -> usize {
        self.clusters + self.media
    }

    /// Rows that the export will have, as far as was told.
    pub fn export_rows(&self) -> u64 {
        self.members.saturating_sub(self.excluded as u64) + self.media as u64
    }

    /// What is marked, in words: `3 clusters, 9 media`.
    pub fn summary(&self) -> SafeText {
        let clusters = count_with_noun(self.clusters, "cluster", "clusters");
        let media = count_with_noun(self.media, "medium", "media");
        SafeText::name(&match (self.clusters, self.media) {
            (0, _) => media,
            (_, 0) => clusters,
            _ => format!("{clusters}, {media}"),
        })
    }

    /// The rows with a sign that tells how sure the number is: `431`, `≥431`.
    pub fn estimate_sign(&self) -> &'static str {
        if self.uncounted > 0 { "≥" } else { "≈" }
    }
}

/// A mark with its place in the order of marking.
pub(crate) type PositionedEntry = (u64, SelectionEntry);

/// What is marked in a dataset, in the order of marking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    entries: BTreeMap<EntryId, PositionedEntry>,
}

impl Selection {
    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many marks there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// One mark.
    pub fn get(&self, id: EntryId) -> Option<&SelectionEntry> {
        self.entries.get(&id).map(|(_, mark)| mark)
    }

    /// A cluster, if it is marked.
    pub fn cluster(&self, id: ClusterId) -> Option<&SelectedCluster> {
        self.get(EntryId::Cluster(id))?.cluster()
    }

    /// The marked cluster that a medium is a member of, as far as was seen.
    pub fn cluster_containing(&self, medium: MediaId) -> Option<ClusterId> {
        let mut clusters = self.entries.values().filter_map(|(_, mark)| mark.cluster());
        // Who leaves a member out knows that it is one.
        let holds =
            |it: &&SelectedCluster| it.previewed.contains(&medium) || it.excluded.contains(&medium);
        clusters.find(holds).map(|cluster| cluster.id)
    }

    /// Everything, in the order of marking.
    pub fn ordered_entries(&self) -> Vec<&SelectionEntry> {
        let mut rows: Vec<&PositionedEntry> = self.entries.values().collect();
        rows.sort_by_key(|(place, _)| *place);
        rows.into_iter().map(|(_, mark)| mark).collect()
    }

    /// What the service is asked to export.
    pub fn items(&self) -> Vec<SelectionItem> {
        let (mut media, mut clusters) = (Vec::new(), Vec::new());
        for mark in self.ordered_entries() {
            match &mark.content {
                EntryContent::MediaItem(id, _) => media.push(*id),
                EntryContent::Cluster(cluster) => clusters.push(SelectionItem::Cluster {
                    cluster: cluster.id,
                    entity: mark.entity,
                    filters: cluster.filters.clone(),
                    exclude: cluster.excluded.iter().copied().collect(),
                }),
            }
        }
        let media = (!media.is_empty()).then_some(SelectionItem::Media(media));
        media.into_iter().chain(clusters).collect()
    }

    /// How much is marked.
    pub fn totals(&self) -> SelectionTotals {
        let mut totals = SelectionTotals::default();
        for (_, mark) in self.entries.values() {
            let Some(cluster) = mark.cluster() else {
                totals.media += 1;
                continue;
            };
            totals.clusters += 1;
            totals.excluded += cluster.excluded.len();
            totals.members += cluster.member_count.unwrap_or(cluster.excluded.len() as u64);
            totals.previewed += cluster.previewed.len();
            totals.uncounted +=
                usize::from(cluster.count_is_minimum || cluster.member_count.is_none());
            totals.stale += usize::from(cluster.stale);
        }
        totals
    }

    /// Single marks that a cluster swallows: those of its members, as far as is known.
    pub(crate) fn singles_of(&self, cluster: &SelectedCluster) -> Vec<EntryId> {
        let within = |(_, mark): &&PositionedEntry| match &mark.content {
            EntryContent::MediaItem(id, within) => {
                *within == Some(cluster.id) || cluster.previewed.contains(id)
            }
            EntryContent::Cluster(_) => false,
        };
        self.entries.values().filter(within).map(|(_, mark)| mark.id()).collect()
    }

    /// The place of the next mark.
    pub(crate) fn end(&self) -> u64 {
        self.entries.values().map(|(place, _)| place + 1).max().unwrap_or(0)
    }

    /// The place of a mark.
    pub(crate) fn place(&self, id: EntryId) -> Option<u64> {
        self.entries.get(&id).map(|(place, _)| *place)
    }

    /// Puts a mark at a place, or takes it away. Returns what was there.
    pub(crate) fn set(
        &mut self,
        id: EntryId,
        mark: Option<PositionedEntry>,
    ) -> Option<PositionedEntry> {
        match mark {
            Some(placed) => self.entries.insert(id, placed),
            None => self.entries.remove(&id),
        }
    }

    /// Every cluster is from before the dataset was clustered anew.
    pub(crate) fn mark_stale(&mut self) {
        self.entries.values_mut().for_each(|(_, mark)| mark.expire());
    }

    /// These clusters were just told by the service, so they exist. Returns how many of the
    /// marked ones were in doubt.
    pub(crate) fn confirm_clusters(&mut self, clusters: &[Cluster]) -> usize {
        let mut confirmed = 0;
        for cluster in clusters {
            let Some((_, mark)) = self.entries.get_mut(&EntryId::Cluster(cluster.id)) else {
                continue;
            };
            if let EntryContent::Cluster(marked) = &mut mark.content
                && std::mem::take(&mut marked.stale)
            {
                confirmed += 1;
            }
        }
        confirmed
    }
}

impl FromIterator<SelectionEntry> for Selection {
    fn from_iter<I: IntoIterator<Item = SelectionEntry>>(marks: I) -> Self {
        let named = (0..).zip(marks).map(|(place, mark)| (mark.id(), (place, mark)));
        Self { entries: named.collect() }
    }
}

impl SelectionEntry {
    /// A cluster is from before the dataset was clustered anew.
    pub(crate) fn expire(&mut self) {
        if let EntryContent::Cluster(cluster) = &mut self.content {
            cluster.stale = true;
        }
    }
}
