//! A named query that can be run again and shared.

use std::path::PathBuf;

use crate::{DatasetId, EntityType, Filter, Granularity, Query, Region, SafeText, Search};

#[derive(Clone, Debug, PartialEq)]
pub struct SavedView {
    /// Unique.
    pub name: SafeText,
    /// `None` for whichever dataset is open.
    pub dataset: Option<DatasetId>,
    pub query: Query,
    pub filters: Vec<Filter>,
    pub disabled_filters: Vec<Filter>,
    pub entity: EntityType,
    pub granularity: Granularity,
    /// A label for the query image.
    pub similar_to: Option<SafeText>,
    pub query_image: Option<(PathBuf, Option<Region>)>,
}

impl SavedView {
    /// Inserts it by name, replacing a view of the same name.
    pub fn insert_into(self, others: &mut Vec<Self>) {
        others.retain(|known| known.name != self.name);
        others.push(self);
        others.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Its first page; `open` is the dataset on screen.
    pub fn search(&self, open: DatasetId) -> Search {
        Search {
            query: self.query.clone(),
            filters: self.filters.clone(),
            entity: self.entity,
            granularity: self.granularity,
            ..Search::browse(self.dataset.unwrap_or(open))
        }
    }
}
