//! Combines the results of searches as sets. Only the loaded pages are combined, because the API has no OR or NOT.

use std::collections::HashSet;

use crate::{Cluster, ClusterId, MediaId, keyword::text_enum};

text_enum! {
    pub enum SetOperator: symbol, description {
        Difference = "−", "items of these results that are not in those";
        Intersection = "∩", "items that are in both results";
        Union = "∪", "items in either";
    }
}

/// Combines two results in the order of the first. An item belongs to a result if it is among the previews or its whole
/// cluster is in the result. Clusters that become empty are dropped.
pub fn combine(a: &[Cluster], b: &[Cluster], operator: SetOperator) -> Vec<Cluster> {
    let filtered = match operator {
        SetOperator::Intersection => return filter_members(a, &ResultIds::of(b), true),
        SetOperator::Difference => return filter_members(a, &ResultIds::of(b), false),
        SetOperator::Union => filter_members(b, &ResultIds::of(a), false),
    };
    a.iter().cloned().chain(filtered).collect()
}

struct ResultIds {
    clusters: HashSet<ClusterId>,
    media: HashSet<MediaId>,
}

impl ResultIds {
    fn of(clusters: &[Cluster]) -> Self {
        let previews = clusters.iter().flat_map(|cluster| &cluster.previews);
        Self {
            clusters: clusters.iter().map(|cluster| cluster.id).collect(),
            media: previews.map(|preview| preview.media).collect(),
        }
    }
}

/// Keeps the members that are in `other`, or, if `inside` is false, the members that are not.
fn filter_members(clusters: &[Cluster], other: &ResultIds, inside: bool) -> Vec<Cluster> {
    let kept = clusters.iter().filter_map(|cluster| {
        let whole = other.clusters.contains(&cluster.id);
        if cluster.previews.is_empty() {
            return (whole == inside).then(|| cluster.clone());
        }
        let mut cluster = cluster.clone();
        cluster
            .previews
            .retain(|preview| (whole || other.media.contains(&preview.media)) == inside);
        (!cluster.previews.is_empty()).then_some(cluster)
    });
    kept.collect()
}
