//! Past searches as JSON, with the field names of the interface where it has them.

use serde_json::{Value, json};

use super::query_json::{
    read_entity, read_filters, read_granularity, read_query, write_filters, write_query,
};
use tessera_model::{HistoryEntry, ResultCount, SafeText, Search, Timestamp};
use tessera_wire::preview::{read_region, write_region};

pub(super) fn write(searches: &[HistoryEntry]) -> Value {
    let searches: Vec<Value> = searches.iter().map(write_entry).collect();
    json!({ "schema": "tessera.history/1", "searches": searches })
}

pub(super) fn write_entry(past: &HistoryEntry) -> Value {
    let HistoryEntry { search, similar_to, file, region, searched_at, results } = past;
    json!({
        "dataset_id": search.dataset,
        "query": write_query(&search.query),
        "vql": write_filters(&search.filters),
        "entity_type": search.entity.as_str(),
        "granularity": search.granularity.level(),
        "similar_to": similar_to.as_ref().map(SafeText::as_str),
        "file": file,
        "bounding_box": region.map(write_region),
        "searched": searched_at.map(|at| at.as_secs_f64()),
        "clusters": results.map(|results| results.clusters),
        "complete": results.map(|results| results.is_complete),
    })
}

pub(super) fn read(document: &Value) -> Result<Vec<HistoryEntry>, String> {
    let searches = document["searches"].as_array().ok_or("`searches` must be a list")?;
    searches.iter().map(read_entry).collect()
}

pub(super) fn read_entry(entry: &Value) -> Result<HistoryEntry, String> {
    let dataset = entry["dataset_id"].as_str().ok_or("`dataset_id` must be a string")?;
    Ok(HistoryEntry {
        search: Search {
            dataset: dataset.parse().map_err(|error| format!("`dataset_id`: {error}"))?,
            query: read_query(&entry["query"])?,
            filters: read_filters(&entry["vql"], "vql")?,
            entity: read_entity(&entry["entity_type"])?,
            granularity: read_granularity(&entry["granularity"])?,
            page: 0,
        },
        similar_to: entry["similar_to"].as_str().map(SafeText::file_name),
        file: entry["file"].as_str().map(Into::into),
        region: read_region(&entry["bounding_box"]),
        searched_at: entry["searched"]
            .as_f64()
            .and_then(|at| Timestamp::try_from_secs_f64(at).ok()),
        results: read_results(entry),
    })
}

fn read_results(entry: &Value) -> Option<ResultCount> {
    let clusters = usize::try_from(entry["clusters"].as_u64()?).ok()?;
    Some(ResultCount { clusters, is_complete: entry["complete"].as_bool()? })
}
