//! The saved answer of a search (`tessera search --json > FILE`), read again for set algebra and marks.

use std::collections::HashMap;

use serde_json::Value;

use tessera_model::{Cluster, ClusterId};
use tessera_wire::explore::read_page;

/// An answer that was saved.
pub struct SavedSearch {
    /// All of it.
    pub document: Value,
    /// Its clusters; those that cannot be read are left out.
    pub clusters: Vec<Cluster>,
    /// Whether it holds every page of its search, and all of it could be read.
    pub complete: bool,
    /// The place of each cluster in the document.
    row_indexes: HashMap<ClusterId, usize>,
}

impl SavedSearch {
    /// Reads an answer.
    ///
    /// # Errors
    /// A sentence without its subject: why this is none.
    pub fn parse(source: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(source).map_err(|error| format!("is no JSON: {error}"))?;
        if document["schema"] != "tessera.search/1" {
            return Err("is no answer of a search (tessera.search/1)".to_owned());
        }
        let page = read_page(&document).ok_or("has no `clusters`")?;
        let complete = document["truncated"] == false
            && document["last_page"] == true
            && document["page_number"] == 0
            && page.skipped == 0;
        let rows = document["clusters"].as_array().into_iter().flatten().enumerate();
        let place = |(place, row): (usize, &Value)| {
            row["cluster_id"].as_str().and_then(|id| id.parse().ok()).map(|id| (id, place))
        };
        let places = rows.filter_map(place).collect();
        Ok(Self { clusters: page.clusters, complete, row_indexes: places, document })
    }

    /// A cluster as it was saved.
    #[must_use]
    pub fn row(&self, id: ClusterId) -> Option<&Value> {
        self.document["clusters"].get(*self.row_indexes.get(&id)?)
    }

    /// The search that found a cluster: its own in a set of two answers, else that of the answer.
    #[must_use]
    pub fn query(&self, id: ClusterId) -> &Value {
        let own = self.row(id).map(|row| &row["_query"]).filter(|own| !own.is_null());
        own.unwrap_or(&self.document["query"])
    }
}
