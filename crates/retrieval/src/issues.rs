//! Computes the confidence that a media item has a quality issue, for filters and exports. The confidence at or above
//! which an issue counts is defined here.

use std::ops::RangeInclusive;

use tessera_model::vql::{Fraction, IssueFilter, IssueKind};
use tessera_search::index::quality;
use tessera_store::assignment::ClusterAssignment;

/// The confidence at or above which an issue counts if no bound is given.
pub const DEFAULT_MIN_CONFIDENCE: f64 = 0.5;

/// Returns the confidence, which depends on sharpness (the inverse of the variance of the width of edges), brightness
/// (mean luma, 0.0-1.0), or the clustering.
pub fn confidence(
    kind: IssueKind,
    sharpness: f32,
    brightness: f32,
    assignment: &ClusterAssignment,
) -> f64 {
    let scores = &assignment.issue_scores;
    let confidence = match kind {
        IssueKind::Blur => quality::blur_score(sharpness),
        IssueKind::Dark => quality::dark_score(brightness),
        IssueKind::Bright => quality::bright_score(brightness),
        IssueKind::Duplicates => assignment.near_duplicate_similarity,
        IssueKind::Outliers => scores.outlier,
        IssueKind::OddAspect => scores.odd_aspect,
        IssueKind::OddSize => scores.odd_size,
        IssueKind::Mislabels => scores.mislabel,
        IssueKind::LabelOutlier => scores.class_outlier,
        IssueKind::Normal => {
            let found = detected_issues(sharpness, brightness, assignment).next();
            return if found.is_none() { 1.0 } else { 0.0 };
        }
    };
    f64::from(confidence)
}

/// Returns the range of confidences that a filter selects. A filter with only a maximum includes low confidences.
pub(crate) fn confidence_range(issue: &IssueFilter) -> RangeInclusive<f64> {
    let min = if issue.confidence_max.is_some() { 0.0 } else { DEFAULT_MIN_CONFIDENCE };
    let min = issue.confidence_min.map_or(min, Fraction::value);
    min..=issue.confidence_max.map_or(1.0, Fraction::value)
}

/// Returns the issues that count, with their confidences.
pub fn detected_issues(
    sharpness: f32,
    brightness: f32,
    assignment: &ClusterAssignment,
) -> impl Iterator<Item = (IssueKind, f64)> {
    let kinds = IssueKind::ALL.iter().filter(|&&kind| kind != IssueKind::Normal);
    kinds
        .map(move |&kind| (kind, confidence(kind, sharpness, brightness, assignment)))
        .filter(|&(_, confidence)| confidence >= DEFAULT_MIN_CONFIDENCE)
}
