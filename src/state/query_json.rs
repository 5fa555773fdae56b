//! The parts of a search as JSON, for history and views. The filters are written as they are sent.

use serde_json::{Value, json};

use tessera_model::{Anchor, EntityType, Filter, Fraction, Granularity, Query, QueryText};
use tessera_wire::vql;

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
