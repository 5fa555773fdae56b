//! Selection entries for saved search results.

use serde_json::Value;

use crate::cli::saved_search::SavedSearch;
use tessera_model::{
    DatasetId, Granularity, Query, QueryText, Search, SelectionEntry,
    basket::{cluster_entry, media_item_entry},
};
use tessera_wire::vql;

/// Clusters are selected whole, with the filters that found them. A cluster that a set operation
/// reduced is selected by its remaining media items: whole, it would bring the removed ones back.
pub(super) fn read_entries(
    source: &str,
    dataset: DatasetId,
) -> Result<Vec<SelectionEntry>, String> {
    let saved = SavedSearch::parse(source)?;
    let id = &saved.document["dataset_id"];
    if id.as_str().and_then(|id| id.parse().ok()) != Some(dataset) {
        return Err(format!("belongs to dataset {id}"));
    }
    let mut entries = Vec::new();
    for cluster in &saved.clusters {
        let search = search_of_query(dataset, saved.query(cluster.id))?;
        let left_out = saved.row(cluster.id).and_then(|row| row["_left_out"].as_u64());
        if left_out > Some(0) {
            let media = cluster.previews.iter();
            entries.extend(media.map(|preview| media_item_entry(preview, cluster, &search)));
        } else {
            entries.push(cluster_entry(cluster, &search));
        }
    }
    Ok(entries)
}

fn search_of_query(dataset: DatasetId, query: &Value) -> Result<Search, String> {
    let filters = match &query["vql"] {
        Value::Null => Vec::new(),
        filters => vql::read_lenient(&filters.to_string()).map_err(|it| format!("`vql`: {it}"))?,
    };
    let level = query["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
    let caption = query["caption"].as_str().and_then(|text| QueryText::new(text).ok());
    Ok(Search {
        filters,
        granularity: level.and_then(Granularity::new).unwrap_or_default(),
        query: caption.map_or(Query::Browse, |text| Query::Caption { text, max_score: None }),
        ..Search::browse(dataset)
    })
}
