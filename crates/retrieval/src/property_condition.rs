//! Compiles a filter by a property of files for the members of an index. Whatever many members share is compared once:
//! folders, formats and texts.

use regex::{Regex, RegexBuilder};
use tessera_model::vql::{
    ColumnName, FileProperty, ItemValue, Operator, PathPattern, Property, PropertyFilter,
    PropertyValue,
};

use crate::{
    filter_mask::Condition, property_columns::PropertyColumns, search_query::RetrievalError,
};

pub fn property_condition<'a>(
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
            filter.holds(Some(ItemValue::Text(&path)))
        }),
        FileProperty::Name if filter.operator() == Operator::Contains => {
            Box::new(move |member| filter.holds(Some(ItemValue::Text(columns.name(member)))))
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
            Box::new(move |member| patterns.iter().any(|holds| holds(member)) != is_negated)
        }
        FileProperty::Size => number(filter, |member| float(columns.sizes[member])),
        FileProperty::Width => number(filter, |member| columns.widths[member].into()),
        FileProperty::Height => number(filter, |member| columns.heights[member].into()),
        FileProperty::Aspect => number(filter, |member| {
            f64::from(columns.widths[member]) / f64::from(columns.heights[member].max(1))
        }),
        FileProperty::Date => Box::new(move |member| filter.holds(columns.date(member))),
        // Ratings are in the store, not among the properties of files.
        FileProperty::Rating => Box::new(move |_| filter.holds(None)),
        FileProperty::Format => {
            let texts = columns.texts.iter().map(|text| filter.holds(Some(ItemValue::Text(text))));
            let by_text: Vec<bool> = texts.collect();
            Box::new(move |member| by_text[columns.formats[member] as usize])
        }
    })
}

fn number<'a>(
    filter: &'a PropertyFilter,
    value: impl Fn(usize) -> f64 + Send + Sync + 'a,
) -> Condition<'a> {
    Box::new(move |member| filter.holds(Some(ItemValue::Number(value(member)))))
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
    Ok(Box::new(column.test(&columns.texts, |item| filter.holds(item))))
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
