//! What outlives the program: baskets, and what else a person would miss after a restart.

use crate::model::{DatasetId, Selection};

/// Names one thing that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Book {
    /// What is marked in a dataset.
    Basket(DatasetId),
}

/// One thing that is kept, whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// What is marked in a dataset; empty when nothing is.
    Basket(DatasetId, Selection),
}

impl Entry {
    /// Its name.
    #[must_use]
    pub fn book(&self) -> Book {
        match self {
            Self::Basket(dataset, _) => Book::Basket(*dataset),
        }
    }
}
