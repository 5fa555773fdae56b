//! What is marked for a selective export: media by themselves, and whole clusters with what is
//! left out of them. [`Selection`] is what people see; [`SelectionItem`]s are what is sent.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cluster, ClusterId, EntityType, Filter, Granularity, MediaId, SafeText, text::counted,
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
pub enum MarkId {
    /// A cluster.
    Cluster(ClusterId),
    /// A medium by itself.
    Medium(MediaId),
}

/// One thing that is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is called: for a person, not for the service.
    pub name: SafeText,
    /// What it is, or what its members are.
    pub entity: EntityType,
    /// Where it was found, to find it again.
    pub granularity: Granularity,
    /// The cluster or the medium.
    pub what: Marked,
}

/// What a mark stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// A medium by itself, and the cluster it was seen in.
    Medium(MediaId, Option<ClusterId>),
    /// The members of a cluster.
    Cluster(MarkedCluster),
}

/// A marked cluster, as the service last told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedCluster {
    /// The cluster.
    pub id: ClusterId,
    /// What members must also be: the filters of the search that found it.
    pub filters: Vec<Filter>,
    /// How many members it has, if that was told.
    pub members: Option<u64>,
    /// There may be more: a caption search counts only the members that it found.
    pub at_least: bool,
    /// Members that were seen as previews.
    pub seen: BTreeSet<MediaId>,
    /// Members left out.
    pub exclude: BTreeSet<MediaId>,
    /// From before the dataset was clustered anew: it may be gone (M16).
    pub stale: bool,
}

impl MarkedCluster {
    /// How many members will be exported, if it is known how many there are.
    #[must_use]
    pub fn kept(&self) -> Option<u64> {
        self.members.map(|members| members.saturating_sub(self.exclude.len() as u64))
    }
}

impl Mark {
    /// Its name among the marks.
    #[must_use]
    pub fn id(&self) -> MarkId {
        match &self.what {
            Marked::Medium(id, _) => MarkId::Medium(*id),
            Marked::Cluster(cluster) => MarkId::Cluster(cluster.id),
        }
    }

    /// The cluster, if it is one.
    #[must_use]
    pub fn cluster(&self) -> Option<&MarkedCluster> {
        match &self.what {
            Marked::Medium(..) => None,
            Marked::Cluster(cluster) => Some(cluster),
        }
    }

    /// A medium that leads to it: itself, or a member that was seen.
    #[must_use]
    pub fn face(&self) -> Option<MediaId> {
        match &self.what {
            Marked::Medium(id, _) => Some(*id),
            Marked::Cluster(cluster) => cluster.seen.first().copied(),
        }
    }
}

/// How much is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Clusters.
    pub clusters: usize,
    /// Media by themselves.
    pub media: usize,
    /// Members left out of clusters.
    pub excluded: usize,
    /// Members of the clusters whose size was told, with those left out.
    pub members: u64,
    /// Members seen as previews.
    pub seen: usize,
    /// Clusters whose size was not told in full.
    pub uncounted: usize,
    /// Clusters from before the dataset was clustered anew.
    pub stale: usize,
}

impl Totals {
    /// Marks in all.
    #[must_use]
    pub fn marks(&self) -> usize {
        self.clusters + self.media
    }

    /// Rows that the export will have, as far as was told.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.members.saturating_sub(self.excluded as u64) + self.media as u64
    }

    /// What is marked, in words: `3 clusters, 9 media`.
    #[must_use]
    pub fn contents(&self) -> SafeText {
        let clusters = counted(self.clusters, "cluster", "clusters");
        let media = counted(self.media, "medium", "media");
        SafeText::name(&match (self.clusters, self.media) {
            (0, _) => media,
            (_, 0) => clusters,
            _ => format!("{clusters}, {media}"),
        })
    }

    /// The rows with a sign that tells how sure the number is: `431`, `≥431`.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        if self.uncounted > 0 { "≥" } else { "≈" }
    }
}

/// A mark with its place in the order of marking.
pub(crate) type Placed = (u64, Mark);

/// What is marked in a dataset, in the order of marking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    marks: BTreeMap<MarkId, Placed>,
}

impl Selection {
    /// Whether nothing is marked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// How many marks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// One mark.
    #[must_use]
    pub fn get(&self, id: MarkId) -> Option<&Mark> {
        self.marks.get(&id).map(|(_, mark)| mark)
    }

    /// A cluster, if it is marked.
    #[must_use]
    pub fn cluster(&self, id: ClusterId) -> Option<&MarkedCluster> {
        self.get(MarkId::Cluster(id))?.cluster()
    }

    /// The marked cluster that a medium is a member of, as far as was seen.
    #[must_use]
    pub fn holder(&self, medium: MediaId) -> Option<ClusterId> {
        let mut clusters = self.marks.values().filter_map(|(_, mark)| mark.cluster());
        // Who leaves a member out knows that it is one.
        let holds = |it: &&MarkedCluster| it.seen.contains(&medium) || it.exclude.contains(&medium);
        clusters.find(holds).map(|cluster| cluster.id)
    }

    /// Everything, in the order of marking.
    #[must_use]
    pub fn rows(&self) -> Vec<&Mark> {
        let mut rows: Vec<&Placed> = self.marks.values().collect();
        rows.sort_by_key(|(place, _)| *place);
        rows.into_iter().map(|(_, mark)| mark).collect()
    }

    /// What the service is asked to export.
    #[must_use]
    pub fn items(&self) -> Vec<SelectionItem> {
        let (mut media, mut clusters) = (Vec::new(), Vec::new());
        for mark in self.rows() {
            match &mark.what {
                Marked::Medium(id, _) => media.push(*id),
                Marked::Cluster(cluster) => clusters.push(SelectionItem::Cluster {
                    cluster: cluster.id,
                    entity: mark.entity,
                    filters: cluster.filters.clone(),
                    exclude: cluster.exclude.iter().copied().collect(),
                }),
            }
        }
        let media = (!media.is_empty()).then_some(SelectionItem::Media(media));
        media.into_iter().chain(clusters).collect()
    }

    /// How much is marked.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for (_, mark) in self.marks.values() {
            let Some(cluster) = mark.cluster() else {
                totals.media += 1;
                continue;
            };
            totals.clusters += 1;
            totals.excluded += cluster.exclude.len();
            totals.members += cluster.members.unwrap_or(cluster.exclude.len() as u64);
            totals.seen += cluster.seen.len();
            totals.uncounted += usize::from(cluster.at_least || cluster.members.is_none());
            totals.stale += usize::from(cluster.stale);
        }
        totals
    }

    /// Single marks that a cluster swallows: those of its members, as far as is known.
    pub(crate) fn singles_of(&self, cluster: &MarkedCluster) -> Vec<MarkId> {
        let within = |(_, mark): &&Placed| match &mark.what {
            Marked::Medium(id, within) => *within == Some(cluster.id) || cluster.seen.contains(id),
            Marked::Cluster(_) => false,
        };
        self.marks.values().filter(within).map(|(_, mark)| mark.id()).collect()
    }

    /// The place of the next mark.
    pub(crate) fn end(&self) -> u64 {
        self.marks.values().map(|(place, _)| place + 1).max().unwrap_or(0)
    }

    /// The place of a mark.
    pub(crate) fn place(&self, id: MarkId) -> Option<u64> {
        self.marks.get(&id).map(|(place, _)| *place)
    }

    /// Puts a mark at a place, or takes it away. Returns what was there.
    pub(crate) fn set(&mut self, id: MarkId, mark: Option<Placed>) -> Option<Placed> {
        match mark {
            Some(placed) => self.marks.insert(id, placed),
            None => self.marks.remove(&id),
        }
    }

    /// Every cluster is from before the dataset was clustered anew.
    pub(crate) fn expire(&mut self) {
        self.marks.values_mut().for_each(|(_, mark)| mark.expire());
    }

    /// These clusters were just told by the service, so they exist. Returns how many of the
    /// marked ones were in doubt.
    pub(crate) fn confirm(&mut self, told: &[Cluster]) -> usize {
        let mut confirmed = 0;
        for cluster in told {
            let Some((_, mark)) = self.marks.get_mut(&MarkId::Cluster(cluster.id)) else {
                continue;
            };
            if let Marked::Cluster(marked) = &mut mark.what
                && std::mem::take(&mut marked.stale)
            {
                confirmed += 1;
            }
        }
        confirmed
    }
}

impl FromIterator<Mark> for Selection {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Self {
        let named = (0..).zip(marks).map(|(place, mark)| (mark.id(), (place, mark)));
        Self { marks: named.collect() }
    }
}

impl Mark {
    /// A cluster is from before the dataset was clustered anew.
    pub(crate) fn expire(&mut self) {
        if let Marked::Cluster(cluster) = &mut self.what {
            cluster.stale = true;
        }
    }
}
