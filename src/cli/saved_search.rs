//! The saved output of `tessera search --json`, for set operations and selections.

use std::collections::HashMap;

use serde_json::Value;

use tessera_model::{Cluster, ClusterId};
use tessera_wire::explore::read_page;

pub struct SavedSearch {
    pub document: Value,
    /// Without those that cannot be read.
    pub clusters: Vec<Cluster>,
    /// Whether it contains every page of the search, and all of it could be read.
    pub complete: bool,
    row_indexes: HashMap<ClusterId, usize>,
}

impl SavedSearch {
    /// Parses a document; the error is a phrase without a subject.
    pub fn parse(source: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(source).map_err(|error| format!("is not JSON: {error}"))?;
        if document["schema"] != "tessera.clusters/1" {
            return Err("is not a search result (tessera.clusters/1)".to_owned());
        }
        let page = read_page(&document).ok_or("has no `clusters`")?;
        let complete = document["truncated"] == false
            && document["last_page"] == true
            && document["page_number"] == 0
            && page.skipped == 0;
        let rows = document["clusters"].as_array().into_iter().flatten().enumerate();
        let row_indexes = rows
            .filter_map(|(index, row)| Some((row["cluster_id"].as_str()?.parse().ok()?, index)))
            .collect();
        Ok(Self { clusters: page.clusters, complete, row_indexes, document })
    }

    pub fn row(&self, id: ClusterId) -> Option<&Value> {
        self.document["clusters"].get(*self.row_indexes.get(&id)?)
    }

    /// The search that found a cluster: its own after a set operation, else that of the document.
    pub fn query(&self, id: ClusterId) -> &Value {
        let own = self.row(id).map(|row| &row["_query"]).filter(|own| !own.is_null());
        own.unwrap_or(&self.document["query"])
    }
}
