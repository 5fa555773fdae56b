//! Set algebra on results: intersection, difference and union of what was found. It is made of the
//! pages that are there, because the interface has no OR and no NOT; so it is never complete by itself.

use std::collections::HashSet;

use crate::{Cluster, ClusterId, MediaId};

/// How two results are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// What is in both.
    Intersection,
    /// What is in this one and not in the other.
    Difference,
    /// What is in any of the two.
    Union,
}

impl SetOperator {
    /// All of them, the most useful first.
    pub const ALL: [Self; 3] = [Self::Difference, Self::Intersection, Self::Union];

    /// Its sign.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Intersection => "∩",
            Self::Difference => "−",
            Self::Union => "∪",
        }
    }

    /// What it keeps.
    pub fn description(self) -> &'static str {
        match self {
            Self::Intersection => "what is in both",
            Self::Difference => "what is here and not there",
            Self::Union => "what is in any of the two",
        }
    }
}

/// Puts two results together, in the order of the first. A medium is in a result when it is among
/// its previews, or when its whole cluster is. A cluster of which nothing is left is dropped.
pub fn combine(a: &[Cluster], b: &[Cluster], operator: SetOperator) -> Vec<Cluster> {
    let kept = match operator {
        SetOperator::Intersection => return filter_members(a, &ResultIds::of(b), true),
        SetOperator::Difference => return filter_members(a, &ResultIds::of(b), false),
        SetOperator::Union => filter_members(b, &ResultIds::of(a), false),
    };
    a.iter().cloned().chain(kept).collect()
}

/// What a result holds.
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

/// The clusters whose members are in `other`, or are not.
fn filter_members(clusters: &[Cluster], other: &ResultIds, inside: bool) -> Vec<Cluster> {
    let left = clusters.iter().filter_map(|cluster| {
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
    left.collect()
}
