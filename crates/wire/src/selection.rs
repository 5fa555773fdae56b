//! `media_selection`, the body of a selective export. Read strictly: an item that was ignored would
//! export the wrong media.

use std::{fmt, str::FromStr};

use serde_json::{Map, Value, json};

use crate::vql;
use tessera_model::{Filter, MediaId, SelectionItem, vql::LabelRule};

pub const MAX_ITEMS: usize = 10_000;
pub const MAX_IDS: usize = 1_000_000;

/// The reason for rejecting a selection. Prints with its location: `item 2, payload.cluster_id: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError {
    /// 0-based; `None` when the body as a whole is invalid.
    pub item: Option<usize>,
    pub reason: String,
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(item) = self.item {
            write!(f, "item {item}, ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for SelectionError {}

pub fn write(items: &[SelectionItem]) -> Value {
    let items: Vec<Value> = items.iter().map(write_item).collect();
    json!({ "media_selection": items })
}

fn write_item(item: &SelectionItem) -> Value {
    match item {
        SelectionItem::Media(media) => {
            json!({"type": "media", "payload": {"media_ids": media}})
        }
        SelectionItem::Cluster { cluster, entity, filters, exclude } => {
            let mut cluster_filters = json!({"entity_type": entity.as_str()});
            if !filters.is_empty() {
                cluster_filters["vql"] = vql::write(filters).into();
            }
            json!({"type": "cluster", "payload": {
                "cluster_id": cluster,
                "cluster_filters": cluster_filters,
                "exclude_media_ids": exclude,
            }})
        }
    }
}

pub fn read(body: &Value) -> Result<Vec<SelectionItem>, SelectionError> {
    let whole = |reason: &str| SelectionError { item: None, reason: reason.to_owned() };
    let items = body.get("media_selection").and_then(Value::as_array);
    let items = items.ok_or_else(|| whole("media_selection: must be an array of items"))?;
    if items.is_empty() || items.len() > MAX_ITEMS {
        return Err(whole("media_selection: must have 1 to 10000 items"));
    }
    let read = |(number, item)| {
        read_item(item).map_err(|reason| SelectionError { item: Some(number), reason })
    };
    items.iter().enumerate().map(read).collect()
}

fn read_item(item: &Value) -> Result<SelectionItem, String> {
    let payload = item.get("payload").and_then(Value::as_object);
    let payload = payload.ok_or("payload: must be an object")?;
    match item.get("type").and_then(Value::as_str) {
        Some("media") => {
            let media =
                read_media_ids(payload, "media_ids")?.ok_or("payload.media_ids: field required")?;
            if media.is_empty() {
                return Err("payload.media_ids: must not be empty".to_owned());
            }
            Ok(SelectionItem::Media(media))
        }
        Some("cluster") => read_cluster(payload),
        _ => Err("type: must be 'media' or 'cluster'".to_owned()),
    }
}

fn read_cluster(payload: &Map<String, Value>) -> Result<SelectionItem, String> {
    let cluster = payload.get("cluster_id").and_then(Value::as_str);
    let cluster = cluster.and_then(|raw| raw.parse().ok());
    let restrictions = payload.get("cluster_filters").and_then(Value::as_object);
    let restrictions = restrictions.ok_or("payload.cluster_filters: must be an object")?;
    let entity = restrictions.get("entity_type").and_then(Value::as_str);
    let entity = entity.and_then(|entity| entity.parse().ok());
    Ok(SelectionItem::Cluster {
        cluster: cluster.ok_or("payload.cluster_id: must be a UUID")?,
        entity: entity
            .ok_or("payload.cluster_filters.entity_type: must be 'IMAGES' or 'OBJECTS'")?,
        filters: read_filters(restrictions)?,
        exclude: read_media_ids(payload, "exclude_media_ids")?.unwrap_or_default(),
    })
}

/// Reads `vql`, as an array or as the text of a query, and `labels`.
fn read_filters(restrictions: &Map<String, Value>) -> Result<Vec<Filter>, String> {
    let at = |field: &str, reason: String| format!("payload.cluster_filters.{field}: {reason}");
    let filters = match restrictions.get("vql") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => vql::read(text),
        Some(array) => vql::read(&array.to_string()),
    };
    let mut filters = filters.map_err(|error| at("vql", error.to_string()))?;
    if let Some(labels) = restrictions.get("labels").filter(|labels| !labels.is_null()) {
        let texts = labels.as_array().map(|labels| labels.iter().map(Value::as_str));
        let texts: Option<Vec<&str>> = texts.and_then(Iterator::collect);
        let texts = texts.ok_or_else(|| at("labels", "must be texts".to_owned()))?;
        let filter = Filter::labels(LabelRule::OneOf, texts);
        filters.push(filter.map_err(|invalid| at("labels", invalid.reason))?);
    }
    Ok(filters)
}

fn read_media_ids(
    payload: &Map<String, Value>,
    field: &str,
) -> Result<Option<Vec<MediaId>>, String> {
    let error = || format!("payload.{field}: must be an array of UUIDs");
    let list = match payload.get(field) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) if list.len() <= MAX_IDS => list,
        Some(_) => return Err(error()),
    };
    let ids = list.iter().map(|id| MediaId::from_str(id.as_str()?).ok());
    ids.collect::<Option<Vec<_>>>().map(Some).ok_or_else(error)
}
