//! `media_selection`, the body of a selective export. The body is read strictly, because ignoring an item would export
//! the wrong media.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use crate::vql;
use tessera_model::{
    Filter, MediaId, SelectionItem,
    vql::{LabelRule, MAX_VALUES},
};

pub const MAX_ITEMS: usize = 10_000;
pub const MAX_IDS: usize = 1_000_000;

/// The reason for rejecting a selection. It is printed with its location: `item 2, payload.cluster_id: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError {
    /// The index of the item, counted from 0. `None` if the body as a whole is invalid.
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

/// The JSON schema of the body.
pub fn schema() -> Value {
    let ids = |min_items: usize| {
        json!({
            "type": "array", "items": {"type": "string", "format": "uuid"},
            "minItems": min_items, "maxItems": MAX_IDS,
        })
    };
    let item = |kind: &str, payload: Value| {
        json!({
            "type": "object",
            "required": ["type", "payload"],
            "properties": {"type": {"const": kind}, "payload": payload},
        })
    };
    let media = json!({
        "type": "object", "required": ["media_ids"], "properties": {"media_ids": ids(1)},
    });
    let cluster = json!({
        "type": "object",
        "required": ["cluster_id", "cluster_filters"],
        "properties": {
            "cluster_id": {"type": "string", "format": "uuid"},
            "cluster_filters": {
                "type": "object",
                "required": ["entity_type"],
                "additionalProperties": false,
                "properties": {
                    "entity_type": {"enum": ["IMAGES", "OBJECTS"]},
                    "vql": {"$ref": "#/components/schemas/Vql"},
                    "labels": vql::label_list_schema(),
                },
            },
            "exclude_media_ids": ids(0),
        },
    });
    json!({
        "type": "object",
        "required": ["media_selection"],
        "properties": {"media_selection": {
            "type": "array", "minItems": 1, "maxItems": MAX_ITEMS,
            "items": {"oneOf": [item("media", media), item("cluster", cluster)]},
        }},
    })
}

/// Reads the body of a selective export, one item at a time, so that a service needs little more memory than the body
/// itself.
pub fn items(
    body: &[u8],
) -> Result<impl Iterator<Item = Result<SelectionItem, SelectionError>>, SelectionError> {
    items_within::<MAX_ITEMS, MAX_IDS>(body)
}

/// Reads a selection from a file of the user, which may contain more than a request.
pub fn read_file(body: &[u8]) -> Result<Vec<SelectionItem>, SelectionError> {
    items_within::<{ usize::MAX }, { usize::MAX }>(body)?.collect()
}

fn items_within<const ITEMS: usize, const IDS: usize>(
    body: &[u8],
) -> Result<impl Iterator<Item = Result<SelectionItem, SelectionError>>, SelectionError> {
    let whole = |reason: String| SelectionError { item: None, reason };
    let body: &RawValue =
        serde_json::from_slice(body).map_err(|cause| whole(format!("no JSON: {cause}")))?;
    let no_list = "media_selection: must be an array of items";
    let Body { media_selection } =
        read_object(body).map_err(|cause| whole(format!("{no_list} ({cause})")))?;
    let list = media_selection.filter(|raw| raw.get().starts_with('['));
    let list = list.ok_or_else(|| whole(no_list.to_owned()))?;
    let items: Option<CappedList<&RawValue, ITEMS>> = read_value(Some(list));
    let items = items.filter(|CappedList(items)| !items.is_empty());
    let number = match ITEMS {
        usize::MAX => "at least 1 item".to_owned(),
        _ => format!("1 to {ITEMS} items"),
    };
    let CappedList(items) =
        items.ok_or_else(|| whole(format!("media_selection: must have {number}")))?;
    Ok(items.into_iter().enumerate().map(|(number, item)| {
        read_item::<IDS>(item).map_err(|reason| SelectionError { item: Some(number), reason })
    }))
}

pub fn read(body: &[u8]) -> Result<Vec<SelectionItem>, SelectionError> {
    items(body)?.collect()
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    media_selection: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// The fields of both kinds of items.
#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    media_ids: Option<&'a RawValue>,
    #[serde(borrow)]
    cluster_id: Option<&'a RawValue>,
    #[serde(borrow)]
    cluster_filters: Option<&'a RawValue>,
    #[serde(borrow)]
    exclude_media_ids: Option<&'a RawValue>,
}

/// The filters of a cluster. Unknown filters are refused, because ignoring a filter would export more than was
/// selected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterFilters<'a> {
    #[serde(borrow)]
    entity_type: Option<&'a RawValue>,
    #[serde(borrow)]
    vql: Option<&'a RawValue>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
}

fn read_item<const IDS: usize>(item: &RawValue) -> Result<SelectionItem, String> {
    let Item { r#type, payload } =
        read_object(item).map_err(|reason| format!("payload: {reason}"))?;
    let payload: Payload = read_field("payload", payload)?;
    match read_value::<String>(r#type).as_deref() {
        Some("media") => {
            let media = read_media_ids::<IDS>("media_ids", payload.media_ids)?;
            let media = media.ok_or("payload.media_ids: field required")?;
            if media.is_empty() {
                return Err("payload.media_ids: must not be empty".to_owned());
            }
            Ok(SelectionItem::Media(media))
        }
        Some("cluster") => read_cluster::<IDS>(&payload),
        _ => Err("type: must be 'media' or 'cluster'".to_owned()),
    }
}

fn read_cluster<const IDS: usize>(payload: &Payload) -> Result<SelectionItem, String> {
    let restrictions: ClusterFilters =
        read_field("payload.cluster_filters", payload.cluster_filters)?;
    let cluster = read_value(payload.cluster_id);
    let entity = read_value::<String>(restrictions.entity_type);
    let entity = entity.and_then(|raw| raw.parse().ok());
    Ok(SelectionItem::Cluster {
        cluster: cluster.ok_or("payload.cluster_id: must be a UUID")?,
        entity: entity
            .ok_or("payload.cluster_filters.entity_type: must be 'IMAGES' or 'OBJECTS'")?,
        filters: read_filters(&restrictions)?,
        exclude: read_media_ids::<IDS>("exclude_media_ids", payload.exclude_media_ids)?
            .unwrap_or_default(),
    })
}

/// Reads `labels`, and `vql` as an array or as the text of a query.
fn read_filters(restrictions: &ClusterFilters) -> Result<Vec<Filter>, String> {
    let at = |field: &str, reason: String| format!("payload.cluster_filters.{field}: {reason}");
    let filters = match restrictions.vql {
        None => Ok(Vec::new()),
        Some(raw) => match read_value::<String>(Some(raw)) {
            Some(text) => vql::read(&text),
            None => vql::read(raw.get()),
        },
    };
    let mut filters = filters.map_err(|error| at("vql", error.to_string()))?;
    if let Some(labels) = restrictions.labels {
        let labels: Option<CappedList<String, MAX_VALUES>> = read_value(Some(labels));
        let CappedList(labels) =
            labels.ok_or_else(|| at("labels", format!("must be 1 to {MAX_VALUES} texts")))?;
        let filter = Filter::labels(LabelRule::OneOf, labels.iter().map(String::as_str));
        filters.push(filter.map_err(|invalid| at("labels", invalid.reason))?);
    }
    Ok(filters)
}

fn read_media_ids<const MAX: usize>(
    field: &str,
    raw: Option<&RawValue>,
) -> Result<Option<Vec<MediaId>>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let ids: Option<CappedList<MediaId, MAX>> = read_value(Some(raw));
    let error = || format!("payload.{field}: must be an array of UUIDs");
    ids.map(|CappedList(ids)| Some(ids)).ok_or_else(error)
}

fn read_field<'a, T: Deserialize<'a>>(name: &str, raw: Option<&'a RawValue>) -> Result<T, String> {
    let object = raw.ok_or_else(|| "must be an object".to_owned()).and_then(read_object);
    object.map_err(|reason| format!("{name}: {reason}"))
}

/// Reads the fields of an object. An array is refused, although derived readers would accept one.
fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    if !raw.get().starts_with('{') {
        return Err("must be an object".to_owned());
    }
    serde_json::from_str(raw.get()).map_err(|cause| cause.to_string())
}

fn read_value<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// An array of at most `MAX` elements. A longer array is rejected before it fills the memory.
struct CappedList<T, const MAX: usize>(Vec<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for CappedList<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(CappedListVisitor(PhantomData))
    }
}

struct CappedListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for CappedListVisitor<T, MAX> {
    type Value = CappedList<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::invalid_length(list.len(), &self));
            }
            list.push(element);
        }
        Ok(CappedList(list))
    }
}
