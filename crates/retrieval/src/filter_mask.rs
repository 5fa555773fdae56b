//! Applies filters in memory. Each filter reduces the members that the previous filters left. For large datasets, the
//! store writes the same conditions as SQL in `search_table/match_conditions`, which explains why each condition is
//! written twice.
//!
//! A filter by a property of files compares once what many members share: folders, formats and texts.

use std::collections::HashMap;

use rayon::prelude::*;
use regex::{Regex, RegexBuilder};
use tessera_model::{
    Filter, TagId, composed,
    vql::{
        ColumnName, FileProperty, IssueFilter, IssueMode, IssueName, ItemValue, Label, LabelRule,
        Operator, PathPattern, Property, PropertyFilter, PropertyValue,
    },
};
use tessera_store::tag_ids::name_id;

use crate::{
    dataset_index::DatasetIndex,
    issues::{confidence, confidence_range},
    member_columns::MemberColumns,
    property_columns::PropertyColumns,
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
            Box::new(move |member| filter.matches(by_users.rating_value(members.rows[member])))
        }
        Filter::Property(filter) => property_condition(&members.properties, filter)?,
        Filter::AnyOf(filters) => {
            let each = filters.as_slice().iter().map(|filter| condition(context, index, filter));
            let each: Vec<_> = each.collect::<Result<_, _>>()?;
            let each: Vec<_> = each.into_iter().flatten().collect();
            Box::new(move |member| each.iter().any(|matches| matches(member)))
        }
        Filter::Not(negated) => {
            let Some(matches) = condition(context, index, negated.filter())? else {
                return Ok(None);
            };
            Box::new(move |member| !matches(member))
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
pub fn retain(mask: &mut [bool], matches: impl Fn(usize) -> bool + Sync) {
    let members = mask.par_iter_mut().enumerate();
    members.for_each(|(member, keep)| *keep = *keep && matches(member));
}

/// Excludes the members whose score is not within a bound.
pub fn retain_scores(mask: &mut [bool], scores: &[f32], within: impl Fn(f64) -> bool + Sync) {
    retain(mask, |member| within(f64::from(scores[member])));
}

fn property_condition<'a>(
    columns: &'a PropertyColumns,
    filter: &'a PropertyFilter,
) -> Result<Condition<'a>, RetrievalError> {
    let property = match filter.property() {
        Property::Column(name) => return extra_condition(columns, filter, name),
        Property::File(property) => *property,
    };
    Ok(match property {
        FileProperty::Path if filter.operator() == Operator::Contains => Box::new(move |member| {
            let mut path = String::new();
            columns.path(member, &mut path);
            filter.matches(Some(ItemValue::Text(&path)))
        }),
        FileProperty::Name if filter.operator() == Operator::Contains => {
            Box::new(move |member| filter.matches(Some(ItemValue::Text(columns.name(member)))))
        }
        FileProperty::Path | FileProperty::Name => {
            let patterns = filter.values().iter().filter_map(|value| match value {
                PropertyValue::Pattern(pattern) if property == FileProperty::Path => {
                    Some(path_condition(columns, pattern))
                }
                PropertyValue::Pattern(pattern) => Some(name_condition(columns, pattern)),
                _ => None,
            });
            let patterns: Vec<Condition> = patterns.collect::<Result<_, _>>()?;
            let is_negated = filter.operator().is_negated();
            Box::new(move |member| patterns.iter().any(|matches| matches(member)) != is_negated)
        }
        FileProperty::Size => number(filter, |member| float(columns.sizes[member])),
        FileProperty::Width => number(filter, |member| columns.widths[member].into()),
        FileProperty::Height => number(filter, |member| columns.heights[member].into()),
        FileProperty::Aspect => number(filter, |member| {
            f64::from(columns.widths[member]) / f64::from(columns.heights[member].max(1))
        }),
        FileProperty::Date => Box::new(move |member| filter.matches(columns.date(member))),
        // Ratings are in the store, not among the properties of files.
        FileProperty::Rating => Box::new(move |_| filter.matches(None)),
        FileProperty::Format => {
            let texts =
                columns.texts.iter().map(|text| filter.matches(Some(ItemValue::Text(text))));
            let by_text: Vec<bool> = texts.collect();
            Box::new(move |member| by_text[columns.formats[member] as usize])
        }
    })
}

fn number<'a>(
    filter: &'a PropertyFilter,
    value: impl Fn(usize) -> f64 + Send + Sync + 'a,
) -> Condition<'a> {
    Box::new(move |member| filter.matches(Some(ItemValue::Number(value(member)))))
}

#[expect(clippy::cast_precision_loss, reason = "files are smaller than 8 PiB")]
fn float(size: u64) -> f64 {
    size as f64
}

fn extra_condition<'a>(
    columns: &'a PropertyColumns,
    filter: &'a PropertyFilter,
    name: &ColumnName,
) -> Result<Condition<'a>, RetrievalError> {
    let Some(column) = columns.extra.get(name.as_str()) else {
        let known = columns.extra.keys().cloned().collect();
        return Err(RetrievalError::UnknownColumn { name: name.as_str().to_owned(), known });
    };
    Ok(Box::new(column.test(&columns.texts, |item| filter.matches(item))))
}

fn compiled(expression: &str) -> Result<Regex, RetrievalError> {
    let regex = RegexBuilder::new(expression).dot_matches_new_line(true).build();
    regex.map_err(|error| {
        RetrievalError::UnusablePattern(match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too long",
            _ => "the pattern cannot be read; put a backslash before its special characters",
        })
    })
}

fn name_condition<'a>(
    columns: &'a PropertyColumns,
    pattern: &PathPattern,
) -> Result<Condition<'a>, RetrievalError> {
    let regex = compiled(&pattern.name_regex())?;
    Ok(Box::new(move |member| regex.is_match(columns.name(member))))
}

/// What a pattern says about the files of a folder.
#[derive(Clone, Copy)]
enum FolderMatch {
    All,
    Some,
    None,
}

fn path_condition<'a>(
    columns: &'a PropertyColumns,
    pattern: &PathPattern,
) -> Result<Condition<'a>, RetrievalError> {
    let regex = compiled(&pattern.path_regex())?;
    let prefix = pattern.literal_prefix();
    let folders: Vec<FolderMatch> = (columns.folders.iter())
        .map(|folder| {
            if !folder.is_empty() && regex.is_match(folder.trim_end_matches('/')) {
                FolderMatch::All
            } else if folder.starts_with(prefix) || prefix.starts_with(folder) {
                FolderMatch::Some
            } else {
                FolderMatch::None
            }
        })
        .collect();
    Ok(Box::new(move |member| match folders[columns.folder_of[member] as usize] {
        FolderMatch::All => true,
        FolderMatch::None => false,
        FolderMatch::Some => {
            let mut path = String::new();
            columns.path(member, &mut path);
            regex.is_match(&path)
        }
    }))
}
