//! Filters: which members of a gallery a question keeps. Each narrows what the ones before it left.

use std::collections::HashSet;

use super::gallery::{Gallery, Member, tag_id};
use crate::issues::{SURE, confidence};
use tessera_model::{
    DatasetId, TagId,
    vql::{Fraction, Issue, IssueWord, Label, LabelRule, Mode},
};

/// The members that are left.
pub struct Sieve<'a> {
    gallery: &'a Gallery,
    keep: Vec<bool>,
}

impl<'a> Sieve<'a> {
    /// All members.
    #[must_use]
    pub fn new(gallery: &'a Gallery) -> Self {
        Self { gallery, keep: vec![true; gallery.members.len()] }
    }

    /// For every member whether it is left.
    #[must_use]
    pub fn kept(self) -> Vec<bool> {
        self.keep
    }

    fn narrow(&mut self, holds: impl Fn(&Member) -> bool) {
        for (keep, member) in self.keep.iter_mut().zip(&self.gallery.members) {
            *keep = *keep && holds(member);
        }
    }

    /// Members with these labels, as the rule says.
    pub fn labels(&mut self, rule: LabelRule, labels: &[Label]) {
        let numbers: Vec<Option<u32>> =
            labels.iter().map(|label| self.gallery.number(label.as_str())).collect();
        let has = |member: &Member, number: &Option<u32>| {
            number.is_some_and(|number| member.labels.contains(&number))
        };
        self.narrow(|member| {
            let mut each = numbers.iter().map(|number| has(member, number));
            match rule {
                LabelRule::OneOf => each.any(|has| has),
                LabelRule::Is => each.all(|has| has),
                LabelRule::IsNot => !each.all(|has| has),
                LabelRule::NotOneOf => !each.any(|has| has),
            }
        });
    }

    /// Members with all of these user tags of the dataset.
    pub fn tags(&mut self, dataset: DatasetId, tags: &[TagId]) {
        let names = self.gallery.names();
        let known: HashSet<_> = names
            .map(|(name, number)| (tag_id(dataset, name), number))
            .filter(|(id, _)| tags.contains(id))
            .collect();
        self.narrow(|member| {
            known.len() == tags.len()
                && known.iter().all(|(_, number)| member.tags.contains(number))
        });
    }

    /// Members with, or without, a quality issue.
    pub fn issue(&mut self, issue: &Issue) {
        // Who bounds it from above alone asks for what is not so sure.
        let least = if issue.confidence_max.is_some() { 0.0 } else { SURE };
        let least = issue.confidence_min.map_or(least, Fraction::value);
        let most = issue.confidence_max.map_or(1.0, Fraction::value);
        self.narrow(|member| {
            let Member { sharpness, brightness, place, .. } = member;
            let has = match issue.kind {
                IssueWord::Known(kind) => {
                    (least..=most).contains(&confidence(kind, *sharpness, *brightness, place))
                }
                // Nothing is known to have what nobody here looks for.
                IssueWord::Other(_) => false,
            };
            match issue.mode {
                Mode::In => has,
                Mode::Out => !has,
            }
        });
    }

    /// Members with a near-duplicate of at least this similarity.
    pub fn duplicates(&mut self, similarity: Fraction) {
        self.narrow(|member| f64::from(member.place.twin) >= similarity.value().max(f64::EPSILON));
    }

    /// Members more unique than this.
    pub fn uniqueness(&mut self, score: Fraction) {
        self.narrow(|member| f64::from(member.place.uniqueness) > score.value());
    }

    /// Members that are, or are in, one of these pictures (rows); or that are not.
    pub fn pictures(&mut self, rows: &HashSet<i64>, wanted: bool) {
        self.narrow(|member| rows.contains(&member.picture) == wanted);
    }

    /// Members whose score is at most, or below, a bound.
    pub fn scored(&mut self, scores: &[f32], within: impl Fn(f64) -> bool) {
        for (keep, &score) in self.keep.iter_mut().zip(scores) {
            *keep = *keep && within(f64::from(score));
        }
    }
}
