//! Past searches, saved views and the last session as JSON, with the field names of the API where it has
//! them. The filters are written as they are sent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use tessera_model::{
    Anchor, EntityType, Filter, Fraction, Granularity, HistoryEntry, Query, QueryText, ResultCount,
    SafeText, SavedSession, SavedView, Search, Timestamp,
};
use tessera_wire::{
    preview::{read_region, write_region},
    vql,
};

/// Null for browsing.
pub(super) fn write_query(query: &Query) -> Value {
    match query {
        Query::Browse => Value::Null,
        Query::Similar(anchor) => {
            json!({ "anchor_media_id": anchor.media, "anchor_type": anchor.kind.as_str() })
        }
        Query::Caption { text, max_score } => {
            json!({ "caption": text.as_str(), "max_score": max_score.map(Fraction::value) })
        }
    }
}

pub(super) fn write_filters(filters: &[Filter]) -> Value {
    serde_json::from_str(&vql::write(filters)).unwrap_or(Value::Null)
}

pub(super) fn read_query(value: &Value) -> Result<Query, String> {
    if let Some(raw) = value["caption"].as_str() {
        let text = QueryText::new(raw).map_err(|error| format!("`caption`: {}", error.reason))?;
        let max_score = match value["max_score"].as_f64() {
            None => None,
            Some(score) => Some(Fraction::new(score).ok_or("`max_score` must be 0 to 1")?),
        };
        return Ok(Query::Caption { text, max_score });
    }
    let Some(media) = value["anchor_media_id"].as_str() else { return Ok(Query::Browse) };
    let kind = value["anchor_type"].as_str().and_then(|kind| kind.parse().ok());
    Ok(Query::Similar(Anchor {
        media: media.parse().map_err(|_| "`anchor_media_id` is not a UUID")?,
        kind: kind.ok_or("`anchor_type` must be MEDIA or UPLOAD")?,
    }))
}

pub(super) fn read_filters(value: &Value, field: &str) -> Result<Vec<Filter>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        other => {
            vql::read_lenient(&other.to_string()).map_err(|error| format!("`{field}`: {error}"))
        }
    }
}

pub(super) fn read_entity(value: &Value) -> Result<EntityType, String> {
    let entity = value.as_str().and_then(|entity| entity.parse().ok());
    entity.ok_or_else(|| "`entity_type` must be IMAGES or OBJECTS".to_owned())
}

pub(super) fn read_granularity(value: &Value) -> Result<Granularity, String> {
    let level = value.as_u64().and_then(|level| u8::try_from(level).ok());
    level.and_then(Granularity::new).ok_or_else(|| "`granularity` must be 0 to 4".to_owned())
}

pub(super) fn write_history(searches: &[HistoryEntry]) -> Value {
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

pub(super) fn read_history(document: &Value) -> Result<Vec<HistoryEntry>, String> {
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

const SCHEMA: &str = "tessera.views/1";

pub fn write_views(views: &[SavedView]) -> Value {
    json!({ "schema": SCHEMA, "views": views.iter().map(write_view).collect::<Vec<_>>() })
}

/// An unreadable view is an error: it would be lost by the next save.
pub(super) fn read_views(document: &Value) -> Result<Vec<SavedView>, String> {
    if document["schema"] != SCHEMA {
        return Err(format!("`schema` must be {SCHEMA}"));
    }
    let views = document["views"].as_array().ok_or("`views` must be a list")?;
    let read = |(index, view)| read_view(view).map_err(|reason| format!("view {index}: {reason}"));
    views.iter().enumerate().map(read).collect()
}

fn write_view(view: &SavedView) -> Value {
    json!({
        "name": view.name.as_str(),
        "dataset_id": view.dataset,
        "query": write_query(&view.query),
        "vql": write_filters(&view.filters),
        "off": write_filters(&view.disabled_filters),
        "entity_type": view.entity.as_str(),
        "granularity": view.granularity.level(),
        "similar_to": view.similar_to.as_ref().map(SafeText::as_str),
        "image": view.query_image.as_ref().map(|(path, region)| json!({
            "path": path.to_string_lossy(),
            "bounding_box": region.map(write_region),
        })),
    })
}

fn read_view(value: &Value) -> Result<SavedView, String> {
    let text = |field: &str| value[field].as_str().map(SafeText::name);
    Ok(SavedView {
        name: text("name").filter(|name| !name.is_empty()).ok_or("`name` is missing")?,
        dataset: match value["dataset_id"].as_str() {
            None => None,
            Some(id) => Some(id.parse().map_err(|_| "`dataset_id` is not a UUID")?),
        },
        query: read_query(&value["query"])?,
        filters: read_filters(&value["vql"], "vql")?,
        disabled_filters: read_filters(&value["off"], "off")?,
        entity: read_entity(&value["entity_type"])?,
        granularity: read_granularity(&value["granularity"])?,
        similar_to: text("similar_to"),
        query_image: value["image"]["path"]
            .as_str()
            .map(|path| (path.into(), read_region(&value["image"]["bounding_box"]))),
    })
}

pub(super) fn write_session(session: &SavedSession) -> Value {
    let cursors = session.cursors.iter().copied().chain(std::iter::repeat(0));
    let tabs: Vec<Value> =
        session.tabs.iter().zip(cursors).map(|(tab, cursor)| write_tab(tab, cursor)).collect();
    json!({
        "schema": "tessera.session/1",
        "dataset_id": session.dataset,
        "tabs": tabs,
        "active_tab": session.active_tab,
        "tile_size": session.tile_size,
        "picked_actions": session.picked_actions,
    })
}

fn write_tab(tab: &HistoryEntry, cursor: usize) -> Value {
    let mut document = write_entry(tab);
    document["page"] = tab.search.page.into();
    document["cursor"] = cursor.into();
    document
}

pub(super) fn read_session(document: &Value) -> Result<SavedSession, String> {
    let dataset = document["dataset_id"].as_str().map(str::parse).transpose();
    let tabs = document["tabs"].as_array().ok_or("`tabs` must be a list")?;
    let index = |value: &Value| value.as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    Ok(SavedSession {
        dataset: dataset.map_err(|error| format!("`dataset_id`: {error}"))?,
        tabs: tabs.iter().map(read_tab).collect::<Result<_, _>>()?,
        cursors: tabs.iter().map(|tab| index(&tab["cursor"])).collect(),
        active_tab: index(&document["active_tab"]),
        tile_size: document["tile_size"].as_str().map(str::to_owned),
        picked_actions: read_counts(&document["picked_actions"]),
    })
}

fn read_counts(value: &Value) -> BTreeMap<String, u32> {
    let count = |(name, count): (&String, &Value)| {
        Some((name.clone(), u32::try_from(count.as_u64()?).ok()?))
    };
    value.as_object().into_iter().flatten().filter_map(count).collect()
}

fn read_tab(document: &Value) -> Result<HistoryEntry, String> {
    let entry = read_entry(document)?;
    let page = document["page"].as_u64().and_then(|page| u32::try_from(page).ok()).unwrap_or(0);
    Ok(HistoryEntry { search: Search { page, ..entry.search }, ..entry })
}
