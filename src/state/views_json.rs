//! Saved views as JSON, in a form that can be edited and shared.

use serde_json::{Value, json};

use crate::state::query_json::{read_filters, read_query, write_filters, write_query};
use tessera_model::{EntityType, Granularity, SafeText, SavedView};
use tessera_wire::explore::{read_region, write_region};

const SCHEMA: &str = "tessera.views/1";

/// The views as a document, `tessera.views/1`.
pub fn write(views: &[SavedView]) -> Value {
    json!({ "schema": SCHEMA, "views": views.iter().map(write_view).collect::<Vec<_>>() })
}

/// An unreadable view is an error: it would be lost by the next save.
pub(super) fn read(document: &Value) -> Result<Vec<SavedView>, String> {
    if document["schema"] != SCHEMA {
        return Err(format!("`schema` must be {SCHEMA}"));
    }
    let views = document["views"].as_array().ok_or("`views` must be a list")?;
    let numbered = views.iter().enumerate();
    numbered
        .map(|(at, value)| read_view(value).map_err(|why| format!("view {at}: {why}")))
        .collect()
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
    let level = value["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
    Ok(SavedView {
        name: text("name").filter(|name| !name.is_empty()).ok_or("`name` is missing")?,
        dataset: match value["dataset_id"].as_str() {
            None => None,
            Some(id) => Some(id.parse().map_err(|_| "`dataset_id` is not a UUID")?),
        },
        query: read_query(&value["query"])?,
        filters: read_filters(&value["vql"], "vql")?,
        disabled_filters: read_filters(&value["off"], "off")?,
        entity: text("entity_type")
            .and_then(|word| EntityType::parse(word.as_str()))
            .ok_or("`entity_type` must be IMAGES or OBJECTS")?,
        granularity: level.and_then(Granularity::new).ok_or("`granularity` must be 0 to 4")?,
        similar_to: text("similar_to"),
        query_image: value["image"]["path"]
            .as_str()
            .map(|path| (path.into(), read_region(&value["image"]["bounding_box"]))),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{
        Anchor, AnchorKind, DatasetId, Filter, Fraction, MediaId, Query, QueryText, Region,
    };

    fn saved(query: Query) -> SavedView {
        SavedView {
            name: SafeText::name("vans at night"),
            dataset: Some(DatasetId(Uuid::from_u128(7))),
            query,
            filters: vec![Filter::uniqueness(0.8).unwrap()],
            disabled_filters: vec![Filter::full_text("red").unwrap()],
            entity: EntityType::Objects,
            granularity: Granularity::DEFAULT,
            similar_to: None,
            query_image: Some(("/pictures/van.jpg".into(), Region::new(0.25, 0.5, 0.5, 0.25))),
        }
    }

    #[test]
    fn views_of_every_kind_round_trip() {
        let media = MediaId(Uuid::from_u128(9));
        let text = QueryText::new("van").unwrap();
        let views = [
            saved(Query::Browse),
            saved(Query::Similar(Anchor { media, kind: AnchorKind::Upload })),
            saved(Query::Caption { text, max_score: Fraction::new(0.4) }),
            SavedView { dataset: None, query_image: None, ..saved(Query::Browse) },
        ];
        assert_eq!(read(&write(&views)).unwrap(), views);
    }

    #[test]
    fn an_unreadable_view_is_reported() {
        let mut document = write(&[saved(Query::Browse), saved(Query::Browse)]);
        document["views"][1]["off"] = json!([{ "uniqueness": 3 }]);
        let why = read(&document).unwrap_err();
        assert!(why.starts_with("view 1: `off`: filter 0, uniqueness"), "{why}");
        assert!(read(&json!({})).is_err());
    }
}
