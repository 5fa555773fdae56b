//! Applies filters in memory. Each filter reduces the members that the previous filters left. For large datasets, the
//! store writes the same conditions as SQL in `search_table/match_conditions`, which explains why each condition is
//! written twice.

use std::collections::HashMap;

use tessera_model::{
    DatasetId, TagId, composed,
    vql::{Fraction, IssueFilter, IssueMode, IssueName, Label, LabelRule},
};

use crate::{
    dataset_index::{DatasetIndex, tag_id},
    issues::{confidence, confidence_range},
    member_columns::MemberColumns,
    user_tags::UserTagIndex,
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

    fn retain(&mut self, holds: impl Fn(usize) -> bool) {
        for (member, keep) in self.mask.iter_mut().enumerate() {
            *keep = *keep && holds(member);
        }
    }

    pub fn labels(&mut self, rule: LabelRule, labels: &[Label]) {
        let ids: Vec<Option<u32>> =
            labels.iter().map(|label| self.index.names.id(&composed(label.as_str()))).collect();
        let lists = &self.index.members.labels;
        self.retain(|member| {
            let own = lists.of(member);
            let mut each = ids.iter().map(|id| id.is_some_and(|id| own.contains(&id)));
            match rule {
                LabelRule::OneOf => each.any(|has| has),
                LabelRule::Is => each.all(|has| has),
                LabelRule::IsNot => !each.all(|has| has),
                LabelRule::NotOneOf => !each.any(|has| has),
            }
        });
    }

    /// Keeps members that have all of these tags, from sidecars or from users.
    pub fn tags(&mut self, dataset: DatasetId, tags: &[TagId], by_users: &UserTagIndex) {
        let names = self.index.names.iter();
        let in_index: HashMap<TagId, u32> = names
            .map(|(name, name_id)| (tag_id(dataset, name), name_id))
            .filter(|(id, _)| tags.contains(id))
            .collect();
        let MemberColumns { rows, tags: lists, .. } = &self.index.members;
        for id in tags {
            let (of_sidecars, by_users) = (in_index.get(id), by_users.rows(*id));
            self.retain(|member| {
                of_sidecars.is_some_and(|name_id| lists.of(member).contains(name_id))
                    || by_users.binary_search(&rows[member]).is_ok()
            });
        }
    }

    pub fn issue(&mut self, issue: &IssueFilter) {
        let range = confidence_range(issue);
        let members = &self.index.members;
        self.retain(|member| {
            let has = match issue.kind {
                IssueName::Known(kind) => {
                    let (sharpness, brightness) =
                        (members.sharpness[member], members.brightness[member]);
                    let assignment = members.assignment(member);
                    range.contains(&confidence(kind, sharpness, brightness, &assignment))
                }
                // A member never has an issue with an unknown name.
                IssueName::Other(_) => false,
            };
            match issue.mode {
                IssueMode::In => has,
                IssueMode::Out => !has,
            }
        });
    }

    /// Keeps members with a near-duplicate of at least this similarity.
    pub fn duplicates(&mut self, similarity: Fraction) {
        let least = similarity.value().max(f64::EPSILON);
        let similarities = &self.index.members.near_duplicate_similarities;
        self.retain(|member| f64::from(similarities[member]) >= least);
    }

    pub fn uniqueness(&mut self, score: Fraction) {
        let uniqueness = &self.index.members.uniqueness;
        self.retain(|member| f64::from(uniqueness[member]) > score.value());
    }

    /// Keeps members whose flag is true.
    pub fn by_flag(&mut self, flags: &[bool]) {
        self.retain(|member| flags[member]);
    }

    pub fn by_score(&mut self, scores: &[f32], within: impl Fn(f64) -> bool) {
        self.retain(|member| within(f64::from(scores[member])));
    }
}
