//! Saved views as JSON, in a form that can be edited and shared.

use serde_json::{Value, json};

use super::query_json::{
    read_entity, read_filters, read_granularity, read_query, write_filters, write_query,
};
use tessera_model::{SafeText, SavedView};
use tessera_wire::preview::{read_region, write_region};

const SCHEMA: &str = "tessera.views/1";

pub fn write(views: &[SavedView]) -> Value {
    json!({ "schema": SCHEMA, "views": views.iter().map(write_view).collect::<Vec<_>>() })
}

/// An unreadable view is an error: it would be lost by the next save.
pub(super) fn read(document: &Value) -> Result<Vec<SavedView>, String> {
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
