//! The bodies with which a local service lists and changes tags and ratings. They are not part of the API document, so
//! their paths are below [`LOCAL_PREFIX`](crate::endpoints::LOCAL_PREFIX).

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json, value::RawValue};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    fields::{Fields, first_text, names, parsed, required, text},
    selection,
};
use tessera_model::{
    DatasetTag, DatasetTags, SafeText, TagChange, TagChangeId, TagColor, TagDefinitionChange,
    TagEdit, TagTarget,
    tag::{MAX_RATING, MAX_TAG_CHARS},
};

/// The tags of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagListBody {
    /// The tags of users in the order of their creation, followed by those that only sidecars have.
    pub tags: Vec<DatasetTagBody>,
    /// Description of the last change that can be undone.
    pub last_change: Option<String>,
    /// Problems of the file with the tags, `.tessera/tags.jsonl` in the folder of the dataset.
    pub file_problems: Vec<String>,
}

/// A tag of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatasetTagBody {
    /// Identifier, by which searches filter.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Color; null for a tag that only sidecars have.
    pub color: Option<String>,
    /// Number of media items that have the tag.
    pub count: u64,
}

/// The response of a change of tags.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagChangeBody {
    /// Identifier of the change, by which it can be undone; null if nothing was changed.
    pub change_id: Option<Uuid>,
    /// Number of media items that were changed.
    pub changed: u64,
    /// Number of media items that keep a tag from a sidecar, or that were changed again since an undone change or are
    /// missing.
    pub kept: u64,
    /// Description of the change that was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
    /// Problems of the file with the tags.
    pub file_problems: Vec<String>,
}

/// The body of a request that changes the tags of media items. Its field `media_selection` is that of an export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagEditBody<'a> {
    #[serde(default)]
    pub add: Vec<String>,
    #[serde(default)]
    pub remove: Vec<String>,
    #[serde(default, deserialize_with = "rating")]
    pub rating: Option<u8>,
    #[serde(default)]
    pub only_existing: bool,
    /// The media items. Without them and without files, the parameters of the search select media items.
    #[serde(default, borrow, deserialize_with = "given")]
    pub media_selection: Option<&'a RawValue>,
    /// The files, by their paths.
    #[serde(default, deserialize_with = "given")]
    pub files: Option<Vec<String>>,
}

/// Reads a field that may be missing, but not null. A program whose list of media items is missing by mistake must not
/// change other media items.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

/// Reads a rating. The error of a derived reader would name a type of this program.
fn rating<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u8>, D::Error> {
    match Value::deserialize(value)? {
        Value::Null => Ok(None),
        value => match value.as_u64().and_then(|it| u8::try_from(it).ok()) {
            Some(rating) => Ok(Some(rating)),
            None => Err(D::Error::custom(format!("a rating is a number from 0 to {MAX_RATING}"))),
        },
    }
}

/// The body of a request that creates, recolors, renames or deletes a tag.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagDefinitionBody {
    pub name: String,
    pub color: Option<String>,
    pub new_name: Option<String>,
    #[serde(default)]
    pub delete: bool,
}

/// The body of a request that undoes a change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoBody {
    #[serde(default, deserialize_with = "given")]
    pub change_id: Option<Uuid>,
}

/// Writes a change of tags. A search is not in the body, but in the parameters.
pub fn write_edit(edit: &TagEdit, target: &TagTarget) -> Value {
    let mut body = match target {
        TagTarget::Selection(items) => selection::write(items),
        TagTarget::Files(files) => json!({"files": files}),
        TagTarget::Search(_) => json!({}),
    };
    let TagEdit { add, remove, rating, only_existing } = edit;
    (body["add"], body["remove"]) = (json!(add), json!(remove));
    if let Some(rating) = rating {
        body["rating"] = json!(rating);
    }
    if *only_existing {
        body["only_existing"] = json!(true);
    }
    body
}

pub fn write_definition(name: &str, change: &TagDefinitionChange) -> Value {
    match change {
        TagDefinitionChange::Create(None) => json!({"name": name}),
        TagDefinitionChange::Create(Some(color)) => json!({"name": name, "color": color.as_str()}),
        TagDefinitionChange::Rename(new_name) => json!({"name": name, "new_name": new_name}),
        TagDefinitionChange::Delete => json!({"name": name, "delete": true}),
    }
}

pub fn write_undo(change: Option<TagChangeId>) -> Value {
    change.map_or_else(|| json!({}), |change| json!({"change_id": change}))
}

fn name_schema() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_TAG_CHARS, "pattern": r"\S"})
}

/// The JSON schemas of the bodies, with their names.
pub fn schemas() -> [(&'static str, Value); 3] {
    let names = json!({"type": "array", "items": name_schema()});
    let mut edit = selection::schema();
    edit["required"] = json!([]);
    edit["properties"]["files"] = json!({
        "type": "array", "minItems": 1, "items": {"type": "string"},
        "description": "Paths of files, absolute or relative to the folder of the dataset",
    });
    edit["additionalProperties"] = json!(false);
    (edit["properties"]["add"], edit["properties"]["remove"]) = (names.clone(), names);
    edit["properties"]["only_existing"] = json!({
        "type": "boolean", "description": "Fail if a tag to add does not exist, instead of creating it",
    });
    edit["properties"]["rating"] = json!({"type": "integer", "minimum": 0, "maximum": MAX_RATING});
    let definition = json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": name_schema(),
            "color": {"enum": TagColor::ALL.map(TagColor::as_str)},
            "new_name": name_schema(),
            "delete": {"type": "boolean"},
        },
    });
    let undo = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"change_id": {"type": "string", "format": "uuid"}},
    });
    [("TagEdit", edit), ("TagDefinition", definition), ("TagUndo", undo)]
}

pub fn read_tag_list(list: Fields<'_>) -> Option<DatasetTags> {
    let items = list.list("tags")?.iter().map(|item| list.element("tags", item));
    let tag = |item: Fields<'_>| {
        Some(DatasetTag {
            id: required(item, &["id"])?,
            name: SafeText::name(&first_text(item, &["name"])?),
            color: parsed(item, "color"),
            count: item.needed_count("count")?,
        })
    };
    Some(DatasetTags {
        tags: items.filter_map(tag).collect(),
        last_change: text(list, "last_change").map(|change| SafeText::detail(&change)),
        file_problems: names(list, "file_problems", SafeText::MAX_NAME),
    })
}

pub fn read_tag_change(change: Fields<'_>) -> Option<TagChange> {
    Some(TagChange {
        id: parsed(change, "change_id"),
        changed: change.needed_count("changed")?,
        kept: change.needed_count("kept")?,
        undone: text(change, "undone").map(|undone| SafeText::detail(&undone)),
        file_problems: names(change, "file_problems", SafeText::MAX_NAME),
    })
}
