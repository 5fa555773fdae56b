//! A query kept by name: everything it asks for, so that it can be asked again and shared.

use std::path::PathBuf;

use crate::{DatasetId, EntityType, Filter, Granularity, Query, Region, SafeText, Search};

/// A query with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedView {
    /// What it is called; no two are called the same.
    pub name: SafeText,
    /// The dataset it belongs to; `None` for whichever is open.
    pub dataset: Option<DatasetId>,
    /// What selects and orders.
    pub query: Query,
    /// The filters that are on.
    pub filters: Vec<Filter>,
    /// The filters that are off.
    pub disabled_filters: Vec<Filter>,
    /// Images or objects.
    pub entity: EntityType,
    /// How coarse the clusters are.
    pub granularity: Granularity,
    /// What it is similar to, in words.
    pub similar_to: Option<SafeText>,
    /// The file behind an uploaded anchor, which is sent again, and the part of it that counts.
    pub query_image: Option<(PathBuf, Option<Region>)>,
}

impl SavedView {
    /// Adds it to the others, by name, in the place of one of the same name.
    pub fn insert_into(self, others: &mut Vec<Self>) {
        others.retain(|known| known.name != self.name);
        others.push(self);
        others.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// The first page of it, where `open` is the dataset on screen.
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
