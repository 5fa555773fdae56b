//! Combines the results of searches as sets. Only the loaded pages are combined, because the API has no OR or NOT.

use std::collections::{HashMap, HashSet};

use crate::{
    Cluster, ClusterId, Filter, MediaId, Query, Search, keyword::text_enum, selection::are_wider,
};

text_enum! {
    pub enum SetOperator: symbol, description {
        Difference = "−", "items of these results that are not in those";
        Intersection = "∩", "items that are in both results";
        Union = "∪", "items in either";
    }
}

/// Which members of a cluster a result contains.
#[derive(Clone, Debug, PartialEq)]
pub enum Members {
    /// The members that pass the filters, and that the search by caption has found if there is one. Not all of them
    /// have a preview.
    Found { filters: Vec<Filter>, caption: Option<Query> },
    /// Only the members with a preview, because a set operation has removed others.
    Previewed,
}

impl Members {
    pub fn found_by(search: &Search) -> Self {
        let caption = matches!(search.query, Query::Caption { .. }).then(|| search.query.clone());
        Self::Found { filters: search.filters.clone(), caption }
    }

    /// Whether these members are known to include all `others`, which are members of the same cluster.
    fn contain(&self, others: &Self) -> bool {
        let Self::Found { filters, caption } = self else { return false };
        match others {
            Self::Found { filters: narrower, caption: other } => {
                are_wider(filters, narrower) && (caption.is_none() || caption == other)
            }
            Self::Previewed => filters.is_empty() && caption.is_none(),
        }
    }
}

/// A cluster of a result. Results list only some members of their clusters, so equal ids do not mean equal members.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCluster {
    pub cluster: Cluster,
    pub members: Members,
}

impl FoundCluster {
    pub fn new(cluster: Cluster, members: Members) -> Self {
        Self { cluster, members }
    }

    /// Returns the cluster with the previews that are kept, or `None` if there are none.
    fn reduced(&self, keeps: impl Fn(MediaId) -> bool) -> Option<Self> {
        let mut cluster = self.cluster.clone();
        cluster.previews.retain(|preview| keeps(preview.media));
        (!cluster.previews.is_empty()).then(|| Self::new(cluster, Members::Previewed))
    }
}

/// Combines two results in the order of the first. An item belongs to a result if it is among the previews, or if the
/// result contains the whole part of its cluster. Clusters that become empty are dropped.
pub fn combine(a: &[FoundCluster], b: &[FoundCluster], operator: SetOperator) -> Vec<FoundCluster> {
    let (here, there) = (LoadedResult::of(a), LoadedResult::of(b));
    match operator {
        SetOperator::Intersection => a.iter().filter_map(|it| there.intersect(it)).collect(),
        SetOperator::Difference => a.iter().filter_map(|it| there.subtract_from(it)).collect(),
        SetOperator::Union => {
            let is_new = |it: &&FoundCluster| !here.clusters.contains_key(&it.cluster.id);
            let added = b.iter().filter(is_new).filter_map(|it| here.subtract_from(it));
            a.iter().map(|it| there.unite(it)).chain(added).collect()
        }
    }
}

struct LoadedResult<'a> {
    clusters: HashMap<ClusterId, &'a FoundCluster>,
    media: HashSet<MediaId>,
}

impl<'a> LoadedResult<'a> {
    fn of(clusters: &'a [FoundCluster]) -> Self {
        let previews = clusters.iter().flat_map(|found| &found.cluster.previews);
        Self {
            media: previews.map(|preview| preview.media).collect(),
            clusters: clusters.iter().map(|found| (found.cluster.id, found)).collect(),
        }
    }

    fn same_cluster(&self, found: &FoundCluster) -> Option<&'a FoundCluster> {
        self.clusters.get(&found.cluster.id).copied()
    }

    fn intersect(&self, found: &FoundCluster) -> Option<FoundCluster> {
        match self.same_cluster(found) {
            Some(other) if other.members.contain(&found.members) => Some(found.clone()),
            Some(other) if found.members.contain(&other.members) => Some(other.clone()),
            _ => found.reduced(|media| self.media.contains(&media)),
        }
    }

    fn subtract_from(&self, found: &FoundCluster) -> Option<FoundCluster> {
        let is_left = |media| !self.media.contains(&media);
        match self.same_cluster(found) {
            Some(other) if other.members.contain(&found.members) => None,
            None if found.cluster.previews.iter().all(|it| is_left(it.media)) => {
                Some(found.clone())
            }
            _ => found.reduced(is_left),
        }
    }

    /// Adds the members that the other result has of the same cluster.
    fn unite(&self, found: &FoundCluster) -> FoundCluster {
        let Some(other) = self.same_cluster(found) else { return found.clone() };
        if found.members.contain(&other.members) {
            return found.clone();
        }
        if other.members.contain(&found.members) {
            return other.clone();
        }
        let mut cluster = found.cluster.clone();
        let known: HashSet<MediaId> = cluster.previews.iter().map(|it| it.media).collect();
        let added = other.cluster.previews.iter().filter(|it| !known.contains(&it.media));
        cluster.previews.extend(added.cloned());
        FoundCluster::new(cluster, Members::Previewed)
    }
}
