//! When nothing is found: which condition is the strictest, and what asks for more.

use crate::app::App;
use tessera_model::{Filter, Fraction, Query, Search};

/// A search that asks for more than the one on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Looser {
    /// What is changed, in words: `max score 0.2 → 0.4`.
    pub words: String,
    /// The search.
    pub search: Search,
}

/// How far a bound is moved.
const STEP: f64 = 0.2;

impl App {
    /// The search on screen with its strictest condition loosened; `None` when it has none.
    ///
    /// A bound on a score comes first, because it can be moved; without one the last filter goes.
    #[must_use]
    pub fn looser(&self) -> Option<Looser> {
        let search = &self.view()?.search;
        if let Query::Caption { text, max_score: Some(bound) } = &search.query {
            let next = up(*bound);
            let words = format!("max score {}", moved(*bound, next));
            let query = Query::Caption { text: text.clone(), max_score: next };
            return Some(Looser { words, search: Search { query, page: 0, ..search.clone() } });
        }
        let mut filters = search.filters.clone();
        let loosened = filters.iter_mut().rev().find_map(loosen);
        let words = match loosened {
            Some(words) => words,
            None => format!("without {}", crate::app::query::Row::of(&filters.pop()?).key.word()),
        };
        Some(Looser { words, search: Search { filters, page: 0, ..search.clone() } })
    }

    /// Runs the looser search.
    pub(in crate::app) fn loosen(&mut self) {
        if let Some(looser) = self.looser() {
            self.open_search(looser.search);
        }
    }
}

/// Moves the bound of a filter, if it has one that can be moved, and says how.
fn loosen(filter: &mut Filter) -> Option<String> {
    match filter {
        Filter::Semantic { min_similarity, .. } => {
            let now = (*min_similarity)?;
            *min_similarity = down(now);
            Some(format!("min similarity {}", moved(now, *min_similarity)))
        }
        Filter::Similar { max_distance, .. } => {
            let now = (*max_distance)?;
            *max_distance = up(now);
            Some(format!("max distance {}", moved(now, *max_distance)))
        }
        Filter::Duplicates(similarity) => {
            let (now, next) = (*similarity, down(*similarity)?);
            *similarity = next;
            Some(format!("duplicates {}", moved(now, Some(next))))
        }
        Filter::Uniqueness(score) => {
            let (now, next) = (*score, down(*score)?);
            *score = next;
            Some(format!("uniqueness {}", moved(now, Some(next))))
        }
        Filter::FullText(_) | Filter::Labels(..) | Filter::Tags(_) | Filter::Issue(_) => None,
    }
}

fn moved(from: Fraction, to: Option<Fraction>) -> String {
    let to = to.map_or_else(|| "none".to_owned(), |to| format!("{:.2}", to.value()));
    format!("{:.2} → {to}", from.value())
}

/// The bound a step higher; `None` where that is no bound any more.
fn up(bound: Fraction) -> Option<Fraction> {
    step(bound.value() + STEP).filter(|next| next.value() < 1.0)
}

fn down(bound: Fraction) -> Option<Fraction> {
    step(bound.value() - STEP).filter(|next| next.value() > 0.0)
}

/// Two digits are what people read.
fn step(value: f64) -> Option<Fraction> {
    Fraction::new((value * 100.0).round() / 100.0)
}
