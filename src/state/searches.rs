//! Reads and writes past searches, saved views and the last session as JSON. A field that the API has keeps the name of
//! the API, and filters are written as they are sent.

use std::path::PathBuf;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::{Value, json};

use tessera_model::{
    DatasetId, EntityType, FileOrder, Filter, Granularity, HistoryEntry, Query, Region,
    ResultCount, SafeText, SavedSession, SavedView, Search, Timestamp,
};
use tessera_wire::vql;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Search")]
struct SearchFields {
    #[serde(rename = "dataset_id")]
    dataset: DatasetId,
    query: Query,
    #[serde(rename = "vql", serialize_with = "write_filters", deserialize_with = "read_filters")]
    filters: Vec<Filter>,
    #[serde(rename = "entity_type")]
    entity: EntityType,
    granularity: Granularity,
    #[serde(rename = "sort", default, skip_serializing_if = "Option::is_none")]
    order: Option<FileOrder>,
    #[serde(rename = "page_number")]
    page: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "HistoryEntry")]
struct EntryFields {
    #[serde(flatten, with = "SearchFields")]
    search: Search,
    similar_to: Option<SafeText>,
    #[serde(serialize_with = "write_path")]
    file: Option<PathBuf>,
    #[serde(rename = "bounding_box")]
    region: Option<Region>,
    searched_at: Option<Timestamp>,
    results: Option<ResultCount>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SavedView")]
struct ViewFields {
    #[serde(deserialize_with = "read_name")]
    name: SafeText,
    #[serde(rename = "dataset_id")]
    dataset: Option<DatasetId>,
    query: Query,
    #[serde(rename = "vql", serialize_with = "write_filters", deserialize_with = "read_filters")]
    filters: Vec<Filter>,
    #[serde(
        rename = "disabled_vql",
        serialize_with = "write_filters",
        deserialize_with = "read_disabled_filters"
    )]
    disabled_filters: Vec<Filter>,
    #[serde(rename = "entity_type")]
    entity: EntityType,
    granularity: Granularity,
    #[serde(rename = "sort", default, skip_serializing_if = "Option::is_none")]
    order: Option<FileOrder>,
    similar_to: Option<SafeText>,
    #[serde(serialize_with = "write_path")]
    file: Option<PathBuf>,
    #[serde(rename = "bounding_box")]
    region: Option<Region>,
}

fn write_filters<S: Serializer>(filters: &[Filter], serializer: S) -> Result<S::Ok, S::Error> {
    vql::to_json(filters).serialize(serializer)
}

fn read_filters<'de, D: Deserializer<'de>>(filters: D) -> Result<Vec<Filter>, D::Error> {
    read_filters_of("vql", filters)
}

fn read_disabled_filters<'de, D: Deserializer<'de>>(filters: D) -> Result<Vec<Filter>, D::Error> {
    read_filters_of("disabled_vql", filters)
}

fn read_filters_of<'de, D: Deserializer<'de>>(
    field: &str,
    filters: D,
) -> Result<Vec<Filter>, D::Error> {
    let filters = Value::deserialize(filters)?.to_string();
    vql::read_lenient(&filters).map_err(|error| D::Error::custom(format!("`{field}`: {error}")))
}

fn read_name<'de, D: Deserializer<'de>>(name: D) -> Result<SafeText, D::Error> {
    let name = SafeText::deserialize(name)?;
    if name.is_empty() { Err(D::Error::custom("`name` is empty")) } else { Ok(name) }
}

/// Writes a path, even if it is not valid Unicode.
fn write_path<'a, S: Serializer>(
    path: impl Into<Option<&'a PathBuf>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.into().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// A past search, with the fields of its file.
#[derive(Serialize, Deserialize)]
struct StoredEntry(#[serde(with = "EntryFields")] HistoryEntry);

#[derive(Serialize, Deserialize)]
struct StoredView(#[serde(with = "ViewFields")] SavedView);

const HISTORY: ListFile = ListFile { schema: "tessera.history/1", list: "searches", row: "search" };
const VIEWS: ListFile = ListFile { schema: "tessera.views/1", list: "views", row: "view" };
const SESSION: ListFile = ListFile { schema: "tessera.session/1", list: "tabs", row: "tab" };

pub(super) fn write_history(searches: &[HistoryEntry]) -> Value {
    HISTORY.write(searches.iter().cloned().map(StoredEntry))
}

pub(super) fn read_history(document: &Value) -> Result<Vec<HistoryEntry>, String> {
    HISTORY.read(document, |StoredEntry(entry)| entry)
}

pub fn write_views(views: &[SavedView]) -> Value {
    VIEWS.write(views.iter().cloned().map(StoredView))
}

/// Reads the views. An unreadable view is an error, because the next save would lose it.
pub(super) fn read_views(document: &Value) -> Result<Vec<SavedView>, String> {
    VIEWS.read(document, |StoredView(view)| view)
}

pub(super) fn write_session(session: &SavedSession) -> Value {
    let mut document = SESSION.write(session.tabs.iter().cloned().map(StoredEntry));
    if let (Some(document), Value::Object(fields)) = (document.as_object_mut(), json!(session)) {
        document.extend(fields);
    }
    document
}

pub(super) fn read_session(document: &Value) -> Result<SavedSession, String> {
    let tabs = SESSION.read(document, |StoredEntry(entry)| entry)?;
    let session = SavedSession::deserialize(document).map_err(|error| error.to_string())?;
    Ok(SavedSession { tabs, ..session })
}

/// A file with a list. If a row has an error, the error names the row.
pub(super) struct ListFile {
    pub schema: &'static str,
    pub list: &'static str,
    pub row: &'static str,
}

impl ListFile {
    pub(super) fn write(&self, rows: impl Iterator<Item = impl Serialize>) -> Value {
        json!({ "schema": self.schema, self.list: rows.collect::<Vec<_>>() })
    }

    pub(super) fn read<R: DeserializeOwned, T>(
        &self,
        document: &Value,
        value: impl Fn(R) -> T,
    ) -> Result<Vec<T>, String> {
        let Self { schema, list, row } = self;
        if document["schema"] != *schema {
            return Err(format!("`schema` must be {schema}"));
        }
        let rows = document[list].as_array().ok_or_else(|| format!("`{list}` must be a list"))?;
        let read = |(index, fields)| {
            R::deserialize(fields).map(&value).map_err(|error| format!("{row} {index}: {error}"))
        };
        rows.iter().enumerate().map(read).collect()
    }
}
