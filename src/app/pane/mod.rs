//! The panes and the state of each: ids and positions, never copies of what the store has.

mod datasets;
mod query;
mod results;

pub use datasets::Datasets;
pub use query::QueryBuilder;
pub use results::{Registration, Results};

pub(in crate::app) use super::cursor::{cycle, rows_to_move};
pub use super::cursor::{datasets_scroll_top, moved_cursor, scroll_top};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Datasets,
    Results,
    Detail,
    Query,
    Jobs,
    Basket,
}

impl Pane {
    /// In the order of the Tab key.
    pub const ALL: [Self; 6] =
        [Self::Datasets, Self::Results, Self::Detail, Self::Query, Self::Jobs, Self::Basket];

    /// The panes with a number. The detail has none: it follows the results.
    pub const NUMBERED: [Self; 5] =
        [Self::Datasets, Self::Results, Self::Query, Self::Jobs, Self::Basket];

    /// The number on its frame, which is also its key.
    pub fn number(self) -> Option<usize> {
        Self::NUMBERED.iter().position(|pane| *pane == self).map(|index| index + 1)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Datasets => "Datasets",
            Self::Results => "Results",
            Self::Detail => "Detail",
            Self::Query => "Query",
            Self::Jobs => "Jobs",
            Self::Basket => "Basket",
        }
    }
}
