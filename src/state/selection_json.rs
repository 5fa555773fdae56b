//! A selection as a file, `tessera.selection/1`: the body of a selective export, with its dataset and,
//! in fields that start with `_`, details for display.
//!
//! Those fields are optional, so that a file can be written by hand.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::query_json::{read_entity, read_granularity};
use tessera_model::{
    ClusterId, DatasetId, EntityType, EntryContent, EntryId, MediaId, SafeText, SelectedCluster,
    Selection, SelectionEntry, SelectionItem,
};
use tessera_wire::selection;

/// Without the schema and the fields that start with `_`, the body of a selective export.
pub fn write(dataset: DatasetId, selection: &Selection) -> Value {
    let totals = selection.totals();
    json!({
        "schema": "tessera.selection/1",
        "_dataset_id": dataset,
        "media_selection": selection::write(&selection.items())["media_selection"],
        "_counts": {
            "media": totals.media,
            "clusters": totals.clusters,
            "excluded": totals.excluded,
            "estimated_total": totals.export_rows(),
        },
        "_marks": selection.ordered_entries().into_iter().map(entry_details).collect::<Vec<_>>(),
    })
}

/// Details of an entry that are not sent.
fn entry_details(entry: &SelectionEntry) -> Value {
    let mut detail = json!({
        "name": entry.name.as_str(),
        "entity_type": entry.entity.as_str(),
        "granularity": entry.granularity.level(),
    });
    match &entry.content {
        EntryContent::MediaItem(id, cluster) => {
            detail["media_id"] = json!(id);
            detail["cluster"] = json!(cluster);
        }
        EntryContent::Cluster(cluster) => {
            detail["cluster_id"] = json!(cluster.id);
            detail["members"] = json!(cluster.member_count);
            detail["excluded"] = json!(cluster.excluded.len());
            detail["at_least"] = json!(cluster.count_is_minimum);
            detail["seen"] = json!(cluster.previewed);
            detail["stale"] = json!(cluster.stale);
        }
    }
    detail
}

pub(super) fn read(dataset: DatasetId, document: &Value) -> Result<Selection, String> {
    if let Some(other) = dataset_of(document)?.filter(|other| *other != dataset) {
        return Err(format!("it belongs to dataset {other}"));
    }
    let items = document.get("media_selection").or_else(|| document.get("items"));
    if items.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Ok(Selection::default());
    }
    let details = EntryDetails::read(document);
    let body = json!({ "media_selection": items }).to_string();
    let items = selection::read(body.as_bytes()).map_err(|problem| problem.to_string())?;
    let mut entries: Vec<SelectionEntry> =
        items.into_iter().flat_map(|item| details.entries(item)).collect();
    entries.sort_by_key(|entry| details.order(entry.id()));
    Ok(entries.into_iter().collect())
}

pub(super) fn dataset_of(document: &Value) -> Result<Option<DatasetId>, String> {
    let value = document.get("_dataset_id").or_else(|| document.get("dataset_id"));
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let id = value.as_str().and_then(|value| value.parse().ok());
    id.map(Some).ok_or_else(|| format!("{value} is not a dataset ID"))
}

struct EntryDetails<'a>(BTreeMap<EntryId, (usize, &'a Value)>);

impl<'a> EntryDetails<'a> {
    fn read(document: &'a Value) -> Self {
        let details = document["_marks"].as_array().into_iter().flatten().enumerate();
        let named =
            details.filter_map(|(order, detail)| Some((entry_id(detail)?, (order, detail))));
        Self(named.collect())
    }

    fn of(&self, id: EntryId) -> &Value {
        self.0.get(&id).map_or(&Value::Null, |(_, detail)| detail)
    }

    /// Entries without details come last.
    fn order(&self, id: EntryId) -> usize {
        self.0.get(&id).map_or(usize::MAX, |(order, _)| *order)
    }

    fn entries(&self, item: SelectionItem) -> Vec<SelectionEntry> {
        match item {
            SelectionItem::Media(media) => {
                media.into_iter().map(|id| self.media_item(id)).collect()
            }
            SelectionItem::Cluster { cluster, entity, filters, exclude } => {
                let detail = self.of(EntryId::Cluster(cluster));
                let previewed = detail["seen"].as_array().into_iter().flatten();
                let content = EntryContent::Cluster(SelectedCluster {
                    id: cluster,
                    filters,
                    member_count: detail["members"].as_u64(),
                    count_is_minimum: detail["at_least"] == true,
                    previewed: previewed.filter_map(|id| id.as_str()?.parse().ok()).collect(),
                    excluded: exclude.into_iter().collect(),
                    stale: detail["stale"] == true,
                });
                vec![selection_entry(detail, &cluster.short(), entity, content)]
            }
        }
    }

    fn media_item(&self, id: MediaId) -> SelectionEntry {
        let detail = self.of(EntryId::MediaItem(id));
        let entity = read_entity(&detail["entity_type"]).unwrap_or_default();
        let cluster = detail["cluster"].as_str().and_then(|id| id.parse().ok());
        selection_entry(detail, &id.short(), entity, EntryContent::MediaItem(id, cluster))
    }
}

fn selection_entry(
    detail: &Value,
    short: &str,
    entity: EntityType,
    content: EntryContent,
) -> SelectionEntry {
    SelectionEntry {
        name: SafeText::file_name(detail["name"].as_str().unwrap_or(short)),
        entity,
        granularity: read_granularity(&detail["granularity"]).unwrap_or_default(),
        content,
    }
}

fn entry_id(detail: &Value) -> Option<EntryId> {
    let id = |field: &str| detail[field].as_str();
    let cluster = || id("cluster_id")?.parse::<ClusterId>().ok().map(EntryId::Cluster);
    let media_item = || id("media_id")?.parse::<MediaId>().ok().map(EntryId::MediaItem);
    cluster().or_else(media_item)
}
