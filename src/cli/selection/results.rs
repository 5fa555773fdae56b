//! Marks for what a search found, from its saved answer.

use serde_json::Value;

use crate::{
    model::{
        Cluster, DatasetId, Granularity, Mark, Query, QueryText, Search,
        basket::{cluster_mark, medium_mark},
    },
    wire::{explore::read_page, vql},
};

/// The marks of an answer: its clusters whole, with the filters that found them. A cluster of which set
/// algebra left something out is marked by the media that are left: whole it would bring back the rest.
///
/// # Errors
/// A sentence: it is no answer of a search, or of another dataset.
pub(super) fn marks(source: &str, dataset: DatasetId) -> Result<Vec<Mark>, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    if document["schema"] != "tessera.search/1" {
        return Err("is no answer of a search (tessera.search/1)".to_owned());
    }
    if document["dataset_id"].as_str().and_then(|id| id.parse().ok()) != Some(dataset) {
        return Err(format!("it belongs to the dataset {}", document["dataset_id"]));
    }
    let page = read_page(&document).ok_or("it has no `clusters`")?;
    let mut marks = Vec::new();
    for cluster in &page.clusters {
        let row = row(&document, cluster);
        let asked = row.map_or(&Value::Null, |row| &row["_query"]);
        let asked = if asked.is_null() { &document["query"] } else { asked };
        let search = search(dataset, asked)?;
        if row.is_some_and(|row| row["_left_out"].as_u64() > Some(0)) {
            let media = cluster.previews.iter();
            marks.extend(media.map(|preview| medium_mark(preview, cluster, &search)));
        } else {
            marks.push(cluster_mark(cluster, &search));
        }
    }
    Ok(marks)
}

fn row<'a>(document: &'a Value, cluster: &Cluster) -> Option<&'a Value> {
    let mut rows = document["clusters"].as_array()?.iter();
    rows.find(|row| row["cluster_id"].as_str().and_then(|id| id.parse().ok()) == Some(cluster.id))
}

/// What a mark keeps of the search that found it.
fn search(dataset: DatasetId, query: &Value) -> Result<Search, String> {
    let filters = match &query["vql"] {
        Value::Null => Vec::new(),
        filters => vql::read_open(&filters.to_string()).map_err(|why| format!("`vql`: {why}"))?,
    };
    let level = query["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
    let caption = query["caption"].as_str().and_then(|text| QueryText::new(text).ok());
    let ranks = |text| Query::Caption { text, max_score: None };
    Ok(Search {
        filters,
        granularity: level.and_then(Granularity::new).unwrap_or_default(),
        query: caption.map_or(Query::Browse, ranks),
        ..Search::browse(dataset)
    })
}
