//! Applies filters in memory. Each filter reduces the members that the previous filters left. For large datasets, the
//! store writes the same conditions as SQL in `search_table/match_conditions`, which explains why each condition is
//! written twice.

use std::collections::HashMap;

use rayon::prelude::*;
use tessera_model::{
    Filter, TagId, composed,
    vql::{FileProperty, IssueFilter, IssueMode, IssueName, Label, LabelRule, Property},
};
use tessera_store::tag_ids::name_id;

use crate::{
    dataset_index::DatasetIndex,
    issues::{confidence, confidence_range},
    member_columns::MemberColumns,
    property_condition::property_condition,
    search_context::SearchContext,
    search_query::RetrievalError,
};

/// Says whether a member matches.
pub type Condition<'a> = Box<dyn Fn(usize) -> bool + Send + Sync + 'a>;

/// Returns what a filter requires of a member, or `None` for a filter that ranks.
pub fn condition<'a>(
    context: &SearchContext<'_>,
    index: &'a DatasetIndex,
    filter: &'a Filter,
) -> Result<Option<Condition<'a>>, RetrievalError> {
    let members = &index.members;
    Ok(Some(match filter {
        Filter::FullText(_) | Filter::Semantic { .. } | Filter::Similar { .. } => return Ok(None),
        Filter::Labels(rule, labels) => has_labels(index, *rule, labels.as_slice()),
        Filter::Tags(tags) => has_tags(context, index, tags.as_slice())?,
        Filter::Issue(issue) => has_issue(index, issue),
        // A member matches if it has a near-duplicate of at least this similarity.
        Filter::Duplicates(similarity) => {
            let least = similarity.value().max(f64::EPSILON);
            Box::new(move |member| f64::from(members.near_duplicate_similarities[member]) >= least)
        }
        Filter::Uniqueness(score) => {
            let score = score.value();
            Box::new(move |member| f64::from(members.uniqueness[member]) > score)
        }
        Filter::Property(filter) if *filter.property() == Property::File(FileProperty::Rating) => {
            let by_users = context.user_tags()?;
            Box::new(move |member| filter.holds(by_users.rating_value(members.rows[member])))
        }
        Filter::Property(filter) => property_condition(&members.properties, filter)?,
        Filter::AnyOf(filters) => {
            let each = filters.as_slice().iter().map(|filter| condition(context, index, filter));
            let each: Vec<_> = each.collect::<Result<_, _>>()?;
            let each: Vec<_> = each.into_iter().flatten().collect();
            Box::new(move |member| each.iter().any(|holds| holds(member)))
        }
        Filter::Not(negated) => {
            let Some(holds) = condition(context, index, negated.filter())? else { return Ok(None) };
            Box::new(move |member| !holds(member))
        }
    }))
}

fn has_labels<'a>(index: &'a DatasetIndex, rule: LabelRule, labels: &[Label]) -> Condition<'a> {
    let ids: Vec<Option<u32>> =
        labels.iter().map(|label| index.names.id(&composed(label.as_str()))).collect();
    let lists = &index.members.labels;
    Box::new(move |member| {
        let member_labels = lists.get(member);
        let mut each = ids.iter().map(|id| id.is_some_and(|id| member_labels.contains(&id)));
        match rule {
            LabelRule::OneOf => each.any(|has| has),
            LabelRule::Is => each.all(|has| has),
            LabelRule::IsNot => !each.all(|has| has),
            LabelRule::NotOneOf => !each.any(|has| has),
        }
    })
}

/// Whether a member has all of these tags, from sidecars or from users.
fn has_tags<'a>(
    context: &SearchContext<'_>,
    index: &'a DatasetIndex,
    tags: &[TagId],
) -> Result<Condition<'a>, RetrievalError> {
    let by_users = context.user_tags()?;
    let ids: Vec<TagId> = tags.iter().map(|tag| by_users.ids.name_id(*tag)).collect();
    let names = index.names.iter();
    let in_index: HashMap<TagId, u32> = names
        .map(|(name, number)| (name_id(context.dataset.id, name), number))
        .filter(|(id, _)| ids.contains(id))
        .collect();
    let MemberColumns { rows, tags: lists, .. } = &index.members;
    for (tag, id) in tags.iter().zip(&ids) {
        // The number may be that of a label with the same name.
        let has = |number| (0..rows.len()).any(|member| lists.get(member).contains(number));
        context.require_tag(*tag, || Ok(in_index.get(id).is_some_and(has)))?;
    }
    Ok(Box::new(move |member| {
        ids.iter().all(|id| {
            in_index.get(id).is_some_and(|number| lists.get(member).contains(number))
                || by_users.rows(*id).binary_search(&rows[member]).is_ok()
        })
    }))
}

fn has_issue<'a>(index: &'a DatasetIndex, issue: &'a IssueFilter) -> Condition<'a> {
    let range = confidence_range(issue);
    let members = &index.members;
    Box::new(move |member| {
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
    })
}

/// Excludes the members for which a condition does not hold.
pub fn retain(mask: &mut [bool], holds: impl Fn(usize) -> bool + Sync) {
    let members = mask.par_iter_mut().enumerate();
    members.for_each(|(member, keep)| *keep = *keep && holds(member));
}

/// Excludes the members whose score is not within a bound.
pub fn retain_scores(mask: &mut [bool], scores: &[f32], within: impl Fn(f64) -> bool + Sync) {
    retain(mask, |member| within(f64::from(scores[member])));
}
