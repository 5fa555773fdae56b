//! Reads a search result that was saved as a document.

use std::collections::HashMap;

use serde_json::Value;
use tessera_model::{
    ClusterId, Fraction, Granularity, Query, QueryText, Search,
    set_algebra::{FoundCluster, Members},
};
use tessera_wire::{
    explore::read_page,
    fields::{Fields, count},
    vql,
};

/// The number of previews that set operations have removed from a row.
pub const EXCLUDED: &str = "_excluded";

/// The number of members without a preview that may belong to a row, if the row stands only for its previews.
pub const UNLISTED: &str = "_unlisted";

pub struct SavedSearch {
    pub document: Value,
    /// The clusters, without those that cannot be read.
    pub clusters: Vec<FoundCluster>,
    /// Whether the document contains every page of the search, and every cluster could be read.
    pub complete: bool,
    /// The positions of a cluster in the document and among `clusters`.
    indexes: HashMap<ClusterId, (usize, usize)>,
}

impl SavedSearch {
    /// Parses a document. The error is a phrase without a subject.
    pub fn parse(source: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(source).map_err(|error| format!("is not JSON: {error}"))?;
        if document["schema"] != "tessera.clusters/1" {
            return Err("is not a search result with clusters (tessera.clusters/1), which `search` prints without --flat".to_owned());
        }
        let page = read_page(Fields::from(&document)).ok_or("has no `clusters`")?;
        let complete = document["truncated"] == false
            && document["last_page"] == true
            && document["page_number"] == 0
            && page.skipped == 0;
        let rows = document["clusters"].as_array().into_iter().flatten().enumerate();
        let rows: HashMap<ClusterId, usize> = rows
            .filter_map(|(index, row)| Some((row["cluster_id"].as_str()?.parse().ok()?, index)))
            .collect();
        let mut saved = Self { clusters: Vec::new(), complete, indexes: HashMap::new(), document };
        for cluster in page.clusters {
            let Some(row) = rows.get(&cluster.id) else { continue };
            saved.indexes.insert(cluster.id, (*row, saved.clusters.len()));
            let is_reduced = count(&saved.document["clusters"][row], UNLISTED).is_some();
            let members = if is_reduced {
                Members::Previewed
            } else {
                Members::found_by(&saved.search(cluster.id)?)
            };
            saved.clusters.push(FoundCluster::new(cluster, members));
        }
        Ok(saved)
    }

    /// Returns the number of members that are known to exist but have no preview in the document.
    pub fn members_without_preview(&self) -> u64 {
        let unlisted = self.clusters.iter().map(|found| self.unlisted(found.cluster.id));
        unlisted.fold(0, u64::saturating_add)
    }

    /// Returns the number of members of a cluster that have no preview, although they may be in the result.
    pub fn unlisted(&self, id: ClusterId) -> u64 {
        let of_row = self.row(id).and_then(|row| count(row, UNLISTED));
        of_row.unwrap_or_else(|| {
            let cluster = self.found(id).map(|found| &found.cluster);
            cluster.map_or(0, |it| {
                it.size().map_or(0, |size| size.saturating_sub(it.previews.len() as u64))
            })
        })
    }

    pub fn in_both(&self, other: &Self, id: ClusterId) -> bool {
        [self, other].iter().all(|saved| saved.indexes.contains_key(&id))
    }

    pub fn found(&self, id: ClusterId) -> Option<&FoundCluster> {
        self.clusters.get(self.indexes.get(&id)?.1)
    }

    pub fn row(&self, id: ClusterId) -> Option<&Value> {
        self.document["clusters"].get(self.indexes.get(&id)?.0)
    }

    pub fn previews(&self, id: ClusterId) -> impl Iterator<Item = Value> {
        let previews = self.row(id).and_then(|row| row["previews"].as_array());
        previews.into_iter().flatten().cloned()
    }

    /// Returns the search that found a cluster. After a set operation, a cluster has a search of
    /// its own; otherwise it is the search of the document.
    pub fn query(&self, id: ClusterId) -> &Value {
        let query = self.row(id).map(|row| &row["_query"]).filter(|query| !query.is_null());
        query.unwrap_or(&self.document["query"])
    }

    /// Returns what a selection needs of the search that found a cluster.
    pub fn search(&self, id: ClusterId) -> Result<Search, String> {
        let query = self.query(id);
        let filters = match &query["vql"] {
            Value::Null => Vec::new(),
            filters => {
                vql::read_lenient(&filters.to_string()).map_err(|it| format!("`vql`: {it}"))?
            }
        };
        let level = query["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
        let caption = query["caption"].as_str().and_then(|text| QueryText::new(text).ok());
        let max_score = query["textual_similarity_threshold"].as_f64().and_then(Fraction::new);
        let dataset = self.document["dataset_id"].as_str().and_then(|id| id.parse().ok());
        Ok(Search {
            filters,
            granularity: level.and_then(Granularity::new).unwrap_or_default(),
            query: caption.map_or(Query::Browse, |text| Query::Caption { text, max_score }),
            ..Search::browse(dataset.ok_or("has no `dataset_id`")?)
        })
    }
}
