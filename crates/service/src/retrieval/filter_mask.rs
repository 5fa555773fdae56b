//! Filters: each reduces the members that the previous ones left.

use std::collections::HashSet;

use super::dataset_index::{DatasetIndex, IndexedMedia, tag_id};
use crate::issues::{DEFAULT_MIN_CONFIDENCE, confidence};
use tessera_model::{
    DatasetId, TagId,
    vql::{Fraction, IssueFilter, IssueMode, IssueName, Label, LabelRule},
};

pub struct FilterMask<'a> {
    index: &'a DatasetIndex,
    mask: Vec<bool>,
}

impl<'a> FilterMask<'a> {
    pub fn new(index: &'a DatasetIndex) -> Self {
        Self { index, mask: vec![true; index.members.len()] }
    }

    pub fn into_mask(self) -> Vec<bool> {
        self.mask
    }

    fn retain(&mut self, holds: impl Fn(&IndexedMedia) -> bool) {
        for (keep, member) in self.mask.iter_mut().zip(&self.index.members) {
            *keep = *keep && holds(member);
        }
    }

    pub fn labels(&mut self, rule: LabelRule, labels: &[Label]) {
        let ids: Vec<Option<u32>> =
            labels.iter().map(|label| self.index.name_id(label.as_str())).collect();
        let has = |member: &IndexedMedia, id: &Option<u32>| {
            id.is_some_and(|id| member.labels.contains(&id))
        };
        self.retain(|member| {
            let mut each = ids.iter().map(|id| has(member, id));
            match rule {
                LabelRule::OneOf => each.any(|has| has),
                LabelRule::Is => each.all(|has| has),
                LabelRule::IsNot => !each.all(|has| has),
                LabelRule::NotOneOf => !each.any(|has| has),
            }
        });
    }

    pub fn tags(&mut self, dataset: DatasetId, tags: &[TagId]) {
        let names = self.index.names();
        let known: HashSet<_> = names
            .map(|(name, name_id)| (tag_id(dataset, name), name_id))
            .filter(|(id, _)| tags.contains(id))
            .collect();
        self.retain(|member| {
            known.len() == tags.len()
                && known.iter().all(|(_, name_id)| member.tags.contains(name_id))
        });
    }

    pub fn issue(&mut self, issue: &IssueFilter) {
        // A query with only a maximum includes low confidences.
        let min = if issue.confidence_max.is_some() { 0.0 } else { DEFAULT_MIN_CONFIDENCE };
        let min = issue.confidence_min.map_or(min, Fraction::value);
        let max = issue.confidence_max.map_or(1.0, Fraction::value);
        self.retain(|member| {
            let IndexedMedia { sharpness, brightness, assignment, .. } = member;
            let has = match issue.kind {
                IssueName::Known(kind) => {
                    (min..=max).contains(&confidence(kind, *sharpness, *brightness, assignment))
                }
                // An unknown issue is never found.
                IssueName::Other(_) => false,
            };
            match issue.mode {
                IssueMode::In => has,
                IssueMode::Out => !has,
            }
        });
    }

    /// Members with a near-duplicate of at least this similarity.
    pub fn duplicates(&mut self, similarity: Fraction) {
        self.retain(|member| {
            f64::from(member.assignment.near_duplicate_similarity)
                >= similarity.value().max(f64::EPSILON)
        });
    }

    pub fn uniqueness(&mut self, score: Fraction) {
        self.retain(|member| f64::from(member.assignment.uniqueness) > score.value());
    }

    /// Members that are, or are in, one of these pictures (rows); or that are not.
    pub fn by_picture(&mut self, rows: &HashSet<i64>, matching: bool) {
        self.retain(|member| rows.contains(&member.picture_row) == matching);
    }

    pub fn by_score(&mut self, scores: &[f32], within: impl Fn(f64) -> bool) {
        for (keep, &score) in self.mask.iter_mut().zip(scores) {
            *keep = *keep && within(f64::from(score));
        }
    }
}
