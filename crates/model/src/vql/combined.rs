//! Filters that contain other filters. The contained filters do not rank, so that each of them only says yes or no.

use super::{Filter, InvalidField, MAX_FILTERS};

/// Filters of which at least one must match. None of them is such a list itself, which bounds the depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alternatives(Vec<Filter>);

impl Alternatives {
    pub fn new(filters: Vec<Filter>) -> Result<Self, InvalidField> {
        if filters.is_empty() || filters.len() > MAX_FILTERS {
            return Err(InvalidField::new("", format!("must have 1 to {MAX_FILTERS} filters")));
        }
        filters.iter().try_for_each(require_condition)?;
        if filters.iter().any(Filter::has_alternatives) {
            return Err(InvalidField::new("", "must not contain any_of again"));
        }
        Ok(Self(filters))
    }

    pub fn as_slice(&self) -> &[Filter] {
        &self.0
    }
}

/// A filter that must not match.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NegatedFilter(Box<Filter>);

impl NegatedFilter {
    pub fn new(filter: Filter) -> Result<Self, InvalidField> {
        require_condition(&filter)?;
        if matches!(filter, Filter::Not(_)) {
            return Err(InvalidField::new("", "must not contain not again"));
        }
        Ok(Self(Box::new(filter)))
    }

    pub fn filter(&self) -> &Filter {
        &self.0
    }
}

fn require_condition(filter: &Filter) -> Result<(), InvalidField> {
    match filter {
        Filter::FullText(_) | Filter::Semantic { .. } | Filter::Similar { .. } => {
            let reason = "must not contain text or similarity, because these rank the results";
            Err(InvalidField::new("", reason))
        }
        _ => Ok(()),
    }
}
