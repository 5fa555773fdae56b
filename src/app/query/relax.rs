//! When nothing is found: which condition is the strictest, and how to relax it.

use super::FilterRow;
use crate::app::App;
use tessera_model::{Filter, Fraction, Query, Search};

#[derive(Clone, Debug, PartialEq)]
pub struct RelaxedSearch {
    /// The change: `max score 0.2 → 0.4`.
    pub description: String,
    pub search: Search,
}

const BOUND_STEP: f64 = 0.2;

impl Results {
    /// A bound on a score is moved first; without one, the last filter is removed.
    pub fn relaxed_search(&self) -> Option<RelaxedSearch> {
        let search = &self.view()?.search;
        if let Query::Caption { text, max_score: Some(bound) } = &search.query {
            let next = raise_bound(*bound);
            let description = format!("max score {}", bound_change_text(*bound, next));
            let query = Query::Caption { text: text.clone(), max_score: next };
            let search = Search { query, page: 0, ..search.clone() };
            return Some(RelaxedSearch { description, search });
        }
        let mut filters = search.filters.clone();
        let description = match filters.iter_mut().rev().find_map(relax_filter) {
            Some(description) => description,
            None => format!("without {}", FilterRow::from_filter(&filters.pop()?).kind.keyword()),
        };
        Some(RelaxedSearch { description, search: Search { filters, page: 0, ..search.clone() } })
    }
}

impl App {
    pub(in crate::app) fn run_relaxed_search(&mut self) {
        if let Some(relaxed) = self.results.relaxed_search() {
            self.open_search(relaxed.search);
        }
    }
}

/// Moves the bound of a filter, if it has one, and describes the change.
fn relax_filter(filter: &mut Filter) -> Option<String> {
    match filter {
        Filter::Semantic { min_similarity, .. } => {
            let now = (*min_similarity)?;
            *min_similarity = lower_bound(now);
            Some(format!("min similarity {}", bound_change_text(now, *min_similarity)))
        }
        Filter::Similar { max_distance, .. } => {
            let now = (*max_distance)?;
            *max_distance = raise_bound(now);
            Some(format!("max distance {}", bound_change_text(now, *max_distance)))
        }
        Filter::Duplicates(bound) => lower_required_bound("duplicates", bound),
        Filter::Uniqueness(bound) => lower_required_bound("uniqueness", bound),
        Filter::FullText(_) | Filter::Labels(..) | Filter::Tags(_) | Filter::Issue(_) => None,
    }
}

fn lower_required_bound(name: &str, bound: &mut Fraction) -> Option<String> {
    let (now, next) = (*bound, lower_bound(*bound)?);
    *bound = next;
    Some(format!("{name} {}", bound_change_text(now, Some(next))))
}

fn bound_change_text(from: Fraction, to: Option<Fraction>) -> String {
    let to = to.map_or_else(|| "none".to_owned(), |to| format!("{:.2}", to.value()));
    format!("{:.2} → {to}", from.value())
}

/// The bound one step higher; `None` where it no longer excludes anything.
fn raise_bound(bound: Fraction) -> Option<Fraction> {
    rounded_bound(bound.value() + BOUND_STEP).filter(|next| next.value() < 1.0)
}

fn lower_bound(bound: Fraction) -> Option<Fraction> {
    rounded_bound(bound.value() - BOUND_STEP).filter(|next| next.value() > 0.0)
}

fn rounded_bound(value: f64) -> Option<Fraction> {
    Fraction::new((value * 100.0).round() / 100.0)
}
