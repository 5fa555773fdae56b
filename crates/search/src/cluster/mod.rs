//! Hierarchical clustering in five nested granularities, from one neighbor graph.
//!
//! The edges of the graph are processed by increasing distance, and each edge joins two groups (union-find). The groups
//! at each of five thresholds are the clusters of a level, so the levels nest. Groups are only joined if their mean
//! distance is within the threshold too (average linkage), which prevents chaining.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "means over at most a few million members, kept to the precision of the vectors"
)]

mod hierarchy;
pub mod issue_scores;

pub use hierarchy::{Clustering, by_centrality, cluster};
pub use issue_scores::{aspect_ratio_scores, outlier_scores, size_scores};
