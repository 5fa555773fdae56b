//! A selection as a file, `tessera.selection/1`: the body of a selective export, with its dataset and,
//! in fields that start with `_`, details for display.
//!
//! Those fields are optional, so that a file can be written by hand.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use tessera_model::{
    ClusterId, DatasetId, EntityType, EntryContent, EntryId, Granularity, MediaId, SafeText,
    SelectedCluster, Selection, SelectionEntry, SelectionItem,
};
use tessera_wire::selection;

/// Writes a selection. Without the schema and the fields that start with `_`, it is the body of a
/// selective export.
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
    if let Some(other) = dataset_of(document)?.filter(|place| *place != dataset) {
        return Err(format!("it belongs to dataset {other}"));
    }
    let items = document.get("media_selection").or_else(|| document.get("items"));
    if items.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Ok(Selection::default());
    }
    let details = EntryDetails::read(document);
    let items = selection::read(&json!({ "media_selection": items }))
        .map_err(|problem| problem.to_string())?;
    let mut entries: Vec<SelectionEntry> =
        items.into_iter().flat_map(|item| details.entries(item)).collect();
    entries.sort_by_key(|entry| details.order(entry.id()));
    Ok(entries.into_iter().collect())
}

/// The dataset that a document names.
pub(super) fn dataset_of(document: &Value) -> Result<Option<DatasetId>, String> {
    let value = document.get("_dataset_id").or_else(|| document.get("dataset_id"));
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let id = value.as_str().and_then(|value| value.parse().ok());
    id.map(Some).ok_or_else(|| format!("{value} is not a dataset ID"))
}

/// The details of each entry, with its position.
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
                let seen = detail["seen"].as_array().into_iter().flatten();
                let what = EntryContent::Cluster(SelectedCluster {
                    id: cluster,
                    filters,
                    member_count: detail["members"].as_u64(),
                    count_is_minimum: detail["at_least"] == true,
                    previewed: seen.filter_map(|id| id.as_str()?.parse().ok()).collect(),
                    excluded: exclude.into_iter().collect(),
                    stale: detail["stale"] == true,
                });
                vec![selection_entry(detail, &cluster.short(), entity, what)]
            }
        }
    }

    fn media_item(&self, id: MediaId) -> SelectionEntry {
        let detail = self.of(EntryId::MediaItem(id));
        let entity = detail["entity_type"].as_str().and_then(EntityType::parse);
        let cluster = detail["cluster"].as_str().and_then(|id| id.parse().ok());
        let what = EntryContent::MediaItem(id, cluster);
        selection_entry(detail, &id.short(), entity.unwrap_or_default(), what)
    }
}

fn selection_entry(
    detail: &Value,
    short: &str,
    entity: EntityType,
    what: EntryContent,
) -> SelectionEntry {
    let level = detail["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
    SelectionEntry {
        name: SafeText::file_name(detail["name"].as_str().unwrap_or(short)),
        entity,
        granularity: level.and_then(Granularity::new).unwrap_or_default(),
        content: what,
    }
}

fn entry_id(detail: &Value) -> Option<EntryId> {
    let id = |field: &str| detail[field].as_str();
    let cluster = || id("cluster_id")?.parse::<ClusterId>().ok().map(EntryId::Cluster);
    let media_item = || id("media_id")?.parse::<MediaId>().ok().map(EntryId::MediaItem);
    cluster().or_else(media_item)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::Filter;

    fn selection_of_two() -> Selection {
        let seen = |numbers: [u128; 2]| numbers.map(|n| MediaId(Uuid::from_u128(n))).into();
        let cluster = EntryContent::Cluster(SelectedCluster {
            id: ClusterId(Uuid::from_u128(7)),
            filters: vec![Filter::uniqueness(0.5).unwrap()],
            member_count: Some(88),
            count_is_minimum: true,
            previewed: seen([1, 2]),
            excluded: seen([2, 3]),
            stale: true,
        });
        let entry = |name, what| SelectionEntry {
            name: SafeText::file_name(name),
            entity: EntityType::Objects,
            granularity: Granularity::new(4).unwrap(),
            content: what,
        };
        let media_item = EntryContent::MediaItem(MediaId(Uuid::from_u128(9)), None);
        [entry("b.jpg", cluster), entry("a.jpg", media_item)].into_iter().collect()
    }

    #[test]
    fn a_selection_round_trips() {
        let dataset = DatasetId(Uuid::from_u128(1));
        let document = write(dataset, &selection_of_two());
        assert_eq!(document["_counts"]["estimated_total"], 87);
        assert_eq!(read(dataset, &document), Ok(selection_of_two()));
        let reason = read(DatasetId(Uuid::nil()), &document).unwrap_err();
        assert!(reason.starts_with("it belongs to dataset"), "{reason}");
    }

    #[test]
    fn a_selection_written_by_hand_is_accepted() {
        let dataset = DatasetId(Uuid::from_u128(1));
        let mut document = write(dataset, &selection_of_two());
        document
            .as_object_mut()
            .unwrap()
            .retain(|field, _| !field.starts_with('_') && field != "schema");
        assert_eq!(
            document,
            selection::write(&selection_of_two().items()),
            "it is the body of the export"
        );
        let read = super::read(dataset, &document).unwrap();
        assert_eq!(read.items(), selection_of_two().items());
        assert_eq!(read.totals().uncounted, 1, "the size of the cluster is unknown");
        let items = json!({ "dataset_id": dataset, "items": document["media_selection"] });
        assert_eq!(super::read(dataset, &items), Ok(read));
        assert!(super::read(DatasetId(Uuid::nil()), &items).is_err());
    }
}
